// Sliders bound to variables: moving one runs the function again in the kernel, and the numbers
// change in place.
import { h, on, setText } from "./dom";
import { t } from "./words";

const PATIENCE = 20000; // milliseconds for the kernel to run the function,
const HEARD = 2500; // and to say that it does

export interface Knob {
  name: string;
  value: number;
  low: number;
  high: number;
  step: number;
}

export class Sliders {
  readonly el = h("div.mt-knobs", {
    role: "group",
    "aria-label": "Variables",
    hidden: true,
  });
  private gone = false; // no kernel answered
  private waiting = false; // a run is under way: the newest values are sent when it is done
  private wanted: number[] | null = null;
  private values: number[] = [];
  private outputs: HTMLElement[] = [];
  private inputs: HTMLInputElement[] = [];
  private shown: number[]; // those that the picture shows
  private timer: ReturnType<typeof setTimeout> | undefined;
  private error = h("span.mt-note", { role: "alert" });

  constructor(
    knobs: Knob[],
    private send: (values: number[]) => boolean,
  ) {
    this.values = knobs.map((knob) => knob.value);
    this.shown = [...this.values];
    knobs.forEach((knob, k) => {
      const { low: min, high: max, step } = knob;
      const input = h("input", {
        type: "range",
        class: "mt-slider mt-knob",
        min,
        max,
        step,
        "aria-label": knob.name,
      });
      const output = h("output.mt-num", {}, String(knob.value));
      input.value = String(knob.value);
      on(input, "input", () => this.moved(k, Number(input.value)));
      this.outputs.push(output);
      this.inputs.push(input);
      this.el.append(h("label", {}, h("b", {}, knob.name), input, output));
    });
    this.el.append(this.error);
    this.el.hidden = knobs.length === 0;
  }

  private moved(k: number, value: number): void {
    this.values[k] = value;
    setText(this.outputs[k], String(value));
    this.wanted = [...this.values];
    this.flow();
  }

  private flow(): void {
    if (this.waiting || !this.wanted) return;
    const sent = this.send(this.wanted);
    this.wanted = null;
    if (!sent || this.gone) return this.alone();
    this.waiting = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.alone(), HEARD);
  }

  /** The kernel runs the function now. */
  heard(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.alone(), PATIENCE);
  }

  /** No kernel runs the function: the sliders go back to the numbers that are shown. */
  private alone(): void {
    [this.waiting, this.gone] = [false, true];
    this.shown.forEach((value, k) => {
      this.values[k] = value;
      this.inputs[k].value = String(value);
      setText(this.outputs[k], String(value));
    });
    setText(
      this.error,
      t("No kernel is answering, so the numbers cannot change. Run the notebook first."),
    );
  }

  /** The kernel has answered, with what went wrong if something did. */
  answered(error: string): void {
    clearTimeout(this.timer);
    [this.waiting, this.gone] = [false, false];
    if (!error) this.shown = [...this.values];
    setText(this.error, error);
    this.flow();
  }
}
