// Brings drawn edges to the present step: their classes, widths, and the numbers on them.
import { holdsAny, type Drawing } from "./drawing";
import { s, setText } from "./dom";
import type { DrawnEdges } from "./edge_shapes";
import { listHanded, listSent, shownOf } from "./edge_words";
import { NODE_W, type Graph, type Node } from "./graph";
import { edgeId, LETTER } from "./labels";
import { edgeWidth, magnitude, notFinite } from "./scale";
import type { Value } from "./schema";
import { edgeCurve, edgePath, type Point } from "./shapes";
import { SHARE_H } from "./shares";
import { full, sizeOf, written } from "./value";
import { t, wide } from "./words";

const SHARE_ROOMS = [8, 7, 5]; // characters of a number on an edge
const WIDE = 3; // pixels of a line, with an arrowhead of the usual size
const ARROWS = 20; // the room of arrowheads beside a number that lies over two edges

type Part = DrawnEdges["parts"][number];

/** Brings the edges of a node to the present step. */
export function paintEdges(
  drawing: Drawing,
  node: Node,
  drawn: DrawnEdges,
  current: Node | null,
): void {
  const { timeline, marks } = drawing;
  const active = node === current && node.row !== null;
  const stepsBack = node === current && timeline.backward; // cards say what its edges carry
  const sent = listSent(drawing, node); // what the sweep has handed on by now
  const isMarked = marks.pathEdges ?? marks.near ?? marks.lit;
  const key = isMarked ? "" : `${active}|${stepsBack}|${timeline.done(node.first)}|${sent.length}`;
  if (key && key === drawn.key) return;
  drawn.key = key;
  const handed = listHanded(drawing, node, sent);
  for (const part of drawn.parts) {
    const given = handed.get(part.edge);
    const share = given && shownOf(given);
    const name = [
      part.el === part.line ? "mt-edge" : "mt-chip",
      ...listStates(drawing, node, active, share),
      ...listMarks(drawing, node, part.from),
    ].join(" ");
    if (part.el.getAttribute("class") !== name) part.el.setAttribute("class", name);
    const isWritten = !stepsBack && !isFaded(drawing, node, part.from);
    writeShare(drawing, drawn, part, isWritten ? share : undefined, findTwin(drawn, part, handed));
    if (part.el === part.line) drawLine(drawing.graph, part, share);
  }
}

/** The classes of an edge by what ran, and by what the sweep sent. */
function listStates(
  { timeline }: Drawing,
  node: Node,
  active: boolean,
  share: Value | undefined,
): string[] {
  const names: string[] = [];
  if (active && !timeline.backward) names.push("mt-active");
  else if (active && share) names.push("mt-active", "mt-backward");
  if (!timeline.done(node.first)) names.push("mt-todo");
  if (share) names.push("mt-sent", ...listFaults(share));
  if (node.row?.cut) names.push("mt-cut");
  if (node.row?.status === "ghost") names.push("mt-ghost");
  return names;
}

const listFaults = (share: Value): string[] =>
  magnitude(share) === 0 ? ["mt-zero"] : notFinite(share) ? ["mt-broken"] : [];

/** The classes of an edge by what the reader marked: paths, a neighbourhood, a factor. */
function listMarks(drawing: Drawing, node: Node, from: Node): string[] {
  const { graph, marks } = drawing;
  const { pathEdges, lit } = marks;
  const names = lit && isLit(graph, lit, from, node) ? ["mt-lit"] : [];
  if (isFaded(drawing, node, from)) names.push("mt-off");
  else if (pathEdges) names.push("mt-on");
  return names;
}

/** Has the reader marked others instead of the edge between two nodes? */
export function isFaded({ marks: { pathEdges, near } }: Drawing, node: Node, from: Node): boolean {
  if (pathEdges) return !pathEdges.has(`${from.first}>${node.first}`);
  return !!near && !(holdsAny(near, node) && holdsAny(near, from));
}

/** Draws the line of an edge, as wide as what it sent is large. */
function drawLine(graph: Graph, { line, edge }: Part, share: Value | undefined): void {
  const width = share && edgeWidth(share);
  line.setAttribute("d", edgePath(graph, edge, width && Math.max(1, width / WIDE)));
  line.style.strokeWidth = width ? `${width}px` : "";
}

