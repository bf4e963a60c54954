// Compared tapes in one layout: rows that belong together are in the same column, and where only
// one tape has a row, the other one has an empty column.
import { pairRows } from "./alignment";
import type { Box } from "./camera";
import { edgesAt, type Layout } from "./layout";
import type { Store } from "./store";

const MANY = 400; // nodes: larger layouts stay as they are

const compared = new Map<string, Map<Store, Layout>>(); // by comparison

// a graph's size, the height of its pane, and what fits it anew
type Size = { w: number; h: number; room: number; fit: () => void };
const sizes = new Map<string, Map<Store, Size>>(); // also by comparison

/** Takes the layout of a view out of its comparison. */
export function forgetLayout(store: Store): void {
  compared.get(store.linked)?.delete(store);
  sizes.get(store.linked)?.delete(store);
}

/**
 * The box of a graph in a pane with so much room, as large as the largest in its comparison would
 * be in the lowest pane, so that all have one scale; `fit` is called when another one has a new
 * size.
 */
export function alignBox(store: Store, box: Box, room: number, fit: () => void): Box {
  if (!store.linked) return box;
  const all = sizes.get(store.linked) ?? new Map<Store, Size>();
  const { w, h } = box;
  const old = all.get(store);
  sizes.set(store.linked, all.set(store, { w, h, room, fit }));
  if (old?.w !== w || old.h !== h || old.room !== room)
    for (const [one, size] of all) if (one !== store) size.fit();
  const list = (side: "w" | "h" | "room"): number[] => [...all.values()].map((one) => one[side]);
  const lowest = Math.min(...list("room").filter(Boolean));
  return { ...box, w: Math.max(...list("w")), h: (Math.max(...list("h")) * room) / lowest };
}

/** The layout of a view, and how many columns its comparison has. */
export function alignLayout(store: Store, layout: Layout): [Layout, number] {
  if (!store.linked) return [layout, countColumns(layout)];
  const both = compared.get(store.linked) ?? new Map<Store, Layout>();
  compared.set(store.linked, both.set(store, layout));
  const other = [...both].find(([one]) => one !== store);
  if (!other || [layout, other[1]].some((one) => one.flat || one.node.length > MANY))
    return [layout, countColumns(layout)];
  const [own, its] = findColumns([store, layout], other);
  const columns = 1 + Math.max(...own, ...its);
  // A node moves on into an empty column behind its own if what belongs to it is there.
  const column = layout.column.map((one) => own[one]);
  for (const [i, k] of pairRows(store.rows, other[0].rows)) {
    const [node, there] = [layout.shown[i], its[other[1].column[other[1].shown[k]]]];
    if (there > column[node] && there < own[layout.column[node] + 1]) column[node] = there;
  }
  return [spread(layout, own, column), columns];
}

function countColumns({ column }: Layout): number {
  return 1 + column.reduce((most, one) => Math.max(most, one), 0);
}

/** Of both layouts: the place of each column among those of both. */
function findColumns(...both: [Store, Layout][]): [number[], number[]] {
  const [own, its] = both.map(([, one]) => Array.from({ length: countColumns(one) }, (_, c) => c));
  const columnOf = ([, { column, shown }]: [Store, Layout], row: number): number =>
    column[shown[row]];
  const push = (places: number[], from: number, by: number): void => {
    for (let c = from; c < places.length; c++) places[c] += by;
  };
  let [lastA, lastB] = [-1, -1];
  for (const [i, k] of pairRows(both[0][0].rows, both[1][0].rows)) {
    const [a, b] = [columnOf(both[0], i), columnOf(both[1], k)];
    // Only what comes in the same order in both can be side by side.
    if (!(a > lastA && b > lastB)) continue;
    [lastA, lastB] = [a, b];
    const ahead = its[b] - own[a];
    if (ahead > 0) push(own, a, ahead);
    else push(its, b, -ahead);
  }
  return [own, its];
}

/** A layout with its columns at these places, and its nodes in these; edges pass the empty ones. */
function spread(layout: Layout, places: number[], column: Int32Array): Layout {
  const edges: number[] = [];
  const edgeAt = layout.edgeAt.map((_, to) => {
    const start = edges.length;
    if (to === layout.node.length) return start;
    const before = places[layout.column[to]]; // from there on, an edge is where its node was
    for (const { from, port, ports, far, back, via } of edgesAt(layout, to)) {
      const passed = new Map(via.map(([at, slot]) => [places[at], slot]));
      let slot = via[0]?.[1] ?? layout.slot[from];
      const points: number[] = [];
      for (let at = column[from] + 1; !far && at < column[to]; at++)
        points.push(at, (slot = at < before ? (passed.get(at) ?? slot) : layout.slot[to]));
      edges.push(from, port, ports, Number(far) + 2 * Number(back), points.length / 2, ...points);
    }
    return start;
  });
  return { ...layout, column, edgeAt, edges: Int32Array.from(edges) };
}
