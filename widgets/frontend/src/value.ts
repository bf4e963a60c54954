// Values as text: what NumPy prints, shortened where there is no room.
import type { Nested, Num, Row, Value } from "./schema";
import { magnitude, notFinite } from "./scale";
import { t, wide } from "./words";

const MINUS = /^-/;

// that a number has in the picture: all of them are in the inspector, and where the pointer rests
const DIGITS = 4;
let shown = DIGITS; // the same in the view that is drawn just now
const [WHOLE, CLOSE] = [100, 6]; // what is nearly whole below the one has at most the other
const EXACT = 6; // characters of a number that is short as it is
const WHOLE_LOOKING = /[[ ]-?\d\d?[ \]]/; // 0.9975 as 1
const ELEMENTS = 8; // of an array that is written out

/** How many digits a number has in the view that is drawn next: those that its numbers need. */
export function useDigits(digits = DIGITS): void {
  shown = digits;
}

/** One line for a table cell or a node; `room` is the number of characters that fit. */
export function brief(
  value: Value | null,
  row: Pick<Row, "dtype" | "shape"> | null,
  room = 16,
): string {
  if (!value) return "";
  const text = written(value, room);
  if (text !== null) return text;
  return row && row.shape.length > 0 ? shapeText(row, room) : cutTo(value.text ?? "…", room);
}

/**
 * A value written out: a number with four digits, a small array with four, three or two of each,
 * unless a number would look like a whole one; null where there is no room. Of floating-point
 * numbers the whole ones end with a `point`, as NumPy prints them.
 */
export function written(
  value: Value,
  room: number,
  point = /[.e]/.test(value.text ?? ""),
): string | null {
  const text = value.text ?? "";
  if (value.thumb) return null;
  if (!Array.isArray(value.data)) {
    const found = fitting(text, room);
    return found.length <= room ? found : null;
  }
  if (elements(value.data) > ELEMENTS) return null;
  for (let digits = shown; digits > 1; digits--) {
    const found = list(value.data, digits, point);
    if (found.length > room) continue;
    return digits < 3 && WHOLE_LOOKING.test(found) ? null : found;
  }
  return null;
}

/** A number with as many digits as fit, with an exponent where more of them fit so; else one. */
function fitting(text: string, room: number): string {
  let found = text;
  for (let digits = shown; digits > 0; digits--) {
    found = rounded(text, digits);
    if (found.length > room && isFinite(Number(text))) found = withExponent(Number(text), digits);
    if (found.length <= room) break;
  }
  return found;
}

/** A text that has no room; a number is not cut, because 0.0… would look like zero. */
const cutTo = (text: string, room: number): string =>
  isFinite(Number(text)) ? fitting(text, room) : elide(text, room);

const withExponent = (number: number, digits: number): string =>
  number.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");

function elements(data: Nested): number {
  return Array.isArray(data) ? data.reduce((sum: number, one) => sum + elements(one), 0) : 1;
}

function list(data: Nested, digits: number, point: boolean): string {
  if (Array.isArray(data)) return `[${data.map((one) => list(one, digits, point)).join(" ")}]`;
  if (typeof data !== "number") return String(data);
  const text = withDigits(point && Number.isInteger(data) ? `${data}.0` : String(data), digits);
  return text.replace(/\.0$/, ".");
}

/**
 * A number with fewer digits; what is short, whole or no real number is unchanged. What is only
 * nearly whole gets as many digits as show so, else a sign: 0.99999, ≈1.
 */
export function rounded(text: string, digits = shown): string {
  const number = Number(text);
  if (number === 0) return unsigned(text);
  const short = withDigits(text, digits);
  if (short === text || /[.e]/.test(short) || Math.abs(number) >= WHOLE || Number.isInteger(number))
    return short;
  for (let more = digits + 1; digits === shown && more <= CLOSE; more++) {
    const found = withDigits(text, more);
    if (/[.e]/.test(found)) return found;
  }
  return `≈${short}`;
}

/** A number; a zero without its sign, which only a division by it shows. */
const unsigned = (text: string): string => (Object.is(Number(text), -0) ? text.slice(1) : text);

/** A number as the picture writes a value: what is whole ends with `.0`. */
export const decimal = (x: number, digits?: number): string =>
  rounded(Number.isInteger(x) ? x.toFixed(1) : String(x), digits);

