// The view: puts the parts together, and goes where the reader goes.
import { focusBeside, focusQuietly, h } from "./dom";
import type { Graph, Group, Node } from "./graph";
import { GraphPane } from "./graph_pane";
import { Growth } from "./growth";
import { Keys } from "./keys";
import { Marks } from "./marks";
import { Modes } from "./modes";
import type { Place, ViewOptions } from "./options";
import type { ViewParts } from "./parts";
import { Stepping } from "./stepping";
import type { Store } from "./store";
import { Timeline } from "./timeline";
import { Trail } from "./trail";
import { listActions } from "./view_keys";
import { ViewPainter, type Drawn } from "./view_painter";
import { arrangeParts, buildParts, type AroundGraph } from "./view_parts";
import { t } from "./words";

export class View {
  readonly el: HTMLElement;
  readonly timeline: Timeline;
  readonly trail: Trail;
  readonly marks: Marks;
  readonly pane: GraphPane;
  readonly modes: Modes;
  readonly stepping: Stepping;
  inner: View | null = null; // of the rows inside of a call
  readonly around: AroundGraph;
  private beforeTurn = 0; // the position before a turn of a loop was chosen
  private keys: Keys;
  private growth: Growth;
  private painter: ViewPainter;
  private stopListening: () => void;

  constructor(
    readonly store: Store,
    private options: ViewOptions,
    readonly parts: ViewParts,
  ) {
    this.marks = new Marks(store);
    this.timeline = new Timeline(store);
    this.timeline.position = this.timeline.forward;
    this.timeline.canContinue = !!options.sweep;
    this.trail = new Trail(this.timeline);
    this.el = h("div.mt-view", {
      lang: t("en"),
      tabindex: 0,
      role: "application",
      "aria-label": "Tape view",
      "aria-roledescription": "picture of a tape to step through",
    });
    this.modes = this.buildModes();
    this.pane = this.buildPane();
    this.stepping = new Stepping(store, this.timeline, this.modes.predict, {
      go: (position) => this.go(position),
      pause: () => this.pause(),
      ask: () => this.options.sweep?.() ?? false,
      drawn: () => this.painter.drawState(),
    });
    this.painter = new ViewPainter(this, () => this.keys?.keepFocus());
    this.growth = new Growth(this, () => this.painter.drawState());
    this.around = buildParts(this, options, parts);
    arrangeParts(this, this.around, options.sliders);
    this.keys = new Keys(
      this.el,
      listActions(this),
      (field) => field === this.around.toolbar.search && this.around.toolbar.forget(),
    );
    this.stopListening = store.listen((change) => this.growth.take(change));
    this.pane.layOut();
    this.pane.takeRoom();
  }

  private buildModes(): Modes {
    return new Modes(this.store, this.timeline, this.marks, this.options, {
      el: this.el,
      trail: this.trail,
      say: (text) => this.say(text),
      go: (position) => this.go(position),
      focusView: () => focusQuietly(this.el),
      reveal: (box) => this.pane.revealBox(box),
      restage: (mode) => this.pane.restage(mode),
      schedule: (...parts) => this.schedule(...parts),
    });
  }

  private buildPane(): GraphPane {
    const { store, timeline, marks, options } = this;
    const events = {
      pick: (node: Node) => this.pick(node),
      open: (node: Node) => (node.group ? this.toggle(node.group, true) : this.enter(node.first)),
      hover: (node: Node | null) =>
        this.hover(node ? (node.group ? node.group.end - 1 : node.first) : -1),
      turn: (start: number | undefined, end: number) => this.toTurn(start, end),
      close: ({ group }: { group: Group | null }) => group && this.toggle(group, false),
      grab: (row: number, event: PointerEvent) => {
        const { feel } = this.around;
        if (options.grab) options.grab(row, event);
        else if (feel.can(store.rows[row])) feel.grab(store.rows[row], event);
      },
    };
    return new GraphPane(store, timeline, marks, events, {
      isInside: !!options.out,
      below: h("div.mt-below", {}),
      isPresented: () => this.isPresented,
      isCut: () => this.modes.cut.on,
      isSloping: () => this.modes.slopes.on,
      hasFocus: () => this.el.contains(focusBeside(this.el)),
      changed: (part) => this.schedule(part),
      resized: (isFirst) => {
        this.around.table.resized();
        if (isFirst) this.around.table.reveal(this.timeline.current);
      },
    });
  }

  /** The graph that is drawn. */
  get graph(): Graph | null {
    return this.pane.graph;
  }

  /** Light or dark, as the page is. */
  theme(dark: boolean): void {
    this.el.classList.toggle("mt-dark", dark);
    this.inner?.theme(dark);
    this.schedule("scene");
  }

  /** Where the reader is; `goBack` leads another view of the same tape there. */
  place(): Place {
    return {
      where: this.timeline.position,
      following: this.growth.following,
      selected: this.marks.selected,
      focused: this.el.contains(focusBeside(this.el)),
    };
  }

  goBack(to: Place): void {
    if (!to.following) this.go(to.where);
    if (to.selected < this.store.rows.length) this.marks.selected = to.selected;
    if (to.focused) requestAnimationFrame(() => focusQuietly(this.el));
  }

  /** Ends what goes on by itself, while the view is out of its page. */
  stop(): void {
    this.pause();
    this.pane.camera.stop();
  }

