// <mini-tape>y = x * sin(x)</mini-tape>: a short program, and the picture of its gradient, which
// follows each key.
import { buildSnapshot } from "../evaluator/picture";
import { runProgram, type Parameter, type ProgramRun } from "../evaluator/program";
import { printArray, toValue } from "../evaluator/numpy_text";
import { ProgramError } from "../evaluator/tokens";
import { isTensor, type Value } from "../evaluator/values";
import { addStyle, attach, isDark } from "../src/attach";
import { h } from "../src/dom";
import type { Nested, Snapshot } from "../src/snapshot";
import { Store } from "../src/store";
import type { View } from "../src/view";
import { speak, t } from "../src/words";
import { CodePane, describeError, moveNumber, pullNumber } from "./code_pane";
import css from "./element.css";
import { findEdit, listKeys } from "./identity";
import { FEW_PARTS } from "./parts";
import { ParameterSliders } from "./sliders";

const CONTROLS = "code steps results sliders";
const GRADIENT = /^[d∂](.+)\/[d∂](.+)$/;

export class MiniTape extends HTMLElement {
  static observedAttributes = "step mode of wrt at controls readonly theme src".split(" ");

  /** Returns the snapshot of a program; throws an Error with its reason for what is not known. */
  static snapshotOf(program: string, options: object = {}): Snapshot {
    return buildSnapshot(runProgram(program, options), program);
  }

  /** milliseconds that the last change of the program took: running it, and all of it */
  readonly took = { run: 0, all: 0 };
  private store = new Store();
  private view: View | null = null;
  private code: CodePane;
  private sliders: ParameterSliders;
  private error = h("p.error", { part: "error", role: "status" });
  private picture = h("div.picture", { part: "picture", "data-embed": "" });
  private frame: HTMLElement;
  private run: ProgramRun | null = null;
  private shown = ""; // the program whose picture is seen
  private given: Record<string, Nested> = {}; // the values of names without one
  private isConnectedBefore = false;
  private stopWatching: (() => void)[] = [];

  constructor() {
    super();
    this.code = new CodePane({
      changed: () => this.changed(),
      pointed: (row) => this.point(row),
      left: () => this.view?.el.focus({ preventScroll: true }),
    });
    this.sliders = new ParameterSliders((name, value) => this.set(name, value));
    this.frame = h("div.frame", { part: "frame" }, this.code.el, this.error);
    this.frame.append(this.sliders.el, this.picture);
    this.attachShadow({ mode: "open" }).append(this.frame);
  }

  connectedCallback(): void {
    if (document.readyState === "loading" && !this.textContent) {
      // A script in the head runs before the parser has read the program.
      document.addEventListener(
        "DOMContentLoaded",
        () => this.isConnected && this.connectedCallback(),
        { once: true },
      );
      return;
    }
    this.watchTheme();
    if (this.isConnectedBefore) return;
    this.isConnectedBefore = true;
    speak(readTexts());
    addStyle(this.frame, css);
    this.given = parseGiven(this.getAttribute("at"));
    this.code.isReadOnly = this.hasAttribute("readonly");
    this.paintControls();
    this.code.show(dedent(this.textContent ?? ""));
    if (this.hasAttribute("src")) void this.load();
    else this.changed();
  }

  disconnectedCallback(): void {
    for (const stop of this.stopWatching.splice(0)) stop();
    queueMicrotask(() => {
      if (!this.isConnected) this.view?.stop();
    });
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (!this.isConnectedBefore || before === now) return;
    if (name === "step") this.goto(now ?? "");
    else if (name === "mode" && this.view) this.view.mode = now ?? "";
    else if (name === "theme") this.paintTheme();
    else if (name === "readonly") this.code.isReadOnly = now !== null;
    else if (name === "controls") this.paintControls();
    else if (name === "src") void this.load();
    else {
      if (name === "at") this.given = parseGiven(now);
      this.changed();
    }
  }

  // --- what scripts use ---

  /** The program. */
  get value(): string {
    return this.code.text;
  }

  set value(program: string) {
    this.code.remember();
    this.code.show(program);
    this.changed();
  }

  /** What the picture shows, in minitape's format. */
  get snapshot(): Snapshot {
    return this.store.snapshot();
  }

  /** Returns a value or a gradient as text: of "x", of "y", of "dy/dx". */
  number(of: string): string {
    const gradient = GRADIENT.exec(of.replace(/\s/g, ""));
    if (gradient) return this.findGradient(gradient[1], gradient[2]) ?? "?";
    const value = this.run?.names.get(of);
    if (value) return describeValue(value);
    return [...this.store.rows].reverse().find(({ name }) => name === of)?.value?.text ?? "?";
  }

