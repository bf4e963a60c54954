// What the gradient calls gave: a line for each, the numbers that the program got, and why one is
// None.
import { h, s, smallButton } from "./dom";
import { signedMap } from "./heatmap";
import { notFinite } from "./scale";
import type { Result, Row, Snapshot, Value } from "./schema";
import { gaveNone, type Store } from "./store";
import { brief, full, rounded, shapeText, title, written } from "./value";
import { t } from "./words";

const ROOM = 14; // characters of a number
const WIDE = 30; // and of an array
const MAP = [56, 18]; // pixels of the picture of one that is larger
const SEED = 8; // characters of what a sweep began with
const FEW = 8; // sources that are shown before the reader asks for all
const CALLS = 3; // the same of calls

/** What to know about a call that is no tape.gradient. */
function noteOf({ call, element }: Result): string | null {
  if (element)
    return "A Jacobian has one sweep for each element of the target. The steps show the sweep for this element.";
  return call === "backward" ? "What this pass added to .grad" : null;
}

/** What a sweep began with at a target; "" for 1. */
export function seedOf({ sweep }: Pick<Snapshot, "sweep">, target = sweep?.target[0]): string {
  const given = sweep?.steps.find(({ row }) => row === target)?.adjoint;
  if (!given) return "";
  const { data, stats, text } = given;
  return [stats ? [stats.min, stats.max] : data].flat(9).every((one) => Number(one) === 1)
    ? ""
    : rounded(text ?? "…");
}

/**
 * The name of what a row computed, or the one that the program gives it: its line says `name =
 * ...`, and no later row belongs to the line.
 */
export function assigned({ sources, rows }: Store, { row, name, file, line }: Row): string {
  const text = (file !== null && line !== null && sources[file]?.split("\n")[line - 1]) || "";
  const next = rows[row + 1];
  return (
    name?.replace(/:0$/, "") ||
    (next?.file === file && next?.line === line
      ? ""
      : (/^(?:.*;|\s*(?:for|if|while|with)\b.*:)?\s*([A-Za-z_]\w*)\s*=[^=;]*$/.exec(text)?.[1] ??
        ""))
  );
}

