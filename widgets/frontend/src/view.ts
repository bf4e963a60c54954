// The view: puts the parts together and holds what the reader chose.
import { Camera } from "./camera";
import { holding } from "./cards";
import { divider } from "./divider";
import { fullScreen, h } from "./dom";
import { exportAs } from "./export";
import { matching, neighbourhood, waysOf } from "./find";
import { PAD, renewed, stage, type Graph, type Group, type Node } from "./graph";
import { FeelPanel } from "./feelpanel";
import { Fitting } from "./fitting";
import { Help } from "./help";
import { Inspector } from "./inspector";
import { Keys } from "./keys";
import type { Layout } from "./layout";
import { Minimap } from "./minimap";
import { PathsPanel } from "./pathspanel";
import { Planner, wishOf, type Level } from "./planner";
import { panAndZoom } from "./pointer";
import { Predict } from "./predict";
import { Present } from "./present";
import { Results } from "./results";
import { Scene, type Marks } from "./scene";
import { SourcePane } from "./source";
import { Rooms } from "./rooms";
import { StepBar } from "./stepbar";
import { Strip } from "./strip";
import { Stepping } from "./stepping";
import { openInside } from "./inside";
import type { Place, ViewOptions } from "./options";
import type { Change, Store } from "./store";
import { Table } from "./table";
import { Timeline } from "./timeline";
import { Tip } from "./tip";
import { Toolbar, type FoldMode } from "./toolbar";

const LARGE = 70; // pixels around the present step, for a projector

export class View {
  readonly el: HTMLElement;
  readonly timeline: Timeline;
  graph: Graph | null = null;
  inner: View | null = null; // of the rows inside of a call
  private layout: Layout | null = null;
  private camera = new Camera(() => this.schedule("scene"));
  private marks: Marks = { hover: -1, selected: -1, found: new Set(), path: null, pathEdges: null, near: null, lit: null };
  private mode: FoldMode = "auto";
  private level: Level = "none"; // that "auto" has chosen
  private toggled = new Map<string, boolean>();
  private rooms = new Rooms();
  private planner = new Planner();
  private drawn: { mode: FoldMode; toggled: Map<string, boolean> } = { mode: "auto", toggled: new Map() }; // what the graph shows
  private anchor: { row: number; x: number; y: number } | null = null; // stays where it is on the screen
  private recast = 0; // how often rows became leaves of another kind
  private scene: Scene;
  private table: Table;
  private sourcePane: SourcePane;
  private inspector: Inspector;
  private stepbar: StepBar;
  private toolbar: Toolbar;
  private minimap: Minimap;
  private paths: PathsPanel;
  private help = new Help();
  private keys: Keys;
  private pane: HTMLElement;
  private tip: Tip;
  private hint = h("p", { class: "mt-hint" }, "The graph grows here while the tape records.");
  private below: HTMLElement;
  private results: Results;
  private strip: Strip;
  private feel: FeelPanel;
  private predict: Predict;
  private present: Present;
  private pending = new Set<string>();
  private frame = 0;
  private fitting = new Fitting(this.camera, () => this.first, () => this.revealRow(this.first, false), () => this.planner.busy);
  private following = true; // the position follows the recording as it grows
  private stepping: Stepping;
  private stopListening: () => void;
  private observer: ResizeObserver;

