// Why this cell? A product of matrices, cell by cell: the row of one factor and the column of the
// other that made it, term by term. Of the gradient of a weight each term is one example of the
// batch.
import { focusQuietly, h } from "./dom";
import { nameOf as formulaOf } from "./product";
import { diverging } from "./scale";
import type { Row, SweepStep, Value } from "./schema";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { decimal, full, matrix, nameOf, shapeText } from "./value";
import { t } from "./words";

const TERMS = 8; // that are written out
const MOST = 32; // lines, and columns, that a snapshot has of a larger matrix
const RULE = /^([xyg])(ᵀ?) @ ([xyg])(ᵀ?)$/;

/** The numbers of a matrix; of one that is too large every n-th line and every m-th column. */
interface Numbers {
  lines: number[][];
  steps: [number, number];
}

/** One factor: what it is called, and its numbers as they are multiplied. */
interface Factor extends Numbers {
  name: string;
  shape: number[];
}

interface Made extends Numbers {
  to: Row;
  name: string; // of the gradient
  sum: Numbers | null; // of a part of it what has been added up by now
  left: Factor;
  right: Factor;
}

const turn = (lines: number[][]): number[][] =>
  lines[0].map((_, k) => lines.map((line) => line[k]));

/** The numbers of a matrix that were sent; null for what is none. */
function numbersOf(value: Value | null, shape: number[]): Numbers | null {
  const lines = value && shape.length === 2 ? matrix(value) : null;
  if (!lines) return null;
  const [down, across] = shape.map((side) => (value?.thumb ? Math.ceil(side / MOST) : 1));
  const isAll =
    lines.length === Math.ceil(shape[0] / down) && lines[0].length === Math.ceil(shape[1] / across);
  return isAll ? { lines, steps: [down, across] } : null;
}

/** A name with ᵀ behind it, or without the one that it has: what is turned twice is as it was. */
const transposed = (name: string): string => (name.endsWith("ᵀ") ? name.slice(0, -1) : `${name}ᵀ`);

/** What a matrix is called: one without a name by what made it, or by what was turned. */
function nameIn(store: Store, row: Row): string {
  if (row.name || row.kind !== "operation") return nameOf(row);
  return row.op === "transpose"
    ? transposed(nameIn(store, store.rows[row.inputs[0]]))
    : formulaOf(store, row);
}

/** The products of matrices of a step, for each input its own. */
export function madeBy(store: Store, timeline: Timeline, step: SweepStep): Made[] {
  const row = store.rows[step.row];
  const factor = (letter: string, isTurned: boolean): Factor | null => {
    const of = letter === "g" ? null : store.rows[row.inputs[letter === "x" ? 0 : 1]];
    const shape = (of ?? row).shape;
    const found = numbersOf(of ? of.value : step.adjoint, shape);
    if (!found) return null;
    const name = of ? nameIn(store, of) : "g";
    if (!isTurned) return { ...found, name, shape };
    const [down, across] = found.steps;
    return {
      name: transposed(name),
      shape: [...shape].reverse(),
      lines: turn(found.lines),
      steps: [across, down],
    };
  };
  return step.edges.flatMap((edge) => {
    const parts = RULE.exec(row.said[edge.port + 1] ?? "");
    const to = store.rows[edge.input];
    const product = numbersOf(edge.product, to.shape);
    if (!parts || !product) return [];
    const [left, right] = [factor(parts[1], parts[2] !== ""), factor(parts[3], parts[4] !== "")];
    const fits =
      left?.lines[0].length === right?.lines.length && left?.lines.length === product.lines.length;
    if (!left || !right || !fits) return [];
    const name = `∂${nameIn(store, to)}`;
    const isWhole =
      full(edge.product) === full(timeline.last(to.row)) &&
      !(store.sweep?.rest && store.consumers[to.row][1]); // of a long sweep more may come
    const sum = isWhole ? null : numbersOf(edge.sum, to.shape);
    return [{ to, name, left, right, sum, ...product }];
  });
}

/** What a product is called, or one of its cells. */
const called = ({ name, sum }: Made, at = ""): string =>
  sum ? t("part of {0}", name + at) : name + at;