  destroy(): void {
    this.inner?.destroy();
    this.keys.stop();
    this.around.present.stop();
    this.stepping.stop();
    this.pause();
    this.pane.destroy();
    this.stopListening();
    this.painter.stop();
  }

  schedule(...parts: Drawn[]): void {
    this.painter.schedule(...parts);
  }

  // --- moving ---

  /** Moves to a position of the timeline and shows it at once. */
  go(position: number): void {
    const { timeline, pane } = this;
    const before = timeline.position;
    timeline.go(position);
    if (timeline.position !== before) {
      this.trail.went(before);
      this.options.moved?.(this.store.rows[timeline.current]?.line ?? null);
    }
    if (this.marks.near && this.marks.selected < 0) this.focus(true); // where the reader is now
    this.growth.leave();
    pane.tip.say("", null); // what it said is of another step
    this.around.table.reveal(timeline.current);
    this.painter.drawState();
    pane.scene.update();
    pane.reveal(Math.max(0, timeline.current));
  }

  goRow(row: number): void {
    if (row < 0 || row >= this.store.rows.length) return;
    this.select(row, false);
    this.go(row + 1);
  }

  /**
   * To a turn of a loop: on the way back to its first step, else to its last row; without one back
   * from where the first click of two has led.
   */
  private toTurn(start: number | undefined, end: number): void {
    focusQuietly(this.el);
    if (start === undefined) return this.go(this.beforeTurn);
    this.beforeTurn = this.timeline.position;
    const backs = Array.from({ length: end - start }, (_, k) =>
      this.timeline.backTo(start + k),
    ).filter((step) => step !== null);
    if (backs.length && this.timeline.backward) this.stepping.moveTo(Math.min(...backs));
    else this.goRow(end - 1);
  }

  /** To a row; into a call of a function. */
  enter(row: number): void {
    this.goRow(row);
    if (this.store.rows[row]?.op === "function")
      void this.parts.openInside(this, row, this.options);
  }

  play(): void {
    this.around.stepbar.toggle();
  }

  pause(): void {
    this.around.stepbar.stop();
  }

  // --- selecting, folding, searching ---

  select(row: number, reveal = true): void {
    this.marks.selected = row;
    if (this.marks.near) this.focus(true);
    this.around.table.reveal(row);
    if (reveal) this.pane.reveal(row);
    this.schedule("all");
  }

  private pick(node: Node): void {
    focusQuietly(this.el);
    this.select(node.group ? node.group.end - 1 : node.first, false);
  }

  hover(row: number): void {
    this.options.pointed?.(row);
    this.point(row);
  }

  /** Marks a row as if the pointer were at it; -1 for none. */
  point(row: number): void {
    if (!this.marks.point(row, !this.modes.predict.on)) return;
    this.pane.scene.update();
    this.around.table.draw(this.marks);
  }

  /** Opens or closes a group. */
  toggle(group: Group, open: boolean): void {
    this.marks.selected = -1;
    this.pane.toggle(group, open);
    this.schedule("all");
  }

  toggleAt(row: number): void {
    const node = this.graph?.nodeOf(row);
    if (node?.group) this.toggle(node.group, true);
    else if (node?.home) this.toggle(node.home, false);
  }

  /** Shows only the neighbourhood of a row, or all again. */
  focus(on: boolean): void {
    this.marks.focus(on, this.timeline.current);
    this.schedule("scene", "toolbar");
  }

  search(): void {
    this.around.toolbar.search.focus();
  }

  // --- modes, and the whole view ---

  get mode(): string {
    return this.modes.current;
  }

  set mode(wanted: string) {
    this.modes.current = wanted;
  }

  get isPresented(): boolean {
    return this.around.present.on;
  }

  /** Presents, or ends it. */
  present(): void {
    this.around.present.toggle();
    this.pane.present();
    this.schedule("all");
  }

  /** Hides a part of the view, or shows it again. */
  hide(part: "table" | "code"): void {
    this.el.classList.toggle(`mt-no-${part}`);
    this.schedule("all");
  }

  /** Leaves the presentation, or the inside of a call; else ends what the reader has begun. */
  leave(): void {
    if (this.isPresented) this.present();
    else if (this.options.out && this.marks.selected < 0) this.options.out();
    else this.clear();
  }

  private clear(): void {
    this.modes.clear();
    this.around.feel.back();
    if (this.pane.folding.busy) this.pane.stopPlacing();
    this.marks.selected = -1;
    this.around.toolbar.forget();
    this.el.classList.remove("mt-show-help");
    this.focus(false);
    this.schedule("all");
  }

  /**
   * Changes the recording, and lets the nodes of rows with the same key glide to where the new one
   * has them.
   */
  glide(before: string[], after: string[], change: () => void): void {
    const { scene } = this.pane;
    const seen = scene.listPlaces(before);
    change();
    this.pane.refit();
    scene.draw();
    scene.glideFrom(seen, after);
  }

  /** Says something above the graph; "" takes it away. */
  say(text: string): void {
    this.around.help.say(text);
    this.el.classList.toggle("mt-show-help", text !== "");
  }

  save(kind: string): void {
    this.pause();
    void this.parts
      .exportAs(kind, this, this.options.bundle, (text) => this.say(text))
      .finally(() => this.say(""));
  }
}
