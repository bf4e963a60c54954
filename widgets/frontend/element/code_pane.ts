// The program of an explorable: a field to write in, over its letters in colours. Tokens are linked
// to the picture, and numbers are pulled to the left or right.
import type { ProgramRun } from "../evaluator/program";
import { OPERATIONS } from "../evaluator/table";
import { joinSigns, ProgramError, tokenize, type Span, type Token } from "../evaluator/tokens";
import { h, on } from "../src/dom";
import { t } from "../src/words";

const KEYWORDS = new Set(
  "for in with as def return import if elif else pass and or not True False None".split(" "),
);
const PIXELS = 4; // of the pointer's way change the last digit by 1
const MAX_HISTORY = 200;

export interface CodeEvents {
  changed(text: string): void;
  /** the reader points at the node of a row, or at none (-1) */
  pointed(row: number): void;
  left(): void; // by Escape
}

export class CodePane {
  readonly el: HTMLElement;
  text = "";
  private letters = h("pre", { "aria-hidden": "true" });
  private field: HTMLTextAreaElement;
  private tokens: Token[] = [];
  private spans: { el: HTMLElement; token: Token }[] = [];
  private marked: Span[] = []; // what belongs to the row under the pointer
  private wrong: Span | null = null;
  private current: { span: Span; isBackward: boolean } | null = null;
  private run: ProgramRun | null = null;
  private history: string[] = [];
  private undone: string[] = [];

  constructor(private events: CodeEvents) {
    this.field = h("textarea", {
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      "aria-label": "Program",
    });
    const sheet = h("div.sheet", {}, this.letters, this.field);
    this.el = h("div.code", { part: "code" }, sheet);
    on(this.field, "input", () => {
      this.remember();
      this.take(this.field.value);
    });
    on(this.field, "keydown", (event) => this.onKey(event));
    on(this.field, "pointermove", (event) => this.onPointer(event));
    on(this.field, "pointerleave", () => this.events.pointed(-1));
    on(this.letters, "pointermove", (event) => this.onPointer(event));
    on(this.letters, "pointerdown", (event) => this.onPull(event));
  }

  set isReadOnly(value: boolean) {
    this.field.readOnly = value;
    this.el.classList.toggle("readonly", value);
  }

  /** Shows another program, without a word to anybody. */
  show(text: string): void {
    this.text = text;
    if (this.field.value !== text) this.field.value = text;
    try {
      this.tokens = joinSigns(tokenize(text));
    } catch {
      this.tokens = []; // the letters stay without colours
    }
    this.paint();
  }

  /** Takes what a program did, or what is wrong with it. */
  result(run: ProgramRun | null, error: ProgramError | null): void {
    this.run = run ?? this.run;
    this.wrong = error?.span ?? null;
    this.paint();
  }

  /** Marks the row that the picture is at. */
  step(row: number, isBackward: boolean): void {
    const span = this.run?.recording.places[row];
    this.current = span ? { span, isBackward } : null;
    this.paint();
  }

  /** Marks what the reader points at in the picture. */
  mark(row: number): void {
    const place = this.run?.recording.places[row];
    this.marked = place ? [place, ...(this.run?.uses.get(row) ?? [])] : [];
    this.paint();
  }

  /** Puts other letters in a place of the program. */
  replace({ from, to }: Span, letters: string): void {
    this.take(this.text.slice(0, from) + letters + this.text.slice(to));
  }

  private take(text: string): void {
    this.show(text);
    this.events.changed(text);
  }

  /** Keeps the text before a change, to which undo goes back. */
  remember(): void {
    if (this.history[this.history.length - 1] === this.text) return;
    this.history.push(this.text);
    this.undone = [];
    if (this.history.length > MAX_HISTORY) this.history.shift();
  }

  private undo(from: string[], to: string[]): void {
    const text = from.pop();
    if (text === undefined) return;
    to.push(this.text);
    this.take(text);
  }

  // --- letters ---

  private paint(): void {
    const parts: (HTMLElement | string)[] = [];
    this.spans = [];
    let at = 0;
    this.tokens.forEach((token, k) => {
      if (token.from === token.to) return;
      parts.push(...this.paintGap(at, token.from));
      const el = this.paintSpan(token, this.classOf(token, this.tokens[k + 1]));
      this.spans.push({ el, token });
      parts.push(el);
      at = token.to;
    });
    parts.push(...this.paintGap(at, this.text.length), "\n");
    this.letters.replaceChildren(...parts);
  }

  /** The letters between two tokens, which are marked with what is around them. */
  private paintGap(from: number, to: number): (HTMLElement | string)[] {
    if (from >= to) return [];
    const text = this.text.slice(from, to);
    return text.includes("\n") ? [text] : [this.paintSpan({ from, to, line: 0 }, "")];
  }

