// Numbers and arrays in the letters in which NumPy prints them.
import { sizeOf, toNested, type Dtype, type NumericArray } from "./arrays";
import type { Value } from "../src/snapshot";

const MAX_DIGITS = 9; // so many identify each float32
const PRECISION = 8; // NumPy prints no more decimals of an array
const LINE_WIDTH = 75;
/** From here on NumPy (2.4) prints a single number with an exponent. */
const MAX_POSITIONAL: Record<Dtype, number> = { float32: 1e6, float64: 1e16, bool: Infinity };

/** Returns the value as a snapshot holds it. */
export function toValue(x: NumericArray): Value {
  return { text: printArray(x), data: toNested(x) };
}

/** Prints the shape of an array as Python prints a tuple, such as `(2,)`. */
export function printShape(shape: number[]): string {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

/** Prints an array, or a single number, as NumPy does. */
export function printArray({ shape, data, dtype }: NumericArray): string {
  if (!shape.length) return dtype === "bool" ? printBool(data[0]) : printNumber(data[0], dtype);
  if (!data.length) return "[]";
  const texts =
    dtype === "bool"
      ? data.map((x) => (x ? " True" : "False"))
      : alignNumbers(data, (x) => shortestDigits(x, dtype));
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
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= MAX_POSITIONAL[dtype]))
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
    const text = roundExponential(x, digits - 1);
    if (Math.fround(Number(text)) === x) return String(Number(text));
  }
  return String(Number(roundExponential(x, MAX_DIGITS - 1)));
}

const EXACT = 60; // so many decimals show whether a number lies in the middle between two others

/** Rounds to so many decimals behind the first digit, and from the middle to the even digit. */
function roundExponential(x: number, decimals: number): string {
  const exact = x.toExponential(EXACT);
  const [digits, exponent] = exact.split("e");
  const kept = digits.slice(0, decimals ? digits.indexOf(".") + 1 + decimals : digits.indexOf("."));
  const rest = digits.slice(kept.length).replace(".", "");
  const isMiddle = /^50*$/.test(rest) && /[02468]$/.test(kept);
  return isMiddle ? `${kept}e${exponent}` : x.toExponential(decimals);
}

/** Rounds to so many decimals, and from the middle to the even digit. */
function roundFixed(x: number, decimals: number): string {
  const exact = x.toFixed(EXACT);
  const end = exact.indexOf(".") + 1 + decimals;
  const isMiddle = /^50*$/.test(exact.slice(end)) && /[02468]$/.test(exact.slice(0, end));
  return isMiddle ? exact.slice(0, end) : x.toFixed(decimals);
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
    return hasExponents
      ? printScientific(x, countDecimals(shortest(x)))
      : printFixed(x, shortest(x));
  });
  const decimals = Math.max(...texts.map((text) => /\.(\d*)/.exec(text)?.[1].length ?? 0));
  return texts.map((text, k) => {
    if (!text.includes(".")) return text;
    if (hasExponents) return printScientific(data[k], decimals);
    return text.replace(/\.(\d*)/, (_, digits: string) => `.${digits.padEnd(decimals)}`);
  });
}

function printFixed(x: number, shortest: string): string {
  if (Object.is(x, -0)) return "-0.";
  const isLonger = /e|\.\d{9}/.test(shortest); // then the exact number is rounded
  return roundFixed(isLonger ? x : Number(shortest), PRECISION).replace(/0+$/, "");
}

/** Returns how many decimals stand behind the first digit. */
function countDecimals(digits: string): number {
  const decimals = /\.(\d*)e/.exec(Number(digits).toExponential())?.[1].length ?? 0;
  return Math.min(decimals, PRECISION);
}

function printScientific(x: number, decimals: number): string {
  const text = padExponent(roundExponential(x, decimals));
  const signed = Object.is(x, -0) ? `-${text}` : text;
  return signed.includes(".") ? signed : signed.replace("e", ".e");
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
