// Values as text: what NumPy prints, shortened where there is no room.
import type { Nested, Num, Row, Value } from "./schema";

const MINUS = /^-/;

/** One line for a table cell or a node; `room` is the number of characters that fit. */
export function brief(value: Value | null, row: Pick<Row, "dtype" | "shape"> | null, room = 16): string {
  if (!value) return "";
  if (value.text !== undefined && !value.text.includes("\n") && value.text.length <= room) return value.text;
  if (value.text !== undefined && row?.shape.length === 0) return shorter(value.text, room);
  if (row && row.shape.length > 0) return written(value, room) ?? elide(shapeText(row), room);
  return elide(value.text ?? "…", room);
}

const ELEMENTS = 8; // of an array that is written out with fewer digits

/** A value written out: as NumPy prints it, or a small array with three or two digits of each number; null where there is no room. */
export function written(value: Value, room: number): string | null {
  if (value.text !== undefined && !value.text.includes("\n") && value.text.length <= room) return value.text;
  if (!Array.isArray(value.data) || elements(value.data) > ELEMENTS) return null;
  for (const digits of [4, 3, 2]) {
    const text = list(value.data, digits);
    if (text.length <= room) return text;
  }
  return null;
}

function elements(data: Nested): number {
  return Array.isArray(data) ? data.reduce((sum: number, one) => sum + elements(one), 0) : 1;
}

function list(data: Nested, digits: number): string {
  if (Array.isArray(data)) return `[${data.map((one) => list(one, digits)).join(" ")}]`;
  return typeof data === "number" ? String(Number(data.toPrecision(digits))) : String(data);
}

/** The lengths of an array's sides. */
export function sides(row: Pick<Row, "shape">): string {
  return row.shape.length === 1 ? `[${row.shape[0]}]` : row.shape.join("×");
}

/** A number rounded to what fits; all of its digits are in the inspector, and shown where the pointer is. */
function shorter(text: string, room: number): string {
  const number = Number(text);
  if (Number.isFinite(number))
    for (let digits = 16; digits > 0; digits--) {
      const short = String(Number(number.toPrecision(digits)));
      if (short.length <= room) return short;
    }
  return elide(text, room);
}

/** A name that fits: of a path the last parts, else both ends, which tell names apart better than the beginning. */
export function shortName(name: string, room: number): string {
  if (name.length <= room) return name;
  const tails = [...name.matchAll(/[/.[]/g)].map((at) => name.slice(at.index).replace(/^\./, ""));
  const fits = tails.find((tail) => tail.length > 0 && tail.length < room);
  if (fits) return `…${fits}`;
  const last = (tails.at(-1) || name).replace(/^\//, "");
  if (last.length <= room) return last;
  const end = Math.floor((room - 1) / 2);
  return `${last.slice(0, room - 1 - end)}…${last.slice(-end)}`;
}

export function elide(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
}

export function shapeText(row: Pick<Row, "dtype" | "shape">): string {
  return `${shortType(row.dtype)}[${row.shape.join(",")}]`;
}

/** What stands in the place of a value that a tape let go of: its shape, and as there is room that it was released. */
export function gone(row: Row, room: number): string {
  const text = row.shape.length ? shapeText(row) : "";
  return text.length + 9 <= room ? `${text} released`.trim() : elide(text, room);
}

export function shortType(dtype: string): string {
  return dtype.replace("bfloat", "bf").replace("float", "f").replace("uint", "u").replace("int", "i").replace("complex", "c");
}

/** The whole value for the inspector: text as printed, or the statistics of a large array. */
export function full(value: Value | null): string {
  if (!value) return "";
  if (value.text !== undefined && !value.stats) return value.text;
  const s = value.stats;
  if (!s) return "";
  const parts = [`min ${fix(s.min)}`, `max ${fix(s.max)}`, `mean ${fix(s.mean)}`, `std ${fix(s.std)}`];
  if (s.zeros) parts.push(`${s.zeros} zeros`);
  if (s.nans) parts.push(`${s.nans} NaN`);
  return parts.join("  ");
}

function fix(x: Num): string {
  if (typeof x === "string") return x;
  return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(5)));
}

export function toNumber(x: unknown): number {
  if (typeof x === "number") return x;
  if (typeof x === "boolean") return x ? 1 : 0;
  if (typeof x === "string") return x === "inf" ? Infinity : MINUS.test(x) && x === "-inf" ? -Infinity : Number(x);
  return NaN;
}

/** Numbers of a value as rows of a picture: a vector is one row, more than two dimensions are stacked. */
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

/** The name that a row goes by: its own, or its operation's label, behind the Python name of what it computed. */
export function title(row: Row): string {
  if (row.kind === "operation") return `${row.name ? `${row.name} = ` : ""}${row.label || row.op}`;
  const name = row.name || (row.kind === "constant" ? "const" : row.label || row.kind);
  if (row.kind === "variable") return row.version > 0 ? `${name.replace(/:0$/, "")} v${row.version}` : name.replace(/:0$/, "");
  return name;
}

const LONGEST = 14; // characters of a number that still fits into a formula

/** A formula or rule of a row's operation, which calls its inputs x and y and its result z, with the rows in their places. */
export function withRows(text: string, row: Row): string {
  const rows: Record<string, number> = { x: row.inputs[0], y: row.inputs[1], z: row.row };
  return text.replace(/\b[xyz]\b/g, (name) => `row ${rows[name]}`);
}

/** The formula of a row with the numbers of its inputs; with the rows where not all of them are single numbers. */
export function withNumbers(row: Row, rows: Row[]): string {
  const texts = row.inputs.map((input) => (rows[input]?.shape.length === 0 ? rows[input].value?.text : undefined));
  if (!texts.every((text) => text !== undefined && text.length <= LONGEST)) return withRows(row.formula, row);
  return row.formula.replace(/\b[xy]\b/g, (name, at: number) => {
    const text = texts[name === "x" ? 0 : 1] as string;
    const alone = /(^|[(,] ?)$/.test(row.formula.slice(0, at)) && /^($|[),])/.test(row.formula.slice(at + 1));
    return text.startsWith("-") && !alone ? `(${text})` : text;
  });
}

/** One sentence about a row for tooltips and screen readers. */
export function describe(row: Row): string {
  const parts = [`row ${row.row}: ${title(row)}`];
  if (row.kind === "operation") {
    parts.push(row.inputs.length ? `of row${row.inputs.length > 1 ? "s" : ""} ${row.inputs.join(", ")}` : "without inputs");
  } else parts.push(row.kind);
  parts.push(`${row.dtype} ${row.shape.length ? `shape [${row.shape.join(", ")}]` : "scalar"}`);
  if (row.value?.text !== undefined) parts.push(`value ${elide(row.value.text.replace(/\s+/g, " "), 60)}`);
  if (row.watched) parts.push(row.watched === "explicit" ? "watched by watch()" : "watched automatically");
  if (row.status === "ghost") parts.push("ran, but was not recorded");
  if (row.cut) parts.push(`no gradient passes: ${row.cut.replaceAll("_", " ")}`);
  return parts.join(", ");
}
