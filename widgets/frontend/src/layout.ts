// Folding and placing in one go: from a skeleton to flat arrays. It runs in the worker, or here in
// slices of time.
import { foldTree, hiddenBy, type FoldTree, type Group, type Part } from "./fold";
import { place, type Edge, type Item } from "./place";
import { Is, WRITTEN, type Skeleton } from "./skeleton";

export interface Wish {
  patterns: boolean; // fold what repeats
  open: boolean; // are groups open, unless `toggled` says otherwise
  // each layer is a node: scopes are folded but for those around others, where these are not too
  // many
  layers?: boolean;
  toggled: [string, boolean][]; // by the group's id
  blocks?: boolean; // of these only the outermost are open: what they hold is a node each
  held?: boolean; // what is folded holds its weights, which are not seen beside it
  hide?: boolean; // what only hands its input on
  flat?: boolean; // what a gradient wrote is right of all else, not below it
  borders: number[]; // rows at which a tape begins or ends
  asked?: number[]; // rows of the sources of the gradient
  // a state of a variable and the row that was assigned to it, else the state before; or a value
  // that came back from outside and the row that it left
  made?: [number, number][];
}

/** A group that is seen: folded to one node, or open around some. */
export interface SeenGroup {
  id: string;
  kind: Group["kind"];
  label: string;
  count: number;
  start: number;
  end: number;
  only: string; // the id of its one part, where it has no other
  parent: number; // a number in `groups`, -1 for none
  starts: number[]; // of a folded one: the rows at which its iterations begin
}

export interface Layout {
  rows: number; // that were placed
  node: Int32Array; // of each node: its row, or -1 - the number of its group
  // of each node: the first row that it is for; of a number of the program the first that reads it
  // there
  at: Int32Array;
  home: Int32Array; // of each node: the innermost group around it, -1 for none
  column: Int32Array;
  slot: Int32Array;
  // of each node: 0, or the lower one that it is in, which runs from right to left
  storey: Int32Array;
  shown: Int32Array; // of each row: the node that shows it
  groups: SeenGroup[];
  edgeAt: Int32Array; // of each node: where its edges begin in `edges`
  edges: Int32Array; // see `edgesAt`
  flat?: Layout; // where there are lower storeys: the same in one
}

/** Folds and places; yields now and then, so that the caller may give others a turn or stop. */
export function* layoutSteps(rows: Skeleton, wish: Wish): Generator<void, Layout> {
  const tree = foldTree(rows, wish.patterns, wish.held);
  yield;
  const toggled = new Map(wish.toggled);
  const around = wish.layers ? levels(tree, wish.blocks) : new Set<Group>();
  const open = (group: Group): boolean => toggled.get(group.id) ?? (wish.open || around.has(group));
  const items: Item[] = [];
  const storeys = wish.flat ? [] : storeysOf(rows);
  const node: number[] = []; // rows, or -1 - a number in `folded`
  const folded: Group[] = [];
  const nodeOf = new Map<Group, number>();
  const shown = new Int32Array(rows.count).fill(-1);
  const sections = sectionReader(rows, wish.borders, tree, open);
  const made = new Map(wish.made);
  // of each node of a number that is read at several places: the first row that reads it there
  const readers: number[] = [];
  const places = new Map<string, number>(); // and that node
  /** The node of what a row reads: of a number of the program the one of this place in the text. */
  const nodeRead = (i: number, k: number): number => {
    const input = rows.inputs[i][k];
    if (!rows.is(input, Is.LITERAL)) return shown[input];
    const place = `${input}|${rows.sign[i]}|${k}`;
    let found = places.get(place);
    if (found === undefined) {
      found = shown[input];
      if (found < 0 || readers[found] !== undefined) {
        found = node.push(input) - 1;
        items.push({
          inputs: [],
          leaf: true,
          section: sections(i),
          bare: true,
          storey: storeys[i],
        });
        if (shown[input] < 0) shown[input] = found;
      }
      readers[found] = i;
      places.set(place, found);
    }
    return found;
  };
  for (let i = 0; i < rows.count; i++) {
    if ((i & 255) === 255) yield;
    const group = hiddenBy(tree, i, open);
    if (wish.hide && rows.is(i, Is.PLUMB) && shown[rows.inputs[i][0]] >= 0) {
      shown[i] = shown[rows.inputs[i][0]];
      continue;
    }
    if (rows.is(i, Is.LITERAL) && rows.readFirst[i] >= 0) continue; // who reads it carries it
    if (!group) {
      if (shown[i] >= 0) continue; // beside the folded part that read it first
      const inputs: number[] = [];
      for (let k = 0; k < rows.inputs[i].length; k++) {
        const read = nodeRead(i, k);
        if (read >= 0) inputs.push(read);
      }
      shown[i] = node.push(i) - 1;
      const storey =
        // beside the fold that reads it
        rows.readFirst[i] >= 0 && hiddenBy(tree, rows.readFirst[i], open) ? 0 : storeys[i];
      items.push({
        inputs,
        leaf: rows.is(i, Is.LEAF),
        section: sections(i),
        bare: rows.is(i, Is.LITERAL),
        after: shown[made.get(i) ?? -1],
        storey,
        below: shown[rows.below[i]],
      });
      continue;
    }
    if (rows.is(i, Is.LEAF)) continue; // inside a folded group: its readers carry it
    const known = nodeOf.get(group);
    if (known === undefined) {
      for (const leaf of hoisted(rows, tree, group, shown, open, wish)) {
        if (shown[leaf] >= 0) continue;
        shown[leaf] = node.push(leaf) - 1;
        items.push({ inputs: [], leaf: true, section: sections(i) });
      }
    }
    shown[i] = known ?? node.length;
    if (known !== undefined) continue;
    const inputs = groupInputs(rows, tree, group, shown, open);
    nodeOf.set(group, node.length);
    node.push(-folded.push(group));
    const first = group.label.startsWith(WRITTEN) ? -1 : i;
    items.push({
      inputs,
      leaf: false,
      section: sections(i),
      storey: storeys[first],
      below: shown[rows.below[first]],
    });
  }
  yield;
  for (let i = 0; i < rows.count; i++) {
    if (shown[i] >= 0) continue;
    const group = hiddenBy(
      tree,
      rows.is(i, Is.LITERAL) && rows.readFirst[i] >= 0 ? rows.readFirst[i] : i,
      open,
    );
    if (group) shown[i] = nodeOf.get(group) ?? -1;
  }
  const layout = pack(rows, tree, open, items, node, folded, shown, readers);
  if (items.some((item) => item.storey))
    layout.flat = yield* layoutSteps(rows, { ...wish, flat: true });
  return layout;
}

