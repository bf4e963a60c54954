// What a backward step computes, on its edges: local derivative × incoming adjoint = product, and
// below the inputs what was added up.
import type { Box } from "./camera";
import { label, mapOf, onEdge, PRODUCT } from "./cards";
import type { Drawing } from "./drawing";
import { s } from "./dom";
import { listHanded, shownOf, splitByInput, totalOf } from "./edge_words";
import { isFaded } from "./edge_states";
import { NODE_H, NODE_W, PAD, type Node } from "./graph";
import {
  boxAround,
  crosses,
  drawnEdge,
  LETTER,
  placeLabels,
  type Label,
  type Wanted,
} from "./labels";
import { FAR } from "./place";
import { isByConvention } from "./scale";
import type { SweepEdge, SweepStep, Value } from "./schema";
import { edgeCurve, isShort, nodeValue } from "./shapes";
import { meets, SHARE_H } from "./shares";
import type { Timeline } from "./timeline";
import { sizeOf } from "./value";
import { t } from "./words";

const ROOM_OF_ADDEND = 8; // characters of a number in a sum
const MOST_ADDENDS = 3; // that are written
const ARROW = 8; // height of an arrowhead
const BLANK = 4; // pixels above and below the digits of a line that may meet a node, together

/** What was added up at an input: where it is written, by its middle, and its lines. */
type Sum = [Box, string[]];

export interface StepCards {
  cards: Label[];
  sums: Sum[];
}

/** Where the cards and the sums of the present step are; none if it is no backward step. */
export function placeCards(drawing: Drawing, current: Node | null): StepCards {
  const { timeline, graph, plain } = drawing;
  const { step } = timeline;
  if (!step || !current || plain) return { cards: [], sums: [] };
  const products = current.row
    ? listProducts(drawing, current, step)
    : listFolded(drawing, current);
  const isSeen = (from: Node | null): boolean => !!from && !isFaded(drawing, current, from);
  const wanted = products.filter(({ edge }) => isSeen(graph.nodes[edge.from]));
  const edges = step.edges.filter(({ input }) => isSeen(graph.nodeOf(input)));
  const sums = current.row ? placeSums(drawing, edges) : [];
  return {
    cards: placeLabels(
      graph,
      current,
      wanted,
      sums.map(([box]) => box),
    ),
    sums,
  };
}

/** Draws the cards and the sums. */
export function drawCards({ cards, sums }: StepCards): SVGElement[] {
  return [
    ...cards.map(label),
    ...sums.map(([{ x, y, h }, lines]) =>
      s(
        "text.mt-addends",
        { y: y + 12 - h / 2, "text-anchor": "middle" },
        ...lines.map((line, k) => s("tspan", { x, dy: k * SHARE_H }, `${k ? " " : ""}${line}`)),
      ),
    ),
  ];
}

/** The products of a step, each on its own edge; one card serves two edges that carry the same. */
function listProducts(
  { graph, store, timeline }: Drawing,
  current: Node,
  step: SweepStep,
): Wanted[] {
  const own = store.rows[step.row];
  const wanted: Wanted[] = [];
  step.edges.forEach((edge, k) => {
    const drawn = drawnEdge(graph, current, edge, own);
    if (!drawn) return;
    const row = store.rows[edge.input];
    const texts: string[] = [];
    const isWritten =
      !own.shape.length ||
      // of large arrays only the product is seen
      [edge.local, step.adjoint].every((one) => one && isShort(one, PRODUCT));
    if (edge.local && isWritten)
      texts.push(nodeValue(edge.local, own, PRODUCT), `× ${nodeValue(step.adjoint, own, PRODUCT)}`);
    texts.push(onEdge(texts.length ? "= " : "", edge.product, graph));
    if (isByConvention(edge)) texts.push(t("by convention"));
    if (row.shape.length && hadSum(timeline, step.edges, k))
      texts.push(onEdge("Σ ", edge.sum, graph));
    const twin =
      step.edges.length === 2 &&
      wanted.find((one) => one.edge.from === drawn.from && String(one.texts) === String(texts));
    if (twin) {
      twin.texts.unshift(t("both"));
      twin.twin = drawn;
    } else wanted.push({ edge: drawn, texts, map: mapOf(edge.product, row) });
  });
  return wanted;
}

