// How much all that is on the way to the target changes per small nudge of a source: tangents from
// the source, beside the adjoints that the sweep has.
import type { SweepEdge } from "./schema";
import type { Store } from "./store";
import { markOf } from "./value";
import { numberOf } from "./whatif";
import { t } from "./words";

const NAMED = 3; // of the other sources

/**
 * An edge between rows over which the sweep goes: how much its beginning changes per small nudge of
 * the source, and what the sweep sends back over it.
 */
export interface Crossing {
  from: number;
  to: number;
  port: number;
  tangent: number;
  share: number;
}

/**
 * The source that is nudged: the selected one, else the first that the sweep arrives at; -1 where
 * there is none.
 */
export function nudged(store: Store, selected: number): number {
  const sources = store.sweep?.sources.filter((row) => row >= 0) ?? [];
  return sources.includes(selected) ? selected : (sources[0] ?? -1);
}

/** Which other sources can be nudged; "" for none. */
export function nameOthers({ sweep, rows }: Store, source: number): string {
  const others = (sweep?.sources ?? []).filter((row) => row >= 0 && row !== source);
  const names = others.slice(0, NAMED).map((row) => markOf(rows[row]));
  return names.length ? t("click {0} to nudge it instead", names.join(t(" or "))) : "";
}

/**
 * The edges on the ways from a source to the target; null where not all that is on them are single
 * numbers.
 */
export function crossings(store: Store, source: number): Crossing[] | null {
  const { sweep, rows } = store;
  if (!sweep || sweep.rest || sweep.target.length !== 1 || source < 0) return null;
  const tangents = new Map([[source, 1]]);
  const found: Crossing[] = [];
  const local = (edge: SweepEdge, adjoint: number): number =>
    edge.local && !edge.differs ? numberOf(edge.local) : numberOf(edge.product) / adjoint;
  for (const step of [...sweep.steps].sort((a, b) => a.row - b.row)) {
    const on = step.edges.filter((edge) => tangents.has(edge.input));
    if (!on.length) continue;
    if (
      step.others ||
      [step.row, ...on.map((edge) => edge.input)].some((row) => rows[row].shape.length)
    )
      return null;
    let sum = 0;
    for (const edge of on) {
      const tangent = tangents.get(edge.input) as number;
      const share = numberOf(edge.product);
      const slope = local(edge, numberOf(step.adjoint));
      found.push({ from: edge.input, to: step.row, port: edge.port, tangent, share });
      sum += (Number.isNaN(slope) && share === 0 ? 0 : slope) * tangent;
    }
    tangents.set(step.row, sum);
  }
  return found.length &&
    found.every((one) => Number.isFinite(one.tangent) && Number.isFinite(one.share))
    ? found
    : null;
}
