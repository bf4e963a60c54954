// Titles of folded groups.
import { expect, it } from "vitest";
import { foldTree, groupTitle } from "../src/fold";
import { betweenEnds } from "../src/profile";
import type { Row, Value } from "../src/schema";
import { Skeleton } from "../src/skeleton";

it.each([
  ["blocks.", "blocks × 6"],
  ["encoder/layers/", "encoder/layers × 6"],
  ["dense", "dense × 6"],
  ["", "loop × 6"],
])("names repeated %s as %s", (label, title) => {
  expect(groupTitle({ kind: "repeat", label, count: 6 })).toBe(title);
});

it("names the blocks of a sequential model, which are numbers, as the model", () => {
  const rows = Array.from({ length: 12 }, (_, row) => ({
    ...{ row, op: ["linear", "gelu"][row % 2], label: "", kind: "operation", inputs: [row - 1] },
    ...{ scope: ["GPT", "blocks", String(row >> 1)], by: null, shape: [], dtype: "float32" },
  })) as unknown as Row[];
  const skeleton = new Skeleton();
  skeleton.grow(rows);
  const repeats = [...foldTree(skeleton).groups.values()].filter(({ kind }) => kind === "repeat");
  expect(repeats.map(groupTitle)).toEqual(["blocks × 6"]);
});

it("writes the ends of a profile so that they fit into its node", () => {
  const array = (largest: number): Value => ({
    text: "…",
    data: [...Array<number>(11).fill(-largest / 2), largest],
  });
  const numbers = ["5.075", "30.79"].map((text) => ({ text }) as Value) as [Value, Value];
  expect(betweenEnds("∂", [array(0.000486), array(0.00393)], 17)).toBe("∂ ±5e-4 ← ±0.004");
  const small = ["0.24", "0.00045107686"].map((text) => ({ text }) as Value) as [Value, Value];
  expect(betweenEnds("y", small, 16)).toBe("y: 0.24 → 4.5e-4"); // not 0.0…, which looks like zero
  expect(betweenEnds("∂", numbers, 17)).toBe("∂ 5.075 ← 30.79");
  expect(betweenEnds("y", numbers, 17)).toBe("y: 5.075 → 30.79");
  expect(betweenEnds("hidden_state", numbers, 17)).toBe("hi…e: 5.08 → 30.8");
});

it("takes the first turn of a scan, which begins with a number, as a turn of the same loop", () => {
  const skeletonOf = (turns: number[]): Skeleton => {
    const skeleton = new Skeleton();
    const rows = turns.map((turn, row) => ({
      ...{ row, op: row ? "tanh" : "multiply", label: "", kind: "operation", by: null },
      ...{ inputs: row ? [row - 1] : [], scope: [`scan[${turn}]`], shape: [], dtype: "float32" },
    })) as unknown as Row[];
    skeleton.grow(rows);
    return skeleton;
  };
  const titles = (turns: number[]): string[] =>
    [...foldTree(skeletonOf(turns)).groups.values()]
      .filter(({ kind }) => kind === "repeat")
      .map(groupTitle);
  expect(titles([0, 1, 2, 3, 4])).toEqual(["scan × 5"]);
  expect(titles([4, 3, 2, 1, 0])).toEqual(["scan × 5"]); // as its gradient runs
  expect(titles([1, 0, 1, 2, 3])).toEqual(["scan × 4"]); // the last turn of another one
});

/** Rows with these fields, whose numbers are their places. */
function skeletonOf(rows: Partial<Row>[], texts?: Record<string, string>): Skeleton {
  const plain = { kind: "operation", label: "", by: null, shape: [], scope: [], output: 0 };
  const skeleton = new Skeleton();
  skeleton.grow(rows.map((row, k) => ({ ...plain, row: k, ...row })) as unknown as Row[], texts);
  return skeleton;
}

