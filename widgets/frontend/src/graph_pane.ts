// The pane with the graph: what is folded, where nodes are, and how the camera takes it.
import { Camera, type Box } from "./camera";
import { h, on } from "./dom";
import type { SceneEvents } from "./drawing";
import { Fitting } from "./fitting";
import { Folding } from "./folding";
import { PAD, type Graph, type Group } from "./graph";
import type { Layout } from "./layout";
import type { Marks } from "./marks";
import { panAndZoom } from "./pointer";
import { Rooms } from "./rooms";
import { Scene } from "./scene";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { Tip } from "./tip";
import type { FoldMode } from "./toolbar";
import { t } from "./words";

/** What the pane asks the view around it. */
export interface Surroundings {
  readonly isInside: boolean; // of a call of a function
  readonly below: HTMLElement; // the table and the program
  isPresented(): boolean;
  isCut(): boolean;
  isSloping(): boolean;
  hasFocus(): boolean;
  /** the graph is another one, or at another place */
  changed(part: "all" | "scene" | "toolbar"): void;
  /** the table's columns may have another width; `isFirst` says that the view is in its page now */
  resized(isFirst: boolean): void;
}

export class GraphPane {
  readonly el: HTMLElement;
  readonly camera: Camera;
  readonly scene: Scene;
  readonly folding: Folding;
  readonly fitting: Fitting;
  readonly tip: Tip;
  readonly hint = h("p.mt-hint", {}, t("The graph grows here while the tape records."));
  readonly scalebar = h(
    "div.mt-scalebar",
    {
      hidden: true,
      title: "Each small picture has its own scale, up to its largest magnitude",
    },
    "−max",
    h("i", {}),
    "+max",
  );
  /** the same of a map */
  readonly powers = h(
    "div.mt-scalebar.mt-powers",
    {
      title: "A row of the map has the colour of its adjoint's order of magnitude",
    },
    "∂ 1e-8",
    h("i", {}),
    "1",
  );
  graph: Graph | null = null;
  private layout: Layout | null = null;
  private rooms = new Rooms();
  // its place on the screen does not change
  private anchor: { row: number; x: number; y: number } | null = null;
  private observer: ResizeObserver;

