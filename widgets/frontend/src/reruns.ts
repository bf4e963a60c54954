// A tape that records anew while it is looked at: where the reader was, and what is said of it.
import type { Store } from "./store";
import type { Timeline } from "./timeline";

/** A step of the sweep, of how many. */
type Place = [number, number];

export class Reruns {
  private stood: Place = [0, 0]; // where the reader was last
  // the same, where the tape recorded anew since, until the reader moves
  private kept: Place = [0, 0];
  private begun = 0; // how often the tape recorded anew
  /** a sentence says that it did */
  told = false;

  constructor(
    private store: Store,
    private timeline: Timeline,
  ) {}

  /** Has the tape begun again since this was asked last? Then the reader's place is kept. */
  hasBegun(): boolean {
    const { again } = this.store;
    if (again === this.begun) return false;
    [this.begun, this.kept] = [again, this.stood];
    this.told = true;
    return true;
  }

  /** The step to go back to, now that there is a sweep as long as the one before; or null. */
  findStep(): number | null {
    const [step, steps] = this.kept;
    return step && this.store.sweep?.steps.length === steps ? this.timeline.forward + step : null;
  }

  /** The reader has moved. */
  leave(): void {
    const { position, forward } = this.timeline;
    this.told = false;
    this.kept = [0, 0];
    this.stood = [Math.max(0, position - forward), this.store.sweep?.steps.length ?? 0];
  }
}
