// An array as a picture: a heat-map for matrices, a line for vectors.
import { h, s } from "./dom";
import type { Value } from "./schema";
import { matrix } from "./value";

// a sequential scale that colour-blind people can read (after viridis): dark blue, teal, yellow
const SCALE = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

export function colour(t: number): string {
  if (!Number.isFinite(t)) return "#888";
  const at = Math.max(0, Math.min(1, t)) * (SCALE.length - 1);
  const k = Math.min(SCALE.length - 2, Math.floor(at));
  const mix = SCALE[k].map((c, i) => Math.round(c + (SCALE[k + 1][i] - c) * (at - k)));
  return `rgb(${mix.join(",")})`;
}

/** A drawing of the value, or null for scalars and for arrays that were not sent. */
export function heatmap(value: Value | null): HTMLElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const numbers = lines.flat().filter(Number.isFinite);
  const [low, high] = numbers.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const range = high - low || 1;
  const caption = h("div", { class: "mt-figcaption" }, numbers.length ? `${short(low)} to ${short(high)}` : "no finite numbers");
  const picture = lines.length === 1 && lines[0].length > 2 ? line(lines[0], low, range) : cells(lines, low, range);
  return h("div", { class: "mt-figure", role: "img", "aria-label": `picture of the values, ${caption.textContent}` }, picture, caption);
}

function short(x: number): string {
  return String(Number(x.toPrecision(4)));
}

function cells(lines: number[][], low: number, range: number): SVGSVGElement {
  const [rows, columns] = [lines.length, lines[0].length];
  const size = Math.max(3, Math.min(16, Math.floor(200 / Math.max(rows, columns))));
  const svg = s("svg", { width: columns * size, height: rows * size });
  lines.forEach((row, r) =>
    row.forEach((x, c) => svg.append(s("rect", { x: c * size, y: r * size, width: size - 0.5, height: size - 0.5, fill: colour((x - low) / range) }))),
  );
  return svg;
}

function line(row: number[], low: number, range: number): SVGSVGElement {
  const [w, height] = [200, 48];
  const points = row.map((x, k) => `${((k / (row.length - 1)) * w).toFixed(1)},${(height - 3 - ((x - low) / range) * (height - 6)).toFixed(1)}`);
  return s("svg", { width: w, height, class: "mt-plot" }, s("polyline", { points: points.filter((p) => !p.includes("NaN")).join(" ") }));
}
