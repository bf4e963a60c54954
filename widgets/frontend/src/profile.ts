// A folded loop as a profile: how large its values are by turn, or on the way back the adjoints,
// as far as the reader has come, as a line of logarithms.
import { on, s } from "./dom";
import { magnitude } from "./scale";
import { assigned } from "./results";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import type { Row, Value } from "./schema";
import { nameOf, rounded, shortName, sizeOf } from "./value";
import { t, wide } from "./words";

const FEW = 3; // turns: fewer are no profile
const [X, Y, H] = [10, 26, 15]; // where it is in its node, and how high
const MANY = 8; // powers of ten: more have no line each
export const NAME = 6; // letters of a name beside a number
const DECADES = 3; // powers of ten that fill its height, at least

/** What a profile shows of each turn. */
export interface Profile {
  of: string; // "∂", or the name of the values
  sizes: (number | null)[]; // null where the reader has not been
  scale: number[]; // the sizes of all turns at the end, so that the line stays where it is
  ends: [Value, Value] | null; // of the first and the last turn, when the reader has been in all
}

const NUMBERED = /[\u2080-\u2089]+$/;

/**
 * What a row in a loop with turns at these rows is called: its name in the last turn, after which
 * its line has no more rows, without the number of that turn.
 */
export function nameInTurn(store: Store, starts: number[], row: Row): string {
  const turn = starts.filter((start) => start <= row.row).length - 1;
  const last = store.rows[row.row - starts[turn] + starts.at(-1)!];
  const same = last?.op === row.op && last.line === row.line;
  // where the values of a name are numbered, each row that has the name says so itself
  const named = same && !NUMBERED.test(last.name ?? "") ? last : row;
  return (assigned(store, named) || nameOf(row)).replace(NUMBERED, "");
}

/**
 * The size that each turn has at the row that was reached last in it: forward of the value there,
 * backward of its adjoint; only rows that the sweep works on. Null where there is no profile.
 */
export function profileOf(
  starts: number[],
  end: number,
  store: Store,
  timeline: Timeline,
): Profile | null {
  if (starts.length < FEW || timeline.unfinished) return null;
  const { backward } = timeline;
  const { rows } = store;
  let of = "∂"; // or what the last turn computes
  const turns = starts.map((start, k) => {
    const swept = Array.from(
      { length: (starts[k + 1] ?? end) - start },
      (_, i) => start + i,
    ).filter((row) => timeline.backTo(row) !== null);
    if (!backward) swept.reverse();
    const at = swept.find((row) => (backward ? timeline.stepOn(row) : timeline.done(row)));
    const [now, last] = [at ?? -1, swept[0] ?? -1];
    if (!backward && rows[last]) of = nameInTurn(store, starts, rows[last]);
    return backward
      ? [timeline.adjoint(now), timeline.last(last)]
      : [now, last].map((row) => rows[row]?.value ?? null);
  });
  const sizes = turns.map(([now]) => now && magnitude(now));
  if (sizes.every((size) => size === null)) return null;
  const scale = turns.map(([, last]) => (last ? magnitude(last) : 0));
  if (scale.every((size) => !size)) return null;
  const all = turns.every(([now]) => now);
  const ends = all ? ([turns[0][0], turns.at(-1)![0]] as [Value, Value]) : null;
  return { of, sizes, scale, ends };
}

/**
 * What a profile shows and the sizes at both of its ends, in so many characters:
 * `∂ 5.075 ← 30.79`.
 */
export function betweenEnds(of: string, ends: [Value, Value], room: number): string {
  const numbers = [6, 4].map((most) => ends.map((end) => sizeOf(end, most, most < 6 ? 1 : 3)));
  const texts = numbers.flatMap((both) =>
    of === "∂"
      ? [`∂ ${both.join(" ← ")}`]
      : [NAME, 4].map((most) => `${shortName(of, most)}: ${both.join(" → ")}`),
  );
  return texts.find((text) => wide(text) <= room) ?? texts.at(-1)!;
}

/**
 * Its drawing with the numbers of both ends, so wide; `go` receives the turn that was clicked, by a
 * second click -1.
 */
export function sparkline(
  { of, sizes, scale }: Profile,
  ends: string,
  width: number,
  at: number,
  go: (turn: number) => void,
): SVGGElement {
  const known = [...scale, ...sizes]
    .map((size) => Math.log10(size ?? 0))
    .filter((power) => Number.isFinite(power));
  let [low, high] = [Math.min(...known), Math.max(...known)];
  if (high - low < DECADES) [low, high] = [(low + high - DECADES) / 2, (low + high + DECADES) / 2];
  const x = (k: number): number => X + (k * width) / (sizes.length - 1);
  const y = (size: number): number => {
    const power = Math.log10(size);
    if (size === 0) return Y + H;
    return Y + (Number.isFinite(power) ? H * (1 - (power - low) / (high - low)) : 0);
  };
  let d = "";
  sizes.forEach((size, k) => {
    const pen = d && sizes[k - 1] !== null ? "L" : "M";
    if (size !== null) d += `${pen}${x(k).toFixed(1)} ${y(size).toFixed(1)}`;
  });
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
    { class: `mt-profile${of === "∂" ? "" : " mt-values"}` },
    s("g.mt-decades", {}, ...lines),
    s("rect", { x: X, y: Y - 2, width, height: H + 4 }),
    s("path", { d }),
  );
  const here = sizes[at] ?? null;
  if (here !== null) el.append(s("circle", { cx: x(at), cy: y(here), r: 3 }));
  if (ends) el.append(s("text.mt-ends", { x: X, y: 54 }, ends));
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
  on(el, "pointermove", (event) => {
    const k = turn(event);
    const size = sizes[k] === null ? "…" : rounded(String(sizes[k]));
    title.textContent = `${t("turn {0}", k + 1)}: ${of} ${size}`;
  });
  on(el, "click", (event) => {
    if (event.detail > 1) return go(-1); // its node is opened
    event.stopPropagation();
    go(turn(event));
  });
  return el;
}
