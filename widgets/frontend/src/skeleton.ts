// What folding and placing need to know of the rows: numbers in columns, so that a worker can hold a copy of them.
import type { Row } from "./schema";
import { isLeaf } from "./store";

export const WRITTEN = "\u2202"; // begins the name of the part that a tape's gradient wrote on an outer one; its number follows

/** The rows from `first` on, as they travel to the worker. */
export interface SkeletonPart {
  first: number;
  counts: Int32Array; // inputs of each row
  inputs: Int32Array;
  leaf: Uint8Array;
  source: Uint8Array;
  data: Uint8Array;
  param: Uint8Array;
  sign: Int32Array;
  scope: Int32Array;
  by: Int32Array;
  ghost: Uint8Array;
  plumb: Uint8Array;
  scopes: string[][]; // all of them
}

export class Skeleton {
  inputs: ArrayLike<number>[] = [];
  leaf: boolean[] = [];
  source: boolean[] = []; // a leaf that was watched: it is nobody's own
  data: boolean[] = []; // an array that is no weight: what a network is given is seen where its layers are folded
  param: boolean[] = []; // a leaf that a gradient is asked for: it is seen even where its readers are folded
  sign: number[] = []; // equal for rows of the same operation at the same place
  scope: number[] = []; // a number in `scopes`
  scopes: string[][] = [[]];
  by: number[] = []; // the tape whose gradient wrote the row, -1 for none
  ghost: boolean[] = []; // it ran, but no tape recorded it
  plumb: boolean[] = []; // it hands its input on: nobody wants to see it inside of a call
  readFirst: number[] = []; // the first and the last row that reads it, -1 for none
  readLast: number[] = [];
  private signs = new Map<string, number>();
  private scopeOf = new Map<string, number>([["", 0]]);

  get count(): number {
    return this.leaf.length;
  }

  /** Takes the rows that are not there yet. */
  grow(rows: Row[]): void {
    for (let i = this.count; i < rows.length; i++) {
      const row = rows[i];
      const sign = number(this.signs, `${row.op}|${row.inputs.length}|${row.line}|${row.file}|${row.by}`);
      const path = row.by === null || isLeaf(row) ? row.scope : [`${WRITTEN}${row.by}`, ...row.scope];
      const scope = path.length ? number(this.scopeOf, path.join("\0")) : 0;
      this.scopes[scope] ??= path;
      const param = row.kind === "source" || (row.kind === "variable" && row.watched !== null);
      this.plumb.push(row.op === "identity" || row.op === "logical_not");
      this.push(row.inputs, isLeaf(row), row.kind === "source", row.kind === "constant" && row.shape.length > 0, param, sign, scope, row.by ?? -1, row.status === "ghost");
    }
  }

  private push(inputs: ArrayLike<number>, leaf: boolean, source: boolean, data: boolean, param: boolean, sign: number, scope: number, by: number, ghost: boolean): void {
    const row = this.leaf.length;
    this.inputs.push(inputs);
    this.leaf.push(leaf);
    this.source.push(source);
    this.data.push(data);
    this.param.push(param);
    this.sign.push(sign);
    this.scope.push(scope);
    this.by.push(by);
    this.ghost.push(ghost);
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
    const flat: number[] = [];
    for (const inputs of some) for (let k = 0; k < inputs.length; k++) flat.push(inputs[k]);
    return {
      first,
      counts: Int32Array.from(some, (inputs) => inputs.length),
      inputs: Int32Array.from(flat),
      leaf: Uint8Array.from(this.leaf.slice(first), Number),
      source: Uint8Array.from(this.source.slice(first), Number),
      data: Uint8Array.from(this.data.slice(first), Number),
      param: Uint8Array.from(this.param.slice(first), Number),
      sign: Int32Array.from(this.sign.slice(first)),
      scope: Int32Array.from(this.scope.slice(first)),
      by: Int32Array.from(this.by.slice(first)),
      ghost: Uint8Array.from(this.ghost.slice(first), Number),
      plumb: Uint8Array.from(this.plumb.slice(first), Number),
      scopes: this.scopes,
    };
  }

  /** Takes what another skeleton's `part` gave. */
  append(part: SkeletonPart): void {
    let at = 0;
    this.scopes = part.scopes;
    part.counts.forEach((count, i) => {
      this.plumb.push(part.plumb[i] === 1);
      this.push(part.inputs.subarray(at, at + count), part.leaf[i] === 1, part.source[i] === 1, part.data[i] === 1, part.param[i] === 1, part.sign[i], part.scope[i], part.by[i], part.ghost[i] === 1);
      at += count;
    });
  }
}

function number(known: Map<string, number>, text: string): number {
  let found = known.get(text);
  if (found === undefined) known.set(text, (found = known.size));
  return found;
}
