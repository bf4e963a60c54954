// The page with the map of a model: columns of modules, a legend, a slider for the steps, and a
// panel for the module that was clicked.
import { addStyle, isDark } from "../src/attach";
import { button, focusBeside, h, on } from "../src/dom";
import { count } from "../src/value";
import { speak, t } from "../src/words";
import theme from "../src/theme.css";
import css from "./map.css";
import { classOf, colourOf, paint, powerText } from "./colours";
import { describeModule, type MapData, normText } from "./panel";
import {
  type Box,
  buildTree,
  causesOf,
  depthOf,
  type Module,
  normOf,
  type Norm,
  placeBoxes,
  powerOf,
  rangeOf,
  type Share,
} from "./tree";

const COLUMN_WIDTH = 118; // the least, in pixels
const LABEL_HEIGHT = 16;

export class ModelMap {
  readonly el: HTMLElement;
  private tree: Module;
  private range: [number, number] | null;
  private top: Module;
  private chosen: Module;
  private step: number;
  private share: Share = "size";
  private boxes: Box[] = [];
  private field = h("div.mt-map-field", { role: "tree", "aria-label": t("modules") });
  private panel = h("div.mt-map-panel", { role: "region" });
  private crumbs = h("nav.mt-map-crumbs", { "aria-label": t("path") });
  private stepText = h("span", {});
  private stepSlider: HTMLInputElement | null = null;

