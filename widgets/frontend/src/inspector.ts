// What happens at this step, in words and numbers; and everything about the selected row.
import { h, setText, smallButton } from "./dom";
import { groupTitle } from "./fold";
import type { Node } from "./graph";
import { heatmap } from "./heatmap";
import type { Row, SweepEdge, Value } from "./schema";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { sayRow } from "./node_states";
import { isByConvention } from "./scale";
import { updateParts } from "./update";
import { findFormula } from "../evaluator/formulas";
import { formulaLine, productsOf } from "./product";
import {
  count,
  cutWords,
  full,
  inSentence,
  localFirst,
  decimal,
  shapeText,
  title,
  toNumber,
  WATCHED,
  withNumbers,
  withRows,
} from "./value";
import { t } from "./words";

// operations whose derivative is no formula of the engine: where it comes from
const OWN: Record<string, string> = {
  custom_gradient: "by its own gradient function",
  py_function: "by a tape inside the Python function",
};

const LONG = 30; // characters of a value that still fits into an equation

export class Inspector {
  readonly el = h("div.mt-inspector", {
    tabindex: 0,
    role: "group",
    "aria-label": "Description of the step and the selection",
  });
  private step = h("div.mt-step", {});
  // one sentence for screen readers
  private said = h("div.mt-said-only", { role: "status", "aria-live": "polite" });
  private chosen = h("div.mt-chosen", {});

  constructor(
    private store: Store,
    private timeline: Timeline,
    private actions: {
      back(row: number): void;
      to(row: number): void;
      go(row: number): void;
      end(kind: "source" | "target", row: number): void;
      unfold(node: Node): void;
      enter(row: number): void;
      again?(): boolean;
    },
  ) {
    this.el.append(this.said, this.step, this.chosen);
  }

  private shown = ""; // position and selection as they were drawn

  private saysChosen = -1; // the row that was selected since the last step, or -1

  draw(selected: Node | null, row: number): void {
    const { store, timeline } = this;
    this.step.replaceChildren(...this.stepLines());
    this.chosen.replaceChildren(...(selected ? this.chosenLines(selected, row) : []));
    this.chosen.hidden = !selected;
    const [position, id] = [String(timeline.position), selected?.id ?? ""];
    const [before, chosen, last] = this.shown.split(" ");
    if (position !== before) this.saysChosen = -1;
    else if (String(row) !== last) this.saysChosen = row;
    const said = store.rows[this.saysChosen];
    setText(this.said, said ? sayRow({ store, timeline }, said) : this.sentence());
    if (id && id !== chosen)
      this.el.scrollTop +=
        (this.el.querySelector(".mt-feelings:not([hidden])") ?? this.chosen).getBoundingClientRect()
          .top -
        this.el.getBoundingClientRect().top -
        4;
    else if (position !== before) this.el.scrollTop = 0;
    this.shown = `${position} ${id} ${row}`;
  }

  /** The step in one sentence. */
  private sentence(): string {
    const { timeline, store } = this;
    const row = store.rows[timeline.current];
    if (!row) return t("Before the first row.");
    if (timeline.updating) return t("Update");
    const { step } = timeline;
    if (!step)
      return `${t("Forward, row {0}", row.row)}: ${title(row)}${row.value ? ` = ${inSentence(row.value, row)}` : ""}`;
    const sent = step.edges.map(({ input, product, sum }) => {
      const to = store.rows[input];
      const added = timeline.addends(input).length
        ? `, ${t("added up: ")}${inSentence(sum, to)}`
        : "";
      return `${t("to {0}: ", title(to))}${inSentence(product, to)}${added}`;
    });
    const isLast = timeline.position === timeline.swept && !timeline.unfinished;
    const none = store.rows.filter((one) => isLast && store.gave(one.row) === "None");
    return [
      `${t("Backward, row {0}", row.row)}: ${title(row)}`,
      ...sent,
      ...none.map((one) => `${title(one)}: None`),
      ...(isLast ? [t("the sweep ends here")] : []),
    ].join("; ");
  }

  // --- the step ---

