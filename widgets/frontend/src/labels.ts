// The products of a backward step, each at the middle of its own edge. Where two would overlap, or
// another edge would be nearer, a label moves along its edge, and then away from it.
import type { Box } from "./camera"; // here x and y are those of its middle
import { isBare, NODE_H, NODE_W, type Graph, type Node } from "./graph";
import { FAR, type Edge } from "./place";
import type { Row, SweepEdge, Value } from "./schema";
import { backHead, edgeCurve, entersRight, farChips, type Point } from "./shapes";
import { wide } from "./words";

export interface Label extends Box {
  id: string; // of the edge that it belongs to, see edgeId
  lines: string[][]; // and what is written on each
  map: Value | null; // an array that is drawn below them
  leader: Point | null; // where a line from a label that found no room on its edge meets the edge
}

export const LINE = 15; // height of a line of text
export const LETTER = 7.25;
export const INSET = 4; // of the text, from the left and the right side of its card
export const MAP = 18; // height of the picture of an array
// characters of a line; beside the edges of a turned graph there is more room than above them
const [ROOM, WIDE] = [12, 17];
const FREE = 100; // labels that cost less found room
// of the edge's length, the best first; the last four of a long one
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82, 0.1, 0.9, 0.04, 0.96];
const LONG = 36; // points of an edge
const AWAY = [
  0, 4, -4, 8, -8, 12, -12, 16, -16, 21, -21, 26, -26, 32, -32, 38, -38, 45, -45, 52, -52, 60, -60,
  70, -70, 80, -80, 90, -90, 115, -115,
]; // from the edge, in pixels
const BESIDE = 38; // further away a label seems to belong to nothing
const GAP = 3; // between two labels
const FOREIGN = 300; // what it costs that another edge is nearer
// what it costs that the label does not lie on its own edge: more than to cover two others
const OFF = 620;
const TOUCH = 3; // so deep an edge enters the label that lies on it
// and that the label lies over another edge; one that has a single place
const [COVERED, ALONE] = [295, 130];
const HEAD = 8; // length of an arrowhead, with what is before it
const HIDDEN = 200; // and over an arrowhead
const NEAR = 4; // an edge that is only so much nearer runs beside the own one

/** A label on its way to its place: `own` are the points of its edge, `at` is where it began. */
type Placing = Label & { own: Point[]; edge: Edge; twin?: Edge; at: Point };

/** The box of a node, wider and higher by some pixels. */
export const boxAround = ({ row, x, y }: Node, more = 0): Box => ({
  x: x + NODE_W / 2,
  y: y + NODE_H / 2,
  w: NODE_W + more,
  h: (isBare(row) ? NODE_H / 2 : NODE_H) + more,
});

/** Tells the edges of a graph apart. */
export function edgeId(edge: Edge): string {
  return `${edge.from}>${edge.to}:${edge.port}`;
}

/**
 * The drawn edge that an edge of a step belongs to: rows that are hidden in folds have none, so
 * ports may differ.
 */
export function drawnEdge(
  graph: Graph,
  node: Node,
  step: Pick<SweepEdge, "input" | "port">,
  row: Row,
): Edge | null {
  const from = graph.nodeOf(step.input);
  if (!from || from === node) return null;
  const alike = graph.edges(node.index).filter((edge) => edge.from === from.index);
  const rank = row.inputs
    .slice(0, step.port)
    .filter((input) => graph.nodeOf(input) === from).length;
  return alike[Math.min(rank, alike.length - 1)] ?? null;
}

// the card of a twin lies between the two edges
export type Wanted = { edge: Edge; texts: string[]; map: Value | null; twin?: Edge };

/**
 * Places a label for each of these edges, which all end in one node: where columns are near wide or
 * narrow ones, as they find room.
 */
