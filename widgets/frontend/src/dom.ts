// Small helpers for building the page. Text from user code only ever becomes a text node or an
// attribute value.

import { t } from "./words";

type Child = Node | string | null | undefined | false;
type Attrs = Record<
  string,
  string | number | boolean | null | undefined | ((event: never) => void)
>;

const SVG = "http://www.w3.org/2000/svg";
const SPOKEN = /^(title|aria-label|placeholder)$/; // attributes that people read

function fill(el: Element, classes: string[], attrs: Attrs, children: Child[]): void {
  if (classes.length) el.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      el.addEventListener(key.slice(2), value as unknown as EventListener);
    else if (key === "style")
      // A content security policy may forbid the attribute, but not the property.
      (el as HTMLElement | SVGElement).style.cssText = String(value);
    else
      el.setAttribute(
        key,
        value === true ? "" : SPOKEN.test(key) ? t(String(value)) : String(value),
      );
  }
  for (const child of children) if (child) el.append(child);
}

/** A tag, and classes as a style sheet writes them: "div.mt-note.mt-new". */
type WithClasses<Tag extends string> = Tag | `${Tag}.${string}`;
type TagOf<T extends string> = T extends `${infer Tag}.${string}` ? Tag : T;
type Html = HTMLElementTagNameMap;
type Svg = SVGElementTagNameMap;

/**
 * An HTML element of a tag and classes; attributes named on… with a function are listeners.
 *
 * A class that depends on something is given as the attribute, which then has all classes.
 */
export function h<T extends WithClasses<keyof Html>>(
  tagAndClasses: T,
  attrs: Attrs = {},
  ...children: Child[]
): Html[TagOf<T> & keyof Html] {
  const [tag, ...classes] = tagAndClasses.split(".");
  const el = document.createElement(tag) as Html[TagOf<T> & keyof Html];
  if (tag === "button") el.setAttribute("type", "button"); // in a form it does not send it
  fill(el, classes, attrs, children);
  return el;
}

/** A small button between words, which does this. */
export const smallButton = (
  text: string,
  onclick: () => void,
  attrs: Attrs = {},
): HTMLButtonElement => h("button.mt-button.mt-small", { onclick, ...attrs }, text);

/** An SVG element of a tag and classes. */
export function s<T extends WithClasses<keyof Svg>>(
  tagAndClasses: T,
  attrs: Attrs = {},
  ...children: Child[]
): Svg[TagOf<T> & keyof Svg] {
  const [tag, ...classes] = tagAndClasses.split(".");
  const el = document.createElementNS(SVG, tag) as Svg[TagOf<T> & keyof Svg];
  fill(el, classes, attrs, children);
  return el;
}

/** Returns what has the focus in the document or the shadow tree of an element. */
export function focusBeside(el: Element): Element | null {
  const root = el.getRootNode();
  return root instanceof ShadowRoot ? root.activeElement : document.activeElement;
}

/** Gives an element the focus; the page does not move. */
export function focusQuietly(el: HTMLElement | null | undefined): void {
  el?.focus({ preventScroll: true });
}

/** Calls a listener when that happens. */
export function on<K extends keyof HTMLElementEventMap>(
  el: Element,
  type: K,
  listener: (event: HTMLElementEventMap[K]) => void,
): void {
  el.addEventListener(type, listener as EventListener);
}

/** Follows the pointer that is down on an element, until it is up. */
export function follow(
  el: Element,
  event: PointerEvent,
  move: (event: PointerEvent) => void,
): void {
  const end = new AbortController();
  el.setPointerCapture(event.pointerId);
  el.addEventListener("pointermove", move as EventListener, end);
  for (const up of ["pointerup", "pointercancel"]) el.addEventListener(up, () => end.abort(), end);
}

/** Sets text only if it changed: writing equal text still costs a layout. */
export function setText(el: Element, text: string): void {
  if (el.textContent !== text) el.textContent = text;
}

const ICONS: Record<string, string> = {
  first: "M4 3v10M13 3L6 8l7 5z",
  previous: "M11 3L5 8l6 5z",
  next: "M5 3l6 5-6 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  play: "M4.5 2.5l8.5 5.5-8.5 5.5z",
  pause: "M5 3v10M11 3v10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  nearby: "M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M8 5.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z",
  paths:
    "M3 3a1.2 1.2 0 100 .01M13 13a1.2 1.2 0 100 .01M4.3 3H9a2.5 2.5 0 010 5H7a2.5 2.5 0 000 5h4.7",
  predict: "M2.5 13.5l1-3 7.5-7.5 2 2-7.5 7.5zM9.5 13.5h4",
  cut: "M8 1.2v13.6M1.5 5h5M9.5 5h5M1.5 11h5M9.5 11h5",
  slopes: "M2 13.5C6 13.5 7 3 14 2.5M4.2 12.8L11.8 3.2",
  cell: "M2 2h12v12H2zM2 6h12M2 10h12M6 2v12M10 2v12M6.8 6.8h2.4v2.4H6.8z",
  full: "M2.5 6V2.5H6M13.5 10v3.5H10M2.5 2.5l4 4M13.5 13.5l-4-4",
  present: "M2 3h12v8H2zM8 11v3M5.5 14h5M6.5 5.2v3.6L9.8 7z",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  help: "M5.5 6a2.5 2.5 0 113.6 2.2c-.8.4-1.1.8-1.1 1.6M8 12.4v.1",
};

export function icon(name: string): SVGSVGElement {
  const filled = ["first", "previous", "next", "last", "play"].includes(name);
  return s(
    "svg",
    {
      viewBox: "0 0 16 16",
      width: 14,
      height: 14,
      "aria-hidden": "true",
      class: filled ? "mt-icon mt-filled" : "mt-icon",
    },
    s("path", { d: ICONS[name] }),
  );
}

/** A button with an icon and a name for screen readers and as tooltip. */
export function button(
  name: string,
  label: string,
  action: () => void,
  text: string | Element = "",
): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: "mt-button",
      "data-does": name,
      title: label,
      "aria-label": label,
      onclick: action,
    },
    ICONS[name] ? icon(name) : null,
    text,
  );
}

export function reducedMotion(): boolean {
  return globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
}

/** The whole screen for an element, or no longer. */
export function fullScreen(el: HTMLElement): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void el.requestFullscreen?.().catch(() => undefined); // the page may forbid it
}