/** Did this input hold an adjoint before this edge added its product? */
function hadSum(timeline: Timeline, edges: SweepEdge[], k: number): boolean {
  return (
    timeline.before(edges[k].input) !== null ||
    edges.slice(0, k).some((edge) => edge.input === edges[k].input)
  );
}

/**
 * What has left a folded part by now, on its edges: for each row that it went to one product, or
 * the sum of several.
 */
function listFolded(drawing: Drawing, node: Node): Wanted[] {
  return [...listHanded(drawing, node)].map(([edge, handed]) => {
    const apart = splitByInput(handed).slice(0, MOST_ADDENDS);
    const plain = apart[1] ? "= " : ""; // each in its own line
    return {
      edge,
      texts: apart.map((one) => onEdge(one.length > 1 ? "Σ " : plain, totalOf(one), drawing.graph)),
      map: mapOf(shownOf(handed), drawing.store.rows[handed[0].input]),
    };
  });
}

/** The addends of a sum in words: the first and the last of many. */
function writeAddends(addends: Value[]): string {
  const texts = addends.map((one) => sizeOf(one, ROOM_OF_ADDEND));
  const written = texts.length > MOST_ADDENDS ? [texts[0], "…", texts.at(-1)!] : texts;
  return written.map((one, k) => (k && one.startsWith("-") ? `(${one})` : one)).join(" + ");
}

/** Beside each input at which products of this step met others: what was added up. */
function placeSums(drawing: Drawing, edges: SweepEdge[]): Sum[] {
  const { graph, store, timeline } = drawing;
  const found: Sum[] = [];
  for (const input of new Set(edges.map((edge) => edge.input))) {
    const [node, row, sum] = [graph.nodeOf(input), store.rows[input], timeline.adjoint(input)];
    const addends = timeline.addends(input);
    if (!node?.row || row.shape.length || !sum || !addends.length) continue;
    const [written, result] = [writeAddends(addends), `= ${sizeOf(sum, ROOM_OF_ADDEND)}`];
    const place = placeSum(drawing, node, written, result, found);
    if (place) found.push(place); // the node says the sum, too
  }
  return found;
}

/**
 * Where a sum is beside its node, in one line or in two: where no node is, then no other sum, then
 * as few edges as possible; null where nothing but another sum has the room.
 */
function placeSum(
  { graph }: Drawing,
  node: Node,
  written: string,
  result: string,
  found: Sum[],
): Sum | null {
  const { turned } = graph;
  // the cards of this step are below the node of a turned graph, and their edges end there
  const [before, arrows] = turned ? [graph.edges(node.index).length && ARROW, ARROW] : [0, 0];
  const first = graph.left - 8;
  const around = [-1, 0, 1].flatMap((k) => graph.byColumn[node.column + k] ?? []);
  const curves = graph.byColumn
    .slice(node.column, node.column + FAR + 1)
    .flatMap((column) => column.flatMap(({ index }) => graph.edges(index)))
    .flatMap((edge) => (edge.far ? [] : [edgeCurve(graph, edge)]));
  const rank = (box: Box): number =>
    (box.y - box.h / 2 < graph.top - PAD ? 10 : 0) + // out of the pane
    (around.some((one) => one !== node && meets({ ...box, h: box.h - BLANK }, boxAround(one)))
      ? 100
      : 0) +
    (found.some(([other]) => meets(other, box)) ? 50 : 0) +
    curves.filter((curve) => crosses(curve, box, 1)).length;
  let [best, least]: [Sum | null, number] = [null, 50];
  for (const lines of [[`${written} ${result}`], [written, result], [written]]) {
    const w = Math.max(...lines.map((line) => line.length)) * LETTER + 6;
    const h = SHARE_H * lines.length;
    const x = node.x + (turned ? NODE_W / 2 : Math.min(NODE_W / 2, NODE_W - w / 2));
    const [above, below] = [-2.5 - before - h / 2, NODE_H + 1.5 + arrows + h / 2];
    // where both are taken, the sum may be so near that it touches its own node
    const aways = turned ? [above, below] : [below, above];
    const places = [...aways, below - 2].map((away) => ({
      x: Math.max(first + w / 2, x),
      y: node.y + away,
      w,
      h,
    }));
    for (const box of places) {
      // a long sum leaves the cards their place; without its result it has less to tell
      const cost = rank(box) + (box.x > x ? 1 : 0) + (lines[0] === written && !lines[1] ? 5 : 0);
      if (cost < least) [best, least] = [[box, lines], cost];
    }
  }
  return best;
}
