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

/** The row, what it reads and what reads it, and their neighbours. */
export function neighbourhood(store: Store, row: number): Set<number> {
  const near = new Set([row]);
  for (let ring = 0; ring < RINGS; ring++)
    for (const one of [...near]) for (const other of [...(store.rows[one]?.inputs ?? []), ...(store.consumers[one] ?? []).slice(0, READERS)]) near.add(other);
  return near;
}
