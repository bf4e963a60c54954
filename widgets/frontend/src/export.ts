// Saving what is seen: SVG, PNG, a page of its own, an animated GIF of the steps.
import { Camera, type Box } from "./camera";
import { h, s } from "./dom";
import { encodeGif } from "./gif";
import { PAD, stage, type Graph } from "./graph";
import { Marks } from "./marks";
import { pageText } from "./page";
import { NO_EVENTS } from "./drawing";
import { Scene } from "./scene";
import type { Store } from "./store";
import { Timeline } from "./timeline";
import type { Value } from "./schema";
import type { Trail } from "./trail";
import { brief, title } from "./value";
import { t } from "./words";

const FRAMES = 300; // most frames of an animation
const [MOVIE_W, MOVIE_H] = [1400, 800];
const CAPTION = 46; // height of the line of words below a film

interface Source {
  el: HTMLElement;
  store: Store;
  timeline: Timeline;
  graph: Graph | null;
  trail: Trail;
}

/** Makes the file and hands it to the browser as a download. */
export async function exportAs(
  kind: string,
  view: Source,
  bundle: () => Promise<string>,
  note: (text: string) => void,
): Promise<void> {
  const file = await makeFile(kind, view, bundle, note);
  if (!file) return;
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: `tape.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** The file's content; null for a kind that is not known. */
export async function makeFile(
  kind: string,
  view: Source,
  bundle: () => Promise<string>,
  note: (text: string) => void,
): Promise<Blob | null> {
  if (kind === "html")
    return new Blob([pageText(view.store.snapshot(), await bundle())], { type: "text/html" });
  if (kind === "py") return new Blob([view.trail.text()], { type: "text/x-python" });
  if (!view.graph) return null;
  const studio = new Studio(view, view.graph);
  try {
    if (kind === "svg")
      return new Blob([studio.whole(view.timeline.position).text], { type: "image/svg+xml" });
    if (kind === "png") return await studio.png();
    if (kind === "gif") return await studio.gif(note);
    return null;
  } finally {
    studio.close();
  }
}

interface Shot {
  text: string;
  width: number;
  height: number;
}

/** The room of a whole graph with what is drawn around it. */
export function boxOf({ left, right, top, bottom }: Graph): Box {
  const room = PAD + 34; // above and below, for the products on the edges and for sums
  return { x: left - PAD, y: top - room, w: right - left + 2 * PAD, h: bottom - top + 2 * room };
}

/** A second scene, out of sight, that takes pictures without disturbing what the reader sees. */
class Studio {
  private timeline: Timeline;
  private camera = new Camera(() => undefined);
  private scene: Scene;
  // light, whatever the page is
  private home = h("div.mt-view.mt-studio", { "aria-hidden": "true" });

  constructor(
    private view: Source,
    private graph: Graph,
  ) {
    this.timeline = new Timeline(view.store);
    this.scene = new Scene(
      view.store,
      this.timeline,
      this.camera,
      new Marks(view.store),
      NO_EVENTS,
    );
    this.home.append(this.scene.svg);
    view.el.after(this.home);
  }

  close(): void {
    this.home.remove();
  }

  /** All of the graph at natural size. */
  whole(position: number): Shot {
    const box = boxOf(this.graph);
    this.camera.resize(box.w, box.h);
    [this.camera.x, this.camera.y, this.camera.scale] = [box.x, box.y, 1];
    return this.shoot(position);
  }

  private shoot(position: number): Shot {
    this.timeline.go(position);
    this.scene.setGraph(this.graph);
    const { width, height } = this.camera;
    const svg = inlineStyles(this.scene.svg, width, height);
    svg.prepend(s("title", {}, this.caption()));
    return { text: new XMLSerializer().serializeToString(svg), width, height };
  }

  private async paint(shot: Shot, scale: number): Promise<HTMLCanvasElement> {
    const canvas = h("canvas", {
      width: Math.round(shot.width * scale),
      height: Math.round(shot.height * scale),
    });
    await paintOn(canvas, shot.text);
    return canvas;
  }

  async png(): Promise<Blob | null> {
    const shot = this.whole(this.view.timeline.position);
    const scale = Math.min(2, 16000 / shot.width, 16000 / shot.height);
    const canvas = await this.paint(shot, scale);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  /** What happens at the present step, in a line. */
  private caption(): string {
    const { timeline, view } = this;
    const row = view.store.rows[timeline.current];
    const value = (one: Value | null): string => brief(one, row, 24);
    if (!row) return t("before the first row");
    if (timeline.updating) return t("update");
    if (timeline.step)
      return t(
        "backward {0} of {1}: {2}, adjoint {3}",
        timeline.position - timeline.forward,
        timeline.swept - timeline.forward,
        title(row),
        value(timeline.step.adjoint),
      );
    return t(
      row.inputs.length
        ? "forward {0} of {1}: {2} of row {3} = {4}"
        : "forward {0} of {1}: {2} = {4}",
      timeline.position,
      timeline.forward,
      title(row),
      row.inputs.join(", "),
      value(row.value),
    );
  }

  /** The line of the program that the present step belongs to. */
  private code(): string {
    const { rows, sources } = this.view.store;
    const { file, line } = rows[this.timeline.current] ?? {};
    return (file && line && sources[file]?.split("\n")[line - 1]?.trim()) || "";
  }

  /** Writes the line of the program, and what happens in it, below a frame. */
  private write(context: CanvasRenderingContext2D, text: string): void {
    const { width, height } = context.canvas;
    const style = getComputedStyle(this.home);
    context.fillStyle = style.getPropertyValue("--mt-soft") || "#eee";
    context.fillRect(0, height - CAPTION, width, CAPTION);
    context.fillStyle = style.color;
    context.font = `15px ${style.getPropertyValue("--mt-mono")}`;
    context.fillText(this.code(), 10, height - CAPTION + 18, width - 20);
    context.font = "13px Helvetica, Arial, sans-serif";
    context.fillText(text, 10, height - 8, width - 20);
  }

  /** One frame for each step, forward and backward, following the current row. */
  async gif(note: (text: string) => void): Promise<Blob> {
    const box = boxOf(this.graph);
    const scale = Math.max(0.6, Math.min(1, MOVIE_W / box.w, (MOVIE_H - CAPTION) / box.h));
    this.camera.resize(
      Math.min(MOVIE_W, Math.ceil(box.w * scale)),
      Math.min(MOVIE_H, Math.ceil(box.h * scale) + CAPTION),
    );
    [this.camera.x, this.camera.y, this.camera.scale] = [box.x, box.y, scale];
    const stride = Math.max(1, Math.ceil(this.timeline.length / FRAMES));
    const frames: ImageData[] = [];
    for (let position = 0; position <= this.timeline.length; position += stride) {
      this.timeline.go(position);
      const box = stage(
        this.graph,
        this.timeline,
        this.timeline.current,
        this.camera.width / scale - 2 * PAD,
        this.camera.height / scale - 2 * PAD,
      );
      if (box) this.camera.reveal(box, false);
      const canvas = await this.paint(this.shoot(position), 1);
      const context = canvas.getContext("2d", {
        willReadFrequently: true,
      }) as CanvasRenderingContext2D;
      this.write(context, this.caption());
      frames.push(context.getImageData(0, 0, canvas.width, canvas.height));
      note(t("frame {0} of {1}", frames.length, Math.floor(this.timeline.length / stride) + 1));
    }
    return new Blob([encodeGif(frames, 600, 2500) as BlobPart], { type: "image/gif" });
  }
}

/** Paints the text of an SVG picture over all of a canvas. */
export async function paintOn(canvas: HTMLCanvasElement, text: string): Promise<void> {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const context = canvas.getContext("2d", {
      willReadFrequently: true,
    }) as CanvasRenderingContext2D;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  } finally {
    URL.revokeObjectURL(url);
  }
}

const STYLES = [
  "display",
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "paint-order",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
];

type Known = Map<string, [string, string][]>;

/**
 * What an element looks like. Elements with the same classes, in the same surroundings, look alike:
 * asking takes long.
 */
function stylesOf(el: SVGElement, known: Known): [string, string][] {
  let key = `${el.tagName}|${el.getAttribute("style") ?? ""}`;
  for (let up: Element | null = el, k = 0; up && k < 4; up = up.parentElement, k++)
    key += `|${up.getAttribute("class") ?? ""}`;
  let found = known.get(key);
  if (!found) {
    const style = getComputedStyle(el);
    found = (el.tagName === "g" ? ["opacity", "display"] : STYLES).map((name): [string, string] => [
      name,
      style.getPropertyValue(name),
    ]);
    found = found.filter(([name, value]) =>
      name === "display" ? value === "none" : value && !(name === "opacity" && value === "1"),
    );
    known.set(key, found);
  }
  return found;
}

/**
 * A copy that looks the same anywhere: classes become attributes, and the background is painted.
 */
export function inlineStyles(svg: SVGSVGElement, width: number, height: number): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const hit of copy.querySelectorAll(".mt-hit")) hit.remove();
  const known: Known = new Map();
  const from = svg.querySelectorAll<SVGElement>("path:not(.mt-hit), rect, circle, text, tspan, g");
  const to = copy.querySelectorAll<SVGElement>("path, rect, circle, text, tspan, g");
  from.forEach((el, i) => {
    for (const [name, value] of stylesOf(el, known)) to[i].setAttribute(name, value);
    for (const name of ["style", "class", "role", "aria-label", "aria-hidden"])
      to[i].removeAttribute(name);
  });
  const background = getComputedStyle(svg.closest(".mt-view") ?? svg).backgroundColor;
  const paint = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: background }))
    paint.setAttribute(name, String(value));
  copy.prepend(paint);
  for (const [name, value] of Object.entries({
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  }))
    copy.setAttribute(name, String(value));
  for (const el of [copy, ...copy.querySelectorAll("[class]")]) el.removeAttribute("class");
  return copy;
}
