// A strip of columns that is longer than its room continues in the next line, like text. An edge
// that continues there, too, leaves its line on the right, runs back between the two lines and
// enters the next one from the left; edges from one node share that lane.

import type { Layout } from "./layout";

export type Extent = [number, number]; // the first half-slot of a line, and the first one below it

/**
 * What each line needs: `passed` are the points at which edges pass a column, [column, half-slot];
 * `isBare` says which nodes take one half-slot.
 */
export function extentsOf(
  column: ArrayLike<number>,
  slot: ArrayLike<number>,
  passed: Iterable<[number, number]>,
  per: number,
  isBare = (_: number): boolean => false,
): Extent[] {
  const found: Extent[] = [];
  const take = (at: number, low: number, high: number): void => {
    const extent = (found[Math.floor(at / per)] ??= [low, high]);
    extent[0] = Math.min(extent[0], low);
    extent[1] = Math.max(extent[1], high);
  };
  for (let i = 0; i < column.length; i++) take(column[i], slot[i], slot[i] + (isBare(i) ? 1 : 2));
  for (const [at, half] of passed) take(at, half, half + 1);
  return found;
}

/**
 * The half-slots of nodes, and the edges as a layout has them, without the half-slots that nothing
 * in a line takes: edges that pass other lines would leave holes.
 */
export function squeezed(
  { column, slot, edges }: Pick<Layout, "column" | "slot" | "edges">,
  per: number,
  isBare: (i: number) => boolean,
): Pick<Layout, "slot" | "edges"> {
  const taken: Set<number>[] = [];
  const lineOf = (at: number): Set<number> => (taken[Math.floor(at / per)] ??= new Set());
  column.forEach((at, i) => {
    lineOf(at).add(slot[i]);
    if (!isBare(i)) lineOf(at).add(slot[i] + 1);
  });
  const passed: number[] = []; // where in `edges` a column and a half-slot are
  for (let at = 0; at < edges.length;) {
    const bends = edges[at + 4];
    at += 5;
    for (let k = 0; k < bends; k++, at += 2) {
      passed.push(at);
      lineOf(edges[at]).add(edges[at + 1]);
    }
  }
  const ranks = taken.map(
    (slots) => new Map([...slots].sort((a, b) => a - b).map((half, rank) => [half, rank])),
  );
  const rankOf = (at: number, half: number): number => ranks[Math.floor(at / per)].get(half)!;
  const moved = edges.slice();
  for (const at of passed) moved[at + 1] = rankOf(edges[at], edges[at + 1]);
  return { slot: slot.map((half, i) => rankOf(column[i], half)), edges: moved };
}

/**
 * Below each line the nodes whose edges go on in the next one, in the order of their lanes: the
 * lowest node has the first.
 */
export function lanesOf(
  edges: Iterable<[number, number]>,
  column: ArrayLike<number>,
  slot: ArrayLike<number>,
  per: number,
): number[][] {
  const found: Set<number>[] = [];
  for (const [from, to] of edges) {
    const lines = [column[from], column[to]].map((at) => Math.floor(at / per));
    for (let line = Math.min(...lines); line < Math.max(...lines); line++)
      (found[line] ??= new Set()).add(from);
  }
  return Array.from(found, (sources) =>
    [...(sources ?? [])].sort((a, b) => slot[b] - slot[a] || a - b),
  );
}
