// The cut: a line through the graph. On each edge that it crosses, what a nudge of the source has
// become there, times what the sweep sends back; the sum is the gradient, wherever the line is. So
// one may as well go backwards.
import { follow, h, on, s } from "./dom";
import { NODE_H, NODE_W, PAD, type Graph } from "./graph";
import { drawnEdge, LETTER } from "./labels";
import type { Edge } from "./place";
import { edgeCurve, type Point } from "./shapes";
import type { Store } from "./store";
import { crossings, nudged } from "./tangents";
import { rounded, title } from "./value";
import { t } from "./words";

const [HIGH, APART] = [34, 38]; // of a card, and from one to the next
// pixels that the line is longer than what it cuts, that a card needs, and of a line
const [BEYOND, ROOM, LINE] = [26, 112, 14];

/**
 * What is drawn at one edge: the sum over the rows that it stands for, and the factors where it is
 * one.
 */
interface Card {
  edge: Edge;
  factors: string;
  product: number;
}

const written = (number: number): string =>
  rounded(Number.isInteger(number) ? number.toFixed(1) : String(number));
const inBrackets = (number: number): string =>
  number < 0 ? `(${written(number)})` : written(number);

export class Cut {
  on = false;
  readonly el = s("g", { class: "mt-thecut" });
  /** the sum, where there is no room for it above the line */
  readonly note = h("div", { class: "mt-cutnote", role: "status", hidden: true });
  private at = -1; // the cut is behind this column
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
    this.say("");
  }

  /** Moves it by so many columns. */
  move(by: number): void {
    if (!this.graph || !this.on) return;
    this.at = Math.max(0, Math.min(this.graph.columns - 2, this.at + by));
    this.draw(this.graph);
  }

  draw(graph: Graph | null): void {
    this.graph = graph;
    if (!this.on && this.note.hidden && !this.el.firstChild) return;
    this.el.replaceChildren();
    this.note.hidden = true;
    if (!this.on || !graph) return;
    const source = nudged(this.store, this.selected());
    const ways = crossings(this.store, source);
    if (!ways)
      return this.say(
        t("The cut is shown only if the source and all values along its paths are single numbers."),
      );
    const target = (this.store.sweep as NonNullable<Store["sweep"]>).target[0];
    const [first, last] = [
      graph.nodeOf(source)?.column ?? 0,
      (graph.nodeOf(target)?.column ?? 1) - 1,
    ];
    if (this.at < 0) this.at = (first + last) >> 1;
    this.at = Math.max(first, Math.min(last, this.at));
    const cards = this.cards(graph, ways);
    const sum = cards.reduce((all, { product }) => all + product, 0);
    const name = (row: number): string => title(this.store.rows[row]).split(" · ")[0];
    this.paint(
      graph,
      cards,
      `Σ = ${written(Math.fround(sum))} = ∂${name(target)}/∂${name(source)}`,
    );
  }

  /** By drawn edge what goes over it. */
  private cards(graph: Graph, ways: NonNullable<ReturnType<typeof crossings>>): Card[] {
    const found = new Map<Edge, Card>();
    for (const { from, to, port, tangent, share } of ways) {
      const [start, end] = [graph.nodeOf(from), graph.nodeOf(to)];
      if (!start || !end || start === end || start.column > this.at || end.column <= this.at)
        continue;
      const edge = end.row
        ? drawnEdge(graph, end, { input: from, port }, end.row)
        : (graph.edges(end.index).find((one) => one.from === start.index) ?? null);
      if (!edge) continue;
      const known = found.get(edge);
      if (known) [known.factors, known.product] = ["", known.product + tangent * share];
      else
        found.set(edge, {
          edge,
          factors: `${written(tangent)} × ${inBrackets(share)}`,
          product: tangent * share,
        });
    }
    return [...found.values()];
  }

  /** The line, a card where each edge meets it, and the sum. */
  private paint(graph: Graph, cards: Card[], sum: string): void {
    const { turned, per, pitch } = graph;
    const line = turned ? this.at : per === Infinity ? 0 : Math.floor(this.at / per);
    const [low, high] = graph.reach[line] ?? [0, NODE_H];
    const middle = (per === Infinity ? this.at : this.at % per) * pitch + (pitch + NODE_W) / 2;
    // behind the last column of a line there is less room
    const across = turned ? high + 30 : Math.min(middle, graph.right - 4);
    const meets = (edge: Edge): Point => {
      const own = edgeCurve(graph, edge).filter(
        ([, y]) => turned || (y >= low - 60 && y <= high + 60),
      );
      const away = ([x, y]: Point): number => Math.abs((turned ? y : x) - across);
      return own.reduce(
        (best, point) => (away(point) < away(best) ? point : best),
        own[0] ?? [across, (low + high) / 2],
      );
    };
    const placed = cards
      .map((card) => ({ ...card, at: meets(card.edge) }))
      .sort((a, b) => (turned ? a.at[0] - b.at[0] : a.at[1] - b.at[1]));
    // the second factor is below the first where nodes are near
    const below = !turned && pitch - NODE_W < ROOM ? LINE : 0;
    const widths = placed.map(
      ({ factors, product }) =>
        Math.max(
          ...(below ? factors.split("× ") : [factors]).map((one) => one.length),
          `= ${written(product)}`.length,
        ) *
          LETTER +
        10,
    );
    const end = Math.max(
      graph.right,
      (graph.left + graph.right + widths.reduce((sum, one) => sum + one + 4, 0)) / 2,
    );
    let edge = turned ? graph.left - 4 : -Infinity;
    const labels = placed.map(({ factors, product, at }, k) => {
      const [one, two, w] = [factors, `= ${written(product)}`, widths[k]];
      // in a turned graph, those that come
      const behind = widths.slice(k).reduce((sum, one) => sum + one + 4, -w / 2);
      const along = Math.max(
        edge + (turned ? w / 2 + 4 : APART + below),
        turned ? Math.min(at[0], end - behind) : at[1],
      );
      edge = along + (turned ? w / 2 : 0);
      const [x, y] = turned ? [along, across] : [Math.min(across, graph.right - w / 2), along];
      const [tangent, share] = one.split(" × ");
      const above = one
        ? s(
            "text",
            { x, y: y - 2 - below / 2, "text-anchor": "middle" },
            s("tspan", { class: "mt-tangent" }, tangent),
            " × ",
            s("tspan", { class: "mt-incoming", ...(below ? { x, dy: below } : {}) }, share),
          )
        : null;
      return s(
        "g",
        { class: "mt-crossing", "data-product": product },
        s("rect", {
          x: x - w / 2,
          y: y - (HIGH + below) / 2,
          width: w,
          height: HIGH + below,
          rx: 4,
        }),
        above,
        s(
          "text",
          { class: "mt-equals", x, y: y + (one ? 12 + below / 2 : 5), "text-anchor": "middle" },
          two,
        ),
      );
    });
    const [left, right, top, bottom] = turned
      ? [graph.left, graph.right, across, across]
      : [across, across, low - BEYOND, Math.max(high, edge + (HIGH + below) / 2) + BEYOND];
    const d = `M${left} ${top}L${right} ${bottom}`;
    // nothing is seen above that
    const [x, y, w] = [across, Math.max(top - 8, graph.top - PAD + 14), sum.length * LETTER + 14];
    const apart = turned || per !== Infinity; // above a line there may be another one
    this.note.hidden = !apart;
    this.note.textContent = sum;
    const head = apart
      ? ""
      : s(
          "g",
          { class: "mt-cutsum", role: "status" },
          s("rect", { x: x - w / 2, y: y - 12, width: w, height: 22, rx: 5 }),
          s("text", { x, y: y + 4, "text-anchor": "middle" }, sum),
        );
    this.el.append(
      s("path", { class: "mt-cutline", d }),
      ...labels,
      head,
      s("path", { class: "mt-cuthit", d }),
    );
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
      this.at = best;
      this.draw(graph);
    };
    follow(svg, event, move);
  }
}
