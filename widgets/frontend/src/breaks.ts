// Where no gradient passes: assignments to variables, cut edges, and values that left the
// framework.
import type { Drawing } from "./drawing";
import { s } from "./dom";
import { NODE_H, NODE_W, type Graph, type Link, type Node } from "./graph";
import { besidePoint, linkWay } from "./links";
import type { Edge } from "./place";
import type { PathBreak } from "./schema";
import { edgeCurve, type Point } from "./shapes";
import { t } from "./words";

const SCISSORS =
  // from its top left corner
  "m5.2 5.4a2.2 2.2 0 10-4.4 0 2.2 2.2 0 004.4 0zm0 5.2a2.2 2.2 0 10-4.4 0 2.2 2.2 0 004.4 0zm-.5-4l10 5.4m-10-2.6l10-5.4";

/**
 * A dashed curve to a state of a variable: crossed where it comes from what was assigned. Torn
 * where a value left the framework.
 */
export function drawLink(graph: Graph, link: Link): SVGElement {
  const { d, cross, points } = linkWay(graph, link);
  if (link.torn) return drawTear(graph, link.torn, d, points);
  const words = t(
    link.value
      ? "assigned to {0}: the gradient does not flow back through an assignment"
      : "the next state of {0}",
    link.name,
  );
  return s(
    "g",
    { class: link.value ? "mt-assigned" : "" },
    s("path.mt-assign", { d }),
    link.value ? drawCross(...cross) : null,
    s("title", {}, words),
  );
}

/** Where an arrow is torn: scissors, and what did it. */
function drawTear(graph: Graph, torn: PathBreak, d: string, points: Point[]): SVGElement {
  const place = t("line {0}", torn.line);
  const words = t(
    torn.kind === "left"
      ? "the value left the tape here and came back as a plain number, so no gradient flows back ({0}, {1})"
      : "no gradient passes: {0}, {1}",
    torn.text,
    place,
  );
  const {
    at: [x, y],
    texts,
    anchor,
  } = besidePoint(graph, points, [torn.text, place]);
  const said = texts.map(({ text, ...at }) => s("text", { ...at, "text-anchor": anchor }, text));
  return s(
    "g.mt-torn",
    { "data-torn": `${torn.from}>${torn.to}` },
    d && s("path.mt-assign", { d }),
    s("circle", { cx: x, cy: y, r: 11 }),
    s("path", { d: `M${x - 8} ${y - 8}${SCISSORS}` }),
    ...said,
    s("title", {}, words),
  );
}

/** The torn edges into a node, and what a value left without coming back. */
export function drawBreaks({ graph, store }: Drawing, node: Node, edges: Edge[]): SVGElement[] {
  return store.torn.flatMap((torn) => {
    if (torn.kind === "left")
      return torn.to < 0 && graph.nodeOf(torn.from) === node && node.row
        ? [
            drawTear(graph, torn, `M${node.x + NODE_W} ${node.y + NODE_H / 2}h24`, [
              [node.x + NODE_W + 36, node.y + NODE_H / 2],
            ]),
          ]
        : [];
    const edge =
      graph.nodeOf(torn.to) === node &&
      node.row &&
      edges.find((one) => !one.far && graph.nodes[one.from] === graph.nodeOf(torn.from));
    const curve = edge && torn.kind === "cut" ? edgeCurve(graph, edge) : null;
    return curve ? [drawTear(graph, torn, "", [curve[curve.length >> 1]])] : [];
  });
}

/** Marks a place that no gradient passes. */
export function drawCross(x: number, y: number): SVGPathElement {
  return s("path.mt-cross", { d: `M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9` });
}
