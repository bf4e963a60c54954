// An array as a picture: a heat-map for matrices, a line for vectors.
import { h, s } from "./dom";
import { diverging, magnitude } from "./scale";
import type { Value } from "./schema";
import { matrix } from "./value";
import { t } from "./words";

const [LEAST, CELL] = [5, 1.6]; // pixels of a small picture and of its cells
const LEVELS = 5; // on each side of zero

/**
 * The values as a small picture in this room, at their own proportions and from its left, blue
 * below zero and vermilion above; null for single numbers. Its strongest colour is that of `scale`,
 * or of its own largest number.
 */
export function signedMap(
  value: Value | null,
  x: number,
  y: number,
  w: number,
  height: number,
  scale?: number,
): SVGGElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const sides = [lines.length, lines[0].length * (value?.cell ?? 1)];
  const unit = Math.min(height / sides[0], w / sides[1]);
  const [high, across] = sides.map((side) => Math.max(LEAST, side * unit));
  const [rows, columns] = [
    Math.min(lines.length, (high / CELL) | 0),
    Math.min(lines[0].length, (across / CELL) | 0),
  ];
  const most = scale || magnitude({ data: lines }) || 1; // of what is drawn, without infinities
  const levels = new Map<number, string>();
  const [dx, dy] = [across / columns, high / rows];
  y += (height - high) / 2;
  const part = <T>(all: T[], k: number, parts: number): T[] =>
    all.slice((k * all.length) / parts, ((k + 1) * all.length) / parts);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      // of the cells that share one the farthest from zero: what is unusual must be visible
      const strongest = part(lines, r, rows)
        .flatMap((line) => part(line, c, columns))
        .reduce((a, b) => (Math.abs(b) > Math.abs(a) || !Number.isFinite(b) ? b : a));
      const level = Number.isFinite(strongest)
        ? Math.round(LEVELS * Math.sign(strongest) * Math.sqrt(Math.abs(strongest) / most))
        : NaN;
      levels.set(
        level,
        `${levels.get(level) ?? ""}M${fixed(x + c * dx)} ${fixed(y + r * dy)}h${fixed(dx)}v${fixed(dy)}h${fixed(-dx)}z`,
      );
    }
  const el = s("g.mt-map", {});
  for (const [level, d] of levels)
    el.append(s("path", { d, style: `fill: ${diverging(level / LEVELS)}` }));
  el.append(s("rect.mt-map-frame", { x, y, width: across, height: high }));
  return el;
}

const fixed = (x: number): number => Math.round(x * 100) / 100;

/**
 * A drawing of the value, in the colours of the small one, `plain` without its range; null for
 * scalars, where it would be of one colour, and for arrays that were not sent.
 */
export function heatmap(value: Value | null, plain = false): HTMLElement | null {
  const lines = matrix(value);
  if (!lines || lines.length * lines[0].length < 2) return null;
  const numbers = lines.flat().filter(Number.isFinite);
  const [low, high] = numbers.reduce(
    ([a, b], x) => [Math.min(a, x), Math.max(b, x)],
    [Infinity, -Infinity],
  );
  if (plain && low === high) return null; // each the same: a sentence says it
  const caption = h(
    "div.mt-figcaption",
    {},
    numbers.length ? t("{0} to {1}", short(low), short(high)) : t("no finite numbers"),
  );
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const picture =
    lines.length === 1 && lines[0].length > LONG
      ? line(lines[0], Math.min(0, low), Math.max(0, high))
      : cells(lines, most, value?.cell ?? 1);
  return h(
    "div.mt-figure",
    {
      role: "img",
      "aria-label": t("picture of the values, {0}", caption.textContent),
    },
    picture,
    plain ? null : caption,
  );
}

const LONG = 64; // numbers: a longer vector is drawn as a line

function short(x: number): string {
  return String(Number(x.toPrecision(4)));
}

function cells(lines: number[][], most: number, cell: number): SVGSVGElement {
  const [rows, columns] = [lines.length, lines[0].length];
  const size = Math.max(3, Math.min(16, Math.floor(200 / Math.max(rows, columns))));
  const [w, height] = [
    Math.max(3, size * Math.min(1, cell)),
    Math.max(3, size / Math.max(1, cell)),
  ];
  const svg = s("svg", { width: columns * w, height: rows * height });
  lines.forEach((row, r) =>
    row.forEach((x, c) =>
      svg.append(
        s(
          "rect",
          {
            x: c * w,
            y: r * height,
            width: w - 0.5,
            height: height - 0.5,
            style: `fill: ${diverging(x / most)}`,
          },
          s("title", {}, String(x)),
        ),
      ),
    ),
  );
  return svg;
}

/** A vector as a line, with zero as its axis. */
function line(row: number[], low: number, high: number): SVGSVGElement {
  const [w, height] = [200, 48];
  const y = (x: number): number => height - 3 - ((x - low) / (high - low || 1)) * (height - 6);
  const points = row.map((x, k) => `${((k / (row.length - 1)) * w).toFixed(1)},${y(x).toFixed(1)}`);
  return s(
    "svg",
    { width: w, height, class: "mt-plot" },
    s("path.mt-axis", { d: `M0 ${y(0).toFixed(1)}H${w}` }),
    s("polyline", { points: points.filter((p) => !p.includes("NaN")).join(" ") }),
  );
}
