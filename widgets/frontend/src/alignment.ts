// Which rows of two compared tapes belong together: those that compute the same, in the same order.
import type { Row } from "./schema";

const MOST = 400; // operations between the first and the last difference that are compared

/**
 * For each row of `one` the row of `other` that belongs to it, or to the last before it that has
 * one; -1 before the first.
 */
export function alignRows(one: Row[], other: Row[]): number[] {
  const pairs = pairRows(one, other);
  let last = -1;
  return one.map(({ row }) => (last = pairs.get(row) ?? last));
}

/** Of each row of `one` that has one: the row of `other` that belongs to it, in their order. */
export function pairRows(one: Row[], other: Row[]): Map<number, number> {
  const [a, b] = [one, other].map((rows) => rows.filter(({ inputs }) => inputs.length > 0));
  const pairs = new Map<number, number>();
  const isAlike = (i: number, k: number): boolean =>
    a[i]?.op === b[k]?.op && a[i]?.label === b[k]?.label;
  let start = 0;
  while (start < a.length && start < b.length && isAlike(start, start)) start++;
  let end = 0;
  const least = Math.min(a.length, b.length) - start;
  while (end < least && isAlike(a.length - 1 - end, b.length - 1 - end)) end++;
  for (let i = 0; i < start; i++) pairs.set(a[i].row, b[i].row);
  for (const [i, k] of alignMiddle(start, a.length - end, b.length - end, isAlike))
    pairs.set(a[i].row, b[k].row);
  for (let k = end; k > 0; k--) pairs.set(a[a.length - k].row, b[b.length - k].row);
  return pairs;
}

/** The longest sequence of like operations from `start` on: a number in each tape. */
function alignMiddle(
  start: number,
  endA: number,
  endB: number,
  isAlike: (i: number, k: number) => boolean,
): [number, number][] {
  const [height, width] = [endA, endB].map((end) => Math.min(MOST, end - start));
  const longest = Array.from({ length: height + 1 }, () => new Uint16Array(width + 1));
  for (let i = height - 1; i >= 0; i--)
    for (let k = width - 1; k >= 0; k--)
      longest[i][k] = isAlike(start + i, start + k)
        ? longest[i + 1][k + 1] + 1
        : Math.max(longest[i + 1][k], longest[i][k + 1]);
  const found: [number, number][] = [];
  for (let i = 0, k = 0; i < height && k < width;) {
    if (isAlike(start + i, start + k)) found.push([start + i++, start + k++]);
    else if (longest[i + 1][k] >= longest[i][k + 1]) i++;
    else k++;
  }
  return found;
}
