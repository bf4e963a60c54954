// The functions that a program can call: those of TensorFlow that minitape has, by their names
// there, and in a program without imports the same functions by short names.
import { t } from "../src/words";
import publicNames from "./names.json"; // which tests/widgets/make_browser_table.py writes
import { filled, sizeOf } from "./arrays";
import type { CallArguments } from "./operations";
import { createTensor, type Operand, type Tensor } from "./recording";
import { ProgramError, type Span } from "./tokens";
import { hasFloat, isNumeric, isTensor, NONE, pythonNumber, toArray, type Value } from "./values";

/** What functions need of the program that runs. */
export interface Program {
  run(name: string, operands: Operand[], place: Span, args?: CallArguments): Tensor;
  /** Returns the gradient of a target by a source, for a program without a tape of its own. */
  derive(target: Value, source: Value, place: Span): Value;
}

/** The arguments of a call by the names of its parameters. */
export type Bound = Record<string, Value | undefined>;

interface Builtin {
  params: string[]; // with a mark behind those that must be given: "x*"
  call(program: Program, args: Bound, place: Span): Value;
}

// --- arguments ---

/** Converts an argument to a tensor: numbers become constants, lists of tensors are stacked. */
export function toTensor(
  program: Program,
  value: Value | undefined,
  place: Span,
  hint = false,
): Tensor {
  if (value && isTensor(value)) return value;
  if (value && isNumeric(value)) {
    if (!hint && !hasFloat(value))
      throw new ProgramError(
        t("whole numbers have an integer dtype and no gradient; write a decimal point, as in 3.0"),
        place,
      );
    return createTensor(toArray(value, place), place);
  }
  if (value?.kind === "list" && value.items.length && value.items.every(isTensor))
    return stackTensors(program, value.items, 0, place);
  if (value?.kind === "left") throw new ProgramError(t("values from .numpy() need Python"), place);
  throw new ProgramError(t("a tensor or a number is expected here"), place);
}

/** Stacks tensors; a variable in a list is read first, which TensorFlow notes as an operation. */
function stackTensors(program: Program, items: Tensor[], axis: number, place: Span): Tensor {
  return program.run("stack", readAll(program, items, place), place, { axis });
}

function readAll(program: Program, items: Tensor[], place: Span): Tensor[] {
  return items.map((one) =>
    one.kind === "variable" ? program.run("identity", [one], place) : one,
  );
}

/** Converts arguments of one dtype: a number beside a tensor may be whole. */
function toTensors(program: Program, values: (Value | undefined)[], place: Span): Tensor[] {
  const hint = values.some((value) => value && isTensor(value));
  return values.map((value) => toTensor(program, value, place, hint));
}

function toInteger(value: Value | undefined, place: Span): number {
  if (value?.kind === "number" && !value.isFloat) return value.value;
  throw new ProgramError(t("a whole number is expected here"), place);
}

function toIntegers(value: Value | undefined, place: Span): number[] {
  if (value?.kind === "list") return value.items.map((item) => toInteger(item, place));
  return [toInteger(value, place)];
}

function toFlag(value: Value | undefined, place: Span): boolean {
  if (!value || value.kind === "none") return false;
  if (value.kind === "boolean") return value.value;
  throw new ProgramError(t("True or False is expected here"), place);
}

/** Reads axes; null for all of them. */
function toAxes(value: Value | undefined, rank: number, place: Span): number[] | null {
  if (!value || value.kind === "none") return null;
  const axes = toIntegers(value, place).map((axis) => (axis < 0 ? axis + rank : axis));
  if (axes.some((axis) => axis < 0 || axis >= rank) || new Set(axes).size < axes.length)
    throw new ProgramError(t("an array with {0} axes does not have this axis", rank), place);
  return axes;
}

function toList(value: Value | undefined, place: Span): Value[] {
  if (value?.kind === "list" && value.items.length) return value.items;
  throw new ProgramError(t("a list is expected here"), place);
}

