// A folded loop as a profile: how large what came back to each of its turns is, as a line of
// logarithms.
import { on, s } from "./dom";
import { magnitude } from "./scale";
import type { Timeline } from "./timeline";
import type { Value } from "./schema";
import { rounded, sizeOf } from "./value";
import { t } from "./words";

const FEW = 3; // turns: fewer are no profile
const [X, Y, H] = [10, 26, 15]; // where it is in its node, and how high
const MANY = 8; // powers of ten: more have no line each
const DECADES = 3; // powers of ten that fill its height, at least

/**
 * The magnitude of the adjoint that each turn's last row got, 0 where nothing arrived; null where
 * there is no profile.
 */
export function profileOf(starts: number[], end: number, timeline: Timeline): number[] | null {
  if (starts.length < FEW || timeline.unfinished) return null;
  const sizes = starts.map((start, k) => {
    for (let row = (starts[k + 1] ?? end) - 1; row >= start; row--) {
      const value = timeline.last(row);
      if (value) return magnitude(value);
    }
    return 0;
  });
  return sizes.some((size) => size !== 0) ? sizes : null;
}

/** The sizes at both ends of a profile in so many characters: `5.075 ← 30.79`. */
export function betweenEnds(ends: [Value, Value], room: number): string {
  const texts = [
    ends.map((end) => sizeOf(end, 6)),
    ...[2, 1].map((digits) =>
      ends.map((end) =>
        magnitude(end)
          .toExponential(digits - 1)
          .replace("e+", "e"),
      ),
    ),
  ].map((both) => both.join(" ← "));
  return texts.find((text) => text.length <= room) ?? texts[texts.length - 1];
}

/** Its drawing with the numbers of both ends, so wide; `go` receives the turn that was clicked. */
export function sparkline(
  sizes: number[],
  ends: string,
  width: number,
  at: number,
  go: (turn: number) => void,
): SVGGElement {
  const powers = sizes.map((size) => (size > 0 ? Math.log10(size) : size));
  const known = powers.filter((_, k) => Number.isFinite(powers[k]) && sizes[k] > 0);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  if (high - low < DECADES) [low, high] = [(low + high - DECADES) / 2, (low + high + DECADES) / 2];
  const x = (k: number): number => X + (k * width) / (sizes.length - 1);
  const y = (k: number): number =>
    Y +
    (sizes[k] === 0
      ? H
      : Number.isFinite(powers[k])
        ? H * (1 - (powers[k] - low) / (high - low))
        : 0);
  const d = sizes.map((_, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(k).toFixed(1)}`).join("");
  const decades = Array.from(
    { length: Math.max(0, Math.floor(high) - Math.ceil(low) + 1) },
    (_, k) => Y + H * (1 - (Math.ceil(low) + k - low) / (high - low)),
  );
  const lines =
    decades.length <= MANY
      ? decades.map((at) => s("line", { x1: X, x2: X + width, y1: at, y2: at }))
      : [];
  const el = s(
    "g",
    { class: "mt-profile" },
    s("g", { class: "mt-decades" }, ...lines),
    s("rect", { x: X, y: Y - 2, width, height: H + 4 }),
    s("path", { d }),
  );
  if (at >= 0 && at < sizes.length) el.append(s("circle", { cx: x(at), cy: y(at), r: 3 }));
  if (ends) el.append(s("text", { class: "mt-ends", x: X, y: 54 }, ends));
  const title = s("title", {}, "");
  el.append(title);
  const turn = (event: MouseEvent): number => {
    const box = el.getBoundingClientRect();
    return Math.max(
      0,
      Math.min(
        sizes.length - 1,
        Math.round(((event.clientX - box.left) / box.width) * (sizes.length - 1)),
      ),
    );
  };
  on(
    el,
    "pointermove",
    (event) =>
      (title.textContent = t(
        "turn {0}: ∂ {1}",
        turn(event) + 1,
        rounded(String(sizes[turn(event)])),
      )),
  );
  on(el, "click", (event) => {
    if (event.detail > 1) return; // its node is opened
    event.stopPropagation();
    go(turn(event));
  });
  return el;
}