it("folds the many results of a call into one part, and takes a pair of results as one turn", () => {
  const results = Array.from({ length: 5 }, (_, output) => ({
    ...{ op: "unbind", label: "unbind", inputs: [0], output },
  }));
  const cells = Array.from({ length: 10 }, (_, k) => ({
    ...{ op: "lstm_cell", label: "lstm_cell", inputs: [1 + (k >> 1)], output: k % 2 },
  }));
  const leaf = { op: "leaf", kind: "constant" as const, inputs: [] };
  const { groups, home } = foldTree(skeletonOf([leaf, ...results, ...cells]));
  expect([1, 5].map((row) => home[row] && groupTitle(home[row]))).toEqual(["unbind", "unbind"]);
  const repeats = [...groups.values()].filter(({ kind }) => kind === "repeat");
  expect(repeats.map(groupTitle)).toEqual(["loop × 5"]);
  expect(foldTree(skeletonOf([leaf, ...results.slice(0, 3)])).groups.size).toBe(0);
});

it("counts the turns of a loop whose line has two equal operations", () => {
  const text = "for k in range(4):\n    h = tanh(tanh(h))\n";
  const rows = Array.from({ length: 9 }, (_, k) => ({
    ...{ op: k ? "tanh" : "leaf", kind: k ? ("operation" as const) : ("source" as const) },
    ...{ inputs: k ? [k - 1] : [], file: "a.py", line: 2, site: k % 2 ? 10 : 20 },
  }));
  const [loop] = foldTree(skeletonOf(rows, { "a.py": text })).groups.values();
  expect(groupTitle(loop)).toBe("loop × 4");
});

it.each([
  ["for k in range(5): h = h * w", 5, 1],
  ["while k < 5: h = h * w; k += 1", 5, 1],
  ["for k in range(5): h = tanh(h) * w", 10, 1],
  ["while k < 5:  # the loop\n    h = h * w", 5, 2],
])("counts the turns of %s", (text, count, line) => {
  const rows = Array.from({ length: count + 1 }, (_, k) => ({
    ...{ op: k ? "multiply" : "leaf", kind: k ? ("operation" as const) : ("source" as const) },
    ...{ inputs: k ? [k - 1] : [], file: "a.py", line, site: count > 5 && k % 2 ? 10 : 20 },
  }));
  const [loop] = foldTree(skeletonOf(rows, { "a.py": text })).groups.values();
  expect(groupTitle(loop)).toBe("loop × 5");
});

it("counts no turn for the test that ends a loop", () => {
  const rows = Array.from({ length: 12 }, (_, k) => ({
    ...{ op: k % 2 ? "less" : "multiply", kind: k ? ("operation" as const) : ("source" as const) },
    ...{ inputs: k ? [k - 1] : [], file: "a.py", line: k % 2 ? 1 : 2, site: k % 2 ? 40 : 20 },
  }));
  const text = "while h < 9:\n    h = h * w\n";
  const [loop] = foldTree(skeletonOf(rows, { "a.py": text })).groups.values();
  expect(groupTitle(loop)).toBe("loop × 5");
});

it("leaves what a layer or a function is given outside of its frame", () => {
  const scope = ["dense"];
  const layer = skeletonOf([
    { op: "leaf", kind: "variable", name: "dense/kernel", inputs: [], watched: "automatic" },
    { op: "leaf", kind: "constant", name: "x", inputs: [], shape: [4, 3] },
    { op: "matmul", inputs: [1, 0], scope },
    { op: "leaf", kind: "constant", inputs: [], shape: [4, 3] },
    { op: "multiply", inputs: [2, 3], scope },
  ]);
  expect(foldTree(layer).home.map((home) => home?.label)).toEqual([
    ...["dense", undefined, "dense", "dense", "dense"],
  ]);
  const own = skeletonOf([
    { op: "leaf", kind: "variable", name: "x", inputs: [], watched: "automatic" },
    { op: "exp", inputs: [0], scope: ["log1pexp"] },
    { op: "custom_gradient", label: "log1pexp", inputs: [0], scope: ["log1pexp"] },
  ]);
  expect(foldTree(own).home.map((home) => home?.label)).toEqual([
    undefined,
    "log1pexp",
    "log1pexp",
  ]);
});
