// The colours of gradients on a logarithmic scale, dark for small and bright for large.
import { type Norm, powerOf } from "./tree";

const RAMP = ["#3b0f70", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** The colour of a norm, in a range of powers of ten that ends with the last one's largest norm. */
export function colourOf(norm: number, [low, high]: [number, number]): string {
  const share = (Math.log10(norm) - low) / (high + 1 - low);
  const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const first = Math.min(RAMP.length - 2, Math.floor(at));
  const [from, to] = [channels(RAMP[first]), channels(RAMP[first + 1])];
  const mixed = from.map((c, k) => Math.round(c + (to[k] - c) * (at - first)));
  return `rgb(${mixed.join(", ")})`;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn(colour: string): string {
  const linear = colour.match(/\d+/g)!.map((c) => {
    const part = Number(c) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return light > 0.18 ? "#000" : "#fff";
}

/** The class of a box, for gradients without a power of ten. */
export function classOf(norm: Norm): string {
  if (norm === "none") return "mt-map-none";
  if (norm === "nonfinite") return "mt-map-nonfinite";
  if (norm === null) return "mt-map-unknown";
  return norm === 0 ? "mt-map-zero" : "";
}

/** Paints an element in the colour of a gradient. */
export function paint(el: HTMLElement, norm: Norm, range: [number, number] | null): void {
  if (powerOf(norm) === null || !range) {
    const name = classOf(norm);
    if (name) el.classList.add(name);
    return;
  }
  const colour = colourOf(norm as number, range);
  el.style.background = colour;
  el.style.color = inkOn(colour);
}

/** A power of ten as people write it. */
export function powerText(power: number): string {
  const digits = [...String(Math.abs(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
  return `10${power < 0 ? "⁻" : ""}${digits.join("")}`;
}
