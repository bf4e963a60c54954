// How the camera takes a graph: all of it, or at first the part that can be read.
import type { Camera } from "./camera";
import { holding } from "./cards";
import {
  buildGraph,
  COLUMN,
  columnsPerLine,
  HALF,
  lineWidth,
  NODE_W,
  PAD,
  READ,
  SLOPING,
  stage,
  TIGHT,
  type Graph,
} from "./graph";
import type { Layout } from "./layout";
import { alignBox, alignLayout } from "./one_layout";
import type { Scene } from "./scene";
import type { Store } from "./store";
import type { Timeline } from "./timeline";

const SIDE = 8; // left and right of a turned graph
const CAPTIONS = 16; // pixels above a map
const TITLE = 60; // above the first node of what was opened: its frame, and the edge of the pane
// scales for a projector: digits are at least 14 pixels high, and in a pane that is 1,920 wide 19;
// a graph that is larger then is in lines, and glides
const [LEGIBLE, LARGEST] = [1.17, 2.6];
const PANE = 1230; // pixels of the graph across a pane, at most
const WIDER = 1.5; // than the pane two storeys may be
const CLOSE = 172; // pixels from column to column of two storeys, at least
// columns in a line of an article, where a graph of few columns is turned: no edge runs back
const [NARROW, SHORT] = [3, 5];
const WRAPS = 60; // columns: of a longer graph it is not tried how it fills the pane best
// below this scale no text is drawn: the graph is seen as a map that fills the pane
const FAR = 0.4;

export class Fitting {
  /** how the camera takes the next graph, by a row: around that; null: it does not move */
  next: "first" | "all" | number | null = "first";
  private fitted = 0; // the camera's scale when all was shown while nodes were being placed

  /**
   * `presented` says that the pane is for a projector, `busy` that nodes are being placed, `flat`
   * that all is to be in one storey, `sloping` that slopes are written below the nodes.
   */
  constructor(
    private camera: Camera,
    private store: Store,
    private timeline: Timeline,
    private scene: Scene,
    private presented: () => boolean,
    private busy: () => boolean,
    private flat: () => boolean,
    private sloping: () => boolean,
  ) {}

  /**
   * The graph of a layout, in lines that the pane has room for; turned by 90 degrees where a line
   * has room for one column.
   */
  wrapped(placed: Layout): Graph {
    const [layout, columns] = alignLayout(this.store, placed);
    if (!this.camera.width) return this.build(layout);
    return this.seenWhole(layout, columns) ?? this.inLines(layout, columns);
  }

  /** The graph in lines that fill the pane; null unless all of it is to be seen. */
  private seenWhole(layout: Layout, columns: number): Graph | null {
    const presented = this.presented() && columns <= WRAPS;
    if (this.store.recording || !(this.map || presented)) return null;
    // for a projector columns are close rather than in several lines
    const line = presented && this.build(layout, 0, TIGHT);
    if (line && this.isWhole(line)) return line;
    const graph = this.filling(layout, columns);
    return this.map || this.isWhole(graph) ? graph : null;
  }

  /** The graph in lines that have room in the pane. */
  private inLines(layout: Layout, columns: number): Graph {
    const width = this.camera.width * (this.presented() ? READ / this.legible : 1);
    const [per, pitch] = columnsPerLine(columns, width, this.store.recording);
    if (layout.flat && (this.flat() || (per && lineWidth(columns) > WIDER * width)))
      return this.wrapped(layout.flat);
    // two storeys are in one line, through which one moves where it is too long
    if (layout.flat)
      return this.build(
        layout,
        0,
        per
          ? Math.max(
              CLOSE,
              Math.min(TIGHT, Math.floor((width / READ - 4 * PAD - NODE_W) / (columns - 1))),
            )
          : pitch,
      );
    const turned =
      (per === 1 || (per && per <= NARROW && columns <= SHORT)) && !this.store.recording
        ? this.build(layout, 1, pitch, width / READ - 2 * SIDE)
        : null;
    return turned && turned.right - turned.left + 2 * SIDE <= width / READ
      ? turned
      : this.build(layout, per, pitch);
  }

  private build(layout: Layout, per = 0, pitch = COLUMN, room = 0): Graph {
    return buildGraph(this.store, layout, per, pitch, room, this.sloping() ? SLOPING : HALF);
  }

  /** the whole of a large graph is shown, in lines that fill the pane */
  map = false;

  /** The graph of a layout in as many lines as make it largest in the pane. */
  private filling(layout: Layout, columns: number): Graph {
    const { width, height } = this.camera;
    const scaleOf = ({ w, h }: { w: number; h: number }): number =>
      Math.min(width / w, height / h, this.presented() ? LARGEST : 1);
    let [best, largest]: [Graph | null, number] = [null, 0];
    for (
      let lines = 1;
      lines <= columns;
      lines = this.map && lines > 8 ? Math.ceil(lines * 1.3) : lines + 1
    ) {
      const graph = this.build(layout, lines === 1 ? 0 : Math.ceil(columns / lines));
      const scale = scaleOf(this.box(graph));
      if (scale > largest * 1.02) [best, largest] = [graph, scale];
      else if (scale < 0.7 * largest) break; // more lines are higher
    }
    return best as Graph;
  }

