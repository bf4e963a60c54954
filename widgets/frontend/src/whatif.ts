// What if a leaf had another value: the rows and the sweep, computed again here where all that
// depends on it are numbers.
import { formula, type Formula } from "./formula";
import type { Row, Sweep, SweepStep, Value } from "./schema";
import { isLeaf, type Store } from "./store";
import { toNumber } from "./value";

interface Program {
  // what depends on the leaf, in order
  rows: { row: number; x: number; y: number; run: Formula; single: boolean }[];
}

/** The number of a scalar; NaN where the value is none. */
export function numberOf(value: Value | null): number {
  return value && !Array.isArray(value.data) && !value.stats
    ? toNumber(value.data ?? value.text)
    : NaN;
}

const isNumber = (row: Row): boolean =>
  row.shape.length === 0 && (row.dtype === "float32" || row.dtype === "float64");

/** May this row be moved? */
export function isMovable(row: Row): boolean {
  return isLeaf(row) && isNumber(row) && Number.isFinite(numberOf(row.value));
}

/** At how many places the program has this number. */
export function placesOf(store: Store, row: Row): number {
  const readers = row.literal
    ? (store.consumers[row.row] ?? []).map((reader) => store.rows[reader])
    : [];
  return new Set(
    readers.flatMap(({ line, site, file, inputs }) =>
      inputs.flatMap((input, k) => (input === row.row ? [`${line}|${site}|${file}|${k}`] : [])),
    ),
  ).size;
}

export class WhatIf {
  private values: Float64Array;
  private programs = new Map<number, Program | null>();

  constructor(private store: Store) {
    this.values = this.read();
  }

  private read(): Float64Array {
    return Float64Array.from(this.store.rows, (row) => numberOf(row.value));
  }

  /** The rows have other numbers now. */
  refresh(): void {
    this.values = this.read();
  }

  /**
   * What is to be computed when this leaf moves; null where a row between cannot be computed here.
   */
  private program(leaf: number): Program | null {
    let found = this.programs.get(leaf);
    if (found === undefined) this.programs.set(leaf, (found = this.look(leaf)));
    return found;
  }

  private look(leaf: number): Program | null {
    const { rows } = this.store;
    if (placesOf(this.store, rows[leaf]) > 1) return null;
    const moved = new Set([leaf]);
    const program: Program = { rows: [] };
    for (let i = leaf + 1; i < rows.length; i++) {
      const row = rows[i];
      if (!row.inputs.some((input) => moved.has(input))) continue;
      const run = formula(row.formula);
      if (!run || !isNumber(row) || row.inputs.some((input) => Number.isNaN(this.values[input])))
        return null;
      moved.add(i);
      program.rows.push({
        row: i,
        x: row.inputs[0],
        y: row.inputs[row.inputs.length - 1],
        run,
        single: row.dtype === "float32",
      });
    }
    return program;
  }

  can(leaf: number): boolean {
    return isMovable(this.store.rows[leaf]) && this.program(leaf) !== null;
  }

  /** All values, were the leaf's this one. */
  at(leaf: number, value: number): Float64Array {
    const values = this.values.slice();
    values[leaf] = this.store.rows[leaf].dtype === "float32" ? Math.fround(value) : value;
    for (const { row, x, y, run, single } of this.program(leaf)?.rows ?? []) {
      const result = run({ x: values[x], y: values[y], z: NaN, g: NaN });
      values[row] = single ? Math.fround(result) : result;
    }
    return values;
  }

  /**
   * The numbers of the store's rows and sweep, were the leaf's value this one; null for the sweep
   * where there is none.
   */
  snapshot(
    leaf: number,
    value: number,
  ): { values: Map<number, Value>; sweep: Sweep | null } | null {
    const program = this.program(leaf);
    if (!program) return null;
    const values = this.at(leaf, value);
    const { rows, sweep } = this.store;
    const changed = new Map(
      [leaf, ...program.rows.map((one) => one.row)].map((row) => [
        row,
        show(values[row], rows[row]),
      ]),
    );
    return { values: changed, sweep: sweep && !sweep.rest ? this.sweep(sweep, values) : null };
  }

  private sweep(sweep: Sweep, values: Float64Array): Sweep | null {
    const { rows } = this.store;
    const adjoints = new Map<number, number>();
    const steps: SweepStep[] = [];
    for (const step of sweep.steps) {
      const row = rows[step.row];
      if (step.others || !isNumber(row)) return null;
      // a target's is where the sweep begins
      const g = adjoints.get(step.row) ?? numberOf(step.adjoint);
      const round = row.dtype === "float32" ? Math.fround : (x: number): number => x;
      const edges = [];
      for (const edge of step.edges) {
        const rule = formula(row.rule[edge.port] ?? "");
        if (!rule) return null;
        const numbers = {
          x: values[row.inputs[0]],
          y: values[row.inputs[row.inputs.length - 1]],
          z: values[step.row],
        };
        const product = round(rule({ ...numbers, g }));
        const sum = round((adjoints.get(edge.input) ?? 0) + product);
        adjoints.set(edge.input, sum);
        edges.push({
          ...edge,
          local: show(round(rule({ ...numbers, g: 1 })), row),
          product: show(product, row),
          sum: show(sum, row),
        });
      }
      steps.push({ ...step, adjoint: show(g, row), edges });
    }
    const gradients = sweep.sources.map((row, k) =>
      row >= 0 && adjoints.has(row)
        ? show(adjoints.get(row) as number, rows[row])
        : sweep.gradients[k],
    );
    return { ...sweep, steps, gradients };
  }
}

/** A number as NumPy prints one of this dtype. */
export function show(number: number, row: Pick<Row, "dtype">): Value {
  return {
    text: numberText(number, row.dtype === "float32"),
    data: Number.isFinite(number) ? number : String(number),
  };
}

function numberText(number: number, single: boolean): string {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  let text = String(number);
  for (let digits = 1; single && digits < 10; digits++) {
    text = String(Number(number.toPrecision(digits)));
    if (Math.fround(Number(text)) === number) break;
  }
  const size = Math.abs(Number(text));
  if (size !== 0 && (size < 1e-4 || size >= 1e16))
    return Number(text)
      .toExponential()
      .replace(/e([-+])(\d)$/, "e$10$2");
  return /[.e]/.test(text) ? text : `${text}.0`;
}
