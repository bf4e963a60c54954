// The edges of the live drawing: lines, references in place of long lines, and breaks.
import { drawBreaks, drawCross } from "./breaks";
import type { Box } from "./camera";
import type { Drawing } from "./drawing";
import { on, s } from "./dom";
import { describeEdge } from "./edge_words";
import type { Node } from "./graph";
import { edgeId } from "./labels";
import type { Edge } from "./place";
import { edgePath, entersRight, entry, farChips } from "./shapes";

export interface DrawnEdges {
  el: SVGGElement;
  // each edge or reference; its line has the width and the arrow
  parts: {
    el: SVGElement;
    edge: Edge;
    from: Node;
    line: SVGElement;
    number: SVGElement | null; // what the sweep sent over it, and where that is
    box?: Box;
  }[];
  key: string;
}

/** Draws the edges that end in a node, with what tells of them. */
export function drawEdges(drawing: Drawing, node: Node): DrawnEdges {
  const { graph, events } = drawing;
  const el = s("g", { "aria-hidden": "true" });
  const edges = graph.edges(node.index);
  const parts: DrawnEdges["parts"] = [];
  for (const edge of edges) {
    if (edge.far) continue;
    const from = graph.nodes[edge.from];
    const line = s("path.mt-edge", {
      d: edgePath(graph, edge),
      "data-from": edge.from,
      "data-edge": edgeId(edge),
    });
    const hit = s("path.mt-hit", { d: edgePath(graph, edge, 1) });
    on(hit, "pointerenter", (event) => events.tell(describeEdge(drawing, node, edge), event));
    on(hit, "pointerleave", () => events.tell("", null));
    el.append(line, hit);
    parts.push({ el: line, edge, from, line, number: null });
  }
  if (!drawing.plain)
    for (const chip of farChips(graph, edges)) {
      const drawn = drawChip(drawing, node, chip);
      el.append(drawn);
      parts.push({
        el: drawn,
        edge: chip.edge,
        from: graph.nodes[chip.edge.from],
        line: drawn.querySelector(".mt-edge") as SVGElement,
        number: null,
      });
    }
  const tears = drawing.plain ? [] : drawBreaks(drawing, node, edges);
  if (tears.length) el.append(...tears);
  else if (node.row?.cut && edges.length) el.append(drawCross(...entry(graph, node, edges[0], 12)));
  return { el, parts, key: "" };
}

/** A reference to a node that is far away, in place of a long edge. */
function drawChip(
  { graph, events }: Drawing,
  node: Node,
  chip: ReturnType<typeof farChips>[number],
): SVGGElement {
  const from = graph.nodes[chip.edge.from];
  const el = s("g.mt-chip", {
    "data-from": chip.edge.from,
    "data-edge": edgeId(chip.edge),
  });
  el.append(
    s("path.mt-edge", {
      d: entersRight(graph, node)
        ? `M${chip.x} ${chip.y}h-12m5 -3.5l-5 3.5l5 3.5`
        : `M${chip.x + chip.w} ${chip.y}h12m-5 -3.5l5 3.5l-5 3.5`,
    }),
    s("rect", { x: chip.x, y: chip.y - 9, width: chip.w, height: 18, rx: 9 }),
    s("text", { x: chip.x + chip.w / 2, y: chip.y + 4, "text-anchor": "middle" }, chip.text),
  );
  on(el, "click", () => events.pick(from));
  on(el, "pointerenter", () => events.hover(from));
  on(el, "pointerleave", () => events.hover(null));
  return el;
}
