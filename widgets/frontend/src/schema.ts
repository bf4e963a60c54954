// The snapshot of a recording, as documented in minitape/picture/snapshots.py (version 1), and its packed form on the wire.

export type Num = number | string; // "nan", "inf" and "-inf" travel as strings: JSON has no such numbers
export type Nested = Num | boolean | Nested[];

export interface Value {
  text?: string;
  data?: Nested;
  stats?: { min: Num; max: Num; mean: Num; std: Num; zeros: number; nans: number };
  thumb?: Num[][];
  cell?: number; // how wide one of the thumb is for one of height 1
}

export type Kind = "source" | "variable" | "constant" | "operation";

export interface Row {
  row: number;
  op: string;
  label: string;
  formula: string;
  rule: string[];
  said: string[]; // formula and rules for readers
  kind: Kind;
  name: string | null;
  version: number;
  inputs: number[];
  call: number;
  dtype: string;
  shape: number[];
  value: Value | null;
  tangent: Value | null; // its derivative in the direction that forward mode was asked for
  released: boolean;
  literal: boolean; // a number of the program: a node for each place at which it is read
  line: number | null;
  site: number; // which of the line's operations it is
  file: string | null;
  status: "recorded" | "ghost";
  watched: null | "automatic" | "explicit" | "requires_grad" | "argument";
  cut: string | null;
  tapes: number[];
  by: number | null;
  below?: number; // of a row that a gradient wrote: the row below which it is drawn
  scope: string[];
}

export interface Tape {
  id: number;
  name: string;
  persistent: boolean;
  state: "recording" | "closed" | "used" | "released";
  spans: [number, number][];
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
  differs?: boolean; // another framework sent something else than the rule says
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
  id?: number; // which of a tape's sweeps; pages of a long one name it
  target: number[];
  sources: number[];
  steps: SweepStep[];
  gradients: (Value | null)[];
  rest: number; // rows for which no steps were made
}

/** What a gradient call gave. */
export interface Result {
  target: { name: string | null; row: number }[];
  sources: { name: string | null; rows: number[]; parts: (Value | null)[]; gradient: Value | null; at: number; reason: string | null; now?: Value | null; assigned?: number }[];
  more: number; // sources that are not listed
  known: boolean; // false where the sweep is too long, or cannot be repeated
  shown: boolean; // its sweep is the one to step through
  call?: string; // which call it was; none for tape.gradient
  element?: number[]; // of a Jacobian's target the one whose sweep is shown
  sweep?: Sweep; // of an earlier call
}

/** Something that is wrong, and where. */
export interface Alarm {
  kind: string;
  title: string;
  text: string;
  row: number; // -1 where there is none
  line: number | null;
  back: boolean; // the step of the sweep shows it
}

/** Where a gradient ends: a value left the framework and came back as another row (-1: the text does not tell), or an edge over which nothing goes back, or zeros. */
export interface Torn {
  kind: "left" | "cut" | "zero";
  from: number;
  to: number;
  line: number;
  text: string;
}

/** The rows inside of a call of a function, as a snapshot of their own. */
export interface Inside {
  row: number;
  name: string;
  snapshot: Snapshot;
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
  sources_text?: Record<string, string>; // not there in a delta without new ones
  sweep?: Sweep | null; // not there in a delta: the same as before
  results?: Result[]; // they travel with the sweep
  alarms?: Alarm[]; // the same
  torn?: Torn[]; // the same
  linked?: string; // in a comparison: views with the same name go together
  differs?: { row: number; text: string; rows?: number[] }; // in a comparison: the first row that is another one in the other tape, and those of other values
  insides?: Inside[]; // of calls of functions; not there in a delta
  texts?: Record<string, string>; // the view's words in another language
  playground?: string; // the address at which the program can be edited and run
}

// How minitape_widgets/wire.py packs it. A value is null, the text of a float (behind "~" that of a float32), or itself.
type PackedValue = Value | string | null;
type Form = Omit<Partial<Row>, "row" | "inputs" | "value">; // what rows have in common

interface PackedRows {
  forms: Form[];
  form: number[];
  a: (number | number[])[]; // the first input, or all of them where b is null
  b: (number | null)[]; // the second input, -1 where there is none
  value: PackedValue[];
  own: [number, Partial<Row>][];
}

