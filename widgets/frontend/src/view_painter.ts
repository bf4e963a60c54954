// Draws a view: at most once per frame what has changed, and at once what a step needs.
import { setText } from "./dom";
import { assignedAt } from "./update";
import { useDigits } from "./value";
import type { View } from "./view";
import { t } from "./words";

export type Drawn = "all" | "scene" | "toolbar";

export class ViewPainter {
  private pending = new Set<Drawn>();
  private frame = 0;

  /** `drawn` is called when something was drawn: a part that had the focus may be gone. */
  constructor(
    private view: View,
    private drawn: () => void,
  ) {}

  stop(): void {
    if (this.frame) cancelAnimationFrame(this.frame);
  }

  schedule(...parts: Drawn[]): void {
    for (const part of parts) this.pending.add(part);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.render());
  }

  /** Draws what has changed; where that fails, the view says so, and raises what went wrong. */
  private render(): void {
    const { hint } = this.view.pane;
    try {
      this.draw();
    } catch (error) {
      hint.textContent = t("This picture cannot be drawn: {0}", error);
      hint.hidden = false;
      throw error;
    }
  }

  private draw(): void {
    const { pane, store, marks, modes, around } = this.view;
    this.frame = 0;
    const all = this.pending.has("all");
    const scene = all || this.pending.has("scene");
    this.pending.clear();
    if (scene) {
      pane.scene.draw();
      pane.showEnds();
    }
    pane.hint.hidden = store.rows.length > 0;
    if (store.results.length > 0) setText(pane.hint, t("The tape recorded no operation."));
    if (all) this.drawState();
    around.toolbar.draw({
      fold: pane.folding.mode,
      modes: { nearby: marks.near !== null, ...modes.shown },
      busy: pane.folding.busy,
    });
    this.drawn();
  }

  /** Draws what depends on the step, besides the graph. */
  drawState(): void {
    const { timeline, marks, modes, pane, around, stepping, store } = this.view;
    useDigits(store.differs?.digits);
    around.table.draw(marks);
    around.stepbar.draw();
    around.strip.draw();
    const isAsked = modes.predict.on && timeline.position < timeline.swept;
    around.results.draw(isAsked);
    around.inspector.asked = stepping.asked;
    const selected = marks.selected >= 0 ? (pane.graph?.nodeOf(marks.selected) ?? null) : null;
    around.feel.draw(selected?.row ?? null, modes.predict.on);
    around.inspector.draw(selected, marks.selected);
    around.present.draw();
    modes.draw(pane.graph);
    this.drawn();
    this.showSource(); // what is above and below it has its height now
  }

  /** Shows the line of the present step in the program. */
  private showSource(): void {
    const { store, timeline, around } = this.view;
    const row = store.rows[timeline.current];
    const file = row?.file ?? null;
    const line = timeline.updating
      ? assignedAt(store.rows, file, store.sources[file ?? ""] ?? "")
      : (row?.line ?? null);
    around.source.show(file, line, timeline.backward);
  }
}
