// The evaluator: formulas, arrays as NumPy computes and prints them, programs and their refusals.
// tests/widgets/test_explorable.py compares whole programs with minitape.
import { describe, expect, it } from "vitest";
import { fromNested, sumAxes, unbroadcast, type NumericArray } from "../evaluator/arrays";
import { computeFormula, findFormula } from "../evaluator/formulas";
import { printArray, printNumber } from "../evaluator/numpy_text";
import { computeShare, computeValue, formatIndex } from "../evaluator/operations";
import { buildSnapshot } from "../evaluator/picture";
import { runProgram } from "../evaluator/program";
import { parseExpression } from "../evaluator/expression_syntax";
import { parseProgram } from "../evaluator/syntax";
import { joinSigns, ProgramError, tokenize } from "../evaluator/tokens";

const array = (nested: number[] | number[][]): NumericArray => fromNested(nested) as NumericArray;
const operation = (op: string) => ({ op, formula: "", rule: [] });

describe("formulas", () => {
  const numbers = { x: 2, y: 3, z: 6, g: 10 };

  it.each([
    ["x * y", 6],
    ["g * (-x / y / y)", -20 / 9],
    ["select(x > 0, log(select(x > 0, x, 1)), 0)", Math.log(2)],
    ["-x + 1", -1],
    ["mod(-x, y)", 1],
    ["rint(2.5) + rint(-3.5)", -2],
  ])("compute %s", (text, expected) => {
    expect(findFormula(text)?.(numbers)).toBeCloseTo(expected, 12);
  });

  it("are rounded to float32 after each operation", () => {
    const [a, b] = [0.1, 0.2].map(Math.fround);
    const rounded = findFormula("x * y + x", "float32")?.({ ...numbers, x: a, y: b });
    expect(rounded).toBe(Math.fround(Math.fround(a * b) + a));
  });

  it.each(["constructor(x)", "x.y", "erf(x)", "alert(1)", "x =", "[x]", "'x'"])(
    "are no code: %s is refused",
    (text) => expect(findFormula(text)).toBeNull(),
  );

  it("broadcast arrays", () => {
    const result = computeFormula("x + y", { x: array([[1], [2]]), y: array([10, 20]) }, "float32");
    expect(result).toEqual({ shape: [2, 2], data: [11, 21, 12, 22], dtype: "float32" });
    expect(
      computeFormula("x + y", { x: array([1, 2]), y: array([1, 2, 3]) }, "float32"),
    ).toBeNull();
  });
});

describe("arrays", () => {
  const matrix = array([
    [1, 2, 3],
    [4, 5, 6],
  ]);

  it("are summed over axes", () => {
    expect(sumAxes(matrix, [0]).data).toEqual([5, 7, 9]);
    expect(sumAxes(matrix, [1], true)).toMatchObject({ shape: [2, 1], data: [6, 15] });
    expect(unbroadcast(matrix, [3]).data).toEqual([5, 7, 9]);
    expect(unbroadcast(matrix, []).data).toEqual([21]);
  });

  it("are summed in NumPy's order", () => {
    const terms = Array.from({ length: 20 }, (_, k) => Math.fround(1 / (k + 3)));
    const inTurn = terms.reduce((total, x) => Math.fround(total + x), 0);
    const columns = terms.slice(0, 8).map((x, k) => Math.fround(x + terms[8 + k]));
    const pair = (a: number, b: number): number => Math.fround(columns[a] + columns[b]);
    const half = (a: number): number => Math.fround(pair(a, a + 1) + pair(a + 2, a + 3));
    const ends = terms.slice(16);
    const expected = ends.reduce((t, x) => Math.fround(t + x), Math.fround(half(0) + half(4)));
    expect(sumAxes(array(terms), [0]).data[0]).toBe(expected);
    expect(inTurn).not.toBe(expected); // else the test would show nothing
  });

  it.each([
    [[0.1, -2, 30], "[ 0.1 -2.  30. ]"],
    [[1e-5, 1], "[1.e-05 1.e+00]"],
    [[NaN, 1, Infinity], "[nan  1. inf]"],
    [[Math.fround(-0)], "[-0.]"],
  ])("are printed as NumPy prints them: %j", (numbers, text) => {
    expect(printArray(array(numbers as number[]))).toBe(text);
  });

  it("are printed in rows, and long rows on several lines", () => {
    expect(printArray(matrix)).toBe("[[1. 2. 3.]\n [4. 5. 6.]]");
    const lines = printArray(array(Array.from({ length: 40 }, (_, k) => k))).split("\n");
    expect(lines.length).toBeGreaterThan(1);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(75);
  });

  it.each([
    [3, "3.0"],
    [0.1, "0.1"],
    [1e-5, "1e-05"],
    [1234567, "1.234567e+06"],
    [288.140625, "288.14062"], // from the middle to the even digit
    [-0, "-0.0"],
  ])("single numbers too: %d", (number, text) => {
    expect(printNumber(Math.fround(number), "float32")).toBe(text);
  });
});

