// The graph that is drawn: rows and folded groups as placed nodes, edges between them, frames around sections.
import { groupTitle } from "./fold";
import { edgesAt, reachOfEdges, type Layout, type SeenGroup } from "./layout";
import { FAR, type Edge } from "./place";
import type { Row, SweepStep, Tape } from "./schema";
import type { Store } from "./store";

export const NODE_W = 124;
export const NODE_H = 52;
export const COLUMN = 226; // leaves room for the widest card on an edge, and for the edge on both sides of it
export const HALF = 35; // height of a half-slot
export const PAD = 18;

export type Group = Omit<SeenGroup, "parent"> & { parent: Group | null };

export interface Node {
  index: number;
  id: string;
  row: Row | null; // null for a folded group
  group: Group | null;
  home: Group | null; // the innermost group around it
  first: number; // row number, or first row of the group
  column: number;
  slot: number;
  x: number;
  y: number;
}

export interface Frame {
  kind: "tape" | "sweep" | "group";
  id: string;
  label: string;
  tape: Tape | null;
  group: Group | null;
  depth: number;
  inner: boolean; // lies in another one
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Link {
  from: Node;
  to: Node;
  name: string;
}

export interface Graph {
  nodes: Node[];
  edges(index: number): Edge[]; // those that end in a node
  links: Link[]; // assign edges between versions of a variable
  frames: Frame[];
  nodeOf(row: number): Node | null;
  byColumn: Node[][];
  columns: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The graph of a layout of the store's first rows. */
export function buildGraph(store: Store, layout: Layout): Graph {
  const groups: Group[] = layout.groups.map((group) => ({ ...group, parent: null }));
  layout.groups.forEach((group, k) => (groups[k].parent = groups[group.parent] ?? null));
  const nodes: Node[] = [];
  const byColumn: Node[][] = [];
  let [top, bottom] = reachOfEdges(layout).map((slot) => slot * HALF);
  bottom = Math.max(bottom, NODE_H);
  layout.node.forEach((what, index) => {
    const row = what >= 0 ? store.rows[what] : null;
    const group = what >= 0 ? null : groups[-1 - what];
    const [column, slot] = [layout.column[index], layout.slot[index]];
    const first = group ? group.start : what;
    const node = { index, id: group ? group.id : `r${first}`, row, group, home: groups[layout.home[index]] ?? null, first, column, slot, x: column * COLUMN, y: slot * HALF };
    nodes.push(node);
    (byColumn[column] ??= []).push(node);
    top = Math.min(top, node.y);
    bottom = Math.max(bottom, node.y + NODE_H);
  });
  for (let c = 0; c < byColumn.length; c++) byColumn[c] ??= [];
  const nodeOf = (row: number): Node | null => nodes[layout.shown[row] ?? -1] ?? null;
  const known = new Map<number, Edge[]>();
  const edges = (index: number): Edge[] => {
    let found = known.get(index);
    if (!found) known.set(index, (found = edgesAt(layout, index)));
    return found;
  };
  const graph: Graph = { nodes, edges, links: links(store, nodeOf), frames: [], nodeOf, byColumn, columns: byColumn.length, left: 0, right: (byColumn.length - 1) * COLUMN + NODE_W, top, bottom };
  graph.frames = frames(store, graph);
  for (const frame of graph.frames) {
    graph.left = Math.min(graph.left, frame.x);
    graph.right = Math.max(graph.right, frame.x + frame.w);
    graph.top = Math.min(graph.top, frame.y);
    graph.bottom = Math.max(graph.bottom, frame.y + frame.h);
  }
  return graph;
}

function links(store: Store, nodeOf: (row: number) => Node | null): Link[] {
  const found: Link[] = [];
  for (const event of store.events) {
    if (event.kind !== "assign" || event.from === undefined || event.to === undefined) continue;
    const from = nodeOf(event.from);
    const to = nodeOf(event.to);
    if (from && to && from !== to) found.push({ from, to, name: event.name ?? "assign" });
  }
  return found;
}

/** Rows at which a tape begins or ends. */
export function borders(tapes: Tape[]): number[] {
  return tapes.flatMap((tape) => tape.spans.flat());
}

/** Rectangles: tapes (when there is more than one), what inner gradients wrote, groups that are open. */
function frames(store: Store, graph: Graph): Frame[] {
  const found: Frame[] = [];
  const add = (kind: Frame["kind"], id: string, label: string, box: Box | undefined, extra: Partial<Frame>): void => {
    if (!box) return;
    const [x, y] = [box.x0 - PAD, box.y0 - PAD - HEAD];
    const [w, h] = [box.x1 - box.x0 + 2 * PAD, box.y1 - box.y0 + 2 * PAD + HEAD];
    found.push({ kind, id, label, tape: null, group: null, depth: 0, inner: false, x, y, w, h, ...extra });
  };
  for (const [group, box] of groupBoxes(graph)) {
    const label = group.kind === "repeat" ? groupTitle(group) : group.label;
    add("group", group.id, label, box, { group });
  }
  for (const [by, start, end] of runsBy(store)) {
    const tape = store.tapes.find((t) => t.id === by) ?? null;
    add("sweep", `by${start}`, `written by ${tape?.name ?? "tape"}.gradient()`, rowsBox(graph, start, end), { tape });
  }
  if (store.tapes.length > 1) {
    for (const tape of store.tapes)
      tape.spans.forEach(([start, end], k) => add("tape", `t${tape.id}.${k}`, tape.name, rowsBox(graph, start, end), { tape }));
  }
  return found.length <= NESTED ? nest(found) : found;
}

const HEAD = 24; // room for a frame's label
const NESTED = 400; // more frames than this are drawn as they are

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

function grow(box: Box | undefined, node: Node): Box {
  box ??= { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  box.x0 = Math.min(box.x0, node.x);
  box.y0 = Math.min(box.y0, node.y);
  box.x1 = Math.max(box.x1, node.x + NODE_W);
  box.y1 = Math.max(box.y1, node.y + NODE_H);
  return box;
}

function groupBoxes(graph: Graph): Map<Group, Box> {
  const boxes = new Map<Group, Box>();
  for (const node of graph.nodes) for (let g = node.home; g; g = g.parent) boxes.set(g, grow(boxes.get(g), node));
  return boxes;
}

/** Box of the nodes that stand for rows start..end-1; nodes are in order of their first row. */
function rowsBox(graph: Graph, start: number, end: number): Box | undefined {
  let [low, high] = [0, graph.nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (graph.nodes[middle].first < start) low = middle + 1;
    else high = middle;
  }
  let box: Box | undefined;
  for (let i = low; i < graph.nodes.length && graph.nodes[i].first < end; i++) box = grow(box, graph.nodes[i]);
  return box;
}

/** Maximal runs of rows that one tape's gradient wrote: [tape, start, end]. */
export function runsBy(store: Store): [number, number, number][] {
  const runs: [number, number, number][] = [];
  for (const row of store.rows) {
    const last = runs[runs.length - 1];
    if (row.by === null) continue;
    if (last && last[0] === row.by && last[2] === row.row) last[2] = row.row + 1;
    else runs.push([row.by, row.row, row.row + 1]);
  }
  return runs;
}

/** Outer frames grow around inner ones, so that borders and labels keep apart. */
function nest(found: Frame[]): Frame[] {
  const sorted = [...found].sort((a, b) => a.w * a.h - b.w * b.h);
  for (let i = 0; i < sorted.length; i++) {
    const outer = sorted[i];
    for (let k = 0; k < i; k++) {
      const inner = sorted[k];
      const overlap = inner.x < outer.x + outer.w && inner.x + inner.w > outer.x && inner.x >= outer.x - 1 && inner.x + inner.w <= outer.x + outer.w + 1;
      if (!overlap) continue;
      const right = Math.max(outer.x + outer.w, inner.x + inner.w + 8);
      const bottom = Math.max(outer.y + outer.h, inner.y + inner.h + 8);
      outer.x = Math.min(outer.x, inner.x - 8);
      outer.y = Math.min(outer.y, inner.y - 24);
      outer.w = right - outer.x;
      outer.h = bottom - outer.y;
      inner.inner = true;
      outer.depth = Math.max(outer.depth, inner.depth + 1);
    }
  }
  return sorted.reverse();
}

/** The room of the node of a row; on the way back with that of the products on its edges, as far as `width` goes. */
export function stage(graph: Graph, timeline: { current: number; step: SweepStep | null }, row: number, width: number): { x: number; y: number; w: number; h: number } | null {
  const node = graph.nodeOf(row);
  if (!node) return null;
  let [left, top, bottom] = [node.x, node.y, node.y + NODE_H];
  for (const edge of row === timeline.current ? (timeline.step?.edges ?? []) : []) {
    const from = graph.nodeOf(edge.input);
    if (!from || node.column - from.column > FAR || node.x + NODE_W - from.x > width) continue;
    left = Math.min(left, from.x);
    top = Math.min(top, from.y);
    bottom = Math.max(bottom, from.y + NODE_H);
  }
  return { x: left, y: top, w: node.x + NODE_W - left, h: bottom - top };
}