/** The layout at one go. */
export function layoutNow(rows: Skeleton, wish: Wish): Layout {
  const work = layoutSteps(rows, wish);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** The layout in slices; null when `stopped` says so. `turn` lets others do something. */
export async function layoutInSlices(
  rows: Skeleton,
  wish: Wish,
  slice: number,
  turn: () => Promise<void>,
  stopped: () => boolean,
): Promise<Layout | null> {
  const work = layoutSteps(rows, wish);
  let started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - started <= slice) continue;
    await turn();
    if (stopped()) return null;
    started = performance.now();
  }
}

const LAYERS = 40; // more are not shown side by side,
const HOLDERS = 3; // unless so few parts hold them that without them nothing would be seen

/** The scopes right below a part, or below what repeats in it. */
function scopesIn(parts: Part[]): Group[] {
  return parts.flatMap((part) =>
    typeof part === "number" ? [] : part.kind === "scope" ? [part] : scopesIn(part.children),
  );
}

/**
 * The groups that are open so that layers are seen: those that hold layers, from the outermost
 * inwards, as long as there are not too many layers or few parts to see; with `blocks` only the
 * outermost.
 */
function levels(tree: FoldTree, blocks = false): Set<Group> {
  const found = new Set<Group>();
  let seen = scopesIn([...tree.groups.values()].filter((group) => !group.parent));
  for (;;) {
    const holding = seen.filter((scope) => scopesIn(scope.children).length > 0);
    const next = seen.flatMap((scope) =>
      holding.includes(scope) ? scopesIn(scope.children) : [scope],
    );
    if (!holding.length || (next.length > LAYERS && seen.length > HOLDERS)) return found;
    for (const scope of holding) found.add(scope);
    if (blocks) return found;
    seen = next;
  }
}

export const LARGE = 400; // rows: of more the parts that are folded hold their weights
const [HOISTED, FEW] = [4, 3]; // of one group, and of a block: more would hide what folding is for

/**
 * The leaves inside a folded group that are seen all the same: what a gradient is asked for, what
 * the part is given, and what most turns of a loop read; where these are too many one kind of them.
 */
