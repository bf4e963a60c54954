// For a projector: the graph, one line of the program and what happens at this step, in large type;
// steps by a remote.
import { button, fullScreen, h, setText } from "./dom";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { cutWords, inSentence, nameOf, title, withNumbers, written } from "./value";
import { assignedAt, updateParts } from "./update";
import type { Row, Value } from "./schema";
import { t } from "./words";

const ROOM = 40; // characters of a value
const EDGES = 3; // products that are written

export class Present {
  readonly el = h("div", { class: "mt-presented", role: "status", "aria-live": "polite" });
  private code = h("code", { class: "mt-big-code" });
  private words = h("div", { class: "mt-big-words" });

  constructor(
    private view: HTMLElement,
    private store: Store,
    private timeline: Timeline,
    private end: () => void,
  ) {
    this.el.append(
      this.code,
      this.words,
      button("close", "Leave the presentation (v)", () => this.end()),
    );
    document.addEventListener("fullscreenchange", this.leftScreen);
  }

  stop(): void {
    document.removeEventListener("fullscreenchange", this.leftScreen);
  }

  private leftScreen = (): void => {
    if (!document.fullscreenElement && this.on) this.end();
  };

  get on(): boolean {
    return this.view.classList.contains("mt-present");
  }

  toggle(): void {
    this.view.classList.toggle("mt-present");
    if (this.on !== (document.fullscreenElement !== null)) fullScreen(this.view);
  }

  draw(): void {
    if (!this.on) return;
    const { store, timeline } = this;
    const row = store.rows[timeline.current];
    const at =
      row && timeline.updating
        ? assignedAt(store.rows, row.file, store.sources[row.file ?? ""] ?? "")
        : row?.line;
    const line = row?.file && at ? store.sources[row.file]?.split("\n")[at - 1] : "";
    setText(this.code, line?.trim() ?? "");
    this.code.classList.toggle("mt-back", timeline.backward);
    const value = (one: Value | null, of: Row | undefined = row): string =>
      one && of ? (written(one, ROOM) ?? inSentence(one, of)) : "";
    const { step } = timeline;
    if (!row) return this.words.replaceChildren(t("before the first row"));
    if (timeline.updating) {
      const lines = [...timeline.updates].slice(0, EDGES).map(([at, source]) => {
        const { by, gradient } = updateParts(store.rows[at], source);
        const [before, now] = [store.rows[at].value, source.now ?? null].map((one) =>
          value(one, store.rows[at]),
        );
        return h(
          "p",
          {},
          `${title(store.rows[at])}: ${by && gradient.length < ROOM ? `${before} ${by}${gradient} = ` : `${before} → `}`,
          h("b", {}, now),
        );
      });
      return this.words.replaceChildren(...lines);
    }
    if (!step)
      return this.words.replaceChildren(
        `${row.said[0] ? withNumbers(row, store.rows) : title(row)} = `,
        h("b", {}, value(row.value)),
      );
    const lines = step.edges.slice(0, EDGES).map((edge, k) => {
      const input = store.rows[edge.input];
      const again =
        timeline.before(edge.input) ||
        step.edges.slice(0, k).some((one) => one.input === edge.input);
      // of large arrays only the product is said
      const [local, arrived] = [edge.local, step.adjoint].map((one) => one && written(one, ROOM));
      const factors = local && arrived ? `${local} × ${arrived} = ` : "";
      const sum = again ? h("span", {}, `, Σ ${value(edge.sum, input)}`) : "";
      return h(
        "p",
        {},
        t("to {0}: ", nameOf(input)) + factors,
        h("b", {}, value(edge.product, input)),
        sum,
      );
    });
    this.words.replaceChildren(
      ...(lines.length
        ? lines
        : [row.cut ? t("no gradient passes: {0}", cutWords(row.cut)) : t("the sweep ends here")]),
    );
  }
}
