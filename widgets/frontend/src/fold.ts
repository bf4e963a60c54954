// What is folded: a tree over the rows. Name scopes become groups; a pattern of operations that
// repeats becomes one group of iterations; very long runs of iterations are split into pages, so
// that no unfolding draws thousands.
import { Is, type Skeleton } from "./skeleton";
import { count } from "./value";
import { t } from "./words";

export interface Group {
  id: string;
  kind: "scope" | "repeat" | "iteration" | "page";
  label: string;
  count: number; // iterations, for repeats and pages
  start: number; // rows start..end-1, leaves of others included
  end: number;
  children: Part[];
  parent: Group | null;
}
export type Part = Group | number; // a group, or a row number

const LONGEST = 64; // rows in the longest pattern that is looked for
const TIMES = 3; // a pattern must come this often
const PAGE = 10;

export interface FoldTree {
  groups: Map<string, Group>;
  /** innermost group of each row, or null */
  home: (Group | null)[];
}

interface Token {
  part: Part;
  start: number;
  end: number;
  sign: number;
  loops?: string[]; // around a folded loop
}

/**
 * The folding tree of these rows: scopes always, repeated patterns where they are asked for. With
 * `held` a part also holds the sources that nothing else reads.
 */
export function foldTree(rows: Skeleton, patterns = true, held = false): FoldTree {
  const tree: FoldTree = {
    groups: new Map(),
    home: new Array<Group | null>(rows.count).fill(null),
  };
  const signs = new Map<string, number>();
  const sign = (text: string): number => {
    let found = signs.get(text);
    // rows have their own signs from 0 on
    if (found === undefined) signs.set(text, (found = -1 - signs.size));
    return found;
  };
  const builder = { tree, sign, patterns, rows };
  const top: Token[] = [];
  let i = 0;
  while (i < rows.count) {
    if (rows.is(i, Is.LEAF)) i++;
    else if (rows.scope[i] > 0) {
      const [token, next] = scopeGroup(builder, rows, i, 0);
      top.push(token);
      i = next;
    } else i = top[top.push(rowToken(builder, i)) - 1].end;
  }
  repeats(builder, top, null);
  adoptLeaves(rows, tree, held);
  return tree;
}

type Builder = {
  tree: FoldTree;
  sign: (text: string) => number;
  patterns: boolean;
  rows: Skeleton;
};

/** A row, or all results of a call that has many. */
function rowToken(builder: Builder, row: number): Token {
  const { call, scopes, sign } = builder.rows;
  let end = row + 1;
  while (call[end]) end++;
  const token = { part: row, start: row, end: row + 1, sign: sign[row] };
  if (end - row <= TIMES) return token;
  const part = makeGroup(builder, "page", scopes[call[row + 1]][0], row, end, end - row);
  for (let i = row; i < end; i++) hang(builder, i, part);
  return { ...token, part, end };
}

/** The rows from `start` on that share a scope, as one group; and the first row after it. */
function scopeGroup(
  builder: Builder,
  rows: Skeleton,
  start: number,
  depth: number,
): [Token, number] {
  const path = rows.path(start);
  const name = path[depth];
  const tokens: Token[] = [];
  let end = start + 1;
  let i = start;
  while (i < rows.count) {
    if (rows.is(i, Is.LEAF)) {
      i++;
      continue;
    }
    const scope = rows.path(i);
    if (scope !== path && (scope[depth] !== name || !samePath(scope, path, depth))) break;
    if (scope.length > depth + 1) {
      const [token, next] = scopeGroup(builder, rows, i, depth + 1);
      tokens.push(token);
      i = next;
    } else i = tokens[tokens.push(rowToken(builder, i)) - 1].end;
    end = i;
  }
  const group = makeGroup(builder, "scope", name, start, end, 1);
  repeats(builder, tokens, group);
  const turn = /^turn \d+$/.test(name); // of a loop, whichever branches it took
  const text = turn ? "turn" : `scope(${tokens.map((token) => token.sign).join(",")})`;
  return [{ part: group, start, end, sign: builder.sign(text) }, end];
}

function samePath(a: string[], b: string[], depth: number): boolean {
  for (let k = 0; k < depth; k++) if (a[k] !== b[k]) return false;
  return true;
}

function makeGroup(
  builder: Builder,
  kind: Group["kind"],
  label: string,
  start: number,
  end: number,
  count: number,
): Group {
  const id = freshId(builder, kind, start, label);
  const group: Group = { id, kind, label, count, start, end, children: [], parent: null };
  builder.tree.groups.set(group.id, group);
  return group;
}

/** Ids are the same while a group grows, so that what is open remains open. */
function freshId(builder: Builder, kind: string, start: number, label: string): string {
  let id = `${kind}:${start}:${kind === "scope" ? label : ""}`;
  while (builder.tree.groups.has(id)) id += "'";
  return id;
}