export class Cell {
  on = false;
  readonly el = h("div.mt-cells", { hidden: true });
  private chosen: [number, number, number] | null = null; // which product, and which cell of it
  private drawn: SweepStep | null = null;

  constructor(
    private store: Store,
    private timeline: Timeline,
  ) {}

  toggle(): void {
    [this.on, this.drawn, this.chosen] = [!this.on, null, null];
  }

  /** The number of the first step from this one on, else of all, that is made of cells; or -1. */
  nextProduct(from: number): number {
    const steps = this.store.sweep?.steps ?? [];
    const isMade = (step: SweepStep): boolean => madeBy(this.store, this.timeline, step).length > 0;
    const next = steps.slice(from).findIndex(isMade);
    return next < 0 ? steps.findIndex(isMade) : from + next;
  }

  draw(): void {
    if (this.el.hidden === this.on) this.el.hidden = !this.on;
    const { step } = this.timeline;
    if (!this.on || (step && step === this.drawn)) return;
    this.drawn = step;
    this.chosen = step ? this.findOpening(madeBy(this.store, this.timeline, step)) : null;
    this.paint();
  }

  /**
   * The cell with which the explanation begins: that of a source's gradient, else of the product of
   * most terms, which is farthest from zero.
   */
  private findOpening(made: Made[]): [number, number, number] | null {
    const rank = ({ to, left }: Made): number =>
      left.lines[0].length / (this.store.sweep?.sources.includes(to.row) ? 1 : 1e9);
    const cells = made.flatMap((one, k) =>
      one.lines.flatMap((line, r) =>
        line.map((x, c) => [rank(one), Math.abs(x), k, r, c] as const),
      ),
    );
    const found = cells.sort((a, b) => b[0] - a[0] || b[1] - a[1]).at(0);
    return found ? [found[2], found[3], found[4]] : null;
  }

  private paint(): void {
    const made = this.drawn ? madeBy(this.store, this.timeline, this.drawn) : [];
    const [number, i, j] = this.chosen ?? [-1, -1, -1];
    const words = this.chosen
      ? terms(made[number], i, j)
      : t(
          this.nextProduct(0) < 0
            ? "No step of this sweep is a product (@) of two arrays with two axes each."
            : "Step back to a product (@) of two arrays with two axes each.",
        ) + t(" Products of arrays with more axes, such as a batch, are not shown here.");
    this.el.replaceChildren(
      h("div.mt-cellsum", { role: "status" }, h("b", {}, t("Why this cell? ")), words),
      h("div.mt-products", {}, ...made.map((one, k) => this.product(one, k))),
    );
  }

  /** One product: all of its cells have one size, so that rows and columns can be compared. */
  private product(made: Made, number: number): HTMLElement {
    const { to, left, right, lines, steps } = made;
    const [i, j] = this.chosen?.[0] === number ? this.chosen.slice(1) : [-1, -1];
    const pick = (r: number, c: number): void => {
      this.chosen = [number, r, c];
      this.paint();
      focusQuietly(this.el.querySelector<HTMLElement>("button.mt-cell-chosen"));
      this.el.querySelector(".mt-cellsum")?.scrollIntoView({ block: "nearest" });
    };
    const high = Math.max(lines.length, right.lines.length);
    const across = [lines, left.lines, right.lines].reduce((all, [line]) => all + line.length, 0);
    const own = { name: called(made), shape: to.shape, lines, steps };
    return h(
      "div.mt-cellwise",
      { style: `--mt-high: ${high}; --mt-across: ${across}` },
      grid(own, (r, c) => r === i && c === j, pick),
      "=",
      grid(left, (r) => r === i),
      "@",
      grid(right, (_, c) => c === j),
    );
  }
}

