// Geometry and short texts of nodes and edges, shared by the live scene and by exported pictures.
import { groupTitle } from "./fold";
import { HALF, NODE_H, NODE_W, isBare, type Graph, type Node } from "./graph";
import type { Edge } from "./place";
import { brief, each, elide, gone, operationOf, shapeText, shortName, title as titleOf, written } from "./value";
import type { Row, Value } from "./schema";
import type { Store } from "./store";
import { t, wide } from "./words";

const TITLE_FONT = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'; // as in theme.css
export const CHARS = 15; // characters of the value font that fit into a node
const BARE = 7; // and into that of a number
export const SIDES = 12; // and of a shape, beside which there is a picture

/** Where an edge enters its node, on the left. */
export function portY(node: Node, edge: Edge): number {
  return node.y + (NODE_H * (edge.port + 1)) / (edge.ports + 1);
}

/** A point so far before the place at which an edge enters its node: on the left, or on top where the graph is turned. */
export function entry({ turned }: Graph, node: Node, edge: Edge, away: number): Point {
  return turned ? [node.x + (NODE_W * (edge.port + 1)) / (edge.ports + 1), node.y - away] : [node.x - away, portY(node, edge)];
}

const round = (x: number): number => Math.round(x * 10) / 10;

export type Point = [number, number];

/** A part of an edge's curve: a straight line, or one with two control points. */
type Piece = { from: Point; to: Point; bend: [Point, Point] | null };

/** The curve of an edge in parts. */
function pieces(graph: Graph, edge: Edge): Piece[] {
  if (graph.turned) return piecesDown(graph, edge);
  const from = graph.nodes[edge.from];
  const to = graph.nodes[edge.to];
  const found: Piece[] = [];
  let [at, line]: [Point, number] = [[from.x + NODE_W, from.y + NODE_H / 2], from.line];
  const straight = (next: Point): void => void (found.push({ from: at, to: next, bend: null }), (at = next));
  const curve = (next: Point): void => {
    if (Math.abs(next[1] - at[1]) < 0.5) return straight(next);
    const bend = Math.max(14, (next[0] - at[0]) / 2);
    found.push({ from: at, to: next, bend: [[at[0] + bend, at[1]], [next[0] - bend, next[1]]] });
    at = next;
  };
  const corner = (around: Point, next: Point): void => void (found.push({ from: at, to: next, bend: [around, around] }), (at = next));
  /** To the height of `y` in the next line, left of its first column. */
  const wrap = (y: number): void => {
    const lane = graph.lane(edge.from, line++);
    straight([lane.right - CORNER, at[1]]);
    corner([lane.right, at[1]], [lane.right, at[1] + CORNER]);
    straight([lane.right, lane.y - CORNER]);
    corner([lane.right, lane.y], [lane.right - CORNER, lane.y]);
    straight([lane.left + CORNER, lane.y]);
    corner([lane.left, lane.y], [lane.left, lane.y + CORNER]);
    straight([lane.left, y - CORNER]);
    corner([lane.left, y], [lane.left + CORNER, y]);
  };
  for (const [column, slot] of edge.via) {
    const [next, x] = graph.per === Infinity ? [0, column * graph.pitch] : [Math.floor(column / graph.per), (column % graph.per) * graph.pitch];
    const y = graph.tops[next] + slot * HALF + HALF / 2;
    if (next > line) wrap(y);
    curve([x - 10, y]);
    straight([x + NODE_W + 10, y]);
  }
  if (to.line > line) wrap(portY(to, edge));
  curve([to.x - 2, portY(to, edge)]);
  return found;
}