function withDigits(text: string, digits: number): string {
  const number = Number(text);
  if (!/[.e]/.test(text) || text.trim() === "" || !Number.isFinite(number)) return text;
  if (text.length <= EXACT && digits >= DIGITS) return text;
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return withExponent(number, digits);
  const short = String(
    Number(number.toPrecision(Math.max(digits, size >= 1 ? Math.floor(Math.log10(size)) + 1 : 0))),
  );
  // "2.0" is exact, "2" is not
  return /[.e]/.test(short) || !Number.isInteger(number) ? short : `${short}.0`;
}

/**
 * A name that fits: of a path the last parts, the first of them with both its ends, which tell
 * names apart better than the beginning.
 */
export function shortName(name: string, room: number): string {
  if (wide(name) <= room) return name;
  if (wide(name) > name.length) return elide(name, room);
  // the quotes of inner keys need room
  name = name.replace(/\['([^'.]*)'\](?=\[)/g, ".$1");
  const tails = [...name.matchAll(/[/.[]/g)].map((at) => name.slice(at.index).replace(/^\./, ""));
  const fits = tails
    .flatMap((tail) => [`…${tail}`, tail.replace(/^\//, "")])
    .find((form) => form.length > +(form[0] === "…") && form.length <= room);
  const [, layer, last] = /([^/.]+)([/.[][^/.[]+)$/.exec(name) ?? [];
  if (fits && (!layer || /\w[/.[]|\]\[/.test(fits) || room - last.length < 4)) return fits;
  const ends = (text: string, most: number): string =>
    `${text.slice(0, most / 2)}…${text.slice(-Math.floor((most - 1) / 2))}`;
  return fits
    ? ends(layer, room - last.length) + last
    : ends((tails.at(-1) || name).replace(/^\//, ""), room);
}

/**
 * How large the numbers of an array are: `±0.15`, or what they all are; as they are where there is
 * room.
 */
export function sizeOf(value: Value, room = 16, digits = 3): string {
  const text = written(value, room);
  if (text !== null || !(Array.isArray(value.data) || value.stats))
    return text ?? cutTo(value.text ?? "…", room);
  if (notFinite(value)) return notFinite(value);
  const same = each(value);
  return same && wide(same) <= room
    ? same
    : `±${fitting(String(Number(magnitude(value).toPrecision(digits))), room - 1)}`;
}

/** How many: `1,003`. */
export function count(n: number): string {
  return n.toLocaleString("en");
}

export function elide(text: string, room: number): string {
  if (wide(text) <= room) return text;
  let end = Math.max(1, room - 1);
  while (end > 1 && wide(text.slice(0, end)) >= room) end--;
  return `${text.slice(0, end)}…`;
}

/** The lengths of an array's sides; of many the first and the last. */
export function shapeText(row: Pick<Row, "shape">, room = Infinity): string {
  const { shape } = row;
  const text = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  if (text.length <= room || shape.length < 3) return elide(text, room);
  return elide(`(${shape[0]}, …, ${shape.at(-1)!})`, room);
}

/**
 * What is shown in place of a value that a tape released: its shape, and where there is room that
 * it was released.
 */
export function gone(row: Row, room: number): string {
  const text = row.shape.length ? shapeText(row, room) : "";
  return text.length + 9 <= room ? `${text} ${t("released")}`.trim() : elide(text, room);
}

/** The whole value for the inspector: text as printed, or the statistics of a large array. */
export function full(value: Value | null): string {
  if (!value) return "";
  if (value.text !== undefined && !value.stats)
    return unsigned(value.text || list(value.data!, 8, false)); // a long recording has no texts
  const s = value.stats;
  if (!s) return "";
  if (each(value)) return each(value);
  const parts: string[] = [];
  for (const name of ["min", "max", "mean", "std"] as const) {
    const number = s[name];
    if (number !== undefined) parts.push(`${t(name)} ${fix(number)}`);
  }
  if (s.zeros) parts.push(t("{0} zeros", s.zeros));
  if (s.nans) parts.push(`${s.nans} NaN`);
  return parts.join("  ");
}

/** The number that an array has everywhere, in words; "" where it has several. */
export function each({ stats, data }: Value): string {
  const all = stats
    ? [stats.min, stats.nans ? NaN : stats.max]
    : Array.isArray(data)
      ? (data.flat(9) as unknown[])
      : [];
  return all.length > 1 && typeof all[0] === "number" && all.every((one) => one === all[0])
    ? t("each {0}", rounded(String(all[0])))
    : "";
}

const FIRST = 6; // numbers of an array that are said

/** An array in a sentence: `(32, 16), -1.2 to 3.4, 20 % zeros`; a number as it is. */
export function inSentence(value: Value, row: Pick<Row, "shape">): string {
  const data = Array.isArray(value.data) ? value.data : null;
  const numbers = data ? (data.flat(Infinity as 1) as unknown[]).map(toNumber) : [];
  const finite = numbers.filter(Number.isFinite);
  const { stats } = value;
  if ((!data && !stats) || (!stats && finite.length < numbers.length && finite.length === 0))
    return full(value) || shapeText(row);
  const count = stats ? row.shape.reduce((a, b) => a * b, 1) : numbers.length;
  const [low, high] = stats
    ? [toNumber(stats.min), toNumber(stats.max)]
    : [Math.min(...finite), Math.max(...finite)];
  const zeros = stats ? stats.zeros : numbers.filter((x) => x === 0).length;
  const nans = stats ? stats.nans : numbers.filter(Number.isNaN).length;
  const parts = [shapeText(row)];
  if (low === high && !nans && (stats || finite.length === numbers.length))
    parts.push(t("each {0}", rounded(String(low))));
  else if (numbers.length && numbers.length <= FIRST) parts.push(String(written(value, Infinity)));
  else {
    parts.push(t("{0} to {1}", rounded(String(low)), rounded(String(high))));
    if (zeros) parts.push(t("{0} % zeros", percent(zeros, count)));
  }
  if (nans) parts.push(`${nans} NaN`);
  return parts.join(t(", "));
}

/** A share in percent; neither 0 nor 100 if it is only nearly so. */
export function percent(part: number, count: number): number {
  const rounded = Math.round((100 * part) / count);
  if (part > 0 && part < count) return Math.min(99, Math.max(1, rounded));
  return rounded;
}

function fix(x: Num): string {
  if (typeof x === "string") return x;
  return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(5)));
}

export function toNumber(x: unknown): number {
  if (typeof x === "number") return x;
  if (typeof x === "boolean") return x ? 1 : 0;
  if (typeof x === "string")
    return x === "inf" ? Infinity : MINUS.test(x) && x === "-inf" ? -Infinity : Number(x);
  return NaN;
}

/**
 * Numbers of a value as rows of a picture: a vector is one row, more than two dimensions are
 * stacked.
 */
export function matrix(value: Value | null): number[][] | null {
  if (!value) return null;
  if (value.thumb) return value.thumb.map((line) => line.map(toNumber));
  const data = value.data;
  if (!Array.isArray(data) || data.length === 0) return null;
  const lines: number[][] = [];
  const walk = (part: Nested[]): void => {
    if (part.every((item) => !Array.isArray(item))) lines.push(part.map(toNumber));
    else for (const item of part) if (Array.isArray(item)) walk(item);
  };
  walk(data);
  return lines.length && lines.every((line) => line.length === lines[0].length) ? lines : null;
}

/**
 * The name that a row goes by: its own, or its operation's label, behind the Python name of what it
 * computed: `y · ×`.
 */
export function title(row: Row): string {
  if (row.kind === "operation" && row.name) return `${row.name} · ${operationOf(row)}`;
  return nameOf(row);
}

/** The name of a row alone; of an operation without one what it does. */
export function nameOf(row: Row): string {
  if (row.kind === "operation") return row.name || operationOf(row);
  const name = row.name || (row.kind === "constant" ? t("const") : row.label || row.kind);
  if (row.kind === "variable")
    return row.version > 0 ? `${name.replace(/:0$/, "")} v${row.version}` : name.replace(/:0$/, "");
  return name;
}

/** The same; of an operation without a name its number. */
export function markOf(row: Row): string {
  if (row.kind !== "operation" || row.name) return nameOf(row);
  return `#${row.row}`;
}

/** What an operation is called in the picture. */
export function operationOf(row: Row): string {
  return shortNumbers(row.label || row.op)
    .replace(/^-$/, "−")
    .replace("^2", "²");
}

/** A label without the digits that make it long: `0.1 ×`. */
function shortNumbers(label: string): string {
  return label.replace(/\d+\.\d{5,}(e[-+]?\d+)?/g, (text) => rounded(text));
}

const LONGEST = 14; // characters of a number that still fits into a formula

/**
 * A formula or rule of a row's operation, which calls its inputs x and y and its result z, with the
 * rows in their places; the rules of complex numbers read the conjugates.
 */
export function withRows(text: string, row: Row, conjugate = false): string {
  return withNames(text, row, (one) => t("row {0}", one), conjugate);
}

/** A rule with the local derivative before what arrived, as its numbers are: `row 1 × g`. */
export function localFirst(rule: string): string {
  return rule.replace(/^(−?)g × (.+)$/, "$1$2 × g");
}

/** The same, with a name for each row. */
export function withNames(
  text: string,
  row: Row,
  nameOf: (row: number) => string,
  conjugate = false,
): string {
  const rows: Record<string, number> = { x: row.inputs[0], y: row.inputs[1], z: row.row };
  return text.replace(/\b[xyz]\b[²³^]?/g, (name) => {
    const said = nameOf(rows[name[0]]);
    return (
      (conjugate
        ? `conj(${said})`
        : name[1] && /[^\w.]/.test(said) && !/^\([^()]*\)$/.test(said)
          ? `(${said})`
          : said) + (name[1] ?? "")
    );
  });
}

/**
 * The formula of a row with the numbers of its inputs; with the rows where not all of them are
 * single numbers.
 */
export function withNumbers(row: Row, rows: Row[]): string {
  const texts = row.inputs.map((input) =>
    rows[input]?.shape.length === 0 ? rows[input].value?.text : undefined,
  );
  if (!texts.every((text) => text !== undefined && text.length <= LONGEST))
    return withRows(row.said[0], row);
  const formula = row.said[0];
  return formula.replace(/\b[xy]\b/g, (name, at: number) => {
    const given = texts[name === "x" ? 0 : 1] as string;
    const text = /inf/.test(row.value?.text ?? "") ? given : unsigned(given); // 1 / -0.0 is -inf
    const alone =
      /(^|[(,] ?)$/.test(formula.slice(0, at)) && /^($|[),])/.test(formula.slice(at + 1));
    return text.startsWith("-") && !alone ? `(${text})` : text;
  });
}

const CUTS: Record<string, string> = {
  stop_gradient: "stop_gradient cuts the path",
  integer: "integers have no gradient",
  paused: "the tape was paused",
  nondifferentiable: "the result does not change smoothly with the input",
  no_gradient_registered: "this operation has no gradient",
  no_grad: "the operation ran under no_grad",
  detach: "the value was detached",
};

/** Why no gradient passes. */
export function cutWords(cut: string): string {
  return t(CUTS[cut] ?? cut.replaceAll("_", " "));
}

/** Why a gradient goes to a leaf, in its framework's words. */
export const WATCHED = {
  explicit: "watched by watch()",
  automatic: "watched automatically",
  requires_grad: "requires grad",
  argument: "argument of the function",
};

/** What aria-current says of an element with these classes: the step, or what the reader chose. */
export function currentOf(names: string): string | null {
  return names.includes("mt-current") ? "step" : names.includes("mt-selected") ? "true" : null;
}

/** One sentence about a row for tooltips and screen readers. */
export function describe(row: Row): string {
  const parts = [t("row {0}: {1}", row.row, title(row))];
  if (row.kind === "operation") {
    parts.push(
      t(
        row.inputs.length > 1 ? "of rows {0}" : row.inputs.length ? "of row {0}" : "without inputs",
        row.inputs.join(", "),
      ),
    );
  } else parts.push(t(row.kind));
  parts.push(
    row.shape.length ? t("{0} shape {1}", row.dtype, shapeText(row)) : t("{0} scalar", row.dtype),
  );
  if (row.value?.text !== undefined)
    parts.push(t("value {0}", elide(row.value.text.replace(/\s+/g, " "), 60)));
  if (row.watched) parts.push(t(WATCHED[row.watched]));
  if (row.status === "ghost")
    parts.push(
      t(
        row.tapes.length
          ? "replaced by the function's custom gradient"
          : "ran, but was not recorded",
      ),
    );
  if (row.cut) parts.push(t("no gradient passes: {0}", cutWords(row.cut)));
  return parts.join(t(", "));
}
