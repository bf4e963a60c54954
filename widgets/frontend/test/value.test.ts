// Values in words.
import { expect, it } from "vitest";
import type { Row } from "../src/schema";
import { decimal, full, inSentence, percent, rounded, withNumbers } from "../src/value";

it.each([
  [0, 1000, 0],
  [1, 1000, 1],
  [500, 1000, 50],
  [999, 1000, 99],
  [999_999, 1_000_000, 99],
  [1000, 1000, 100],
])("says %i of %i as %i percent", (part, count, expected) => {
  expect(percent(part, count)).toBe(expected);
});

it("does not say that an array with other numbers is all zeros", () => {
  const stats = { min: -0.0027, max: 0.0028, mean: 0, std: 0.0001, zeros: 9_999, nans: 0 };
  expect(inSentence({ stats }, { shape: [100, 100] })).toBe(
    "(100, 100), -0.0027 to 0.0028, 99 % zeros",
  );
});

it.each([
  ["0.9999877", "0.99999"],
  ["1.0000001", "≈1"],
  ["1.9999999", "≈2"],
  ["1.0", "1.0"],
  ["0.70710678", "0.7071"],
  ["1234.5678", "1235"],
])("does not write %s as a whole number: %s", (text, expected) => {
  expect(rounded(text)).toBe(expected);
});

it("writes the numbers of an array whose text a long recording leaves out", () => {
  const values = [
    [0.1, 2],
    [0.1, 3],
  ].map((data) => full({ text: "", data }));
  expect(values).toEqual(["[0.1 2]", "[0.1 3]"]);
  expect(full({ text: "", data: [Math.fround(1 / 3)] })).toBe("[0.33333334]");
});

it("writes a zero without its sign, unless a division shows it", () => {
  expect([rounded("-0.0"), decimal(-0), full({ text: "-0.0" })]).toEqual(["0.0", "0.0", "0.0"]);
  const divided = (zero: string, result: string): string => {
    const one = { shape: [] as number[], value: { text: "1.0" } };
    const row = { ...one, inputs: [0, 1], said: ["x / y"], value: { text: result } };
    return withNumbers(row as unknown as Row, [one, { ...one, value: { text: zero } }] as Row[]);
  };
  expect(divided("-0.0", "-inf")).toBe("1.0 / (-0.0)");
  expect(divided("-0.0", "nan")).toBe("1.0 / 0.0");
});

it("writes an exact whole number of a product with its point", () => {
  expect([decimal(-2, 7), decimal(0.46951234, 7), decimal(3)]).toEqual([
    "-2.0",
    "0.4695123",
    "3.0",
  ]);
});
