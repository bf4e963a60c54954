// Slopes inside of the nodes: each operation's curve with its point and its tangent. On the edges
// what a nudge of a source has become, stretched by each slope; and behind it, when the sweep has
// gone there, what it sends back.
import { h, s } from "./dom";
import { localCurve, type Curve } from "./feel";
import { NODE_H, NODE_W, type Graph, type Node } from "./graph";
import { drawnEdge } from "./labels";
import { edgeCurve, type Point } from "./shapes";
import type { Row } from "./schema";
import type { Store } from "./store";
import { crossings, nudged, type Crossing } from "./tangents";
import type { Timeline } from "./timeline";
import { rounded, shortName, title } from "./value";
import { t } from "./words";

const [W, H, X, Y] = [46, 28, NODE_W - 52, NODE_H - 31]; // of a curve in its node, below its slope
const [ONE, MOST] = [22, 34]; // the most pixels of a bar for 1, and those of the longest
const MANY = 400; // nodes: of a larger graph no curves are drawn
const COUNTED = 40; // edges: the bars of more have no numbers
const DIGITS = 3; // of a number beside a bar
const [NUDGED, SENT] = [0.12, 0.86]; // of an edge's length: where its two bars are
const APART = 0.16; // the same between the bars of two edges that join the same two rows

export class Slopes {
  on = false;
  readonly el = s("g", { class: "mt-slopes", "aria-hidden": "true" });
  /** what the bars are */
  readonly note = h("div", { class: "mt-cutnote mt-slopenote", hidden: true });

  constructor(
    private store: Store,
    private timeline: Timeline,
    private selected: () => number,
  ) {}

  toggle(): void {
    this.on = !this.on;
  }

  draw(graph: Graph | null): void {
    if (!this.on && this.note.hidden) return;
    this.el.replaceChildren();
    this.note.hidden = !this.on;
    if (!this.on || !graph || graph.nodes.length > MANY) return;
    const source = nudged(this.store, this.selected());
    const ways = crossings(this.store, source) ?? [];
    const comes = ways.filter(({ from }) => from === source);
    this.note.replaceChildren(
      ...(ways.length
        ? legend(
            nameOf(this.store.rows[source]),
            nameOf(this.store.rows[this.store.sweep?.target[0] ?? 0]),
            comes.reduce((all, { share }) => all + share, 0),
          )
        : [t("no nudge, because the path passes through arrays")]),
    );
    const nudge = new Map<string, number>(
      ways.map(({ to, port, tangent }) => [`${to}|${port}`, Math.abs(tangent)]),
    );
    for (const node of graph.nodes)
      if (node.row && this.timeline.done(node.row.row)) this.curve(node, nudge);
    const sizes = ways.flatMap(({ tangent, share }) => [tangent, share]).map(Math.abs);
    // One scale for all bars, so that a bar of twice the height stands for twice the number.
    const unit = Math.min(ONE, MOST / Math.max(1e-30, ...sizes.filter(Number.isFinite)));
    let rank = 0; // of an edge among those that join the same two rows
    ways.forEach((one, k) => {
      const last = ways[k - 1];
      rank = last?.from === one.from && last.to === one.to ? rank + 1 : 0;
      const isFirst = k < COUNTED && ways.findIndex(({ from }) => from === one.from) === k;
      this.bars(graph, one, unit, isFirst, APART * rank);
    });
  }

  /**
   * The curve of a node by the input through which most of the nudge comes, else by one that is no
   * constant.
   */
  private curve(node: Node, nudge: Map<string, number>): void {
    const row = node.row;
    if (!row || row.kind !== "operation") return;
    const varies = row.inputs.map((input, port) => ({
      port,
      by: nudge.get(`${row.row}|${port}`) ?? (this.store.rows[input].kind === "constant" ? -1 : 0),
    }));
    const best = varies.reduce((a, b) => (b.by > a.by ? b : a), varies[0]);
    const curve = best && best.by >= 0 ? localCurve(this.store, row, best.port) : null;
    if (curve)
      this.el.append(
        s(
          "g",
          { transform: `translate(${node.x + X} ${node.y + Y})`, "data-row": row.row },
          ...small(curve),
          s(
            "text",
            { x: W, y: -2 },
            `${shortName(nameOf(this.store.rows[row.inputs[best.port]]), 4)} × ${short(curve.slope)}`,
          ),
        ),
      );
  }