// --- functions ---

function elementwise(op: string, params: string[]): Builtin {
  return {
    params: [...params.map((param) => `${param}*`), "name"],
    call: (program, args, place) =>
      program.run(
        op,
        toTensors(
          program,
          params.map((param) => args[param]),
          place,
        ),
        place,
      ),
  };
}

function reduction(op: string): Builtin {
  return {
    params: ["input_tensor*", "axis", "keepdims", "name"],
    call(program, args, place) {
      const x = toTensor(program, args.input_tensor, place);
      const axis = toAxes(args.axis, x.value.shape.length, place);
      return program.run(op, [x], place, { axis, keepdims: toFlag(args.keepdims, place) });
    },
  };
}

/** The short names max and min: of one array over its axes, or of two element by element. */
function reductionOrPair(reduce: string, pick: string): Builtin {
  return {
    params: ["x*", "y", "axis", "keepdims"],
    call(program, args, place) {
      if (args.y) return elementwise(pick, ["x", "y"]).call(program, args, place);
      return reduction(reduce).call(program, { ...args, input_tensor: args.x }, place);
    },
  };
}

function softmax(op: string): Builtin {
  return {
    params: ["logits*", "axis", "name"],
    call(program, args, place) {
      const x = toTensor(program, args.logits, place);
      const isGiven = args.axis !== undefined && args.axis.kind !== "none";
      const axis = isGiven ? toInteger(args.axis, place) : -1;
      toAxes(pythonNumber(axis, false), x.value.shape.length, place);
      return program.run(op, [x], place, { axis });
    },
  };
}

function createVariable(args: Bound, place: Span): Tensor {
  const { value } = toTensor(noProgram, args.initial_value, place);
  const trainable = args.trainable === undefined || toFlag(args.trainable, place);
  const name = args.name?.kind === "text" ? args.name.value : null;
  return { ...createTensor(value, place), kind: "variable", trainable, name };
}

const noProgram: Program = {
  run: (_name, _operands, place) => {
    throw new ProgramError(t("a number or a list of numbers is expected here"), place);
  },
  derive: () => NONE,
};

function checkDtype(args: Bound, place: Span): void {
  const { dtype } = args;
  const isFloat32 = dtype === undefined || (dtype.kind === "dtype" && dtype.name === "float32");
  if (!isFloat32) throw new ProgramError(t("dtypes other than float32 need Python"), place);
}

function filledWith(number: number): Builtin {
  return {
    params: ["shape*", "dtype", "name"],
    call(_, args, place) {
      checkDtype(args, place);
      return createTensor(filled(toIntegers(args.shape, place), number), place);
    },
  };
}

function reshapeTensor(program: Program, x: Tensor, shape: number[], place: Span): Tensor {
  const rest = shape.reduce((size, side) => (side < 0 ? size : size * side), 1);
  const full = shape.map((side) => (side < 0 ? sizeOf(x.value.shape) / rest : side));
  return program.run("reshape", [x], place, { shape: full });
}

