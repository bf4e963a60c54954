// Where the nodes are. One pass over the rows in their order, O(1) work per input, so that - a node
// once placed never moves when more rows come (leaves without a reader yet are the only exception),
// - 10,000 nodes take milliseconds, - the static picture (minitape/picture/placement.py), which has
// no small nodes, places the others exactly alike: tests/widgets/placements.json checks both.
//
// Columns run with time: a node is right of all its inputs. A new `section` (a tape opens or
// closes, an inner gradient writes, a folded part is opened) begins right of everything before, so
// its frame is a rectangle. Heights are in half-slots: a node takes two, a number of the program
// and an edge that passes a column take one. What a gradient wrote is in a storey of its own, which
// runs back: each row is below the one whose adjoint it adds to.

// an input further back than this many columns, or in another storey, is drawn as a small
// reference, not as a long edge
export const FAR = 6;
const REACH = 24; // how many places to try on both sides before going past the end of a column

export interface Item {
  inputs: number[]; // indices of earlier items, repeats allowed
  leaf: boolean;
  section: number; // changes where a frame begins or ends
  bare?: boolean; // a number, which takes one half-slot
  after?: number; // of a leaf: the item that it is right of, as it was made there
  storey?: number; // of what a gradient wrote: which one it is in, from 1 on
  below?: number; // then: the item that it is below
}

export interface Edge {
  from: number;
  to: number;
  port: number; // which input of `to`
  ports: number;
  far: boolean;
  back?: boolean; // it runs from right to left, in a lower storey
  via: [number, number][]; // [column, half-slot] points that the edge passes
}

const BETWEEN = 2; // half-slots between two storeys, for the frames around them

/** The places of items. */
export function place(items: Item[]): Placement {
  const placed = new Placement();
  // of what is in a lower storey: the how many-th it is of those below one item
  const levels: number[] = [];
  const deep: number[] = []; // of an item: how many columns what is below it takes
  const storeys: number[][] = [];
  items.forEach((item, i) => {
    if (!item.storey) return;
    (storeys[item.storey] ??= []).push(i);
    levels[i] = item.leaf
      ? 0
      : 1 +
        Math.max(
          0,
          ...item.inputs.map((one) => (items[one].below === item.below ? (levels[one] ?? 0) : 0)),
        );
    if (item.below !== undefined) deep[item.below] = Math.max(deep[item.below] ?? 0, levels[i]);
  });
  items.forEach((item, i) => placed.add(item, deep[i]));
  placed.settle();
  for (const members of storeys) if (members) placed.lower(members);
  return placed;
}

export class Placement {
  column: number[] = [];
  slot: number[] = [];
  edges: Edge[][] = []; // edges[i] = edges that end in item i
  items: Item[] = [];
  private deep: number[] = [];
  private end = 0; // the first half-slot below everything
  private used = new Map<number, Set<number>>();
  private bottom = new Map<number, number>(); // first half-slot below everything in a column
  private pending: number[] = [];
  private floor = 0;
  private last = -1;
  private now = 0; // the column of the last operation
  private beginnings = 0; // how many operations before it, in its column, also read leaves only
  private inTime = true; // what reads leaves only is as far as what ran before it
  private section: number | null = null;

  /** Adds an item, below which other items take `deep` columns; it is not right of `least`. */
  add(item: Item, deep = 0, least = 0): void {
    const index = this.items.push(item) - 1;
    this.deep.push(deep);
    this.column.push(-1);
    this.slot.push(0);
    this.edges.push([]);
    if (item.storey) return; // it is placed when what it is below has its place
    if (this.section !== null && item.section !== this.section) this.endSection();
    this.section = item.section;
    if (item.leaf) this.pending.push(index);
    else this.operation(index, item, least);
  }

  /** Gives leaves that nothing has read a place. */
  settle(): void {
    for (const index of this.pending) this.put(index, this.floor, 0);
    this.pending = [];
  }

