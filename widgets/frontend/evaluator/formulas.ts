// The engine's formulas, computed element by element: `x * y`, `g * cos(x)`. A snapshot may come
// from anywhere, so its texts are parsed and never run as code.
import { broadcastPositions, broadcastShapes, sizeOf, rounderOf } from "./arrays";
import type { Dtype, NumericArray } from "./arrays";
import { parseExpression, type Expression } from "./expression_syntax";

/** What a formula reads: the inputs, the output and its adjoint. */
export interface Operands {
  x: number;
  y: number;
  z: number;
  g: number;
}
export type Formula = (operands: Operands) => number;
type Rounder = (x: number) => number;

const MAX_LENGTH = 300;

/** Rounds halves to even numbers. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** The remainder, with the sign of the divisor. */
function computeMod(x: number, y: number): number {
  const rest = x % y;
  if (rest === 0) return y < 0 || Object.is(y, -0) ? -0 : 0;
  return rest < 0 !== y < 0 ? rest + y : rest;
}

function computePow(x: number, y: number): number {
  if (y === 2) return x * x;
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1; // in JavaScript these are NaN
  return Math.pow(x, y);
}

/** The functions of formulas besides those of `Math`; what is missing needs Python: erf. */
const FUNCTIONS: Record<string, (round: Rounder) => (...args: number[]) => number> = {
  floordiv: (round) => (x, y) => Math.floor(round(x / y)),
  mod: () => computeMod,
  pow: () => computePow,
  rint: () => roundHalfEven,
  maximum: () => (x, y) => (x > y || Number.isNaN(x) ? x : y),
  minimum: () => (x, y) => (x < y || Number.isNaN(x) ? x : y),
  select: () => (condition, x, y) => (condition ? x : y),
  mul_no_nan: () => (x, y) => (y === 0 ? y : x * y),
  sqrt_share: (round) => (z, g) => (g === 0 ? g : round(0.5 / z) * g),
  relu_gate: () => (g, z) => (z > 0 ? g : g * 0),
  sigmoid: (round) => (x) => 1 / round(1 + round(Math.exp(-x))),
  sign: () => (x) => Math.sign(x) || (Number.isNaN(x) ? x : 0), // of −0 it is 0 in NumPy
  zero: () => () => 0,
};
const MATH_FUNCTIONS = new Set(
  (
    "abs acos acosh asin asinh atan atan2 atanh ceil cos cosh " +
    "exp expm1 floor log log1p sin sinh sqrt tan tanh"
  ).split(" "),
);

const OPERATORS: Record<string, (x: number, y: number) => number> = {
  add: (x, y) => x + y,
  subtract: (x, y) => x - y,
  multiply: (x, y) => x * y,
  divide: (x, y) => x / y,
  less: (x, y) => Number(x < y),
  greater: (x, y) => Number(x > y),
  less_equal: (x, y) => Number(x <= y),
  greater_equal: (x, y) => Number(x >= y),
  equal: (x, y) => Number(x === y),
  not_equal: (x, y) => Number(x !== y),
  negative: (x) => -x,
};

/** Returns the function of two numbers that an operator stands for. */
export function findOperator(name: string): ((x: number, y: number) => number) | null {
  return Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : null;
}

function findFunction(name: string, round: Rounder): ((...args: number[]) => number) | null {
  if (Object.hasOwn(FUNCTIONS, name)) return FUNCTIONS[name](round);
  return MATH_FUNCTIONS.has(name) ? Math[name as "sin"] : null;
}

function compile(expression: Expression, round: Rounder): Formula {
  if (expression.kind === "number") {
    const number = round(expression.value);
    return () => number;
  }
  if (expression.kind === "name" && /^[xyzg]$/.test(expression.id)) {
    const name = expression.id as keyof Operands;
    return (operands) => operands[name];
  }
  if (expression.kind === "operator" && Object.hasOwn(OPERATORS, expression.op)) {
    const run = OPERATORS[expression.op];
    const [left, right] = expression.args.map((part) => compile(part, round));
    if (!right) return (operands) => run(left(operands), 0);
    return (operands) => round(run(left(operands), right(operands)));
  }
  if (expression.kind !== "call" || expression.callee.kind !== "name") throw new SyntaxError();
  const name = expression.callee.id;
  const run = findFunction(name, round);
  if (!run) throw new SyntaxError(name);
  const args = expression.args.map((part) => compile(part, round));
  return (operands) => round(run(...args.map((part) => part(operands))));
}

const compiled = new Map<string, Formula | null>();

/** Returns the formula of a text; null if it cannot be computed here. */
export function findFormula(text: string, dtype: Dtype = "float64"): Formula | null {
  const key = `${dtype}:${text}`;
  let formula = compiled.get(key);
  if (formula === undefined) {
    formula = null;
    if (text && text.length <= MAX_LENGTH) {
      try {
        formula = compile(parseExpression(text), rounderOf(dtype));
      } catch {
        formula = null; // it is not of the language of formulas
      }
    }
    compiled.set(key, formula);
  }
  return formula;
}

/** Computes a formula element by element; null if it or these shapes cannot be computed. */
export function computeFormula(
  text: string,
  arrays: { [name in keyof Operands]?: NumericArray },
  dtype: Dtype,
): NumericArray | null {
  const formula = findFormula(text, dtype);
  const given = Object.entries(arrays) as [keyof Operands, NumericArray][];
  const shape = broadcastShapes(given.map(([, array]) => array.shape));
  if (!formula || !shape) return null;
  const positions = given.map(([, array]) => broadcastPositions(array.shape, shape));
  const operands: Operands = { x: NaN, y: NaN, z: NaN, g: NaN };
  const data = Array.from({ length: sizeOf(shape) }, (_, i) => {
    given.forEach(([name, array], k) => (operands[name] = array.data[positions[k][i]]));
    return formula(operands);
  });
  return { shape, data, dtype };
}
