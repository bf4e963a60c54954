// Title, tapes, search, folding, zoom, paths, export.
import { button, h, on, setText, smallButton } from "./dom";
import type { Tape } from "./schema";
import type { Store } from "./store";
import { count } from "./value";
import { t } from "./words";

export type FoldMode = "auto" | "all" | "layers" | "none";

export interface ToolbarActions {
  search(text: string): number;
  next(): void;
  fold(mode: FoldMode): void;
  zoom(factor: number): void;
  fit(): void;
  focus(): void;
  paths(): void;
  predict(): void;
  cut(): void;
  slopes(): void;
  cell(): void;
  full(): void;
  present(): void;
  save(kind: string): void;
  stop(): void; // placing
  help(): void;
}

const EXPORTS: [string, string][] = [
  ["svg", "SVG picture"],
  ["png", "PNG picture"],
  ["html", "HTML page to step through"],
  ["gif", "Animated GIF of the steps"],
  ["py", "Storyboard of a film (Python)"],
];

const ONE_LINE = 48; // pixels: a bar that is higher has two

export class Toolbar {
  readonly el: HTMLElement;
  readonly search = h("input", {
    type: "search",
    class: "mt-search",
    placeholder: "Search",
    "aria-label": "Search rows",
    title: "Search rows by operation, name, line or dtype ( / )",
  });
  private title = h("span.mt-name", {});
  private chips = h("span.mt-chips", {});
  private playground = h(
    "a.mt-link.mt-button",
    {
      target: "_blank",
      rel: "noopener",
      title: "Edit and run the program in a browser",
    },
    t("open in the playground"),
  );
  private found = h("span.mt-found-count", { role: "status" });
  private foldSelect = h(
    "select.mt-select",
    { "aria-label": "Folding", title: "Fold scopes and repeated parts" },
    ...["auto", "layers", "all", "none"].map((mode) =>
      h("option", { value: mode }, t(`fold: ${mode}`)),
    ),
  );
  private stop: HTMLButtonElement;
  private modes: [string, HTMLButtonElement][];
  private isByKey = false; // was the focus moved by keys?

  constructor(
    private store: Store,
    private actions: ToolbarActions,
  ) {
    this.stop = smallButton(t("arranging… stop"), actions.stop, {
      title: "Stop arranging the nodes (Esc)",
    });
    this.modes = [
      ["nearby", worded("nearby", "Show only the selected row and nearby rows (n)", actions.focus)],
      ["paths", worded("paths", "Paths from a source to a target (p)", actions.paths)],
      [
        "predict",
        worded(
          "predict",
          "Predict each product of the backward sweep before it is shown (q)",
          actions.predict,
        ),
      ],
      [
        "cut",
        worded(
          "cut",
          "The cut: the sum of tangent × adjoint along any line through the graph is the gradient (k)",
          actions.cut,
        ),
      ],
      ["slopes", worded("slopes", "Slopes inside the nodes (s)", actions.slopes)],
      ["cell", worded("cell", "Why this cell? Matrix products, cell by cell (w)", actions.cell)],
    ];
    on(this.foldSelect, "change", () => actions.fold(this.foldSelect.value as FoldMode));
    on(this.search, "input", () => this.look());
    on(this.search, "keydown", (event) => event.key === "Enter" && actions.next());
    const save = h(
      "select.mt-select.mt-export",
      { "aria-label": "Export", title: "Export" },
      h("option", { value: "" }, t("export")),
      ...EXPORTS.map(([value, text]) => h("option", { value }, t(text))),
    );
    on(save, "change", () => {
      const kind = save.value;
      save.value = "";
      if (kind) actions.save(kind);
    });
    this.el = h(
      "div.mt-toolbar",
      { role: "toolbar", "aria-label": "View" },
      this.title,
      this.stop,
      this.chips,
      this.playground,
      h("span.mt-gap", {}),
      this.search,
      this.found,
      this.foldSelect,
      h(
        "span.mt-tools",
        {},
        ...this.modes.map(([, one]) => one),
        button("minus", "Zoom out (-)", () => actions.zoom(1 / 1.25)),
        button("plus", "Zoom in (+)", () => actions.zoom(1.25)),
        button("fit", "Fit (0)", actions.fit),
        button("full", "Full screen (f)", actions.full),
      ),
      worded("present", "Presentation mode: large type for a projector (v)", actions.present),
      save,
      button("help", "Keys (?)", actions.help),
    );
    new ResizeObserver(() => this.fit()).observe(this.el);
    this.stopAt(this.search);
    on(this.el, "focusin", ({ target }) => this.stopAt(target as HTMLElement));
    on(this.el, "focusout", () => this.stopAt(this.search));
    on(this.el, "keydown", (event) => this.move(event));
  }

