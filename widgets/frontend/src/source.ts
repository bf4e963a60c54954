// The code that ran, with the current line lit as in a debugger.
import { h, setText } from "./dom";
import type { Store } from "./store";

const LINE = 18; // pixels

export class SourcePane {
  readonly el: HTMLElement;
  private caption = h("div", { class: "mt-caption" });
  private code = h("div", { class: "mt-code", tabindex: 0, role: "group", "aria-label": "Source" });
  private file = "";
  private text = "";
  private lit: HTMLElement | null = null;

  constructor(
    private store: Store,
    private pick: (file: string, line: number) => void,
  ) {
    this.el = h("div", { class: "mt-source" }, this.caption, this.code);
    this.code.addEventListener("click", (event) => {
      const line = (event.target as Element).closest<HTMLElement>("[data-line]");
      if (line) this.pick(this.file, Number(line.dataset.line));
    });
  }

  /** Shows the file and lights the line. */
  show(file: string | null, line: number | null, backward: boolean): void {
    const wanted = file !== null && file in this.store.sources ? file : (Object.keys(this.store.sources)[0] ?? "");
    this.load(wanted);
    this.lit?.classList.remove("mt-current", "mt-backward");
    this.lit = file === wanted && line !== null ? ((this.code.children[line - 1] as HTMLElement | undefined) ?? null) : null;
    if (!this.lit) return;
    this.lit.classList.add("mt-current");
    this.lit.classList.toggle("mt-backward", backward);
    const [top, height] = [this.lit.offsetTop, this.code.clientHeight];
    if (top < this.code.scrollTop || top + 2 * LINE > this.code.scrollTop + height) this.code.scrollTop = this.code.firstElementChild instanceof HTMLElement ? this.code.firstElementChild.offsetTop + LINE * Math.max(0, Math.round((top - height / 2) / LINE)) : 0;
  }

  private load(file: string): void {
    const text = this.store.sources[file] ?? "";
    setText(this.caption, fileTitle(file));
    if (file === this.file && text === this.text) return;
    [this.file, this.text] = [file, text];
    const lines = text.replace(/\n+$/, "").split("\n");
    this.code.replaceChildren(...(text ? lines.map((line, k) => h("div", { class: "mt-codeline", "data-line": k + 1 }, h("span", { class: "mt-lineno" }, String(k + 1)), h("span", {}, line || " "))) : [h("div", { class: "mt-empty" }, "no source text")]));
    this.lit = null;
  }
}

/** A cell's or file's name as a person would say it. */
export function fileTitle(file: string): string {
  if (!file) return "source";
  if (/ipykernel|<ipython|^<cell/.test(file)) return "cell";
  return file.split(/[\\/]/).pop() ?? file;
}
