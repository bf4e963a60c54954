// Titles of folded groups.
import { expect, it } from "vitest";
import { groupTitle } from "../src/fold";

it.each([
  ["blocks.", "blocks × 6"],
  ["encoder/layers/", "encoder/layers × 6"],
  ["dense", "dense × 6"],
  ["", "loop × 6"],
])("names repeated %s as %s", (label, title) => {
  expect(groupTitle({ kind: "repeat", label, count: 6 })).toBe(title);
});