  /** Goes to a step: "start", "end", "forward:3", "back:2", "line:2". */
  goto(step: string): void {
    if (!this.view || !step) return;
    const position = this.findPosition(step);
    if (position === null) throw new RangeError(t("mini-tape has no step {0}", step));
    this.view.go(position);
  }

  /** Changes the number of a name, as its slider does. */
  set(name: string, value: number): void {
    const parameter = this.run?.parameters.find((one) => one.name === name);
    if (!parameter) throw new RangeError(t("the program has no number {0}", name));
    if (parameter.span) this.code.replace(parameter.span, writeNumber(value));
    else {
      this.given[name] = value;
      this.changed();
    }
  }

  // --- the program ---

  private changed(): void {
    const begin = performance.now();
    const program = this.code.text;
    try {
      const run = this.execute(program);
      this.took.run = performance.now() - begin;
      this.accept(run, program);
    } catch (reason) {
      if (!(reason instanceof ProgramError)) throw reason;
      this.refuse(reason);
    }
    this.took.all = performance.now() - begin;
  }

  private execute(program: string): ProgramRun {
    const of = this.getAttribute("of") ?? undefined;
    const wrt = this.getAttribute("wrt")?.split(/[\s,]+/);
    return runProgram(program, { at: this.given, of, wrt });
  }

  private accept(run: ProgramRun, program: string): void {
    const snapshot = buildSnapshot(run, program);
    const before = this.run;
    this.run = run;
    this.error.textContent = "";
    this.frame.classList.remove("stale");
    this.code.result(run, null);
    this.show(snapshot, before && this.listKeys(before, run, program));
    this.shown = program;
    this.sliders.show(run.parameters);
    const gradients = Object.fromEntries(
      (snapshot.results?.at(-1)?.sources ?? []).map(({ name, gradient }) => [name, gradient]),
    );
    this.emit("change", { program, gradients });
  }

  private refuse(error: ProgramError): void {
    this.error.textContent = describeError(error);
    this.frame.classList.add("stale");
    this.code.result(null, error);
    this.emit("error", { message: this.error.textContent, line: error.span.line });
  }

  /** The keys of the rows of two programs. */
  private listKeys(before: ProgramRun, after: ProgramRun, program: string): [string[], string[]] {
    return [listKeys(before, findEdit(this.shown, program)), listKeys(after, null)];
  }

  private async load(): Promise<void> {
    const source = this.getAttribute("src");
    if (!source) return;
    try {
      const answer = await fetch(source);
      if (!answer.ok) throw new Error(`${answer.status}`);
      const snapshot = (await answer.json()) as Snapshot;
      if (snapshot.version !== 1) throw new Error(t("this is not a minitape picture"));
      this.run = null;
      this.paintControls();
      this.show(snapshot, null);
      this.emit("change", { program: null, gradients: {} });
    } catch (reason) {
      this.error.textContent = t("{0} cannot be shown: {1}", source, (reason as Error).message);
      this.emit("error", { message: this.error.textContent });
    }
  }

  // --- the picture ---

  private show(snapshot: Snapshot, keys: [string[], string[]] | null): void {
    const { view } = this;
    if (!view) return this.open(snapshot);
    if (this.store.renew(snapshot)) return this.stepped();
    const { position, forward, swept } = view.timeline;
    const [back, isAtEnd] = [position - forward, position === swept];
    view.glide(keys?.[0] ?? [], keys?.[1] ?? [], () => {
      this.store.replace(snapshot);
      const now = view.timeline;
      const kept = back > 0 ? now.forward + back : Math.min(position, now.forward);
      const wanted = back > 0 && isAtEnd ? now.swept : Math.min(kept, now.swept);
      if (back && wanted !== now.position) view.go(wanted);
    });
    this.stepped();
  }

  private open(snapshot: Snapshot): void {
    this.store.take(snapshot);
    this.view = attach(
      this.picture,
      this.store,
      {
        bundle: async () => "",
        moved: () => this.moved(),
        pointed: (row) => this.code.mark(row),
        grab: (row, event) => this.grab(row, event),
      },
      FEW_PARTS,
    );
    this.paintTheme();
    this.goto(this.getAttribute("step") ?? "");
    this.view.mode = this.getAttribute("mode") ?? "";
    this.emit("ready", {});
  }

  private moved(): void {
    if (!this.view) return;
    this.stepped();
    const { position, forward, backward, current } = this.view.timeline;
    const step = backward ? `back:${position - forward}` : `forward:${position}`;
    this.emit("step", { step, row: current });
  }

  /** Marks the step in the program. */
  private stepped(): void {
    if (!this.view) return;
    const { current, backward } = this.view.timeline;
    this.code.step(current, backward);
  }

  private point(row: number): void {
    this.view?.point(row);
    this.code.mark(row);
  }

