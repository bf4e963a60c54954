// Why this cell? A product of matrices, cell by cell: the row of one factor and the column of the
// other that made it, term by term. Of the gradient of a weight each term is one example of the
// batch.
import { h } from "./dom";
import { diverging } from "./scale";
import type { Row, SweepStep, Value } from "./schema";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { matrix, rounded, shapeText, title, withNames } from "./value";
import { t } from "./words";

const TERMS = 8; // that are written out
const RULE = /^([xyg])(ᵀ?) @ ([xyg])(ᵀ?)$/;

/**
 * One factor: what it is called, its numbers as they are multiplied, and whether they are turned.
 */
interface Factor {
  name: string;
  lines: number[][];
  turned: boolean;
}

interface Made {
  row: Row;
  to: Row;
  left: Factor;
  right: Factor;
  lines: number[][]; // the product
}

const turn = (lines: number[][]): number[][] =>
  lines[0].map((_, k) => lines.map((line) => line[k]));

/** The numbers of a matrix that was sent whole; null for what is none. */
function whole(value: Value | null, shape: number[]): number[][] | null {
  const lines = value && !value.thumb && shape.length === 2 ? matrix(value) : null;
  return lines?.length === shape[0] && lines[0].length === shape[1] ? lines : null;
}

/** The products of matrices of a step, for each input its own. */
export function madeBy(store: Store, step: SweepStep): Made[] {
  const row = store.rows[step.row];
  return step.edges.flatMap((edge) => {
    const parts = RULE.exec(row.said[edge.port + 1] ?? "");
    const to = store.rows[edge.input];
    const lines = whole(edge.product, to.shape);
    if (!parts || !lines) return [];
    const factor = (name: string, turned: boolean): Factor | null => {
      const of = name === "g" ? null : store.rows[row.inputs[name === "x" ? 0 : 1]];
      const found = of ? whole(of.value, of.shape) : whole(step.adjoint, row.shape);
      const called = of ? withNames(name, row, (one) => title(store.rows[one])) : "g";
      return found && { name: called, lines: turned ? turn(found) : found, turned };
    };
    const [left, right] = [factor(parts[1], parts[2] !== ""), factor(parts[3], parts[4] !== "")];
    return left &&
      right &&
      left.lines[0].length === right.lines.length &&
      left.lines.length === lines.length
      ? [{ row, to, left, right, lines }]
      : [];
  });
}

export class Cell {
  on = false;
  readonly el = h("div", { class: "mt-cells", hidden: true });
  private chosen: [number, number, number] | null = null; // which product, and which cell of it
  private drawn: SweepStep | null = null;

  constructor(
    private store: Store,
    private timeline: Timeline,
  ) {}

  toggle(): void {
    [this.on, this.drawn, this.chosen] = [!this.on, null, null];
  }

  draw(): void {
    if (this.el.hidden === this.on) this.el.hidden = !this.on;
    const { step } = this.timeline;
    if (!this.on || (step && step === this.drawn)) return;
    [this.drawn, this.chosen] = [step, null];
    this.paint();
  }

  private paint(): void {
    const made = this.drawn ? madeBy(this.store, this.drawn) : [];
    const words = t(
      "Step back to a matrix product (@) whose arrays have at most 64 elements. The numbers of larger arrays are not sent.",
    );
    this.el.replaceChildren(
      h("b", {}, t("Why this cell? ")),
      ...(made.length ? made.map((one, k) => this.product(one, k)) : [words]),
    );
  }

  private product(made: Made, number: number): HTMLElement {
    const cell = this.chosen?.[0] === number ? this.chosen : null;
    const [i, j] = cell ? [cell[1], cell[2]] : [-1, -1];
    const { left, right, lines, to } = made;
    const name = (one: Factor): string => one.name + (one.turned ? "ᵀ" : "");
    const pick = (r: number, c: number): void => {
      this.chosen = [number, r, c];
      this.paint();
      this.el.querySelector<HTMLElement>(".mt-cell-chosen")?.focus({ preventScroll: true });
      this.el.querySelector(".mt-cellsum")?.scrollIntoView({ block: "nearest" });
    };
    return h(
      "div",
      { class: "mt-cellwise" },
      grid(`∂${title(to)}`, lines, (r, c) => r === i && c === j, pick),
      " = ",
      grid(name(left), left.lines, (r) => r === i),
      " @ ",
      grid(name(right), right.lines, (_, c) => c === j),
      cell ? terms(made, i, j) : h("p", { class: "mt-num" }, t("choose a cell of ∂{0}", title(to))),
    );
  }
}

/** The dot product of a cell, term by term: each is what one example, or one unit, adds. */
function terms({ left, right, lines }: Made, i: number, j: number): HTMLElement {
  const pairs = left.lines[i].map((a, k): [number, number] => [a, right.lines[k][j]]);
  const sum = pairs.reduce((all, [a, b]) => all + a * b, 0);
  const most = Math.max(...pairs.map(([a, b]) => Math.abs(a * b)), 1e-30);
  const layers = pairs.map(([a, b], k) =>
    h(
      "span",
      {
        class: "mt-layer",
        title: `${number(a)} × ${number(b)} = ${number(a * b)}`,
        style: `background: ${diverging((a * b) / most)}`,
      },
      String(k),
    ),
  );
  const text = pairs.slice(0, TERMS).map(([a, b]) => `${inBrackets(a)} × ${inBrackets(b)}`);
  const more = pairs.length > TERMS ? [t("{0} more terms", pairs.length - TERMS)] : [];
  return h(
    "div",
    { class: "mt-cellsum", role: "status" },
    h(
      "p",
      { class: "mt-num" },
      `[${i}, ${j}] = ${[...text, ...more].join(" + ")} = `,
      h("b", {}, number(sum)),
      ` (${number(lines[i][j])})`.replace(` (${number(sum)})`, ""),
    ),
    h("p", { class: "mt-layers" }, t("what each term adds: "), ...layers),
  );
}

const number = (x: number): string => rounded(String(Number(x.toPrecision(6))));
const inBrackets = (x: number): string => (x < 0 ? `(${number(x)})` : number(x));

/** Numbers as a grid of coloured cells; `pick` makes them buttons. */
function grid(
  name: string,
  lines: number[][],
  lit: (row: number, column: number) => boolean,
  pick?: (row: number, column: number) => void,
): HTMLElement {
  const most = Math.max(...lines.flat().map(Math.abs), 1e-30);
  const cells = lines.flatMap((line, r) =>
    line.map((x, c) => {
      const attrs = {
        class: `mt-cell${lit(r, c) ? " mt-cell-chosen" : ""}`,
        style: `background: ${diverging(x / most)}`,
        title: `[${r}, ${c}] = ${number(x)}`,
      };
      return pick
        ? h("button", {
            type: "button",
            ...attrs,
            "aria-label": `${name} [${r}, ${c}] = ${number(x)}`,
            onclick: () => pick(r, c),
          })
        : h("i", attrs);
    }),
  );
  const table = h(
    "span",
    { class: "mt-cellgrid", style: `grid-template-columns: repeat(${lines[0].length}, 1fr)` },
    ...cells,
  );
  return h(
    "figure",
    {},
    table,
    h("figcaption", {}, `${name} ${shapeText({ shape: [lines.length, lines[0].length] })}`),
  );
}