  private stepLines(): HTMLElement[] {
    const { timeline, store } = this;
    if (store.rows.length === 0) {
      const why =
        store.recording || !store.tapes.length
          ? "Nothing recorded yet."
          : "No operation ran on this tape, so there is nothing to draw.";
      return [h("p.mt-empty", {}, t(why))];
    }
    if (timeline.position === 0) return [h("p.mt-what", {}, t("Before the first row."))];
    const row = store.rows[timeline.current];
    if (timeline.isApart) return [h("p.mt-what", {}, t("no step here"))];
    if (timeline.updating) return this.updateLines();
    const lines = timeline.backward ? this.backwardLines(row) : this.forwardLines(row);
    if (timeline.position === timeline.length) lines.push(...this.sweepNote());
    return lines;
  }

  /** asked for the steps of a long sweep? */
  asked: "no" | "yes" | "in vain" = "no";

  /** What there is to say where the steps end before the sweep does. */
  private sweepNote(): HTMLElement[] {
    const { sweep, rows, tapes, total } = this.store;
    const say = (text: string): HTMLElement[] => [h("p.mt-note", {}, text)];
    if (rows.length < total && !sweep)
      return say(
        t(
          "Only the first {0} rows are shown, so you can't step through the backward sweep.",
          count(rows.length),
        ),
      );
    if (!sweep && tapes.some((tape) => tape.state === "used") && rows.some((row) => row.released))
      return this.released();
    if (!sweep?.rest) return [];
    if (this.asked === "in vain" || !this.timeline.unfinished)
      return say(
        t(
          "The backward sweep visits {0} more rows, too many to keep their steps in a page. A notebook computes them as you go, while its kernel runs.",
          count(sweep.rest),
        ),
      );
    if (this.asked === "no")
      return say(
        t(
          "The backward sweep visits {0} rows. Its steps are computed as you go.",
          count(sweep.rest),
        ),
      );
    return say(
      t(
        "Computing the backward sweep: {0} steps so far, {1} rows to go.",
        count(sweep.steps.length),
        count(sweep.rest),
      ),
    );
  }

  /** The tape released what a sweep reads: how to get it back. */
  private released(): HTMLElement[] {
    const note = h(
      "p.mt-note",
      {},
      t(
        "The call to gradient released this tape's large arrays, so you can't step through the backward sweep. ",
      ),
    );
    const { again } = this.actions;
    if (!again)
      note.append(
        t(
          "Use TapeView(tape, again=True) to compute the arrays again, or make the tape persistent.",
        ),
      );
    else {
      const tell = (): void =>
        void (
          again() ||
          note.append(t(" Computing the arrays needs a kernel, so run the notebook first."))
        );
      note.append(smallButton(t("compute again and keep the sweep"), tell));
    }
    return [note];
  }

  /** The optimizer's step: value, gradient, new value. */
  private updateLines(): HTMLElement[] {
    const lines = [
      h(
        "p.mt-what",
        {},
        h("b", {}, t("Update")),
        t(" · variables that were assigned after the gradient"),
      ),
    ];
    for (const [at, source] of this.timeline.updates) {
      const row = this.store.rows[at];
      const { before, by, gradient, now, times } = updateParts(row, source);
      const line = h(
        "div.mt-eq",
        {},
        h("span.mt-to", {}, this.link(at), ` (${title(row)})${times}`),
      );
      if ([before, gradient, now].some((text) => text.includes("\n") || text.length > LONG))
        line.append(
          ...inWords(`${t("value")} `, row.value, row),
          ...inWords(`${by + t("gradient")} `, source.gradient, row),
          ...inWords(`${(by && "= ") + t("new value")} `, source.now, row, true),
        );
      else
        line.append(
          h(
            "span.mt-num",
            {},
            by
              ? `${before} ${by}${gradient.startsWith("-") ? `(${gradient})` : gradient} = `
              : t("value {0}, gradient {1}, new value ", before, gradient),
            h("b", {}, now),
          ),
        );
      lines.push(line);
    }
    return lines;
  }