/** The same where the graph is turned. */
function piecesDown(graph: Graph, edge: Edge): Piece[] {
  const [from, to] = [graph.nodes[edge.from], graph.nodes[edge.to]];
  let at: Point = [from.x + NODE_W / 2, from.y + NODE_H];
  const found: Piece[] = [];
  const curve = (next: Point): void => {
    const bend = Math.max(14, (next[1] - at[1]) / 2);
    found.push({ from: at, to: next, bend: [[at[0], at[1] + bend], [next[0], next[1] - bend]] });
    at = next;
  };
  const pass = (x: number | undefined, top: number, bottom: number): void => {
    if (x === undefined || bottom - top < NODE_H) return;
    curve([x, top - AWAY]);
    found.push({ from: at, to: (at = [x, bottom + AWAY]), bend: null });
  };
  pass(graph.around.get(from.index), from.y + NODE_H + 2 * AWAY, graph.reach[from.column][1]);
  for (const [column, slot] of edge.via) pass(graph.passing.get(`${column}|${slot}`), ...graph.reach[column]);
  pass(graph.around.get(to.index), graph.reach[to.column][0], to.y - 2 * AWAY);
  curve(entry(graph, to, edge, 2));
  return found;
}

const AWAY = 12; // from the nodes that an edge passes
const CORNER = 8; // radius

/** The curve of an edge with a small open arrowhead, which `back` puts at its beginning: there the gradient goes. */
export function edgePath(graph: Graph, edge: Edge, back = false): string {
  const parts = pieces(graph, edge);
  const at = ([x, y]: Point): string => `${round(x)} ${round(y)}`;
  const [x, y] = parts[0].from;
  const tip = graph.turned ? ["m-3.5 -5.5l3.5 5.5l3.5 -5.5", at([x - 3.5, y + 7.5]), "l3.5 -5.5l3.5 5.5"] : ["m-5.5 -3.5l5.5 3.5l-5.5 3.5", at([x + 7.5, y - 3.5]), "l-5.5 3.5l5.5 3.5"];
  let d = back ? `M${tip[1]}${tip[2]}M${at([x, y])}` : `M${at([x, y])}`;
  for (const { to, bend } of parts) d += bend ? `C${at(bend[0])} ${at(bend[1])} ${at(to)}` : `L${at(to)}`;
  return back ? d : d + tip[0];
}

const STEP = 8; // pixels between the points of a curve

/** Points of an edge's curve, at about equal distances. */
export function edgeCurve(graph: Graph, edge: Edge): Point[] {
  const parts = pieces(graph, edge);
  const found: Point[] = [parts[0].from];
  for (const { from: [x0, y0], to: [x1, y1], bend } of parts) {
    const count = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / STEP));
    for (let k = 1; k <= count; k++) {
      const t = k / count;
      const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
      if (bend) found.push([a * x0 + b * bend[0][0] + c * bend[1][0] + d * x1, a * y0 + b * bend[0][1] + c * bend[1][1] + d * y1]);
      else found.push([x0 + t * (x1 - x0), y0 + t * (y1 - y0)]);
    }
  }
  return found;
}

let ruler: CanvasRenderingContext2D | null = null;

/** How wide a text is in the font of names, or that of operations beside them. */
function widthOf(text: string, font = "600 16px"): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return 10 * wide(text);
  ruler.font = `${font} ${TITLE_FONT}`;
  return ruler.measureText(text).width;
}

/** The longest form of a name that is no wider than this many pixels. */
function fitting(name: string, pixels: number, font?: string): string {
  const fits = (text: string): boolean => widthOf(text, font) <= pixels;
  if (name.length <= 24 && fits(name)) return name;
  for (let room = Math.min(name.length, 24); room > 4; room--) {
    const short = shortName(name, room);
    if (fits(short)) return short;
  }
  return shortName(name, 4);
}

/** Of an array that has one number everywhere its shape and that number, where there is room. */
function alike(value: Value, row: Row, room: number): string | null {
  const same = each(value);
  const text = `${shapeText(row)} ${same}`;
  return same && text.length <= room ? text : null;
}

/** Is there room to write a value out, or of that of a row to say what it is everywhere? */
export function isShort(value: Value, room = CHARS, row?: Row | null): boolean {
  return (written(value, room) ?? (row ? alike(value, row, room) : null)) !== null;
}

