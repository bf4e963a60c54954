// The tree of a model's modules, its norms, and where its boxes stand.
import { expect, it } from "vitest";
import { colourOf, inkOn, powerText } from "../map/colours";
import {
  buildTree,
  causesOf,
  type Norm,
  normOf,
  type Parameter,
  placeBoxes,
  powerOf,
  rangeOf,
} from "../map/tree";

function parameter(name: string, size: number, norm: Norm, cause = -1): Parameter {
  const path = name.split(".");
  return { name, path, shape: [size], size, norms: [norm], updates: [null], causes: [cause] };
}

const parameters = [
  parameter("net.a.weight", 60, 3),
  parameter("net.a.bias", 20, 4, 1),
  parameter("net.b", 20, "none"),
];
const tree = buildTree(parameters, ["net"], "Net");

it("builds modules from the names of parameters", () => {
  expect(tree.label).toBe("net");
  expect(tree.children.map(({ label, size }) => [label, size])).toEqual([
    ["a", 80],
    ["b", 20],
  ]);
  expect(tree.children[0].children.map(({ isLeaf }) => isLeaf)).toEqual([true, true]);
});

it("takes the norm of all gradients of a module together, without those that are None", () => {
  expect(normOf(tree.parameters, 0)).toBe(5);
  expect(normOf(tree.children[1].parameters, 0)).toBe("none");
  expect(normOf([...parameters, parameter("c", 1, "nonfinite")], 0)).toBe("nonfinite");
  expect(normOf([...parameters, parameter("c", 1, null)], 0)).toBe(null);
  expect(normOf([parameter("c", 1, 0)], 0)).toBe(0);
});

it("shows the problems of a parameter also at the modules around it", () => {
  expect(causesOf(tree.parameters, 0)).toEqual([1]);
  expect(causesOf(tree.children[1].parameters, 0)).toEqual([]);
});

it("gives each power of ten a colour", () => {
  expect([powerOf(1000), powerOf(999), powerOf(0.001), powerOf(0)]).toEqual([3, 2, -3, null]);
  expect(rangeOf([parameter("a", 1, 1e-30), parameter("b", 1, 20)], 1)).toEqual([-13, 1]);
  expect(rangeOf([parameter("a", 1, "none")], 1)).toBe(null);
  expect(inkOn(colourOf(1, [0, 3]))).toBe("#fff");
  expect(inkOn(colourOf(9999, [0, 3]))).toBe("#000");
  expect(powerText(-12)).toBe("10⁻¹²");
});

it("has a colour for the model, whose norm is larger than that of each parameter", () => {
  const eight = "abcdefgh".split("").map((name) => parameter(name, 1, 0.5));
  expect(powerOf(normOf(eight, 0))).toBe(0);
  expect(rangeOf(eight, 1)).toEqual([-1, 0]);
});

it("places each module beside its parent, with heights by size", () => {
  const boxes = placeBoxes(tree, 3, 100, "size");
  const placed = boxes.map(({ modules, column, top, height }) => [
    modules[0].label,
    column,
    top,
    Math.round(height),
  ]);
  expect(placed).toEqual([
    ["net", 0, 0, 100],
    ["a", 1, 0, 80],
    ["weight", 2, 0, 60],
    ["bias", 2, 60, 20],
    ["b", 1, 80, 20],
  ]);
  const alike = placeBoxes(tree, 2, 90, "equal").map(({ height }) => Math.round(height));
  expect(alike).toEqual([90, 60, 30]);
});

it("gives norms in a power of ten different colours", () => {
  const range: [number, number] = [-4, -2];
  const [two, eight, next] = [2e-3, 8e-3, 1e-2].map((norm) => colourOf(norm, range));
  const green = (colour: string): number => Number(colour.match(/\d+/g)![1]);
  expect(green(eight) - green(two)).toBeGreaterThan(40);
  expect(green(next)).toBeGreaterThan(green(eight));
});

it("makes a module with a problem high enough for its name", () => {
  const small = [parameter("net.big", 1e6, 1), parameter("net.norm.w", 10, "none", 0)];
  const all = buildTree([...small, parameter("net.norm.b", 10, "none", 0)], ["net"], "");
  const boxes = placeBoxes(all, 3, 200, "size");
  const heights = boxes.map(({ modules, height }) => [modules[0].label, height]);
  expect(heights).toEqual([
    ["net", 200],
    ["big", 164],
    ["norm", 36],
    ["w", 18],
    ["b", 18],
  ]);
  expect(placeBoxes(all, 2, 20, "size").map(({ height }) => height)).toEqual([20, 10, 10]);
});

it("lets neighbours that are too small share a box", () => {
  const names = ["net.big", "net.s1", "net.s2", "net.big2"];
  const many = names.map((name) => parameter(name, name.includes("big") ? 1000 : 1, 1));
  const boxes = placeBoxes(buildTree(many, ["net"], ""), 2, 200, "size");
  expect(boxes.map(({ modules }) => modules.length)).toEqual([1, 1, 2, 1]);
});