  /** A leaf of the picture is pulled: its number in the program changes. */
  private grab(row: number, event: PointerEvent): void {
    if (!this.run || this.hasAttribute("readonly")) return;
    const place = this.run.recording.places[row];
    const isLiteral = this.store.rows[row]?.literal;
    const parameter = this.findParameter(row);
    const span = isLiteral ? place : parameter?.span;
    if (span) return this.code.pull(span, event);
    if (!parameter) return;
    const text = printArray(parameter.tensor.value);
    pullNumber(text, event, undefined, (letters) => this.set(parameter.name, Number(letters)));
  }

  private findParameter(row: number): Parameter | undefined {
    const { recording, parameters } = this.run ?? {};
    return parameters?.find(
      ({ tensor }) => recording?.rowsOf(tensor).includes(row) && !tensor.value.shape.length,
    );
  }

  private findGradient(of: string, by: string): string | null {
    for (const { target, sources } of [...(this.snapshot.results ?? [])].reverse()) {
      const source = sources.find(({ name }) => name === by);
      if (source && target.some(({ name }) => name === of)) return source.gradient?.text ?? "None";
    }
    return null;
  }

  private findPosition(step: string): number | null {
    if (!this.view) return null;
    const { forward, swept } = this.view.timeline;
    const [, kind, digits] = /^([a-z]+)(?::(\d+))?$/.exec(step) ?? [];
    const number = digits === undefined ? null : Number(digits);
    const positions: Record<string, () => number> = {
      start: () => 0,
      end: () => swept,
      forward: () => Math.min(number ?? forward, forward),
      back: () => forward + (number ?? 1),
      line: () => 1 + this.store.rows.findLastIndex(({ line }) => line === number),
    };
    return kind && Object.hasOwn(positions, kind) ? Math.min(positions[kind](), swept) : null;
  }

  // --- looks ---

  private paintControls(): void {
    const names = (this.getAttribute("controls") ?? CONTROLS).split(/\s+/);
    for (const name of CONTROLS.split(" "))
      this.frame.classList.toggle(`with-${name}`, names.includes(name));
    this.code.el.hidden = !names.includes("code") || this.hasAttribute("src");
    this.sliders.el.hidden = !names.includes("sliders");
  }

  private watchTheme(): void {
    const paint = (): void => this.paintTheme();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", paint);
    const observer = new MutationObserver(paint);
    const filter = { attributes: true, attributeFilter: ["class", "data-theme", "theme"] };
    observer.observe(document.documentElement, filter);
    if (document.body) observer.observe(document.body, filter);
    this.stopWatching = [
      () => scheme.removeEventListener("change", paint),
      () => observer.disconnect(),
    ];
    paint();
  }

  /** As the attribute says; else dark if the letters around are light. */
  private paintTheme(): void {
    const wanted = this.getAttribute("theme");
    const channels = getComputedStyle(this)
      .color.match(/[\d.]+/g)
      ?.map(Number);
    const isLightText = channels ? luminance(channels) > 140 : isDark();
    const dark = wanted ? wanted === "dark" : isLightText;
    this.frame.classList.toggle("dark", dark);
    this.view?.theme(dark);
  }

  private emit(name: string, detail: object): void {
    const options = { detail, bubbles: true, composed: true };
    this.dispatchEvent(new CustomEvent(`minitape-${name}`, options));
  }
}

function luminance([red, green, blue]: number[]): number {
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}

function describeValue(value: Value): string {
  if (isTensor(value)) return toValue(value.value).text ?? "?";
  return value.kind === "number" ? String(value.value) : "?";
}

/** Writes a number with a point, so that it stays one of a variable. */
function writeNumber(value: number): string {
  const text = String(value);
  return /[.e]/.test(text) ? text : moveNumber(`${text}.0`, 0);
}

/** Reads the attribute `at`: "x=3; w=[1, 2]". */
function parseGiven(text: string | null): Record<string, Nested> {
  const given: Record<string, Nested> = {};
  for (const part of (text ?? "").split(";")) {
    const [name, value] = part.split("=").map((one) => one.trim());
    if (!name) continue;
    try {
      given[name] = JSON.parse(value ?? "") as Nested;
    } catch {
      given[name] = "nan"; // the program says which name has no number
    }
  }
  return given;
}

/** Takes the indentation away that all lines of a text share. */
function dedent(text: string): string {
  const lines = text
    .replace(/^\s*\n/, "")
    .trimEnd()
    .split("\n");
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const least = indents.length ? Math.min(...indents) : 0;
  return lines.map((line) => line.slice(least)).join("\n");
}

/** Reads the page's translations: a JSON object from English texts to others. */
function readTexts(): Record<string, string> | undefined {
  const script = document.querySelector("script[data-minitape-texts]");
  if (!script?.textContent) return undefined;
  return JSON.parse(script.textContent) as Record<string, string>;
}
