// What an explorable keeps when its program changes, and how its numbers move.
import { describe, expect, it } from "vitest";
import { moveNumber } from "../element/code_pane";
import { findEdit, listKeys } from "../element/identity";
import { runProgram } from "../evaluator/program";

/** The labels of the rows that stay in an edited program, by its new rows. */
function listKept(before: string, after: string): string[] {
  const [old, now] = [runProgram(before), runProgram(after)];
  const keys = new Set(listKeys(old, findEdit(before, after)));
  const { rows } = now.recording;
  return listKeys(now, null).flatMap((key, row) => (keys.has(key) ? [rows[row].label] : []));
}

describe("rows of an edited program", () => {
  it("stay when the program grows", () => {
    expect(listKept("y = x * sin(x)", "y = x * sin(x) + 1.0")).toEqual(["Variable:0", "sin", "×"]);
    expect(listKept("y = x * sin(x)", "z = 2.0\ny = x * sin(x)")).toEqual([
      "Variable:0",
      "sin",
      "×",
    ]);
  });

  it("stay when a function becomes another one", () => {
    expect(listKept("y = x * sin(x)", "y = x * cos(x)")).toEqual(["Variable:0", "cos", "×"]);
  });

  it("stay apart in a loop", () => {
    const loop = (turns: number): string => `y = x\nfor k in range(${turns}):\n    y = tanh(y * x)`;
    expect(listKept(loop(2), loop(3)).filter((label) => label === "tanh").length).toBe(2);
  });
});

describe("a number that is pulled", () => {
  it.each([
    ["1.5", 3, "1.8"],
    ["-0.25", -5, "-0.30"],
    ["3", 2, "5"],
    ["3.", 1, "3.1"],
    ["0.0", -1, "-0.1"],
  ])("keeps its digits: %s", (text, by, moved) => {
    expect(moveNumber(text, by)).toBe(moved);
  });
});
