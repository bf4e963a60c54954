// What an edge carries, and what the sweep has sent over it.
import type { Drawing } from "./drawing";
import type { Node } from "./graph";
import { drawnEdge } from "./labels";
import type { Edge } from "./place";
import { magnitude, notFinite } from "./scale";
import type { Nested, SweepEdge, Value } from "./schema";
import { decimal, elide, full, title, toNumber, written } from "./value";
import { t } from "./words";

const ROOM = 60; // characters of a value in words

/** What went over one edge, in the order of the steps. A folded part may have several such rows. */
type Handed = SweepEdge[];

/** What went over an edge, apart for each row that it went to. */
export const splitByInput = (handed: Handed): Handed[] =>
  [...new Set(handed.map((one) => one.input))].map((input) =>
    handed.filter((one) => one.input === input),
  );

/** What an edge shows: what went to its row; of several rows dots, as wide as the largest. */
export function shownOf(handed: Handed): Value {
  const values = splitByInput(handed).map(totalOf);
  return values[1] ? { text: "…", data: Math.max(...values.map(magnitude)) } : values[0];
}

/** What went to one row: a product, or of several their own sum, whatever else the row adds up. */
export function totalOf(handed: Handed): Value {
  const [first, last] = [handed[0], handed.at(-1)!];
  if (handed.length < 2) return last.product;
  const products = handed.map((one) => one.product);
  const isAlone = full(first.sum) === full(first.product); // nothing else had arrived before
  return isAlone ? last.sum : (products.find(notFinite) ?? addUp(products));
}

/** The sum of several products; of large arrays no more than what is drawn. */
function addUp(products: Value[]): Value {
  const part = products[0].thumb ? "thumb" : "data";
  const data = products.map((one) => (one[part] ?? NaN) as Nested).reduce(add);
  const text = Array.isArray(data)
    ? written({ text: ".", data }, ROOM)
    : !Number.isNaN(data) && decimal(data as number);
  return { text: text || "…", [part]: data };
}

const add = (a: Nested, b: Nested): Nested =>
  Array.isArray(a) ? a.map((one, k) => add(one, (b as Nested[])[k])) : toNumber(a) + toNumber(b);

/** What the sweep has handed on from a row, or out of a folded part. */
export function listSent({ graph, timeline }: Drawing, node: Node): SweepEdge[] {
  if (!node.group) return timeline.sent(node.first);
  return timeline
    .sentFrom(node.group.start, node.group.end)
    .filter((one) => graph.nodeOf(one.input) !== node);
}

/** By its drawn edges what has left a node so far. */
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
    if (!edge) continue;
    const handed = found.get(edge);
    if (handed && (!node.row || from?.group)) handed.push(one);
    else found.set(edge, [one]);
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
    lines.push(t("carries {0}", inLine(from.row.value, ROOM)));
  return [...lines, ...describeSent(drawing, node, edge)].join("\n");
}

/** A line for each product that went back over an edge, or one for all out of a folded part. */
function describeSent(drawing: Drawing, node: Node, edge: Edge): string[] {
  const { graph, timeline } = drawing;
  const { row } = node;
  if (!row) {
    return splitByInput(listHanded(drawing, node).get(edge) ?? []).map((handed) =>
      t(handed.length > 1 ? "back: {0} in total" : "back: {0}", inLine(totalOf(handed), ROOM)),
    );
  }
  const adjoint = timeline.stepOn(node.first)?.adjoint ?? null;
  return timeline
    .sent(row.row)
    .filter((sent) => drawnEdge(graph, node, sent, row) === edge)
    .map(({ local, product }) => {
      const factors = local && adjoint ? `${inLine(local, 40)} × ${inLine(adjoint, 40)} = ` : "";
      return t("back: {0}", factors + inLine(product, ROOM));
    });
}