/** The sentence of a reason that says where: that a gradient is zero is seen. */
function firstOf(reason: string): string {
  const sentences = reason.split(/(?<=\.)\s|(?<=。)/);
  return sentences.find((one) => /[(（]/.test(one)) ?? sentences[0];
}

export class Results {
  readonly el = h("div.mt-results", {
    role: "group",
    "aria-label": "What tape.gradient returned",
    hidden: true,
  });
  private all = false;
  private drawn: unknown[] = []; // what it was drawn from

  constructor(
    private store: Store,
    private pick: (row: number) => void,
  ) {}

  /** Draws the results; of the call that is shown they are asked for with `hide`. */
  draw(hide: boolean): void {
    const { results, sweep } = this.store;
    const state = [
      results,
      sweep?.gradients,
      this.store.moved,
      this.store.rows.length,
      this.all,
      hide,
    ];
    if (state.every((part, k) => part === this.drawn[k])) return;
    this.drawn = state;
    const calls = this.all ? results : results.slice(-CALLS);
    const folded = calls.map(({ sources, more }) =>
      sources.length > FEW ? sources.length - FEW + (more ?? 0) : 0,
    );
    const hidden = results.length - calls.length + (this.all ? 0 : Math.max(0, ...folded));
    this.el.replaceChildren(...calls.map((call) => this.line(call, hide)));
    if (hidden > 0 || this.all) {
      const words = this.all ? t("fewer") : t("{0} more", hidden);
      const more = smallButton(words, () => this.toggle(hide));
      if (hidden > 0 || results.length > CALLS || results.some((call) => call.sources.length > FEW))
        this.el.append(more);
    }
    this.el.hidden = results.length === 0;
  }

  private toggle(hide: boolean): void {
    this.all = !this.all;
    this.draw(hide);
  }

  private line(call: Result, hide: boolean): HTMLElement {
    const targets = call.target.map((end) => end.name ?? this.nameOf(end.row)).join(", ");
    const sources = this.all ? call.sources : call.sources.slice(0, FEW);
    const el = h("div", { class: `mt-result${call.shown ? " mt-shown" : ""}` });
    if (call.shown && this.store.moved) el.append(h("i.mt-whatif", {}, t("what if")));
    const at = this.store.results.indexOf(call);
    if (this.store.results.length > 1)
      el.append(h("i", {}, t(call.shown ? "call {0} (shown):" : "call {0}", at + 1)));
    if (call.call && call.call !== "gradient")
      el.append(
        h(
          "i",
          { title: noteOf(call) },
          t(call.call).replace("_", " "),
          call.element ? t(", steps of {0}[{1}]", targets, call.element.join(", ")) : "",
        ),
      );
    sources.forEach((source, k) =>
      el.append(this.source(call, targets, source, k, hide && !!call.shown)),
    );
    if (call.more && (this.all || call.sources.length <= FEW))
      el.append(t(" and {0} more", call.more));
    if (!call.shown && call.sweep)
      el.append(
        smallButton(
          t("show its steps"),
          () => (this.store.choose(at), this.el.parentElement?.focus()),
          { title: "Step through the sweep of this call" },
        ),
      );
    return el;
  }

  private nameOf(row: number): string {
    const found = this.store.rows[row];
    return found ? assigned(this.store, found) || t("(row {0})", row) : t("not on the tape");
  }

  /** What a call derived: inside of a call, or with `output_gradients`, not the target alone. */
  private derived(call: Result, targets: string): string {
    if (call.target.length > 1) return `(${targets})`;
    const seed = seedOf(call.shown ? this.store : call);
    return seed ? `(${seed.length > SEED ? "g" : seed} × ${targets})` : targets;
  }

  private source(
    call: Result,
    targets: string,
    source: Result["sources"][number],
    k: number,
    hide: boolean,
  ): HTMLElement {
    const row = source.rows.at(-1) ?? source.at ?? -1;
    const name = source.name ?? (row >= 0 ? title(this.store.rows[row]) : t("source {0}", k));
    const moved = this.store.moved > 0 && call.shown;
    const isJacobian = /jacobian/.test(call.call ?? "");
    const gradient =
      moved && !isJacobian
        ? (this.store.sweep?.gradients[k] ?? null)
        : call.known
          ? source.gradient
          : call.shown
            ? (this.store.sweep?.gradients[k] ?? null)
            : null;
    const el = h(
      "span.mt-result-source",
      { "data-source": name },
      `∂${isJacobian ? targets : this.derived(call, targets)} / ∂`,
      row >= 0
        ? h(
            "button.mt-link",
            {
              onclick: () => this.pick(row),
              "aria-label": t("select {0}, row {1}", name, row),
            },
            name,
          )
        : h("span", {}, name),
      " = ",
    );
    if (hide) el.append(h("b", {}, "?"));
    else if (gradient)
      el.append(
        h(
          "b",
          { title: full(gradient), class: notFinite(gradient) && "mt-none" },
          ...this.seen(gradient, row, call),
        ),
      );
    else if (!gaveNone(call, source))
      el.append(
        h(
          "i",
          {
            title:
              "The sweep is too long or cannot be repeated. Print the gradient in the program instead.",
          },
          t("not computed here"),
        ),
      );
    else el.append(h("b.mt-none", {}, "None"));
    if (!hide && !moved && source.parts.length > 1)
      el.append(
        h(
          "span.mt-parts",
          {},
          ` (${source.parts.map((part, i) => t("{0} at row {1}", this.brief(part, row), source.rows[i])).join(" + ")})`,
        ),
      );
    if (!hide && source.reason && !moved)
      el.append(
        h("details.mt-reason", {}, h("summary", {}, firstOf(source.reason)), source.reason),
      );
    return el;
  }

  /** A gradient: its number, a small array written out, or its picture and its shape. */
  private seen(gradient: Value, row: number, call?: Result): (string | Element)[] {
    const [own, before] = [row, call?.target[0]?.row ?? -1].map(
      (at) => this.store.rows[at]?.shape ?? [],
    );
    const sides =
      call?.call === "jacobian"
        ? [...before, ...own]
        : call?.call === "batch_jacobian"
          ? [...before, ...own.slice(1)]
          : own;
    const text = sides.length ? written(gradient, WIDE) : this.brief(gradient, row);
    if (text !== null) return [text];
    const map = signedMap(gradient, 0.5, 0.5, MAP[0] - 1, MAP[1] - 1);
    const shape = h("span.mt-shape", {}, shapeText({ shape: sides }));
    return [
      ...(map
        ? [
            s(
              "svg.mt-result-map",
              {
                width: Number(map.lastElementChild?.getAttribute("width")) + 1,
                height: MAP[1],
                "aria-hidden": "true",
              },
              map,
            ),
          ]
        : []),
      shape,
    ];
  }

  private brief(value: Value | null, row: number): string {
    return brief(value, this.store.rows[row] ?? null, ROOM);
  }
}
