// Predict: in the backward sweep the next product is shown when the reader has typed what it will
// be.
import { focusQuietly, h, on, smallButton } from "./dom";
import type { SweepEdge, SweepStep } from "./schema";
import type { Store } from "./store";
import { full, localFirst, title, withRows } from "./value";
import { numberOf } from "./whatif";
import { t } from "./words";

const NEAR = 0.01; // of the right number, so that two digits are enough

export class Predict {
  readonly el = h("div.mt-predict", {
    role: "group",
    "aria-label": "Predict the next product",
    hidden: true,
  });
  on = false;
  private wanted = -1; // the position that is asked for

  constructor(
    private store: Store,
    private go: (position: number) => void,
  ) {}

  toggle(): void {
    this.on = !this.on;
    this.close();
  }

  close(): void {
    this.wanted = -1;
    this.el.hidden = true;
  }

  /** Says what to do before the first question. */
  invite(): void {
    this.el.replaceChildren(
      h("b", {}, t("Predict")),
      t(" · step back: before a product is shown, type the number that you expect"),
    );
    this.el.hidden = false;
  }

  /** Asks for what happens up to this position; false where there is nothing to ask. */
  ask(position: number, forward: number): boolean {
    const step = this.on ? this.store.sweep?.steps[position - forward - 1] : undefined;
    const edge = step?.edges.find((one) => this.answer(one) !== null);
    if (!step || !edge) return false;
    if (this.wanted === position && !this.el.hidden) return true;
    this.wanted = position;
    const row = this.store.rows[step.row];
    const field = h("input", {
      type: "text",
      inputmode: "decimal",
      class: "mt-jump mt-answer",
      "aria-label": "your number",
      autocomplete: "off",
    });
    const said = h("span.mt-said", { role: "status" });
    const check = (): void => this.check(field.value, edge, said, position);
    on(field, "keydown", (event) => event.key === "Enter" && check());
    const act = (text: string, action: () => void): HTMLElement => smallButton(t(text), action);
    this.el.replaceChildren(
      h(
        "p",
        {},
        h("b", {}, t("Predict")),
        t(" · row {0}, {1}: ", step.row, title(row)) + this.question(step, edge),
      ),
      field,
      act("check", check),
      act("show it", () => this.leave(position)),
      said,
    );
    this.el.hidden = false;
    focusQuietly(field);
    return true;
  }

  private question(step: SweepStep, edge: SweepEdge): string {
    const row = this.store.rows[step.row];
    const rule = row.rule[edge.port];
    const inputs = [...new Set(row.inputs)]
      .map((input) => `${t("row {0}", input)} = ${full(this.store.rows[input].value)}`)
      .join(t(", "));
    return `g = ${full(step.adjoint)}${inputs && t(", ") + inputs}${rule && t(", the rule is {0}", localFirst(withRows(row.said[edge.port + 1] ?? "", row)))}${t(". What arrives at row {0} ({1})?", edge.input, title(this.store.rows[edge.input]))}`;
  }

  private answer(edge: SweepEdge): number | null {
    const product = numberOf(edge.product);
    return Number.isFinite(product) ? product : null;
  }

  private check(text: string, edge: SweepEdge, said: HTMLElement, position: number): void {
    const [given, right] = [
      Number(text.replace(",", ".").replace("−", "-")),
      this.answer(edge) as number,
    ];
    if (!text.trim() || Number.isNaN(given)) return void (said.textContent = t("a number, please"));
    if (Math.abs(given - right) <= NEAR * Math.max(Math.abs(right), 1e-6))
      return this.leave(position);
    if (Math.abs(given + right) <= NEAR * Math.abs(right))
      said.textContent = t("the size is right; look at the sign");
    else if (edge.local && Math.abs(given - numberOf(edge.local)) <= NEAR * Math.abs(given))
      said.textContent = t("that is the local derivative; multiply it by the incoming adjoint g");
    else said.textContent = t("not yet: local derivative × g");
  }

  private leave(position: number): void {
    this.close();
    this.go(position);
  }
}