export function placeLabels(
  graph: Graph,
  node: Node,
  wanted: Wanted[],
  taken: Box[] = [],
): Label[] {
  const around = neighbours(graph, node, wanted, 1);
  const curves = new Map<string, Point[]>();
  for (const other of neighbours(graph, node, wanted, FAR))
    // whose edges may pass here
    for (const edge of graph.edges(other.index))
      if (!edge.far) curves.set(edgeId(edge), edgeCurve(graph, edge));
  const chips = new Map(
    farChips(graph, graph.edges(node.index)).map((chip) => [edgeId(chip.edge), chip]),
  );
  const boxes: Box[] = [...taken, ...around.map((one) => boxAround(one))];
  const heads = wanted.flatMap(({ edge, twin }) =>
    [edge, twin].flatMap((one) => (one && !one.far ? [backHead(graph, one)] : [])),
  );
  for (const chip of chips.values())
    boxes.push({ x: chip.x + chip.w / 2, y: chip.y, w: chip.w, h: 18 });
  // what is written at an operation that no tape recorded
  for (const { row, x, y } of around)
    if (row?.status === "ghost")
      boxes.push({ x: x + NODE_W / 2, y: y + (graph.turned ? NODE_H + 9 : -8), w: NODE_W, h: 14 });
  for (const { x, y, label, line } of graph.frames)
    if (graph.turned || Math.abs(line - node.line) < 2)
      boxes.push({ x: x + 12 + 3.5 * wide(label), y: y + 12, w: 7 * wide(label), h: 14 });
  const placing = (room: number): [number, Label[]] => {
    const labels = wanted.map(({ edge, texts, map, twin }) => {
      const lines = together(
        texts.map((text) => (text.length > room ? text.replace(/^(\W) /, "$1") : text)),
        room,
      );
      const [w, h] = [
        Math.max(...lines.map((line) => wide(line.join(" ")))) * LETTER + 2 * INSET,
        6 + LINE * lines.length + (map ? MAP + 3 : 0),
      ];
      const id = edgeId(edge);
      const chip = chips.get(id) ?? [...chips.values()][0];
      const right = entersRight(graph, node);
      const side = right ? node.x + NODE_W + 8 + w / 2 : node.x - 8 - w / 2;
      const at: Point = chip
        ? [Math[right ? "max" : "min"](chip.x + chip.w / 2, side), chip.y]
        : [node.x - 40, node.y + NODE_H / 2];
      const [way, beside] = [
        curves.get(id) ?? edgeCurve(graph, edge),
        twin && curves.get(edgeId(twin)),
      ];
      const between = (point: Point, i: number): Point =>
        (beside?.[Math.round((i * (beside.length - 1)) / (way.length - 1))] ?? point).map(
          (one, axis) => (one + point[axis]) / 2,
        ) as Point;
      const own = edge.far ? [at] : way.map(between);
      const [x, y] = own[own.length >> 1];
      const leader: Point | null = null;
      return { id, lines, map, x, y, w, h, own, edge, twin, at: [x, y], leader } as Placing;
    });
    spread(labels, graph.turned);
    const placed: Label[] = [];
    let total = 0;
    // those on short edges have the least choice
    for (const label of labels.sort(
      (a, b) =>
        Number(a.edge.far) - Number(b.edge.far) ||
        a.edge.via.length - b.edge.via.length ||
        a.edge.port - b.edge.port,
    )) {
      const without = (isOwn: (id: string) => boolean): Point[][] =>
        [...curves].filter(([id]) => !isOwn(id)).map(([, curve]) => curve);
      // of the same two nodes there may be several edges, side by side
      const pair = label.id.split(":")[0];
      const foreign = without((id) => id.split(":")[0] === pair);
      const others = label.twin ? foreign : without((id) => id === label.id);
      const [x, y, cost] = best(label, others, foreign, placed, boxes, heads, graph);
      [label.x, label.y, total] = [x, y, total + cost];
      if (!crosses(label.own, label, TOUCH)) label.leader = nearest(label.own, label);
      placed.push(label);
    }
    return [total, placed];
  };
  const roomy = placing(graph.turned ? WIDE : ROOM);
  if (roomy[0] < FREE) return roomy[1];
  const narrow = placing(
    graph.turned ? ROOM : Math.floor((graph.pitch - NODE_W - 2 * GAP - 2 * INSET - HEAD) / LETTER),
  );
  return narrow[0] < roomy[0] ? narrow[1] : roomy[1];
}

/**
 * Pushes labels that overlap apart, upwards and downwards alike; of a turned graph to the left and
 * to the right.
 */
function spread(labels: (Box & { edge: Edge })[], turned: boolean): void {
  const [y, h, x, w] = (turned ? ["x", "w", "y", "h"] : ["y", "h", "x", "w"]) as (
    "x" | "y" | "w" | "h"
  )[];
  const sorted = [...labels].sort((a, b) => a[y] - b[y] || a.edge.port - b.edge.port);
  for (let i = 1; i < sorted.length; i++)
    for (let k = 0; k < i; k++) {
      const [a, b] = [sorted[k], sorted[i]];
      const deep = a[y] + (a[h] + b[h]) / 2 + GAP - b[y];
      if (deep <= 0 || Math.abs(a[x] - b[x]) >= (a[w] + b[w]) / 2) continue;
      a[y] -= deep / 2;
      b[y] += deep / 2;
    }
}

/**
 * The texts in lines: short ones share a line, the factors with each other, the product with the
 * sum.
 */
