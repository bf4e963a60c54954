// The graph that is drawn: rows and folded groups as placed nodes, edges between them, frames around sections.
import { groupTitle, hiddenBy, type FoldTree, type Group } from "./fold";
import { Placement, type Edge } from "./place";
import type { Row, Tape } from "./schema";
import { isLeaf, type Store } from "./store";

export const NODE_W = 112;
export const NODE_H = 52;
export const COLUMN = 190;
export const HALF = 35; // height of a half-slot
export const PAD = 18;

export interface Node {
  index: number;
  id: string;
  row: Row | null; // null for a folded group
  group: Group | null;
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
  edges: Edge[][];
  links: Link[]; // assign edges between versions of a variable
  frames: Frame[];
  nodeOf(row: number): Node | null;
  byColumn: Node[][];
  columns: number;
  top: number;
  bottom: number;
}

export interface Cancel {
  cancelled: boolean;
}

const SLICE = 8; // milliseconds of placing before the page gets a turn

/** Places everything, giving the page a turn when it takes long; null when cancelled. */
export async function buildGraph(store: Store, tree: FoldTree, open: (g: Group) => boolean, cancel: Cancel): Promise<Graph | null> {
  const work = graphSteps(store, tree, open);
  let started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - started > SLICE) {
      await new Promise((resolve) => setTimeout(resolve));
      if (cancel.cancelled) return null;
      started = performance.now();
    }
  }
}

