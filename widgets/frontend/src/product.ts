// The formula of what has arrived, as it grows with the steps: ∂loss/∂w = 2 × (p − t) × σ × (1 − σ) × x. For single numbers.
import { h } from "./dom";
import type { Row } from "./schema";
import type { Store } from "./store";
import { elide, rounded, withNames } from "./value";
import { t } from "./words";

/** A local derivative: what its rule says, its number, and the step that made it. */
interface Factor {
  text: string;
  value: string;
  step: number;
}
type Term = Factor[];

const [MOST, LONG, STEPS] = [4, 5, 200]; // terms of a sum, factors of a term, steps: of more what arrived in between has a name of its own

/** A rule without the adjoint, in which it is linear: `g × y` is y. */
function withoutAdjoint(rule: string): string {
  if (!/\bg\b/.test(rule)) return "0";
  return rule.replace(/^(−?)g$/, "$11").replace(/^(−?)g × /, "$1").replace(/^(−?)g \/ /, "$11 / ").replace(/ × g\b|\bg × /, "").replace(/^g if/, "1 if");
}

/** What a row is called in a formula: by its name, a number of the program as it is, else by what made it. */
function nameOf(store: Store, row: Row): string {
  if (row.name) return row.name.replace(/:0$/, "");
  if (row.kind !== "operation" && row.value?.text) return rounded(row.value.text).replace(/\.0$/, "");
  const within = (one: Row): string => (one.name || one.kind !== "operation" ? nameOf(store, one) : t("row {0}", one.row));
  const made = row.said[0] ? withNames(row.said[0], row, (input) => within(store.rows[input])) : "";
  return made && made.length < 14 ? (/^\w+\(/.test(made) ? made : `(${made})`) : t("row {0}", row.row);
}

/** What is derived: the target, times what the sweep began with where that is not 1, as with `output_gradients` or in a call. */
function derived(store: Store, seed: string): string {
  const name = nameOf(store, store.rows[store.sweep?.target[0] ?? 0]);
  return seed ? `(${seed} × ${name})` : name;
}

/** What the sweep began with; "" for 1. */
function seedOf({ sweep }: Store): string {
  const first = sweep?.steps[0];
  const seed = first && first.row === sweep.target[0] ? rounded(first.adjoint.text ?? "") : "";
  return Number(seed) === 1 ? "" : seed;
}

/** By row what has arrived there after so many steps of the sweep; null where a value is an array, or a rule is not known. */
export function productsOf(store: Store, steps: number): Map<number, Term[]> | null {
  const { sweep, rows } = store;
  if (!sweep || steps > STEPS || sweep.target.length !== 1) return null;
  const seed = seedOf(store);
  const found = new Map<number, Term[]>([[sweep.target[0], [seed ? [{ text: seed, value: seed, step: 0 }] : []]]]);
  for (const [k, step] of sweep.steps.slice(0, steps).entries()) {
    const row = rows[step.row];
    let terms = found.get(step.row) ?? [];
    if (terms.length > MOST || terms.some((term) => term.length > LONG)) terms = [[{ text: `∂${derived(store, seed)}/∂${nameOf(store, row)}`, value: step.adjoint.text ?? "", step: k }]];
    for (const { input, port, local } of step.edges) {
      if (!local?.text || row.shape.length || rows[input].shape.length || !row.said[port + 1]) return null;
      const text = powers(withNames(withoutAdjoint(row.said[port + 1]), row, (one) => nameOf(store, rows[one])));
      const factor = text === "1" ? [] : [{ text, value: local.text, step: k + 1 }];
      found.set(input, [...(found.get(input) ?? []), ...terms.map((term) => [...term, ...factor])]);
    }
  }
  return found;
}

/** `x^(3 − 1)` is `x²`, and `cos((x × 3))` is `cos(x × 3)`. */
const powers = (text: string): string => text.replace(/\(\(([^()]*)\)\)/g, "($1)").replace(/\^\((\d+) − 1\)/, (_, n) => ["^0", "", "²", "³"][n - 1] ?? `^${n - 1}`);

/** A factor with the brackets that it needs. */
const bracketed = (text: string): string => (/^−| [+−/] | if /.test(text.replace(/\([^()]*\)/g, "")) ? `(${text})` : text);

/** The same for LaTeX. */
export function latexOf(of: string, by: string, terms: Term[]): string {
  const grouped = (text: string): string => text.replace(/√(\([^()]*\)|\w+)/g, "√{$1}").replace(/\^\(([^()]*)\)/g, "^{$1}").replace(/\^(-?\d[\d.]+)/g, "^{$1}");
  const tex = (text: string): string => grouped(text).replace(/[A-Za-z_]\w+/g, (word) => (/^(sin|cos|tan|exp|log|sinh|cosh|tanh)$/.test(word) ? `\\${word}` : `\\mathrm{${word.replaceAll("_", "\\_")}}`)).replaceAll("×", "\\cdot ").replaceAll("−", "-").replaceAll("²", "^2").replaceAll("³", "^3").replaceAll("√", "\\sqrt").replaceAll("∂", "\\partial ");
  return `\\frac{\\partial ${tex(of)}}{\\partial ${tex(by)}} = ${terms.map((term) => term.map(({ text }) => tex(bracketed(text))).join(" \\cdot ") || "1").join(" + ")}`;
}

/** The formula of what arrived at a row, with the numbers below; the factor of this step is marked as its edge is. */
export function formulaLine(store: Store, terms: Term[], row: Row, step: number, sum: string): HTMLElement {
  const of = derived(store, seedOf(store));
  const by = nameOf(store, row);
  const line = (part: (factor: Factor) => string): (Node | string)[] =>
    terms.flatMap((term, k) => [k ? " + " : "", ...(term.length ? term.flatMap((factor, i) => [i ? " × " : "", h("span", { class: factor.step === step ? "mt-factor" : "" }, part(factor))]) : ["1"])]);
  const latex = latexOf(of, by, terms);
  const shown = (): void => copy.replaceWith(h("code", { class: "mt-rule" }, latex)); // where a page may not copy: without https, in a frame
  const copied = (): void => void (copy.textContent = "LaTeX ✓");
  const copy = h("button", { type: "button", class: "mt-button mt-small", title: "copy as LaTeX", onclick: () => (navigator.clipboard ? void navigator.clipboard.writeText(latex).then(copied, shown) : shown()) }, "LaTeX");
  return h("div", { class: "mt-eq mt-product-line" }, h("p", { class: "mt-num" }, `∂${elide(of, 20)}/∂${elide(by, 20)} = `, ...line(({ text }) => bracketed(text))), h("p", { class: "mt-num" }, "= ", ...line(({ value }) => (value.startsWith("-") ? `(${rounded(value)})` : rounded(value))), " = ", h("b", {}, sum)), copy);
}