/**
 * Finds repeated runs among sibling tokens, then runs of which these are parts, and hangs
 * everything under `parent`.
 */
function repeats(builder: Builder, tokens: Token[], parent: Group | null): void {
  const kept: Token[] = [];
  for (let i = 0; i < tokens.length;) {
    const turns = builder.patterns ? turnsAt(builder, tokens, i) : null;
    if (!turns) {
      kept.push(tokens[i++]);
      continue;
    }
    kept.push(loopToken(builder, turns, parent));
    i += turns.flat().length;
  }
  if (kept.length < tokens.length) repeats(builder, kept, parent);
  else for (const { part } of kept) hang(builder, part, parent);
}

/** The turns of a loop that begins here, or null; first those that the program's text tells. */
function turnsAt(builder: Builder, tokens: Token[], at: number): Token[][] | null {
  const turns = textTurnsAt(builder, tokens, at);
  if (turns) return turns;
  const found = runAt(tokens, at) ?? loopAt(tokens, at);
  const [period, length] = found ?? [0, 0];
  const turn = tokens.slice(at, at + period);
  // a turn in which there is a loop becomes one when that is folded
  if (!found || turn.some((_, k) => runAt(turn, k))) return null;
  return Array.from({ length: length / period }, (_, turn) =>
    tokens.slice(at + turn * period, at + (turn + 1) * period),
  );
}

/**
 * The turns of a loop in the program's text, whichever branches they take: a turn begins where the
 * program has gone back.
 */
function textTurnsAt({ rows }: Builder, tokens: Token[], at: number): Token[][] | null {
  const loopsOf = (token: Token): string[] => token.loops ?? rows.scopes[rows.loops[token.start]];
  const depth = loopsOf(tokens[at]).length;
  const header = loopsOf(tokens[at])[depth - 1];
  if (!depth) return null;
  const turns: Token[][] = [];
  for (let i = at; i < tokens.length && loopsOf(tokens[i])[depth - 1] === header; i++) {
    const position = rows.position[tokens[i].start];
    const turn = turns.at(-1) ?? [];
    const last = turn.at(-1);
    const isBack = !last || position < rows.position[last.start] || tokens[i].sign === last.sign;
    // turns in which there is another loop are found when that is folded
    if (!position || loopsOf(tokens[i]).length > depth || (!isBack && turn.length === LONGEST))
      return null;
    if (isBack) turns.push([tokens[i]]);
    else turn.push(tokens[i]);
  }
  // the test that ends a loop is no turn of it
  if (turns.at(-1)?.every(({ start }) => rows.position[start] === 1)) turns.pop();
  return turns.length < TIMES ? null : turns;
}

/** How many turns of a nested loop it takes until the same leaves are read again; 0 if none are. */
function roundOf({ rows }: Builder, turns: Token[][]): number {
  if (rows.scopes[rows.loops[turns[0][0].start]].length < 2) return 0;
  const read = turns.map(([{ start }]) =>
    Array.from(rows.inputs[start])
      .filter((input) => rows.is(input, Is.LEAF) && !rows.is(input, Is.LITERAL))
      .join(),
  );
  const round = read.indexOf(read[0], 1);
  const isRound = round > 1 && turns.length >= TIMES * round;
  return isRound && read.every((one, k) => one === read[k % round]) ? round : 0;
}

/** The shortest pattern that repeats from here: [its length, how far the run goes], or null. */
function runAt(tokens: Token[], at: number): [number, number] | null {
  const most = Math.min(LONGEST, Math.floor((tokens.length - at) / TIMES));
  for (let period = 1; period <= most; period++) {
    if (tokens[at].sign !== tokens[at + period].sign) continue;
    let end = at;
    while (end + period < tokens.length && tokens[end].sign === tokens[end + period].sign) end++;
    const length = end - at + period;
    if (length < TIMES * period) continue;
    return [period, length - (length % period)]; // the test that ends a loop is no turn of it
  }
  return null;
}

/** The same of a loop whose first turn differs from the others, as it begins with a number. */
function loopAt(tokens: Token[], at: number): [number, number] | null {
  const [first, second, third] = tokens
    .slice(at, at + 3)
    .map(({ part }) => (typeof part === "object" ? /^(.*)\[(\d+)\]$/.exec(part.label) : null));
  if (!first || !second || !third || first[1] !== second[1] || second[1] !== third[1]) return null;
  // from the first turn on, or from the last
  const step = Number(second[2]) - Number(first[2]);
  if (Math.abs(step) !== 1 || Number(third[2]) - Number(second[2]) !== step) return null;
  const rest = runAt(tokens, at + 1);
  return rest && rest[0] === 1 ? [1, rest[1] + 1] : null;
}

