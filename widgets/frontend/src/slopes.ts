// Slopes inside of the nodes: each operation's curve with its point and its tangent. Beside each
// node how much it changes per small nudge of a source, stretched by each slope; and on the edges,
// when the sweep has gone there, what it sends back. Below each number a bar is as long as it is
// large.
import { h, s } from "./dom";
import { localCurve, type Curve } from "./feel";
import { NODE_H, NODE_W, type Graph, type Node } from "./graph";
import { drawnEdge, edgeId, LETTER } from "./labels";
import type { Edge } from "./place";
import { edgeCurve } from "./shapes";
import { sharePlaces, tagId } from "./shares";
import type { Store } from "./store";
import { crossings, nameOthers, nudged, type Crossing } from "./tangents";
import type { Timeline } from "./timeline";
import { decimal, markOf, shortName } from "./value";
import { t } from "./words";

const [W, H, X, Y] = [46, 28, NODE_W - 52, NODE_H - 31]; // of the curves in a node
const GAP = 4; // between two of them
// slopes are below a node, there beside its edges, each on its line
const [BELOW, BESIDE, LINE] = [NODE_H + 13, 10, 13];
const [ONE, MOST] = [22, 40]; // the most pixels of a bar for 1, and those of the longest
// pixels of a bar when a number is moved, between two nodes: one that would be longer has a gap
const LONGEST = 56;
const MANY = 400; // nodes: of a larger graph no curves are drawn
const COUNTED = 40; // edges: the bars of more have no numbers
const OVER = 12; // pixels by which a number may be wider than its place

export class Slopes {
  on = false;
  readonly el = s("g.mt-slopes", { "aria-hidden": "true" });
  /** what the bars are */
  readonly note = h("div.mt-cutnote.mt-slopenote", {
    role: "status",
    hidden: true,
  });
  private graph: Graph | null = null; // and where the numbers of a source are in it
  private source = -1;
  private places: ReturnType<typeof sharePlaces> = new Map();
  private unit = 1; // so many pixels of a bar stand for 1

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
    const target = this.store.sweep?.target[0] ?? 0;
    const gradient = ways.reduce((all, { from, share }) => all + (from === source ? share : 0), 0);
    this.note.replaceChildren(
      ...(ways.length
        ? [
            ...legend(markOf(this.store.rows[source]), markOf(this.store.rows[target]), gradient),
            h("span", {}, nameOthers(this.store, source)),
          ]
        : [t("no nudge, because the path passes through arrays")]),
    );
    const nudge = new Map<string, number>(
      ways.map(({ to, port, tangent }) => [`${to}|${port}`, Math.abs(tangent)]),
    );
    for (const node of graph.nodes) this.curve(graph, node, nudge);
    const moved = new Map(ways.map(({ from, tangent }) => [from, tangent]));
    if (ways.length) moved.set(target, gradient);
    this.bars(graph, source, ways, moved);
  }

  /** The bars of what the nudge of a source has become at each row, and of what was sent back. */
  private bars(
    graph: Graph,
    source: number,
    ways: Crossing[],
    moved: ReadonlyMap<number, number>,
  ): void {
    const isOther = graph !== this.graph || source !== this.source;
    if (isOther) {
      [this.graph, this.source] = [graph, source];
      const nodes = [...moved.keys()].flatMap((row) => graph.nodeOf(row) ?? []);
      this.places = sharePlaces(graph, nodes);
    }
    // One scale for all bars, so that a bar of twice the length stands for twice the number, also
    // of two bars of which one is drawn before a number is moved and one after that.
    if (isOther || !this.store.moved) {
      const sizes = [...moved.values(), ...ways.map(({ share }) => share)].map(Math.abs);
      this.unit = Math.min(ONE, MOST / Math.max(1e-30, ...sizes.filter(Number.isFinite)));
    }
    this.nudges(graph, moved);
    this.sentBack(graph, ways);
  }

  /**
   * The curves of a node by its inputs that are no constants, of more than two by those through
   * which most of the nudge comes. An input that is read twice moves at both places, so that its
   * slope says by which factor the bar of the nudge has grown.
   */
  private curve(graph: Graph, node: Node, nudge: Map<string, number>): void {
    const row = node.row;
    if (!row || row.kind !== "operation" || !this.timeline.done(row.row)) return;
    const varies = row.inputs.flatMap((input, port) => {
      const by = nudge.get(`${row.row}|${port}`) ?? 0;
      const isAgain = row.inputs.indexOf(input) < port;
      const isFixed = !by && this.store.rows[input].kind === "constant";
      return isAgain || isFixed ? [] : [{ input, port, by }];
    });
    const curves = varies
      .sort((a, b) => b.by - a.by)
      .slice(0, 2)
      .sort((a, b) => a.port - b.port)
      .flatMap(({ input, port }) => {
        const curve = localCurve(this.store, row, port, true);
        return curve ? [{ curve, name: shortName(markOf(this.store.rows[input]), 5) }] : [];
      });
    if (!curves.length) return;
    const width = (W + GAP) / curves.length - GAP;
    const slopes = curves.map(({ curve, name }) => `Δ${name} × ${short(curve.slope)}`);
    this.el.append(
      s(
        "g",
        { transform: `translate(${node.x} ${node.y})`, "data-row": row.row },
        ...curves.map(({ curve }, k) => small(curve, X + k * (width + GAP), width)),
        ...writeBelow(graph, slopes),
      ),
    );
  }

  /** Beside each node: what the nudge has become there, in a folded group at its last row. */
  private nudges(graph: Graph, moved: ReadonlyMap<number, number>): void {
    const tangents = new Map<string, number>();
    for (const [row, tangent] of [...moved].sort(([a], [b]) => a - b)) {
      const node = graph.nodeOf(row);
      if (node && this.timeline.done(row)) tangents.set(tagId(node), tangent);
    }
    for (const [id, tangent] of [...tangents].slice(0, COUNTED)) {
      const place = this.places.get(id);
      const words = t("moves by {0} times a small nudge of the source", short(tangent));
      if (place) this.bar("mt-nudge", place, tangent, words, true);
    }
  }

  /** On each edge over which the sweep went: what it sent back, into a folded group in all. */
  private sentBack(graph: Graph, ways: Crossing[]): void {
    const sent = new Map<string, { edge: Edge; share: number }>();
    for (const { from, to, port, share } of ways) {
      const [begin, node] = [graph.nodeOf(from), graph.nodeOf(to)];
      if (!node || !this.timeline.stepOn(to)) continue;
      const edge = node.row
        ? drawnEdge(graph, node, { input: from, port }, node.row)
        : graph.edges(node.index).find((one) => graph.nodes[one.from] === begin);
      if (!edge) continue;
      const before = sent.get(edgeId(edge))?.share ?? 0;
      sent.set(edgeId(edge), { edge, share: before + share });
    }
    let count = 0;
    for (const [id, { edge, share }] of sent) {
      const place = this.places.get(id);
      if (!place && edge.far) continue;
      const curve = place ? [] : edgeCurve(graph, edge);
      const words = t("the target moves by {0} times a small nudge here", short(share));
      // without room for its number the bar is alone on the edge
      const at = place ?? curve[curve.length >> 1];
      const isCounted = !!place && LETTER * short(share).length <= place[2] + OVER;
      this.bar("mt-sentback", at, share, words, isCounted && count++ < COUNTED);
    }
  }

  /** A number around a point, and a bar below it. */
  private bar(
    kind: string,
    [x, y]: readonly number[],
    size: number,
    words: string,
    isCounted: boolean,
  ): void {
    const length = Math.max(1, Math.min(LONGEST, this.unit * Math.abs(size)));
    const [left, isCut] = [x - length / 2, length === LONGEST];
    this.el.append(
      s(
        "g",
        { class: kind, "data-size": size },
        ...(isCounted ? onPlate(x, y, short(size)) : []),
        s("path", { d: `M${left} ${y + 6.5}h${isCut ? `${length - 14}m5 0h9` : length}` }),
        s("title", {}, words),
      ),
    );
  }
}

