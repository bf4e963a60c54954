// What is wrong, in a line above the graph, there only when something is: each part leads to its
// row, or to its step.
import { h, smallButton } from "./dom";
import type { Alarm, Difference, Row } from "./schema";
import type { Store } from "./store";
import { t } from "./words";

type Place = Omit<Alarm, "kind"> & Partial<Alarm>;

const FEW = 2; // that are shown before the reader asks for all: the graph needs the room

export class Strip {
  readonly el = h("div.mt-strip", {
    role: "group",
    "aria-label": "What is wrong",
    hidden: true,
  });
  private drawn: Alarm[] | null = null;
  private differs: Difference | null = null;
  private all = false;
  private none: Alarm[] = [];

  constructor(
    private store: Store,
    private go: (place: Place) => void,
  ) {}

  draw(): void {
    const { moved, differs, alarms, linked } = this.store;
    const known = moved ? this.none : alarms;
    if (known === this.drawn && differs === this.differs) return;
    [this.drawn, this.differs] = [known, differs];
    this.paint(differs ? [firstDifference(differs, this.store.rows), ...known] : known);
    if (!linked || differs || moved) return;
    this.el.hidden = false;
    this.el.prepend(h("p.mt-equal", {}, t("The two tapes are the same, row by row.")));
  }

  private paint(alarms: Place[]): void {
    const few = alarms.length > FEW + 1 && !this.all ? alarms.slice(0, FEW) : alarms;
    this.el.hidden = !alarms.length;
    this.el.replaceChildren(...few.map((alarm) => this.line(alarm)));
    if (few === alarms) return;
    const show = (): void => {
      this.all = true;
      this.paint(alarms);
    };
    this.el.append(smallButton(t("{0} more", alarms.length - few.length), show));
  }

  private line(alarm: Place): HTMLElement {
    const place = [t("row {row}, line {line}"), t("row {row}"), t("line {line}")]
      .map((one) => one.replace(/\{(\w+)\}/g, (_, key: "row" | "line") => String(alarm[key])))
      .find((one) => alarm.title.includes(one));
    // of gradients that are zero, the title names all
    const text =
      alarm.kind === "zero" ? alarm.text.replace(/^[^(（]*?(\.\s|。)(?=.*[(（])/, "") : alarm.text;
    const [before, after] = alarm.title.replace(/:$/, "").split(place ?? "\n");
    return h(
      "button.mt-alarm",
      { title: `${alarm.title}. ${alarm.text}`, onclick: () => this.go(alarm) },
      h("b", {}, before, after !== undefined && h("u", {}, place), after),
      ` ${text}`,
    );
  }
}

/** Where a tape first differs from the one that it is compared with. */
function firstDifference({ row: at, text, missing }: Difference, rows: Row[]): Place {
  // What is missing comes behind the operation before it.
  const before = missing && rows.findLast(({ row, inputs }) => row < at && inputs.length);
  const row = before ? before.row : at;
  const words = t(before ? "first difference: after row {0}" : "first difference: row {0}", row);
  return { title: words, text, row, line: null, back: false };
}
