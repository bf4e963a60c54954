// What folding and placing need to know of the rows: numbers in columns, so that a worker can hold
// a copy of them.
import type { Row } from "./schema";
import { isLeaf } from "./store";

// begins the name of the part that a tape's gradient wrote on an outer one; its number follows
export const WRITTEN = "\u2202";

/** What is known of a row, as bits of one number. */
export const enum Is {
  LEAF = 1, // it has no inputs on the tape
  SOURCE = 2, // a leaf that was watched: it belongs to no group
  // an array that is no weight: what a network is given is seen where its layers are folded
  DATA = 4,
  PARAM = 8, // a leaf that a gradient is asked for: it is seen even where its readers are folded
  GHOST = 16, // it ran, but no tape recorded it
  PLUMB = 32, // it hands its input on: inside of a call it would only be noise
  LITERAL = 64, // a number of the program, which may be there at several places
  // the result of a function with a gradient of its own: it is right of what the function computed
  LAST = 128,
}

/** The rows from `first` on, as they travel to the worker. */
export interface SkeletonPart {
  first: number;
  counts: Int32Array; // inputs of each row
  inputs: Int32Array;
  facts: Int32Array; // FACTS numbers for each row
  scopes: string[][]; // all of them
}

// of a row: its bits, sign, scope, the tape that wrote it, the row that it is below, its loops, its
// position and its call
const FACTS = 8;

export class Skeleton {
  inputs: ArrayLike<number>[] = [];
  sign: number[] = []; // equal for rows of the same operation at the same place in the program
  scope: number[] = []; // a number in `scopes`
  scopes: string[][] = [[]];
  by: number[] = []; // the tape whose gradient wrote the row, -1 for none
  below: number[] = []; // the row below which one is drawn that a gradient wrote, -1 for none
  loops: number[] = []; // the loops of the program that its line is in: a number in `scopes`
  position: number[] = []; // in the bytecode of the program, 0 where it isn't known
  // of a further result of a call: the call's label, a number in `scopes`; 0 for a first result
  call: number[] = [];
  readFirst: number[] = []; // the first and the last row that reads it, -1 for none
  readLast: number[] = [];
  private bits: number[] = [];
  private signs = new Map<string, number>();
  private loopsOf: number[] = []; // by sign
  private scopeOf = new Map<string, number>([["", 0]]);
  private columns = [
    ...[this.bits, this.sign, this.scope, this.by],
    ...[this.below, this.loops, this.position, this.call],
  ];

  get count(): number {
    return this.bits.length;
  }

  is(row: number, what: Is): boolean {
    return (this.bits[row] & what) !== 0;
  }

  /** Takes the rows that are not there yet, whose lines are in these texts. */
  grow(rows: Row[], texts: Record<string, string> = {}): void {
    for (let i = this.count; i < rows.length; i++) {
      const row = rows[i];
      const leaf = isLeaf(row);
      const sign = number(
        this.signs,
        `${row.op}|${row.inputs.length}|${row.line}|${row.site}|${row.file}|${row.by}|${row.output}`,
      );
      const path = row.by === null || leaf ? row.scope : [`${WRITTEN}${row.by}`, ...row.scope];
      const scope = this.numberOf(path);
      const source = row.kind === "source";
      const bits = [
        leaf,
        source,
        row.kind === "constant" && row.shape.length > 0,
        source || (row.kind === "variable" && row.watched !== null),
        row.status === "ghost",
        row.op === "identity" || row.op === "logical_not",
        row.literal,
        row.op === "custom_gradient" && row.scope.at(-1) === row.label,
      ];
      this.push(row.inputs, [
        bits.reduce((sum, bit, k) => sum + (Number(bit) << k), 0),
        sign,
        scope,
        row.by ?? -1,
        row.below ?? -1,
        (this.loopsOf[sign] ??= this.numberOf(listLoops(texts, row))),
        // the condition of a `while` begins a turn, although Python repeats it behind the body
        this.scopes[this.loopsOf[sign]].at(-1) === `${row.file}:${row.line}?` ? 1 : row.site,
        row.output ? this.numberOf([row.label]) : 0,
      ]);
    }
  }

  /** The number of a path in `scopes`. */
  private numberOf(path: string[]): number {
    const found = number(this.scopeOf, path.join("\0"));
    this.scopes[found] ??= path;
    return found;
  }

  private push(inputs: ArrayLike<number>, facts: ArrayLike<number>): void {
    const row = this.inputs.push(inputs) - 1;
    this.columns.forEach((column, k) => column.push(facts[k]));
    this.readFirst.push(-1);
    this.readLast.push(-1);
    for (let k = 0; k < inputs.length; k++) {
      if (this.readFirst[inputs[k]] < 0) this.readFirst[inputs[k]] = row;
      this.readLast[inputs[k]] = row;
    }
  }

  /** The names of the scopes that a row is in, outermost first. */
  path(row: number): string[] {
    return this.scopes[this.scope[row]];
  }

  part(first: number): SkeletonPart {
    const some = this.inputs.slice(first);
    const [flat, facts]: number[][] = [[], []];
    some.forEach((inputs, i) => {
      for (let k = 0; k < inputs.length; k++) flat.push(inputs[k]);
      for (const column of this.columns) facts.push(column[first + i]);
    });
    return {
      first,
      counts: Int32Array.from(some, (inputs) => inputs.length),
      inputs: Int32Array.from(flat),
      facts: Int32Array.from(facts),
      scopes: this.scopes,
    };
  }

  /** Takes what another skeleton's `part` gave. */
  append(part: SkeletonPart): void {
    let at = 0;
    this.scopes = part.scopes;
    part.counts.forEach((count, i) => {
      this.push(
        part.inputs.subarray(at, at + count),
        part.facts.subarray(FACTS * i, FACTS * (i + 1)),
      );
      at += count;
    });
  }
}

function number(known: Map<string, number>, text: string): number {
  let found = known.get(text);
  if (found === undefined) known.set(text, (found = known.size));
  return found;
}

/**
 * The loops around the line of a row, outermost first, by their own lines. One whose line has only
 * a condition ends with a question mark.
 */
function listLoops(texts: Record<string, string>, { file, line }: Row): string[] {
  let depth = Infinity;
  const loops: string[] = [];
  const lines = (texts[file ?? ""] ?? "").split("\n", line ?? 0);
  // outwards: the line itself, and those before it that are further left
  for (let k = lines.length - 1; k >= 0; k--) {
    const at = lines[k].search(/\S/);
    if (at < 0 || at >= depth) continue;
    depth = at;
    const loop = /^\s*(?:for\b|while\b(.*:\s*(#|$))?)/.exec(lines[k]);
    if (loop) loops.unshift(`${file}:${k + 1}${loop[1] ? "?" : ""}`);
  }
  return loops;
}
