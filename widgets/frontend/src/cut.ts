// The cut: a line through the graph. On each edge that it crosses, how much it changes per small
// nudge of the source, times what the sweep sends back; the sum is the gradient, wherever the line
// is. So one may as well go backwards.
import type { Box } from "./camera";
import { follow, h, on, s } from "./dom";
import { NODE_H, NODE_W, type Graph } from "./graph";
import { drawnEdge, LETTER } from "./labels";
import type { Edge } from "./place";
import { edgeCurve, type Point } from "./shapes";
import type { Store } from "./store";
import { crossings, nudged, nameOthers } from "./tangents";
import { cutWords, decimal, markOf } from "./value";
import { t } from "./words";

// pixels that the line is longer than what it cuts, from one mark to the next, and of a mark
const [BEYOND, APART, RADIUS] = [26, 19, 8];
const ASIDE = [0, -10, 10, -20, 20]; // of the middle between two columns
const DIGITS = [4, 3]; // of a factor beside a mark
const STACKED = 44; // pixels from mark to mark where one factor is above it and one below
const MOST = 60; // columns in which it is looked for the place where it begins

type Ways = NonNullable<ReturnType<typeof crossings>>;

/** What goes over one edge: the sum over the rows that it stands for, and the factors of one. */
interface Card {
  edge: Edge;
  factors: [number, number] | null;
  product: number;
}

const inBrackets = (number: number): string =>
  number < 0 ? `(${decimal(number)})` : decimal(number);

export class Cut {
  on = false;
  readonly el = s("g.mt-thecut", {});
  /** what goes over the edges that it crosses, each with the number of its mark, and the sum */
  readonly note = h("div.mt-cutnote", { role: "status", hidden: true });
  /** where the line is */
  place: Box | null = null;
  private at = -1; // the cut is behind this column
  private isMoved = false; // by the reader: else each graph has its own beginning
  private graph: Graph | null = null;

  /** `selected` says which row is; `say` says something above the graph. */
  constructor(
    private store: Store,
    private selected: () => number,
    private say: (text: string) => void,
  ) {
    on(this.el as unknown as Element, "pointerdown", (event) => this.grab(event));
  }

  toggle(): void {
    this.on = !this.on;
    this.at = -1;
    this.isMoved = false;
    this.say("");
  }

  /** Moves it by so many columns. */
  move(by: number): void {
    if (!this.graph || !this.on) return;
    this.isMoved = true;
    this.at = Math.max(0, Math.min(this.graph.columns - 2, this.at + by));
    this.draw(this.graph);
  }

  draw(graph: Graph | null): void {
    const isOther = graph !== this.graph;
    this.graph = graph;
    if (!this.on && this.note.hidden && !this.el.firstChild) return;
    this.el.replaceChildren();
    const isNew = this.note.hidden; // the reader has just asked for it
    this.note.hidden = true;
    this.place = null;
    if (!this.on || !graph) return;
    const source = nudged(this.store, this.selected());
    const ways = crossings(this.store, source);
    if (!ways) return this.say(this.refuse(source));
    const target = (this.store.sweep as NonNullable<Store["sweep"]>).target[0];
    this.choosePlace(graph, ways, [source, target], isOther && !this.isMoved);
    const cards = this.cards(graph, ways);
    const sum = cards.reduce((all, { product }) => all + product, 0);
    const name = (row: number): string => markOf(this.store.rows[row]);
    const placed = this.paint(graph, cards);
    this.note.hidden = false;
    this.note.replaceChildren(
      h(
        "span.mt-cutkey",
        {},
        h("span.mt-tangent", {}, t("change per small nudge of {0}", name(source))),
        " × ",
        h("span.mt-incoming", {}, t("what comes back from {0}", name(target))),
      ),
      ...placed.flatMap((card, k) => [" ", describeCard(card, k)]),
      " ",
      h("b.mt-cutsum", {}, `Σ = ${decimal(Math.fround(sum))} = ∂${name(target)}/∂${name(source)}`),
      " ",
      nameOthers(this.store, source),
    );
    if (isNew && this.note.parentElement?.matches(":hover, :focus-within"))
      this.note.scrollIntoView({ block: "nearest" });
  }

  /** Puts it between these two rows: where it was, or `isNew` where it begins in this graph. */
  private choosePlace(graph: Graph, ways: Ways, ends: [number, number], isNew: boolean): void {
    const [source, target] = ends.map((row) => graph.nodeOf(row)?.column);
    const [first, last] = [source ?? 0, (target ?? 1) - 1];
    if (this.at < 0 || isNew) this.at = this.findOpening(graph, ways, first, last);
    this.at = Math.max(first, Math.min(last, this.at));
  }