  /** Would the whole graph be too small to be read? Then it is shown in other lines. */
  isFar(graph: Graph | null): boolean {
    if (!this.ready(graph)) return false;
    const { w, h } = this.box(graph);
    return Math.min(this.camera.width / w, this.camera.height / h) < FAR;
  }

  /** A scale for a projector, larger where the pane is wide. */
  private get legible(): number {
    return Math.max(LEGIBLE, this.camera.width / PANE);
  }

  /** Does a projector show the whole graph? */
  private isWhole(graph: Graph): boolean {
    const { w, h } = this.box(graph);
    return Math.min(this.camera.width / w, this.camera.height / h) >= this.legible;
  }

  /** How many pixels of the graph are above and below the pane. */
  beyond(graph: Graph | null): [number, number] {
    if (!graph) return [0, 0];
    const { y, scale, height } = this.camera;
    const above = (y - graph.top + PAD) * scale;
    return [
      Math.max(0, above),
      Math.max(0, (graph.bottom - graph.top + 2 * PAD) * scale - height - above),
    ];
  }

  private box(graph: Graph) {
    const margin = graph.left < 0 ? SIDE : PAD + SIDE; // frames have margins of their own
    const w = graph.right - graph.left + 2 * margin;
    const h = graph.bottom - graph.top + 2 * PAD;
    const { width, height } = this.camera;
    // on a map captions are above their frames
    const above = PAD + (this.map ? CAPTIONS * Math.max(w / width, h / height) : 0);
    return { x: graph.left - margin, y: graph.top - above, w, h: h + above - PAD };
  }

  private ready(graph: Graph | null): graph is Graph {
    // else there is no size yet: it is called again
    return !!graph?.nodes.length && this.camera.width > 0;
  }

  /**
   * Shows everything if it is readable; else as much of the beginning as there is room for above
   * the present row, or what was opened from its first row on.
   */
  first(graph: Graph | null, opened?: number): void {
    if (!this.ready(graph)) return;
    this.next = null;
    const box = alignBox(this.store, this.box(graph), this.camera.height, () => {
      if (!this.camera.touched) this.first(graph);
    });
    const { width, height } = this.camera;
    if (this.presented()) return this.reveal(graph, opened ?? this.timeline.current, false);
    this.camera.fit(box, height / box.h < READ ? Math.max(READ, Math.min(1, width / box.w)) : READ);
    const node = graph.nodeOf(opened ?? -1);
    if (!node) return this.reveal(graph, this.timeline.current, false);
    const y = node.y - TITLE;
    const h = Math.min(height / this.camera.scale, box.y + box.h - y);
    this.camera.reveal({ x: node.x, y, w: NODE_W, h }, false);
  }

  /** Brings a row into view, at the present step with what is on its edges. */
  reveal(graph: Graph | null, row: number, smooth = true): void {
    if (!graph) return;
    const { camera, timeline } = this;
    const [width, height] = [camera.width / camera.scale, camera.height / camera.scale];
    const large = this.presented();
    const box = stage(
      graph,
      timeline,
      row,
      large ? Infinity : width - 2 * PAD,
      large ? Infinity : height - 2 * PAD,
    );
    if (!box) return;
    const whole = this.box(graph);
    // an update changes sources in all parts of the graph
    if (large && (timeline.updating || this.isWhole(graph))) return camera.fit(whole, 1, LARGEST);
    const { legible } = this;
    if (large && camera.scale !== legible) camera.fit(whole, legible, legible);
    // nothing is hidden above or below; what just fits may be larger by a rounding error
    if (whole.h < height + 1) [box.y, box.h] = [whole.y, whole.h];
    if (row === timeline.current)
      holding(
        [...this.scene.cards.cards, ...this.scene.cards.sums.map(([box]) => box)],
        box,
        width,
        height,
      );
    if (graph.turned) [box.x, box.w] = [whole.x, whole.w]; // it is as wide as the pane
    camera.reveal(box, smooth, row === timeline.current ? timeline.position : undefined);
  }

  /** Shows the whole graph, and when nodes are being placed also the one that comes. */
  all(graph: Graph | null): void {
    if (!this.ready(graph)) return;
    this.next = this.busy() ? "all" : null;
    this.camera.fit(this.box(graph));
    this.fitted = this.next ? this.camera.scale : 0;
  }

  take(graph: Graph | null): void {
    const { next } = this;
    if (next === null) return;
    if (next !== "all") return this.first(graph, next === "first" ? undefined : next);
    const zoomed = this.camera.scale / this.fitted; // by the reader, who saw an older graph
    this.all(graph);
    if (zoomed !== 1 && zoomed < Infinity) this.camera.zoom(zoomed);
  }
}
