// A recording that grows, or begins anew, while it is looked at.
import { renewed } from "./graph";
import { Reruns } from "./reruns";
import type { Change } from "./store";
import type { View } from "./view";
import { t } from "./words";

export class Growth {
  private reruns: Reruns;
  /** the position follows the recording as it grows */
  following = true;

  /** `drawState` draws what depends on the step, besides the graph. */
  constructor(
    private view: View,
    private drawState: () => void,
  ) {
    this.reruns = new Reruns(view.store, view.timeline);
  }

  /** Takes up what has changed in the store. */
  take(change: Change): void {
    const { view } = this;
    const { timeline } = view;
    if (this.reruns.hasBegun()) {
      this.following = true;
      timeline.position = timeline.forward;
      this.sayAnew();
    }
    const follows = this.following && !timeline.backward;
    if (change === "steps") {
      view.stepping.came();
      return view.schedule("all");
    }
    if (change === "numbers") {
      timeline.index();
      view.pane.scene.refresh();
      return this.drawState();
    }
    view.around.feel.forget();
    if (change !== "rows") view.stepping.forget();
    timeline.index();
    this.placeRows(change);
    const step = change === "sweep" ? this.reruns.findStep() : null;
    if (step !== null) {
      view.go(step);
      this.sayAnew();
    } else if (follows) this.openAtEnd();
    view.schedule("all");
  }

  /** Draws rows that came, or others in their place. */
  private placeRows(change: Change): void {
    const { pane, store, around } = this.view;
    if (change !== "reset") pane.layOut(true);
    else {
      around.table.reset();
      pane.folding.reset();
      if (!pane.graph || !renewed(pane.graph, store)) pane.layOut();
      else pane.scene.setGraph(pane.graph);
    }
    pane.takeRoom();
  }

  /** The reader is where a recording that grows has come to. */
  private openAtEnd(): void {
    const { timeline, pane, around } = this.view;
    timeline.position = timeline.forward;
    if (pane.camera.touched) return;
    pane.follow();
    around.table.reveal(timeline.current);
  }

  /** Says that the program ran again, until the reader moves. */
  private sayAnew(): void {
    this.reruns.told = true;
    this.view.say(t("The tape started over because its with block ran again."));
  }

  /** The reader has moved. */
  leave(): void {
    const { timeline } = this.view;
    if (this.reruns.told) this.view.say("");
    this.reruns.leave();
    this.following = timeline.position === timeline.forward;
  }
}
