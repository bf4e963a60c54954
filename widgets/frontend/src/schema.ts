// The snapshot of a recording, as documented in minitape/snapshots.py (version 1), and its packed form on the wire.

export type Num = number | string; // "nan", "inf" and "-inf" travel as strings: JSON has no such numbers
export type Nested = Num | boolean | Nested[];

export interface Value {
  text?: string;
  data?: Nested;
  stats?: { min: Num; max: Num; mean: Num; std: Num; zeros: number; nans: number };
  thumb?: Num[][];
}

export type Kind = "source" | "variable" | "constant" | "operation";

export interface Row {
  row: number;
  op: string;
  label: string;
  formula: string;
  rule: string[];
  kind: Kind;
  name: string | null;
  version: number;
  inputs: number[];
  output: number;
  call: number;
  dtype: string;
  shape: number[];
  value: Value | null;
  released: boolean;
  line: number | null;
  file: string | null;
  cell: number | null;
  status: "recorded" | "ghost";
  watched: null | "automatic" | "explicit";
  cut: string | null;
  tapes: number[];
  by: number | null;
  scope: string[];
}

export interface Tape {
  id: number;
  name: string;
  persistent: boolean;
  state: "recording" | "closed" | "used" | "released";
  spans: [number, number][];
  bytes: number;
}

export interface TapeEvent {
  kind: string;
  name?: string;
  from?: number;
  to?: number;
  row?: number;
  line?: number;
}

export interface SweepEdge {
  input: number;
  port: number; // the how many-th input of the operation it is
  local: Value | null;
  product: Value;
  sum: Value;
}

export interface SweepStep {
  row: number;
  adjoint: Value;
  others?: { row: number; adjoint: Value }[]; // of the other outputs of the same call
  edges: SweepEdge[];
}

export interface Sweep {
  target: number[];
  sources: number[];
  steps: SweepStep[];
  gradients: (Value | null)[];
  rest: number; // rows for which no steps were made
}

export interface Snapshot {
  version: 1;
  record: string;
  first: number;
  total?: number; // rows of the recording; more than are shown where it is very long
  rows: Row[];
  changed?: (Partial<Row> & { row: number })[]; // parts of earlier rows that are different now
  events: TapeEvent[];
  tapes: Tape[];
  sources_text: Record<string, string>;
  sweep?: Sweep | null; // not there in a delta: the same as before
}

// A packed column: one constant, a plain list, or a dictionary of distinct values with an index per row.
export type Column = { c: unknown } | { v: unknown[] } | { d: unknown[]; i: number[] };
export interface Packed extends Omit<Snapshot, "rows"> {
  count: number;
  columns: Record<string, Column>;
}

const DEFAULTS: Omit<Row, "row"> = {
  op: "",
  label: "",
  formula: "",
  rule: [],
  kind: "operation",
  name: null,
  version: 0,
  inputs: [],
  output: 0,
  call: 0,
  dtype: "",
  shape: [],
  value: null,
  released: false,
  line: null,
  file: null,
  cell: null,
  status: "recorded",
  watched: null,
  cut: null,
  tapes: [],
  by: null,
  scope: [],
};

/** A row with every field present, whatever the sender left out. */
export function completeRow(part: Partial<Row> & { row: number }): Row {
  return { ...DEFAULTS, call: part.row, ...part };
}

/** Rows out of columns. */
export function unpack(packed: Packed): Snapshot {
  const names = Object.keys(packed.columns);
  const readers = names.map((name) => reader(packed.columns[name]));
  const rows: Row[] = [];
  for (let i = 0; i < packed.count; i++) {
    const number = packed.first + i;
    const row: Record<string, unknown> = { ...DEFAULTS, call: number, row: number };
    for (let k = 0; k < names.length; k++) row[names[k]] = readers[k](i);
    rows.push(row as unknown as Row);
  }
  const { columns: _columns, count: _count, ...rest } = packed;
  return { ...rest, rows };
}

function reader(column: Column): (i: number) => unknown {
  if ("c" in column) return () => column.c;
  if ("v" in column) return (i) => column.v[i];
  return (i) => column.d[column.i[i]];
}

/** The snapshot held in a zlib-compressed JSON buffer. */
export async function decode(buffer: ArrayBuffer | DataView | Uint8Array): Promise<Snapshot> {
  const stream = new Blob([buffer as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  const packed = JSON.parse(await new Response(stream).text()) as Packed | Snapshot;
  if ("columns" in packed) return unpack(packed);
  return { ...packed, rows: packed.rows.map(completeRow) };
}