function together(texts: string[], room: number): string[][] {
  const lines: string[][] = [];
  for (const text of texts) {
    const last = lines[lines.length - 1];
    if (last && !text.startsWith("=") && [...last, text].join(" ").length <= room) last.push(text);
    else lines.push([text]);
  }
  return lines;
}

/** The nodes between the columns of the step, and in `more` columns behind it. */
function neighbours(graph: Graph, node: Node, wanted: Wanted[], more: number): Node[] {
  const near = wanted
    .filter(({ edge }) => !edge.far)
    .map(({ edge }) => graph.nodes[edge.from].column);
  const [first, last] = [
    Math.max(0, Math.min(node.column - 1, ...near)),
    Math.max(node.column, ...near),
  ];
  const found: Node[] = [];
  const { per } = graph;
  const [low, high] =
    per === Infinity
      ? [first, last + more]
      : // the lines above and below, too
        [(Math.floor(first / per) - 1) * per, (node.line + 2) * per - 1];
  for (let c = Math.max(0, low); c <= Math.min(graph.columns - 1, high); c++)
    found.push(...graph.byColumn[c]);
  return found;
}

/**
 * The best place of a label, at the middle of its edge or `aside` of it; and what is wrong with it,
 * as a number.
 */
function best(
  label: Placing,
  others: Point[][],
  foreign: Point[][],
  placed: Label[],
  boxes: Box[],
  heads: Box[],
  { turned, left, right }: Graph,
): [number, number, number] {
  const { own, w, h } = label;
  let [found, cost] = [own[0], Infinity];
  const covered = own.length > 1 ? COVERED : ALONE; // what has one place alone stays near it
  const consider = (at: Box, wrong: number): void => {
    let sum = wrong;
    if (turned) at.x = Math.max(left + w / 2, Math.min(right - w / 2, at.x));
    sum += HIDDEN * heads.filter((head) => overlap(at, head, 0)).length;
    if (sum >= cost) return;
    for (const box of [...placed, ...boxes]) sum += 90 * overlap(at, box, 2);
    if (sum >= cost) return;
    if (!crosses(own, at, TOUCH)) sum += OFF;
    const mine = distance(own, at);
    sum += covered * foreign.filter((curve) => crosses(curve, at, 0)).length;
    if (sum >= cost) return;
    if (others.some((curve) => distance(curve, at) < mine - NEAR)) sum += FOREIGN;
    if (sum < cost) [found, cost] = [[at.x, at.y], sum];
  };
  for (const share of own.length > LONG ? SHARES : own.length > 1 ? SHARES.slice(0, -4) : [0]) {
    const [x, y] = own[Math.round(share * (own.length - 1))];
    for (const away of AWAY) {
      const at: Box = {
        x: x + label.x - label.at[0] + (turned ? away : 0),
        y: y + label.y - label.at[1] + (turned ? 0 : away),
        w,
        h,
      };
      const wrong =
        60 * Math.abs(share - 0.5) * Number(own.length > 1) +
        Math.abs(away) +
        5 * Math.max(0, Math.abs(away) - BESIDE);
      consider(at, wrong);
      // beside an arrowhead
      for (const head of heads)
        if (!turned && overlap(at, head, 0)) {
          const aside = ((w + head.w) / 2) * (at.x < head.x ? -1 : 1);
          consider({ ...at, x: head.x + aside }, wrong + Math.abs(head.x + aside - at.x));
        }
    }
  }
  return [...found, cost];
}

/** How deep two boxes are in each other. */
function overlap(a: Box, b: Box, margin: number): number {
  const x = (a.w + b.w) / 2 + margin - Math.abs(a.x - b.x);
  const y = (a.h + b.h) / 2 + margin - Math.abs(a.y - b.y);
  return x > 0 && y > 0 ? Math.min(x, y) : 0;
}

/** Whether a curve runs through a box, and not only along its margin. */
export function crosses(curve: Point[], { x, y, w, h }: Box, margin: number): boolean {
  return curve.some(
    ([px, py]) => Math.abs(px - x) < w / 2 - margin && Math.abs(py - y) < h / 2 - margin,
  );
}

function nearest(curve: Point[], at: { x: number; y: number }): Point {
  const [first, ...rest] = curve;
  const away = ([x, y]: Point): number => Math.hypot(x - at.x, y - at.y);
  return rest.reduce((best, point) => (away(point) < away(best) ? point : best), first);
}

function distance(curve: Point[], at: { x: number; y: number }): number {
  const [x, y] = nearest(curve, at);
  return Math.hypot(x - at.x, y - at.y);
}
