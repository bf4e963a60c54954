// Stepping: position 0 is before the first row, 1..N after row N-1, N+1..N+S after step S of the
// backward sweep; and where variables were assigned after it, as an optimizer does, one step more.
import { notFinite } from "./scale";
import type { Result, SweepEdge, SweepStep, Value } from "./schema";
import type { Store } from "./store";

export class Timeline {
  position = 0;
  private isOpening = true; // nobody has moved
  canContinue = true; // a kernel can compute the steps of a long sweep
  /** the reader is to say what comes: the picture does not tell what the gradient gave */
  isPredicted = false;
  /** steps that gave this row's adjoint a value: [step number from 1, adjoint after it] in order */
  private history = new Map<number, [number, Value][]>();
  private stepOf = new Map<number, number>();
  // by row: from which step on what more had arrived
  private arrivals = new Map<number, [number, Value][]>();
  private bad = new Map<number, number>(); // rows whose adjoint is not finite, from which step on

  private indexed = 0;
  // the rows of the sources; a variable that was assigned has one for each state that was read
  private given = new Set<number>();
  /** the variables that were assigned after the gradient, by their last row */
  readonly updates = new Map<number, Result["sources"][number]>();

  /** the step of the tape with which this one is compared is not on this one */
  isApart = false;

  constructor(private store: Store) {
    this.index();
  }

  /** Call after the sweep changed. */
  index(): void {
    this.history.clear();
    this.stepOf.clear();
    this.arrivals.clear();
    this.bad.clear();
    this.indexed = 0;
    this.updates.clear();
    const sources = this.store.results.find((call) => call.shown)?.sources ?? [];
    this.given = new Set([
      ...(this.store.sweep?.sources ?? []),
      ...sources.flatMap((source) => source.rows),
    ]);
    for (const source of this.store.moved ? [] : sources)
      if (source.now) this.updates.set(source.rows[source.rows.length - 1], source);
    this.more();
    this.position = Math.min(this.position, this.length);
  }

  /** Call after the sweep grew. */
  more(): void {
    const steps = this.store.sweep?.steps ?? [];
    for (; this.indexed < steps.length; this.indexed++) {
      const [step, k] = [steps[this.indexed], this.indexed + 1];
      this.stepOf.set(step.row, k);
      this.note(step.row, k, step.adjoint);
      for (const other of step.others ?? []) this.note(other.row, k, other.adjoint);
      for (const edge of step.edges) {
        this.note(edge.input, k, edge.sum);
        const list = this.arrivals.get(edge.input);
        if (list) list.push([k, edge.product]);
        else this.arrivals.set(edge.input, [[k, edge.product]]);
      }
    }
  }

  private note(row: number, step: number, value: Value): void {
    if (!this.bad.has(row) && notFinite(value)) this.bad.set(row, step);
    const list = this.history.get(row);
    if (!list) this.history.set(row, [[step, value]]);
    else if (list[list.length - 1][0] === step) list[list.length - 1][1] = value;
    else list.push([step, value]);
  }

  /** The position after the last row: there a picture is looked at first. */
  get forward(): number {
    return this.store.rows.length;
  }

  /** The position, by a name that the bundle keeps: the playground reads it. */
  get where(): number {
    return this.position;
  }

  /** The position after the last step of the sweep. */
  get swept(): number {
    return this.forward + (this.store.sweep?.steps.length ?? 0);
  }

  get length(): number {
    return (
      this.swept + Number(this.updates.size > 0 && this.swept > this.forward && !this.unfinished)
    );
  }

  /** Does the picture say what came out: where it opens, and from the end of the sweep on? */
  get settled(): boolean {
    return this.position >= this.swept || (this.position === this.forward && !this.isPredicted);
  }

  /** At the optimizer's step. */
  get updating(): boolean {
    return this.position > this.swept;
  }

  get backward(): boolean {
    return this.position > this.forward;
  }

  get step(): SweepStep | null {
    return this.backward
      ? (this.store.sweep?.steps[this.position - this.forward - 1] ?? null)
      : null;
  }

