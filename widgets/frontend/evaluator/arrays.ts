// Small arrays of numbers, computed as NumPy computes them: rounded to their dtype after each
// operation, and added up in NumPy's order.
import type { Nested } from "../src/snapshot";

export type Dtype = "float32" | "float64" | "bool";

export interface NumericArray {
  shape: number[];
  data: number[]; // the elements in row-major order; booleans are 0 and 1
  dtype: Dtype;
}

/** Larger arrays travel as statistics, from which nothing can be computed. */
export const MAX_SIZE = 64;

/** Returns the function that rounds a result to a dtype. */
export function rounderOf(dtype: Dtype): (x: number) => number {
  return dtype === "float32" ? Math.fround : (x) => x;
}

export function sizeOf(shape: number[]): number {
  return shape.reduce((size, side) => size * side, 1);
}

export function scalar(x: number, dtype: Dtype = "float32"): NumericArray {
  return { shape: [], data: [rounderOf(dtype)(x)], dtype };
}

export function filled(shape: number[], x: number, dtype: Dtype = "float32"): NumericArray {
  return { shape, data: new Array<number>(sizeOf(shape)).fill(rounderOf(dtype)(x)), dtype };
}

export function haveSameShape(a: number[], b: number[]): boolean {
  return a.length === b.length && a.every((side, k) => side === b[k]);
}

/** Returns the shape to which arrays broadcast together; null if they do not. */
export function broadcastShapes(shapes: number[][]): number[] | null {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  const result = new Array<number>(rank).fill(1);
  for (const shape of shapes) {
    for (const [k, side] of shape.entries()) {
      const axis = rank - shape.length + k;
      if (side === 1) continue;
      if (result[axis] !== 1 && result[axis] !== side) return null;
      result[axis] = side;
    }
  }
  return result;
}

/** Returns the distance in `data` between neighbours along each axis. */
export function stridesOf(shape: number[]): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/** Returns, for each element of `target`, the position of its element in an array of `shape`. */
export function broadcastPositions(shape: number[], target: number[]): number[] {
  const lead = target.length - shape.length;
  const own = stridesOf(shape);
  const strides = target.map((_, k) => (k < lead || shape[k - lead] === 1 ? 0 : own[k - lead]));
  return gatherPositions(target, strides);
}

/** Returns the positions of an array's elements, in row-major order of `shape`. */
export function gatherPositions(shape: number[], strides: number[], start = 0): number[] {
  let positions = [start];
  shape.forEach((side, axis) => {
    const next: number[] = [];
    for (const position of positions)
      for (let k = 0; k < side; k++) next.push(position + k * strides[axis]);
    positions = next;
  });
  return positions;
}

/** Returns the elements at these positions as an array. */
export function gather(x: NumericArray, shape: number[], positions: number[]): NumericArray {
  return { shape, data: positions.map((position) => x.data[position]), dtype: x.dtype };
}

export function broadcastTo(x: NumericArray, shape: number[]): NumericArray {
  return gather(x, shape, broadcastPositions(x.shape, shape));
}

/** Applies a function to each element of a single array. */
export function mapArray(x: NumericArray, run: (x: number) => number, dtype = x.dtype) {
  return { shape: x.shape, data: x.data.map(run), dtype };
}

const COLUMNS = 8; // NumPy adds up longer runs in this many columns

/** Adds up numbers in the order of NumPy's pairwise summation. */
function sumRun(data: number[], round: (x: number) => number): number {
  if (data.length < COLUMNS) return data.reduce((total, x) => round(total + x), 0);
  const columns = data.slice(0, COLUMNS);
  let at = COLUMNS;
  for (; at + COLUMNS <= data.length; at += COLUMNS)
    for (let k = 0; k < COLUMNS; k++) columns[k] = round(columns[k] + data[at + k]);
  const pair = (k: number): number => round(columns[k] + columns[k + 1]);
  let total = round(round(pair(0) + pair(2)) + round(pair(4) + pair(6)));
  for (; at < data.length; at++) total = round(total + data[at]);
  return total;
}

/** How an array is reduced: the shape of the result, and the runs whose elements meet in it. */
interface Reduction {
  shape: number[];
  /** for each element of the result its runs, each of positions that lie one behind another */
  runs: number[][][];
}