  /** Why there is no cut: no gradient arrives, or not all is single numbers. */
  private refuse(source: number): string {
    const { sweep, rows } = this.store;
    const arrives = sweep?.steps.some(({ edges }) => edges.some(({ input }) => input === source));
    const cut = arrives ? null : rows.find((row) => row.cut)?.cut;
    return cut
      ? t("no gradient passes: {0}", cutWords(cut))
      : t("The cut is shown only if the source and all values along its paths are single numbers.");
  }

  /**
   * Behind which column it begins: at a break, else where it crosses several, near the middle; not
   * where a line ends, as it would lie along the edges that run to the next line.
   */
  private findOpening(graph: Graph, ways: Ways, first: number, last: number): number {
    const torn = graph.nodes.find(
      ({ row, column }) => row?.cut && column > first && column <= last + 1,
    );
    const middle = (first + last) >> 1;
    if (torn) return torn.column - 1;
    const places = Array.from({ length: Math.min(MOST, last - first) + 1 }, (_, away) => [
      middle - away,
      middle + away,
    ])
      .flat()
      .filter((k) => k >= first && k <= last && (graph.turned || (k + 1) % graph.per));
    return places.find((k) => this.cards(graph, ways, k).length > 1) ?? places[0] ?? middle;
  }

  /** By drawn edge what goes over it. */
  private cards(graph: Graph, ways: Ways, at = this.at): Card[] {
    const found = new Map<Edge, Card>();
    for (const { from, to, port, tangent, share } of ways) {
      const [start, end] = [graph.nodeOf(from), graph.nodeOf(to)];
      if (!start || !end || start === end || start.column > at || end.column <= at) continue;
      const edge = end.row
        ? drawnEdge(graph, end, { input: from, port }, end.row)
        : (graph.edges(end.index).find((one) => one.from === start.index) ?? null);
      if (!edge) continue;
      const known = found.get(edge);
      if (known) [known.factors, known.product] = [null, known.product + tangent * share];
      else
        found.set(edge, {
          edge,
          factors: [tangent, share],
          product: tangent * share,
        });
    }
    return [...found.values()];
  }

  /** Draws the line, and a mark where each edge meets it; returns the cards in their order. */
  private paint(graph: Graph, cards: Card[]): Card[] {
    const { turned, per, pitch } = graph;
    const line = turned ? this.at : per === Infinity ? 0 : Math.floor(this.at / per);
    const [low, high] = graph.reach[line] ?? [0, NODE_H];
    const middle = (per === Infinity ? this.at : this.at % per) * pitch + (pitch + NODE_W) / 2;
    // behind the last column of a line there is less room
    const usual = turned ? high + 30 : Math.min(middle, graph.right - 4);
    const axis = turned ? 0 : 1; // along the line
    const curves = cards.map((card) => ({
      card,
      curve: edgeCurve(graph, card.edge).filter(
        ([, y]) => turned || (y >= low - 60 && y <= high + 60),
      ),
    }));
    const meetings = (at: number): { card: Card; at: Point }[] =>
      curves
        .map(({ card, curve }) => ({ card, at: meeting(curve, at, 1 - axis, (low + high) / 2) }))
        .sort((a, b) => a.at[axis] - b.at[axis]);
    // beside the middle of a gap the marks may have room on their edges
    const crowd = (at: number): number =>
      meetings(at).reduce(
        (sum, one, k, all) =>
          sum + (k ? Math.max(0, APART - one.at[axis] + all[k - 1].at[axis]) : 0),
        Math.abs(at - usual) / 100,
      );
    const across = ASIDE.map((by) => usual + by).reduce((best, at) =>
      crowd(at) < crowd(best) ? at : best,
    );
    const placed = meetings(across);
    let last = -Infinity;
    const apart = placed.map(({ at }, k) => (placed[k + 1]?.at[axis] ?? Infinity) - at[axis]);
    const marks = placed.map(({ card, at }, k) => {
      last = Math.max(at[axis], last + APART); // beside the mark before
      const [x, y] = turned ? [last, across] : [across, last];
      const free = Math.min(apart[k], apart[k - 1] ?? Infinity); // to the next mark
      const beside = (pitch - NODE_W) / 2 - Math.abs(across - middle) - RADIUS - 3;
      const factors = turned ? [] : writeFactors(card, x, y, false, beside);
      const room = turned ? free : free > STACKED ? pitch - NODE_W : 0;
      return s(
        "g.mt-crossmark",
        {},
        s("path", { d: `M${at[0]} ${at[1]}L${x} ${y}` }),
        s("circle", { cx: x, cy: y, r: RADIUS }),
        s("text", { x, y: y + 4, "text-anchor": "middle" }, String(k + 1)),
        ...(factors.length ? factors : writeFactors(card, x, y, true, room)),
      );
    });
    const [left, right, top, bottom] = turned
      ? [graph.left, Math.max(graph.right, last + RADIUS), across, across]
      : [across, across, low - BEYOND, Math.max(high, last + RADIUS) + BEYOND];
    const d = `M${left} ${top}L${right} ${bottom}`;
    // all nodes of this line are to be in view, but not what the line has beyond them
    const room = turned ? 0 : BEYOND + 30;
    this.place = {
      x: left,
      y: top + room,
      w: right - left,
      h: Math.max(0, bottom - top - 2 * room),
    };
    this.el.append(s("path.mt-cutline", { d }), ...marks, s("path.mt-cuthit", { d }));
    return placed.map(({ card }) => card);
  }