/** The dot product of a cell, term by term: each is what one example, or one unit, adds. */
function terms(made: Made, i: number, j: number): HTMLElement {
  const { left, right, lines, steps, sum } = made;
  const pairs = left.lines[i].map((a, k): [number, number] => [a, right.lines[k][j]]);
  const every = left.steps[1]; // of the terms, one in so many was sent
  const most = Math.max(...pairs.map(([a, b]) => Math.abs(a * b)), 1e-30);
  const layers = pairs.map(([a, b], k) =>
    h(
      "span.mt-layer",
      {
        title: `[${k * every}]: ${number(a)} × ${number(b)}`,
        style: `background: ${diverging((a * b) / most)}`,
      },
      number(pairs.length > TERMS ? Number((a * b).toPrecision(2)) : a * b),
    ),
  );
  const result = lines[i][j];
  return h(
    "div",
    {},
    h(
      "p.mt-num",
      {},
      `${called(made, `[${i * steps[0]}, ${j * steps[1]}]`)} = `,
      ...(every > 1 ? [h("b", {}, number(result))] : inTerms(pairs, result)),
      ...(sum ? [t(", ") + t("added up: "), h("b", {}, number(sum.lines[i][j]))] : []),
    ),
    pairs.length > 1 &&
      h(
        "p.mt-layers",
        {},
        every > 1 ? t("what 1 term in {0} adds: ", every) : t("what each term adds: "),
        ...layers,
      ),
  );
}

/** The first products of a sum, and how many more there are. */
function written(pairs: [number, number][]): string {
  // what has no room anyway leaves it to the matrices
  const few = pairs.length > TERMS ? TERMS / 2 : TERMS;
  const text = pairs.slice(0, few).map(([a, b]) => `${inBrackets(a)} × ${inBrackets(b)}`);
  const more = pairs.length > TERMS ? [t("{0} more terms", pairs.length - few)] : [];
  return [...text, ...more].join(" + ");
}

/** A number as the sum of products, and what was recorded where that differs. */
function inTerms(pairs: [number, number][], recorded: number): (string | HTMLElement)[] {
  const sum = number(pairs.reduce((all, [a, b]) => all + a * b, 0));
  const other = sum === number(recorded) ? "" : ` (${number(recorded)})`;
  const isExact = pairs.flat().every((factor) => Number(number(factor)) === factor);
  return [`${written(pairs)} ${isExact ? "=" : "≈"} `, h("b", {}, sum), other];
}

const number = (x: number): string => decimal(Number(x.toPrecision(6)));
const inBrackets = (x: number): string => (x < 0 ? `(${number(x)})` : number(x));

/**
 * Numbers as a grid of coloured cells; `pick` makes them buttons, which arrow keys lead through.
 */
function grid(
  { name, lines, steps, shape }: Factor,
  lit: (row: number, column: number) => boolean,
  pick?: (row: number, column: number) => void,
): HTMLElement {
  const most = Math.max(...lines.flat().map(Math.abs), 1e-30);
  const isAnyLit = lines.some((line, r) => line.some((_, c) => lit(r, c)));
  const cells = lines.flatMap((line, r) =>
    line.map((x, c) => {
      const place = `[${r * steps[0]}, ${c * steps[1]}] = ${number(x)}`;
      const attrs = {
        class: `mt-cell${lit(r, c) ? " mt-cell-chosen" : ""}`,
        style: `background: ${diverging(x / most)}`,
        title: place,
      };
      if (!pick) return h("i", attrs);
      return h("button", {
        ...attrs,
        tabindex: lit(r, c) || (!isAnyLit && r + c === 0) ? 0 : -1,
        "aria-label": `${name} ${place}`,
        onclick: () => pick(r, c),
        onkeydown: (event: KeyboardEvent) => {
          const [down, across] = ARROWS[event.key] ?? [0, 0];
          if (lines[r + down]?.[c + across] === undefined || !(down || across)) return;
          event.preventDefault();
          event.stopPropagation();
          pick(r + down, c + across);
        },
      });
    }),
  );
  const style = `grid-template-columns: repeat(${lines[0].length}, auto)`;
  const [down, across] = steps; // of the rows and columns, one in so many was sent
  const sent = [
    down > 1 ? t(", 1 row in {0}", down) : "",
    across > 1 ? t(", 1 column in {0}", across) : "",
  ];
  return h(
    "figure",
    {},
    h("span.mt-cellgrid", { style }, ...cells),
    h("figcaption", {}, `${name} ${shapeText({ shape })}${sent.join("")}`),
  );
}

const ARROWS: Record<string, [number, number] | undefined> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};
