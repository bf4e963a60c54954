// Geometry and short texts of nodes and edges, shared by the live scene and by exported pictures.
import type { Box } from "./camera"; // here x and y are those of its middle
import { groupTitle } from "./fold";
import { NODE_H, NODE_W, isBare, type Graph, type Group, type Node } from "./graph";
import type { Edge } from "./place";
import {
  brief,
  each,
  elide,
  gone,
  markOf,
  operationOf,
  shapeText,
  shortName,
  title as titleOf,
  written,
} from "./value";
import type { Row, Value } from "./schema";
import type { Store } from "./store";
import { t, wide } from "./words";

// as in theme.css
const TITLE_FONT = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif';
export const PILE = 6; // how far the cards of a folded group reach
export const CHARS = 15; // characters of the value font that fit into a node
const BARE = 7; // and into that of a number
export const SIDES = 12; // and of a shape, beside which there is a picture
const LEAST = 7; // beside a name too: `(1, 16)`

/** Is there more in a node: a folded part, or the rows inside of a call? It is a pile of cards. */
export const opens = ({ group, row }: Node): boolean => !!group || row?.op === "function";

/** Where an edge enters its node, on the left; in a lower storey on the right. */
export function portY(node: Node, edge: Edge): number {
  return node.y + (NODE_H * (edge.port + 1)) / (edge.ports + 1);
}

/**
 * A point so far before the place at which an edge enters its node: on the left, or on top where
 * the graph is turned, above a pile of cards; in a lower storey on the other side.
 */
export function entry({ turned }: Graph, node: Node, edge: Edge, away: number): Point {
  const pile = turned && opens(node) ? PILE : 0;
  const at = node.storey ? (turned ? NODE_H : NODE_W) + away : -away - pile;
  return turned
    ? [node.x + (NODE_W * (edge.port + 1)) / (edge.ports + 1), node.y + at]
    : [node.x + at, portY(node, edge)];
}

/** Do edges come into a node from the right? */
export const entersRight = ({ turned }: Graph, { storey }: Node): boolean => storey > 0 && !turned;

/** The place at which the edges of a node begin: of a pile of cards at the last one. */
function exit({ turned }: Graph, node: Node): Point {
  const { x, y, storey } = node;
  return turned
    ? [x + NODE_W / 2, storey ? y : y + NODE_H]
    : [storey ? x : x + NODE_W + (opens(node) ? PILE : 0), y + NODE_H / 2];
}

const round = (x: number): number => Math.round(x * 10) / 10;

export type Point = [number, number];

/** A part of an edge's curve: a straight line, or one with two control points. */
type Piece = { from: Point; to: Point; bend: [Point, Point] | null };

/** The curve of an edge in parts; in a lower storey it is that of one which runs the other way. */
function pieces(graph: Graph, edge: Edge): Piece[] {
  const [from, to] = [graph.nodes[edge.from], graph.nodes[edge.to]];
  if (!edge.back)
    return between(graph, edge, from, exit(graph, from), to, entry(graph, to, edge, 2), edge.via);
  const turned = between(
    graph,
    edge,
    to,
    entry(graph, to, edge, 2),
    from,
    exit(graph, from),
    [...edge.via].reverse(),
  );
  return turned.reverse().map((piece) => ({
    from: piece.to,
    to: piece.from,
    bend: piece.bend && [piece.bend[1], piece.bend[0]],
  }));
}

/** Adds what leads through these points, with round corners. */
function through(at: Point, points: Point[], found: Piece[]): void {
  points.forEach((point, k) => {
    const next = points[k + 1];
    const towards = (to: Point): Point => {
      const length = Math.hypot(to[0] - point[0], to[1] - point[1]) || 1;
      const share = Math.min(CORNER / length, 1);
      return [point[0] + (to[0] - point[0]) * share, point[1] + (to[1] - point[1]) * share];
    };
    const end = next ? towards(at) : point;
    found.push({ from: at, to: end, bend: null });
    at = next ? towards(next) : point;
    if (next) found.push({ from: end, to: at, bend: [point, point] });
  });
}

/**
 * The curve from a point at one node to a point at another one, which is right of it or, where the
 * graph is turned, below it.
 */