  private forwardLines(row: Row): HTMLElement[] {
    const lines: HTMLElement[] = [
      h(
        "p.mt-what",
        {},
        h("b", {}, t("Forward, row {0}", row.row)),
        ` · ${title(row)}`,
        row.kind === "operation" ? this.rowLinks(row.inputs) : null,
      ),
    ];
    if (row.kind !== "operation") lines.push(h("p", {}, leafSentence(row)));
    else if (row.said[0] && row.said[0] !== "x")
      lines.push(equation(`${withNumbers(row, this.store.rows)} = `, row.value, row));
    else lines.push(equation(t("value "), row.value, row));
    if (row.kind !== "operation") lines.push(equation(t("value "), row.value, row));
    if (row.tangent)
      lines.push(
        ...row.inputs
          .map((input, k) => this.tangentLine(row, input, k))
          .filter((line) => line !== null),
        equation(t("tangent "), row.tangent, row),
      );
    lines.push(...notes(row));
    return lines;
  }

  /**
   * What an input adds to the tangent: rules are linear in g, so that they take tangents forwards
   * as adjoints backwards.
   */
  private tangentLine(row: Row, input: number, k: number): HTMLElement | null {
    const from = this.store.rows[input];
    const rule = row.rule[k];
    if (!rule || !from.tangent || row.shape.length || from.shape.length) return null;
    const [x, y, z, g] = [
      this.store.rows[row.inputs[0]],
      this.store.rows[row.inputs[1] ?? row.inputs[0]],
      row,
      null,
    ].map((one) => toNumber((one ?? { value: from.tangent }).value?.data));
    const product = findFormula(rule)?.({ x, y, z, g });
    return h(
      "div.mt-eq",
      {},
      h("span.mt-to", {}, t("from "), this.link(input), ` (${title(from)})`),
      h(
        "code.mt-rule",
        {},
        localFirst(withRows(row.said[k + 1], row)).replace(/\bg\b/, t("tangent")),
      ),
      h(
        "span.mt-num",
        {},
        t("tangent ") + full(from.tangent),
        product === undefined ? "" : t(" gives "),
        h("strong.mt-tangent", {}, product === undefined ? "" : decimal(product)),
      ),
    );
  }

  private backwardLines(row: Row): HTMLElement[] {
    const step = this.timeline.step;
    if (!step) return [];
    const lines: HTMLElement[] = [
      h(
        "p.mt-what.mt-back",
        {},
        h("b", {}, t("Backward, row {0}", row.row)),
        ` · ${title(row)}`,
        this.rowLinks(row.inputs),
      ),
    ];
    const incoming = [{ row: row.row, adjoint: step.adjoint }, ...(step.others ?? [])];
    for (const one of incoming)
      lines.push(
        equation(
          step.others ? t("incoming adjoint of row {0} = ", one.row) : t("incoming adjoint g = "),
          one.adjoint,
          this.store.rows[one.row],
        ),
      );
    const sums = new Map<number, boolean>();
    for (const edge of step.edges) {
      const again = sums.has(edge.input) || this.timeline.before(edge.input) !== null;
      lines.push(this.edgeLine(row, edge, step.adjoint, again));
      sums.set(edge.input, true);
    }
    const steps = this.timeline.position - this.timeline.forward;
    const whole = productsOf(this.store, steps);
    for (const [input, terms] of productsOf(this.store, steps, true)) {
      if (sums.has(input) && terms.length < 9)
        lines.push(
          formulaLine(
            this.store,
            terms,
            whole.get(input) ?? [],
            this.store.rows[input],
            steps,
            this.timeline.adjoint(input),
          ),
        );
    }
    if (!step.edges.length)
      lines.push(
        h(
          "p",
          {},
          t(
            row.kind === "operation"
              ? "No gradient passes here."
              : "The sweep ends here: this row has no inputs.",
          ),
        ),
      );
    return lines;
  }

