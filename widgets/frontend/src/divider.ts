// A line between two parts that can be dragged, or moved with the arrow keys: it changes the size
// of the part before it.
import { h, on } from "./dom";
import { t } from "./words";

const STEP = 24; // pixels for each press of a key
const [LOWEST, HIGHEST] = [0.12, 0.88]; // shares of the whole that a part can have

/** A divider below ("row") or right of ("column") a part; the name says what it changes. */
export function divider(name: string, way: "row" | "column", part: HTMLElement): HTMLElement {
  const row = way === "row";
  const el = h("div", {
    class: `mt-divider mt-divider-${way}`,
    role: "separator",
    tabindex: 0,
    "aria-orientation": row ? "horizontal" : "vertical",
    "aria-label": name,
    title: t("Drag: {0}", t(name)),
  });
  const size = (of: HTMLElement): number => (row ? of.clientHeight : of.clientWidth);
  const limited = (share: number): number => Math.max(LOWEST, Math.min(HIGHEST, share));
  const change = (by: number): void => {
    const whole = part.parentElement;
    if (!whole) return;
    const share = limited((size(part) + by) / size(whole));
    if (row && !document.fullscreenElement)
      [part.style.height, part.style.flexGrow] = [`${Math.max(160, size(part) + by)}px`, "0"];
    else whole.style.setProperty(`--mt-${way}-share`, `${share}`);
    el.setAttribute("aria-valuenow", String(Math.round(100 * limited(size(part) / size(whole)))));
  };
  let last: number | null = null;
  const at = (event: PointerEvent): number => (row ? event.clientY : event.clientX);
  on(el, "pointerdown", (event) => {
    last = at(event);
    el.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on(el, "pointermove", (event) => {
    if (last === null) return;
    change(at(event) - last);
    last = at(event);
  });
  for (const end of ["pointerup", "pointercancel"]) el.addEventListener(end, () => (last = null));
  on(el, "keydown", (event) => {
    const by = { [row ? "ArrowUp" : "ArrowLeft"]: -STEP, [row ? "ArrowDown" : "ArrowRight"]: STEP }[
      event.key
    ];
    if (by === undefined) return;
    change(by);
    event.preventDefault();
    event.stopPropagation(); // the arrow is not a step
  });
  return el;
}
