// What is wrong, in a line above the graph, there only when something is: each part leads to its
// row, or to its step.
import { h } from "./dom";
import type { Alarm } from "./schema";
import type { Store } from "./store";
import { t } from "./words";

export class Strip {
  readonly el = h("div", {
    class: "mt-strip",
    role: "group",
    "aria-label": "What is wrong",
    hidden: true,
  });
  private drawn: Alarm[] | null = null;

  constructor(
    private store: Store,
    private go: (alarm: Alarm) => void,
  ) {}

  draw(): void {
    const alarms = this.store.moved ? [] : this.store.alarms;
    if (alarms === this.drawn) return;
    this.drawn = alarms;
    this.el.hidden = alarms.length === 0;
    this.el.replaceChildren(
      ...alarms.map((alarm) => {
        const place = t(alarm.line ? "row {row}, line {line}" : "row {row}").replace(
          /\{(\w+)\}/g,
          (_, key: "row" | "line") => String(alarm[key]),
        );
        const [before, after] = alarm.title.replace(/:$/, "").split(place);
        return h(
          "button",
          {
            type: "button",
            class: "mt-alarm",
            title: `${alarm.title}. ${alarm.text}`,
            onclick: () => this.go(alarm),
          },
          h("b", {}, before, after !== undefined && h("u", {}, place), after),
          ` ${alarm.text}`,
        );
      }),
    );
  }
}
