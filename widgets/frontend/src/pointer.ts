// Panning and zooming with a pointer: drag, wheel with Ctrl, wheel sideways; two fingers.
import { on } from "./dom";
import type { Camera } from "./camera";

/**
 * The pane follows the pointer; nodes, references and captions keep their own clicks. The wheel
 * scrolls the pane where `room` says that there is more (in pixels above, below), and else the
 * page.
 */
export function panAndZoom(pane: HTMLElement, camera: Camera, room: () => [number, number]): void {
  let last: [number, number] | null = null;
  const fingers = new Map<number, [number, number]>();
  const apart = (): number => {
    const [[ax, ay], [bx, by]] = [...fingers.values()];
    return Math.hypot(ax - bx, ay - by);
  };
  const middle = (): [number, number] => {
    const [[ax, ay], [bx, by]] = [...fingers.values()];
    return [(ax + bx) / 2, (ay + by) / 2];
  };
  on(pane, "pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (
      event.button !== 0 ||
      (event.target as Element).closest(".mt-node, .mt-chip, [role=button]")
    )
      return;
    last = [event.clientX, event.clientY];
    pane.setPointerCapture(event.pointerId);
  });
  on(pane, "pointermove", (event) => {
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const before = apart();
      const [x, y] = middle();
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const box = pane.getBoundingClientRect();
      const [x1, y1] = middle();
      camera.pan(x1 - x, y1 - y);
      if (before > 0) camera.zoom(apart() / before, x1 - box.left, y1 - box.top);
      last = null;
      return;
    }
    if (!last) return;
    camera.pan(event.clientX - last[0], event.clientY - last[1]);
    last = [event.clientX, event.clientY];
  });
  const stop = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    last = null;
  };
  on(pane, "pointerup", stop);
  on(pane, "pointercancel", stop);
  pane.addEventListener(
    "wheel",
    (event) => {
      const box = pane.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey)
        camera.zoom(
          Math.exp(-event.deltaY / 200),
          event.clientX - box.left,
          event.clientY - box.top,
        );
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        camera.pan(-(event.deltaX || event.deltaY), 0);
      else {
        const [above, below] = room();
        const by = Math.max(-above, Math.min(below, event.deltaY));
        if (Math.abs(by) < 1) return;
        camera.pan(0, -by);
      }
      event.preventDefault();
    },
    { passive: false },
  );
}