function between(
  graph: Graph,
  edge: Edge,
  from: Node,
  at: Point,
  to: Node,
  goal: Point,
  via: Edge["via"],
): Piece[] {
  const found: Piece[] = [];
  const { turned, per, pitch } = graph;
  const curve = (next: Point): void => {
    const [along, across] = turned ? [1, 0] : [0, 1];
    const bend = Math.max(14, (next[along] - at[along]) / 2);
    const bent = (point: Point, by: number): Point =>
      turned ? [point[0], point[1] + by] : [point[0] + by, point[1]];
    found.push({
      from: at,
      to: next,
      bend:
        !turned && Math.abs(next[across] - at[across]) < 0.5
          ? null
          : [bent(at, bend), bent(next, -bend)],
    });
    at = next;
  };
  const straight = (next: Point): void =>
    void (found.push({ from: at, to: next, bend: null }), (at = next));
  if (turned) {
    const pass = (x: number | undefined, top: number, bottom: number): void => {
      if (x === undefined || bottom - top < NODE_H) return;
      curve([x, top - AWAY]);
      straight([x, bottom + AWAY]);
    };
    pass(graph.around.get(from.index), from.y + NODE_H + 2 * AWAY, graph.reach[from.column][1]);
    for (const [column, slot] of via)
      pass(graph.passing.get(`${column}|${slot}`), ...graph.reach[column]);
    pass(graph.around.get(to.index), graph.reach[to.column][0], to.y - 2 * AWAY);
  }
  let { line } = from;
  /** To the height of `y` in the next line, left of its first column. */
  const wrap = (y: number): void => {
    const lane = graph.lane(edge.from, line++);
    through(
      at,
      [
        [lane.right, at[1]],
        [lane.right, lane.y],
        [lane.left, lane.y],
        [lane.left, y],
        [lane.left + CORNER, y],
      ],
      found,
    );
    at = [lane.left + CORNER, y];
  };
  for (const [column, slot] of turned ? [] : via) {
    const [next, x] =
      per === Infinity ? [0, column * pitch] : [Math.floor(column / per), (column % per) * pitch];
    const y = graph.tops[next] + slot * graph.half + graph.half / 2;
    if (next > line) wrap(y);
    curve([x - 10, y]);
    straight([x + NODE_W + 10, y]);
  }
  if (!turned && to.line > line) wrap(goal[1]);
  curve(goal);
  return found;
}

const AWAY = 12; // from the nodes that an edge passes
const CORNER = 8; // radius

/**
 * The curve of an edge with a small open arrowhead, which `back` puts at its beginning: there the
 * gradient goes. It is so many times as large, for a wide line would hide it.
 */
export function edgePath(graph: Graph, edge: Edge, back = 0): string {
  const parts = pieces(graph, edge);
  const at = ([x, y]: Point): string => `${round(x)} ${round(y)}`;
  const [long, side] = [5.5, 3.5].map((one) => one * (back || 1));
  const tip = ([x, y]: Point, sign: number): string => {
    const away = long * sign;
    return graph.turned
      ? `M${at([x - side, y - away])}l${at([side, away])}l${at([side, -away])}`
      : `M${at([x - away, y - side])}l${at([away, side])}l${at([-away, side])}`;
  };
  const { from } = parts[0];
  const first = graph.nodes[edge.from].storey ? -1 : 1;
  const start: Point = graph.turned
    ? [from[0], from[1] + 2 * first]
    : [from[0] + 2 * first, from[1]];
  let d = `M${at(from)}`;
  for (const { to, bend } of parts)
    d += bend ? `C${at(bend[0])} ${at(bend[1])} ${at(to)}` : `L${at(to)}`;
  return back
    ? tip(start, -first) + d
    : d + tip(parts[parts.length - 1].to, graph.nodes[edge.to].storey ? -1 : 1);
}

/** Where the arrowhead of an edge is that points back. */
export function backHead(graph: Graph, edge: Edge): Box {
  const [x, y] = pieces(graph, edge)[0].from;
  const away = graph.nodes[edge.from].storey ? -4.75 : 4.75;
  return graph.turned ? { x, y: y + away, w: 7, h: 5.5 } : { x: x + away, y, w: 5.5, h: 7 };
}

const STEP = 8; // pixels between the points of a curve

/** Points of an edge's curve, at about equal distances. */
export function edgeCurve(graph: Graph, edge: Edge): Point[] {
  const parts = pieces(graph, edge);
  const found: Point[] = [parts[0].from];
  for (const {
    from: [x0, y0],
    to: [x1, y1],
    bend,
  } of parts) {
    const count = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / STEP));
    for (let k = 1; k <= count; k++) {
      const t = k / count;
      const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
      if (bend)
        found.push([
          a * x0 + b * bend[0][0] + c * bend[1][0] + d * x1,
          a * y0 + b * bend[0][1] + c * bend[1][1] + d * y1,
        ]);
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
  return same && wide(text) <= room ? text : null;
}