  private edgeLine(row: Row, edge: SweepEdge, incoming: Value, again: boolean): HTMLElement {
    const input = this.store.rows[edge.input];
    const rule = row.said[edge.port + 1];
    const own = OWN[row.op];
    const summed =
      edge.local && String(input.shape) !== String(row.shape)
        ? t(", summed over the broadcast axes")
        : "";
    const line = h(
      "div.mt-eq",
      {},
      h("span.mt-to", {}, t("to "), this.link(edge.input), ` (${title(input)})`),
      rule
        ? h(
            "code.mt-rule",
            {},
            ...withIncoming(localFirst(withRows(rule, row, row.dtype.startsWith("complex")))),
          )
        : own
          ? h("span.mt-own", {}, t(own))
          : null,
    );
    const [local, product, sum] = [full(edge.local), full(edge.product), full(edge.sum)];
    if (isByConvention(edge))
      line.append(
        h(
          "p.mt-note.mt-break",
          {},
          t(
            "The local derivative is not finite. If the incoming adjoint g is 0, the product is 0 by convention.",
          ),
        ),
      );
    if (edge.differs)
      line.append(
        h(
          "p.mt-note.mt-break",
          {},
          t("The rule gives a different number. A hook or a different rule sent this number."),
        ),
      );
    if ([edge.local, edge.product].some(isLong)) {
      if (edge.local)
        line.append(
          ...inWords(t("local derivative "), edge.local, row),
          h("p.mt-num.mt-break", {}, t("× incoming g, {0}", inSentence(incoming, row))),
        );
      line.append(
        ...inWords(
          edge.local ? `${t("= product")}${summed} ` : t("contributes "),
          edge.product,
          input,
          true,
        ),
      );
      if (again) line.append(...inWords(t("added up: "), edge.sum, input, true));
      return line;
    }
    const equals = summed ? ` =${summed.slice(1)} ` : " = ";
    line.append(
      h(
        "span.mt-num",
        {},
        ...(local
          ? [`${local} × `, h("span.mt-incoming", {}, full(incoming)), equals]
          : [t("contributes ")]),
        h("b", {}, product),
      ),
    );
    if (again) line.append(h("span.mt-num", {}, t("added up: "), h("b", {}, sum)));
    return line;
  }

  private rowLinks(rows: number[]): HTMLElement | null {
    if (!rows.length) return null;
    const el = h("span", {}, t(" of "));
    rows
      .slice(0, 12)
      .forEach((row, k) =>
        el.append(
          k ? t(", ") : "",
          this.link(row),
          this.store.rows[row]?.shape.length ? ` ${shapeText(this.store.rows[row])}` : "",
        ),
      );
    if (rows.length > 12) el.append(t(" and {0} more", rows.length - 12));
    return el;
  }

  private link(row: number): HTMLElement {
    return h(
      "button.mt-link",
      {
        onclick: () => this.actions.go(row),
        "aria-label": t("select row {0}", row),
      },
      t("row {0}", row),
    );
  }

  // --- the selected row ---

  /** Of a folded part the reader has selected the last row, or one that it holds. */
  private chosenLines(node: Node, chosen: number): HTMLElement[] {
    if (node.group?.end === chosen + 1) return this.groupLines(node);
    const row = node.row ?? this.store.rows[chosen];
    const act = (text: string, action: () => void): HTMLElement => smallButton(t(text), action);
    const acts = [act("run to here", () => this.actions.to(row.row))];
    if (this.timeline.backTo(row.row) !== null)
      acts.push(act("run back to here", () => this.actions.back(row.row)));
    acts.push(
      act("path from here", () => this.actions.end("source", row.row)),
      act("path to here", () => this.actions.end("target", row.row)),
    );
    if (row.op === "function") acts.unshift(act("look inside", () => this.actions.enter(row.row)));
    const adjoint = this.timeline.adjoint(row.row);
    const lines: HTMLElement[] = [
      h("p.mt-what", {}, h("b", {}, t("Selected: row {0}", row.row)), ` · ${title(row)}`),
      h(
        "p.mt-facts",
        {},
        [
          row.shape.length
            ? t("{0}, shape {1}", row.dtype, shapeText(row))
            : t("{0} scalar", row.dtype),
          t(row.kind),
          ...watchedText(row),
          ...tapesText(this.store, row),
        ].join(" · "),
      ),
      ...(isLong(row.value)
        ? inWords(t("value "), row.value, row)
        : [
            pre(
              row.released && !row.value
                ? t("released when the gradient was computed")
                : full(row.value),
            ),
          ]),
    ];
    const add = (...parts: (HTMLElement | null)[]): void =>
      void lines.push(...parts.filter((part) => part !== null));
    if (!isLong(row.value)) add(heatmap(row.value));
    if (row.tangent)
      add(
        ...(isLong(row.tangent)
          ? inWords(t("tangent "), row.tangent, row)
          : [equation(t("tangent "), row.tangent, row), heatmap(row.tangent)]),
      );
    if (adjoint)
      add(
        ...(isLong(adjoint)
          ? inWords(t("adjoint "), adjoint, row, true)
          : [
              h("p.mt-adjoint-line", {}, t("adjoint "), h("b", {}, full(adjoint))),
              heatmap(adjoint),
            ]),
      );
    lines.push(...notes(row), h("p.mt-acts", {}, ...acts));
    return lines.concat(this.groupLines(node));
  }

