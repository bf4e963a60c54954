// What the view knows of a recording: rows in order, tapes, events, source text and the last
// backward sweep.
import {
  completeRow,
  type Alarm,
  type Difference,
  type Inside,
  type Page,
  type Result,
  type Row,
  type Snapshot,
  type Sweep,
  type Tape,
  type TapeEvent,
  type PathBreak,
  type Value,
} from "./schema";
import { speak } from "./words";

export type Change = "rows" | "sweep" | "steps" | "reset" | "numbers";

/** Did the call return None for a source? Of a long sweep this is known even if no number is. */
export function gaveNone(call: Result, source: Result["sources"][number]): boolean {
  return source.none ?? (call.known === true && !source.gradient);
}

export class Store {
  record = "";
  rows: Row[] = [];
  tapes: Tape[] = [];
  events: TapeEvent[] = [];
  sources: Record<string, string> = {};
  sweep: Sweep | null = null;
  /** consumers[row] = rows that read it, in order */
  consumers: number[][] = [];
  /** rows of the recording; more than `rows` where not all were sent */
  total = 0;
  /** what the gradient calls gave */
  results: Result[] = [];
  /** what is wrong */
  alarms: Alarm[] = [];
  /** where gradients end */
  torn: PathBreak[] = [];
  /** what is known of the rows inside of calls, by the call's row */
  insides = new Map<number, Inside>();
  /** the first row that is another one in the tape with which this one is compared */
  differs: Difference | null = null;
  /** in a comparison: the name that both have */
  linked = "";
  /** the view's words in another language */
  texts: Record<string, string> | undefined;
  /** where the program can be edited and run */
  playground: string | undefined;
  /**
   * how often rows became leaves of another kind, as what was watched late, or are to be placed
   * elsewhere
   */
  recast = 0;
  /** how often a tape that had given its gradient recorded anew: its cell was run again */
  again = 0;
  private listeners = new Set<(change: Change) => void>();

