// What is off until it is asked for: the cut, slopes, cells, paths, and predictions.
import type { Box } from "./camera";
import { Cell } from "./cell";
import { Cut } from "./cut";
import type { Graph } from "./graph";
import type { Marks } from "./marks";
import type { ViewOptions } from "./options";
import { PathsPanel } from "./pathspanel";
import { Predict } from "./predict";
import { Slopes } from "./slopes";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import type { Trail } from "./trail";

const OVERLAYS = ["cut", "slopes", "cell"] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** What the modes do to the view around them. */
export interface Stage {
  readonly el: HTMLElement;
  readonly trail: Trail;
  say(text: string): void;
  go(position: number): void;
  focusView(): void;
  /** brings a part of the graph into view */
  reveal(box: Box): void;
  /** the graph of a mode is another one */
  restage(mode: Overlay): void;
  schedule(...parts: ("all" | "scene" | "toolbar")[]): void;
}

export class Modes {
  readonly cut: Cut;
  readonly slopes: Slopes;
  readonly cell: Cell;
  readonly paths: PathsPanel;
  readonly predict: Predict;

  constructor(
    store: Store,
    private timeline: Timeline,
    private marks: Marks,
    options: ViewOptions,
    private stage: Stage,
  ) {
    const selected = (): number => marks.selected;
    this.cut = new Cut(store, selected, (text) => stage.say(text));
    this.slopes = new Slopes(store, timeline, selected);
    this.cell = new Cell(store, timeline);
    this.paths = new PathsPanel(
      store,
      marks,
      () => timeline.current,
      () => stage.schedule("scene", "toolbar"),
      options.explain,
    );
    this.predict = new Predict(store, (position) => {
      stage.go(position);
      stage.focusView();
    });
  }

  draw(graph: Graph | null): void {
    const before = this.cut.place;
    this.cut.draw(graph);
    const { place } = this.cut;
    if (place && (place.x !== before?.x || place.y !== before.y)) this.stage.reveal(place);
    this.slopes.draw(graph);
    this.cell.draw();
  }

  /** Which of them are on, for the toolbar. */
  get shown() {
    const { cut, slopes, cell, paths, predict } = this;
    return {
      paths: paths.shown,
      predict: predict.on,
      cut: cut.on,
      slopes: slopes.on,
      cell: cell.on,
    };
  }

  /** Begins or ends a mode. */
  turn(mode: Overlay): void {
    const { el, trail } = this.stage;
    this[mode].toggle();
    if (mode === "cell" && this.cell.on) this.goToProduct();
    el.classList.toggle("mt-cutting", this.cut.on);
    el.classList.toggle("mt-sloping", this.slopes.on);
    if (mode === "cut" && this.cut.on) trail.cut(this.marks.selected);
    this.stage.restage(mode);
    this.stage.schedule("all");
  }

  /** Goes to the next step back through a product of matrices, if the present one is none. */
  private goToProduct(): void {
    const { forward, position } = this.timeline;
    const next = this.cell.nextProduct(Math.max(0, position - forward - 1));
    if (next >= 0) this.stage.go(forward + next + 1);
  }

  /** Moves the cut by so many columns. */
  moveCut(by: number): void {
    this.cut.move(by);
    if (this.cut.place) this.stage.reveal(this.cut.place);
  }

  /** Predictions begin before the backward sweep, or end. */
  guess(): void {
    const { position, forward } = this.timeline;
    this.predict.toggle();
    this.timeline.isPredicted = this.predict.on;
    if (this.predict.on) {
      const place = Math.min(position, forward);
      this.stage.go(place);
      if (!this.predict.ask(place + 1, forward)) this.predict.invite();
    }
    this.stage.schedule("all");
  }

  /** The mode in which the picture is; "" for none. */
  get current(): string {
    const found = OVERLAYS.find((mode) => this[mode].on);
    return found ?? (this.paths.shown ? "paths" : this.predict.on ? "predict" : "");
  }

  set current(wanted: string) {
    this.turnOff(wanted);
    const overlay = OVERLAYS.find((mode) => mode === wanted);
    if (overlay && !this[overlay].on) this.turn(overlay);
    if (this.paths.shown !== (wanted === "paths")) this.paths.toggle();
    if (this.predict.on !== (wanted === "predict")) this.guess();
  }

  /** Ends the modes that draw over the graph, but for one. */
  private turnOff(but = ""): void {
    for (const mode of OVERLAYS) if (this[mode].on && mode !== but) this.turn(mode);
  }

  /** Ends all of them. */
  clear(): void {
    this.turnOff();
    this.predict.close();
    this.paths.hide();
  }
}