  constructor(
    readonly store: Store,
    private options: ViewOptions,
  ) {
    this.timeline = new Timeline(store);
    this.timeline.position = this.timeline.forward;
    this.scene = new Scene(store, this.timeline, this.camera, this.marks, {
      pick: (node) => this.pick(node),
      open: (node) => (node.group ? this.toggle(node.group, true) : this.enter(node.first)),
      hover: (node) => this.hover(node ? (node.group ? node.group.end - 1 : node.first) : -1),
      close: (frame) => frame.group && this.toggle(frame.group, false),
      grab: (row, event) => this.feel.can(store.rows[row]) && this.feel.grab(store.rows[row], event),
      tell: (text, event) => this.tip.say(text, event),
    });
    this.table = new Table(store, this.timeline, { pick: (row) => this.goRow(row), hover: (row) => this.hover(row) });
    this.sourcePane = new SourcePane(store, (file, line) => this.goRow(store.rows.find((row) => row.file === file && row.line === line)?.row ?? -1));
    this.inspector = new Inspector(store, this.timeline, {
      back: (row) => this.stepping.reach(() => this.timeline.backTo(row)),
      to: (row) => this.goRow(row),
      go: (row) => this.select(row),
      end: (kind, row) => this.paths.choose(kind, row),
      unfold: (node) => node.group && this.toggle(node.group, true),
      enter: (row) => this.enter(row),
      again: options.again,
    });
    this.stepbar = new StepBar(this.timeline, (position) => this.stepping.moveTo(position), (row) => this.goRow(row));
    this.toolbar = new Toolbar(store, {
      search: (text) => this.search(text),
      next: () => this.nextFound(),
      fold: (mode) => this.fold(mode),
      zoom: (factor) => this.camera.zoom(factor),
      fit: () => this.fitting.all(this.graph),
      focus: () => this.focus(!this.marks.near),
      paths: () => this.paths.toggle(),
      predict: () => this.guess(),
      full: () => fullScreen(this.el),
      present: () => this.show(),
      go: (row) => this.goRow(row),
      save: (kind) => void this.save(kind),
      stop: () => this.stopPlacing(),
      help: () => this.el.classList.toggle("mt-show-help"),
    });
    this.minimap = new Minimap(this.camera);
    this.paths = new PathsPanel(store, this.marks, () => this.timeline.current, () => this.schedule("scene", "toolbar"), options.explain);
    this.feel = new FeelPanel(store, options.whatIf);
    this.predict = new Predict(store, (position) => {
      this.go(position);
      this.el.focus({ preventScroll: true });
    });
    this.stepping = new Stepping(store, this.timeline, this.predict, {
      go: (position) => this.go(position),
      pause: () => this.stepbar.stop(),
      ask: () => this.options.sweep?.() ?? false,
      drawn: () => this.drawState(),
    });
    this.inspector.el.lastElementChild?.before(this.feel.el);
    this.results = new Results(store, (row) => this.select(row));
    this.strip = new Strip(store, (alarm) => {
      if (alarm.back) this.stepping.reach(() => this.timeline.backTo(alarm.row));
      else this.goRow(alarm.row);
    });
    this.pane = h("div", { class: "mt-pane" }, this.scene.svg, this.minimap.el, this.hint);
    this.tip = new Tip(this.pane);
    this.pane.append(this.tip.el);
    this.below = h("div", { class: "mt-below" });
    const columns = divider("the table's width", "column", this.table.el);
    this.below.append(this.table.el, columns, h("div", { class: "mt-side" }, this.sourcePane.el, this.inspector.el));
    this.el = h(
      "div",
      { class: "mt-view", tabindex: 0, role: "application", "aria-label": "Tape view", "aria-roledescription": "steppable picture of a tape" },
      this.toolbar.el,
      this.help.el,
      this.paths.el,
      options.sliders,
      this.strip.el,
      this.pane,
      divider("the graph's height", "row", this.pane),
      this.stepbar.el,
      this.predict.el,
      this.results.el,
      this.below,
    );
    this.present = new Present(this.el, store, this.timeline);
    this.stepbar.el.before(this.present.el);
    document.addEventListener("fullscreenchange", this.leftScreen);
    panAndZoom(this.pane, this.camera, () => (this.el.contains(document.activeElement) ? this.fitting.beyond(this.graph) : [0, 0])); // others scroll the page
    this.keys = new Keys(this.el, this.actions(), (field) => field === this.toolbar.search && this.toolbar.forget());
    this.stopListening = store.listen((change) => this.changed(change));
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.pane);
    this.observer.observe(this.table.el);
    this.layOut();
    this.takeRoom();
  }

  /** A small tape needs less room; after something was unfolded it needs more. */
  private takeRoom(): void {
    if (this.graph) this.rooms.share(this.pane, this.below, this.graph, this.store.rows.length, [...this.toggled.values()].includes(true));
  }

  /** Light or dark, as the page is. */
  theme(dark: boolean): void {
    this.el.classList.toggle("mt-dark", dark);
    this.inner?.theme(dark);
    this.schedule("scene");
  }

  /** Where the reader is; `goBack` leads another view of the same tape there. */
  place(): Place {
    const { position } = this.timeline;
    return { position, following: this.following, selected: this.marks.selected, focused: this.el.contains(document.activeElement) };
  }

  goBack(to: Place): void {
    if (!to.following) this.go(to.position);
    if (to.selected < this.store.rows.length) this.marks.selected = to.selected;
    if (to.focused) requestAnimationFrame(() => this.el.focus({ preventScroll: true }));
  }

  destroy(): void {
    this.inner?.destroy();
    this.keys.stop();
    document.removeEventListener("fullscreenchange", this.leftScreen);
    this.stepping.stop();
    this.planner.destroy();
    this.stepbar.stop();
    this.camera.stop();
    this.stopListening();
    this.observer.disconnect();
    if (this.frame) cancelAnimationFrame(this.frame);
  }

  // --- data ----------------------------------------------------------------------------------------------------------

  private changed(change: Change): void {
    const { store } = this;
    const atEnd = this.following && !this.timeline.backward;
    const backward = this.timeline.backward ? this.timeline.position - this.timeline.forward : 0;
    if (change === "steps") {
      this.stepping.came();
      return this.schedule("all");
    }
    if (change === "numbers") {
      this.timeline.index();
      this.scene.refresh();
      return this.drawState();
    }
    this.feel.forget();
    if (change !== "rows") this.stepping.forget();
    this.timeline.index();
    if (change === "reset") {
      this.table.reset();
      this.planner.reset();
      if (!this.graph || !renewed(this.graph, store)) this.layOut();
      else this.scene.setGraph(this.graph);
    } else this.layOut(true);
    this.takeRoom();
    if (atEnd && backward === 0) {
      this.timeline.position = this.timeline.forward;
      if (this.camera.touched) return this.schedule("all");
      if (this.store.recording) this.revealRow(this.timeline.current);
      else this.fitting.first(this.graph);
      this.table.reveal(this.timeline.current);
    }
    this.schedule("all");
  }

  /** Folds and places anew. Nodes keep their places: placing goes by the order of rows. */
  private layOut(patient = false): void {
    const { store, mode } = this;
    const auto = mode === "auto";
    if (this.recast !== store.recast) this.planner.reset();
    this.recast = store.recast;
    const toggled = new Map(this.toggled);
    if (auto && !toggled.size) this.level = this.planner.level(store, !!this.options.out); // what the reader opens changes no level
    this.planner.plan(store.rows, wishOf(store, auto ? this.level : mode, toggled, auto, !!this.options.out), (layout) => {
      this.drawn = { mode, toggled };
      this.layout = layout;
      this.placed(this.fitting.wrapped(store, layout));
    }, patient);
    if (this.planner.busy) this.schedule("toolbar");
  }

  /** The pane is wider or narrower: the lines hold another number of columns. */
  private wrapAnew(): void {
    if (!this.layout || !this.graph) return;
    const before = this.graph.nodeOf(this.timeline.current);
    const graph = this.fitting.wrapped(this.store, this.layout);
    if (graph.per === this.graph.per && graph.pitch === this.graph.pitch) return;
    const after = graph.nodeOf(this.timeline.current);
    if (before && after) this.anchor = { row: this.timeline.current, x: before.x - this.camera.x, y: before.y - this.camera.y };
    this.placed(graph);
  }

  private placed(graph: Graph): void {
    this.graph = graph;
    this.minimap.setGraph(graph);
    this.scene.setGraph(graph);
    const node = this.anchor && graph.nodeOf(this.anchor.row);
    if (this.anchor && node) [this.camera.x, this.camera.y] = [node.x - this.anchor.x, node.y - this.anchor.y];
    this.anchor = null;
    this.takeRoom();
    if (this.camera.width) this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
    this.fitting.take(this.graph);
    this.schedule("all");
  }

  /** The nodes are being placed; what is drawn is older. */
  get placing(): boolean {
    return this.planner.busy;
  }

  /** Stops placing: what was drawn stays. */
  private stopPlacing(): void {
    this.planner.cancel();
    this.anchor = null;
    if (this.graph) this.fitting.next = null;
    this.mode = this.drawn.mode;
    this.toggled = new Map(this.drawn.toggled);
    this.schedule("toolbar");
  }

  // --- drawing, once per frame ---------------------------------------------------------------------------------------

  private schedule(...parts: ("all" | "scene" | "state" | "toolbar")[]): void {
    for (const part of parts) this.pending.add(part);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.render());
  }

  private render(): void {
    this.frame = 0;
    const all = this.pending.has("all");
    const scene = this.pending.has("scene");
    this.pending.clear();
    if (all || scene) this.scene.draw();
    this.minimap.draw(this.timeline.current);
    this.hint.hidden = this.store.rows.length > 0;
    if (all) this.drawState();
    this.toolbar.draw({ fold: this.mode, focus: this.marks.near !== null, paths: this.paths.shown, predict: this.predict.on, busy: this.planner.busy });
  }

  private drawState(): void {
    const row = this.store.rows[this.timeline.current];
    this.table.draw(this.marks);
    this.stepbar.draw();
    this.strip.draw();
    this.results.draw(this.predict.on && (!this.timeline.backward || this.timeline.position < this.timeline.length));
    this.sourcePane.show(row?.file ?? null, row?.line ?? null, this.timeline.backward);
    this.inspector.asked = this.stepping.asked;
    const selected = this.marks.selected >= 0 ? (this.graph?.nodeOf(this.marks.selected) ?? null) : null;
    this.feel.draw(selected?.row ?? null, this.predict.on);
    this.inspector.draw(selected);
    this.present.draw();
  }

  // --- moving --------------------------------------------------------------------------------------------------------

  /** Moves to a position of the timeline and shows it at once. */
  go(position: number): void {
    const { position: before } = this.timeline;
    this.timeline.go(position);
    if (this.timeline.position !== before) this.options.moved?.(this);
    this.following = this.timeline.position === this.timeline.forward;
    this.tip.say("", null); // what it said is of another step
    this.table.reveal(this.timeline.current);
    this.drawState();
    this.scene.update();
    this.minimap.draw(this.timeline.current);
    this.revealRow(Math.max(0, this.timeline.current));
  }

  /** To where another view of a like tape is: the same row, or as far back. */
  follow(position: number, forward: number): void {
    const own = this.timeline.forward;
    this.go(position <= forward ? Math.min(position, own) : own + position - forward);
  }

  goRow(row: number): void {
    if (row < 0 || row >= this.store.rows.length) return;
    this.select(row, false);
    this.go(row + 1);
  }

  /** To a row; into a call of a function. */
  private enter(row: number): void {
    this.goRow(row);
    if (this.store.rows[row]?.op === "function") void openInside(this, row, this.options);
  }

  private revealRow(row: number, smooth = true): void {
    const { width, height, scale } = this.camera;
    if (this.present.on && this.graph) {
      const all = stage(this.graph, this.timeline, row, Infinity, Infinity);
      if (all) this.camera.fit({ x: all.x - LARGE, y: all.y - LARGE, w: all.w + 2 * LARGE, h: all.h + 2 * LARGE }, 0.8, 2.6);
      return;
    }
    const box = this.graph && stage(this.graph, this.timeline, row, width / scale - 2 * PAD, height / scale - 2 * PAD);
    if (!box) return;
    if (row === this.timeline.current) holding(this.scene.placed, box, width / scale, height / scale);
    this.camera.reveal(box, smooth);
  }

  /** The row at which a picture is looked at first: the target, where nothing was stepped yet. */
  private get first(): number {
    const { position, forward, current } = this.timeline;
    return position === forward && !this.store.recording ? (this.store.sweep?.target.at(-1) ?? current) : current;
  }

  private select(row: number, reveal = true): void {
    this.marks.selected = row;
    if (this.marks.near) this.focus(true);
    this.table.reveal(row);
    if (reveal) this.revealRow(row);
    this.schedule("all");
  }

  private pick(node: Node): void {
    this.el.focus({ preventScroll: true });
    this.select(node.group ? node.group.end - 1 : node.first, false);
  }

  private hover(row: number): void {
    if (this.marks.hover === row) return;
    this.marks.hover = row;
    this.marks.lit = row < 0 || this.predict.on ? null : waysOf(this.store, row);
    this.scene.update();
    this.table.draw(this.marks);
  }

  // --- folding, focus, search ----------------------------------------------------------------------------------------

  fold(mode: FoldMode): void {
    this.mode = mode;
    this.toggled.clear();
    this.fitting.next = "first";
    this.layOut();
    this.schedule("all");
  }

  /** Opens or closes a group and keeps it where the reader looks. */
  private toggle(group: Group, open: boolean): void {
    const before = this.graph?.nodeOf(group.start);
    this.anchor = before ? { row: group.start, x: before.x - this.camera.x, y: before.y - this.camera.y } : null;
    this.toggled.set(group.id, open);
    if (open && group.kind === "repeat" && group.only) this.toggled.set(group.only, true);
    this.marks.selected = -1;
    this.layOut();
    this.schedule("all");
  }

  private toggleAt(row: number): void {
    const node = this.graph?.nodeOf(row);
    if (node?.group) this.toggle(node.group, true);
    else if (node?.home) this.toggle(node.home, false);
  }

  private focus(on: boolean): void {
    const from = this.marks.selected >= 0 ? this.marks.selected : Math.max(0, this.timeline.current);
    this.marks.near = on ? neighbourhood(this.store, from) : null;
    this.schedule("scene", "toolbar");
  }

  private search(text: string): number {
    this.marks.found = matching(this.store, text);
    this.schedule("all");
    return this.marks.found.size;
  }

  private nextFound(): void {
    const rows = [...this.marks.found];
    if (rows.length) this.select(rows.find((row) => row > this.marks.selected) ?? rows[0]);
  }

  // --- camera --------------------------------------------------------------------------------------------------------

  private resized(): void {
    const before = this.camera.width;
    this.table.resized();
    this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
    if (!this.camera.width) return;
    if (!before) this.table.reveal(this.timeline.current);
    if (before !== this.camera.width) this.wrapAnew();
    if (this.fitting.next) this.fitting.take(this.graph);
    else if (before !== this.camera.width && !this.camera.touched) this.fitting.first(this.graph);
    this.schedule("all");
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  private actions(): Record<string, () => void> {
    const moving = (move: () => void) => (): void => (this.stepbar.stop(), move());
    const step = (by: number) => moving(() => this.stepping.moveTo(this.timeline.position + by));
    const over = (by: number) => moving(() => this.stepping.over(by, this.graph));
    const chosen = (): number => (this.marks.selected >= 0 ? this.marks.selected : this.timeline.current);
    return {
      ArrowRight: step(1),
      ArrowLeft: step(-1),
      "Shift+ArrowRight": over(1),
      "Shift+ArrowLeft": over(-1),
      PageDown: () => step(this.present.on ? 1 : 10)(), // as a presenter's remote sends it
      PageUp: () => step(this.present.on ? -1 : -10)(),
      Home: step(-Infinity),
      End: step(Infinity),
      " ": () => this.stepbar.toggle(),
      ArrowDown: () => this.select(Math.min(this.store.rows.length - 1, chosen() + 1)),
      ArrowUp: () => this.select(Math.max(0, chosen() - 1)),
      Enter: () => (this.graph?.nodeOf(chosen())?.group ? this.toggleAt(chosen()) : this.enter(chosen())),
      b: () => this.stepping.reach(() => this.timeline.backTo(chosen())),
      u: () => this.toggleAt(chosen()),
      n: () => this.focus(!this.marks.near),
      p: () => this.paths.toggle(),
      q: () => this.guess(),
      f: () => fullScreen(this.el),
      v: () => this.show(),
      t: () => this.hide("table"),
      c: () => this.hide("code"),
      m: () => this.hide("map"),
      "+": () => this.camera.zoom(1.25),
      "=": () => this.camera.zoom(1.25),
      "-": () => this.camera.zoom(0.8),
      "0": () => this.fitting.all(this.graph),
      "/": () => this.toolbar.search.focus(),
      "?": () => void this.el.classList.toggle("mt-show-help"),
      Escape: () => (this.options.out && this.marks.selected < 0 ? this.options.out() : this.clear()),
    };
  }

  /** Predict mode begins before the way back, or ends. */
  private guess(): void {
    this.predict.toggle();
    if (this.predict.on && this.timeline.backward) this.go(this.timeline.forward);
    this.schedule("all");
  }

  private clear(): void {
    this.predict.close();
    this.feel.back();
    if (this.planner.busy) this.stopPlacing();
    this.marks.selected = -1;
    this.toolbar.forget();
    this.el.classList.remove("mt-show-help");
    this.paths.hide();
    this.focus(false);
    this.schedule("all");
  }

  /** Presents, or ends it. */
  private show(): void {
    this.present.toggle();
    this.camera.touched = false;
    this.schedule("all");
  }

  private leftScreen = (): void => {
    if (!document.fullscreenElement && this.present.on) this.show();
  };

  /** Hides a part of the view, or shows it again. */
  private hide(part: "table" | "code" | "map"): void {
    this.el.classList.toggle(`mt-no-${part}`);
    this.schedule("all");
  }

  /** Says something above the graph; "" takes it away. */
  say(text: string): void {
    this.help.say(text);
    this.el.classList.toggle("mt-show-help", text !== "");
  }

  private async save(kind: string): Promise<void> {
    this.stepbar.stop();
    try {
      this.el.classList.add("mt-show-help");
      await exportAs(kind, this, this.options.bundle, (text) => this.help.say(text));
    } finally {
      this.say("");
    }
  }
}
