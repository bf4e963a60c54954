// What the operations of the table compute, and the shares that they send back. A rule of an
// operation on whole arrays is written once, in operations: the sweep runs it on arrays, and a
// sweep that a tape records on rows.
import {
  broadcastPositions,
  broadcastShapes,
  broadcastTo,
  filled,
  foldAxes,
  gather,
  gatherPositions,
  haveSameShape,
  mapArray,
  rounderOf,
  scalar,
  sizeOf,
  stridesOf,
  sumAxes,
  type NumericArray,
} from "./arrays";
import { computeFormula, findFormula, findOperator } from "./formulas";
import { OPERATIONS } from "./table";

/** The arguments of a call besides its inputs, such as the axes of a sum. */
export interface CallArguments {
  axis?: number[] | number | null;
  keepdims?: boolean;
  shape?: number[];
  perm?: number[];
  transpose_a?: boolean;
  transpose_b?: boolean;
  spec?: SliceSpec;
}

/** An index: for each axis a position, or [start, stop, step]; null for a new axis. */
export type SliceSpec = (number | (number | null)[] | null)[];

/** An index as the program writes it: `[0, 1:3, ::2]`. */
export function formatIndex(spec: SliceSpec): string {
  const texts = spec.map((part) => String(part ?? "None"));
  return `[${texts.map((text) => text.replaceAll(",", ":").replace(/:$/, "")).join(", ")}]`;
}

type Forward = (inputs: NumericArray[], args: CallArguments) => NumericArray | null;

// --- axes ---

function listAxes(rank: number, axis: CallArguments["axis"]): number[] {
  if (axis === null || axis === undefined) return Array.from({ length: rank }, (_, k) => k);
  return [axis].flat().map((one) => (one < 0 ? one + rank : one));
}

function countReduced(shape: number[], axis: CallArguments["axis"]): number {
  return listAxes(shape.length, axis).reduce((count, one) => count * shape[one], 1);
}

/** Turns an index into the shape of its result and the positions of the elements. */
function resolveSlice(shape: number[], spec: SliceSpec): { shape: number[]; positions: number[] } {
  const strides = stridesOf(shape);
  const sides: number[] = [];
  const steps: number[] = [];
  let [start, axis] = [0, 0];
  const indexed = spec.filter((part) => part !== null).length;
  const whole: SliceSpec = shape.slice(indexed).map(() => [null, null, null]);
  for (const part of [...spec, ...whole]) {
    if (part === null) {
      sides.push(1);
      steps.push(0);
      continue;
    }
    const [side, stride] = [shape[axis], strides[axis]];
    axis++;
    if (typeof part === "number") {
      start += (part < 0 ? part + side : part) * stride;
      continue;
    }
    const step = part[2] ?? 1;
    const clip = (bound: number): number =>
      Math.min(Math.max(bound < 0 ? bound + side : bound, 0), side);
    const [first, last] = [clip(part[0] ?? 0), clip(part[1] ?? side)];
    sides.push(Math.max(0, Math.ceil((last - first) / step)));
    steps.push(step * stride);
    start += first * stride;
  }
  return { shape: sides, positions: gatherPositions(sides, steps, start) };
}

/** Does each part of an index lie within its axis? Steps go forward. */
export function isValidSlice(shape: number[], spec: SliceSpec): boolean {
  const parts = spec.filter((part) => part !== null);
  return (
    parts.length <= shape.length &&
    parts.every((part, axis) => {
      const side = shape[axis];
      return typeof part === "number" ? part >= -side && part < side : (part[2] ?? 1) > 0;
    })
  );
}

function transposeArray(x: NumericArray, perm: number[]): NumericArray {
  const strides = stridesOf(x.shape);
  const shape = perm.map((axis) => x.shape[axis]);
  return gather(
    x,
    shape,
    gatherPositions(
      shape,
      perm.map((axis) => strides[axis]),
    ),
  );
}

// --- values ---

/**
 * Multiplies matrices. Products of a row or a column are rounded before they are added, as minitape
 * does; all others are not, as in the fused additions of BLAS.
 */
