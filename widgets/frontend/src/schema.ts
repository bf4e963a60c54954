// A snapshot in its packed form, as it travels, and how it is unpacked. The types of a snapshot
// itself are generated: snapshot.ts.

import type { Row, Snapshot, Sweep, SweepEdge, SweepStep, Value } from "./snapshot";

export type {
  Alarm,
  Difference,
  Inside,
  Kind,
  Nested,
  Num,
  PathBreak,
  Result,
  Row,
  Snapshot,
  Sweep,
  SweepEdge,
  SweepStep,
  Tape,
  TapeEvent,
  Value,
} from "./snapshot";

// How minitape_widgets/wire_format.py packs it. A value is null, the text of a float (behind "~"
// that of a float32), or itself.
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
  // the places of edges where another framework sent something else than the rule says
  differs: number[];
  input: number[];
  port: number[];
  local: PackedValue[];
  product: PackedValue[];
  sum: PackedValue[];
}

type PackedSweep = Omit<Sweep, "steps" | "gradients"> & {
  steps: PackedSteps;
  gradients: PackedValue[];
};

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
  const inputs = (i: number): number[] =>
    b[i] === null
      ? (a[i] as number[])
      : (((b[i] as number) < 0 ? [a[i]] : [a[i], b[i]]) as number[]);
  const full = forms.map((fields) => ({ ...DEFAULTS, ...fields }));
  const rows: Row[] = [];
  for (let i = 0; i < form.length; i++) {
    const row = rest.first + i;
    rows.push({
      ...full[form[i]],
      row,
      call: row,
      inputs: inputs(i),
      value: unpackValue(value[i]),
    });
  }
  for (const [i, own] of packed.own) Object.assign(rows[i], own);
  if (sweep === undefined) return { ...rest, rows };
  return {
    ...rest,
    rows,
    sweep: sweep && {
      ...sweep,
      steps: unpackSteps(sweep.steps),
      gradients: sweep.gradients.map(unpackValue),
    },
  };
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
  for (const [i, others] of packed.others)
    steps[i].others = others.map((other) => ({
      row: other.row,
      adjoint: unpackValue(other.adjoint) as Value,
    }));
  return steps;
}

type Bytes = ArrayBuffer | DataView | Uint8Array;

async function inflate(buffer: Bytes): Promise<unknown> {
  const stream = new Blob([buffer as BlobPart])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The snapshot in a buffer. */
export async function decode(buffer: Bytes): Promise<Snapshot> {
  return unpack((await inflate(buffer)) as Packed);
}

/** The page of steps in a buffer. */
export async function decodePage(buffer: Bytes): Promise<Page> {
  const page = (await inflate(buffer)) as Omit<Page, "steps" | "gradients"> & {
    steps: PackedSteps;
    gradients: PackedValue[];
  };
  return { ...page, steps: unpackSteps(page.steps), gradients: page.gradients.map(unpackValue) };
}
