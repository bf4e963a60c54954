// The graph that is drawn: rows and folded groups as placed nodes, edges between them, frames
// around sections.
import type { Box as Rectangle } from "./camera";
import { groupTitle } from "./fold";
import { edgesAt, nearEdges, type Layout, type SeenGroup } from "./layout";
import { FAR, type Edge } from "./place";
import type { Row, SweepStep, Tape, PathBreak } from "./schema";
import type { Store } from "./store";
import { WRITTEN } from "./skeleton";
import { extentsOf, lanesOf, squeezed } from "./wrap";
import { t } from "./words";

export const NODE_W = 132;
export const NODE_H = 62;
export const BARE_H = 30; // of a number
// leaves room for the widest card on an edge, and for the edge on both sides of it
export const COLUMN = 246;
export const TIGHT = 222; // the same where there would be no room for all columns otherwise
// and where that saves a line, or an article has room for one more: cards are above and below
export const NEAR = 187;
export const HALF = 40; // height of a half-slot
export const SLOPING = 56; // the same where slopes are written below the nodes
export const PAD = 18;
const GUTTER = 34; // between two lines
const LANE = 6; // between two edges that go on in the next line
const INDENT = 96; // left of the lines: room for references and for edges from the line before
// between two columns where the graph is turned, which leaves room for a card on an edge, and
// between two rows of one
const [DOWN, BETWEEN] = [60, 44];
// there: between two nodes, the room of an edge that passes, and of references left of a node
const [APART, THIN, CHIP] = [14, 10, 92];

export type Group = Omit<SeenGroup, "parent"> & { parent: Group | null };

export interface Node {
  index: number;
  id: string;
  row: Row | null; // null for a folded group
  group: Group | null;
  home: Group | null; // the innermost group around it
  first: number; // row number, or first row of the group
  // the same; of a number that the program has at several places the first row that reads it here
  at: number;
  column: number;
  slot: number;
  storey: number; // 0, or a lower one, which runs from right to left
  line: number;
  x: number;
  y: number;
}

/** Is the node of a row no more than a number of the program? It is small. */
export function isBare(row: Row | null): boolean {
  return !!row?.literal && !row.name;
}

export interface Frame extends Rectangle {
  kind: "tape" | "sweep" | "group";
  id: string;
  label: string;
  tape: Tape | null;
  group: Group | null;
  depth: number;
  inner: boolean; // lies in another one
  line: number; // a frame that continues in the next line has a part in each
  start: number; // the first row that it is around, and the row after the last one
  end: number;
  widest: boolean; // of its parts: from afar its caption is there
}

export interface Link {
  from: Node;
  to: Node;
  name: string;
  value: boolean; // from what was assigned; else from the state before
  torn?: PathBreak; // a value left the framework, and came back there
}

