// The buttons and the slider that move through the rows and then through the sweep.
import { button, h, icon, on, setText } from "./dom";
import type { Timeline } from "./timeline";
import { t } from "./words";

const SPEEDS = [1, 2, 5, 10, 30]; // steps per second
export const PHONE = 480; // pixels of its window, at most

export class StepBar {
  readonly el: HTMLElement;
  private slider = h("input", {
    type: "range",
    class: "mt-slider",
    min: 0,
    step: 1,
    "aria-label": "Step",
  });
  private track = h("div.mt-track", {});
  private count = h("span.mt-count", {});
  private playButton: HTMLButtonElement;
  private speed = h(
    "select.mt-select",
    { "aria-label": "Playing speed", title: "Playing speed" },
    ...SPEEDS.map((n) => h("option", { value: n }, `${n}/s`)),
  );
  private jump = h("input", {
    type: "number",
    class: "mt-jump",
    min: 0,
    placeholder: "row",
    "aria-label": "Go to row",
    title: "Go to row",
  });
  private goBack = h(
    "button.mt-button.mt-go",
    {
      hidden: true,
      title: "Step through the backward sweep (space stops)",
    },
    t("▶ go backward"),
  );
  private gone = false; // the backward sweep was begun
  private timer = 0;

  constructor(
    private timeline: Timeline,
    private move: (position: number) => void,
    gotoRow: (row: number) => void,
  ) {
    this.playButton = button("play", "Play (space)", () => this.toggle());
    this.speed.value = "2";
    on(this.slider, "input", () => this.user(Number(this.slider.value)));
    on(this.jump, "keydown", (event) => {
      if (event.key === "Enter" && this.jump.value !== "") gotoRow(Number(this.jump.value));
    });
    on(this.speed, "change", () => this.playing && this.play());
    on(this.goBack, "click", () => {
      if (timeline.position < timeline.forward) this.user(timeline.forward);
      this.user(timeline.position + 1);
      this.play();
      this.draw();
    });
    this.el = h(
      "div.mt-stepbar",
      { role: "toolbar", "aria-label": "Stepping" },
      button("first", "First (Home)", () => this.user(0)),
      button("previous", "Previous (left arrow)", () => this.user(timeline.position - 1)),
      this.playButton,
      button("next", "Next (right arrow)", () => this.user(timeline.position + 1)),
      button("last", "Last (End)", () => this.user(Infinity)),
      this.goBack,
      h("div.mt-sliderbox", {}, this.track, this.slider),
      this.count,
      this.speed,
      this.jump,
    );
  }

  private user(position: number): void {
    this.stop();
    this.move(position);
    // on a phone the graph moves to the top once, which leaves room for the words below it
    const pane = this.el.parentElement?.querySelector(".mt-pane");
    if (pane && innerWidth < PHONE && pane.getBoundingClientRect().top > 0) pane.scrollIntoView();
  }

  get playing(): boolean {
    return this.timer !== 0;
  }

  toggle(): void {
    if (this.playing) this.stop();
    else this.play();
    this.draw();
  }

  private play(): void {
    this.stop();
    if (this.timeline.position >= this.timeline.length && !this.timeline.unfinished) this.move(0);
    this.timer = window.setInterval(
      () => {
        const { position, length, unfinished } = this.timeline;
        if (position >= length && !unfinished) this.stop();
        else this.move(position + 1);
        if (!this.playing) this.draw();
      },
      1000 / Number(this.speed.value),
    );
  }

  stop(): void {
    if (this.timer) window.clearInterval(this.timer);
    this.timer = 0;
  }

  draw(): void {
    const { timeline } = this;
    const { position, forward, length } = timeline;
    this.gone ||= timeline.backward;
    this.goBack.hidden = this.gone || !(length > forward || timeline.unfinished);
    if (this.slider.max !== String(length)) this.slider.max = String(length);
    if (this.slider.value !== String(position)) this.slider.value = String(position);
    const steps = timeline.swept - forward;
    const text = timeline.updating
      ? t("update")
      : timeline.backward
        ? t("backward {0} / {1}", position - forward, `${steps}${timeline.unfinished ? "+" : ""}`)
        : t("forward {0} / {1}", position, forward);
    setText(this.count, text);
    this.count.classList.toggle("mt-back", timeline.backward);
    this.slider.setAttribute("aria-valuetext", text);
    this.track.style.setProperty("--mt-forward", length ? `${(100 * forward) / length}%` : "100%");
    this.jump.max = String(Math.max(0, forward - 1));
    const wanted = this.playing ? "pause" : "play";
    if (this.playButton.dataset.shows !== wanted) {
      this.playButton.dataset.shows = wanted;
      this.playButton.replaceChildren(icon(wanted));
      this.playButton.setAttribute(
        "aria-label",
        t(wanted === "play" ? "Play (space)" : "Pause (space)"),
      );
    }
  }
}
