// To feel a derivative: a curve with the point and its tangent, and a leaf that moves.
import { focusBeside, h, on, s, setText, smallButton } from "./dom";
import { findFormula } from "../evaluator/formulas";
import type { Row } from "./schema";
import type { Store } from "./store";
import { nameOf, title } from "./value";
import { numberOf, WhatIf } from "./whatif";
import { t } from "./words";

const [W, H, MARGIN] = [264, 126, 6];
const [LEFT, BELOW] = [66, 18]; // beside the curve are its numbers
const POINTS = 72;
const MOST = 150_000; // operations for one curve

/** A function near a point, and the slope that the sweep has for it. */
export interface Curve {
  name: string;
  what: string; // of which it is a function
  at: number;
  slope: number;
  xs: number[]; // some numbers around,
  ys: number[]; // and what the function gives there
  y: number; // at the point
  after: [number, number]; // a small step, and what the function gives behind it
}

/**
 * Numbers around a point at which a curve is drawn, and behind them the point after a small step.
 */
function around(at: number): number[] {
  const reach = Math.max(1, Math.abs(at));
  const xs = Array.from({ length: POINTS + 1 }, (_, k) => at + reach * ((2 * k) / POINTS - 1));
  return [...xs, at + stepAt(at)];
}

function stepAt(at: number): number {
  return 0.01 * 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(at) || 1)));
}

/** A curve of what a function gave at the numbers around a point. */
function curveOf(
  name: string,
  what: string,
  at: number,
  slope: number,
  y: number,
  given: number[],
): Curve {
  const [xs, ys] = [around(at).slice(0, -1), given.slice(0, -1)];
  return { name, what, at, slope, xs, ys, y, after: [stepAt(at), given.at(-1)!] };
}

/** What the program calls an input; a constant without a name is its number. */
function inputName(row: Row): string {
  if (row.kind === "constant" && !row.name) return number(numberOf(row.value));
  return row.kind === "operation" && !row.name ? t("row {0}", row.row) : nameOf(row);
}

/**
 * The local function of a row of one of its inputs, all others as they are; null where it is no
 * function of numbers.
 */
export function localCurve(
  store: Store,
  row: Row,
  port: number,
  isWhole = false, // whether an input that is read twice moves at both places
): Curve | null {
  const run = findFormula(row.formula);
  const ports = row.inputs.flatMap((input, k) =>
    k === port || (isWhole && input === row.inputs[port]) ? [k] : [],
  );
  const rules = ports.flatMap((k) => findFormula(row.rule[k] ?? "") ?? []);
  const values = row.inputs.map((input) => numberOf(store.rows[input].value));
  const z = numberOf(row.value);
  if (
    !run ||
    rules.length < ports.length ||
    row.shape.length ||
    [...values, z].some((value) => !Number.isFinite(value))
  )
    return null;
  const numbers = { x: values[0], y: values.at(-1)!, z, g: 1 };
  const f = (x: number): number =>
    run({ ...numbers, ...Object.fromEntries(ports.map((k) => [k ? "y" : "x", x])) });
  const called = row.inputs.map((input) => inputName(store.rows[input]));
  // what is read twice moves at one place only: at the other it is a number
  const names =
    row.inputs.length > 1 && called[0] === called[1]
      ? called.map((one, k) => (k === port ? one : number(values[k])))
      : called;
  return curveOf(
    row.formula.replace(/\b[xy]\b/g, (letter) => names[letter === "x" ? 0 : names.length - 1]),
    names[port],
    values[port],
    rules.reduce((sum, rule) => sum + rule(numbers), 0),
    f(values[port]),
    around(values[port]).map(f),
  );
}

/** The slope that the sweep has for a leaf, and its target; null without one. */
function slopeAt(store: Store, leaf: number): { target: number; slope: number } | null {
  const { sweep, rows } = store;
  const target = sweep?.target[sweep.target.length - 1];
  if (!sweep || target === undefined || rows[target].shape.length) return null;
  const arrived = sweep.steps.flatMap((step) => step.edges).filter((edge) => edge.input === leaf);
  const k = sweep.sources.indexOf(leaf);
  const slope = arrived.length
    ? numberOf(arrived.at(-1)!.sum)
    : k >= 0
      ? numberOf(sweep.gradients[k])
      : NaN;
  return Number.isFinite(slope) ? { target, slope } : null;
}

/** The target as a function of a leaf. */
export function wholeCurve(store: Store, what: WhatIf, leaf: number): Curve | null {
  const { rows } = store;
  const found = slopeAt(store, leaf);
  if (!found || !what.can(leaf) || rows.length * POINTS > MOST) return null;
  const { target, slope } = found;
  const at = numberOf(rows[leaf].value);
  const ys = around(at).map((x) => what.at(leaf, x, target));
  return curveOf(
    rows[target].name ?? title(rows[target]),
    title(rows[leaf]),
    at,
    slope,
    numberOf(rows[target].value),
    ys,
  );
}

