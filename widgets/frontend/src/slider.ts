// Sliders bound to variables: moving one runs the function again in the kernel, and the numbers change in place.
import { h, setText } from "./dom";

export interface Knob {
  name: string;
  value: number;
  low: number;
  high: number;
  step: number;
}

export class Sliders {
  readonly el = h("div", { class: "mt-knobs", role: "group", "aria-label": "Variables", hidden: true });
  private waiting = false; // a run is under way: the newest values are sent when it is done
  private wanted: number[] | null = null;
  private values: number[] = [];
  private outputs: HTMLElement[] = [];
  private error = h("span", { class: "mt-note", role: "alert" });

  constructor(
    knobs: Knob[],
    private send: (values: number[]) => void,
  ) {
    this.values = knobs.map((knob) => knob.value);
    knobs.forEach((knob, k) => {
      const { low: min, high: max, step } = knob;
      const input = h("input", { type: "range", class: "mt-slider mt-knob", min, max, step, "aria-label": knob.name });
      const output = h("output", { class: "mt-num" }, String(knob.value));
      input.value = String(knob.value);
      input.addEventListener("input", () => this.moved(k, Number(input.value)));
      this.outputs.push(output);
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
    this.waiting = true;
    this.send(this.wanted);
    this.wanted = null;
  }

  /** The kernel has answered, with what went wrong if something did. */
  answered(error: string): void {
    this.waiting = false;
    setText(this.error, error);
    this.flow();
  }
}