/** By the last part of their names. */
const FUNCTIONS: Record<string, Builtin> = {
  reduce_sum: reduction("reduce_sum"),
  reduce_mean: reduction("reduce_mean"),
  reduce_max: reduction("reduce_max"),
  reduce_min: reduction("reduce_min"),
  softmax: softmax("softmax"),
  log_softmax: softmax("log_softmax"),
  zeros: filledWith(0),
  ones: filledWith(1),
  where: {
    params: ["condition*", "x*", "y*", "name"],
    call(program, args, place) {
      const condition = args.condition;
      if (!condition || !isTensor(condition) || condition.value.dtype !== "bool")
        throw new ProgramError(t("the condition must be a comparison of tensors"), place);
      const branches = toTensors(program, [args.x, args.y], place);
      return program.run("select", [condition, ...branches], place);
    },
  },
  matmul: {
    params: ["a*", "b*", "transpose_a", "transpose_b", "name"],
    call(program, args, place) {
      const operands = toTensors(program, [args.a, args.b], place);
      const flags: CallArguments = {};
      if (toFlag(args.transpose_a, place)) flags.transpose_a = true;
      if (toFlag(args.transpose_b, place)) flags.transpose_b = true;
      return program.run("matmul", operands, place, flags);
    },
  },
  stack: {
    params: ["values*", "axis", "name"],
    call(program, args, place) {
      const items = toTensors(program, toList(args.values, place), place);
      const rank = items[0].value.shape.length + 1;
      const [axis] = (args.axis && toAxes(args.axis, rank, place)) ?? [0];
      return stackTensors(program, items, axis, place);
    },
  },
  concat: {
    params: ["values*", "axis*", "name"],
    call(program, args, place) {
      const items = toTensors(program, toList(args.values, place), place);
      const [axis] = toAxes(args.axis, items[0].value.shape.length, place) ?? [0];
      return program.run("concat", items, place, { axis });
    },
  },
  reshape: {
    params: ["tensor*", "shape*", "name"],
    call: (program, args, place) =>
      reshapeTensor(
        program,
        toTensor(program, args.tensor, place),
        toIntegers(args.shape, place),
        place,
      ),
  },
  expand_dims: {
    params: ["input*", "axis*", "name"],
    call(program, args, place) {
      const x = toTensor(program, args.input, place);
      const { shape } = x.value;
      const [axis] = toAxes(args.axis, shape.length + 1, place) ?? [0];
      return reshapeTensor(program, x, [...shape.slice(0, axis), 1, ...shape.slice(axis)], place);
    },
  },
  transpose: {
    params: ["a*", "perm", "name"],
    call(program, args, place) {
      const x = toTensor(program, args.a, place);
      const axes = x.value.shape.map((_, axis) => axis);
      const isGiven = args.perm !== undefined && args.perm.kind !== "none";
      const perm = isGiven ? (toAxes(args.perm, axes.length, place) ?? []) : axes.reverse();
      return program.run("transpose", [x], place, { perm });
    },
  },
  cast: {
    params: ["x*", "dtype*", "name"],
    call(program, args, place) {
      checkDtype(args, place);
      const x = toTensor(program, args.x, place, true);
      return x.value.dtype === "bool" ? program.run("cast", [x], place) : x;
    },
  },
  constant: {
    params: ["value*", "dtype", "shape", "name"],
    call(program, args, place) {
      checkDtype(args, place);
      if (args.shape) throw new ProgramError(t("{0}= needs Python", "shape"), place);
      return toTensor(program, args.value, place, args.dtype !== undefined);
    },
  },
  convert_to_tensor: {
    params: ["value*", "dtype", "dtype_hint", "name"],
    call(program, args, place) {
      checkDtype(args, place);
      return toTensor(program, args.value, place, args.dtype !== undefined);
    },
  },
  Variable: {
    params: ["initial_value*", "trainable", "name", "dtype"],
    call(_, args, place) {
      checkDtype(args, place);
      return createVariable(args, place);
    },
  },
  grad: {
    params: ["target*", "source*"],
    call: (program, args, place) =>
      program.derive(args.target as Value, args.source as Value, place),
  },
};
const UNARY = `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p sqrt rsqrt square abs
  sign floor ceil rint negative reciprocal sigmoid`;
for (const op of UNARY.split(/\s+/)) FUNCTIONS[op] = elementwise(op, ["x"]);
for (const op of ["relu", "softplus"]) FUNCTIONS[op] = elementwise(op, ["features"]);
for (const op of ["identity", "stop_gradient"]) FUNCTIONS[op] = elementwise(op, ["input"]);
FUNCTIONS.round = FUNCTIONS.rint;
const BINARY = "add subtract multiply divide pow maximum minimum mod floordiv atan2";
const COMPARISONS = "less greater less_equal greater_equal equal not_equal";
for (const op of `${BINARY} ${COMPARISONS}`.split(" ")) FUNCTIONS[op] = elementwise(op, ["x", "y"]);
FUNCTIONS.floormod = FUNCTIONS.mod;
FUNCTIONS.max = reductionOrPair("reduce_max", "maximum");
FUNCTIONS.min = reductionOrPair("reduce_min", "minimum");