  private paintSpan(span: Span, kind: string): HTMLElement {
    const isWithin = (outer: Span | null | undefined): boolean =>
      !!outer && span.from >= outer.from && span.to <= outer.to;
    const names = [kind];
    if (isWithin(this.current?.span)) names.push(this.current?.isBackward ? "at back" : "at");
    if (this.marked.some(isWithin)) names.push("on");
    if (isWithin(this.wrong)) names.push("wrong");
    const name = names.filter(Boolean).join(" ");
    return h("span", name ? { class: name } : {}, this.text.slice(span.from, span.to));
  }

  private classOf(token: Token, next: Token | undefined): string {
    if (token.kind === "name") {
      if (KEYWORDS.has(token.text)) return "keyword";
      const isCall = next?.text === "(" || Object.hasOwn(OPERATIONS, token.text);
      return isCall ? "function" : "";
    }
    return token.kind === "operator" ? "" : token.kind;
  }

  // --- the pointer ---

  private tokenAt(event: PointerEvent): Token | null {
    const { clientX: x, clientY: y } = event;
    const found = this.spans.find(({ el }) => {
      const box = el.getBoundingClientRect();
      return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    });
    return found?.token ?? null;
  }

  private onPointer(event: PointerEvent): void {
    if (event.buttons) return;
    const token = this.tokenAt(event);
    this.events.pointed(token ? this.findRow(token) : -1);
  }

  /** Returns the row of the smallest expression around a token. */
  private findRow(token: Span): number {
    const { recording, uses } = this.run ?? {};
    let [row, size] = [-1, Infinity];
    const consider = (span: Span, candidate: number): void => {
      const own = span.to - span.from;
      if (token.from < span.from || token.to > span.to || own > size) return;
      if (own < size || candidate > row) [row, size] = [candidate, own];
    };
    recording?.places.forEach((span, k) => recording.rows[k].by === null && consider(span, k));
    for (const [k, spans] of uses ?? []) for (const span of spans) consider(span, k);
    return row;
  }

  /** A number of the program is pulled to the left or right. */
  private onPull(event: PointerEvent): void {
    const token = this.tokenAt(event);
    if (token?.kind !== "number" || this.field.readOnly || event.button !== 0) return;
    event.preventDefault();
    this.pull(token, event, () => {
      this.field.focus();
      this.field.setSelectionRange(token.from, token.to);
    });
  }

  /** Changes a number with the pointer's way; `clicked` if the pointer did not move. */
  pull(token: Span, event: PointerEvent, clicked?: () => void): void {
    const before = this.text.slice(token.from, token.to);
    this.remember();
    let span = token;
    pullNumber(before, event, clicked, (letters) => {
      this.replace(span, letters);
      span = { ...span, to: span.from + letters.length };
    });
  }

  // --- keys ---

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation(); // a page's own keys are not for a field
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Escape") this.events.left();
    else if (isCommand && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) this.undo(this.undone, this.history);
      else this.undo(this.history, this.undone);
    } else if (isCommand && event.key.toLowerCase() === "y") {
      event.preventDefault();
      this.undo(this.undone, this.history);
    } else if (event.altKey && /^Arrow(Up|Down)$/.test(event.key)) this.onArrow(event);
  }

  /** Alt and an arrow change the number at the caret. */
  private onArrow(event: KeyboardEvent): void {
    const caret = this.field.selectionStart;
    const token = this.tokens.find(
      ({ kind, from, to }) => kind === "number" && from <= caret && to >= caret,
    );
    if (!token || this.field.readOnly) return;
    event.preventDefault();
    const by = (event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1);
    this.remember();
    this.replace(token, moveNumber(token.text, by));
    this.field.setSelectionRange(token.from, token.from);
  }
}

/** Follows the pointer until it is up, and returns a number that moves with it. */
export function pullNumber(
  before: string,
  event: PointerEvent,
  clicked: (() => void) | undefined,
  moved: (letters: string) => void,
): void {
  const end = new AbortController();
  let isPulled = false;
  let last = before;
  const onMove = (now: PointerEvent): void => {
    const by = Math.trunc((now.clientX - event.clientX) / PIXELS);
    isPulled ||= by !== 0;
    const letters = moveNumber(before, by);
    if (isPulled && letters !== last) moved((last = letters));
  };
  const onUp = (): void => {
    end.abort();
    if (!isPulled) clicked?.();
  };
  // The element under the pointer may be drawn anew, so the window is asked.
  window.addEventListener("pointermove", onMove, end);
  for (const type of ["pointerup", "pointercancel"]) window.addEventListener(type, onUp, end);
}

/** Moves a number by so many units of its last digit; a whole number stays one. */
export function moveNumber(text: string, by: number): string {
  const decimals = /\.(\d*)/.exec(text)?.[1].length;
  if (decimals === undefined && !/e/i.test(text)) return String(Number(text) + by);
  const digits = Math.max(1, decimals ?? 0);
  return (Number(text) + by * 10 ** -digits).toFixed(digits);
}

/** Says where a program is wrong, and why. */
export function describeError(error: ProgramError): string {
  return t("line {0}: {1}", error.span.line, error.message);
}