export interface Graph {
  nodes: Node[];
  edges(index: number): Edge[]; // those that end in a node
  links: Link[]; // to a state of a variable, from the one before and from what was assigned
  frames: Frame[];
  nodeOf(row: number): Node | null;
  byColumn: Node[][];
  columns: number;
  half: number; // height of a half-slot
  pitch: number; // from one column to the next
  per: number; // columns in a line
  turned: boolean; // by 90 degrees: each column is a line, and what is in it side by side
  passing: Map<string, number>; // then where an edge passes a line, by its column and half-slot
  around: Map<number, number>; // and where the edges of a node pass the other rows of its line
  tops: number[]; // of each line: where its half-slot 0 is
  reach: [number, number][]; // and its first and last pixel
  lane(from: number, line: number): Lane; // the path of a node's edges from this line to the next
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Where edges leave a line, run back, and enter the next line. */
export interface Lane {
  right: number;
  y: number;
  left: number;
}

/** How wide one line of so many columns is. */
export const lineWidth = (columns: number, pitch = TIGHT): number =>
  columns * pitch - (pitch - NODE_W) + 4 * PAD;

/**
 * How many columns of a graph a line has in a pane of this width, 0 for all of them; and how far
 * apart they are. Few lines are equally long, unless the graph grows: then what was drawn would
 * move.
 */
export function columnsPerLine(columns: number, width: number, grows: boolean): [number, number] {
  const needed = (pitch: number): number => lineWidth(columns, pitch);
  const apart = (room: number, gaps: number): number =>
    Math.max(NEAR, Math.min(COLUMN, Math.floor(room / Math.max(1, gaps))));
  if (needed(COLUMN) <= width) return [0, COLUMN];
  if (needed(TIGHT) <= width / READ) return [0, apart(width - 4 * PAD - NODE_W, columns - 1)];
  if (needed(NEAR) <= width / READ)
    return [0, Math.floor((width / READ - 4 * PAD - NODE_W) / (columns - 1))];
  const room = width / READ - INDENT - 4 * PAD - NODE_W; // right of the first node of a line
  const fitting = (pitch: number): number => Math.max(1 + Math.floor(room / pitch), 1);
  const lines = Math.ceil(columns / fitting(NEAR));
  const per =
    grows || lines > FEW
      ? Math.max(fitting(TIGHT), Math.min(ARTICLE, fitting(NEAR)))
      : Math.ceil(columns / lines);
  return [per, apart(room, per - 1)];
}

const FEW = 4; // lines
const ARTICLE = 3; // columns in a line of an article, where they are near
// at this scale the smallest type is 11 pixels high: by itself a picture never gets smaller
export const READ = 0.92;

/**
 * The graph of a layout of the store's first rows, in lines of so many columns, 0 for one line; or
 * with `room` turned by 90 degrees, and so wide. A half-slot is `half` pixels high.
 */
export function buildGraph(
  store: Store,
  placed: Layout,
  wrap = 0,
  pitch = COLUMN,
  room = 0,
  half = HALF,
): Graph {
  const turned = room > 0;
  const per = wrap || Infinity;
  const isNumber = (index: number): boolean => isBare(store.rows[placed.node[index]] ?? null);
  // in a graph that grows, what was drawn would move
  const layout =
    wrap && !turned && !store.recording
      ? { ...placed, ...squeezed(placed, per, isNumber) }
      : placed;
  const groups: Group[] = layout.groups.map((group) => ({
    ...group,
    label: partName(store, group.label),
    parent: null,
  }));
  layout.groups.forEach((group, k) => (groups[k].parent = groups[group.parent] ?? null));
  const nodes: Node[] = [];
  const byColumn: Node[][] = [];
  layout.node.forEach((what, index) => {
    const row = what >= 0 ? store.rows[what] : null;
    const group = what >= 0 ? null : groups[-1 - what];
    const [column, slot] = [layout.column[index], layout.slot[index]];
    const first = group ? group.start : what;
    const at = layout.at[index];
    const node = {
      index,
      id: group ? group.id : at === first ? `r${first}` : `r${first}@${at}`,
      row,
      group,
      home: groups[layout.home[index]] ?? null,
      first,
      at,
      column,
      slot,
      storey: layout.storey[index],
      line: Math.floor(column / per),
      x: (wrap ? column % per : column) * pitch,
      y: slot * half + (isBare(row) ? -HALF / 2 : 0),
    } as Node;
    nodes.push(node);
    (byColumn[column] ??= []).push(node);
  });
  for (let c = 0; c < byColumn.length; c++) byColumn[c] ??= [];
  const nodeOf = (row: number): Node | null => nodes[layout.shown[row] ?? -1] ?? null;
  // a graph in one line has nothing to refer to: its edges are not read a second time
  const isReferred = byColumn.length > per ? findReferred(nodes, layout) : () => false;
  const known = new Map<number, Edge[]>();
  const edges = (index: number): Edge[] => {
    const found =
      known.get(index) ??
      edgesAt(layout, index).map((edge) =>
        isReferred(edge.from, index) ? { ...edge, far: true, via: [] } : edge,
      );
    known.set(index, found);
    return found;
  };
  const columns = Math.min(byColumn.length, per);
  const lane = (): Lane => ({ left: 0, right: 0, y: 0 });
  const graph: Graph = {
    nodes,
    edges,
    links: [],
    frames: [],
    nodeOf,
    byColumn,
    columns: byColumn.length,
    half,
    pitch,
    per,
    turned,
    passing: new Map(),
    around: new Map(),
    tops: [],
    reach: [],
    lane,
    left: 0,
    right: (columns - 1) * pitch + NODE_W,
    top: 0,
    bottom: NODE_H,
  };
  graph.links = links(store, nodeOf);
  if (turned) turn(graph, room);
  graph.frames = frames(store, graph);
  if (!turned) standLines(graph, layout, isReferred);
  for (const frame of graph.frames) {
    graph.left = Math.min(graph.left, frame.x);
    graph.right = Math.max(graph.right, frame.x + frame.w);
    graph.top = Math.min(graph.top, frame.y);
    graph.bottom = Math.max(graph.bottom, frame.y + frame.h);
  }
  return graph;
}

/** A part goes by its scope; what a tape's gradient wrote on an outer tape by that call. */
function partName(store: Store, label: string): string {
  if (!label.startsWith(WRITTEN)) return label;
  return `${store.tapes.find((tape) => tape.id === Number(label.slice(1)))?.name ?? t("tape")}.gradient`;
}

/**
 * Puts the columns below each other, around a middle: of each the nodes side by side, in several
 * rows where they are too many, and the edges that pass it.
 */
function turn(graph: Graph, room: number): void {
  const { nodes, byColumn, passing, around } = graph;
  const passed = byColumn.map(() => new Set<number>());
  for (const { index } of nodes)
    for (const edge of graph.edges(index))
      for (const [column, slot] of edge.via) passed[column].add(slot);
  let y = 0;
  byColumn.forEach((line, column) => {
    const before = (node: Node): number =>
      graph.edges(node.index).some((edge) => edge.far) ? CHIP : 0;
    const sorted = [...line].sort((a, b) => a.slot - b.slot);
    const slots = [...passed[column]].sort((a, b) => a - b);
    const rows = inRows(
      sorted,
      (node) => before(node) + NODE_W,
      room - slots.length * (THIN + APART),
    );
    const inside = rows.length < 2 ? slots : []; // between the nodes; else outside of them
    const widths = rows.map((row) =>
      row.reduce(
        (sum, node) => sum + before(node) + NODE_W + APART,
        inside.length * (THIN + APART) - APART,
      ),
    );
    const width = Math.max(0, ...widths);
    const beside = { left: -width / 2, right: width / 2 };
    const outside = (left: boolean): number =>
      left ? (beside.left -= THIN) : (beside.right += THIN);
    rows.forEach((row, k) => {
      let [x, next] = [-widths[k] / 2, 0];
      for (const node of row) {
        for (; inside[next] < node.slot; next++, x += THIN + APART)
          passing.set(`${column}|${inside[next]}`, x + THIN / 2);
        x += before(node);
        [node.x, node.y] = [x, y + k * (NODE_H + BETWEEN)];
        x += NODE_W + APART;
      }
      for (; next < inside.length; next++, x += THIN + APART)
        passing.set(`${column}|${inside[next]}`, x + THIN / 2);
    });
    if (rows.length > 1)
      for (const node of sorted) around.set(node.index, outside(node.x + NODE_W / 2 < 0));
    for (const slot of rows.length > 1 ? slots : [])
      passing.set(`${column}|${slot}`, outside(slot < sorted[sorted.length >> 1].slot));
    const bottom = y + Math.max(0, rows.length - 1) * (NODE_H + BETWEEN) + NODE_H;
    [graph.left, graph.right, graph.bottom] = [
      Math.min(graph.left, beside.left),
      Math.max(graph.right, beside.right),
      bottom + (graph.half > HALF ? 14 : 0), // for two slopes, with the margin below it
    ];
    graph.tops.push(y);
    graph.reach.push([y, bottom]);
    y = bottom + DOWN;
  });
}

/** Nodes in rows that are no wider than there is room. */
function inRows(nodes: Node[], widthOf: (node: Node) => number, room: number): Node[][] {
  const rows: Node[][] = [];
  let left = 0;
  for (const node of nodes) {
    if (left < widthOf(node)) [left] = [room, rows.push([])];
    rows[rows.length - 1].push(node);
    left -= widthOf(node) + APART;
  }
  return rows;
}

/**
 * Says of two nodes whether a reference takes the place of the edge between them, as a wire would
 * run around lines: from a number that is read in its own line, too, to another line.
 */
function findReferred(nodes: Node[], layout: Layout): (from: number, to: number) => boolean {
  const isInLine = (from: number, to: number): boolean => nodes[from].line === nodes[to].line;
  const numbers = new Set<number>();
  for (const [from, to] of nearEdges(layout).ends)
    if (isBare(nodes[from].row) && isInLine(from, to)) numbers.add(from);
  return (from, to) => numbers.has(from) && !isInLine(from, to);
}

/** Puts the lines below each other: until then each one begins at 0. */
function standLines(
  graph: Graph,
  layout: Layout,
  isReferred: (from: number, to: number) => boolean,
): void {
  const { nodes, frames, per, half } = graph;
  const near = nearEdges(layout, isReferred);
  const { column, slot } = layout;
  graph.reach = extentsOf(column, slot, near.passed, per, (i) => isBare(nodes[i].row)).map(
    ([low, high]) => [
      low * half,
      Math.max((high - 2) * half + NODE_H, low * half + HALF) + half - HALF,
    ],
  );
  if (!graph.reach.length) graph.reach = [[0, NODE_H]];
  for (const { line, y, h } of frames) {
    const reach = graph.reach[line];
    [reach[0], reach[1]] = [Math.min(reach[0], y), Math.max(reach[1], y + h)];
  }
  const lanes = lanesOf(per === Infinity ? [] : near.ends, column, slot, per);
  const gutters: number[] = [];
  graph.reach.forEach((reach, line) => {
    const before = graph.reach[line - 1];
    gutters[line] = GUTTER + LANE * (lanes[line]?.length ?? 0);
    const top = before ? before[1] + gutters[line - 1] - reach[0] : 0;
    graph.tops.push(top);
    graph.reach[line] = [reach[0] + top, reach[1] + top];
  });
  for (const part of [...nodes, ...frames]) part.y += graph.tops[part.line];
  [graph.top, graph.bottom] = [graph.reach[0][0], graph.reach[graph.reach.length - 1][1]];
  const right = graph.right + PAD + 6;
  const ranks = lanes.map((sources) => new Map(sources.map((from, rank) => [from, rank])));
  graph.lane = (from, line) => {
    const rank = ranks[line]?.get(from) ?? 0;
    return {
      right: right + LANE * rank,
      y: graph.reach[line][1] + GUTTER / 2 + LANE * rank,
      left: LANE * rank - INDENT,
    };
  };
  if (graph.reach.length === 1) return;
  graph.left = -INDENT;
  graph.right = right + LANE * Math.max(0, ...lanes.map((sources) => sources.length));
}

/**
 * New numbers on the same rows: the graph is the same, and shows them. False where it is another
 * one.
 */
export function renewed(graph: Graph, store: Store): boolean {
  const { rows } = store;
  if (
    !graph.nodes.every(
      (node) =>
        node.row === null ||
        (rows[node.first]?.op === node.row.op &&
          String(rows[node.first].inputs) === String(node.row.inputs)),
    )
  )
    return false;
  if (
    graph.nodes.length === 0 ||
    graph.nodeOf(rows.length - 1) === null ||
    graph.nodeOf(rows.length) !== null
  )
    return false;
  for (const node of graph.nodes) if (node.row) node.row = rows[node.first];
  return true;
}

function links(store: Store, nodeOf: (row: number) => Node | null): Link[] {
  const found: Link[] = [];
  for (const event of store.events) {
    if (event.kind !== "assign" || event.to === undefined) continue;
    const [to, name] = [nodeOf(event.to), (event.name ?? t("a variable")).replace(/:0$/, "")];
    for (const [row, value] of [
      [event.from, false],
      [event.row, true],
    ] as const) {
      const from = row === undefined ? null : nodeOf(row);
      if (from && to && from !== to) found.push({ from, to, name, value });
    }
  }
  for (const torn of store.torn) {
    const [from, to] = [nodeOf(torn.from), nodeOf(torn.to)];
    if (torn.kind === "left" && from && to && from !== to)
      found.push({ from, to, name: "", value: true, torn });
  }
  return found;
}

/** Rows at which a tape begins or ends. */
export function borders(tapes: Tape[]): number[] {
  return tapes.flatMap((tape) => tape.spans.flat());
}

/**
 * Rectangles: tapes (when there is more than one), what inner gradients wrote, groups that are
 * open.
 */
function frames(store: Store, graph: Graph): Frame[] {
  const found: Frame[] = [];
  const add = (
    kind: Frame["kind"],
    id: string,
    label: string,
    boxes: Boxes,
    [start, end]: [number, number],
    extra: Partial<Frame>,
  ): void => {
    let first = true;
    const width = Math.max(...[...boxes.values()].map((box) => box.x1 - box.x0));
    const widest = [...boxes.values()].find((box) => box.x1 - box.x0 === width);
    for (const [line, box] of boxes) {
      const [x, y] = [box.x0 - PAD, box.y0 - PAD - HEAD];
      const [w, h] = [box.x1 - box.x0 + 2 * PAD, box.y1 - box.y0 + 2 * PAD + HEAD];
      found.push({
        kind,
        id: first ? id : `${id}/${line}`,
        label: first ? label : `… ${label}`,
        widest: box === widest,
        tape: null,
        group: null,
        depth: 0,
        inner: false,
        line,
        start,
        end,
        x,
        y,
        w,
        h,
        ...extra,
      });
      first = false;
    }
  };
  const inside = new Map<Group, number>();
  for (const { home, row } of graph.nodes)
    for (let g = home; g; g = g.parent) inside.set(g, (inside.get(g) ?? 0) + (row ? 1 : 2));
  for (const [group, boxes] of groupBoxes(graph)) {
    // one row says itself what it is
    if (group.kind === "scope" && inside.get(group) === 1) continue;
    const by = group.id.includes(`:${WRITTEN}`)
      ? store.tapes.find((tape) => tape.id === store.rows[group.start]?.by)
      : undefined;
    if (by)
      add("sweep", group.id, t("computed by {0}()", group.label), boxes, [group.start, group.end], {
        group,
        tape: by,
      });
    else
      add(
        "group",
        group.id,
        ownerOf(graph, group) + groupTitle(group),
        boxes,
        [group.start, group.end],
        { group },
      );
  }
  if (store.tapes.length > 1) {
    for (const tape of store.tapes)
      tape.spans.forEach(([start, end], k) =>
        add("tape", `t${tape.id}.${k}`, tape.name, rowsBox(graph, start, end), [start, end], {
          tape,
        }),
      );
  }
  return found.length <= NESTED ? nest(found) : found;
}

/**
 * Of a layer whose weights all have its name, that name, unless it is its label. Weights beside a
 * folded layer are of that one.
 */
function ownerOf(graph: Graph, group: Group): string {
  if (graph.nodes.some((node) => node.group && node.home === group)) return "";
  const names = graph.nodes.flatMap(({ home, row }) =>
    home === group && row?.kind === "variable"
      ? [/([^/.]+)[/.][^/.]+$/.exec(row.name ?? "")?.[1] ?? ""]
      : [],
  );
  return names[0] && names[0] !== group.label && names.every((name) => name === names[0])
    ? `${names[0]} · `
    : "";
}

const HEAD = 24; // room for a frame's label
const NESTED = 400; // more frames than this are drawn as they are

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

type Boxes = Map<number, Box>; // by line; of a turned graph one for all

function grow(graph: Graph, boxes: Boxes, node: Node): void {
  const line = graph.turned ? 0 : node.line;
  let box = boxes.get(line);
  if (!box) boxes.set(line, (box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity }));
  box.x0 = Math.min(box.x0, node.x);
  box.x1 = Math.max(box.x1, node.x + NODE_W);
  // a number is drawn in the middle of its place, and a frame around all of it could reach another
  const spare = isBare(node.row) && !graph.turned ? (NODE_H - BARE_H) / 2 : 0;
  box.y0 = Math.min(box.y0, node.y + spare);
  box.y1 = Math.max(box.y1, node.y + NODE_H - spare);
}

