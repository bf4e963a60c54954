// The optimizer's step: what a variable held, its gradient, and what it holds now.
import type { Nested, Result, Row, Value } from "./schema";
import { brief, full, rounded, shapeText, sizeOf, toNumber } from "./value";
import { t } from "./words";

type Updated = Result["sources"][number];

const EPSILON = 3e-7; // of float32

/**
 * The one number by which the gradient was multiplied before it was taken away, as gradient descent
 * does it; null where there is none.
 */
function rateOf(before: Value, gradient: Value, now: Value): number | null {
  const [x, g, z] = [before, gradient, now]
    .map((value) => [value.data ?? []].flat(9) as Nested[])
    .map((list) => list.map(toNumber));
  const most = g.reduce((best, one, k) => (Math.abs(one) > Math.abs(g[best]) ? k : best), 0);
  const rate = Number(((x[most] - z[most]) / g[most]).toPrecision(3));
  const near = (k: number): boolean =>
    Math.abs(x[k] - rate * g[k] - z[k]) <= EPSILON * (Math.abs(x[k]) + Math.abs(rate * g[k]));
  return Number.isFinite(rate) && rate !== 0 && x.length === g.length && x.every((_, k) => near(k))
    ? rate
    : null;
}

/** In its node: both values, or behind an arrow the new one, of a large array its size. */
export function updateText(row: Row, { now }: Updated, room: number): string {
  const part = (value: Value | null | undefined): string =>
    value && !row.shape.length ? brief(value, row, (room - 3) >> 1) : "";
  if (row.value && !row.shape.length) return `${part(row.value)} → ${part(now)}`;
  return `→ ${now ? sizeOf(now, room - 2) : shapeText(row, room - 6)}`;
}

/**
 * In words: `2.0 − 0.1 × 3.0 = 1.7`, where each number is one; else what is known of the three, one
 * after the other.
 */
export function updateParts(
  row: Row,
  { now, gradient, assigned }: Updated,
): { before: string; by: string; gradient: string; now: string; times: string } {
  const rate = row.value && gradient && now ? rateOf(row.value, gradient, now) : null;
  const times = assigned && assigned > 1 ? t(", assigned {0} times", assigned) : "";
  const [sign, size] =
    rate === null ? ["", ""] : [rate < 0 ? "+" : "−", rounded(String(Math.abs(rate)))];
  return {
    before: full(row.value),
    by: rate === null ? "" : `${sign} ${size} × `,
    gradient: full(gradient),
    now: full(now ?? null),
    times,
  };
}

const ASSIGNS = /\.assign(_add|_sub)?\(|\.apply_gradients\(|\.step\(|\.minimize\(/;

/**
 * The line on which variables were assigned after the gradient, as far as the text tells: the first
 * one behind what the tape recorded; null for none.
 */
export function assignedAt(rows: Row[], file: string | null, text: string): number | null {
  const last = rows.reduce(
    (most, row) => (row.file === file ? Math.max(most, row.line ?? 0) : most),
    0,
  );
  const found = text.split("\n").findIndex((line, k) => k >= last && ASSIGNS.test(line));
  return found < 0 ? null : found + 1;
}
