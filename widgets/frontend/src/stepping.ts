// Moving as keys and buttons do: over what is folded, past predictions, and into the steps of a
// long sweep when they come.
import type { Graph } from "./graph";
import type { Predict } from "./predict";
import type { Store } from "./store";
import type { Timeline } from "./timeline";

const PATIENCE = 15000; // milliseconds to wait for the first steps of a long sweep

export interface SteppingActions {
  go(position: number): void;
  pause(): void;
  ask(): boolean; // the kernel for the steps of a long sweep; false where there is none
  drawn(): void; // the words about the step are to be drawn anew
}

export class Stepping {
  asked: "no" | "yes" | "in vain" = "no"; // for the steps of a long sweep
  // where to go when the steps that it needs are there
  private goal: (() => number | null) | null = null;
  private patience = 0;

  constructor(
    private store: Store,
    private timeline: Timeline,
    private predict: Predict,
    private actions: SteppingActions,
  ) {}

  stop(): void {
    window.clearTimeout(this.patience);
  }

  /** There is another sweep. */
  forget(): void {
    [this.goal, this.asked] = [null, "no"];
  }

  /** More steps of a long sweep: perhaps the one that the reader wants to go to. */
  came(): void {
    this.timeline.more();
    this.asked = "yes";
    const wanted = this.goal?.() ?? null;
    if (wanted !== null) this.actions.go(wanted);
    if (wanted !== null || !this.timeline.unfinished) this.goal = null;
  }

  /** Goes where `goal` says, now or when the steps of the sweep that it needs are there. */
  reach(goal: () => number | null): void {
    const now = goal();
    if (now !== null) return this.actions.go(now);
    if (!this.timeline.unfinished) return;
    this.goal = goal;
    if (this.asked !== "yes") {
      this.asked = this.actions.ask() ? "yes" : "in vain";
      this.patience = window.setTimeout(() => this.unanswered(), PATIENCE);
    }
    this.actions.drawn();
  }

  /** The kernel does not say anything: there may be none. */
  private unanswered(): void {
    if (this.asked !== "yes" || this.store.sweep?.steps.length) return;
    this.asked = "in vain";
    this.actions.drawn();
  }

  /**
   * One step; inside of a folded loop all those of a turn, of another folded group all of its
   * steps.
   */
  over(by: number, graph: Graph | null): void {
    const { timeline, store } = this;
    const rowAt = (position: number): number =>
      position > timeline.forward
        ? (store.sweep?.steps[position - timeline.forward - 1]?.row ?? -1)
        : position - 1;
    let position = timeline.position + by;
    const group = graph?.nodeOf(rowAt(position))?.group;
    const backward = position > timeline.forward;
    const turnOf = (row: number): number =>
      group ? group.starts.filter((start) => start <= row).length : 0;
    const turn = turnOf(rowAt(position));
    const within = (row: number): boolean =>
      // with the weights next to it
      !!group && row >= group.start && row < group.end && turnOf(row) === turn;
    const goesOn = (next: number): boolean =>
      next >= 0 &&
      next <= timeline.swept &&
      within(rowAt(next)) &&
      next > timeline.forward === backward;
    while (group && goesOn(position + by)) position += by;
    this.moveTo(position);
  }

  /**
   * To a position: past the last step that is there, the others are asked for; in predict mode the
   * reader is asked first.
   */
  moveTo(position: number): void {
    this.goal = null;
    const { timeline } = this;
    if (position > timeline.position && position > timeline.forward) {
      const next = Math.max(timeline.position, timeline.forward) + 1;
      if (this.predict.ask(next, timeline.forward)) {
        this.actions.pause();
        return timeline.position < timeline.forward ? this.actions.go(timeline.forward) : undefined;
      }
    } else this.predict.close();
    if (position <= timeline.length) this.actions.go(position);
    else this.reach(() => (timeline.unfinished && position > timeline.length ? null : position));
  }
}