function groupBoxes(graph: Graph): Map<Group, Boxes> {
  const found = new Map<Group, Boxes>();
  for (const node of graph.nodes)
    for (let g = node.home; g; g = g.parent) {
      let boxes = found.get(g);
      if (!boxes) found.set(g, (boxes = new Map()));
      grow(graph, boxes, node);
    }
  return found;
}

/** Boxes of the nodes of the rows start..end-1; nodes are in order of their first row. */
function rowsBox(graph: Graph, start: number, end: number): Boxes {
  let [low, high] = [0, graph.nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (graph.nodes[middle].at < start) low = middle + 1;
    else high = middle;
  }
  const boxes: Boxes = new Map();
  for (let i = low; i < graph.nodes.length && graph.nodes[i].at < end; i++)
    grow(graph, boxes, graph.nodes[i]);
  return boxes;
}

/** Outer frames grow around inner ones, so that borders and labels keep apart. */
function nest(found: Frame[]): Frame[] {
  const length = ({ start, end }: Frame): number => end - start;
  const sorted = [...found].sort((a, b) => a.w * a.h - b.w * b.h || length(a) - length(b));
  for (let i = 0; i < sorted.length; i++) {
    const outer = sorted[i];
    for (let k = 0; k < i; k++) {
      const inner = sorted[k];
      const overlap =
        inner.line === outer.line &&
        inner.start >= outer.start &&
        inner.end <= outer.end &&
        inner.y < outer.y + outer.h &&
        inner.y + inner.h > outer.y &&
        inner.x < outer.x + outer.w &&
        inner.x + inner.w > outer.x &&
        inner.x >= outer.x - 1 &&
        inner.x + inner.w <= outer.x + outer.w + 1;
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

const LABEL = 24; // products may be this far above and below, between two lines

/**
 * The room of the node of a row; in a backward step with that of the products on its edges, as far
 * as width and height go.
 */
export function stage(
  graph: Graph,
  timeline: { current: number; step: SweepStep | null },
  row: number,
  width: number,
  height: number,
): { x: number; y: number; w: number; h: number } | null {
  const node = graph.nodeOf(row);
  if (!node) return null;
  const { x, y } = node;
  // slopes are as far below a node as they keep the next one away
  let [left, top, right, bottom] = [x, y, x + NODE_W, y + NODE_H + graph.half - HALF];
  for (const edge of row === timeline.current ? (timeline.step?.edges ?? []) : []) {
    const from = graph.nodeOf(edge.input);
    if (!from || Math.abs(node.column - from.column) > FAR) continue;
    const wider = [
      Math.min(left, from.x),
      Math.min(top, from.y),
      Math.max(right, from.x + NODE_W),
      Math.max(bottom, from.y + NODE_H),
    ];
    if (wider[2] - wider[0] > width || (from.line !== node.line && wider[3] - wider[1] > height))
      continue;
    [left, top, right, bottom] = wider;
  }
  if (graph.per !== Infinity && timeline.step && row === timeline.current)
    [top, bottom] = [top - LABEL, bottom + LABEL];
  return { x: left, y: top, w: right - left, h: bottom - top };
}
