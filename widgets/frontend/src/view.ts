// The view: puts the parts together and holds what the reader chose.
import { Camera } from "./camera";
import { Cell } from "./cell";
import { Cut } from "./cut";
import { focusBeside, fullScreen, h, setText } from "./dom";
import { renewed, type Graph, type Group, type Node } from "./graph";
import { Fitting } from "./fitting";
import { Folding } from "./folding";
import { Keys } from "./keys";
import type { Layout } from "./layout";
import { Marks } from "./marks";
import type { ViewParts } from "./parts";
import { PathsPanel } from "./pathspanel";
import { panAndZoom } from "./pointer";
import { Predict } from "./predict";
import { Results } from "./results";
import { Scene } from "./scene";
import { Rooms } from "./rooms";
import { Slopes } from "./slopes";
import { StepBar } from "./stepbar";
import { Stepping } from "./stepping";
import type { Place, ViewOptions } from "./options";
import type { Change, Store } from "./store";
import { Timeline } from "./timeline";
import { Tip } from "./tip";
import { Trail } from "./trail";
import type { FoldMode } from "./toolbar";
import { assignedAt } from "./update";
import { t } from "./words";

const MODES = ["cut", "slopes", "cell"] as const;

export class View {
  readonly el: HTMLElement;
  readonly timeline: Timeline;
  readonly trail: Trail;
  graph: Graph | null = null;
  inner: View | null = null; // of the rows inside of a call
  private layout: Layout | null = null;
  private camera = new Camera(() => this.schedule("scene"));
  private marks: Marks;
  readonly folding: Folding;
  private rooms = new Rooms();
  // its place on the screen does not change
  private anchor: { row: number; x: number; y: number } | null = null;
  private scene: Scene;
  private table: ReturnType<ViewParts["table"]>;
  private sourcePane: ReturnType<ViewParts["source"]>;
  private inspector: ReturnType<ViewParts["inspector"]>;
  private stepbar: StepBar;
  private toolbar: ReturnType<ViewParts["toolbar"]>;
  private paths: PathsPanel;
  private help: ReturnType<ViewParts["help"]>;
  private keys: Keys;
  private pane: HTMLElement;
  private tip: Tip;
  private hint = h("p", { class: "mt-hint" }, t("The graph grows here while the tape records."));
  private scalebar = h(
    "div",
    {
      class: "mt-scalebar",
      hidden: true,
      title: "Each small picture has its own scale, up to its largest magnitude",
    },
    "−max",
    h("i", {}),
    "+max",
  );
  private below: HTMLElement;
  private results: Results;
  private strip: ReturnType<ViewParts["strip"]>;
  private feel: ReturnType<ViewParts["feel"]>;
  private predict: Predict;
  private present: ReturnType<ViewParts["present"]>;
  private cut: Cut;
  private slopes: Slopes;
  private cell: Cell;
  private pending = new Set<string>();
  private frame = 0;
  private fitting: Fitting;
  private following = true; // the position follows the recording as it grows
  private stood = [0, 0]; // at which step of the sweep, of how many, the reader was last
  private kept = [0, 0]; // the same, where the tape recorded anew since, until the reader moves
  private anew = false; // a sentence says that it did
  private begun = 0; // how often it did
  private stepping: Stepping;
  private stopListening: () => void;
  private observer: ResizeObserver;

