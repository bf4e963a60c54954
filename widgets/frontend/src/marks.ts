// What is marked in graph and table: rows under the pointer, selected, found by a search, near
// another one, on paths.
import type { Store } from "./store";
import { title } from "./value";

export class Marks {
  hover = -1; // row, or -1
  selected = -1;
  found = new Set<number>(); // rows that the search found
  path: Set<number> | null = null; // rows on the chosen paths
  pathEdges: Set<string> | null = null; // "from>to"
  near: Set<number> | null = null; // rows in focus
  // edges, "from>to", on the paths from the source under the pointer
  lit: Set<string> | null = null;

  constructor(private store: Store) {}

  /** The row that keys and buttons are about, where nothing is selected this one. */
  chosen(current: number): number {
    return this.selected >= 0 ? this.selected : current;
  }

  /** The pointer is at a row, or at none; false where it was there before. */
  point(row: number, ways: boolean): boolean {
    if (this.hover === row) return false;
    this.hover = row;
    this.lit = row < 0 || !ways ? null : waysOf(this.store, row);
    return true;
  }

  focus(on: boolean, current: number): void {
    this.near = on ? neighbourhood(this.store, this.chosen(Math.max(0, current))) : null;
  }

  search(text: string): number {
    this.found = matching(this.store, text);
    return this.found.size;
  }

  /** The next row that the search found; -1 for none. */
  get next(): number {
    const rows = [...this.found];
    return rows.find((row) => row > this.selected) ?? rows[0] ?? -1;
  }
}

const RINGS = 2;
const READERS = 40; // of one row; a weight may have thousands

/** Rows whose operation, name, dtype, scope, line or number has this text. */
function matching(store: Store, text: string): Set<number> {
  const wanted = text.trim().toLowerCase();
  const found = new Set<number>();
  for (const row of wanted ? store.rows : []) {
    const words = `${row.op} ${title(row)} ${row.name ?? ""} ${row.dtype} ${row.scope.join("/")} line:${row.line} row:${row.row} ${row.cut ?? ""}`;
    if (words.toLowerCase().includes(wanted)) found.add(row.row);
  }
  return found;
}

// rows: of a longer recording the paths of a source are not searched at each move of the pointer
const MANY = 20000;

/**
 * The edges, "from>to", on the paths from a source to the target of the sweep; null where it has
 * none.
 */
function waysOf(store: Store, source: number): Set<string> | null {
  const { sweep, rows } = store;
  if (
    !sweep ||
    rows.length > MANY ||
    !rows[source] ||
    rows[source].inputs.length ||
    !store.consumers[source]?.length
  )
    return null;
  const last = Math.max(-1, ...sweep.target);
  const from = new Set([source]);
  for (let row = source + 1; row <= last; row++)
    if (
      !rows[row].cut &&
      rows[row].status === "recorded" &&
      rows[row].inputs.some((input) => from.has(input))
    )
      from.add(row);
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
function neighbourhood(store: Store, row: number): Set<number> {
  const near = new Set([row]);
  for (let ring = 0; ring < RINGS; ring++)
    for (const one of [...near])
      for (const other of [
        ...(store.rows[one]?.inputs ?? []),
        ...(store.consumers[one] ?? []).slice(0, READERS),
      ])
        near.add(other);
  return near;
}
