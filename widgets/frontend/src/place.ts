// Where the nodes are. One pass over the rows in their order, O(1) work per input, so that
//  - a node once placed never moves when more rows come (leaves without a reader yet are the only exception),
//  - 10,000 nodes take milliseconds,
//  - the static picture (minitape/picture/placement.py), which has no small nodes, places the others exactly alike:
//    tests/widgets/placements.json checks both.
//
// Columns run with time: a node is right of all its inputs. A new `section` (a tape opens or closes, an inner
// gradient writes, a folded part is opened) begins right of everything before, so its frame is a rectangle.
// Heights are in half-slots: a node takes two, a number of the program and an edge that passes a column take one.

export const FAR = 6; // an input further back than this many columns is drawn as a small reference, not as a long edge
const REACH = 24; // how many places to try on both sides before going past the end of a column

export interface Item {
  inputs: number[]; // indices of earlier items, repeats allowed
  leaf: boolean;
  section: number; // changes where a frame begins or ends
  bare?: boolean; // a number, which takes one half-slot
  after?: number; // of a leaf: the item that it is right of, as it was made there
}

export interface Edge {
  from: number;
  to: number;
  port: number; // which input of `to`
  ports: number;
  far: boolean;
  via: [number, number][]; // [column, half-slot] points that the edge passes
}

export class Placement {
  column: number[] = [];
  slot: number[] = [];
  edges: Edge[][] = []; // edges[i] = edges that end in item i
  items: Item[] = [];
  private used = new Map<number, Set<number>>();
  private bottom = new Map<number, number>(); // first half-slot below everything in a column
  private pending: number[] = [];
  private floor = 0;
  private last = -1;
  private now = 0; // the column of the last operation
  private section: number | null = null;

  /** Number of columns in use. */
  get columns(): number {
    return this.last + 1;
  }

  add(item: Item): void {
    if (this.section !== null && item.section !== this.section) this.endSection();
    this.section = item.section;
    const index = this.items.push(item) - 1;
    this.column.push(-1);
    this.slot.push(0);
    this.edges.push([]);
    if (item.leaf) this.pending.push(index);
    else this.operation(index, item);
  }

  /** Gives leaves that nothing has read yet a place to be shown at, which is not recorded. */
  provisional(): [number, number, number][] {
    const bottom = this.bottom.get(this.floor);
    const taken: [number, number, number][] = [];
    for (const index of this.pending) {
      const size = this.sizeOf(index);
      const slot = this.free(this.floor, 0, size);
      taken.push([index, this.floor, slot]);
      this.take(this.floor, slot, size);
    }
    for (const [index, column, slot] of taken) for (let k = 0; k < this.sizeOf(index); k++) this.used.get(column)?.delete(slot + k);
    if (bottom === undefined) this.bottom.delete(this.floor);
    else this.bottom.set(this.floor, bottom);
    return taken;
  }

  private endSection(): void {
    for (const index of this.pending) this.put(index, this.floor, 0);
    this.pending = [];
    this.floor = this.last + 1;
  }

  private operation(index: number, item: Item): void {
    const inputs = [...new Set(item.inputs)];
    const waiting = inputs.filter((i) => this.column[i] < 0);
    const placed = inputs.filter((i) => this.column[i] >= 0);
    let main = -1;
    let column = this.floor + (waiting.length ? 1 : 0);
    for (const i of placed) {
      if (main < 0 || this.column[i] > this.column[main]) main = i;
      column = Math.max(column, this.column[i] + 1);
    }
    for (const i of waiting) column = Math.max(column, (this.column[this.items[i].after ?? -1] ?? -2) + 2);
    // what reads leaves only has no place of its own in time: it is placed with what ran before it, and its leaves just before it
    if (inputs.every((i) => this.items[i].leaf)) column = Math.max(column, this.now);
    this.now = column;
    this.put(index, column, main < 0 ? 0 : this.beside(main, placed));
    for (const i of waiting) this.put(i, column - 1, this.slot[index] + 2 * inputs.indexOf(i) - (inputs.length - 1));
    if (waiting.length) this.pending = this.pending.filter((i) => this.column[i] < 0);
    this.edges[index] = item.inputs.map((from, port) => ({
      from,
      to: index,
      port,
      ports: item.inputs.length,
      far: column - this.column[from] > FAR,
      via: [],
    }));
    for (const from of placed) this.route(from, index);
  }

  /** The height of the last input; of three or more leaves in its column that of the middle one. */
  private beside(main: number, inputs: number[]): number {
    const slots = inputs.filter((i) => this.items[i].leaf && this.column[i] === this.column[main]).map((i) => this.slot[i]).sort((a, b) => a - b);
    return slots.length < 3 ? this.slot[main] : slots[(slots.length - 1) >> 1];
  }

  /** Keeps one half-slot free in each column that a near edge passes: the same in all of them where there is one, so that it runs straight. */
  private route(from: number, to: number): void {
    const start = this.column[from];
    const span = this.column[to] - start;
    if (span < 2 || span > FAR) return;
    const via: [number, number][] = [];
    const lane = this.lane(start + 1, start + span, Math.floor((this.slot[from] + this.slot[to]) / 2));
    for (let step = 1; step < span; step++) {
      const slot = lane ?? this.free(start + step, Math.floor((this.slot[from] * (span - step) + this.slot[to] * step) / span), 1);
      this.take(start + step, slot, 1);
      via.push([start + step, slot]);
    }
    for (const edge of this.edges[to]) if (edge.from === from) edge.via = via;
  }

  /** The half-slot nearest to `want` that is free in all these columns, below before above; null for none. */
  private lane(first: number, end: number, want: number): number | null {
    const isFree = (slot: number): boolean => {
      for (let column = first; column < end; column++) if (this.used.get(column)?.has(slot)) return false;
      return true;
    };
    for (let d = 0; d <= REACH; d++) {
      if (isFree(want + d)) return want + d;
      if (isFree(want - d)) return want - d;
    }
    return null;
  }

  private sizeOf(index: number): number {
    return this.items[index].bare ? 1 : 2;
  }

  private put(index: number, column: number, want: number): void {
    const slot = this.free(column, want, this.sizeOf(index));
    this.take(column, slot, this.sizeOf(index));
    this.column[index] = column;
    this.slot[index] = slot;
    if (column > this.last) this.last = column;
  }

  private take(column: number, slot: number, size: number): void {
    let used = this.used.get(column);
    if (!used) this.used.set(column, (used = new Set()));
    for (let k = 0; k < size; k++) used.add(slot + k);
    this.bottom.set(column, Math.max(this.bottom.get(column) ?? slot, slot + size));
  }

  /** The free place nearest to `want`, below before above. */
  private free(column: number, want: number, size: number): number {
    const used = this.used.get(column);
    if (!used || used.size === 0) return want;
    const fits = (slot: number): boolean => {
      for (let k = 0; k < size; k++) if (used.has(slot + k)) return false;
      return true;
    };
    for (let d = 0; d <= REACH; d++) {
      if (fits(want + d)) return want + d;
      if (fits(want - d)) return want - d;
    }
    return this.bottom.get(column) ?? want;
  }
}