  constructor(private data: MapData) {
    this.tree = buildTree(data.parameters, data.root, data.title);
    this.range = rangeOf(data.parameters, data.steps);
    this.top = this.chosen = this.tree;
    this.step = data.steps - 1;
    this.el = h(
      "div.mt-view.mt-map",
      {},
      h("div.mt-map-bar", {}, this.crumbs, this.heightChoice(), this.slider()),
      this.legend(),
      h("div.mt-map-body", {}, this.field, this.panel),
    );
    this.el.classList.toggle("mt-dark", isDark());
    on(this.field, "keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.field);
  }

  private heightChoice(): HTMLElement {
    const choice = h(
      "select",
      { "aria-label": "heights" },
      h("option", { value: "size" }, t("heights: numbers of elements")),
      h("option", { value: "equal" }, t("heights: all parameters alike")),
    );
    on(choice, "change", () => {
      this.share = choice.value as Share;
      this.draw();
    });
    return choice;
  }

  private slider(): HTMLElement | null {
    if (this.data.steps < 2) return null;
    const input = h("input", {
      type: "range",
      min: 1,
      max: this.data.steps,
      value: this.data.steps,
      "aria-label": "step",
    });
    on(input, "input", () => {
      this.step = Number(input.value) - 1;
      this.draw();
    });
    this.stepSlider = input;
    return h("label.mt-map-steps", {}, this.stepText, input);
  }

  private legend(): HTMLElement {
    const swatches: HTMLElement[] = [];
    const [low, high] = this.range ?? [0, -1];
    for (let power = low; power <= high; power++) {
      const steps = [1, 2, 5].map((digit) => {
        const step = h("i", { title: `${digit} · ${powerText(power)}` });
        step.style.background = colourOf(digit * 10 ** power, [low, high]);
        return step;
      });
      swatches.push(h("span.mt-map-swatch.mt-map-power", {}, powerText(power), ...steps));
    }
    const norms = this.data.parameters.flatMap((parameter) => parameter.norms);
    const others: [Norm, string][] = [
      [0, t("zero")],
      ["none", t("None")],
      ["nonfinite", t("NaN or infinite")],
      [null, t("not kept")],
    ];
    for (const [norm, text] of others)
      if (norms.includes(norm))
        swatches.push(h("span", { class: `mt-map-swatch ${classOf(norm)}` }, text));
    if (this.data.explanations.length)
      swatches.push(h("span.mt-map-swatch.mt-map-marked", {}, t("has a problem")));
    return h("div.mt-map-legend", {}, t("norm of the gradient:"), ...swatches);
  }

  /** Shows a module and what is in it across the whole field. */
  zoom(module: Module): void {
    this.top = module.isLeaf ? module.parent! : module;
    this.choose(module);
  }

  private choose(module: Module): void {
    this.chosen = module;
    const hadFocus = this.field.contains(focusBeside(this.field));
    this.draw();
    if (hadFocus) this.field.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }

  private click(module: Module): void {
    const isOpen = this.boxes.some(({ modules }) => modules.includes(module.children[0]));
    const opens = module.children.length > 0 && module !== this.top;
    if (opens && (module === this.chosen || !isOpen)) this.zoom(module);
    else this.choose(module);
  }

  private onKey(event: KeyboardEvent): void {
    const { chosen } = this;
    const siblings = this.boxes.flatMap(({ modules }) => modules.slice(0, 1));
    const column = siblings.filter(({ path }) => path.length === chosen.path.length);
    const at = column.indexOf(chosen);
    const target: Record<string, Module | null | undefined> = {
      ArrowDown: column[at + 1],
      ArrowUp: column[at - 1],
      ArrowLeft: chosen === this.top ? null : chosen.parent,
      ArrowRight: chosen.children[0],
    };
    if (event.key === "Enter" || event.key === " ") this.zoom(chosen);
    else if (event.key === "Escape") this.zoom(this.top.parent ?? this.top);
    else if (target[event.key]) {
      const next = target[event.key]!;
      if (siblings.includes(next)) this.choose(next);
      else this.zoom(next);
    } else return;
    event.preventDefault();
  }

  private draw(): void {
    const { width, height } = this.field.getBoundingClientRect();
    if (!width) return;
    const most = Math.max(2, Math.floor(width / COLUMN_WIDTH));
    const columns = Math.min(depthOf(this.top), most);
    this.boxes = placeBoxes(this.top, columns, height, this.share);
    if (!this.boxes.some(({ modules }) => modules[0] === this.chosen)) this.chosen = this.top;
    this.field.replaceChildren(...this.boxes.map((box) => this.drawBox(box, 100 / columns)));
    this.panel.replaceChildren(...describeModule(this.chosen, this.data, this.step));
    this.panel.setAttribute("aria-label", this.chosen.label);
    const text = t("step {0} of {1}", this.step + 1, this.data.steps);
    this.stepText.textContent = text;
    // A screen reader says with the step what the gradient is, and not the whole panel.
    const norm = normText(normOf(this.chosen.parameters, this.step));
    this.stepSlider?.setAttribute(
      "aria-valuetext",
      `${text}, ${this.chosen.label}: ${t("norm of the gradient: {0}", norm)}`,
    );
    this.drawCrumbs();
  }

  private drawCrumbs(): void {
    const chain: Module[] = [];
    for (let module: Module | null = this.top; module; module = module.parent)
      chain.unshift(module);
    this.crumbs.replaceChildren(
      ...chain.map((module) => button("", module.label, () => this.zoom(module), module.label)),
    );
  }

  private drawBox({ modules, column, top, height }: Box, share: number): HTMLElement {
    const [first] = modules;
    const parameters = modules.flatMap((module) => module.parameters);
    const norm = normOf(parameters, this.step);
    const causes = causesOf(parameters, this.step);
    const name = this.data.classes[first.path.join(".")];
    const text = modules.length > 1 ? t("{0} small ones", modules.length) : first.label;
    const facts = [
      modules.map(({ label }) => label).join(", "),
      name ?? "",
      t("{0} elements", count(parameters.reduce((sum, { size }) => sum + size, 0))),
      t("norm of the gradient: {0}", normText(norm)),
      causes.length ? t("has a problem") : "",
    ];
    const el = h("div.mt-map-box", {
      role: "treeitem",
      tabindex: modules.includes(this.chosen) ? 0 : -1,
      "aria-level": first.path.length + 1,
      "aria-selected": modules.includes(this.chosen) ? "true" : "false",
      "aria-label": facts.filter(Boolean).join(", "),
      title: facts.filter(Boolean).join("\n"),
      onclick: () => this.click(first),
    });
    el.style.left = `${column * share}%`;
    el.style.width = `${share}%`;
    el.style.top = `${top}px`;
    el.style.height = `${Math.max(1, height)}px`;
    paint(el, norm, this.range);
    el.classList.toggle("mt-map-marked", causes.length > 0);
    if (height >= LABEL_HEIGHT)
      el.append(h("span", {}, text, name ? h("small", {}, ` ${name}`) : null));
    if (height >= 2 * LABEL_HEIGHT && powerOf(norm) !== null)
      el.append(h("small.mt-map-norm", {}, normText(norm)));
    return el;
  }
}

/** Puts a map into an element of a page. */
export function mountMap(el: HTMLElement, data: MapData): ModelMap {
  speak(data.texts);
  addStyle(el, theme + css);
  const map = new ModelMap(data);
  el.append(map.el);
  return map;
}