/** A loop of these turns as one group; of nested ones a turn of the outer loop is an inner one. */
function loopToken(builder: Builder, turns: Token[][], parent: Group | null): Token {
  const round = roundOf(builder, turns);
  const outer: Token[][] = [];
  for (let i = 0; round && i < turns.length; i += round)
    outer.push([loopToken(builder, turns.slice(i, i + round), parent)]);
  const iterations = round ? outer : turns;
  const [first, last] = [iterations[0], iterations.at(-1)!];
  const scopes = first.flatMap(({ part }) =>
    typeof part === "object" && part.kind === "scope" ? [part.label] : [],
  );
  // what is beside a layer has no name; of several layers that repeat none names them all
  const name =
    scopes.length === 1 ? stem(scopes[0]) : scopes.length === first.length ? "layers" : "";
  const label = /^\d+$/.test(name) ? (parent?.label ?? "") : name; // as in a torch.nn.Sequential
  const [{ start }, { end }] = [first[0], last.at(-1)!];
  const group = makeGroup(builder, "repeat", label, start, end, iterations.length);
  pages(builder, iterations, 0, group);
  const sign = builder.sign(`loop(${first.map((token) => token.sign).join()})`);
  const { scopes: paths, loops } = builder.rows;
  return { part: group, start, end, sign, loops: paths[loops[start]].slice(0, round ? -2 : -1) };
}

function root(group: Group): Group {
  return group.kind === "page" && group.parent ? root(group.parent) : group;
}

/** A scope's name without the number that makes it another one. */
function stem(label: string): string {
  return label.replace(/[_ ]?\d+$|\[\d+\]$/, "") || label;
}

function pages(builder: Builder, iterations: Token[][], first: number, parent: Group): void {
  if (iterations.length > 2 * PAGE) {
    let size = PAGE;
    while (size * PAGE < iterations.length) size *= PAGE;
    for (let i = 0; i < iterations.length; i += size) {
      const part = iterations.slice(i, i + size);
      const last = part.at(-1)!;
      const label = `${root(parent).label} ${first + i + 1}–${first + i + part.length}`.trim();
      const page = makeGroup(
        builder,
        "page",
        label,
        part[0][0].start,
        last.at(-1)!.end,
        part.length,
      );
      hang(builder, page, parent);
      pages(builder, part, first + i, page);
    }
    return;
  }
  const isEachOnePart = iterations.every((tokens) => tokens.length === 1);
  iterations.forEach((tokens, k) => {
    if (isEachOnePart) return hang(builder, tokens[0].part, parent);
    const end = tokens.at(-1)!.end;
    const group = makeGroup(builder, "iteration", `turn ${first + k + 1}`, tokens[0].start, end, 1);
    hang(builder, group, parent);
    for (const token of tokens) hang(builder, token.part, group);
  });
}

function hang(builder: Builder, part: Part, parent: Group | null): void {
  if (typeof part === "number") builder.tree.home[part] = parent;
  else part.parent = parent;
  parent?.children.push(part);
}

/**
 * A leaf belongs to the innermost group that holds all its readers, if it was made inside. Right
 * before a scope only what a layer owns is made: the arrays that it is given are from outside, and
 * so is all that a function with a gradient of its own reads.
 */
function adoptLeaves(rows: Skeleton, tree: FoldTree, held: boolean): void {
  let next = rows.count; // the first operation after row i
  for (let i = rows.count - 1; i >= 0; i--) {
    if (!rows.is(i, Is.LEAF)) next = i;
    if (!rows.is(i, Is.LEAF) || rows.readFirst[i] < 0) continue;
    let home: Group | null = tree.home[rows.readFirst[i]];
    const last = rows.readLast[i];
    const before = rows.is(i, Is.SOURCE) || rows.is(i, Is.DATA) ? -1 : next;
    const holds = (group: Group): boolean =>
      last < group.end &&
      (i >= group.start ||
        (held && rows.is(i, Is.SOURCE) && rows.readFirst[i] >= group.start) ||
        (group.kind === "scope" && before >= group.start && !rows.is(group.end - 1, Is.LAST)));
    while (home && !holds(home)) home = home.parent;
    tree.home[i] = home;
    home?.children.push(i);
  }
}

/** The outermost folded group that hides this row, or null if the row itself is to be seen. */
export function hiddenBy(
  tree: FoldTree,
  row: number,
  open: (group: Group) => boolean,
): Group | null {
  let hidden: Group | null = null;
  for (let group = tree.home[row]; group; group = group.parent) if (!open(group)) hidden = group;
  return hidden;
}

/** What a folded group shows as its title. */
export function groupTitle(group: Pick<Group, "kind" | "label" | "count">): string {
  if (group.kind !== "repeat")
    return group.label.replace(/^turn (\d+)$/, (_, n) => t("turn {0}", n));
  const label = group.label.replace(/[./]+$/, ""); // what the numbers of layers followed: `blocks.`
  const name =
    // a node has no room for more digits
    /^(turn|layers)$/.test(label) ? t(label) : label || (group.count < 100000 ? t("loop") : "");
  return `${name} × ${count(group.count)}`.trim();
}