/** A value in its node: of an array that does not fit its shape, next to which its picture is. */
export function nodeValue(value: Value | null, row: Row, room: number): string {
  if (!value || !row.shape.length) return brief(value, row, room);
  return written(value, room) ?? alike(value, row, room) ?? shapeText(row, Math.min(room, SIDES - (CHARS - room)));
}

export interface NodeText {
  title: string; // its name, in large type; of what has none its operation
  long: boolean; // it has no room at full size
  unnamed: boolean;
  width: number; // of the title
  op: string; // beside its name; of a layer's weight the layer
  value: string;
  kind: string;
}

/** The texts of a node when its row has run. */
export function nodeText(store: Store, node: Node): NodeText {
  const { row, group } = node;
  const kind = row?.kind ?? "group";
  const room = NODE_W - (kind === "source" ? 38 : kind === "group" ? 14 : 24) - (row ? 7.3 * String(row.row).length : 0);
  const named = kind === "operation" && !!row?.name;
  const whole = row ? (named ? (row.name as string) : titleOf(row)) : group ? groupTitle(group) : "";
  const long = widthOf(whole) > room; // in smaller type more of it can be read
  const path = long && kind === "variable" ? /([^/.]+)[/.]([^/.]+)$/.exec(whole) : null; // its layer is beside its name
  const title = path ? path[2] : fitting(whole, room, long ? "600 13px" : undefined);
  const width = widthOf(title, long ? "600 13px" : undefined);
  const op = named && row ? operationText(store, row, room - width - 6) : path ? fitting(path[1], room - width - 6, "12px") : "";
  return { title, long, unnamed: !!row && !row.name && kind !== "source", width, op, value: valueText(store, node), kind };
}

const SIGNS = /^[×+−/@-]$/; // operations that are written between their inputs

/** What a row does to its inputs, in so many pixels: `x × w` where they have names, else `×`; nothing where there is no room. */
function operationText(store: Store, row: Row, pixels: number): string {
  const label = operationOf(row);
  const names = row.inputs.map((input) => store.rows[input]).map((input) => (input.literal ? brief(input.value, input, 6) : input.name?.replace(/:0$/, "") || ""));
  const texts = [...(SIGNS.test(label) && names.length === 2 && names.every(Boolean) ? [names.join(` ${label} `)] : []), label];
  return texts.find((text) => widthOf(text, "12px") <= pixels) ?? (pixels > 36 ? fitting(label, pixels, "12px") : "");
}

/** Its value: of a folded group the first operations in it. */
export function valueText(store: Store, node: Node): string {
  const { row, group } = node;
  if (row) return row.released && !row.value ? gone(row, CHARS) : nodeValue(row.value, row, isBare(row) ? BARE : CHARS) || (row.shape.length ? shapeText(row) : "");
  const ops: string[] = [];
  for (let i = group?.start ?? 0; group && i < Math.min(group.end, group.start + 200) && ops.length < 5; i++) {
    const one = store.rows[i];
    if (one?.kind === "operation" && !ops.includes(one.label || one.op)) ops.push(one.label || one.op);
  }
  return elide(ops.join(" "), CHARS - 1);
}

/** The chips of an operation's far inputs: one each, or one for all where there are many. */
export function farChips(graph: Graph, edges: Edge[]): { edge: Edge; text: string; x: number; y: number; w: number }[] {
  const far = edges.filter((edge) => edge.far);
  if (!far.length) return [];
  const to = graph.nodes[far[0].to];
  const chip = (edge: Edge, text: string, y: number) => {
    const w = 12 + 7.3 * wide(text);
    return { edge, text, x: to.x - 14 - w, y, w };
  };
  if (far.length > 3 || far[0].ports > 3) return [chip(far[0], t("{0} rows", far.length), to.y + NODE_H / 2)];
  return far.map((edge) => {
    const from = graph.nodes[edge.from];
    const row = from.row;
    const name = !row || row.kind === "operation" ? t("row {0}", from.first) : row.kind === "constant" && !row.name ? brief(row.value, row, 9) : titleOf(row);
    return chip(edge, shortName(name, 10), portY(to, edge));
  });
}
