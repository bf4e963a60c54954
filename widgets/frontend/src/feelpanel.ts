// The part of the side in which derivatives are felt: the function that is selected, its tangent,
// and a leaf that moves.
import { follow, h } from "./dom";
import { drawing, ghost, localCurve, Mover, wholeCurve, type Curve } from "./feel";
import type { Row } from "./schema";
import type { Store } from "./store";
import { title } from "./value";
import { isMovable, numberOf, placesOf, WhatIf } from "./whatif";
import { t } from "./words";

const FAR =
  "This value cannot be moved here, because an array or an operation that is not elementwise depends on it. Use TapeView.interact instead.";
const SHARED =
  "The program uses this number in several places that share one row of the tape, so it cannot be moved in only one of them.";

export class FeelPanel {
  readonly el = h("div.mt-feelings", { hidden: true });
  private what: WhatIf | null = null;
  private mover: Mover | null = null;
  private starts = new Map<number, number>(); // of the leaves that were moved
  private place = h("div");
  private pictures = h("div.mt-curves", {});
  private note = h("p.mt-note", {});
  private drawn = "";

  /** `told` hears of each number that the reader gives a leaf. */
  constructor(
    private store: Store,
    private told: (row: number, value: number) => void = () => undefined,
  ) {
    this.el.append(this.place, this.pictures, this.note);
  }

  /** The recording's own numbers came: nothing is moved any more. */
  forget(): void {
    this.what = this.mover = null;
    this.starts.clear();
    this.drawn = "";
  }

  private whatIf(): WhatIf {
    return (this.what ??= new WhatIf(this.store));
  }

  /** Can this row be moved? */
  can(row: Row | null | undefined): row is Row {
    return !!row && row.kind !== "operation" && this.whatIf().can(row.row);
  }

  /** Draws what belongs to the selected row. */
  draw(row: Row | null, hide: boolean): void {
    const shown = row && !hide ? row : null;
    const key = shown
      ? `${shown.row}|${shown.value?.text}|${this.store.sweep?.steps.length}|${this.store.moved}`
      : "";
    if (key === this.drawn) return;
    this.drawn = key;
    const curves = shown ? this.curves(shown) : [];
    this.pictures.replaceChildren(
      ...curves.map(drawing),
      ...(shown && shown.kind !== "operation" ? curves.map(ghost) : []),
    );
    this.note.textContent = "";
    if (shown && this.can(shown)) {
      if (this.mover?.row !== shown.row) {
        const value = numberOf(shown.value);
        this.mover = new Mover(
          shown.row,
          title(shown),
          value,
          this.starts.get(shown.row) ?? value,
          (to) => this.move(shown.row, to),
          () => this.back(),
        );
        this.place.replaceChildren(this.mover.el);
      } else this.mover.show(numberOf(shown.value));
      if (this.store.moved)
        this.note.textContent = t(
          "These are not the program's numbers. Branches and loops stay as recorded.",
        );
    } else {
      this.mover = null;
      this.place.replaceChildren();
      if (shown && isMovable(shown))
        this.note.textContent = t(placesOf(this.store, shown) > 1 ? SHARED : FAR);
    }
    this.el.hidden = !curves.length && !this.mover && !this.note.textContent;
  }

  private curves(row: Row): Curve[] {
    if (row.kind !== "operation") {
      const whole = wholeCurve(this.store, this.whatIf(), row.row);
      return whole ? [whole] : [];
    }
    const ports = row.inputs.length === 2 && row.inputs[0] !== row.inputs[1] ? [0, 1] : [0];
    return ports
      .filter((port) => this.store.rows[row.inputs[port]]?.kind !== "constant")
      .map((port) => localCurve(this.store, row, port))
      .filter((curve) => curve !== null);
  }

  /** Gives a leaf another value: the rows that depend on it and the sweep follow at once. */
  move(row: number, value: number): void {
    const what = this.whatIf();
    const found = Number.isFinite(value) ? what.snapshot(row, value) : null;
    if (!found) return;
    if (!this.starts.has(row)) this.starts.set(row, numberOf(this.store.rows[row].value));
    this.store.imagine(found.values, found.sweep);
    what.refresh();
    this.told(row, value);
  }

  /** As it was recorded. */
  back(): void {
    this.starts.clear();
    this.store.comeBack();
    this.what?.refresh();
  }

  get moved(): boolean {
    return this.starts.size > 0;
  }

  /** A leaf's node was grabbed: it moves as far as the pointer does. */
  grab(row: Row, event: PointerEvent): void {
    const [el, from, start] = [event.currentTarget as Element, event.clientX, numberOf(row.value)];
    const unit = Math.max(1, Math.abs(start)) / 100;
    let dragged = false;
    const drag = (move: PointerEvent): void => {
      const by = move.clientX - from;
      if (!dragged && Math.abs(by) < 5) return;
      dragged = true;
      const grid = 10 ** Math.floor(Math.log10(unit));
      this.move(row.row, Number((Math.round((start + by * unit) / grid) * grid).toPrecision(12)));
    };
    follow(el, event, drag);
  }
}
