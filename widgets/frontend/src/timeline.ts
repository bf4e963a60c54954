// Stepping: position 0 is before the first row, 1..N after row N-1, N+1..N+S after step S of the backward sweep.
import type { SweepStep, Value } from "./schema";
import type { Store } from "./store";

export class Timeline {
  position = 0;
  /** steps that gave this row's adjoint a value: [step number from 1, adjoint after it] in order */
  private history = new Map<number, [number, Value][]>();
  private stepOf = new Map<number, number>();

  constructor(private store: Store) {
    this.index();
  }

  /** Call after the sweep changed. */
  index(): void {
    this.history.clear();
    this.stepOf.clear();
    this.store.sweep?.steps.forEach((step, k) => {
      this.stepOf.set(step.row, k + 1);
      this.note(step.row, k + 1, step.adjoint);
      for (const other of step.others ?? []) this.note(other.row, k + 1, other.adjoint);
      for (const edge of step.edges) this.note(edge.input, k + 1, edge.sum);
    });
    this.position = Math.min(this.position, this.length);
  }

  private note(row: number, step: number, value: Value): void {
    const list = this.history.get(row);
    if (!list) this.history.set(row, [[step, value]]);
    else if (list[list.length - 1][0] === step) list[list.length - 1][1] = value;
    else list.push([step, value]);
  }

  get forward(): number {
    return this.store.rows.length;
  }

  get length(): number {
    return this.forward + (this.store.sweep?.steps.length ?? 0);
  }

  get backward(): boolean {
    return this.position > this.forward;
  }

  get step(): SweepStep | null {
    return this.backward ? (this.store.sweep?.steps[this.position - this.forward - 1] ?? null) : null;
  }

  /** The row that the current position is at, or -1 before the first one. */
  get current(): number {
    return this.step?.row ?? Math.min(this.position, this.forward) - 1;
  }

  /** Has this row run at the current position? */
  done(row: number): boolean {
    return row < this.position;
  }

  /** The adjoint that the row holds at the current position, if any. */
  adjoint(row: number): Value | null {
    if (!this.backward) return null;
    const list = this.history.get(row);
    if (!list) return null;
    const now = this.position - this.forward;
    let found: Value | null = null;
    for (const [step, value] of list) {
      if (step > now) break;
      found = value;
    }
    return found;
  }

  /** Adjoint of an input before the current step added to it, or null if this step is the first. */
  before(row: number): Value | null {
    const list = this.history.get(row) ?? [];
    const now = this.position - this.forward;
    let found: Value | null = null;
    for (const [step, value] of list) if (step < now) found = value;
    return found;
  }

  /** Position at which the sweep works on this row, or null if the sweep never reaches it. */
  backTo(row: number): number | null {
    const step = this.stepOf.get(row);
    return step === undefined ? null : this.forward + step;
  }

  go(position: number): boolean {
    const next = Math.max(0, Math.min(this.length, Math.round(position)));
    if (next === this.position) return false;
    this.position = next;
    return true;
  }
}