/** Is there room to write a value out, or of that of a row to say what it is everywhere? */
export function isShort(value: Value, room = CHARS, row?: Row | null): boolean {
  return (written(value, room) ?? (row ? alike(value, row, room) : null)) !== null;
}

/** A value in its node: of an array that does not fit its shape, next to which its picture is. */
export function nodeValue(value: Value | null, row: Row, room: number): string {
  if (!value || !row.shape.length) return brief(value, row, room);
  return (
    written(value, room) ??
    alike(value, row, room) ??
    shapeText(row, Math.min(room, Math.max(LEAST, SIDES - (CHARS - room))))
  );
}

export interface NodeText {
  title: string; // its name, in large type; of what has none its operation
  long: boolean; // it has no room at full size
  unnamed: boolean;
  width: number; // of the title
  op: string; // beside its name; of a layer's weight the layer
  value: string;
  kind: string;
  // of a folded loop: at which turn the reader is, in place of how many there are
  turnText(turn: number): string;
}

/** The texts of a node when its row has run. */
export function nodeText(store: Store, node: Node): NodeText {
  const { row, group } = node;
  const kind = row?.kind ?? "group";
  const room = titleRoom(row, kind);
  const named = kind === "operation" && !!row?.name;
  const result = group ? resultOf(store, group) : "";
  const whole = wholeTitle(node, result, store.rows);
  const long = widthOf(whole) > room; // in smaller type more of it can be read
  // its layer is beside its name
  const path = long && kind === "variable" ? /([^/.]+)[/.]([^/.]+)$/.exec(whole) : null;
  const large = long ? "600 13px" : undefined;
  const title = fitting(path ? path[2] : whole, room, large);
  const width = widthOf(title, large);
  const rest = room - width - 6;
  const beside = path ? path[1] : result && group ? groupTitle(group) : "";
  const op = named && row ? operationText(store, row, rest) : besideTitle(beside, rest);
  const [left, font] = op ? [rest, "12px"] : [room, large];
  return {
    title,
    long,
    unnamed: !!row && !row.name && kind !== "source",
    width,
    op,
    value: valueText(store, node),
    kind,
    turnText: (turn) => (group ? turnTitle(group, turn, left, font) : ""),
  };
}

/** At which turn of a folded loop the reader is: `turn 3 of 15`, of layers `block 3/15`. */
function turnTitle({ label, count }: Group, turn: number, pixels: number, font?: string): string {
  const name = label.replace(/[./]+$/, "");
  const part = `${turn}/${count}`;
  const texts =
    name && name !== "turn"
      ? [`${name} ${part}`]
      : [t("turn {0} of {1}", turn, count), `${t("turn")} ${part}`, part];
  const fits = texts.find((text) => widthOf(text, font) <= pixels);
  return fits ?? fitting(texts[0], pixels, font);
}

/** How many pixels a node has for its title, beside the number of its row. */
function titleRoom(row: Row | null, kind: string): number {
  const margins = kind === "source" ? 38 : kind === "group" ? 14 : 24;
  return NODE_W - margins - (row ? 7.3 * String(row.row).length : 0);
}

/** The title of a node at full length; `result` is what a loop computes. */
function wholeTitle({ row, group }: Node, result: string, rows?: Row[]): string {
  if (row) {
    const title = row.kind === "operation" && row.name ? row.name : titleOf(row);
    return rows && title[0] === "[" ? markOf(rows[row.inputs[0]]) + title : title; // `x[0]`
  }
  return group ? result || groupTitle(group) : "";
}

/**
 * What the program calls the result of a loop that has no name of its own, without the number of
 * the last turn; "" for nothing.
 */
function resultOf({ rows }: Store, { kind, label, start, end }: Group): string {
  if (kind !== "repeat" || label) return "";
  for (let at = Math.min(end, rows.length) - 1; at >= Math.max(start, end - SEARCHED); at--)
    if (rows[at].kind === "operation" && rows[at].name)
      return rows[at].name?.replace(/:0$|[\u2080-\u2089]+$/, "") ?? "";
  return "";
}

const SIGNS = /^[×+−/@-]$/; // operations that are written between their inputs

/**
 * What a row does to its inputs, in so many pixels: `x × w` where they have names, else `×`;
 * nothing where there is no room.
 */
