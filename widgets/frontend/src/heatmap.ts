// An array as a picture: a heat-map for matrices, a line for vectors.
import { h, s } from "./dom";
import { diverging, magnitude } from "./scale";
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

const [COLUMNS, LINES] = [26, 6]; // cells of a small picture at most
const LEVELS = 5; // on each side of zero

/** The values as a small picture in a node or on an edge, blue below zero and vermilion above; null for single numbers. */
export function signedMap(value: Value | null, x: number, y: number, w: number, height: number): SVGGElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const [rows, columns] = [Math.min(lines.length, LINES), Math.min(lines[0].length, COLUMNS)];
  const most = magnitude(value) || 1;
  const levels = new Map<number, string>();
  const [dx, dy] = [w / columns, height / rows];
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const strongest = strongestIn(lines, r / rows, (r + 1) / rows, c / columns, (c + 1) / columns);
      const level = Number.isFinite(strongest) ? Math.round(LEVELS * Math.sign(strongest) * Math.sqrt(Math.abs(strongest) / most)) : NaN;
      levels.set(level, `${levels.get(level) ?? ""}M${fixed(x + c * dx)} ${fixed(y + r * dy)}h${fixed(dx)}v${fixed(dy)}h${fixed(-dx)}z`);
    }
  const el = s("g", { class: "mt-map" });
  for (const [level, d] of levels) el.append(s("path", { d, style: `fill: ${diverging(level / LEVELS)}` }));
  el.append(s("rect", { class: "mt-map-frame", x, y, width: w, height }));
  return el;
}

const fixed = (x: number): number => Math.round(x * 100) / 100;

/** Of the cells that share a cell of the small picture, the one farthest from zero: what stands out must be seen. */
function strongestIn(lines: number[][], top: number, bottom: number, left: number, right: number): number {
  const [rows, columns] = [lines.length, lines[0].length];
  let found = 0;
  for (let r = Math.floor(top * rows); r < Math.max(Math.floor(top * rows) + 1, Math.floor(bottom * rows)); r++)
    for (let c = Math.floor(left * columns); c < Math.max(Math.floor(left * columns) + 1, Math.floor(right * columns)); c++) {
      const x = lines[r][c];
      if (!Number.isFinite(x)) return NaN;
      if (Math.abs(x) > Math.abs(found)) found = x;
    }
  return found;
}

/** A drawing of the value, or null for scalars and for arrays that were not sent. */
export function heatmap(value: Value | null, signed = false): HTMLElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const numbers = lines.flat().filter(Number.isFinite);
  const [low, high] = numbers.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const range = high - low || 1;
  const caption = h("div", { class: "mt-figcaption" }, numbers.length ? `${short(low)} to ${short(high)}` : "no finite numbers");
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const shade = signed ? (x: number): string => diverging(x / most) : (x: number): string => colour((x - low) / range);
  const picture = lines.length === 1 && lines[0].length > 2 && !signed ? line(lines[0], low, range) : cells(lines, shade);
  return h("div", { class: "mt-figure", role: "img", "aria-label": `picture of the values, ${caption.textContent}` }, picture, caption);
}

function short(x: number): string {
  return String(Number(x.toPrecision(4)));
}

function cells(lines: number[][], shade: (x: number) => string): SVGSVGElement {
  const [rows, columns] = [lines.length, lines[0].length];
  const size = Math.max(3, Math.min(16, Math.floor(200 / Math.max(rows, columns))));
  const svg = s("svg", { width: columns * size, height: rows * size });
  lines.forEach((row, r) =>
    row.forEach((x, c) => svg.append(s("rect", { x: c * size, y: r * size, width: size - 0.5, height: size - 0.5, style: `fill: ${shade(x)}` }))),
  );
  return svg;
}

function line(row: number[], low: number, range: number): SVGSVGElement {
  const [w, height] = [200, 48];
  const points = row.map((x, k) => `${((k / (row.length - 1)) * w).toFixed(1)},${(height - 3 - ((x - low) / range) * (height - 6)).toFixed(1)}`);
  return s("svg", { width: w, height, class: "mt-plot" }, s("polyline", { points: points.filter((p) => !p.includes("NaN")).join(" ") }));
}
