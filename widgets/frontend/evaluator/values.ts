// The values of a program besides its tensors, and the arithmetic of Python's numbers.
import { t } from "../src/words";
import { fromNested, type NumericArray } from "./arrays";
import type { Tape, Tensor } from "./recording";
import type { Statement } from "./syntax";
import { ProgramError, type Span } from "./tokens";

export type Value =
  | { kind: "number"; value: number; isFloat: boolean }
  | { kind: "boolean"; value: boolean }
  | { kind: "none" }
  | { kind: "text"; value: string }
  | { kind: "list"; items: Value[]; isTuple: boolean }
  | { kind: "module"; path: string } // tf, tf.math, math
  | { kind: "builtin"; name: string }
  | {
      kind: "function";
      definition: Extract<Statement, { kind: "def" }>;
      defaults: (Value | null)[];
    }
  | { kind: "method"; object: Value; name: string }
  | { kind: "tape"; tape: Tape }
  | { kind: "dtype"; name: string }
  | { kind: "left" } // a value that left the framework, such as by .numpy()
  | Tensor;

export const NONE: Value = { kind: "none" };

export function isTensor(value: Value): value is Tensor {
  return value.kind === "tensor" || value.kind === "variable";
}

export function pythonNumber(value: number, isFloat: boolean): Value {
  return { kind: "number", value, isFloat };
}

type Arithmetic = (x: number, y: number) => number;

const ARITHMETIC: Record<string, Arithmetic> = {
  add: (x, y) => x + y,
  subtract: (x, y) => x - y,
  multiply: (x, y) => x * y,
  divide: (x, y) => x / y,
  floordiv: (x, y) => Math.floor(x / y),
  mod: (x, y) => x - y * Math.floor(x / y),
  pow: (x, y) => x ** y,
};
const COMPARISONS: Record<string, (x: number, y: number) => boolean> = {
  less: (x, y) => x < y,
  greater: (x, y) => x > y,
  less_equal: (x, y) => x <= y,
  greater_equal: (x, y) => x >= y,
  equal: (x, y) => x === y,
  not_equal: (x, y) => x !== y,
};

/** Computes an operator of two Python numbers. */
export function computePython(op: string, operands: number[], areFloats: boolean[], place: Span) {
  const [x, y] = operands;
  if (op === "negative") return pythonNumber(-x, areFloats[0]);
  if (Object.hasOwn(COMPARISONS, op))
    return { kind: "boolean" as const, value: COMPARISONS[op](x, y) };
  if (!Object.hasOwn(ARITHMETIC, op)) throw new ProgramError(t("{0} needs Python", op), place);
  if (y === 0 && ["divide", "floordiv", "mod"].includes(op))
    throw new ProgramError(t("division by zero"), place);
  const value = ARITHMETIC[op](x, y);
  const isFloat = areFloats.some(Boolean) || op === "divide" || (op === "pow" && y < 0);
  if (Number.isNaN(value) || (!isFloat && !Number.isSafeInteger(value)))
    throw new ProgramError(t("this number needs Python"), place);
  return pythonNumber(value, isFloat);
}

/** Are these numbers, or lists of numbers? */
export function isNumeric(value: Value): boolean {
  return value.kind === "number" || (value.kind === "list" && value.items.every(isNumeric));
}

/** Does a number, or a number of a list, have a point? */
export function hasFloat(value: Value): boolean {
  if (value.kind === "list") return value.items.some(hasFloat);
  return value.kind === "number" && value.isFloat;
}

type Numbers = number | Numbers[];

/** Converts a number or lists of numbers to an array. */
export function toArray(value: Value, place: Span): NumericArray {
  const nest = (one: Value): Numbers => {
    if (one.kind === "number") return one.value;
    if (one.kind === "list") return one.items.map(nest);
    throw new ProgramError(t("a number or a list of numbers is expected here"), place);
  };
  const array = fromNested(nest(value));
  if (!array)
    throw new ProgramError(t("the rows of this list are empty or differ in length"), place);
  return array;
}