function multiplyMatrices(inputs: NumericArray[], args: CallArguments): NumericArray | null {
  if (inputs.some(({ shape }) => shape.length !== 2)) return null;
  const [x, y] = [
    args.transpose_a ? transposeArray(inputs[0], [1, 0]) : inputs[0],
    args.transpose_b ? transposeArray(inputs[1], [1, 0]) : inputs[1],
  ];
  const [[rows, inner], [other, columns]] = [x.shape, y.shape];
  if (inner !== other || !inner) return null;
  const round = rounderOf(x.dtype);
  const roundTerm = rows === 1 || columns === 1 ? round : (term: number): number => term;
  const data = Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    let total = 0;
    for (let k = 0; k < inner; k++)
      total = round(total + roundTerm(x.data[row * inner + k] * y.data[k * columns + column]));
    return total;
  });
  return { shape: [rows, columns], data, dtype: x.dtype };
}

function joinArrays(inputs: NumericArray[], axis: number): NumericArray | null {
  const rest = (shape: number[]): number[] => shape.filter((_, k) => k !== axis);
  const [first] = inputs;
  if (!first || inputs.some(({ shape }) => !haveSameShape(rest(shape), rest(first.shape))))
    return null;
  const shape = [...first.shape];
  shape[axis] = inputs.reduce((side, x) => side + x.shape[axis], 0);
  const before = sizeOf(shape.slice(0, axis));
  const data: number[] = [];
  for (let k = 0; k < before; k++)
    for (const x of inputs) {
      const part = x.data.length / before;
      data.push(...x.data.slice(k * part, (k + 1) * part));
    }
  return { shape, data, dtype: first.dtype };
}

function insertAxis(x: NumericArray, axis: number): NumericArray {
  return { ...x, shape: [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)] };
}

function shiftByLargest(x: NumericArray, axis: number): NumericArray {
  const pickLargest = (a: number, b: number): number => (a >= b || Number.isNaN(b) ? a : b);
  const largest = foldAxes(x, [axis], true, pickLargest);
  return computeFormula("x - y", { x, y: largest }, x.dtype) as NumericArray;
}

function computeSoftmax(x: NumericArray, axis: number): NumericArray {
  const powers = computeFormula("exp(x)", { x: shiftByLargest(x, axis) }, x.dtype) as NumericArray;
  const total = sumAxes(powers, [axis], true);
  return computeFormula("x * (1 / y)", { x: powers, y: total }, x.dtype) as NumericArray;
}

function computeLogSoftmax(x: NumericArray, axis: number): NumericArray {
  const shifted = shiftByLargest(x, axis);
  const powers = computeFormula("exp(x)", { x: shifted }, x.dtype) as NumericArray;
  const total = sumAxes(powers, [axis], true);
  return computeFormula("x - log(y)", { x: shifted, y: total }, x.dtype) as NumericArray;
}

function compareArrays(name: string): Forward {
  const run = findOperator(name) as (x: number, y: number) => number;
  return ([x, y]) => {
    const shape = broadcastShapes([x.shape, y.shape]);
    if (!shape) return null;
    const others = broadcastPositions(y.shape, shape);
    const data = broadcastPositions(x.shape, shape).map((position, i) =>
      run(x.data[position], y.data[others[i]]),
    );
    return { shape, data, dtype: "bool" };
  };
}

function selectElements([condition, x, y]: NumericArray[]): NumericArray | null {
  const shape = broadcastShapes([condition.shape, x.shape, y.shape]);
  if (!shape || condition.dtype !== "bool" || x.dtype !== y.dtype) return null;
  const [tests, first, second] = [condition, x, y].map((one) => broadcastTo(one, shape).data);
  return { shape, data: tests.map((test, i) => (test ? first[i] : second[i])), dtype: x.dtype };
}

const pickLarger = (a: number, b: number): number => (a >= b || Number.isNaN(a) ? a : b);
const pickSmaller = (a: number, b: number): number => (a <= b || Number.isNaN(a) ? a : b);
const axisOf = (x: NumericArray, { axis }: CallArguments): number =>
  listAxes(x.shape.length, axis ?? -1)[0];
