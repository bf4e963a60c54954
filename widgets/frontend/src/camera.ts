// Pan and zoom: which part of the graph the pane shows.
import { reducedMotion } from "./dom";

export const MIN_SCALE = 0.005;
export const MAX_SCALE = 4;

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/**
 * Where a window of this size must begin to show all from `start` on; unchanged where it does so.
 */
function inView(at: number, size: number, start: number, length: number, margin: number): number {
  if (start >= at && start + length <= at + size) return at;
  const room = Math.min(margin, Math.max(0, (size - length) / 2));
  let found = Math.min(at, start - room);
  if (start + length + room > found + size) found = start + length + room - size;
  return found;
}

export class Camera {
  x = 0; // graph coordinates of the pane's top left corner
  y = 0;
  scale = 1;
  width = 0;
  height = 0;
  touched = false; // the reader moved it: it does not move by itself
  private frame = 0;
  private goal: [number, number] | null = null; // the corner that it glides to
  // and by the steps at which it was the corner there: who comes back sees the same
  private corners = new Map<number, [number, number]>();

  constructor(private moved: () => void) {}

  resize(width: number, height: number): void {
    if (this.width !== width || this.height !== height) this.forget();
    this.width = width;
    this.height = height;
  }

  /**
   * Shows all of the box, not much larger than natural size and no smaller than `least`; of what is
   * larger than the pane, the beginning.
   */
  fit(box: Box, least = MIN_SCALE, most = 1.6): void {
    const scale = Math.min(this.width / box.w, this.height / box.h, most);
    this.scale = Math.max(least, scale, MIN_SCALE);
    this.x =
      box.w * this.scale <= this.width ? box.x + box.w / 2 - this.width / this.scale / 2 : box.x;
    this.y =
      box.h * this.scale <= this.height ? box.y + box.h / 2 - this.height / this.scale / 2 : box.y;
    this.place();
  }

  private place(): void {
    this.forget();
    this.stop();
    this.moved();
  }

  zoom(factor: number, px = this.width / 2, py = this.height / 2): void {
    this.touched = true;
    const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, this.scale * factor));
    this.x += px / this.scale - px / scale;
    this.y += py / this.scale - py / scale;
    this.scale = scale;
    this.place();
  }

  pan(dx: number, dy: number): void {
    this.touched = true;
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.place();
  }

  /**
   * Moves just far enough that the box is in view with a margin. While it glides, what counts is
   * where it will be. At a step where it was before it returns to where it was.
   */
  reveal(box: Box, smooth = true, step?: number): void {
    const [w, h] = [this.width / this.scale, this.height / this.scale];
    const [x, y] = this.goal ?? [this.x, this.y];
    const corner = this.corners.get(step ?? -1) ?? [
      inView(x, w, box.x, box.w, 150),
      inView(y, h, box.y, box.h, 30),
    ];
    if (smooth && step !== undefined) this.corners.set(step, corner);
    this.glide(...corner, smooth);
  }

  /** Forgets where it was at which step: the graph, its scale or its place is another one. */
  forget(): void {
    this.corners.clear();
  }

  private glide(x: number, y: number, smooth: boolean): void {
    this.stop();
    if (Math.abs(x - this.x) < 0.5 && Math.abs(y - this.y) < 0.5) return;
    if (!smooth || reducedMotion()) {
      [this.x, this.y] = [x, y];
      this.moved();
      return;
    }
    const [x0, y0, start] = [this.x, this.y, performance.now()];
    this.goal = [x, y];
    const tick = (now: number): void => {
      const t = Math.min(1, Math.max(0, (now - start) / 140));
      const eased = 1 - (1 - t) * (1 - t);
      [this.x, this.y] = [x0 + (x - x0) * eased, y0 + (y - y0) * eased];
      this.moved();
      if (t < 1) this.frame = requestAnimationFrame(tick);
      else this.stop();
    };
    this.frame = requestAnimationFrame(tick);
  }

  stop(): void {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.goal = null;
  }
}