/** The curve with its point and its tangent. */
export function drawing(curve: Curve): HTMLElement {
  const { xs, ys, y: y0 } = curve;
  const reach = (xs[POINTS] - xs[0]) / 2;
  const near = ys.filter(Number.isFinite).sort((a, b) => a - b);
  let [low, high] = [
    near[Math.floor(near.length * 0.04)] ?? y0 - 1,
    near[Math.ceil(near.length * 0.96) - 1] ?? y0 + 1,
  ];
  const [least, most] = [near[0], near.at(-1)!];
  if (most - least < 3 * (high - low)) [low, high] = [least, most]; // else poles are cut off
  [low, high] = [Math.min(low, y0), Math.max(high, y0)];
  const room = (high - low || 1) * 0.12;
  const px = (x: number): number => LEFT + ((x - xs[0]) / (2 * reach)) * (W - MARGIN - LEFT);
  const py = (y: number): number =>
    H - BELOW - ((y - low + room) / (high - low + 2 * room)) * (H - MARGIN - BELOW);
  const inside = (y: number): boolean =>
    Number.isFinite(y) && y > low - 10 * room && y < high + 10 * room;
  let d = "";
  ys.forEach(
    (y, k) =>
      (d += inside(y)
        ? `${d && inside(ys[k - 1]) ? "L" : "M"}${px(xs[k]).toFixed(1)} ${py(y).toFixed(1)}`
        : ""),
  );
  const tangent = (x: number): string =>
    `${px(x).toFixed(1)} ${py(y0 + curve.slope * (x - curve.at)).toFixed(1)}`;
  const slope = t("{0}, at {1} = {2}: slope ", curve.name, curve.what, number(curve.at));
  const svg = s("svg.mt-curve", {
    viewBox: `0 0 ${W} ${H}`,
    width: W,
    height: H,
    role: "img",
    "aria-label": slope + number(curve.slope),
  });
  const mark = (x: number, y: number, anchor: string, value: number): SVGElement =>
    s("text.mt-tick", { x, y, "text-anchor": anchor }, number(value));
  svg.append(s("path.mt-axis", { d: `M${LEFT} ${MARGIN}V${H - BELOW}H${W - MARGIN}` }));
  svg.append(
    mark(LEFT, H - 5, "start", xs[0]),
    mark(W - MARGIN, H - 5, "end", xs[POINTS]),
    mark(LEFT - 4, py(high) + 4, "end", high),
    mark(LEFT - 4, py(low) + 4, "end", low),
  );
  const inner = s(
    "svg",
    { width: W, height: H - BELOW },
    s("path.mt-curve-line", { d }),
    s("path.mt-curve-tangent", { d: `M${tangent(xs[0])}L${tangent(xs[POINTS])}` }),
    s("circle.mt-curve-point", { cx: px(curve.at), cy: py(y0), r: 4 }),
  );
  svg.append(inner); // the tangent ends at the axis
  return h("figure.mt-feel", {}, svg, h("figcaption", {}, slope, h("b", {}, number(curve.slope))));
}

/** A slider for a leaf, and what a small step would do beside what the gradient says it does. */
export class Mover {
  readonly el: HTMLElement;
  private input: HTMLInputElement;
  private field: HTMLInputElement;

  constructor(
    readonly row: number,
    name: string,
    value: number,
    start: number,
    move: (value: number) => void,
    back: () => void,
  ) {
    const reach = Math.max(1, 2 * Math.abs(start));
    const attrs = {
      min: Math.min(start - reach, value),
      max: Math.max(start + reach, value),
      step: "any",
      "aria-label": t("move {0}", name),
    };
    this.input = h("input", { type: "range", class: "mt-slider mt-knob", ...attrs });
    this.field = h("input", {
      type: "number",
      class: "mt-jump mt-exact",
      step: "any",
      "aria-label": t("value of {0}", name),
    });
    this.show(value);
    on(this.input, "input", () => move(round(Number(this.input.value), reach)));
    on(this.field, "change", () => this.field.value !== "" && move(Number(this.field.value)));
    const reset = smallButton(t("back"), back, { title: "As it was recorded" });
    this.el = h("label.mt-mover", {}, h("b", {}, name), this.input, this.field, reset);
  }

  show(value: number): void {
    if (focusBeside(this.field) !== this.field)
      this.field.value = String(Number(value.toPrecision(7)));
    this.input.value = String(value);
  }
}

/** What a small step does, and what the gradient says it does. */
export function ghost(curve: Curve): HTMLElement {
  const [step, there] = curve.after;
  const el = h("p.mt-ghoststep", {});
  setText(
    el,
    t(
      "{0} + {1} → {2} {3}; the gradient predicts {4}",
      curve.what,
      number(step),
      curve.name,
      signed(there - curve.y),
      signed(curve.slope * step),
    ),
  );
  return el;
}

/** To a hundredth of the slider's reach: readable numbers. */
function round(value: number, reach: number): number {
  const unit = 10 ** Math.floor(Math.log10(reach / 50));
  return Number((Math.round(value / unit) * unit).toPrecision(12));
}

function number(x: number): string {
  return String(Number(x.toPrecision(4)));
}

function signed(x: number): string {
  return x < 0 ? `−${number(-x)}` : `+${number(x)}`;
}