function operationText(store: Store, row: Row, pixels: number): string {
  const label = operationOf(row);
  if (row.name?.endsWith(label)) return ""; // `x[0]` says it already
  const names = row.inputs
    .map((input) => store.rows[input])
    .map((input) =>
      input.literal ? brief(input.value, input, 6) : input.name?.replace(/:0$/, "") || "",
    );
  const texts = [
    ...(SIGNS.test(label) && names.length === 2 && names.every(Boolean)
      ? [names.join(` ${label} `)]
      : []),
    label,
  ];
  return texts.find((text) => widthOf(text, "12px") <= pixels) ?? besideTitle(label, pixels);
}

/** What stands in smaller type beside a title, where there is room for some of it. */
const besideTitle = (text: string, pixels: number): string =>
  pixels > 36 ? fitting(text, pixels, "12px") : "";

const SEARCHED = 200; // rows at each end of a folded loop in which variables are looked for
const HELD = 12; // characters of each of their names
const HOLDS = /^(variable|source)$/;

/** The first and the last variable that a folded part hides: `W1 … W19`; "" without variables. */
export function heldText(store: Store, graph: Graph, node: Node): string {
  const { group } = node;
  if (!group || group.kind === "iteration") return "";
  const held = (row: number): string | null => {
    const one = store.rows[row];
    return one && HOLDS.test(one.kind) && graph.nodeOf(row) === node ? titleOf(one) : null;
  };
  const last = Math.min(group.end, store.rows.length) - 1;
  // what its first operation reads may be before that
  const start = store.rows.findIndex((_, row) => graph.nodeOf(row) === node);
  const near = Array.from({ length: Math.min(SEARCHED, last + 1 - start) }, (_, k) => k);
  const names = [
    ...near.map((k) => held(start + k)),
    ...near.map((k) => held(last - k)).reverse(),
  ].filter((name) => name !== null);
  const all = [...new Set(names)];
  const label = group.label.replace(/[./]+$/, "");
  const own = `${label}.`;
  // what the node says already is left out where there would be no room for it
  const fitted = (name: string): string => {
    const [, layer, last] = /^(.*)[./](.+)$/.exec(name) ?? [];
    const rest = all.length > 1 && label && layer?.endsWith(label) ? last : name;
    return shortName(
      wide(rest) > HELD && rest.startsWith(own) ? rest.slice(own.length) : rest,
      HELD,
    );
  };
  return all.length > 2
    ? `${fitted(all[0])} … ${fitted(all[all.length - 1])}`
    : all.map(fitted).join(", ");
}

/** Its value: of a folded group the first operations in it. */
export function valueText(store: Store, node: Node): string {
  const { row, group } = node;
  if (row)
    return row.released && !row.value
      ? gone(row, CHARS)
      : nodeValue(row.value, row, isBare(row) ? BARE : CHARS) ||
          (row.shape.length ? shapeText(row) : "");
  if (!group) return "";
  const ops = store.rows
    .slice(group.start, Math.min(group.end, group.start + 200))
    .filter(({ kind }) => kind === "operation")
    .map(operationOf);
  return elide([...new Set(ops)].slice(0, 5).join(" "), CHARS - 1);
}

/** The chips of an operation's far inputs: one each, or one for all where there are many. */
export function farChips(
  graph: Graph,
  edges: Edge[],
): { edge: Edge; text: string; x: number; y: number; w: number; alone: boolean }[] {
  const far = edges.filter((edge) => edge.far);
  if (!far.length) return [];
  const to = graph.nodes[far[0].to];
  const chip = (edge: Edge, text: string, y: number, alone = true) => {
    const w = 12 + 7.3 * wide(text);
    return {
      edge,
      text,
      x: entersRight(graph, to) ? to.x + NODE_W + 14 : to.x - 14 - w,
      y,
      w,
      alone,
    };
  };
  if (far.length > 3 || (far.length > 1 && far[0].ports > 3))
    return [chip(far[0], t("{0} rows", far.length), to.y + NODE_H / 2, false)];
  return far.map((edge) => {
    const from = graph.nodes[edge.from];
    const row = from.row;
    const isNamed = !row || row.name || row.kind === "source";
    const name = isNamed
      ? wholeTitle(from, "")
      : row.kind === "constant"
        ? brief(row.value, row, 9)
        : t("row {0}", from.first);
    return chip(edge, shortName(name, 10), portY(to, edge));
  });
}