function planReduction(shape: number[], axes: number[], keepdims: boolean): Reduction {
  const isReduced = shape.map((_, axis) => axes.includes(axis));
  const strides = stridesOf(shape);
  // Trailing axes that are reduced make up one run in memory.
  let border = shape.length;
  while (border > 0 && (isReduced[border - 1] || shape[border - 1] === 1)) border--;
  const run = gatherPositions(shape.slice(border), strides.slice(border));
  const pick = (reduced: boolean): number[] =>
    shape.map((_, axis) => axis).filter((axis) => axis < border && isReduced[axis] === reduced);
  const [kept, outer] = [pick(false), pick(true)];
  const along = (picked: number[]): number[] =>
    gatherPositions(
      picked.map((axis) => shape[axis]),
      picked.map((axis) => strides[axis]),
    );
  const starts = along(outer);
  return {
    shape: keepdims
      ? shape.map((side, axis) => (isReduced[axis] ? 1 : side))
      : shape.filter((_, axis) => !isReduced[axis]),
    runs: along(kept).map((first) =>
      starts.map((start) => run.map((position) => first + start + position)),
    ),
  };
}

/** Sums an array over axes. */
export function sumAxes(x: NumericArray, axes: number[], keepdims = false): NumericArray {
  const round = rounderOf(x.dtype);
  const { shape, runs } = planReduction(x.shape, axes, keepdims);
  const data = runs.map((parts) =>
    parts.reduce((total, part) => {
      const terms = part.map((position) => x.data[position]);
      return round(total + (terms.length === 1 ? terms[0] : sumRun(terms, round)));
    }, 0),
  );
  return { shape, data, dtype: x.dtype };
}

/** Reduces an array over axes with a function of two numbers. */
export function foldAxes(
  x: NumericArray,
  axes: number[],
  keepdims: boolean,
  combine: (a: number, b: number) => number,
): NumericArray {
  const { shape, runs } = planReduction(x.shape, axes, keepdims);
  const data = runs.map((parts) =>
    parts
      .flat()
      .map((position) => x.data[position])
      .reduce(combine),
  );
  return { shape, data, dtype: x.dtype };
}

/** Sums an adjoint over the axes along which an input of this shape was broadcast. */
export function unbroadcast(g: NumericArray, shape: number[]): NumericArray {
  if (haveSameShape(g.shape, shape)) return g;
  const extra = g.shape.length - shape.length;
  const axes = g.shape.flatMap((side, axis) =>
    axis < extra || (side !== 1 && shape[axis - extra] === 1) ? [axis] : [],
  );
  const summed = axes.length ? sumAxes(g, axes) : g;
  if (sizeOf(summed.shape) !== sizeOf(shape)) return broadcastTo(summed, shape);
  return { ...summed, shape };
}

export function addArrays(a: NumericArray, b: NumericArray): NumericArray {
  const round = rounderOf(a.dtype);
  return { ...a, data: a.data.map((x, i) => round(x + b.data[i])) };
}

/** Reads nested lists of numbers; null if they are ragged or empty. */
export function fromNested(nested: Nested, dtype: Dtype = "float32"): NumericArray | null {
  if (!Array.isArray(nested)) return scalar(Number(nested), dtype);
  const parts = nested.map((part) => fromNested(part, dtype));
  const first = parts[0];
  if (!first || parts.some((part) => !part || !haveSameShape(part.shape, first.shape))) return null;
  return {
    shape: [parts.length, ...first.shape],
    data: parts.flatMap((part) => part?.data ?? []),
    dtype,
  };
}

/** Returns nested lists as a snapshot holds them: nan and the infinities are texts. */
export function toNested({ shape, data, dtype }: NumericArray): Nested {
  const element = (x: number): Nested => {
    if (dtype === "bool") return x !== 0;
    if (Number.isNaN(x)) return "nan";
    return Number.isFinite(x) ? x : x > 0 ? "inf" : "-inf";
  };
  const build = (axis: number, start: number, length: number): Nested => {
    if (axis === shape.length) return element(data[start]);
    const part = length / shape[axis];
    return Array.from({ length: shape[axis] }, (_, k) => build(axis + 1, start + k * part, part));
  };
  return build(0, 0, data.length);
}