/** A number on a plate, which hides the edge below it. */
function onPlate(x: number, y: number, text: string): SVGElement[] {
  const width = LETTER * text.length;
  return [
    s("rect", { x: x - width / 2, y: y - 7, width, height: 12 }),
    s("text", { x, y: y + 3, "text-anchor": "middle" }, text),
  ];
}

/**
 * The sum of what comes through the inputs of a node, below it: each addend has a line if the node
 * is narrower. Where the graph is turned, edges begin in the middle there: the sum is at the left.
 */
function writeBelow({ turned }: Graph, slopes: string[]): SVGElement[] {
  const middle = NODE_W / 2;
  const [x, anchor] = turned ? [middle - BESIDE, "end"] : [middle, "middle"];
  const sum = slopes.join(" + ");
  const isLong = turned || LETTER * sum.length > NODE_W;
  return (isLong ? slopes : [sum]).map((text, k) =>
    s("text", { x, y: BELOW + k * LINE, "text-anchor": anchor }, k ? `+ ${text}` : text),
  );
}

// of float32, as the numbers of the tape mostly are
const short = (number: number): string => decimal(Math.fround(number));

/** What the bars and the factors are, and the gradient in which both ways end. */
function legend(source: string, target: string, gradient: number): (string | HTMLElement)[] {
  return [
    h("span.mt-tangent", {}, `▬ ${t("change per small nudge of {0}", source)}`),
    h("span", {}, `Δ × ${t("slope of the tangent")}`),
    h("span.mt-incoming", {}, `▬ ${t("what comes back from {0}", target)}`),
    h("b", {}, `∂${target}/∂${source} = ${short(gradient)}`),
    t("drag {0}", source),
  ];
}

/**
 * A curve with its point in the middle of a box, and its tangent: one unit is as high as it is
 * wide, so that a slope of 1 rises by 45 degrees in every box. What leaves the box is not drawn.
 */
function small({ xs, ys, at, y, slope }: Curve, left: number, width: number): SVGElement {
  const unit = width / (xs.at(-1)! - xs[0]);
  const px = (x: number): string => (width / 2 + (x - at) * unit).toFixed(1);
  const py = (value: number): string => (H / 2 - (value - y) * unit).toFixed(1);
  const isNear = (value: number): boolean => Math.abs(value - y) * unit < 4 * H;
  let d = "";
  ys.forEach((value, k) => {
    if (isNear(value)) d += `${d && isNear(ys[k - 1]) ? "L" : "M"}${px(xs[k])} ${py(value)}`;
  });
  // the tangent is as long as there is room in its box
  const run = Math.min(width / 3, H / 2.4 / Math.abs(slope)) / unit;
  const end = (by: number): string => `${px(at + by)} ${py(y + by * slope)}`;
  return s(
    "svg",
    { x: left, y: Y, width, height: H },
    s("path.mt-curve-line", { d }),
    s("path.mt-curve-tangent", { d: `M${end(-run)}L${end(run)}` }),
    s("circle.mt-curve-point", { cx: width / 2, cy: H / 2, r: 2.4 }),
  );
}