const PUBLIC_NAMES: Record<string, string> = publicNames;

/** Which names a module has; tests compare them with minitape's. */
export const MODULES: Record<string, string> = {
  tf: `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp sqrt square abs sign floor round negative sigmoid
    identity stop_gradient add subtract multiply divide pow maximum minimum floordiv atan2 less greater less_equal
    greater_equal equal not_equal reduce_sum reduce_mean reduce_max reduce_min where matmul stack concat reshape
    expand_dims transpose cast zeros ones constant convert_to_tensor Variable`,
  "tf.math": `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p sqrt rsqrt square abs sign
    floor ceil round rint negative reciprocal sigmoid softplus add subtract multiply divide pow maximum minimum floormod
    floordiv atan2 less greater less_equal greater_equal equal not_equal reduce_sum reduce_mean reduce_max reduce_min
    softmax log_softmax`,
  "tf.nn": "tanh sigmoid softplus relu softmax log_softmax",
};
/** The short names of a program without imports. */
const SHORT: Record<string, string> = {
  sum: "reduce_sum",
  mean: "reduce_mean",
  ln: "log",
  arctan: "atan",
};
const SHORT_NAMES = `${UNARY} ${BINARY} relu softplus identity stop_gradient max min round where matmul stack concat
  reshape transpose softmax log_softmax zeros ones grad`;
for (const name of SHORT_NAMES.split(/\s+/)) SHORT[name] = name;

/** Returns the function that a module has under a name; null if there is none. */
export function findInModule(module: string, name: string): Value | null {
  const names = Object.hasOwn(MODULES, module) ? MODULES[module].split(/\s+/) : [];
  return names.includes(name) ? { kind: "builtin", name } : null;
}

/** Does minitape have this name in a module? A module that is not listed may have it. */
export function existsInPython(module: string, name: string): boolean {
  const names = Object.hasOwn(PUBLIC_NAMES, module) ? PUBLIC_NAMES[module].split(" ") : null;
  return !names || names.includes(name);
}

/** Returns the short name from which a name differs by one letter. */
export function findSimilarShort(name: string): string | undefined {
  return Object.keys(SHORT).find((short) => {
    const length = Math.max(name.length, short.length);
    let start = 0;
    while (start < length && name[start] === short[start]) start++;
    let end = 0;
    while (end < length && name.at(-1 - end) === short.at(-1 - end)) end++;
    return length > 2 && start + end >= length - 1;
  });
}

/** Returns the function of a short name. */
export function findShort(name: string): Value | null {
  return Object.hasOwn(SHORT, name) ? { kind: "builtin", name: SHORT[name] } : null;
}

/** Calls a function of the tables above. */
export function callBuiltin(
  program: Program,
  name: string,
  args: Value[],
  keywords: Map<string, Value>,
  place: Span,
): Value {
  const builtin = FUNCTIONS[name];
  const params = builtin.params.map((param) => param.replace("*", ""));
  const bound: Bound = {};
  if (args.length > params.length)
    throw new ProgramError(t("{0} takes {1} arguments", name, params.length), place);
  args.forEach((arg, k) => (bound[params[k]] = arg));
  for (const [key, value] of keywords) {
    if (!params.includes(key)) throw new ProgramError(t("{0}= needs Python", key), place);
    bound[key] = value;
  }
  const missing = builtin.params.find((param) => param.endsWith("*") && !bound[param.slice(0, -1)]);
  if (missing) throw new ProgramError(t("{0} is missing {1}", name, missing.slice(0, -1)), place);
  return builtin.call(program, bound, place);
}