/** Is an edge lit, or one inside of what is folded? */
function isLit(graph: Graph, lit: Set<string>, from: Node, to: Node): boolean {
  if (!from.group && !to.group) return lit.has(`${from.first}>${to.first}`);
  for (const way of lit) {
    const [a, b] = way.split(">").map(Number);
    if (graph.nodeOf(a) === from && graph.nodeOf(b) === to) return true;
  }
  return false;
}

/** The one other edge between the same two nodes, if the sweep has sent the same over it. */
function findTwin(
  { parts }: DrawnEdges,
  part: Part,
  handed: ReturnType<typeof listHanded>,
): Part | undefined {
  const twins = parts.filter(({ edge }) => !edge.far && edge.from === part.edge.from);
  const [one, other] = twins.map(({ edge }) => handed.get(edge));
  const isSame = twins.length === 2 && one && other && full(shownOf(one)) === full(shownOf(other));
  return isSame ? twins.find((twin) => twin !== part) : undefined;
}

/** The middle between a place on an edge and the other edge beside it. */
function placeBetween(graph: Graph, { edge }: Part, twin: Part, at: readonly number[]): Point {
  const [own, other] = [edge, twin.edge].map((one) => edgeCurve(graph, one));
  const away = ([x, y]: Point): number => Math.hypot(x - at[0], y - at[1]);
  const k = own.reduce((best, point, i) => (away(point) < away(own[best]) ? i : best), 0);
  const [x, y] = other[Math.round((k * (other.length - 1)) / (own.length - 1))];
  return [(own[k][0] + x) / 2, (own[k][1] + y) / 2];
}

/** The place of what is so wide between two columns: clear of nodes and of an arrowhead. */
function besideNodes({ pitch }: Graph, [x, y]: readonly number[], w: number): Point {
  const left = Math.floor(x / pitch) * pitch + NODE_W;
  const last = left + pitch - NODE_W - w / 2 - 2;
  return [x < left ? x : Math.max(left + ARROWS / 2 + w / 2, Math.min(last, x)), y];
}

/** The number on an edge in so many characters; of a small array all numbers. */
const shareText = (share: Value, room: number): string =>
  written(share, room, false) ?? sizeOf(share, room, room > 6 ? 3 : 2);

/** What went back over an edge, on it; over two that carried the same, once between them. */
function writeShare(
  drawing: Drawing,
  drawn: DrawnEdges,
  part: Part,
  share: Value | undefined,
  twin: Part | undefined,
): void {
  const { graph, places } = drawing;
  const id = edgeId(part.edge);
  const place = !drawing.plain && places.get(id);
  let at: readonly number[] = place || [];
  const texts = share ? SHARE_ROOMS.map((room) => shareText(share, room)) : [];
  let text = texts.find((one) => wide(one) * LETTER + 2 <= at[2]); // of no place, none
  const both =
    twin &&
    texts
      .map((one) => `${t("both")} ${one}`)
      .find((one) => graph.turned || wide(one) * LETTER + ARROWS <= graph.pitch - NODE_W);
  if (text && both) {
    const isSecond = twin.edge.port < part.edge.port && places.has(edgeId(twin.edge));
    at = placeBetween(graph, part, twin, at);
    text = isSecond ? "" : both;
  }
  if (!text) {
    part.number?.remove();
    part.number = null;
    return;
  }
  const w = wide(text) * LETTER + 4;
  const [x, y] = graph.turned ? at : besideNodes(graph, at, w);
  if (!part.number)
    drawn.el.append(
      (part.number = s(
        "g.mt-share",
        { "data-edge": id },
        s("rect", { height: SHARE_H }),
        s("text", { "text-anchor": "middle" }),
      )),
    );
  const [rect, words] = part.number.children;
  part.box = { x, y, w, h: SHARE_H };
  for (const [el, left, top] of [
    [rect, x - w / 2, y - SHARE_H / 2],
    [words, x, y + 4],
  ] as const) {
    el.setAttribute("x", `${left}`);
    el.setAttribute("y", `${top}`);
  }
  rect.setAttribute("width", `${w}`);
  setText(words, text);
}
