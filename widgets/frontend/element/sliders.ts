// A slider for each number of a program.
import type { Parameter } from "../evaluator/program";
import { printArray } from "../evaluator/numpy_text";
import { focusBeside, h, on, setText } from "../src/dom";

interface Slider {
  input: HTMLInputElement;
  output: HTMLOutputElement;
}

export class ParameterSliders {
  readonly el = h("div.sliders", { part: "sliders" });
  private sliders = new Map<string, Slider>();

  constructor(private moved: (name: string, value: number) => void) {}

  /** Shows these numbers; the sliders stay while their names do. */
  show(parameters: Parameter[]): void {
    const numbers = parameters.filter(({ tensor }) => !tensor.value.shape.length);
    const names = numbers.map(({ name }) => name).join(" ");
    if (names !== [...this.sliders.keys()].join(" ")) this.create(numbers);
    for (const { name, tensor } of numbers) {
      const { input, output } = this.sliders.get(name) as Slider;
      const [value] = tensor.value.data;
      if (Math.abs(value) > Number(input.max)) setReach(input, value);
      if (focusBeside(input) !== input) input.value = String(value);
      setText(output, printArray(tensor.value));
    }
  }

  private create(parameters: Parameter[]): void {
    this.sliders.clear();
    const labels = parameters.map(({ name, tensor }) => {
      const input = h("input", { type: "range", step: "any", "aria-label": name });
      setReach(input, tensor.value.data[0]);
      on(input, "input", () => this.moved(name, Number(Number(input.value).toFixed(2))));
      const output = h("output", {});
      this.sliders.set(name, { input, output });
      return h("label", {}, h("b", {}, name), input, output);
    });
    this.el.replaceChildren(...labels);
  }
}

function setReach(input: HTMLInputElement, value: number): void {
  const reach = Math.max(1, 2 * Math.abs(value));
  input.min = String(-reach);
  input.max = String(reach);
}
