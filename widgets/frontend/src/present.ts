// For a projector: the graph, one line of the program and what happens at this step, in large type;
// steps by a remote.
import { button, fullScreen, h } from "./dom";
import { nameOf as formulaOf } from "./product";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import {
  cutWords,
  inSentence,
  markOf,
  nameOf,
  title,
  withNames,
  withNumbers,
  written,
} from "./value";
import { assignedAt, updateParts } from "./update";
import type { Row, Sweep, SweepStep, Value } from "./schema";
import { t } from "./words";

const ROOM = 40; // characters of a value
const LINES = 4; // products, or updates, that are written

export class Present {
  readonly el = h("div.mt-presented", { role: "status", "aria-live": "polite" });
  private code = h("code.mt-big-code", {});
  private words = h("div.mt-big-words", {});

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
    this.writeCode(line?.trim() ?? "");
    this.code.classList.toggle("mt-back", timeline.backward);
    const value = (one: Value | null, of: Row | undefined = row): string =>
      one && of ? (written(one, ROOM) ?? inSentence(one, of)) : "";
    const { step } = timeline;
    if (!row) return this.words.replaceChildren(t("before the first row"));
    if (timeline.updating) {
      const lines = [...timeline.updates].map(([at, source]) => {
        const { by, gradient } = updateParts(store.rows[at], source);
        const [before, now] = [store.rows[at].value, source.now ?? null].map((one) =>
          value(one, store.rows[at]),
        );
        return h(
          "p",
          {},
          `${title(store.rows[at])}: ${before} ${by && gradient.length < ROOM ? `${by}${gradient} =` : "→"} `,
          h("b", {}, now),
        );
      });
      return this.write(lines);
    }
    if (!step)
      return this.words.replaceChildren(
        `${row.said[0] ? withNumbers(row, store.rows) : title(row)} = `,
        h("b", {}, value(row.value)),
      );
    const lines = step.edges.map((edge, k) => {
      const input = store.rows[edge.input];
      const again =
        timeline.before(edge.input) ||
        step.edges.slice(0, k).some((one) => one.input === edge.input);
      const [local, arrived] = [edge.local, step.adjoint].map((one) => one && written(one, ROOM));
      const factors =
        local && arrived
          ? `${local} × ${arrived.startsWith("-") ? `(${arrived})` : arrived} = `
          : this.rule(row, edge.port);
      return h(
        "p",
        {},
        // what has no name goes by what made it
        t("to {0}: ", formulaOf(store, input).replace(/^\((.*)\)$/, "$1")) + factors,
        h("b", {}, value(edge.product, input), again && ","), // no line begins with the comma
        again && h("span", {}, ` Σ ${value(edge.sum, input)}`),
        this.isLast(step, k)
          ? ` = ∂${markOf(store.rows[store.sweep?.target[0] ?? 0])}/∂${nameOf(input)}`
          : "",
      );
    });
    this.write(
      lines.length
        ? lines
        : [row.cut ? t("no gradient passes: {0}", cutWords(row.cut)) : t("the sweep ends here")],
    );
  }

  /** Writes the line of the program, which goes on in the next line behind a bracket or a comma. */
  private writeCode(line: string): void {
    if (this.code.textContent === line) return;
    this.code.replaceChildren(...line.split(/(?<=[(,])/).flatMap((part) => [part, h("wbr", {})]));
  }

  /** Writes the first lines, and how many more there are. */
  private write(lines: (HTMLElement | string)[]): void {
    const more = lines.length - LINES;
    const rest = more > 0 ? h("p", {}, t("and {0} more", more)) : "";
    this.words.replaceChildren(...lines.slice(0, LINES), rest);
  }

  /** Is what an edge of a step brings the last that its source gets? Then its gradient is known. */
  private isLast(step: SweepStep, port: number): boolean {
    const { steps, sources, target } = this.store.sweep as Sweep;
    const { input } = step.edges[port];
    const later = [
      ...step.edges.slice(port + 1),
      ...steps.slice(steps.indexOf(step) + 1).flatMap(({ edges }) => edges),
    ];
    return (
      sources.includes(input) && target.length === 1 && !later.some((edge) => edge.input === input)
    );
  }

  /** What makes the product of large arrays, with the names of the inputs: `xᵀ @ g = `. */
  private rule(row: Row, port: number): string {
    const rule = row.said[port + 1] ?? "";
    return rule === "g" || !rule
      ? ""
      : `${withNames(rule, row, (at) => markOf(this.store.rows[at]))} = `;
  }
}
