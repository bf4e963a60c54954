// Choosing a source and a target, and what lies between them.
import { h, on, reducedMotion } from "./dom";
import { findPaths, type Path, type Paths } from "./paths";
import type { Marks } from "./marks";
import { isLeaf, type Store } from "./store";
import { decimal, title, withNumbers } from "./value";
import { t } from "./words";

const MOST_LINES = 6;
const FACTOR = 450; // milliseconds for each factor of a product
const MOST = 400; // rows offered in a list; others are chosen from the selected row's buttons

export class PathsPanel {
  readonly el: HTMLElement;
  private source = h("select.mt-select", { "aria-label": "Source" });
  private target = h("select.mt-select", { "aria-label": "Target" });
  private text = h("div.mt-pathtext", {
    tabindex: 0,
    role: "status",
    "aria-label": "Paths found",
  });
  private chain = h("div.mt-chain", { role: "status" });
  private timer = 0;
  shown = false;
  private chosen = "";

  constructor(
    private store: Store,
    private marks: Marks,
    private current: () => number,
    private changed: () => void,
    private explain?: (source: number, target: number) => Promise<string>,
  ) {
    on(this.source, "change", () => this.draw());
    on(this.target, "change", () => this.draw());
    this.el = h(
      "div.mt-paths",
      { hidden: true },
      t("Paths from "),
      this.source,
      t(" to "),
      this.target,
      this.text,
      this.chain,
    );
  }

  toggle(): void {
    if (this.shown) this.hide();
    else this.open();
  }

  hide(): void {
    this.shown = false;
    window.clearTimeout(this.timer);
    this.el.hidden = true;
    this.marks.path = this.marks.pathEdges = null;
    this.changed();
  }

  /** Makes a row one end of the paths. */
  choose(kind: "source" | "target", row: number): void {
    if (!this.shown) this.open();
    const select = kind === "source" ? this.source : this.target;
    if (![...select.options].some((option) => option.value === String(row)))
      select.append(this.option(row));
    select.value = String(row);
    this.draw();
  }

  private open(): void {
    const { rows, sweep } = this.store;
    if (!rows.length) return;
    this.shown = true;
    this.el.hidden = false;
    const leaves = rows
      .filter((row) => isLeaf(row) && row.kind !== "constant")
      .map((row) => row.row);
    const operations = rows.filter((row) => !isLeaf(row)).map((row) => row.row);
    this.source.replaceChildren(
      ...(leaves.length ? leaves : [0]).slice(0, MOST).map((row) => this.option(row)),
    );
    this.target.replaceChildren(...operations.slice(-MOST).map((row) => this.option(row)));
    const target = sweep?.target[0] ?? Math.max(0, this.current());
    if (![...this.target.options].some((option) => option.value === String(target)))
      this.target.append(this.option(target));
    this.target.value = String(target);
    const source = sweep?.sources.find((row) => row >= 0);
    if (source !== undefined && leaves.includes(source)) this.source.value = String(source);
    this.draw();
  }

  private option(row: number): HTMLOptionElement {
    return h("option", { value: row }, t("row {0} {1}", row, title(this.store.rows[row])));
  }

  private draw(): void {
    const [source, target] = [Number(this.source.value), Number(this.target.value)];
    const found = findPaths(this.store, source, target);
    this.marks.path = found.rows.size ? found.rows : null;
    this.marks.pathEdges = found.rows.size ? found.edges : null;
    this.text.replaceChildren();
    const say = (text: string): void => this.text.append(h("p", {}, text));
    if (!found.paths.length) {
      if (!found.breaks.length) say(t("No path: the target does not depend on the source."));
      for (const { row, reason } of found.breaks.slice(0, 5))
        say(t("The path breaks at row {0} ({1}): {2}.", row, title(this.store.rows[row]), reason));
    }
    const chosen = `${source}>${target}`;
    this.chosen = chosen;
    const unwatched = isLeaf(this.store.rows[source]) && !this.store.rows[source].watched;
    if (unwatched)
      say(t("The tape doesn't watch row {0}, so it computes no gradient for it.", source));
    if (!found.paths.length || unwatched)
      void this.explain?.(source, target).then((text) => {
        if (text && this.chosen === chosen) say(text);
      });
    this.chain.replaceChildren();
    if (found.sum !== null && found.paths.length)
      say(
        t(
          found.paths.length === 1 ? "Sum over {0} path: {1}" : "Sum over {0} paths: {1}",
          found.paths.length,
          number(found.sum),
        ) + this.returned(source, target),
      );
    const lines = alike(found.paths);
    for (const paths of lines.slice(0, MOST_LINES)) this.text.append(this.line(paths, found));
    const more = lines.slice(MOST_LINES).flat().length;
    if (more > 0) say(t(found.complete ? "and {0} more" : "and more than {0} more", more));
    this.changed();
  }