function hoisted(
  rows: Skeleton,
  tree: FoldTree,
  group: Group,
  shown: Int32Array,
  open: (g: Group) => boolean,
  { blocks, patterns, held, asked = [] }: Wish,
): number[] {
  const most = blocks ? FEW : HOISTED;
  const isLarge = held || (patterns && rows.count > LARGE);
  // a part into which nothing else is seen to come is given some of its sources
  const isGiven = held && !groupInputs(rows, tree, group, shown, open).length;
  const isShared = (i: number): boolean =>
    rows.is(i, Is.LEAF) &&
    !rows.is(i, Is.LITERAL) &&
    rows.readLast[i] - rows.readFirst[i] > (group.end - group.start) / 2;
  const isAsked = (i: number): boolean =>
    group.kind !== "scope" && asked.length <= HOISTED && asked.includes(i);
  const inside = (i: number): boolean => hiddenBy(tree, i, open) === group;
  let { start } = group;
  // a leaf goes with what reads it first, and what the part is given may be between its weights
  while (start > 0 && rows.is(start - 1, Is.LEAF)) start--;
  const found: number[] = [];
  const beside: number[] = []; // others read it, too
  for (let i = start; i < group.end; i++)
    if (rows.is(i, Is.LEAF) && !rows.is(i, Is.LITERAL) && !hiddenBy(tree, i, open)) beside.push(i);
    else if (
      (rows.is(i, Is.DATA) ||
        (rows.is(i, Is.PARAM) && (!isLarge || isAsked(i) || (isGiven && rows.is(i, Is.SOURCE)))) ||
        (group.kind !== "scope" && isShared(i))) &&
      inside(i)
    )
      found.push(i);
  const weights = found.filter((i) => rows.is(i, Is.PARAM));
  // beside a loop there is room for its weights
  const both = group.kind === "scope" || found.length <= FEW ? found : [];
  const shared = group.kind === "scope" ? [] : found.filter(isShared);
  return beside.concat(
    [both, found.filter(isAsked), weights, shared, found.filter((i) => !rows.is(i, Is.PARAM))].find(
      (some) => some.length && some.length <= most,
    ) ?? [],
  );
}

/** Where the iterations of a folded group begin. */
function startsOf(group: Group, rows: Skeleton): number[] {
  if (group.kind !== "repeat" && group.kind !== "page") return [];
  return group.children
    .flatMap((part) =>
      typeof part === "number"
        ? rows.is(part, Is.LEAF)
          ? []
          : [part]
        : part.kind === "page"
          ? startsOf(part, rows)
          : [part.start],
    )
    .sort((a, b) => a - b)
    .slice(0, group.count); // without the test that ended the loop
}

/** What a folded group reads from outside, each once, in order of first use. */
function groupInputs(
  rows: Skeleton,
  tree: FoldTree,
  group: Group,
  shown: Int32Array,
  open: (g: Group) => boolean,
): number[] {
  const found = new Set<number>();
  for (let i = group.start; i < group.end; i++) {
    if (hiddenBy(tree, i, open) !== group) continue;
    const inputs = rows.inputs[i];
    for (let k = 0; k < inputs.length; k++)
      if (
        (inputs[k] < group.start || rows.is(inputs[k], Is.LEAF)) &&
        !rows.is(inputs[k], Is.LITERAL) &&
        shown[inputs[k]] >= 0
      )
        found.add(shown[inputs[k]]);
  }
  return [...found];
}

/**
 * Numbers that change from row to row exactly where a frame begins or ends. A leaf goes with the
 * operation after it, but one that is not of the frame which begins there is before it: inside it
 * would hide the frame's label.
 */
function sectionReader(
  rows: Skeleton,
  borders: number[],
  tree: FoldTree,
  open: (g: Group) => boolean,
): (row: number) => number {
  const sorted = [...new Set(borders)].sort((a, b) => a - b);
  const path = (i: number): string => {
    let text = "";
    for (let group = tree.home[i]; group; group = group.parent)
      if (group.kind !== "page" && open(group)) text = `${group.id}/${text}`;
    return text;
  };
  let passed = 0;
  let next = 0;
  let before = "";
  let number = 0;
  let inside = "";
  let outside = ""; // what is around both the operation before and the one after
  return (i) => {
    while (passed < sorted.length && sorted[passed] <= i) passed++;
    if (next <= i) {
      next = i;
      while (next < rows.count && rows.is(next, Is.LEAF)) next++;
      const now = next < rows.count ? path(next) : inside;
      outside = shared(inside, now);
      inside = now;
      next++;
    }
    const own = !rows.is(i, Is.LEAF) || path(i).startsWith(inside);
    const key = `${passed}|${rows.by[i]}|${own ? inside : outside}|${rows.is(i, Is.LAST) ? i : ""}`;
    if (key !== before) number++;
    before = key;
    return number;
  };
}

/**
 * Of each row: 0, or the number of the lower storey that it is in. What a gradient wrote is in one
 * where each of its operations is below one that no gradient wrote.
 */
