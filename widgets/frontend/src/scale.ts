// How numbers become colours and widths: a diverging scale, and logarithms.
import type { SweepEdge, Value } from "./schema";
import { matrix, toNumber } from "./value";

/** The largest magnitude in a value; NaN where it is not known. */
export function magnitude(value: Value | null): number {
  if (!value) return NaN;
  if (value.stats)
    return Math.max(Math.abs(toNumber(value.stats.min)), Math.abs(toNumber(value.stats.max)));
  if (!Array.isArray(value.data)) return Math.abs(toNumber(value.data ?? value.text));
  const lines = matrix(value) ?? [];
  let most = lines.length ? 0 : NaN;
  for (const line of lines)
    for (const x of line) if (Number.isFinite(x)) most = Math.max(most, Math.abs(x));
  return most;
}

/** "NaN" or "inf" where a value holds one; "" where all is finite. */
export function notFinite(value: Value | null): string {
  if (!value) return "";
  const text = value.stats
    ? value.stats.nans
      ? "nan"
      : `${value.stats.min} ${value.stats.max}`
    : (value.text ?? "");
  return /\bnan\b/.test(text) ? "NaN" : /\binf\b/.test(text) ? "inf" : "";
}

/** Did a rule give 0 where g is 0, although the local derivative is not finite? */
export const isByConvention = ({ local, product }: SweepEdge): boolean =>
  !!notFinite(local) && !notFinite(product);

const [THIN, PLAIN, THICK] = [0.4, 2.4, 9]; // pixels: of what vanishes, of 1, of what explodes
const [LESS, MORE] = [0.3, 0.8]; // pixels for each power of ten, below 1 and above

/** The width of an edge that carries this gradient: it grows with the logarithm. */
export function edgeWidth(value: Value): number {
  const size = magnitude(value);
  if (Number.isNaN(size)) return PLAIN;
  if (size === 0) return THIN;
  const power = Math.log10(size);
  return (
    Math.round(10 * Math.max(THIN, Math.min(THICK, PLAIN + (power < 0 ? LESS : MORE) * power))) / 10
  );
}

const DARK = 8; // powers of ten below 1 at which a gradient is as good as gone

/** A colour that says how large an adjoint is, by its power of ten; none where nothing arrived. */
export function heat(value: Value | null): string {
  const size = magnitude(value);
  if (value === null || Number.isNaN(size)) return value ? "var(--mt-cut)" : "var(--mt-line)";
  const share = size === 0 ? 0 : Math.max(0, Math.min(1, 1 + Math.log10(size) / DARK));
  return `color-mix(in srgb, var(--mt-back) ${Math.round(18 + 82 * share)}%, var(--mt-bg))`;
}

/**
 * A colour for `t` between -1 and 1, between the theme's colours for what is negative, zero and
 * positive.
 */
export function diverging(t: number): string {
  if (!Number.isFinite(t)) return "var(--mt-cut)";
  // small numbers can be told from zero
  const share = Math.round(100 * Math.min(1, Math.abs(t)) ** 0.7);
  return `color-mix(in srgb, var(${t < 0 ? "--mt-minus" : "--mt-plus"}) ${share}%, var(--mt-zero))`;
}