  /** Is the sum over these paths what the program got? */
  private returned(source: number, target: number): string {
    const { sweep } = this.store;
    return sweep &&
      sweep.target.length === 1 &&
      sweep.target[0] === target &&
      sweep.sources.includes(source) &&
      !this.store.moved
      ? t(", the value that tape.gradient returned")
      : "";
  }

  /** A row's name in a path. */
  private name(row: number): string {
    const found = this.store.rows[row];
    if (found.name || isLeaf(found)) return title(found).split(" · ")[0];
    return `${title(found)} ${t("(row {0})", row)}`;
  }

  /** Paths over the same rows: the products of each, and which row reads another one twice. */
  private line(paths: Path[], found: Paths): HTMLElement {
    const { rows } = paths[0];
    const names = rows.map((row) => this.name(row));
    const shown = names.length > 12 ? [...names.slice(0, 6), "…", ...names.slice(-5)] : names;
    const products = paths.map(({ product }) =>
      product === null
        ? null
        : product < 0 && paths.length > 1
          ? `(${number(product)})`
          : number(product),
    );
    const text = products.includes(null)
      ? ""
      : t(products.length > 1 ? ": products {0}" : ": product {0}", products.join(" + "));
    const times = (row: number, input: number): number =>
      this.store.rows[row].inputs.filter((other) => other === input).length;
    const again = rows
      .slice(1)
      .flatMap((row, k) =>
        times(row, rows[k]) > 1
          ? [
              t(
                times(row, rows[k]) > 2 ? "{0} reads {1} {2} times" : "{0} reads {1} twice",
                this.name(row),
                this.name(rows[k]),
                times(row, rows[k]),
              ),
            ]
          : [],
      );
    const words = `${shown.join(" → ")}${text}${again.length ? ` (${again.join(t(", "))})` : ""}`;
    return h(
      "p",
      {},
      h(
        "button.mt-link.mt-path",
        {
          title: "Multiply along this path",
          onclick: () => this.multiply(paths[0], found),
        },
        words,
      ),
    );
  }

  /**
   * The chain rule along one path: the product grows factor by factor, and the edge of each is lit.
   */
  private multiply(path: Path, found: Paths): void {
    const { rows, factors } = path;
    window.clearTimeout(this.timer);
    this.marks.path = new Set(rows);
    const back = [...rows].reverse();
    const edges = back.slice(1).map((input, k) => `${input}>${back[k]}`);
    const [source, target] = [this.name(rows[0]), this.name(back[0])];
    const grow = (k: number): void => {
      this.marks.pathEdges = new Set(edges.slice(0, k));
      const product = factors
        .slice(0, k)
        .reduce<number | null>((all, one) => (all === null || one === null ? null : all * one), 1);
      const parts = factors
        .slice(0, k)
        .map((factor, i) => this.factor(back[i], back[i + 1], factor));
      const end = k === factors.length;
      const last = product === null ? [] : [" = ", h("b", {}, number(product))];
      this.chain.replaceChildren(
        t("∂{0} / ∂{1} along this path = ", target, end ? source : this.name(back[k])),
        ...parts.flatMap((part, i) => (i ? [" × ", part] : [part])),
        ...(k > 1 || end ? last : []),
      );
      if (end && found.sum !== null)
        this.chain.append(
          h(
            "div",
            {},
            t(
              found.paths.length > 1 ? "Σ of all {0} paths = " : "the only path: ",
              found.paths.length,
            ),
            h("b", {}, number(found.sum)),
            this.returned(rows[0], back[0]),
          ),
        );
      this.changed();
      if (!end) this.timer = window.setTimeout(() => grow(k + 1), FACTOR);
    };
    grow(reducedMotion() ? factors.length : 1);
  }

  /** A local derivative: what it comes from is where the pointer rests. */
  private factor(row: number, input: number, value: number | null): HTMLElement {
    const { rows } = this.store;
    const rule = rows[row].rule[rows[row].inputs.indexOf(input)] ?? "";
    const words = `∂ ${this.name(row)} / ∂ ${this.name(input)}${rule ? `: ${withNumbers({ ...rows[row], formula: rule.replace(/\bg \* |^g$/g, (all) => (all === "g" ? "1" : "")) }, rows)}` : ""}`;
    return h(
      "span.mt-factor",
      { title: words, tabindex: 0 },
      value === null ? t("array") : value < 0 ? `(${number(value)})` : number(value),
    );
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
  return decimal(Number(x.toPrecision(7)), 7);
}
