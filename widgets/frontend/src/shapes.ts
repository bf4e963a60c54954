// Geometry and short texts of nodes and edges, shared by the live scene and by exported pictures.
import { groupTitle } from "./fold";
import { COLUMN, HALF, NODE_H, NODE_W, type Graph, type Node } from "./graph";
import type { Edge } from "./place";
import { brief, elide, gone, shapeText, shortName, title } from "./value";
import type { Row, Value } from "./schema";
import type { Store } from "./store";

const TITLE_FONT = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'; // as in theme.css
export const CHARS = 15; // characters of the value font that fit into a node

/** Where an edge enters its node. */
export function portY(node: Node, edge: Edge): number {
  return node.y + (NODE_H * (edge.port + 1)) / (edge.ports + 1);
}

const round = (x: number): number => Math.round(x * 10) / 10;

export type Point = [number, number];

/** The points that an edge goes through. */
function stations(graph: Graph, edge: Edge): Point[] {
  const from = graph.nodes[edge.from];
  const to = graph.nodes[edge.to];
  const points: Point[] = [[from.x + NODE_W, from.y + NODE_H / 2]];
  for (const [column, slot] of edge.via) {
    const y = slot * HALF + HALF / 2;
    points.push([column * COLUMN - 10, y], [column * COLUMN + NODE_W + 10, y]);
  }
  points.push([to.x - 2, portY(to, edge)]);
  return points;
}

/** How far the curve between two points leaves them level; 0 for a straight line. */
const bendOf = ([x0, y0]: Point, [x1, y1]: Point): number => (Math.abs(y1 - y0) < 0.5 ? 0 : Math.max(14, (x1 - x0) / 2));

/** The curve of an edge with a small open arrowhead, which `back` puts at its beginning: there the gradient goes. */
export function edgePath(graph: Graph, edge: Edge, back = false): string {
  const points = stations(graph, edge);
  const [[x, y]] = points;
  let d = back ? `M${round(x + 7.5)} ${round(y - 3.5)}l-5.5 3.5l5.5 3.5M${round(x)} ${round(y)}` : `M${round(x)} ${round(y)}`;
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
    const bend = bendOf(points[i - 1], points[i]);
    d += bend ? `C${round(x0 + bend)} ${round(y0)} ${round(x1 - bend)} ${round(y1)} ${round(x1)} ${round(y1)}` : `L${round(x1)} ${round(y1)}`;
  }
  return back ? d : `${d}m-5.5 -3.5l5.5 3.5l-5.5 3.5`;
}

const STEP = 8; // pixels between the points of a curve

/** Points of an edge's curve, at about equal distances. */
export function edgeCurve(graph: Graph, edge: Edge): Point[] {
  const points = stations(graph, edge);
  const found: Point[] = [points[0]];
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
    const bend = bendOf(points[i - 1], points[i]);
    const count = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / STEP));
    for (let k = 1; k <= count; k++) {
      const t = k / count;
      const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
      found.push(bend ? [a * x0 + b * (x0 + bend) + c * (x1 - bend) + d * x1, (a + b) * y0 + (c + d) * y1] : [x0 + t * (x1 - x0), y0 + t * (y1 - y0)]);
    }
  }
  return found;
}

/** The dashed curve from one version of a variable to the next. */
export function linkPath(from: Node, to: Node): string {
  const [x0, y0] = [from.x + NODE_W / 2, from.y + NODE_H];
  const [x1, y1] = [to.x + NODE_W / 2, to.y + NODE_H];
  const deep = Math.max(y0, y1) + 26;
  return `M${round(x0)} ${round(y0)}C${round(x0)} ${round(deep)} ${round(x1)} ${round(deep)} ${round(x1)} ${round(y1)}`;
}

let ruler: CanvasRenderingContext2D | null = null;

/** The longest form of a name that is no wider than this many pixels in the font of titles. */
function fitting(name: string, pixels: number): string {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return shortName(name, Math.floor(pixels / 8));
  ruler.font = `600 13px ${TITLE_FONT}`;
  for (let room = Math.min(name.length, 24); room > 4; room--) {
    const short = shortName(name, room);
    if (ruler.measureText(short).width <= pixels) return short;
  }
  return shortName(name, 4);
}

/** A value written out, a short vector with three digits of each number; null where there is no room for it. */
function written(value: Value, room: number): string | null {
  if (value.text !== undefined && !value.text.includes("\n") && value.text.length <= room) return value.text;
  const { data } = value;
  if (!Array.isArray(data) || data.length > 6 || !data.every((one) => typeof one === "number")) return null;
  const text = `[${data.map((one) => String(Number((one as number).toPrecision(3)))).join(" ")}]`;
  return text.length <= room ? text : null;
}

/** Is there room to write a value out? */
export function isShort(value: Value, room = CHARS): boolean {
  return written(value, room) !== null;
}

/** A value in its node: of an array that does not fit the lengths of its sides, beside which its picture stands. */
export function nodeValue(value: Value | null, row: Row, room: number): string {
  if (!value || !row.shape.length) return brief(value, row, room);
  const sides = row.shape.length === 1 ? `[${row.shape[0]}]` : row.shape.join("×");
  return written(value, room) ?? elide(sides, 7);
}

export interface NodeText {
  title: string;
  value: string;
  kind: string;
}

/** What stands in a node when its row has run. */
export function nodeText(store: Store, node: Node): NodeText {
  if (node.row) {
    const row = node.row;
    const value = row.released && !row.value ? gone(row, CHARS) : nodeValue(row.value, row, CHARS) || (row.shape.length ? shapeText(row) : "");
    return { title: fitting(title(row), NODE_W - (row.kind === "source" ? 38 : 24) - 6 * String(row.row).length), value, kind: row.kind };
  }
  const group = node.group;
  if (!group) return { title: "", value: "", kind: "group" };
  const ops: string[] = [];
  for (let i = group.start; i < Math.min(group.end, group.start + 200) && ops.length < 5; i++) {
    const row = store.rows[i];
    if (row?.kind === "operation" && !ops.includes(row.label || row.op)) ops.push(row.label || row.op);
  }
  return { title: fitting(groupTitle(group), NODE_W - 20), value: elide(ops.join(" "), CHARS - 1), kind: "group" };
}

/** The chips of an operation's far inputs: one each, or one for all where there are many. */
export function farChips(graph: Graph, edges: Edge[]): { edge: Edge; text: string; x: number; y: number; w: number }[] {
  const far = edges.filter((edge) => edge.far);
  if (!far.length) return [];
  const to = graph.nodes[far[0].to];
  const chip = (edge: Edge, text: string, y: number) => {
    const w = 12 + 6.2 * text.length;
    return { edge, text, x: to.x - 14 - w, y, w };
  };
  if (far.length > 3 || far[0].ports > 3) return [chip(far[0], `${far.length} rows`, to.y + NODE_H / 2)];
  return far.map((edge) => {
    const from = graph.nodes[edge.from];
    const row = from.row;
    const name = !row || row.kind === "operation" ? `row ${from.first}` : row.kind === "constant" && !row.name ? brief(row.value, row, 9) : title(row);
    return chip(edge, shortName(name, 10), portY(to, edge));
  });
}
