// The Wengert list: one line per row, only the visible ones in the page.
import { h, on, setText } from "./dom";
import type { Row, Value } from "./schema";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { brief, currentOf, gone, shortName, sizeOf, title } from "./value";
import { t } from "./words";

const LINE = 22;
const LETTER = 7.25; // pixels
const CELLS = ["row", "operation", "inputs", "value", "adjoint", "line"] as const;

export class Table {
  readonly el: HTMLElement;
  private body = h("div.mt-lines", { role: "presentation" });
  private head = h(
    "div.mt-line.mt-head",
    { role: "row" },
    h("span.mt-lanes", {}),
    ...CELLS.map((name) => h("span", { role: "columnheader", class: `mt-c-${name}` }, t(name))),
  );
  private scroller: HTMLElement;
  private lines = new Map<number, HTMLElement>();
  private revealed = -1; // the row that was brought into view last
  private height = 0; // of what could be seen then
  // characters that fit
  private room: Record<string, number> = { operation: 22, value: 18, adjoint: 18 };

  constructor(
    private store: Store,
    private timeline: Timeline,
    private events: { pick(row: number): void; hover(row: number): void },
  ) {
    this.scroller = h("div.mt-scroll", { role: "rowgroup", tabindex: -1 }, this.body);
    this.el = h(
      "div.mt-table",
      { role: "table", "aria-label": "Rows of the tape" },
      h("div", { role: "rowgroup" }, this.head),
      this.scroller,
    );
    on(this.scroller, "scroll", () => this.draw());
    on(this.body, "click", (event) => this.at(event, (row) => this.events.pick(row)));
    on(this.body, "pointerover", (event) => this.at(event, (row) => this.events.hover(row)));
    on(this.body, "pointerleave", () => this.events.hover(-1));
  }

  /** Call when the table has another size: the row that was to be in view remains so. */
  resized(): void {
    const { scrollTop } = this.scroller;
    const at = this.revealed * LINE;
    if (at >= scrollTop && at + LINE <= scrollTop + this.height) this.reveal(this.revealed);
    for (const name of Object.keys(this.room)) {
      const head = this.head.querySelector(`.mt-c-${name}`);
      if (head?.clientWidth)
        this.room[name] = Math.max(5, Math.min(30, Math.floor((head.clientWidth - 6) / LETTER)));
    }
  }

  private at(event: Event, action: (row: number) => void): void {
    const line = (event.target as Element).closest<HTMLElement>("[data-row]");
    if (line) action(Number(line.dataset.row));
  }

  /** Forgets the drawn lines: rows were replaced. */
  reset(): void {
    this.lines.clear();
    this.body.replaceChildren();
  }

  /** Draws the lines in view and brings them up to date. */
  draw(marks: { hover: number; selected: number; found: Set<number> } | null = null): void {
    if (marks) this.marks = marks;
    const count = this.store.rows.length;
    this.el.setAttribute("aria-rowcount", String(count + 1));
    const isForward = !this.store.sweep && this.store.rows.some((row) => row.tangent);
    setText(this.head.children[5], t(isForward ? "tangent" : "adjoint"));
    this.el.style.setProperty("--mt-digits", String(String(count).length));
    this.body.style.height = `${count * LINE}px`;
    this.el.style.setProperty(
      "--mt-bar",
      `${this.scroller.offsetWidth - this.scroller.clientWidth}px`,
    );
    const top = Math.max(0, Math.floor(this.scroller.scrollTop / LINE) - 3);
    const bottom = Math.min(
      count,
      Math.ceil((this.scroller.scrollTop + (this.scroller.clientHeight || 200)) / LINE) + 3,
    );
    for (const [row, line] of this.lines)
      if (row < top || row >= bottom) {
        line.remove();
        this.lines.delete(row);
      }
    for (let row = top; row < bottom; row++) {
      let line = this.lines.get(row);
      if (!line) {
        line = this.line(this.store.rows[row]);
        this.lines.set(row, line);
        this.body.append(line);
      }
      this.paint(line, this.store.rows[row]);
    }
  }

  private marks = { hover: -1, selected: -1, found: new Set<number>() };