  /**
   * Places these items in a storey below all others, from right to left: their columns count
   * backwards.
   */
  lower(members: number[]): void {
    const own = new Map(members.map((member, k) => [member, k]));
    const storey = new Placement();
    storey.inTime = false;
    // a column before what is below the last one: with what the gradient begins
    const mirror = this.last + 2;
    for (const member of members) {
      const { inputs, below, ...item } = this.items[member];
      storey.add(
        { ...item, storey: 0, section: 0, inputs: inputs.flatMap((one) => own.get(one) ?? []) },
        0,
        mirror - (this.column[below ?? -1] ?? mirror),
      );
    }
    storey.settle();
    const down = this.end + BETWEEN - Math.min(...storey.slot);
    this.end = storey.end + down;
    members.forEach((member, k) => {
      const edges = storey.edges[k];
      [this.column[member], this.slot[member]] = [mirror - storey.column[k], storey.slot[k] + down];
      this.edges[member] = this.items[member].inputs.map((from, port, { length: ports }) => {
        const edge = own.has(from) ? edges.shift() : undefined;
        const via = (edge?.via ?? []).map(([column, slot]): [number, number] => [
          mirror - column,
          slot + down,
        ]);
        return { from, to: member, port, ports, far: edge?.far ?? true, back: !!edge, via };
      });
    });
    const first = Math.min(...members.map((member) => this.column[member]));
    if (first >= 0) return;
    this.column = this.column.map((column) => column - first);
    for (const edges of this.edges)
      for (const edge of edges) edge.via = edge.via.map(([column, slot]) => [column - first, slot]);
  }

  private endSection(): void {
    this.settle();
    this.floor = this.last + 1;
  }

  private operation(index: number, item: Item, least: number): void {
    const inputs = [...new Set(item.inputs)].filter((i) => !this.items[i].storey);
    const deep = this.deep[index] || 1;
    const waiting = inputs.filter((i) => this.column[i] < 0);
    const placed = inputs.filter((i) => this.column[i] >= 0);
    let main = -1;
    let column = Math.max(least, this.floor + (waiting.length ? deep : deep - 1));
    for (const i of placed) {
      if (main < 0 || this.column[i] > this.column[main]) main = i;
      column = Math.max(column, this.column[i] + deep);
    }
    for (const i of waiting) {
      const from = this.column[this.items[i].after ?? -1];
      // what nothing has read yet will be in the first column
      if (from !== undefined) column = Math.max(column, from + 2, this.floor + 2);
    }
    // it has no other place in time, and its leaves are just before it
    if (this.inTime && inputs.every((i) => this.items[i].leaf)) column = Math.max(column, this.now);
    const want = main < 0 ? this.belowOthers(column) : this.beside(main, placed);
    this.now = column;
    this.put(index, column, want);
    for (const i of waiting)
      this.put(
        i,
        column - (this.deep[i] ? deep : 1),
        this.slot[index] + 2 * inputs.indexOf(i) - (inputs.length - 1),
      );
    if (waiting.length) this.pending = this.pending.filter((i) => this.column[i] < 0);
    this.edges[index] = item.inputs.map((from, port) => ({
      from,
      to: index,
      port,
      ports: item.inputs.length,
      far: !!this.items[from].storey || column - this.column[from] > FAR,
      via: [],
    }));
    for (const from of placed) this.route(from, index);
  }

  /** Of many operations that read leaves only each is below the one before. */
  private belowOthers(column: number): number {
    this.beginnings = column === this.now && this.inTime ? this.beginnings + 1 : 0;
    return (this.beginnings > 1 && this.bottom.get(column)) || 0;
  }

  /** The height of the last input; of three or more inputs in its column that of the middle one. */
  private beside(main: number, inputs: number[]): number {
    this.beginnings = 0;
    const slots = inputs
      .filter((i) => this.column[i] === this.column[main])
      .map((i) => this.slot[i])
      .sort((a, b) => a - b);
    return slots.length < 3 ? this.slot[main] : slots[(slots.length - 1) >> 1];
  }

  /**
   * Keeps one half-slot free in each column that a near edge passes: the same in all of them where
   * there is one, so that it runs straight.
   */
  private route(from: number, to: number): void {
    const start = this.column[from];
    const span = this.column[to] - start;
    if (span < 2 || span > FAR) return;
    const via: [number, number][] = [];
    const lane = this.lane(
      start + 1,
      start + span,
      Math.floor((this.slot[from] + this.slot[to]) / 2),
    );
    for (let step = 1; step < span; step++) {
      const slot =
        lane ??
        this.free(
          start + step,
          Math.floor((this.slot[from] * (span - step) + this.slot[to] * step) / span),
          1,
        );
      this.take(start + step, slot, 1);
      via.push([start + step, slot]);
    }
    for (const edge of this.edges[to]) if (edge.from === from) edge.via = via;
  }

  /**
   * The half-slot nearest to `want` that is free in all these columns, below before above; null for
   * none.
   */
  private lane(first: number, end: number, want: number): number | null {
    const isFree = (slot: number): boolean => {
      for (let column = first; column < end; column++)
        if (this.used.get(column)?.has(slot)) return false;
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
    this.end = Math.max(this.end, slot + size);
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