function storeysOf(rows: Skeleton): number[] {
  const found: number[] = [];
  for (let start = 0, end = 0; start < rows.count; start = end) {
    let fits = rows.by[start] >= 0;
    for (; end < rows.count && rows.by[end] === rows.by[start]; end++)
      fits &&= rows.is(end, Is.LEAF) || (rows.below[end] >= 0 && rows.by[rows.below[end]] < 0);
    for (let i = start; fits && i < end; i++) found[i] = start;
  }
  return found;
}

/** The groups that two paths begin with. */
function shared(a: string, b: string): string {
  const [one, other] = [a.split("/"), b.split("/")];
  const differs = one.findIndex((id, k) => id !== other[k]);
  return one
    .slice(0, differs)
    .map((id) => `${id}/`)
    .join("");
}

function pack(
  rows: Skeleton,
  tree: FoldTree,
  open: (g: Group) => boolean,
  items: Item[],
  node: number[],
  folded: Group[],
  shown: Int32Array,
  readers: number[],
): Layout {
  const placement = place(items);
  const seen = new Map<Group, number>();
  const groups: SeenGroup[] = [];
  const see = (group: Group | null): number => {
    // nothing is drawn around an open page
    while (group && group.kind === "page" && open(group)) group = group.parent;
    if (!group) return -1;
    const known = seen.get(group);
    if (known !== undefined) return known;
    const { id, kind, label, count, start, end, children } = group;
    const only = children.length === 1 && typeof children[0] !== "number" ? children[0].id : "";
    const parent = see(group.parent);
    seen.set(group, groups.length);
    const starts = open(group) ? [] : startsOf(group, rows);
    return groups.push({ id, kind, label, count, start, end, only, parent, starts }) - 1;
  };
  const around = (what: number): Group | null => {
    // a leaf may be seen outside of what hides it
    const hiding = what < 0 ? folded[-1 - what] : hiddenBy(tree, what, open);
    return hiding ? hiding.parent : tree.home[what];
  };
  const nodes = Int32Array.from(node, (what) => (what < 0 ? -1 - see(folded[-1 - what]) : what));
  const at = Int32Array.from(node, (what, index) =>
    what < 0 ? folded[-1 - what].start : shown[what] === index ? what : readers[index],
  );
  const home = Int32Array.from(node, (what, index) => see(around(what < 0 ? what : at[index])));
  const edgeAt = new Int32Array(node.length + 1);
  const edges: number[] = [];
  placement.edges.forEach((ending, i) => {
    edgeAt[i] = edges.length;
    for (const edge of ending) {
      edges.push(
        edge.from,
        edge.port,
        edge.ports,
        Number(edge.far) + 2 * Number(!!edge.back),
        edge.via.length,
      );
      for (const [column, slot] of edge.via) edges.push(column, slot);
    }
  });
  edgeAt[node.length] = edges.length;
  const [column, slot] = [Int32Array.from(placement.column), Int32Array.from(placement.slot)];
  const storey = Int32Array.from(items, (item) => item.storey ?? 0);
  return {
    rows: rows.count,
    node: nodes,
    at,
    home,
    column,
    slot,
    storey,
    shown,
    groups,
    edgeAt,
    edges: Int32Array.from(edges),
  };
}

/** The edges that end in a node. */
export function edgesAt(layout: Layout, to: number): Edge[] {
  const { edges, edgeAt } = layout;
  const found: Edge[] = [];
  for (let at = edgeAt[to]; at < edgeAt[to + 1];) {
    const [from, port, ports, kind, bends] = edges.subarray(at, (at += 5));
    const via: [number, number][] = [];
    for (let k = 0; k < bends; k++, at += 2) via.push([edges[at], edges[at + 1]]);
    found.push({ from, to, port, ports, far: (kind & 1) > 0, back: (kind & 2) > 0, via });
  }
  return found;
}

/**
 * Of the edges that are drawn in full: their ends, and the points at which they pass columns.
 * `isReferred` says of which two nodes a reference takes the place of the edge.
 */
export function nearEdges(
  layout: Layout,
  isReferred: (from: number, to: number) => boolean = () => false,
): {
  ends: [number, number][];
  passed: [number, number][];
} {
  const { edges, edgeAt } = layout;
  const [ends, passed]: [number, number][][] = [[], []];
  for (let to = 0; to < layout.node.length; to++)
    for (let at = edgeAt[to]; at < edgeAt[to + 1];) {
      const from = edges[at];
      const isDrawn = !isReferred(from, to);
      if (isDrawn && !(edges[at + 3] & 1)) ends.push([from, to]);
      const bends = edges[at + 4];
      at += 5;
      for (let k = 0; k < bends; k++, at += 2) if (isDrawn) passed.push([edges[at], edges[at + 1]]);
    }
  return { ends, passed };
}
