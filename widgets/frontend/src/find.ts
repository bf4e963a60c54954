// Which rows a search finds, and which are near a row.
import type { Store } from "./store";
import { title } from "./value";

const RINGS = 2;
const READERS = 40; // of one row; a weight may have thousands

/** Rows whose operation, name, dtype, scope, line or number has this text. */
export function matching(store: Store, text: string): Set<number> {
  const wanted = text.trim().toLowerCase();
  const found = new Set<number>();
  for (const row of wanted ? store.rows : []) {
    const words = `${row.op} ${title(row)} ${row.name ?? ""} ${row.dtype} ${row.scope.join("/")} line:${row.line} row:${row.row} ${row.cut ?? ""}`;
    if (words.toLowerCase().includes(wanted)) found.add(row.row);
  }
  return found;
}

const MANY = 20000; // rows: of a longer recording the ways of a source are not looked for at each move of the pointer

/** The edges, "from>to", on the ways from a source to the target of the sweep; null where it has none. */
export function waysOf(store: Store, source: number): Set<string> | null {
  const { sweep, rows } = store;
  if (!sweep || rows.length > MANY || !rows[source] || rows[source].inputs.length || !store.consumers[source]?.length) return null;
  const last = Math.max(-1, ...sweep.target);
  const from = new Set([source]);
  for (let row = source + 1; row <= last; row++) if (!rows[row].cut && rows[row].status === "recorded" && rows[row].inputs.some((input) => from.has(input))) from.add(row);
  const to = new Set(sweep.target.filter((row) => from.has(row)));
  const ways = new Set<string>();
  for (let row = last; row > source; row--) {
    if (!to.has(row)) continue;
    for (const input of rows[row].inputs)
      if (from.has(input)) {
        to.add(input);
        ways.add(`${input}>${row}`);
      }
  }
  return ways.size ? ways : null;
}

/** The row, what it reads and what reads it, and their neighbours. */
export function neighbourhood(store: Store, row: number): Set<number> {
  const near = new Set([row]);
  for (let ring = 0; ring < RINGS; ring++)
    for (const one of [...near]) for (const other of [...(store.rows[one]?.inputs ?? []), ...(store.consumers[one] ?? []).slice(0, READERS)]) near.add(other);
  return near;
}
