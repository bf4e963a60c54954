// Paths between a source and a target: which rows, the product along each, their sum; where it
// breaks if there is none.
import { cutWords, toNumber } from "./value";
import type { Store } from "./store";
import { t } from "./words";

const MOST = 64; // paths that are listed
const STEPS = 200000; // edges that are walked before giving up

export interface Path {
  rows: number[]; // from the source to the target
  // the local derivatives on the path, from the target back to the source
  factors: (number | null)[];
  product: number | null; // null where a local derivative is not a single number
}

export interface Paths {
  paths: Path[];
  complete: boolean; // false when there are more paths than are listed
  rows: Set<number>;
  edges: Set<string>;
  sum: number | null;
  breaks: { row: number; reason: string }[];
}

/**
 * Everything between source and target. Local derivatives come from the backward sweep that was
 * sent.
 */
export function findPaths(store: Store, source: number, target: number): Paths {
  const passes = (row: number): boolean =>
    !store.rows[row].cut && store.rows[row].status !== "ghost";
  const below = reach(store, source, target, passes);
  const found: Paths = {
    paths: [],
    complete: true,
    rows: new Set(),
    edges: new Set(),
    sum: null,
    breaks: [],
  };
  if (!below.has(target)) {
    found.breaks = breaks(store, source, target);
    return found;
  }
  const above = sources(store, target, below, passes);
  for (const row of above) {
    found.rows.add(row);
    for (const input of store.rows[row].inputs)
      if (above.has(input) && passes(row) && row !== source) found.edges.add(`${input}>${row}`);
  }
  walk(store, source, target, above, passes, found);
  if (found.complete && found.paths.every((path) => path.product !== null))
    found.sum = found.paths.reduce((sum, path) => sum + (path.product ?? 0), 0);
  return found;
}

/** Rows that depend on `source`, up to `target`. */
function reach(
  store: Store,
  source: number,
  target: number,
  passes: (row: number) => boolean,
): Set<number> {
  const seen = new Set([source]);
  for (let row = source + 1; row <= target; row++)
    if (passes(row) && store.rows[row].inputs.some((input) => seen.has(input))) seen.add(row);
  return seen;
}

/** Of these rows, the ones that `target` depends on. */
function sources(
  store: Store,
  target: number,
  among: Set<number>,
  passes: (row: number) => boolean,
): Set<number> {
  const seen = new Set([target]);
  for (let row = target; row >= 0; row--) {
    if (!seen.has(row) || !passes(row)) continue;
    for (const input of store.rows[row].inputs) if (among.has(input)) seen.add(input);
  }
  return seen;
}

function walk(
  store: Store,
  source: number,
  target: number,
  on: Set<number>,
  passes: (row: number) => boolean,
  found: Paths,
): void {
  const locals = localNumbers(store);
  const stack: (Path & { row: number })[] = [
    { row: target, rows: [target], factors: [], product: 1 },
  ];
  let steps = 0;
  while (stack.length) {
    const { row, rows, factors, product } = stack.pop() as (typeof stack)[number];
    if (row === source) {
      found.paths.push({ rows: [...rows].reverse(), factors, product });
      if (found.paths.length >= MOST) found.complete = stack.length === 0;
      if (found.paths.length >= MOST) return;
      continue;
    }
    if (!passes(row)) continue;
    store.rows[row].inputs.forEach((input, k) => {
      if (!on.has(input)) return;
      const local = locals(row, k);
      stack.push({
        row: input,
        rows: [...rows, input],
        factors: [...factors, local],
        product: product === null || local === null ? null : product * local,
      });
    });
    if (++steps > STEPS) {
      found.complete = false;
      return;
    }
  }
}

/** Reads the local derivative of a row by its input number, where it is a single number. */
function localNumbers(store: Store): (row: number, input: number) => number | null {
  const steps = new Map((store.sweep?.steps ?? []).map((step) => [step.row, step]));
  return (row, k) => {
    const edge = steps.get(row)?.edges.find((other) => other.port === k);
    if (!edge?.local || store.rows[row].shape.length || Array.isArray(edge.local.data)) return null;
    const number = toNumber(edge.local.data ?? Number(edge.local.text));
    return Number.isNaN(number) ? null : number;
  };
}

/** The rows on the path from source to target at which the gradient stops. */
function breaks(store: Store, source: number, target: number): { row: number; reason: string }[] {
  const all = (): boolean => true;
  const below = reach(store, source, target, all);
  if (!below.has(target)) return [];
  const between = sources(store, target, below, all);
  return [...between]
    .filter((row) => store.rows[row].cut || store.rows[row].status === "ghost")
    .sort((a, b) => a - b)
    .map((row) => ({ row, reason: cutWords(store.rows[row].cut ?? t("not recorded")) }));
}
