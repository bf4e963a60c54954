// What an edge carries, and what the sweep has sent over it.
import type { Drawing } from "./drawing";
import type { Node } from "./graph";
import { drawnEdge } from "./labels";
import type { Edge } from "./place";
import type { SweepEdge, Value } from "./schema";
import { elide, full, title } from "./value";
import { t } from "./words";

// the last that went over an edge, and whether it was the only one
export type Handed = { last: SweepEdge; alone: boolean };

/** What an edge shows of it: a product, or where several went over one edge their sum. */
export const shownOf = ({ last, alone }: Handed): Value => (alone ? last.product : last.sum);

/** What the sweep has handed on from a row, or out of a folded part. */
export function listSent({ graph, timeline }: Drawing, node: Node): SweepEdge[] {
  if (!node.group) return timeline.sent(node.first);
  return timeline
    .sentFrom(node.group.start, node.group.end)
    .filter((one) => graph.nodeOf(one.input) !== node);
}

/**
 * By its drawn edges what has left a node so far: a product, or where several went over one edge
 * the sum after the last of them.
 */
export function listHanded(
  drawing: Drawing,
  node: Node,
  sent = listSent(drawing, node),
): Map<Edge, Handed> {
  const { graph } = drawing;
  const found = new Map<Edge, Handed>();
  for (const one of sent) {
    const from = graph.nodeOf(one.input);
    const edge = node.row
      ? drawnEdge(graph, node, one, node.row)
      : graph.edges(node.index).find((other) => other.from === from?.index);
    if (edge)
      found.set(edge, {
        last: one,
        alone: node.row !== null || !found.has(edge) || (!!from?.row && from.first !== one.input),
      }); // a row between them is left out: its sum is not that of what is drawn
  }
  return found;
}

const inLine = (value: Value | null, room: number): string =>
  elide(full(value).replace(/\s+/g, " "), room);

/**
 * What an edge carries at the present step: the value, and in a backward step what the sweep has
 * sent along it.
 */
export function describeEdge(drawing: Drawing, node: Node, edge: Edge): string {
  const from = drawing.graph.nodes[edge.from];
  const source = from.row ? title(from.row) : t("rows {0} …", from.first);
  const lines = [`${source} → ${node.row ? title(node.row) : t("a folded part")}`];
  if (from.row?.value && drawing.timeline.done(from.first))
    lines.push(t("carries {0}", inLine(from.row.value, 60)));
  return [...lines, ...describeSent(drawing, node, edge)].join("\n");
}

/** A line for each product that went back over an edge, or one for all out of a folded part. */
function describeSent(drawing: Drawing, node: Node, edge: Edge): string[] {
  const { graph, timeline } = drawing;
  const { row } = node;
  if (!row) {
    const handed = listHanded(drawing, node).get(edge);
    if (!handed) return [];
    return [t(handed.alone ? "back: {0}" : "back: {0} in total", inLine(shownOf(handed), 60))];
  }
  const adjoint = timeline.stepOn(node.first)?.adjoint ?? null;
  return timeline
    .sent(row.row)
    .filter((sent) => drawnEdge(graph, node, sent, row) === edge)
    .map(({ local, product }) => {
      const factors = local && adjoint ? `${inLine(local, 40)} × ${inLine(adjoint, 40)} = ` : "";
      return t("back: {0}", factors + inLine(product, 60));
    });
}
