// What if a leaf had another value: the rows and the sweep, computed again here if everything that
// depends on it can be.
import { addArrays, fromNested, haveSameShape, scalar } from "../evaluator/arrays";
import type { Dtype, NumericArray } from "../evaluator/arrays";
import { toValue } from "../evaluator/numpy_text";
import { computeShare, computeValue, isArrayOperation } from "../evaluator/operations";
import type { Row, Sweep, SweepEdge, SweepStep, Value } from "./schema";
import { isLeaf, type Store } from "./store";
import { toNumber } from "./value";

/** The number of a scalar; NaN where the value is none. */
export function numberOf(value: Value | null): number {
  return value && !Array.isArray(value.data) && !value.stats
    ? toNumber(value.data ?? value.text)
    : NaN;
}

const DTYPES = new Set<string>(["float32", "float64", "bool"] satisfies Dtype[]);

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

function readArray(row: Row): NumericArray | null {
  if (row.value?.data === undefined || !DTYPES.has(row.dtype)) return null;
  return fromNested(row.value.data, row.dtype as Dtype);
}

/** Are two arrays equal, but for rounding? */
function areClose(one: NumericArray, other: NumericArray): boolean {
  return (
    haveSameShape(one.shape, other.shape) &&
    one.data.every((x, i) => {
      const y = other.data[i];
      return Object.is(x, y) || x === y || Math.abs(x - y) <= 1e-5 * Math.abs(x) + 1e-6;
    })
  );
}

export class WhatIf {
  private values: (NumericArray | null)[];
  private plans = new Map<number, number[] | null>();

  constructor(private store: Store) {
    this.values = store.rows.map(readArray);
  }

  /** The rows have other numbers now. */
  refresh(): void {
    this.values = this.store.rows.map(readArray);
  }

  /** Returns the rows to compute when a leaf moves; null if one of them cannot be. */
  private planOf(leaf: number): number[] | null {
    let plan = this.plans.get(leaf);
    if (plan === undefined) this.plans.set(leaf, (plan = this.makePlan(leaf)));
    return plan;
  }

  private makePlan(leaf: number): number[] | null {
    const { rows } = this.store;
    if (placesOf(this.store, rows[leaf]) > 1) return null;
    const moved = new Set([leaf]);
    for (const row of rows.slice(leaf + 1)) {
      if (!row.inputs.some((input) => moved.has(input))) continue;
      // A row that comes out as something else than was recorded is not understood here.
      const [recorded, computed] = [this.values[row.row], this.compute(row, this.values)];
      if (!recorded || !computed || !areClose(computed, recorded)) return null;
      moved.add(row.row);
    }
    return [...moved].slice(1);
  }

  private compute(row: Row, values: (NumericArray | null)[]): NumericArray | null {
    const inputs = row.inputs.map((input) => values[input]);
    const isKnown = DTYPES.has(row.dtype) && (!isArrayOperation(row.op) || row.arguments);
    if (!isKnown || !hasAll(inputs)) return null;
    return computeValue(row, inputs, row.arguments ?? {});
  }

  can(leaf: number): boolean {
    return isMovable(this.store.rows[leaf]) && this.planOf(leaf) !== null;
  }

  private valuesAt(leaf: number, value: number): (NumericArray | null)[] {
    const { rows } = this.store;
    const values = this.values.slice();
    values[leaf] = scalar(value, rows[leaf].dtype as Dtype);
    for (const row of this.planOf(leaf) ?? []) values[row] = this.compute(rows[row], values);
    return values;
  }

  /** The number of a row, were the leaf's value this one. */
  at(leaf: number, value: number, row: number): number {
    return this.valuesAt(leaf, value)[row]?.data[0] ?? NaN;
  }

  /**
   * The numbers of the store's rows and sweep, were the leaf's value this one; null for the sweep
   * where there is none.
   */
  snapshot(
    leaf: number,
    value: number,
  ): { values: Map<number, Value>; sweep: Sweep | null } | null {
    const plan = this.planOf(leaf);
    if (!plan) return null;
    const values = this.valuesAt(leaf, value);
    const changed = new Map<number, Value>();
    for (const row of [leaf, ...plan]) {
      const array = values[row];
      if (!array) return null;
      changed.set(row, toValue(array));
    }
    const { sweep } = this.store;
    return { values: changed, sweep: sweep && !sweep.rest ? this.runSweep(sweep, values) : null };
  }

  private runSweep(sweep: Sweep, values: (NumericArray | null)[]): Sweep | null {
    const adjoints = new Map<number, NumericArray>();
    const steps: SweepStep[] = [];
    for (const step of sweep.steps) {
      // A target's adjoint is where the sweep begins.
      const seed = fromNested(step.adjoint.data ?? NaN, this.store.rows[step.row].dtype as Dtype);
      const adjoint = adjoints.get(step.row) ?? seed;
      const edges = step.others || !adjoint ? null : this.runStep(step, adjoint, values, adjoints);
      if (!adjoint || !edges) return null;
      steps.push({ ...step, adjoint: toValue(adjoint), edges });
    }
    const gradients = sweep.sources.map((row, k) => {
      const adjoint = adjoints.get(row);
      return adjoint ? toValue(adjoint) : sweep.gradients[k];
    });
    return { ...sweep, steps, gradients };
  }

  private runStep(
    step: SweepStep,
    adjoint: NumericArray,
    values: (NumericArray | null)[],
    adjoints: Map<number, NumericArray>,
  ): SweepEdge[] | null {
    const row = this.store.rows[step.row];
    const [inputs, z] = [row.inputs.map((input) => values[input]), values[step.row]];
    if (!z || !hasAll(inputs)) return null;
    const edges: SweepEdge[] = [];
    for (const edge of step.edges) {
      const share = computeShare(row, edge.port, inputs, z, adjoint, row.arguments ?? {});
      if (!share) return null;
      const before = adjoints.get(edge.input);
      const sum = before ? addArrays(before, share.product) : share.product;
      adjoints.set(edge.input, sum);
      const local = share.local && toValue(share.local);
      edges.push({ ...edge, local, product: toValue(share.product), sum: toValue(sum) });
    }
    return edges;
  }
}

function hasAll(inputs: (NumericArray | null)[]): inputs is NumericArray[] {
  return inputs.every((input) => input !== null);
}