  private groupLines(node: Node): HTMLElement[] {
    const group = node.group;
    if (!group) return [];
    const unfold = smallButton(t("unfold"), () => this.actions.unfold(node));
    return [
      h(
        "p.mt-what",
        {},
        h("b", {}, groupTitle(group)),
        t(" · rows {0} to {1}", group.start, group.end - 1),
      ),
      h("p.mt-acts", {}, unfold),
    ];
  }
}

/** A rule in which what arrived has its colour. */
function withIncoming(rule: string): (string | HTMLElement)[] {
  return rule
    .split(/\b(g)\b/)
    .map((part) => (part === "g" ? h("span.mt-incoming", {}, part) : part));
}

function pre(value: string, strong = false): HTMLElement {
  return h(
    "pre",
    { class: `mt-pre${strong ? " mt-strong" : ""}${value.includes("\n") ? "" : " mt-wrap"}` },
    value,
  );
}

function equation(text: string, value: Value | null, row: Row): HTMLElement {
  if (isLong(value)) return h("div.mt-eq", {}, ...inWords(text, value, row, true));
  return h("p.mt-num", {}, text, h("b", {}, full(value)));
}

/** Is there more than a line can say? */
function isLong(value: Value | null): value is Value {
  const text = full(value);
  return text.includes("\n") || text.length > LONG;
}

/**
 * An array in words: shape, range, zeros and a few numbers; its picture, and all digits for those
 * who ask for them.
 */
function inWords(
  text: string,
  value: Value | null | undefined,
  row: Row,
  strong = false,
): HTMLElement[] {
  if (!value) return [];
  const words = h(
    "p.mt-num.mt-break",
    {},
    text,
    h("span", { class: strong ? "mt-strong" : "" }, inSentence(value, row)),
  );
  const picture = heatmap(value, true);
  const digits = value.text?.includes("[")
    ? h("details.mt-digits", {}, h("summary", {}, t("digits")), pre(value.text))
    : null;
  return [words, ...[picture, digits].filter((part) => part !== null)];
}

function leafSentence(row: Row): string {
  if (row.kind === "constant") return t("A constant receives no gradient.");
  const watched = row.watched ? WATCHED[row.watched] : "not watched";
  if (row.kind === "variable")
    return t(
      row.version ? "Reads state {0} of this variable; {1}." : "Reads a variable; {1}.",
      row.version,
      t(watched),
    );
  return t("A source: {0}.", t(watched));
}

function watchedText(row: Row): string[] {
  if (row.watched) return [t(WATCHED[row.watched])];
  return row.kind === "operation" || row.kind === "constant" ? [] : [t("not watched")];
}

function tapesText(store: Store, row: Row): string[] {
  if (store.tapes.length < 2 && row.by === null) return [];
  const names = row.tapes.map(
    (id) => store.tapes.find((tape) => tape.id === id)?.name ?? t("tape {0}", id),
  );
  const texts = names.length ? [t("on {0}", names.join(t(", ")))] : [];
  if (row.by !== null)
    texts.push(
      t(
        "computed by {0}.gradient()",
        store.tapes.find((tape) => tape.id === row.by)?.name ?? t("tape"),
      ),
    );
  return texts;
}

function notes(row: Row): HTMLElement[] {
  const lines: HTMLElement[] = [];
  if (row.cut)
    lines.push(
      h("p.mt-note", {}, t("No gradient passes through this row: {0}.", cutWords(row.cut))),
    );
  if (row.status === "ghost")
    lines.push(
      h(
        "p.mt-note",
        {},
        t(
          row.tapes.length
            ? "This row's function defines its own gradient, so the gradient of this row is not used."
            : "This operation ran, but no tape recorded it.",
        ),
      ),
    );
  return lines;
}