const reduceWith =
  (combine: (a: number, b: number) => number): Forward =>
  ([x], { axis, keepdims }) =>
    x.data.length ? foldAxes(x, listAxes(x.shape.length, axis), !!keepdims, combine) : null;

/** The values of operations on whole arrays; null if these inputs do not fit. */
const FORWARD: Record<string, Forward> = {
  reduce_sum: ([x], { axis, keepdims }) => sumAxes(x, listAxes(x.shape.length, axis), !!keepdims),
  reduce_mean: ([x], { axis, keepdims }) => {
    const round = rounderOf(x.dtype);
    const total = sumAxes(x, listAxes(x.shape.length, axis), !!keepdims);
    return mapArray(total, (sum) => round(sum / countReduced(x.shape, axis)));
  },
  reduce_max: reduceWith(pickLarger),
  reduce_min: reduceWith(pickSmaller),
  select: selectElements,
  matmul: multiplyMatrices,
  softmax: ([x], args) => (x.shape.length ? computeSoftmax(x, axisOf(x, args)) : null),
  log_softmax: ([x], args) => (x.shape.length ? computeLogSoftmax(x, axisOf(x, args)) : null),
  broadcast_to: ([x], { shape = [] }) => {
    const fits = broadcastShapes([x.shape, shape]);
    return fits && haveSameShape(fits, shape) ? broadcastTo(x, shape) : null;
  },
  reshape: ([x], { shape = [] }) =>
    sizeOf(shape) === sizeOf(x.shape) ? { ...x, shape: [...shape] } : null,
  transpose: ([x], { perm = [] }) =>
    perm.length === x.shape.length ? transposeArray(x, perm) : null,
  slice: ([x], { spec = [] }) => {
    if (!isValidSlice(x.shape, spec)) return null;
    const { shape, positions } = resolveSlice(x.shape, spec);
    return gather(x, shape, positions);
  },
  unslice: ([x], { shape = [], spec = [] }) => {
    const result = filled(shape, 0, x.dtype);
    resolveSlice(shape, spec).positions.forEach((position, i) => {
      result.data[position] = x.data[i];
    });
    return result;
  },
  stack: (inputs, { axis }) => {
    const [{ shape }] = inputs;
    if (inputs.some((x) => !haveSameShape(x.shape, shape))) return null;
    const at = listAxes(shape.length + 1, axis ?? 0)[0];
    return joinArrays(
      inputs.map((x) => insertAxis(x, at)),
      at,
    );
  },
  concat: (inputs, { axis }) => joinArrays(inputs, listAxes(inputs[0].shape.length, axis ?? 0)[0]),
  cast: ([x]) => ({ ...x, dtype: "float32" }),
  zeros_like: ([x]) => filled(x.shape, 0, x.dtype),
};
for (const name of ["less", "greater", "less_equal", "greater_equal", "equal", "not_equal"])
  FORWARD[name] = compareArrays(name);

// --- shares ---

/** Operations on arrays, or on rows of a tape that records them. */
export interface Algebra<V> {
  /** Are the operations recorded, to be derived again? */
  isRecorded: boolean;
  apply(name: string, inputs: V[], args?: CallArguments): V;
  shapeOf(value: V): number[];
  /** Returns a number of a rule as an operand. */
  number(x: number): V;
  /** Returns a constant that no formula has. */
  constant(x: number): V;
}

/** What a rule reads: the adjoint and the value of the output, the inputs and the arguments. */
interface RuleInput<V> {
  g: V;
  z: V;
  inputs: V[];
  args: CallArguments;
  port: number; // which input the share is for
}
type Rule = <V>(algebra: Algebra<V>, input: RuleInput<V>) => V | null;

function expandReducedAxes<V>(algebra: Algebra<V>, value: V, x: V, args: CallArguments): V {
  const shape = algebra.shapeOf(x);
  const { axis, keepdims } = args;
  const isWhole = axis === null || axis === undefined;
  if (keepdims || isWhole || String(axis) === "0" || !shape.length) return value;
  const axes = listAxes(shape.length, axis);
  const expanded = shape.map((side, k) => (axes.includes(k) ? 1 : side));
  return algebra.apply("reshape", [value], { shape: expanded });
}

