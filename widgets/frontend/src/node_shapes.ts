// The nodes of the live drawing: their boxes and the texts that are the same at every step.
import type { Drawing } from "./drawing";
import { on, s, setText } from "./dom";
import type { Box as Rectangle } from "./camera";
import { BARE_H, isBare, NODE_H, NODE_W, type Graph, type Node } from "./graph";
import { heat } from "./scale";
import type { Value } from "./schema";
import { entersRight, heldText, nodeText, opens, PILE } from "./shapes";
import { describe } from "./value";
import { t } from "./words";

export const CHAR = 7.25; // the width of a letter in a node
const BARE_W = 78; // of a number, which has its row's number beside it

export interface DrawnNode {
  el: SVGGElement;
  value: SVGTextElement | null;
  adjoint: SVGTextElement | null;
  /** writes at which turn of a loop the reader is; 0 for how many there are */
  writeTurn(turn: number): void;
  maps: SVGGElement; // pictures of the arrays
  mapped: [Value | null, Value | null]; // of which
  title: SVGTitleElement | null; // what the browser shows where the pointer rests: all digits
  key: string;
  profile: string; // what the profile of a loop was drawn from
}

/** Draws a node, without what depends on the step. */
export function drawNode(drawing: Drawing, node: Node): DrawnNode {
  const { store, timeline, plain } = drawing;
  const text = nodeText(store, node);
  const held = heldText(store, drawing.graph, node);
  const label = nameOf(node, text.title + (held && ` (${held})`));
  const el = s("g", {
    class: "",
    transform: `translate(${node.x} ${node.y})`,
    "data-id": node.id,
    "data-index": node.index,
    role: "listitem",
    "aria-label": label,
  });
  const drawn: DrawnNode = {
    el,
    value: null,
    adjoint: null,
    writeTurn() {},
    maps: s("g"),
    mapped: [null, null],
    title: null,
    key: "",
    profile: "",
  };
  const box = boxOf(drawing.graph, node);
  el.append(...drawBoxes(text.kind, box, opens(node)));
  if (plain)
    el.style.setProperty("--c", heat(timeline.last(node.group ? node.group.end - 1 : node.first)));
  else {
    drawTexts(drawing, node, drawn, box, held);
    el.append((drawn.title = s("title", {}, label)));
  }
  listen(drawing, node, el);
  return drawn;
}

/** What a node is called, for those who hear it. */
function nameOf({ row, first, group }: Node, name: string): string {
  if (row) return describe(row);
  return t(
    "folded group {0}, rows {1} to {2}, press Enter to unfold",
    name,
    first,
    (group?.end ?? 0) - 1,
  );
}

/** Where the box of a node is, from the node's corner: that of a bare number is small. */
function boxOf(graph: Graph, node: Node): Rectangle {
  if (!isBare(node.row)) return { x: 0, y: 0, w: NODE_W, h: NODE_H };
  const [w, h] = [BARE_W + CHAR * `${node.first}`.length, BARE_H];
  if (graph.turned) return { x: (NODE_W - w) / 2, y: NODE_H - h, w, h };
  // where its edges begin
  return { x: entersRight(graph, node) ? 0 : NODE_W - w, y: (NODE_H - h) / 2, w, h };
}

const RADIUS: Record<string, number> = { source: NODE_H / 2, operation: 9, group: 6 };

/** The outlines of a node: what opens is a pile of cards, a variable has two borders. */
function drawBoxes(kind: string, { x, y, w, h }: Rectangle, isPile: boolean): SVGElement[] {
  const outline = (name: string, x: number, y: number, w: number, h: number, rx: number) =>
    s("rect", { class: `mt-${name}`, x, y, width: w, height: h, rx });
  const piled = isPile ? [PILE, PILE / 2] : [];
  return [
    ...piled.map((by) => outline("card", by, -by, NODE_W, NODE_H, RADIUS[kind])),
    outline("box", x, y, w, h, RADIUS[kind] ?? 3),
    ...(kind === "variable" ? [outline("inner", 3, 3, NODE_W - 6, NODE_H - 6, 1.5)] : []),
  ];
}

/** The title and the number of a node, the variables it holds, and room for its numbers. */
function drawTexts(
  { graph, store }: Drawing,
  node: Node,
  drawn: DrawnNode,
  box: Rectangle,
  variables: string,
): void {
  const { title, op, width, unnamed, long, kind, turnText } = nodeText(store, node);
  const write = (name: string, x: number, y: number, text = "", anchor?: string) =>
    s("text", { class: `mt-${name}`, x, y, ...(anchor && { "text-anchor": anchor }) }, text);
  const bare = isBare(node.row);
  const [pad, end] = kind === "source" ? [16, 16] : [10, 8];
  const { el, maps } = drawn;
  const texts = bare
    ? []
    : [write(`title${unnamed ? " mt-unnamed" : ""}${long ? " mt-long" : ""}`, pad, 20.5, title)];
  if (op) texts.push(write("op", pad + width + 6, 20, op));
  el.append(...texts);
  if (node.group)
    drawn.writeTurn = (turn) =>
      setText(texts[texts.length - 1], turn ? turnText(turn) : op || title);
  const number = node.row ? `${node.first}` : "";
  el.append(write("number", box.x + box.w - end, box.y + 20, number, "end"));
  const dashes = sayDashes(store, node);
  const held = dashes || variables;
  // the small node of a number is close below, and edges enter a turned graph's nodes from above
  const y = dashes && !graph.turned ? box.y - 4 : box.y + box.h + 10;
  if (held) el.append(write("held", box.x + box.w / 2, y, held, "middle"));
  drawn.value = write("value", box.x + pad, bare ? box.y + 20 : 38);
  drawn.adjoint = write("adjoint", pad, 54);
  el.append(drawn.value, drawn.adjoint, maps);
}

/** What the dashes around a node mean; "" for nothing. */
function sayDashes({ differs }: Drawing["store"], { row, first }: Node): string {
  if (!row) return "";
  if (differs?.alone?.includes(first)) return t("only on this tape");
  if (differs?.rows?.includes(first)) return t("other value");
  return row.status === "ghost" ? t("not recorded") : "";
}

function listen({ events }: Drawing, node: Node, el: SVGGElement): void {
  on(el, "click", (event) =>
    event.detail > 1 && node.group ? events.open(node) : events.pick(node),
  ); // what was clicked first may be drawn anew
  if (node.row)
    on(el, "pointerdown", (event) => event.button === 0 && events.grab(node.first, event));
  on(el, "dblclick", () => events.open(node));
  on(el, "pointerenter", () => events.hover(node));
  on(el, "pointerleave", () => events.hover(null));
}