interface PackedSteps {
  row: number[];
  adjoint: PackedValue[];
  others: [number, { row: number; adjoint: PackedValue }[]][];
  edges: number[]; // how many each step has
  differs: number[]; // the places of edges where another framework sent something else than the rule says
  input: number[];
  port: number[];
  local: PackedValue[];
  product: PackedValue[];
  sum: PackedValue[];
}

type PackedSweep = Omit<Sweep, "steps" | "gradients"> & { steps: PackedSteps; gradients: PackedValue[] };

export interface Packed extends Omit<Snapshot, "rows" | "sweep"> {
  packed: PackedRows;
  sweep?: PackedSweep | null;
}

/** More steps of a long sweep. */
export interface Page {
  id: number;
  first: number;
  rest: number;
  steps: SweepStep[];
  gradients: (Value | null)[];
}

const DEFAULTS: Omit<Row, "row"> = {
  op: "",
  label: "",
  formula: "",
  rule: [],
  said: [],
  kind: "operation",
  name: null,
  version: 0,
  inputs: [],
  call: 0,
  dtype: "",
  shape: [],
  value: null,
  tangent: null,
  released: false,
  literal: false,
  line: null,
  site: 0,
  file: null,
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

/** A snapshot out of its packed form. */
export function unpack(whole: Packed): Snapshot {
  const { packed, sweep, ...rest } = whole;
  const { forms, form, a, b, value } = packed;
  const inputs = (i: number): number[] => (b[i] === null ? (a[i] as number[]) : ((b[i] as number) < 0 ? [a[i]] : [a[i], b[i]]) as number[]);
  const full = forms.map((fields) => ({ ...DEFAULTS, ...fields }));
  const rows: Row[] = [];
  for (let i = 0; i < form.length; i++) {
    const row = rest.first + i;
    rows.push({ ...full[form[i]], row, call: row, inputs: inputs(i), value: unpackValue(value[i]) });
  }
  for (const [i, own] of packed.own) Object.assign(rows[i], own);
  if (sweep === undefined) return { ...rest, rows };
  return { ...rest, rows, sweep: sweep && { ...sweep, steps: unpackSteps(sweep.steps), gradients: sweep.gradients.map(unpackValue) } };
}

function unpackValue(packed: PackedValue): Value | null {
  if (typeof packed !== "string") return packed;
  const single = packed.startsWith("~");
  const text = single ? packed.slice(1) : packed;
  const number = Number(text);
  if (Number.isNaN(number)) return { text, data: text }; // nan, inf, -inf
  return { text, data: single ? Math.fround(number) : number };
}

function unpackSteps(packed: PackedSteps): SweepStep[] {
  let at = 0;
  const steps = packed.row.map((row, i) => {
    const edges: SweepEdge[] = [];
    for (const end = at + packed.edges[i]; at < end; at++) {
      edges.push({
        input: packed.input[at],
        port: packed.port[at],
        local: unpackValue(packed.local[at]),
        differs: packed.differs.includes(at),
        product: unpackValue(packed.product[at]) as Value,
        sum: unpackValue(packed.sum[at]) as Value,
      });
    }
    return { row, adjoint: unpackValue(packed.adjoint[i]) as Value, edges } as SweepStep;
  });
  for (const [i, others] of packed.others) steps[i].others = others.map((other) => ({ row: other.row, adjoint: unpackValue(other.adjoint) as Value }));
  return steps;
}

type Bytes = ArrayBuffer | DataView | Uint8Array;

async function inflate(buffer: Bytes): Promise<unknown> {
  const stream = new Blob([buffer as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The snapshot in a buffer. */
export async function decode(buffer: Bytes): Promise<Snapshot> {
  return unpack((await inflate(buffer)) as Packed);
}

/** The page of steps in a buffer. */
export async function decodePage(buffer: Bytes): Promise<Page> {
  const page = (await inflate(buffer)) as Omit<Page, "steps" | "gradients"> & { steps: PackedSteps; gradients: PackedValue[] };
  return { ...page, steps: unpackSteps(page.steps), gradients: page.gradients.map(unpackValue) };
}