  constructor(
    private store: Store,
    private timeline: Timeline,
    marks: Marks,
    events: Omit<SceneEvents, "tell">,
    private around: Surroundings,
  ) {
    this.camera = new Camera(() => around.changed("scene"));
    this.folding = new Folding(store, around.isInside, (layout) => {
      this.layout = layout;
      this.show(this.fitting.wrapped(layout));
    });
    this.scene = new Scene(store, timeline, this.camera, marks, {
      ...events,
      tell: (text, event) => this.tip.say(text, event),
    });
    this.fitting = new Fitting(
      this.camera,
      store,
      timeline,
      this.scene,
      around.isPresented,
      () => this.folding.busy,
      around.isCut,
      around.isSloping,
    );
    this.el = h("div.mt-pane", {}, this.scene.svg, this.hint);
    this.tip = new Tip(this.el);
    this.el.append(this.tip.el);
    panAndZoom(this.el, this.camera, () =>
      around.hasFocus() ? this.fitting.beyond(this.graph) : [0, 0],
    ); // others scroll the page
    // a finger has no key for it
    on(this.scene.svg, "dblclick", ({ target }) => target === this.scene.svg && this.overview());
    for (const when of ["beforeprint", "afterprint"]) addEventListener(when, this.onPaper);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.el);
  }

  /** The table and the program below the pane. */
  get below(): HTMLElement {
    return this.around.below;
  }

  destroy(): void {
    for (const when of ["beforeprint", "afterprint"]) removeEventListener(when, this.onPaper);
    this.folding.destroy();
    this.camera.stop();
    this.observer.disconnect();
  }

  // --- placing ---

  /** Folds and places anew; with `patient` after what is being placed. */
  layOut(patient = false): void {
    this.folding.layOut(patient);
    if (this.folding.busy) this.around.changed("toolbar");
  }

  /** The nodes of a graph that was placed in lines are placed again, as the pane is now. */
  wrap(): void {
    if (this.layout) this.show(this.fitting.wrapped(this.layout));
  }

  /** The pane is wider or narrower: the lines hold another number of columns. */
  private wrapAnew(): void {
    if (!this.layout || !this.graph) return;
    const { per, pitch, turned } = this.graph;
    const graph = this.fitting.wrapped(this.layout);
    if (graph.per === per && graph.pitch === pitch && graph.turned === turned) return;
    this.hold(this.timeline.current);
    this.show(graph);
  }

  /** The node of a row does not move on the screen. */
  private hold(row: number): void {
    const node = this.graph?.nodeOf(row);
    this.anchor = node ? { row, x: node.x - this.camera.x, y: node.y - this.camera.y } : null;
  }

  private show(graph: Graph): void {
    const { store, camera, anchor } = this;
    this.graph = graph;
    camera.forget();
    this.scene.setGraph(graph);
    const node = anchor && graph.nodeOf(anchor.row);
    if (anchor && node) [camera.x, camera.y] = [node.x - anchor.x, node.y - anchor.y];
    this.anchor = null;
    this.scalebar.hidden = !graph.nodes.some(({ row, group }) =>
      (row ?? store.rows[(group?.end ?? 0) - 1])?.shape.some((side) => side > 1),
    );
    this.takeRoom();
    if (camera.width) this.measure();
    this.fitting.take(graph);
    this.around.changed("all");
  }

  /** Stops placing: what was drawn remains. */
  stopPlacing(): void {
    this.folding.stop();
    this.anchor = null;
    if (this.graph) this.fitting.next = null;
    this.around.changed("toolbar");
  }

  fold(mode: FoldMode): void {
    this.folding.choose(mode);
    this.fitting.next = "first";
    this.layOut();
  }

  /** Opens or closes a group and shows all again; keeps it where a reader looks who has moved. */
  toggle(group: Group, open: boolean): void {
    const { current } = this.timeline;
    // of what is opened the present row is seen, if it is in there
    const row = open && current > group.start && current < group.end ? current : group.start;
    if (this.camera.touched) this.hold(row);
    else this.fitting.next = row;
    this.folding.toggle(group, open);
    this.layOut();
  }

  /** The cut is drawn in one storey, and slopes have room below nodes: these are other graphs. */
  restage(mode: string): void {
    if (mode === "cell" || (mode === "cut" && !this.layout?.flat)) return;
    this.fitting.next = "first";
    this.wrap();
  }

  // --- its size, and the camera ---

  /** A part beside the pane is wider or narrower when the pane is. */
  watchSize(el: Element): void {
    this.observer.observe(el);
  }

  /** A small tape needs less room; after something was unfolded it needs more. */
  takeRoom(): void {
    const { graph, store, folding, rooms, around } = this;
    if (graph) rooms.share(this.el, around.below, graph, store.rows.length, folding.unfolded);
  }

  private measure(): void {
    this.camera.resize(this.el.clientWidth, this.el.clientHeight);
  }

  private resize(): void {
    const { camera, fitting, store } = this;
    const { width: before, height } = camera;
    this.measure();
    const isFirst = !before && camera.width > 0;
    if (isFirst) this.takeRoom();
    this.around.resized(isFirst);
    if (!camera.width) return;
    if (before !== camera.width) this.wrapAnew();
    const isOther = before !== camera.width || (height !== camera.height && !store.recording);
    if (fitting.next !== null) fitting.take(this.graph);
    else if (isOther && !camera.touched) fitting.first(this.graph);
    this.around.changed("all");
  }

  /** Shows the graph as at first. */
  refit(): void {
    this.camera.touched = false;
    this.takeRoom();
    this.measure();
    this.fitting.first(this.graph);
    this.around.changed("all");
  }

  /** The pane is as large as the screen, or no longer. */
  present(): void {
    this.camera.touched = false;
    requestAnimationFrame(() => {
      this.measure();
      this.fitting.next = "first";
      this.wrap();
    });
  }

  /** Where the graph goes on above or below the pane, it fades out: a cut node seems complete. */
  showEnds(): void {
    this.fitting
      .beyond(this.graph)
      .forEach((hidden, k) =>
        this.el.classList.toggle(
          ["mt-more-above", "mt-more-below"][k],
          hidden > PAD * this.camera.scale,
        ),
      );
  }

  /** Brings a row into view. */
  reveal(row: number): void {
    this.fitting.reveal(this.graph, row);
  }

  /** Brings a part of the graph into view, in the same frame if nothing glides. */
  revealBox(box: Box): void {
    this.camera.reveal(box);
    this.scene.draw();
  }

  /** Shows what a growing graph has got, unless the reader has moved it. */
  follow(): void {
    if (this.camera.touched) return;
    if (this.store.recording) this.reveal(this.timeline.current);
    else this.fitting.first(this.graph);
  }

  /**
   * Shows all of the graph; of a large one a map that fills the pane, and when asked again the part
   * that can be read.
   */
  overview(): void {
    const { fitting, graph } = this;
    const far = !fitting.map && fitting.isFar(graph);
    if (fitting.map === far) return fitting.all(graph);
    fitting.map = far;
    fitting.next = far ? "all" : "first";
    this.wrap();
  }

  /** On paper the whole graph is seen. */
  private onPaper = ({ type }: Event): void => {
    const begins = type === "beforeprint";
    if (begins) {
      this.fitting.all(this.graph);
      this.scene.draw();
    }
    this.scene.whole(begins ? this.graph : null);
    if (!begins) this.fitting.first(this.graph);
  };
}