  /** The line follows the pointer from one gap between columns to the next. */
  private grab(event: PointerEvent): void {
    const graph = this.graph;
    const svg = this.el.ownerSVGElement;
    if (!graph || !svg || !this.on) return;
    event.stopPropagation();
    const move = (next: PointerEvent): void => {
      const matrix = (this.el as SVGGElement).getScreenCTM()?.inverse();
      if (!matrix) return;
      const { x, y } = new DOMPoint(next.clientX, next.clientY).matrixTransform(matrix);
      const column = (k: number): number =>
        graph.turned
          ? (graph.reach[k]?.[1] ?? 0) + 30
          : (graph.per === Infinity ? k : k % graph.per) * graph.pitch + (graph.pitch + NODE_W) / 2;
      const away = (k: number): number =>
        Math.abs(column(k) - (graph.turned ? y : x)) +
        (graph.turned || graph.per === Infinity
          ? 0
          : 1e4 *
            Number(
              y < graph.reach[Math.floor(k / graph.per)][0] - 30 ||
                y > graph.reach[Math.floor(k / graph.per)][1] + 30,
            ));
      let best = 0;
      for (let k = 1; k < graph.columns - 1; k++) if (away(k) < away(best)) best = k;
      if (best === this.at) return;
      this.isMoved = true;
      this.at = best;
      this.draw(graph);
    };
    follow(svg, event, move);
  }
}

/** Where a curve meets the line at this place across it; `along` where it does not. */
function meeting(curve: Point[], across: number, axis: number, along: number): Point {
  const k = curve.findIndex(
    (point, i) => i && (point[axis] - across) * (curve[i - 1][axis] - across) <= 0,
  );
  const [from, to] = [curve[k - 1], curve[k]];
  if (!from) return axis ? [along, across] : [across, along];
  const share = (across - from[axis]) / (to[axis] - from[axis] || 1);
  return [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
}

/**
 * The factors of what goes over an edge, before its mark and behind it or `stacked` above it and
 * below it: with as many digits as they both have room for, if any.
 */
function writeFactors(
  { factors }: Card,
  x: number,
  y: number,
  stacked: boolean,
  room: number,
): SVGElement[] {
  const texts = factors?.map((factor) =>
    DIGITS.map((digits) => decimal(Number(factor.toPrecision(digits)))).find(
      (text) => text.length * LETTER < room,
    ),
  );
  if (!texts?.every(Boolean)) return [];
  return texts.map((text, k) =>
    s(
      "text",
      {
        class: k ? "mt-incoming" : "mt-tangent",
        x: stacked ? x : x + (k ? 1 : -1) * (RADIUS + 3),
        y: stacked ? y + (k ? 20 : -12) : y - 4,
        "text-anchor": stacked ? "middle" : k ? "start" : "end",
      },
      text as string,
    ),
  );
}

/** The two factors of what goes over an edge, and their product, behind the number of its mark. */
function describeCard({ factors, product }: Card, k: number): HTMLElement {
  return h(
    "span.mt-crossing",
    { "data-product": product },
    h("i", {}, String(k + 1)),
    " ",
    ...(factors
      ? [
          h("span.mt-tangent", {}, decimal(factors[0])),
          " × ",
          h("span.mt-incoming", {}, inBrackets(factors[1])),
          " = ",
        ]
      : []),
    h("b", {}, decimal(product)),
  );
}
