// An array as a picture: a heat-map for matrices, a line for vectors.
import { h, s } from "./dom";
import { diverging, magnitude } from "./scale";
import type { Value } from "./schema";
import { matrix } from "./value";
import { t } from "./words";

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

/** Of the cells that share a cell of the small picture, the one farthest from zero: what is unusual must be visible. */
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

/** A drawing of the value, in the colours of the small one, `plain` without its range; null for scalars, where it would be of one colour, and for arrays that were not sent. */
export function heatmap(value: Value | null, plain = false): HTMLElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const numbers = lines.flat().filter(Number.isFinite);
  const [low, high] = numbers.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  if (plain && low === high) return null; // each the same: a sentence says it
  const caption = h("div", { class: "mt-figcaption" }, numbers.length ? t("{0} to {1}", short(low), short(high)) : t("no finite numbers"));
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const picture = lines.length === 1 && lines[0].length > LONG ? line(lines[0], Math.min(0, low), Math.max(0, high)) : cells(lines, most);
  return h("div", { class: "mt-figure", role: "img", "aria-label": t("picture of the values, {0}", caption.textContent) }, picture, plain ? null : caption);
}

const LONG = 64; // numbers: a longer vector is drawn as a line

function short(x: number): string {
  return String(Number(x.toPrecision(4)));
}

function cells(lines: number[][], most: number): SVGSVGElement {
  const [rows, columns] = [lines.length, lines[0].length];
  const size = Math.max(3, Math.min(16, Math.floor(200 / Math.max(rows, columns))));
  const svg = s("svg", { width: columns * size, height: rows * size });
  lines.forEach((row, r) =>
    row.forEach((x, c) => svg.append(s("rect", { x: c * size, y: r * size, width: size - 0.5, height: size - 0.5, style: `fill: ${diverging(x / most)}` }, s("title", {}, String(x))))),
  );
  return svg;
}

/** A vector as a line, with zero as its axis. */
function line(row: number[], low: number, high: number): SVGSVGElement {
  const [w, height] = [200, 48];
  const y = (x: number): number => height - 3 - ((x - low) / (high - low || 1)) * (height - 6);
  const points = row.map((x, k) => `${((k / (row.length - 1)) * w).toFixed(1)},${y(x).toFixed(1)}`);
  return s("svg", { width: w, height, class: "mt-plot" }, s("path", { class: "mt-axis", d: `M0 ${y(0).toFixed(1)}H${w}` }), s("polyline", { points: points.filter((p) => !p.includes("NaN")).join(" ") }));
}