const spreadAdjoint: Rule = (algebra, { g, inputs: [x], args }) =>
  algebra.apply("broadcast_to", [expandReducedAxes(algebra, g, x, args)], {
    shape: algebra.shapeOf(x),
  });

const shareExtreme: Rule = (algebra, { g, z, inputs: [x], args }) => {
  const isEqual = algebra.apply("equal", [x, expandReducedAxes(algebra, z, x, args)]);
  const isExtreme = algebra.apply("cast", [isEqual]);
  const ties = algebra.apply("reduce_sum", [isExtreme], { axis: args.axis, keepdims: true });
  const parts = algebra.apply("divide", [isExtreme, ties]);
  return algebra.apply("multiply", [parts, expandReducedAxes(algebra, g, x, args)]);
};

const shareMatmul: Rule = (algebra, { g, inputs: [x, y], args, port }) => {
  const [a, b] = [!!args.transpose_a, !!args.transpose_b];
  const multiply = <V>(of: Algebra<V>, left: V, right: V, first: boolean, second: boolean): V =>
    of.apply("matmul", [left, right], { transpose_a: first, transpose_b: second });
  if (port === 0) return a ? multiply(algebra, y, g, b, true) : multiply(algebra, g, y, false, !b);
  return b ? multiply(algebra, g, x, true, a) : multiply(algebra, x, g, !a, false);
};

const shareParts: Rule = (algebra, { g, inputs, args, port }) => {
  const shape = algebra.shapeOf(g);
  const isStack = algebra.shapeOf(inputs[0]).length < shape.length;
  const axis = listAxes(shape.length, args.axis ?? 0)[0];
  const sides = inputs.map((x) => (isStack ? 1 : algebra.shapeOf(x)[axis]));
  const start = sides.slice(0, port).reduce((sum, side) => sum + side, 0);
  const spec: SliceSpec = shape.slice(0, axis).map(() => [null, null, null]);
  spec.push(isStack ? start : [start, start + sides[port], null]);
  if (isStack && algebra.isRecorded) return null;
  return algebra.apply("slice", [g], { spec });
};

function sumAlong<V>(algebra: Algebra<V>, value: V, axis: CallArguments["axis"]): V {
  return algebra.apply("reduce_sum", [value], { axis: [axis ?? -1].flat(), keepdims: true });
}

/** The share of each input of operations on whole arrays; null where no gradient passes. */
const RULES: Record<string, Rule> = {
  reduce_sum: spreadAdjoint,
  reduce_mean: (algebra, input) => {
    const count = countReduced(algebra.shapeOf(input.inputs[0]), input.args.axis);
    const part = algebra.apply("divide", [input.g, algebra.number(count)]);
    return spreadAdjoint(algebra, { ...input, g: part });
  },
  reduce_max: shareExtreme,
  reduce_min: shareExtreme,
  select: (algebra, { g, inputs: [condition], port }) => {
    if (port === 0) return null;
    const zero = algebra.constant(0);
    return algebra.apply("select", port === 1 ? [condition, g, zero] : [condition, zero, g]);
  },
  matmul: shareMatmul,
  softmax: (algebra, { g, z, args }) => {
    const sum = sumAlong(algebra, algebra.apply("multiply", [g, z]), args.axis);
    return algebra.apply("multiply", [algebra.apply("subtract", [g, sum]), z]);
  },
  log_softmax: (algebra, { g, z, args }) => {
    const sum = sumAlong(algebra, g, args.axis);
    const product = algebra.apply("multiply", [sum, algebra.apply("exp", [z])]);
    return algebra.apply("subtract", [g, product]);
  },
  broadcast_to: (algebra, { g, inputs: [x] }) => fitToShape(algebra, g, algebra.shapeOf(x)),
  reshape: (algebra, { g, inputs: [x] }) =>
    algebra.apply("reshape", [g], { shape: algebra.shapeOf(x) }),
  transpose: (algebra, { g, args }) => {
    const perm = args.perm ?? [];
    return algebra.apply("transpose", [g], { perm: perm.map((_, k) => perm.indexOf(k)) });
  },
  slice: (algebra, { g, inputs: [x], args }) =>
    algebra.apply("unslice", [g], { shape: algebra.shapeOf(x), spec: args.spec }),
  unslice: (algebra, { g, args }) => algebra.apply("slice", [g], { spec: args.spec }),
  stack: shareParts,
  concat: shareParts,
};