  listen(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  /**
   * Takes a snapshot or a delta. Returns false, and changes nothing, when rows between are missing.
   */
  take(part: Snapshot): boolean {
    this.recorded();
    const other = part.record !== this.record;
    if (other && part.first > 0) return false;
    if (part.first > (other ? 0 : this.rows.length)) return false;
    const replaced = other && this.record !== "";
    if (other) this.clear(part.record);
    for (const row of part.rows) if (row.row >= this.rows.length) this.append(completeRow(row));
    for (const change of part.changed ?? []) this.change(change);
    Object.assign(this.sources, part.sources_text);
    const known =
      this.sweep?.id !== undefined &&
      this.sweep.id === part.sweep?.id &&
      this.sweep.steps.length > part.sweep.steps.length;
    if (part.sweep !== undefined && !known) [this.sweep, this.chosen] = [part.sweep, -1];
    if (part.sweep !== undefined) this.insides.clear(); // another sweep goes through them
    this.know(part);
    this.tell(replaced ? "reset" : part.sweep ? "sweep" : "rows");
    return true;
  }

  /**
   * Takes more steps of a long sweep. Returns false, and changes nothing, when steps between are
   * missing.
   */
  takeSteps(page: Page): boolean {
    const { sweep } = this;
    if (!sweep || sweep.id !== page.id || page.first + page.steps.length < sweep.steps.length)
      return true; // an old one
    if (page.first > sweep.steps.length) return false;
    for (const step of page.steps.slice(sweep.steps.length - page.first)) sweep.steps.push(step);
    [sweep.rest, sweep.gradients] = [page.rest, page.gradients];
    this.tell("steps");
    return true;
  }

  /** Takes a whole snapshot in place of the present one. */
  replace(part: Snapshot): void {
    this.recorded();
    this.clear(part.record);
    for (const row of part.rows) this.append(completeRow(row));
    this.sources = { ...part.sources_text };
    this.sweep = part.sweep ?? null;
    this.know(part);
    this.tell("reset");
  }

  /**
   * Takes a snapshot with other numbers on the same rows. Returns false, and changes nothing, if it
   * has other rows.
   */
  renew(part: Snapshot): boolean {
    const isSame =
      !this.real &&
      part.rows.length === this.rows.length &&
      part.sweep?.steps.length === this.sweep?.steps.length &&
      JSON.stringify(part.torn) === JSON.stringify(this.torn) &&
      part.rows.every((row, k) => isSameRow(row, this.rows[k]));
    if (!isSame) return false;
    part.rows.forEach((row, k) => Object.assign(this.rows[k], row));
    this.sources = { ...part.sources_text };
    this.sweep = part.sweep ?? null;
    this.know(part);
    this.tell("numbers");
    return true;
  }

  /** Takes what a part says of the whole recording. */
  private know(part: Snapshot): void {
    if (
      this.tapes.some((old) =>
        part.tapes.some((now) => now.id === old.id && now.spans[0]?.[0] > old.spans[0]?.[0]),
      )
    )
      this.again++;
    this.tapes = part.tapes;
    this.events = part.events;
    this.results = part.results ?? this.results;
    this.alarms = part.alarms ?? this.alarms;
    this.torn = part.torn ?? this.torn;
    for (const one of part.insides ?? []) this.insides.set(one.row, one);
    this.texts = part.texts ?? this.texts;
    this.playground = part.playground ?? this.playground;
    speak(this.texts);
    this.differs = part.differs ?? this.differs;
    this.linked = part.linked ?? this.linked;
    this.total = Math.max(part.total ?? 0, this.rows.length);
  }

  /** Is this the first row that differs from the other tape, and no row that only that one has? */
  differsAt(row: number): boolean {
    return this.differs?.row === row && !this.differs.missing;
  }

  /** Is this row, or one up to `end`, to blame for something? */
  blamed(first: number, end = first + 1): boolean {
    return !this.moved && this.alarms.some(({ row }) => row >= first && row < end);
  }

  /** Did the call that is shown give None, or zeros for a reason, for the source of this row? */
  gave(row: number): "None" | "zero" | "" {
    const call = this.moved ? undefined : this.results.find((one) => one.shown);
    const source = call?.sources.find((one) => one.at === row);
    if (!call || !source) return "";
    return gaveNone(call, source) ? "None" : source.gradient && source.reason ? "zero" : "";
  }

  get recording(): boolean {
    return this.tapes.some((tape) => tape.state === "recording");
  }

  // while a leaf is moved
  private real: { values: Map<number, Value | null>; sweep: Sweep | null } | null = null;
  /**
   * how often numbers were put in the place of the recorded ones; 0 when they are the recorded ones
   */
  moved = 0;

  /**
   * Puts other numbers in the place of the recorded ones, until `comeBack` or until new ones
   * arrive.
   */
  imagine(values: Map<number, Value>, sweep: Sweep | null): void {
    this.real ??= { values: new Map(), sweep: this.sweep };
    for (const [row, value] of values) {
      if (!this.real.values.has(row)) this.real.values.set(row, this.rows[row].value);
      this.rows[row].value = value;
    }
    this.sweep = sweep;
    this.moved++;
    this.tell("numbers");
  }

  /** Something else is known of the same numbers. */
  refresh(): void {
    this.tell("numbers");
  }

  comeBack(): void {
    if (!this.real) return;
    this.recorded();
    this.tell("numbers");
  }

  private recorded(): void {
    for (const [row, value] of this.real?.values ?? []) this.rows[row].value = value;
    if (this.real) this.sweep = this.real.sweep;
    [this.real, this.moved] = [null, 0];
  }

  /** What was recorded, also while a leaf is moved. */
  snapshot(): Snapshot {
    const { real } = this;
    return {
      version: 1,
      record: this.record,
      first: 0,
      total: this.total,
      rows: real
        ? this.rows.map((row) =>
            real.values.has(row.row) ? { ...row, value: real.values.get(row.row) ?? null } : row,
          )
        : this.rows,
      events: this.events,
      tapes: this.tapes,
      sources_text: this.sources,
      sweep: real ? real.sweep : this.sweep,
      results: this.results,
      alarms: this.alarms,
      torn: this.torn,
      insides: [...this.insides.values()],
      ...(this.differs && { differs: this.differs }),
      ...(this.linked && { linked: this.linked }),
      ...(this.texts && { texts: this.texts }),
      ...(this.playground && { playground: this.playground }),
    };
  }

  /** the call whose sweep is shown in the place of the last one's; -1 for that one */
  chosen = -1;

  /** Shows the sweep of another gradient call. */
  choose(call: number): void {
    const sweep = this.results[call]?.sweep;
    if (!sweep || this.results[call].shown) return;
    this.recorded();
    const before = this.sweep;
    this.results = this.results.map((one, k) => ({
      ...one,
      shown: k === call,
      sweep: one.shown ? (before ?? undefined) : one.sweep,
    }));
    this.sweep = sweep;
    this.chosen = call === this.results.length - 1 ? -1 : call;
    this.tell("sweep");
  }

  private clear(record: string): void {
    this.record = record;
    this.rows = [];
    this.consumers = [];
    [this.sweep, this.chosen] = [null, -1];
    [this.results, this.alarms, this.torn] = [[], [], []];
    this.insides.clear();
  }

  private append(row: Row): void {
    this.rows.push(row);
    this.consumers.push([]);
    for (const input of row.inputs) {
      const readers = this.consumers[input];
      if (readers && readers[readers.length - 1] !== row.row) readers.push(row.row);
    }
  }

  private change(part: Partial<Row> & { row: number }): void {
    const row = this.rows[part.row];
    if (!row) return;
    if ((part.kind && part.kind !== row.kind) || (part.below ?? row.below) !== row.below)
      this.recast++;
    Object.assign(row, part);
  }
}

function isSameRow(row: Row, other: Row): boolean {
  const key = ({ op, inputs, kind, name, below, shape, label, tapes }: Row): string =>
    JSON.stringify([op, inputs, kind, name, below, shape, label, tapes]);
  return key(row) === key(other);
}

/** True for a row that has no inputs on the tape: a source, a variable, a constant. */
export function isLeaf(row: Row): boolean {
  return row.inputs.length === 0 && row.kind !== "operation";
}