describe("operations on arrays", () => {
  const x = array([
    [1, 5],
    [5, 2],
  ]);

  it("share the adjoint of a maximum among ties", () => {
    const z = computeValue(operation("reduce_max"), [x], {}) as NumericArray;
    expect(z.data).toEqual([5]);
    const share = computeShare(operation("reduce_max"), 0, [x], z, { ...z, data: [1] }, {});
    expect(share?.product.data).toEqual([0, 0.5, 0.5, 0]);
  });

  it("multiply matrices, transposed or not", () => {
    const y = array([[1, 2]]);
    expect(computeValue(operation("matmul"), [x, y], { transpose_b: true })?.data).toEqual([11, 9]);
    expect(computeValue(operation("matmul"), [x, y], {})).toBeNull();
  });

  it("take and put back slices", () => {
    const spec = [[null, null, null], 1];
    const z = computeValue(operation("slice"), [x], { spec }) as NumericArray;
    expect(z.data).toEqual([5, 2]);
    const share = computeShare(operation("slice"), 0, [x], z, array([10, 20]), { spec });
    expect(share?.product.data).toEqual([0, 10, 0, 20]);
  });

  it("write an index as Python does", () => {
    const all = [null, null, null];
    expect(formatIndex([0, [1, 3, null], [null, null, 2], null, all])).toBe(
      "[0, 1:3, ::2, None, :]",
    );
  });
});

describe("programs", () => {
  it("are trees whose parts know their places", () => {
    const [assignment] = parseProgram("y = x * sin(x)  # a comment");
    expect(assignment).toMatchObject({ kind: "assign", from: 0, to: 14, line: 1 });
    expect(parseExpression("-x ** 2")).toMatchObject({ kind: "operator", op: "negative" });
    expect(parseExpression("a - b - c")).toMatchObject({ args: [{ op: "subtract" }, { id: "c" }] });
  });

  it("have lines that go on within brackets", () => {
    expect(parseProgram("y = [1.0,\n     2.0]\nz = y").map(({ line }) => line)).toEqual([1, 3]);
  });

  it("show a minus as a part of a number", () => {
    const shown = joinSigns(tokenize("x = -0.5\ny = x -0.5")).map(({ text }) => text);
    expect(shown.filter((text) => text.includes("0.5"))).toEqual(["-0.5", "0.5"]);
  });

  it.each([
    ["y = x +", 7],
    ["y = (x", 6],
    ["y = 1.0 $ x", 9],
    ["for k in range(2):\ny = x", 18],
    ["y = x if x > 0 else 1.0", 8],
  ])("are refused where they are wrong: %j", (program, place) => {
    try {
      runProgram(program);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ProgramError);
      const { from, to } = (error as ProgramError).span;
      expect(from).toBeLessThanOrEqual(place);
      expect(to).toBeGreaterThanOrEqual(place - 1);
    }
  });

  it("end, whatever they do", () => {
    expect(() => runProgram("def f(x):\n    return f(x)\ny = f(x)")).toThrow(/too many times/);
    const long =
      "for a in range(100):\n  for b in range(100):\n    for c in range(100):\n      y = x";
    expect(() => runProgram(long)).toThrow(/too many steps/);
    expect(() => runProgram("y = x\nfor k in range(5000):\n    y = y * x")).toThrow(/3000 rows/);
    expect(() => runProgram(`y = ${"(".repeat(500)}x${")".repeat(500)}`)).toThrow(/too deeply/);
  });

  it("give a picture with the reason for a gradient that is None", () => {
    const program = "y = stop_gradient(x) * w + floor(v)";
    const { results, torn, alarms } = buildSnapshot(runProgram(program), program);
    const reasons = results?.[0].sources.map(({ name, reason }) => [name, reason]);
    expect(reasons).toEqual([
      ["x", "stop_gradient in line 1 blocks the gradient"],
      ["w", null],
      ["v", "floor in line 1 has no derivative"],
    ]);
    expect(torn?.length).toBe(2);
    expect(alarms?.map(({ title }) => title)).toEqual([
      "The gradient for x is None",
      "The gradient for v is None",
    ]);
  });
});
