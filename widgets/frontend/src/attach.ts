// Puts views into pages: with their style, in the page's colours, and in step with those that they
// are compared with.
import { alignRows, pairRows } from "./alignment";
import { on } from "./dom";
import { forgetLayout } from "./one_layout";
import type { ViewOptions } from "./options";
import { startFrom } from "./planner";
import type { ViewParts } from "./parts";
import type { Store } from "./store";
import css from "./theme.css";
import { PHONE } from "./stepbar";
import { View } from "./view";
import { t } from "./words";

const groups = new Map<string, Set<View>>(); // views that are compared
let leads: View | null = null; // the one that the others follow just now

/** Takes a view out of its comparison. */
export function leaveGroup(view: View): void {
  groups.get(view.store.linked)?.delete(view);
  forgetLayout(view.store);
}

function together(view: View): void {
  if (leads) return;
  leads = view;
  setApart(view, false);
  for (const other of groups.get(view.store.linked) ?? []) {
    // only the view at which the reader is says its step
    const said = other.el.querySelector(".mt-said-only");
    if (said) said.ariaLive = other === view ? "polite" : "off";
    if (other !== view && other.el.isConnected) follow(other, view);
  }
  leads = null;
}

/** Does the view at which the reader is show a step that this one has not? */
function setApart(view: View, isApart: boolean): void {
  view.timeline.isApart = isApart;
  view.el.classList.toggle("mt-apart", isApart);
  view.schedule("all");
}

/** Lets a compared view's toolbar act on the others, apart from what only one view can do. */
function shareToolbar({ store, around: { toolbar } }: View): void {
  const act = (at: number, { type }: Event): void => {
    if (leads) return;
    const { value } = toolbar.items[at];
    for (const view of groups.get(store.linked) ?? []) {
      if (view.store === store) continue;
      leads = view;
      Object.assign(view.around.toolbar.items[at], { value }).dispatchEvent(new Event(type));
    }
    leads = null;
  };
  toolbar.items.forEach((item, at) => {
    if (/predict|full|help/.test(item.dataset.does ?? "")) return;
    for (const type of ["click", "input", "change"] as const)
      on(item, type, (event) => act(at, event));
  });
}

/** The lines of the program that a tape recorded. */
const linesOf = ({ store }: View): string[] =>
  store.rows.map(({ file, line }) => `${file}:${line}`);

/** Lets a compared view go to where its leader is, and say so if it has no such step. */
function follow(view: View, leader: View): void {
  const { store, timeline } = leader;
  const partner = findPartner(leader, view);
  view.go(findPlace(leader, view, partner));
  const isLeaf = !store.rows[timeline.current]?.inputs.length;
  setApart(view, !isLeaf && partner !== view.timeline.current);
}

/** The row of another view that belongs to the one at which a compared view is. */
function findPartner({ store, timeline }: View, other: View): number | undefined {
  const [here, there] = [store.differs, other.store.differs];
  const isPair = here && there && !here.missing && !there.missing;
  return isPair && timeline.current === here.row
    ? there.row
    : pairRows(store.rows, other.store.rows).get(timeline.current);
}

/** Where a compared view is when another one is where it is: at the row that belongs to its own. */
function findPlace(view: View, other: View, paired: number | undefined): number {
  const { position, forward, length, current } = view.timeline;
  const own = other.timeline;
  const leaves = view.store.rows.findIndex(({ inputs }) => inputs.length > 0);
  if (position === length) return own.length;
  if (position === forward) return own.forward;
  if (position <= leaves) return Math.min(position, own.forward);
  // A row that only one tape has belongs to none, and the other view stays where it is.
  const partner = paired ?? alignRows(view.store.rows, other.store.rows)[current];
  if (position < forward) return Math.min(partner + 1, own.forward);
  return own.backTo(partner) ?? Math.min(own.forward + position - forward, own.length);
}

/** Puts a view of a store into an element. */
export function attach(
  el: HTMLElement,
  store: Store,
  options: ViewOptions,
  parts: ViewParts,
): View {
  addStyle(el, css);
  startFrom(options.bundle);
  const view: View = new View(
    store,
    {
      ...options,
      moved: (line) => {
        together(view);
        options.moved?.(line);
      },
    },
    parts,
  );
  if (store.linked) {
    const group = (groups.get(store.linked) ?? new Set()).add(view);
    groups.set(store.linked, group);
    view.el.ariaLabel += ` ${group.size}: ${store.tapes[0]?.name ?? t("tape")}`;
    view.el.classList.add("mt-no-table", "mt-compared");
    shareToolbar(view);
  }
  view.theme(isDark());
  el.append(view.el);
  const compared = [...(groups.get(store.linked) ?? [])];
  const lines = new Set(linesOf(view));
  for (const other of compared)
    if (other !== view) {
      // the last view shows the program for all that ran no other lines
      other.el.classList.toggle(
        "mt-no-code",
        linesOf(other).every((line) => lines.has(line)),
      );
      other.pane.wrap();
    }
  // Both begin at the first difference, as the tape that has that row does.
  const leader = compared.find((one) => !one.store.differs?.missing) ?? view;
  if (leader.store.differs) leader.go(leader.store.differs.row + 1);
  together(leader);
  // a phone shows one of them, which is not to be pale before the reader has moved
  if (window.innerWidth <= PHONE) for (const one of compared) setApart(one, false);
  return view;
}

/** Lets a view be light or dark as its page is; returns what ends that. */
export function followTheme(view: View): () => void {
  const dark = new MutationObserver(() => view.theme(isDark()));
  dark.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "class", "data-theme"],
  });
  dark.observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["class", "data-theme", "theme"],
  });
  return () => dark.disconnect();
}

const sheets = new Map<string, CSSStyleSheet>();

/**
 * Adds a style to the document or the shadow tree of an element. In a shadow tree it is a sheet
 * that no content security policy forbids.
 */
export function addStyle(el: HTMLElement, text: string): void {
  const root = el.getRootNode();
  if (root instanceof ShadowRoot) {
    const sheet = sheets.get(text) ?? new CSSStyleSheet();
    if (!sheets.has(text)) sheet.replaceSync(text);
    sheets.set(text, sheet);
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
    return;
  }
  const old = document.head.querySelector("style[data-minitape]");
  if (old?.textContent === text) return;
  old?.remove();
  const tag = document.createElement("style");
  tag.setAttribute("data-minitape", "");
  tag.textContent = text;
  document.head.append(tag);
}

/**
 * Is the page dark? JupyterLab, VS Code and Colab each say so differently; else the system does.
 */
export function isDark(): boolean {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  const names = `${document.body.className} ${document.documentElement.className}`;
  if (/vscode-(dark|high-contrast)/.test(names)) return !/vscode-high-contrast-light/.test(names);
  if (/vscode-light/.test(names)) return false;
  const theme =
    document.documentElement.getAttribute("theme") ??
    document.documentElement.dataset.theme ??
    document.body.dataset.theme;
  if (theme) return theme === "dark";
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
}