  /** Shows as many words beside the icons as one line has room for: all, the most used, or none. */
  private fit(): void {
    for (const words of ["all", "few", "none"]) {
      this.el.dataset.words = words;
      if (this.el.clientHeight <= ONE_LINE) return;
    }
  }

  /** The modes by name, and what each shows, without its key. */
  get titles(): [string, string][] {
    return this.modes.map(([name, { title }]) => [name, title.replace(/ ?[(（]\w[)）]$/, "")]);
  }

  /** Its links, buttons and fields. */
  get items(): HTMLInputElement[] {
    return [...this.el.querySelectorAll<HTMLInputElement>("a,button,input,select")];
  }

  /** Makes one item the only one at which Tab stops. */
  private stopAt(item: HTMLElement): void {
    for (const one of this.items) one.tabIndex = one === item ? 0 : -1;
    this.isByKey = item.matches(":focus-visible");
  }

  /** Moves the focus by arrow keys, unless the item was clicked: then these keys step. */
  private move(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { search } = this;
    const caret = by === 1 ? search.value.length : 0;
    if (!by || !this.isByKey || (event.target === search && search.selectionEnd !== caret)) return;
    const seen = this.items.filter((one) => one.checkVisibility());
    seen[seen.indexOf(event.target as HTMLInputElement) + by]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  private look(): void {
    const count = this.actions.search(this.search.value);
    setText(this.found, this.search.value ? t("{0} found", count) : "");
  }

  /** Empties the search, and with it what was found. */
  forget(): void {
    this.search.value = "";
    this.look();
  }

  draw(state: { fold: FoldMode; modes: Record<string, boolean>; busy: boolean }): void {
    const { rows, tapes } = this.store;
    const recording = tapes.some((tape) => tape.state === "recording");
    const more = this.store.total > rows.length && !recording;
    setText(
      this.title,
      t(
        more ? "{0} of {1} rows" : rows.length === 1 ? "{0} row" : "{0} rows",
        count(rows.length),
        count(this.store.total),
      ),
    );
    this.stop.hidden = !state.busy;
    const { playground } = this.store;
    this.playground.hidden = !/^https?:/.test(playground ?? "");
    this.playground.href = playground ?? "";
    this.chips.replaceChildren(
      ...tapes.slice(0, 6).map(chip),
      tapes.length > 6 ? t(" and {0} more", tapes.length - 6) : "",
    );
    this.foldSelect.value = state.fold;
    for (const [name, one] of this.modes)
      one.setAttribute("aria-pressed", String(state.modes[name]));
  }
}

/** A button whose word is beside its icon where there is room. */
const worded = (name: string, label: string, action: () => void): HTMLButtonElement =>
  button(name, label, action, h("span.mt-word", {}, t(name)));

function chip(tape: Tape): HTMLElement {
  const state = t({ closed: "", used: "gradient computed" }[tape.state as string] ?? tape.state);
  const text = [tape.persistent && t("persistent"), state].filter(Boolean).join(t(", "));
  return h(
    "span",
    {
      class: `mt-tape mt-lane-${tape.id % 4} mt-tape-${tape.state}`,
      title: `${tape.name}: ${text || t("closed")}`,
    },
    h("i", {}),
    h("b", {}, tape.name || t("tape")),
    text && h("span", {}, text),
  );
}