  /**
   * The row that the current position is at, or -1 before the first one. A picture opens at the
   * last target, also if the program went on behind it.
   */
  get current(): number {
    if (this.updating) return this.updates.keys().next().value ?? -1;
    const { position, forward } = this;
    if (this.isOpening && position === forward) {
      const target = Math.max(...(this.store.sweep?.target ?? []));
      if (target >= 0) return target;
    }
    return this.step?.row ?? Math.min(position, forward) - 1;
  }

  /** Has this row run at the current position? */
  done(row: number): boolean {
    return row < this.position;
  }

  /** The adjoint that the row holds at the current position, if any. */
  adjoint(row: number): Value | null {
    return this.backward ? this.after(row, this.position - this.forward) : null;
  }

  /** The same; where the picture opens, at each state of a source what the gradient gave. */
  seen(row: number): Value | null {
    const given = this.settled && this.given.has(row);
    return given && !this.unfinished ? this.last(row) : this.adjoint(row);
  }

  /** Adjoint of an input before the current step added to it, or null if this step is the first. */
  before(row: number): Value | null {
    return this.after(row, this.position - this.forward - 1);
  }

  /** Does this row's adjoint wait for more: will another reader add to it? */
  waits(row: number): boolean {
    const last = this.arrivals.get(row)?.at(-1)?.[0] ?? 0;
    return this.backward && last > this.position - this.forward;
  }

  /**
   * What the present step adds up at an input: what was there before, and each product; empty where
   * it is alone.
   */
  addends(row: number): Value[] {
    const now = this.position - this.forward;
    const products = (this.arrivals.get(row) ?? [])
      .filter(([step]) => step === now)
      .map(([, product]) => product);
    const before = this.before(row);
    const found = before ? [before, ...products] : products;
    return products.length && found.length > 1 ? found : [];
  }

  /** Is an adjoint of the rows from `start` to before `end` not finite by now? */
  badIn(start: number, end: number): boolean {
    if (!this.backward || !this.bad.size) return false;
    for (const [row, step] of this.bad)
      if (row >= start && row < end && step <= this.position - this.forward) return true;
    return false;
  }

  /** The row's adjoint at the end of the sweep. */
  last(row: number): Value | null {
    return this.history.get(row)?.at(-1)?.[1] ?? null;
  }

  /** The row's adjoint after this many steps. */
  private after(row: number, steps: number): Value | null {
    const list = this.history.get(row) ?? [];
    // the entries below `low` are early enough, those from `high` on too late
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle][0] <= steps) low = middle + 1;
      else high = middle;
    }
    return low ? list[low - 1][1] : null;
  }

  /** The step of the sweep that works on this row, where it has been made by now. */
  stepOn(row: number): SweepStep | null {
    const k = this.stepOf.get(row);
    return k !== undefined && this.backward && k <= this.position - this.forward
      ? (this.store.sweep?.steps[k - 1] ?? null)
      : null;
  }

  /** What this row has handed on to its inputs by now. */
  sent(row: number): SweepEdge[] {
    return this.stepOn(row)?.edges ?? [];
  }

  /**
   * What the rows from `start` to before `end` have handed on by now, in the order of the steps.
   */
  sentFrom(start: number, end: number): SweepEdge[] {
    const made = this.backward
      ? (this.store.sweep?.steps.slice(0, this.position - this.forward) ?? [])
      : [];
    return made.flatMap((step) => (step.row >= start && step.row < end ? step.edges : []));
  }

  /** Steps of the sweep are still missing. */
  get unfinished(): boolean {
    return this.canContinue && !!this.store.sweep?.rest;
  }

  /** Position at which the sweep works on this row, or null if the sweep never reaches it. */
  backTo(row: number): number | null {
    const step = this.stepOf.get(row);
    return step === undefined ? null : this.forward + step;
  }

  go(position: number): boolean {
    this.isOpening = false;
    const next = Math.max(0, Math.min(this.length, Math.round(position)));
    if (next === this.position) return false;
    this.position = next;
    return true;
  }
}
