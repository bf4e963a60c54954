// The code that ran, with the current line lit as in a debugger.
import { h, on, setText } from "./dom";
import type { Store } from "./store";
import { t } from "./words";

const LINE = 18; // pixels
const CAPTION = 24; // and its height, with the border below the pane

export class SourcePane {
  readonly el: HTMLElement;
  private caption = h("div.mt-caption", {});
  private code = h("div.mt-code", { tabindex: 0, role: "group", "aria-label": "Source" });
  private file = "";
  private text = "";
  private blamed: Element[] = [];
  private height = 0;
  private lit: HTMLElement | null = null;

  constructor(
    private store: Store,
    private pick: (file: string, line: number) => void,
  ) {
    this.el = h("div.mt-source", {}, this.caption, this.code);
    on(this.code, "click", (event) => {
      const line = (event.target as Element).closest<HTMLElement>("[data-line]");
      if (line) this.pick(this.file, Number(line.dataset.line));
    });
  }

  /** Shows the file and lights the line. */
  show(file: string | null, line: number | null, backward: boolean): void {
    const wanted =
      file !== null && file in this.store.sources
        ? file
        : (Object.keys(this.store.sources)[0] ?? "");
    this.load(wanted);
    this.mark();
    this.lit?.classList.remove("mt-current", "mt-backward");
    this.lit =
      file === wanted && line !== null
        ? ((this.code.children[line - 1] as HTMLElement | undefined) ?? null)
        : null;
    if (!this.lit) return;
    this.lit.classList.add("mt-current");
    this.lit.classList.toggle("mt-backward", backward);
    const { code, el, lit } = this;
    const needed = CAPTION + lit.offsetHeight;
    if (needed > el.clientHeight) el.style.minHeight = `min(60%, ${needed}px)`;
    const [before, beyond] = [
      this.height,
      Math.min(lit.offsetTop, lit.offsetTop + lit.offsetHeight + LINE - code.clientHeight),
    ];
    this.height = code.clientHeight;
    if (lit.offsetTop < code.scrollTop || beyond > code.scrollTop || this.height !== before)
      code.scrollTop = Math.max(this.block(line as number), beyond);
  }

  /** Marks the lines that are to blame for something. */
  private mark(): void {
    for (const line of this.blamed) line.classList.remove("mt-blamed");
    this.blamed = this.store.alarms.flatMap(
      ({ row, line }) =>
        (this.store.blamed(row) &&
          this.store.rows[row]?.file === this.file &&
          this.code.children[(line ?? 0) - 1]) ||
        [],
    );
    for (const line of this.blamed) line.classList.add("mt-blamed");
  }

  /** Where the block begins that a line is in: the tape's `with`, or the function. */
  private block(line: number): number {
    const lines = this.text.split("\n");
    const indent = lines[line - 1].search(/\S/);
    let at = line - 1;
    while (at > 0 && !(/^\s*(with|def)\b/.test(lines[at]) && lines[at].search(/\S/) < indent)) at--;
    return (this.code.children[at] as HTMLElement).offsetTop;
  }

  private load(file: string): void {
    const text = this.store.sources[file] ?? "";
    this.el.hidden = !text; // of what was run by exec()
    setText(this.caption, fileTitle(file));
    if (file === this.file && text === this.text) return;
    [this.file, this.text] = [file, text];
    const lines = text.replace(/\n+$/, "").split("\n");
    this.code.replaceChildren(
      ...lines.map((line, k) =>
        h(
          "div.mt-codeline",
          { "data-line": k + 1 },
          h("span.mt-lineno", {}, String(k + 1)),
          h("span", {}, line || " "),
        ),
      ),
    );
    this.lit = null;
  }
}

/** A cell's or file's name as a person would say it. */
function fileTitle(file: string): string {
  if (/ipykernel|<ipython|^<cell/.test(file)) return t("cell");
  return file.split(/[\\/]/).pop() ?? file;
}
