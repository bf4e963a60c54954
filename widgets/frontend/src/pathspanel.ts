// Choosing a source and a target, and what lies between them.
import { h } from "./dom";
import { findPaths, type Path } from "./paths";
import type { Marks } from "./scene";
import { isLeaf, type Store } from "./store";
import { title } from "./value";

const MOST_LINES = 6;
const MOST = 400; // rows offered in a list; others are chosen from the selected row's buttons

export class PathsPanel {
  readonly el: HTMLElement;
  private source = h("select", { class: "mt-select", "aria-label": "Source" });
  private target = h("select", { class: "mt-select", "aria-label": "Target" });
  private text = h("div", { class: "mt-pathtext", tabindex: 0, role: "status", "aria-label": "Paths found" });
  shown = false;
  private chosen = "";

  constructor(
    private store: Store,
    private marks: Marks,
    private current: () => number,
    private changed: () => void,
    private explain?: (source: number, target: number) => Promise<string>,
  ) {
    this.source.addEventListener("change", () => this.draw());
    this.target.addEventListener("change", () => this.draw());
    this.el = h("div", { class: "mt-paths", hidden: true }, "Paths from ", this.source, " to ", this.target, this.text);
  }

  toggle(): void {
    if (this.shown) this.hide();
    else this.open();
  }

  hide(): void {
    this.shown = false;
    this.el.hidden = true;
    this.marks.path = this.marks.pathEdges = null;
    this.changed();
  }

  /** Makes a row one end of the paths. */
  choose(kind: "source" | "target", row: number): void {
    if (!this.shown) this.open();
    const select = kind === "source" ? this.source : this.target;
    if (![...select.options].some((option) => option.value === String(row))) select.append(this.option(row));
    select.value = String(row);
    this.draw();
  }

  private open(): void {
    const { rows, sweep } = this.store;
    if (!rows.length) return;
    this.shown = true;
    this.el.hidden = false;
    const leaves = rows.filter((row) => isLeaf(row) && row.kind !== "constant").map((row) => row.row);
    const operations = rows.filter((row) => !isLeaf(row)).map((row) => row.row);
    this.source.replaceChildren(...(leaves.length ? leaves : [0]).slice(0, MOST).map((row) => this.option(row)));
    this.target.replaceChildren(...operations.slice(-MOST).map((row) => this.option(row)));
    const target = sweep?.target[0] ?? Math.max(0, this.current());
    if (![...this.target.options].some((option) => option.value === String(target))) this.target.append(this.option(target));
    this.target.value = String(target);
    const source = sweep?.sources.find((row) => row >= 0);
    if (source !== undefined && leaves.includes(source)) this.source.value = String(source);
    this.draw();
  }

  private option(row: number): HTMLOptionElement {
    return h("option", { value: row }, `row ${row} ${title(this.store.rows[row])}`);
  }

  private draw(): void {
    const [source, target] = [Number(this.source.value), Number(this.target.value)];
    const found = findPaths(this.store, source, target);
    this.marks.path = found.rows.size ? found.rows : null;
    this.marks.pathEdges = found.rows.size ? found.edges : null;
    this.text.replaceChildren();
    const say = (text: string): void => this.text.append(h("p", {}, text));
    if (!found.paths.length) {
      if (!found.breaks.length) say("No path: the target does not depend on the source.");
      for (const { row, reason } of found.breaks.slice(0, 5)) say(`Broken at row ${row} (${title(this.store.rows[row])}): ${reason}.`);
    }
    const chosen = `${source}>${target}`;
    this.chosen = chosen;
    const unwatched = isLeaf(this.store.rows[source]) && !this.store.rows[source].watched;
    if (unwatched) say(`Row ${source} is not watched: no gradient is kept for it.`);
    if (!found.paths.length || unwatched)
      void this.explain?.(source, target).then((text) => {
        if (text && this.chosen === chosen) say(text);
      });
    if (found.sum !== null && found.paths.length) say(`Sum over ${found.paths.length} path${found.paths.length === 1 ? "" : "s"}: ${number(found.sum)}`);
    const lines = alike(found.paths);
    for (const paths of lines.slice(0, MOST_LINES)) say(this.line(paths));
    const more = lines.slice(MOST_LINES).flat().length;
    if (more > 0) say(found.complete ? `and ${more} more` : `and more than ${more} more`);
    this.changed();
  }

  /** Paths over the same rows: the products of each, and which row reads another one twice. */
  private line(paths: Path[]): string {
    const { rows } = paths[0];
    const shown = rows.length > 12 ? [...rows.slice(0, 6), "…", ...rows.slice(-5)] : rows;
    const products = paths.map(({ product }) => (product === null ? null : product < 0 && paths.length > 1 ? `(${number(product)})` : number(product)));
    const text = products.includes(null) ? "" : `: ${products.length > 1 ? "products" : "product"} ${products.join(" + ")}`;
    const times = (row: number, input: number): number => this.store.rows[row].inputs.filter((other) => other === input).length;
    const again = rows.slice(1).flatMap((row, k) => (times(row, rows[k]) > 1 ? [`row ${row} reads row ${rows[k]} ${times(row, rows[k]) > 2 ? `${times(row, rows[k])} times` : "twice"}`] : []));
    return `${shown.join(" → ")}${text}${again.length ? ` (${again.join(", ")})` : ""}`;
  }
}

/** The paths, those over the same rows together. */
function alike(paths: Path[]): Path[][] {
  const lines = new Map<string, Path[]>();
  for (const path of paths) {
    const rows = path.rows.join();
    lines.set(rows, [...(lines.get(rows) ?? []), path]);
  }
  return [...lines.values()];
}

function number(x: number): string {
  return String(Number(x.toPrecision(7)));
}