  constructor(
    readonly store: Store,
    private options: ViewOptions,
    readonly parts: ViewParts,
  ) {
    this.help = parts.help();
    this.marks = new Marks(store);
    this.timeline = new Timeline(store);
    this.timeline.position = this.timeline.opening;
    this.trail = new Trail(this.timeline);
    this.folding = new Folding(store, !!options.out, (layout) => {
      this.layout = layout;
      this.placed(this.fitting.wrapped(layout));
    });
    this.scene = new Scene(store, this.timeline, this.camera, this.marks, {
      pick: (node) => this.pick(node),
      open: (node) => (node.group ? this.toggle(node.group, true) : this.enter(node.first)),
      hover: (node) => this.hover(node ? (node.group ? node.group.end - 1 : node.first) : -1),
      turn: (start, end) => this.toTurn(start, end),
      close: (frame) => frame.group && this.toggle(frame.group, false),
      grab: (row, event) => {
        if (options.grab) options.grab(row, event);
        else if (this.feel.can(store.rows[row])) this.feel.grab(store.rows[row], event);
      },
      tell: (text, event) => this.tip.say(text, event),
    });
    this.table = parts.table(store, this.timeline, {
      pick: (row) => this.goRow(row),
      hover: (row) => this.hover(row),
    });
    this.sourcePane = parts.source(store, (file, line) =>
      this.goRow(store.rows.find((row) => row.file === file && row.line === line)?.row ?? -1),
    );
    this.inspector = parts.inspector(store, this.timeline, {
      back: (row) => this.stepping.reach(() => this.timeline.backTo(row)),
      to: (row) => this.goRow(row),
      go: (row) => this.select(row),
      end: (kind, row) => this.paths.choose(kind, row),
      unfold: (node) => node.group && this.toggle(node.group, true),
      enter: (row) => this.enter(row),
      again: options.again,
    });
    this.stepbar = new StepBar(
      this.timeline,
      (position) => this.stepping.moveTo(position),
      (row) => this.goRow(row),
    );
    this.toolbar = parts.toolbar(store, {
      search: (text) => (this.schedule("all"), this.marks.search(text)),
      next: () => this.marks.next >= 0 && this.select(this.marks.next),
      fold: (mode) => this.fold(mode),
      zoom: (factor) => this.camera.zoom(factor),
      fit: () => this.overview(),
      focus: () => this.focus(!this.marks.near),
      paths: () => this.paths.toggle(),
      predict: () => this.guess(),
      cut: () => this.turn("cut"),
      slopes: () => this.turn("slopes"),
      cell: () => this.turn("cell"),
      full: () => fullScreen(this.el),
      present: () => this.show(),
      go: (row) => this.goRow(row),
      save: (kind) => this.save(kind),
      stop: () => this.stopPlacing(),
      help: () => this.el.classList.toggle("mt-show-help"),
    });
    this.paths = new PathsPanel(
      store,
      this.marks,
      () => this.timeline.current,
      () => this.schedule("scene", "toolbar"),
      options.explain,
    );
    this.feel = parts.feel(store, (row, value) => this.trail.dragged(row, value));
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
    this.strip = parts.strip(store, (alarm) => {
      if (alarm.back) this.stepping.reach(() => this.timeline.backTo(alarm.row));
      else this.goRow(alarm.row);
    });
    this.pane = h("div", { class: "mt-pane" }, this.scene.svg, this.hint);
    this.stepbar.el.querySelector(".mt-count")?.before(this.scalebar);
    this.tip = new Tip(this.pane);
    this.pane.append(this.tip.el);
    this.below = h("div", { class: "mt-below" });
    const columns = parts.divider("the table's width", "column", this.table.el);
    this.below.append(
      this.table.el,
      columns,
      h("div", { class: "mt-side" }, this.sourcePane.el, this.inspector.el),
    );
    this.el = h(
      "div",
      {
        class: "mt-view",
        lang: t("en"),
        tabindex: 0,
        role: "application",
        "aria-label": "Tape view",
        "aria-roledescription": "picture of a tape to step through",
      },
      this.toolbar.el,
      this.help.el,
      this.paths.el,
      options.sliders,
      this.strip.el,
      this.pane,
      parts.divider("the graph's height", "row", this.pane),
      this.stepbar.el,
      this.predict.el,
      this.results.el,
      this.below,
    );
    this.present = parts.present(this.el, store, this.timeline, () => this.show());
    this.fitting = new Fitting(
      this.camera,
      store,
      this.timeline,
      this.scene,
      this.present,
      () => this.folding.busy,
      () => this.cut.on,
    );
    this.stepbar.el.before(this.present.el);
    this.cut = new Cut(
      store,
      () => this.marks.selected,
      (text) => this.say(text),
    );
    this.slopes = new Slopes(store, this.timeline, () => this.marks.selected);
    this.cell = new Cell(store, this.timeline);
    this.scene.over.append(this.slopes.el, this.cut.el);
    this.pane.after(this.cut.note, this.slopes.note);
    this.results.el.before(this.cell.el);
    panAndZoom(this.pane, this.camera, () =>
      this.el.contains(focusBeside(this.el)) ? this.fitting.beyond(this.graph) : [0, 0],
    ); // others scroll the page
    this.keys = new Keys(
      this.el,
      this.actions(),
      (field) => field === this.toolbar.search && this.toolbar.forget(),
    );
    this.stopListening = store.listen((change) => this.changed(change));
    for (const when of ["beforeprint", "afterprint"]) addEventListener(when, this.onPaper);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.pane);
    this.observer.observe(this.table.el);
    this.layOut();
    this.takeRoom();
  }

  /** A small tape needs less room; after something was unfolded it needs more. */
  private takeRoom(): void {
    if (this.graph)
      this.rooms.share(
        this.pane,
        this.below,
        this.graph,
        this.store.rows.length,
        this.folding.unfolded,
      );
  }

  /** On paper the whole graph is seen. */
  private onPaper = ({ type }: Event): void => {
    if (type === "beforeprint") this.fitting.all(this.graph);
    if (type === "beforeprint") this.scene.draw();
    this.scene.whole(type === "beforeprint" ? this.graph : null);
    if (type === "afterprint") this.fitting.first(this.graph);
  };

  /** Light or dark, as the page is. */
  theme(dark: boolean): void {
    this.el.classList.toggle("mt-dark", dark);
    this.inner?.theme(dark);
    this.schedule("scene");
  }

  /** Where the reader is; `goBack` leads another view of the same tape there. */
  place(): Place {
    const { position } = this.timeline;
    return {
      position,
      following: this.following,
      selected: this.marks.selected,
      focused: this.el.contains(focusBeside(this.el)),
    };
  }

  goBack(to: Place): void {
    if (!to.following) this.go(to.position);
    if (to.selected < this.store.rows.length) this.marks.selected = to.selected;
    if (to.focused) requestAnimationFrame(() => this.el.focus({ preventScroll: true }));
  }

  /** Ends what goes on by itself, while the view is out of its page. */
  stop(): void {
    this.stepbar.stop();
    this.camera.stop();
  }

  destroy(): void {
    this.inner?.destroy();
    for (const when of ["beforeprint", "afterprint"]) removeEventListener(when, this.onPaper);
    this.keys.stop();
    this.present.stop();
    this.stepping.stop();
    this.folding.destroy();
    this.stepbar.stop();
    this.camera.stop();
    this.stopListening();
    this.observer.disconnect();
    if (this.frame) cancelAnimationFrame(this.frame);
  }

  // --- data ---

  private changed(change: Change): void {
    const { store } = this;
    if (store.again !== this.begun) {
      [this.begun, this.kept, this.following, this.timeline.position] = [
        store.again,
        this.stood,
        true,
        this.timeline.forward,
      ];
      this.beginAnew();
    }
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
      this.folding.reset();
      if (!this.graph || !renewed(this.graph, store)) this.layOut();
      else this.scene.setGraph(this.graph);
    } else this.layOut(true);
    this.takeRoom();
    const [step, steps] = this.kept;
    if (step && change === "sweep" && store.sweep?.steps.length === steps) {
      this.go(this.timeline.forward + step);
      this.beginAnew();
    } else if (atEnd && backward === 0) {
      [this.timeline.position, this.timeline.fresh] = [this.timeline.opening, true];
      if (this.camera.touched) return this.schedule("all");
      if (this.store.recording) this.fitting.reveal(this.graph, this.timeline.current);
      else this.fitting.first(this.graph);
      this.table.reveal(this.timeline.current);
    }
    this.schedule("all");
  }

  /** Says that the program ran again, until the reader moves. */
  private beginAnew(): void {
    this.anew = true;
    this.say(t("The tape started over because its with block ran again."));
  }

  private layOut(patient = false): void {
    this.folding.layOut(patient);
    if (this.folding.busy) this.schedule("toolbar");
  }

  /** The pane is wider or narrower: the lines hold another number of columns. */
  private wrapAnew(): void {
    if (!this.layout || !this.graph) return;
    const graph = this.fitting.wrapped(this.layout);
    if (
      graph.per === this.graph.per &&
      graph.pitch === this.graph.pitch &&
      graph.turned === this.graph.turned
    )
      return;
    this.hold(this.timeline.current);
    this.placed(graph);
  }

  /** The node of a row does not move on the screen. */
  private hold(row: number): void {
    const node = this.graph?.nodeOf(row);
    this.anchor = node ? { row, x: node.x - this.camera.x, y: node.y - this.camera.y } : null;
  }

  private placed(graph: Graph): void {
    this.graph = graph;
    this.scene.setGraph(graph);
    const node = this.anchor && graph.nodeOf(this.anchor.row);
    if (this.anchor && node)
      [this.camera.x, this.camera.y] = [node.x - this.anchor.x, node.y - this.anchor.y];
    this.anchor = null;
    this.scalebar.hidden = !graph.nodes.some(({ row, group }) =>
      (row ?? this.store.rows[(group?.end ?? 0) - 1])?.shape.some((side) => side > 1),
    );
    this.takeRoom();
    if (this.camera.width) this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
    this.fitting.take(this.graph);
    this.schedule("all");
  }

  /** Stops placing: what was drawn remains. */
  private stopPlacing(): void {
    this.folding.stop();
    this.anchor = null;
    if (this.graph) this.fitting.next = null;
    this.schedule("toolbar");
  }

  // --- drawing, once per frame ---

  private schedule(...parts: ("all" | "scene" | "state" | "toolbar")[]): void {
    for (const part of parts) this.pending.add(part);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.render());
  }

  /** Draws what has changed; where that fails, the view says so, and raises what went wrong. */
  private render(): void {
    try {
      this.draw();
    } catch (error) {
      this.hint.textContent = t("This picture cannot be drawn: {0}", error);
      this.hint.hidden = false;
      throw error;
    }
  }

  private draw(): void {
    this.frame = 0;
    const all = this.pending.has("all");
    const scene = this.pending.has("scene");
    this.pending.clear();
    if (all || scene) this.scene.draw();
    this.hint.hidden = this.store.rows.length > 0;
    if (this.store.results.length > 0) setText(this.hint, t("The tape recorded no operation."));
    if (all) this.drawState();
    this.toolbar.draw({
      fold: this.folding.mode,
      modes: {
        nearby: this.marks.near !== null,
        paths: this.paths.shown,
        predict: this.predict.on,
        cut: this.cut.on,
        slopes: this.slopes.on,
        cell: this.cell.on,
      },
      busy: this.folding.busy,
    });
    this.keys.keepFocus();
  }

  private drawState(): void {
    const row = this.store.rows[this.timeline.current];
    this.table.draw(this.marks);
    this.stepbar.draw();
    this.strip.draw();
    this.results.draw(
      this.predict.on && this.timeline.position < this.timeline.swept
        ? "?"
        : this.timeline.held
          ? "…"
          : "",
    );
    const line = this.timeline.updating
      ? assignedAt(this.store.rows, row.file, this.store.sources[row.file ?? ""] ?? "")
      : (row?.line ?? null);
    this.inspector.asked = this.stepping.asked;
    const selected =
      this.marks.selected >= 0 ? (this.graph?.nodeOf(this.marks.selected) ?? null) : null;
    this.feel.draw(selected?.row ?? null, this.predict.on);
    this.inspector.draw(selected);
    this.present.draw();
    this.drawModes();
    this.keys.keepFocus();
    // what is above and below it has its height now
    this.sourcePane.show(row?.file ?? null, line, this.timeline.backward);
  }

  private drawModes(): void {
    this.cut.draw(this.graph);
    this.slopes.draw(this.graph);
    this.cell.draw();
  }

  // --- moving ---

  /** Moves to a position of the timeline and shows it at once. */
  go(position: number): void {
    const { position: before } = this.timeline;
    this.timeline.go(position);
    if (this.anew) this.say("");
    [this.anew, this.kept] = [false, [0, 0]];
    this.stood = [
      Math.max(0, this.timeline.position - this.timeline.forward),
      this.store.sweep?.steps.length ?? 0,
    ];
    if (this.timeline.position !== before) {
      this.trail.went(before);
      this.options.moved?.(this);
    }
    this.following =
      this.timeline.position === this.timeline.forward ||
      this.timeline.position === this.timeline.opening;
    this.tip.say("", null); // what it said is of another step
    this.table.reveal(this.timeline.current);
    this.drawState();
    this.scene.update();
    this.fitting.reveal(this.graph, Math.max(0, this.timeline.current));
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

  /** To a turn of a loop: backwards to its first step, else to its last row. */
  private toTurn(start: number, end: number): void {
    this.el.focus({ preventScroll: true });
    const backs = Array.from({ length: end - start }, (_, k) =>
      this.timeline.backTo(start + k),
    ).filter((step) => step !== null);
    if (backs.length) this.stepping.moveTo(Math.min(...backs));
    else this.goRow(end - 1);
  }

  /** To a row; into a call of a function. */
  private enter(row: number): void {
    this.goRow(row);
    if (this.store.rows[row]?.op === "function")
      void this.parts.openInside(this, row, this.options);
  }

  private select(row: number, reveal = true): void {
    this.marks.selected = row;
    if (this.marks.near) this.focus(true);
    this.table.reveal(row);
    if (reveal) this.fitting.reveal(this.graph, row);
    this.schedule("all");
  }

  private pick(node: Node): void {
    this.el.focus({ preventScroll: true });
    this.select(node.group ? node.group.end - 1 : node.first, false);
  }

  private hover(row: number): void {
    this.options.pointed?.(row);
    this.point(row);
  }

  /** Marks a row as if the pointer were at it; -1 for none. */
  point(row: number): void {
    if (!this.marks.point(row, !this.predict.on)) return;
    this.scene.update();
    this.table.draw(this.marks);
  }

  // --- folding, focus, search ---

  fold(mode: FoldMode): void {
    this.folding.choose(mode);
    this.fitting.next = "first";
    this.layOut();
    this.schedule("all");
  }

  /** Opens or closes a group and keeps it where the reader looks. */
  private toggle(group: Group, open: boolean): void {
    this.hold(group.start);
    this.folding.toggle(group, open);
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
    this.marks.focus(on, this.timeline.current);
    this.schedule("scene", "toolbar");
  }

  // --- camera ---

  private resized(): void {
    const { width: before, height } = this.camera;
    this.table.resized();
    this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
    if (!this.camera.width) return;
    if (!before) this.takeRoom(); // now the view is in its page
    if (!before) this.table.reveal(this.timeline.current);
    if (before !== this.camera.width) this.wrapAnew();
    if (this.fitting.next) this.fitting.take(this.graph);
    else if (
      (before !== this.camera.width || (height !== this.camera.height && !this.store.recording)) &&
      !this.camera.touched
    )
      this.fitting.first(this.graph);
    this.schedule("all");
  }

  /**
   * Shows all of the graph; of a large one a map that fills the pane, and when asked again the part
   * that can be read.
   */
  private overview(): void {
    const far = !this.fitting.map && this.fitting.isFar(this.graph);
    if (this.fitting.map !== far) {
      this.fitting.map = far;
      this.fitting.next = far ? "all" : "first";
      if (this.layout) this.placed(this.fitting.wrapped(this.layout));
    } else this.fitting.all(this.graph);
  }

  // --- keys ---

  private actions(): Record<string, () => void> {
    const moving = (move: () => void) => (): void => (this.stepbar.stop(), move());
    const step = (by: number) => moving(() => this.stepping.moveTo(this.timeline.position + by));
    const over = (by: number) => moving(() => this.stepping.over(by, this.graph));
    const chosen = (): number => this.marks.chosen(this.timeline.current);
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
      Enter: () =>
        this.graph?.nodeOf(chosen())?.group ? this.toggleAt(chosen()) : this.enter(chosen()),
      b: () => this.stepping.reach(() => this.timeline.backTo(chosen())),
      u: () => this.toggleAt(chosen()),
      n: () => this.focus(!this.marks.near),
      p: () => this.paths.toggle(),
      q: () => this.guess(),
      k: () => this.turn("cut"),
      "[": () => this.cut.move(-1),
      "]": () => this.cut.move(1),
      s: () => this.turn("slopes"),
      w: () => this.turn("cell"),
      f: () => fullScreen(this.el),
      v: () => this.show(),
      t: () => this.hide("table"),
      c: () => this.hide("code"),
      "+": () => this.camera.zoom(1.25),
      "=": () => this.camera.zoom(1.25),
      "-": () => this.camera.zoom(0.8),
      "0": () => this.overview(),
      "/": () => this.toolbar.search.focus(),
      "?": () => void this.el.classList.toggle("mt-show-help"),
      Escape: () =>
        this.options.out && this.marks.selected < 0 ? this.options.out() : this.clear(),
    };
  }

  /** Predict mode begins before the backward sweep, or ends. */
  private guess(): void {
    this.predict.toggle();
    // nothing tells what the gradient gave
    if (this.predict.on) this.go(Math.min(this.timeline.position, this.timeline.forward));
    this.schedule("all");
  }

  /** Begins or ends a mode. */
  private turn(mode: "cut" | "slopes" | "cell"): void {
    this[mode].toggle();
    if (mode === "cut" && this.cut.on) this.trail.cut(this.marks.selected);
    this.el.classList.toggle("mt-cutting", this.cut.on);
    if (mode === "cut" && this.layout?.flat) this.fitting.next = "first"; // it is another graph
    if (mode === "cut" && this.layout?.flat) this.placed(this.fitting.wrapped(this.layout));
    this.el.classList.toggle("mt-sloping", this.slopes.on);
    this.schedule("all");
  }

  /** The mode in which the picture is; "" for none. */
  get mode(): string {
    const found = MODES.find((mode) => this[mode].on);
    return found ?? (this.paths.shown ? "paths" : this.predict.on ? "predict" : "");
  }

  set mode(wanted: string) {
    for (const mode of MODES) if (this[mode].on !== (mode === wanted)) this.turn(mode);
    if (this.paths.shown !== (wanted === "paths")) this.paths.toggle();
    if (this.predict.on !== (wanted === "predict")) this.guess();
  }

  /**
   * Changes the recording, and lets the nodes of rows with the same key glide to where the new one
   * has them.
   */
  glide(before: string[], after: string[], change: () => void): void {
    const seen = this.scene.listPlaces(before);
    change();
    this.refit();
    this.scene.draw();
    this.scene.glideFrom(seen, after);
  }

  /** Shows the graph as at first. */
  refit(): void {
    this.camera.touched = false;
    this.takeRoom();
    this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
    this.fitting.first(this.graph);
    this.schedule("all");
  }

  private clear(): void {
    for (const mode of MODES) if (this[mode].on) this.turn(mode);
    this.predict.close();
    this.feel.back();
    if (this.folding.busy) this.stopPlacing();
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
    requestAnimationFrame(() => {
      this.camera.resize(this.pane.clientWidth, this.pane.clientHeight);
      this.fitting.next = "first";
      if (this.layout) this.placed(this.fitting.wrapped(this.layout));
    });
    this.schedule("all");
  }

  /** Hides a part of the view, or shows it again. */
  private hide(part: "table" | "code"): void {
    this.el.classList.toggle(`mt-no-${part}`);
    this.schedule("all");
  }

  /** Says something above the graph; "" takes it away. */
  say(text: string): void {
    this.help.say(text);
    this.el.classList.toggle("mt-show-help", text !== "");
  }

  private save(kind: string): void {
    this.stepbar.stop();
    void this.parts
      .exportAs(kind, this, this.options.bundle, (text) => this.say(text))
      .finally(() => this.say(""));
  }
}
