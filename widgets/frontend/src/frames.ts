// The frames of the live drawing, around tapes, sweeps and open groups, and their captions.
import type { Camera } from "./camera";
import type { SceneEvents } from "./drawing";
import { on, s } from "./dom";
import type { Frame } from "./graph";
import { elide } from "./value";
import { t, wide } from "./words";

const CAPTION = 12; // the size of a frame's label
const FAR_CAPTION = 12; // in pixels

/** What a frame is called; it remains in view while a part of its frame is. */
export interface Caption {
  el: SVGElement;
  frame: Frame;
  room: number; // that it needs
}

/** Draws a frame around a tape, a sweep or an open group. */
export function drawFrame(frame: Frame, events: SceneEvents): [SVGGElement, Caption] {
  const state = frame.tape && frame.kind === "tape" ? frame.tape.state : "";
  const el = s("g", {
    class: `mt-frame mt-frame-${frame.kind}${state ? ` mt-tape-${state}` : ""}${frame.tape ? ` mt-lane-${frame.tape.id % 4}` : ""}`,
  });
  const note =
    state && state !== "closed" ? ` · ${t(state === "used" ? "gradient computed" : state)}` : "";
  const text = elide(
    `${frame.label}${note}`,
    Math.max(14, Math.floor((frame.w - 24) / 7) - (frame.group ? 2 : 0)),
  );
  el.append(s("rect", { x: frame.x, y: frame.y, width: frame.w, height: frame.h, rx: 10 }));
  const caption = s("text", { x: frame.x + 12, y: frame.y + 16 }, frame.group ? `− ${text}` : text);
  el.append(caption);
  if (frame.group) {
    caption.setAttribute("role", "button");
    caption.setAttribute("aria-label", t("fold {0}", frame.label));
    on(caption, "click", () => events.close(frame));
  }
  return [el, { el: caption, frame, room: 12 + 7 * wide(text) }];
}

/**
 * From afar a caption is above its frame, as large as can be read; those of inner frames have no
 * room then.
 */
export function placeCaption(
  { el, frame, room }: Caption,
  { x, scale }: Camera,
  plain: boolean,
): void {
  const size = plain ? FAR_CAPTION / scale : CAPTION;
  const needs = (room * size) / CAPTION;
  el.setAttribute(
    "visibility",
    plain && (frame.inner || !frame.widest || needs > frame.w) ? "hidden" : "visible",
  );
  el.style.fontSize = `${size}px`;
  el.setAttribute("y", String(plain ? frame.y - 4 / scale : frame.y + 16));
  el.setAttribute(
    "x",
    String(Math.max(frame.x + 12, Math.min(x + 8 / scale, frame.x + frame.w - needs))),
  );
}
