// What the keys do in a view.
import { fullScreen } from "./dom";
import type { View } from "./view";

/** The actions of a view, by the key that begins them. */
export function listActions(view: View): Record<string, () => void> {
  const { store, timeline, marks, pane, modes, stepping } = view;
  const step = (by: number) => (): void => {
    view.pause();
    stepping.moveTo(timeline.position + by);
  };
  const over = (by: number) => (): void => {
    view.pause();
    stepping.over(by, pane.graph);
  };
  const chosen = (): number => marks.chosen(timeline.current);
  return {
    ArrowRight: step(1),
    ArrowLeft: step(-1),
    "Shift+ArrowRight": over(1),
    "Shift+ArrowLeft": over(-1),
    PageDown: () => step(view.isPresented ? 1 : 10)(), // as a presenter's remote sends it
    PageUp: () => step(view.isPresented ? -1 : -10)(),
    Home: step(-Infinity),
    End: step(Infinity),
    " ": () => view.play(),
    ArrowDown: () => view.select(Math.min(store.rows.length - 1, chosen() + 1)),
    ArrowUp: () => view.select(Math.max(0, chosen() - 1)),
    Enter: () =>
      pane.graph?.nodeOf(chosen())?.group ? view.toggleAt(chosen()) : view.enter(chosen()),
    b: () => stepping.reach(() => timeline.backTo(chosen())),
    u: () => view.toggleAt(chosen()),
    n: () => view.focus(!marks.near),
    p: () => modes.paths.toggle(),
    q: () => modes.guess(),
    k: () => modes.turn("cut"),
    "[": () => modes.moveCut(-1),
    "]": () => modes.moveCut(1),
    s: () => modes.turn("slopes"),
    w: () => modes.turn("cell"),
    f: () => fullScreen(view.el),
    v: () => view.present(),
    t: () => view.hide("table"),
    c: () => view.hide("code"),
    "+": () => pane.camera.zoom(1.25),
    "=": () => pane.camera.zoom(1.25),
    "-": () => pane.camera.zoom(0.8),
    "0": () => pane.overview(),
    "/": () => view.search(),
    "?": () => void view.el.classList.toggle("mt-show-help"),
    Escape: () => view.leave(),
  };
}
