// Numbers and arrays in the letters in which NumPy prints them.
import { sizeOf, toNested, type Dtype, type NumericArray } from "./arrays";
import type { Value } from "../src/snapshot";

const MAX_DIGITS = 9; // so many identify each float32
const PRECISION = 8; // NumPy prints no more decimals of an array
const LINE_WIDTH = 75;

/** Returns the value as a snapshot holds it. */
export function toValue(x: NumericArray): Value {
  return { text: printArray(x), data: toNested(x) };
}

/** Prints an array, or a single number, as NumPy does. */
export function printArray({ shape, data, dtype }: NumericArray): string {
  if (!shape.length) return dtype === "bool" ? printBool(data[0]) : printNumber(data[0], dtype);
  if (!data.length) return "[]";
  const texts =
    dtype === "bool" ? data.map(printBool) : alignNumbers(data, (x) => shortestDigits(x, dtype));
  const width = Math.max(...texts.map((text) => text.length));
  return printNested(
    shape,
    texts.map((text) => text.padStart(width)),
  );
}

/** Prints a single number: with a point, or with an exponent if it is very small or large. */
export function printNumber(x: number, dtype: Dtype): string {
  if (!Number.isFinite(x)) return printSpecial(x);
  if (Object.is(x, -0)) return "-0.0";
  const digits = shortestDigits(x, dtype);
  const magnitude = Math.abs(x);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16))
    return padExponent(Number(digits).toExponential());
  return /[.e]/.test(digits) ? digits : `${digits}.0`;
}

function printBool(x: number): string {
  return x ? "True" : "False";
}

function printSpecial(x: number): string {
  if (Number.isNaN(x)) return "nan";
  return x > 0 ? "inf" : "-inf";
}

/** Returns the fewest digits that are this number and no other of its dtype. */
function shortestDigits(x: number, dtype: Dtype): string {
  if (dtype !== "float32") return String(x);
  for (let digits = 1; digits < MAX_DIGITS; digits++) {
    const text = x.toPrecision(digits);
    if (Math.fround(Number(text)) === x) return String(Number(text));
  }
  return String(Number(x.toPrecision(MAX_DIGITS)));
}

/** Writes an exponent with at least two digits. */
function padExponent(text: string): string {
  return text.replace(/e([-+])(\d)$/, "e$10$2");
}

/** Prints numbers with their points below each other. */
function alignNumbers(data: number[], shortest: (x: number) => string): string[] {
  const sizes = data.filter((x) => Number.isFinite(x) && x !== 0).map(Math.abs);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const hasExponents = sizes.length > 0 && (high >= 1e8 || low < 1e-4 || high / low > 1000);
  const texts = data.map((x) => {
    if (!Number.isFinite(x)) return printSpecial(x);
    return hasExponents ? printScientific(x, shortest(x)) : printFixed(x, shortest(x));
  });
  const decimals = Math.max(...texts.map((text) => /\.(\d*)/.exec(text)?.[1].length ?? 0));
  const filler = hasExponents ? "0" : " ";
  const pad = (text: string): string =>
    text.replace(/\.(\d*)/, (_, digits: string) => `.${digits.padEnd(decimals, filler)}`);
  return texts.map((text) => (text.includes(".") ? pad(text) : text));
}

function printFixed(x: number, shortest: string): string {
  if (Object.is(x, -0)) return "-0.";
  const isLonger = /e|\.\d{9}/.test(shortest); // then the exact number is rounded
  return (isLonger ? x : Number(shortest)).toFixed(PRECISION).replace(/0+$/, "");
}

function printScientific(x: number, shortest: string): string {
  const exact = Number(shortest).toExponential();
  const digits = (/\.(\d*)e/.exec(exact)?.[1] ?? "").length;
  const text = padExponent(digits > PRECISION ? x.toExponential(PRECISION) : exact);
  return text.includes(".") ? text : text.replace("e", ".e");
}

/** Puts the elements of an array into brackets, and long rows on several lines. */
function printNested(shape: number[], texts: string[]): string {
  const rank = shape.length;
  const print = (axis: number, start: number): string => {
    const rest = shape.slice(axis + 1);
    if (!rest.length) return `[${wrapWords(texts.slice(start, start + shape[axis]), rank)}]`;
    const step = sizeOf(rest);
    const parts = Array.from({ length: shape[axis] }, (_, k) => print(axis + 1, start + k * step));
    return `[${parts.join("\n".repeat(rest.length) + " ".repeat(axis + 1))}]`;
  };
  return print(0, 0);
}

/** Joins words in lines that NumPy would not break, indented by so many letters. */
function wrapWords(words: string[], indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const longer = line ? `${line} ${word}` : word;
    if (line && indent + longer.length > LINE_WIDTH - indent) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}