/** Sums a share over the axes along which its input was broadcast. */
export function fitToShape<V>(algebra: Algebra<V>, share: V, shape: number[]): V {
  const own = algebra.shapeOf(share);
  if (haveSameShape(own, shape)) return share;
  const extra = own.length - shape.length;
  const axis = own.flatMap((side, k) =>
    k < extra || (side !== 1 && shape[k - extra] === 1) ? [k] : [],
  );
  const summed = axis.length ? algebra.apply("reduce_sum", [share], { axis }) : share;
  if (haveSameShape(algebra.shapeOf(summed), shape)) return summed;
  const isSpread = sizeOf(algebra.shapeOf(summed)) !== sizeOf(shape);
  return algebra.apply(isSpread ? "broadcast_to" : "reshape", [summed], { shape });
}

/** Returns the share of one input of an operation on whole arrays; null if none is sent. */
export function applyRule<V>(algebra: Algebra<V>, name: string, input: RuleInput<V>): V | null {
  if (!Object.hasOwn(RULES, name)) return null;
  const share = RULES[name](algebra, input);
  return share === null
    ? null
    : fitToShape(algebra, share, algebra.shapeOf(input.inputs[input.port]));
}

/** The operations on arrays themselves. */
const ARRAYS: Algebra<NumericArray> = {
  isRecorded: false,
  apply(name, inputs, args = {}) {
    const operation = { op: name, formula: OPERATIONS[name].formula, rule: [] };
    const value = computeValue(operation, inputs, args);
    if (!value) throw new RangeError(name);
    return value;
  },
  shapeOf: ({ shape }) => shape,
  number: (x) => scalar(x),
  constant: (x) => scalar(x),
};

// --- rows ---

/** What a row says of its operation. */
export interface RowOperation {
  op: string;
  formula: string;
  rule: string[];
}

export function isArrayOperation(name: string): boolean {
  return Object.hasOwn(FORWARD, name);
}

/** Computes an operation; null if it, or its inputs' shapes, cannot be computed here. */
export function computeValue(
  operation: RowOperation,
  inputs: NumericArray[],
  args: CallArguments,
): NumericArray | null {
  if (isArrayOperation(operation.op)) return FORWARD[operation.op](inputs, args);
  return computeFormula(operation.formula, nameInputs(inputs), inputs[0].dtype);
}

function nameInputs(inputs: NumericArray[]): { x: NumericArray; y?: NumericArray } {
  return inputs.length > 1 ? { x: inputs[0], y: inputs[inputs.length - 1] } : { x: inputs[0] };
}

/** What an operation sends to one input. */
export interface Share {
  /** the local derivative of a formula; null of an operation on whole arrays */
  local: NumericArray | null;
  product: NumericArray;
}

/** Computes the share of one input; null if none is sent, or if it cannot be computed here. */
export function computeShare(
  operation: RowOperation,
  port: number,
  inputs: NumericArray[],
  z: NumericArray,
  g: NumericArray,
  args: CallArguments,
): Share | null {
  if (isArrayOperation(operation.op)) {
    const product = applyRule(ARRAYS, operation.op, { g, z, inputs, args, port });
    return product && { local: null, product };
  }
  const rule = operation.rule[port] ?? "";
  if (!findFormula(rule, z.dtype)) return null;
  const operands = { ...nameInputs(inputs), z };
  const ones = filled(g.shape, 1, g.dtype);
  const product = computeFormula(rule, { ...operands, g }, z.dtype);
  if (!product) return null;
  return {
    local: computeFormula(rule, { ...operands, g: ones }, z.dtype),
    product: fitToShape(ARRAYS, product, inputs[port].shape),
  };
}
