// The list of keys, or of what fingers can do, and the line that an export writes in its place.
import { h, setText } from "./dom";
import { t } from "./words";

const KEYS: [string, string][] = [
  ["← →", "one step"],
  ["Shift+← Shift+→", "step over a folded part"],
  ["Home End", "first step, last step"],
  ["PgUp PgDn", "ten steps"],
  ["Space", "play, pause"],
  ["↑ ↓", "select a row"],
  ["Enter", "run to the selected row, unfold, or look inside a call"],
  ["b", "run back to the selected row"],
  ["u", "unfold or fold"],
  ["n", "neighbourhood"],
  ["p", "paths"],
  ["q", "predict"],
  ["k [ ]", "the cut, moved"],
  ["s", "slopes in the nodes"],
  ["w", "why this cell"],
  ["f", "full screen"],
  ["v", "present in large type"],
  ["t c", "hide the table or the code"],
  ["/", "search"],
  ["+ − 0", "zoom, fit"],
  ["Esc", "clear the selection; leave a call or the presentation"],
];

// the same on a touch screen, which has no keys
const TOUCHES: [string, string][] = [
  ["two fingers", "zoom"],
  ["double tap", "fit; at a node unfold, or look inside a call"],
];

export class Help {
  readonly el = h("div.mt-help", { role: "note" });

  /** `modes` are the names of the modes and what each of them shows: a finger sees no titles. */
  constructor(private modes: [string, string][]) {
    this.say("");
  }

  /** Shows a text; without one the keys again. */
  say(text: string): void {
    if (text) return setText(this.el, text);
    const isTouched = matchMedia("(hover: none)").matches;
    this.el.replaceChildren(
      ...(isTouched ? [...TOUCHES, ...this.modes] : KEYS).map(([keys, does]) =>
        h(
          "span",
          {},
          ...(isTouched ? [t(keys)] : keys.split(" ")).map((key) => h("kbd", {}, key)),
          ` ${t(does)}`,
        ),
      ),
    );
  }
}