  /**
   * On an edge: a bar for what the nudge is there, and when the sweep went over it one for what it
   * sent back; `unit` is how many pixels stand for 1. The nudge is the same on all edges from
   * one row, so `isFirst` says whether it has its number here. `aside` is how far the bars are
   * from those of an edge that joins the same two rows.
   */
  private bars(
    graph: Graph,
    { from, to, port, tangent, share }: Crossing,
    unit: number,
    isFirst: boolean,
    aside: number,
  ): void {
    const node = graph.nodeOf(to);
    const edge = node?.row && drawnEdge(graph, node, { input: from, port }, node.row);
    if (!edge || edge.far || !this.timeline.done(to)) return;
    const curve = edgeCurve(graph, edge);
    const bar = (
      at: Point,
      size: number,
      kind: string,
      words: string,
      isCounted: boolean,
    ): SVGElement => {
      const length = Math.max(1, Math.min(MOST, unit * Math.abs(size))) * (size < 0 ? 1 : -1);
      return s(
        "g",
        { class: kind, "data-size": size },
        s("path", { d: `M${at[0]} ${at[1]}${graph.turned ? `h${-length}` : `v${length}`}` }),
        s("title", {}, words),
        isCounted &&
          s(
            "text",
            {
              x: at[0] + (graph.turned ? (size < 0 ? 4 : -4) : 0),
              y: at[1] + (graph.turned ? 4 : size < 0 ? length + 11 : length - 4),
              "text-anchor": !graph.turned ? "middle" : size < 0 ? "start" : "end",
            },
            short(size),
          ),
      );
    };
    // the numbers of earlier steps are on their edges, and two edges that send the same need one
    const isNew = to === this.timeline.current && node.row?.inputs.indexOf(from) === port;
    const place = (part: number): Point => curve[Math.round(part * (curve.length - 1))];
    this.el.append(
      bar(
        place(NUDGED + aside),
        tangent,
        "mt-nudge",
        t("a nudge of 1 has become {0} here", rounded(String(tangent))),
        isFirst,
      ),
    );
    if (this.timeline.stepOn(to))
      this.el.append(
        bar(
          place(SENT - aside),
          share,
          "mt-sentback",
          t("a nudge of 1 here becomes {0} at the target", rounded(String(share))),
          isNew,
        ),
      );
  }
}

const short = (number: number): string => rounded(String(Number(number.toPrecision(DIGITS))));

/** What a row is called: a row without a name by its number in a circle. */
function nameOf(row: Row): string {
  if (row.kind !== "operation" || row.name) return title(row).split(" · ")[0];
  return row.row && row.row < 21 ? String.fromCodePoint(0x245f + row.row) : `(${row.row})`;
}

/** What the bars and the factors are, and the gradient in which both ways end. */
function legend(source: string, target: string, gradient: number): (string | HTMLElement)[] {
  return [
    h("span", { class: "mt-tangent" }, `▮ ${t("what a nudge of {0} by 1 has become", source)}`),
    h("span", {}, `× ${t("slope of the tangent")}`),
    h("span", { class: "mt-incoming" }, `▮ ${t("what comes back from {0}", target)}`),
    h("b", {}, `∂${target}/∂${source} = ${short(gradient)}`),
    t("drag {0}", source),
  ];
}

/** A curve with its point and tangent, as small as a stamp. */
function small({ xs, ys, at, y, slope }: Curve): SVGElement[] {
  const seen = ys.filter(Number.isFinite);
  const [low, high] = [Math.min(y, ...seen), Math.max(y, ...seen)];
  const px = (x: number): number => ((x - xs[0]) / (xs[xs.length - 1] - xs[0])) * W;
  const py = (value: number): number => H - 3 - ((value - low) / (high - low || 1)) * (H - 6);
  let d = "";
  ys.forEach(
    (value, k) =>
      (d += Number.isFinite(value)
        ? `${d && Number.isFinite(ys[k - 1]) ? "L" : "M"}${px(xs[k]).toFixed(1)} ${py(value).toFixed(1)}`
        : ""),
  );
  // the tangent is as long as there is room in its box
  const run = Math.min(
    W / 3,
    H / 2.4 / Math.max(1e-9, Math.abs((py(y + slope) - py(y)) / (px(at + 1) - px(at)))),
  );
  const rise = (run * (py(y + slope) - py(y))) / (px(at + 1) - px(at));
  const [x0, y0] = [px(at), py(y)];
  return [
    s("rect", { width: W, height: H, rx: 3 }),
    s("path", { class: "mt-curve-line", d }),
    s("path", {
      class: "mt-curve-tangent",
      d: `M${(x0 - run).toFixed(1)} ${(y0 - rise).toFixed(1)}L${(x0 + run).toFixed(1)} ${(y0 + rise).toFixed(1)}`,
    }),
    s("circle", { class: "mt-curve-point", cx: x0, cy: y0, r: 2.4 }),
  ];
}
