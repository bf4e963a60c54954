// Rows of two tapes that belong together.
import { expect, it } from "vitest";
import { alignRows } from "../src/alignment";
import { Program } from "./programs";

/** x · w, perhaps with something added, then sines. */
function program(added: boolean, sines: number, constantFirst = false): Program {
  const p = new Program();
  if (constantFirst) p.constant(7);
  const x = p.source("x", 2);
  let y = p.mul(x, p.variable("w", 0.5));
  if (added) y = p.add(y, p.constant(0.5));
  for (let k = 0; k < sines; k++) y = p.sin(y);
  return p;
}

it("leaves out an operation that only one tape has", () => {
  const [plain, added] = [program(false, 3), program(true, 3)];
  // x, w, ×, sin, sin, sin and x, w, ×, 0.5, +, sin, sin, sin
  expect(alignRows(plain.rows, added.rows)).toEqual([-1, -1, 2, 5, 6, 7]);
  expect(alignRows(added.rows, plain.rows)).toEqual([-1, -1, 2, 2, 2, 3, 4, 5]);
});

it("takes no notice of leaves", () => {
  const [plain, more] = [program(false, 1), program(false, 1, true)];
  expect(alignRows(plain.rows, more.rows)).toEqual([-1, -1, 3, 4]);
});

it("aligns what follows a difference of many rows", () => {
  const [short, long] = [program(false, 2), program(true, 30)];
  const found = alignRows(short.rows, long.rows);
  expect(found[2]).toBe(2);
  expect(found.at(-1)).toBe(long.rows.length - 1);
});