  private line(row: Row): HTMLElement {
    const line = h("div.mt-line", {
      role: "row",
      "data-row": row.row,
      "aria-rowindex": row.row + 2,
      style: `top:${row.row * LINE}px`,
    });
    line.append(
      this.lanes(row),
      ...CELLS.map((name) => h("span", { role: "cell", class: `mt-c-${name}` })),
    );
    return line;
  }

  /** A stripe for each tape (four at most) that was recording at this row. */
  private lanes(row: Row): HTMLElement {
    const { rows } = this.store;
    // what no tape recorded, and constants that were made for it, are on no tape
    let reader = row.row;
    while (rows[reader + 1] && rows[reader].kind === "constant") reader++;
    const unrecorded = rows[reader].status === "ghost" && !rows[reader].tapes.length;
    const stripes = this.store.tapes.slice(0, 4).map((tape) => {
      const inside =
        !unrecorded && tape.spans.some(([start, end]) => row.row >= start && row.row < end);
      const wrote = row.by === tape.id;
      return h("i", {
        class: `mt-lane-${tape.id % 4}${inside ? " mt-in" : ""}${wrote ? " mt-wrote" : ""}`,
        title: inside
          ? t("recorded by {0}", tape.name)
          : wrote
            ? t("computed by {0}.gradient()", tape.name)
            : null,
      });
    });
    return h("span.mt-lanes", { "aria-hidden": "true" }, ...stripes);
  }

  private paint(line: HTMLElement, row: Row): void {
    const done = this.timeline.done(row.row);
    const [derivative, kind] = this.derivative(row, done);
    const name = title(row);
    const value =
      row.released && !row.value
        ? gone(row, this.room.value)
        : brief(row.value, row, this.room.value);
    const texts = [
      String(row.row),
      shortName(name, this.room.operation),
      row.inputs.join(" "),
      done ? value : "",
      derivative,
      row.line === null ? "" : String(row.line),
    ];
    texts.forEach((text, k) => setText(line.children[k + 1], text));
    line.title = texts[1] === name ? "" : name; // which is cut
    line.children[5].className = `mt-c-adjoint ${kind}`;
    let names = `mt-line mt-k-${row.kind}`;
    if (!done) names += " mt-todo";
    if (row.row === this.timeline.current)
      names += this.timeline.backward ? " mt-current mt-backward" : " mt-current";
    if (row.row === this.marks.hover) names += " mt-hover";
    if (row.row === this.marks.selected) names += " mt-selected";
    if (this.marks.found.has(row.row)) names += " mt-found";
    if (this.store.differsAt(row.row)) names += " mt-differs";
    if (this.store.blamed(row.row)) names += " mt-blamed";
    if (row.status === "ghost") names += " mt-ghost";
    if (line.className !== names) line.className = names;
    line.ariaCurrent = currentOf(names);
  }

  /** The adjoint of a row as far as it is known, or else its tangent, with a class. */
  private derivative(row: Row, done: boolean): [string, string] {
    const { timeline } = this;
    const room = this.room.adjoint;
    const adjoint = timeline.seen(row.row);
    if (adjoint)
      return [adjointCell(adjoint, row, room) + (timeline.waits(row.row) ? " + …" : ""), ""];
    if (row.tangent && done && !timeline.backward)
      return [`→ ${adjointCell(row.tangent, row, room - 2)}`, "mt-tangent"];
    return timeline.settled && this.store.gave(row.row) === "None" ? ["None", "mt-none"] : ["", ""];
  }

  /** Scrolls the row into view. */
  reveal(row: number): void {
    if (row < 0) return;
    this.revealed = row;
    // else the new rows cannot be scrolled to
    this.body.style.height = `${this.store.rows.length * LINE}px`;
    const { scrollTop: top, clientHeight: height } = this.scroller;
    this.height = height;
    if (row * LINE < top + LINE) this.scroller.scrollTop = Math.max(0, (row - 2) * LINE);
    else if ((row + 2) * LINE > top + height) this.scroller.scrollTop = (row + 3) * LINE - height;
  }
}

/** An adjoint in its cell: of an array that is not written out how large its numbers are. */
function adjointCell(value: Value, row: Row, room: number): string {
  return row.shape.length ? sizeOf(value, room) : brief(value, row, room);
}