/** The same at one go. */
export function buildGraphNow(store: Store, tree: FoldTree, open: (g: Group) => boolean): Graph {
  const work = graphSteps(store, tree, open);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function* graphSteps(store: Store, tree: FoldTree, open: (g: Group) => boolean): Generator<void, Graph> {
  const rows = store.rows;
  const placement = new Placement();
  const nodes: Node[] = [];
  const shown = new Int32Array(rows.length).fill(-1);
  const groups = new Map<Group, number>();
  const sections = sectionReader(store, tree, open);
  for (let i = 0; i < rows.length; i++) {
    if ((i & 255) === 255) yield;
    const row = rows[i];
    const group = hiddenBy(tree, i, open);
    if (!group) {
      shown[i] = nodes.length;
      nodes.push(newNode(nodes.length, row, null));
      placement.add({ inputs: row.inputs.map((k) => shown[k]).filter((k) => k >= 0), leaf: isLeaf(row), section: sections(i) });
      continue;
    }
    if (isLeaf(row)) continue; // inside a folded group: its readers carry it
    const known = groups.get(group);
    if (known !== undefined) {
      shown[i] = known;
      continue;
    }
    const inputs = groupInputs(rows, tree, group, shown, open);
    groups.set(group, nodes.length);
    shown[i] = nodes.length;
    nodes.push(newNode(nodes.length, null, group));
    placement.add({ inputs, leaf: false, section: sections(i) });
  }
  return finish(store, tree, open, placement, nodes, shown, groups);
}

function newNode(index: number, row: Row | null, group: Group | null): Node {
  const first = row ? row.row : (group as Group).start;
  return { index, id: row ? `r${first}` : (group as Group).id, row, group, first, column: 0, slot: 0, x: 0, y: 0 };
}

/** What a folded group reads from outside, each once, in order of first use. */
function groupInputs(rows: Row[], tree: FoldTree, group: Group, shown: Int32Array, open: (g: Group) => boolean): number[] {
  const found = new Set<number>();
  for (let i = group.start; i < group.end; i++) {
    if (hiddenBy(tree, i, open) !== group) continue;
    for (const input of rows[i].inputs) if (input < group.start && shown[input] >= 0) found.add(shown[input]);
  }
  return [...found];
}

/** Numbers that change from row to row exactly where a frame begins or ends. A leaf goes with the operation after it. */
function sectionReader(store: Store, tree: FoldTree, open: (g: Group) => boolean): (row: number) => number {
  const rows = store.rows;
  const borders = new Set<number>();
  for (const tape of store.tapes) for (const span of tape.spans) for (const end of span) borders.add(end);
  const sorted = [...borders].sort((a, b) => a - b);
  const path = (i: number): string => {
    let text = "";
    for (let group = tree.home[i]; group; group = group.parent) if (group.kind !== "page" && open(group)) text = `${group.id}/${text}`;
    return text;
  };
  let passed = 0;
  let next = 0;
  let before = "";
  let number = 0;
  let inside = "";
  return (i) => {
    while (passed < sorted.length && sorted[passed] <= i) passed++;
    if (next <= i) {
      next = i;
      while (next < rows.length && isLeaf(rows[next])) next++;
      if (next < rows.length) inside = path(next);
      next++;
    }
    const key = `${passed}|${rows[i].by}|${inside}`;
    if (key !== before) number++;
    before = key;
    return number;
  };
}

function finish(
  store: Store,
  tree: FoldTree,
  open: (g: Group) => boolean,
  placement: Placement,
  nodes: Node[],
  shown: Int32Array,
  groups: Map<Group, number>,
): Graph {
  for (const [index, column, slot] of placement.provisional()) {
    placement.column[index] = column;
    placement.slot[index] = slot;
  }
  const byColumn: Node[][] = [];
  let top = 0;
  let bottom = NODE_H;
  for (const node of nodes) {
    node.column = placement.column[node.index];
    node.slot = placement.slot[node.index];
    node.x = node.column * COLUMN;
    node.y = node.slot * HALF;
    (byColumn[node.column] ??= []).push(node);
    top = Math.min(top, node.y);
    bottom = Math.max(bottom, node.y + NODE_H);
  }
  for (let c = 0; c < byColumn.length; c++) byColumn[c] ??= [];
  for (const edges of placement.edges)
    for (const edge of edges)
      for (const [, slot] of edge.via) {
        top = Math.min(top, slot * HALF);
        bottom = Math.max(bottom, (slot + 1) * HALF);
      }
  const nodeOf = (row: number): Node | null => {
    if (row < 0 || row >= shown.length) return null;
    if (shown[row] >= 0) return nodes[shown[row]];
    const group = hiddenBy(tree, row, open);
    return group ? (nodes[groups.get(group) ?? -1] ?? null) : null;
  };
  const links: Link[] = [];
  for (const event of store.events) {
    if (event.kind !== "assign" || event.from === undefined || event.to === undefined) continue;
    const from = nodeOf(event.from);
    const to = nodeOf(event.to);
    if (from && to && from !== to) links.push({ from, to, name: event.name ?? "assign" });
  }
  const graph: Graph = { nodes, edges: placement.edges, links, frames: [], nodeOf, byColumn, columns: byColumn.length, top, bottom };
  graph.frames = frames(store, tree, open, graph);
  for (const frame of graph.frames) {
    graph.top = Math.min(graph.top, frame.y);
    graph.bottom = Math.max(graph.bottom, frame.y + frame.h);
  }
  return graph;
}

/** Rectangles: tapes (when there is more than one), what inner gradients wrote, groups that are open. */
function frames(store: Store, tree: FoldTree, open: (g: Group) => boolean, graph: Graph): Frame[] {
  const found: Frame[] = [];
  const add = (kind: Frame["kind"], id: string, label: string, box: Box | undefined, extra: Partial<Frame>): void => {
    if (!box) return;
    const [x, y] = [box.x0 - PAD, box.y0 - PAD - HEAD];
    const [w, h] = [box.x1 - box.x0 + 2 * PAD, box.y1 - box.y0 + 2 * PAD + HEAD];
    found.push({ kind, id, label, tape: null, group: null, depth: 0, x, y, w, h, ...extra });
  };
  for (const [group, box] of groupBoxes(tree, open, graph)) {
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

function groupBoxes(tree: FoldTree, open: (g: Group) => boolean, graph: Graph): Map<Group, Box> {
  const boxes = new Map<Group, Box>();
  for (const node of graph.nodes) {
    for (let g = node.group ? node.group.parent : tree.home[node.first]; g; g = g.parent)
      if (g.kind !== "page" && open(g)) boxes.set(g, grow(boxes.get(g), node));
  }
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
      outer.depth = Math.max(outer.depth, inner.depth + 1);
    }
  }
  return sorted.reverse();
}
