// Written by tests/repository/make_schema.py from minitape/picture/snapshot_types.py; do not edit.

export type Num = number | string; // "nan", "inf" and "-inf" travel as strings: JSON has no such numbers
export type Nested = Num | boolean | Nested[];
export type Kind = "source" | "variable" | "constant" | "operation";

/** A value: a number, or an array of up to 64 elements in full, a larger one as statistics and a thumbnail. */
export interface Value {
  /** Optional. The value as NumPy prints it. */
  text?: string;
  /** Optional. The value as nested lists; absent above 64 elements, except for small images. */
  data?: Nested;
  /** Optional. min, max, mean, std, zeros and nans of a larger array. */
  stats?: { min: Num; max: Num; mean: Num; std: Num; zeros: number; nans: number };
  /** Optional. The larger array averaged down to at most 32 x 32 elements. */
  thumb?: Num[][];
  /** Optional. The width of one element of the thumbnail whose height is 1. */
  cell?: number;
}

/** A row: a leaf, or one result of an operation. */
export interface Row {
  /** The row's number in the recording. */
  row: number;
  /** The primitive's name, or the framework's; "leaf" for a leaf. */
  op: string;
  /** A short label, such as "×". */
  label: string;
  /** The formula of the value, such as "x * y"; empty without one. */
  formula: string;
  /** The derivative rule of each input, such as "g * y"; empty without a formula. */
  rule: string[];
  /** The formula and the rules as a book prints them; empty without a formula. */
  said: string[];
  /** What sort of row it is. */
  kind: Kind;
  /** A variable's name, or the Python name of a tensor if it is known. */
  name: string | null;
  /** Which of the variable's states in this recording it is, counted from 0. */
  version: number;
  /** The rows that it was computed from. */
  inputs: number[];
  /** Optional. The arguments of an operation on arrays that a browser can compute again, such as {"axis": [0]}. */
  arguments?: Record<string, unknown>;
  /** Optional. Which output of its call it is, counted from 0. */
  output?: number;
  /** The first row of the call that computed it. */
  call: number;
  /** The dtype, such as "float32". */
  dtype: string;
  /** The shape. */
  shape: number[];
  /** The value; None if the recording did not keep it. */
  value: Value | null;
  /** The derivative in the direction of forward mode; None without one, or if it is 0. */
  tangent: Value | null;
  /** Whether the recording has released the value. */
  released: boolean;
  /** Whether it is a number in the program's text, which may be used in several places. */
  literal: boolean;
  /** The line that created it. */
  line: number | null;
  /** Which operation of that line it is. */
  site: number;
  /** The file, or the notebook's cell. */
  file: string | null;
  /** "recorded" or "ghost": it ran while a tape was open, but no tape recorded it. */
  status: "recorded" | "ghost";
  /** "automatic", "explicit", "requires_grad" (PyTorch) or "argument" (JAX): why a gradient is followed to it. */
  watched: "automatic" | "explicit" | "requires_grad" | "argument" | null;
  /** Why no gradient passes: stop_gradient, nondifferentiable, no_gradient_registered, integer or paused. */
  cut: string | null;
  /** The tapes that recorded it. */
  tapes: number[];
  /** The tape whose gradient() wrote this row on an outer tape. */
  by: number | null;
  /** Optional. Of a row that a gradient wrote: the row below which it is drawn. */
  below?: number;
  /** The tf.name_scope or module, from the outside in. */
  scope: string[];
}

/** What one edge of a step contributes to the adjoint of an input. */
export interface SweepEdge {
  /** The input's row. */
  input: number;
  /** Which input of the operation it is, counted from 0. */
  port: number;
  /** The local derivative of an elementwise operation. */
  local: Value | null;
  /** Optional. Whether another framework sent something else than the rule says. */
  differs?: boolean;
  /** The share, in the input's shape. */
  product: Value;
  /** The input's adjoint after the share was added. */
  sum: Value;
}

/** The adjoint of another output of the same call. */
export interface OtherAdjoint {
  /** The output's row. */
  row: number;
  /** Its adjoint. */
  adjoint: Value;
}

/** A step of the sweep: it visits one row. */
export interface SweepStep {
  /** The row. */
  row: number;
  /** Its complete adjoint. */
  adjoint: Value;
  /** The shares that it sends to its inputs. */
  edges: SweepEdge[];
  /** Optional. The adjoints of the other outputs of its call. */
  others?: OtherAdjoint[];
}

/** A sweep: the backward pass of the last gradient call, or the one from a target to sources. */
export interface Sweep {
  /** Optional. Which of a tape's sweeps it is; the pages of a long sweep name it. */
  id?: number;
  /** The rows of the targets. */
  target: number[];
  /** The rows of the sources. */
  sources: number[];
  /** The steps in their order, from the target back. */
  steps: SweepStep[];
  /** The gradient of each source. */
  gradients: (Value | null)[];
  /** The rows without steps: the sweep is long. */
  rest: number;
}

/** A tape that shares the recording. */
export interface Tape {
  /** The tape's number, counted from 0. */
  id: number;
  /** Its Python name. */
  name: string;
  /** Whether it may be asked for several gradients. */
  persistent: boolean;
  /** "recording", "closed", "used" or "released". */
  state: "recording" | "closed" | "used" | "released";
  /** The ranges of rows during which it recorded: [first, end]. */
  spans: [number, number][];
  /** The memory that it still holds. */
  bytes: number;
}

/** Something that happened and is not a row: an assignment ("assign"), or a value that left the framework ("numpy"). */
export interface TapeEvent {
  /** What happened. */
  kind: string;
  /** Optional. The variable's name. */
  name?: string;
  /** Optional. The variable's row before an assignment. */
  from?: number;
  /** Optional. Its row after the assignment. */
  to?: number;
  /** Optional. The row whose value left. */
  row?: number;
  /** Optional. The line. */
  line?: number | null;
}

/** A target of a gradient call. */
export interface Target {
  /** Its Python name. */
  name: string | null;
  /** Its row. */
  row: number;
}

/** The line on which a gradient ends or becomes zero. */
export interface BlamedLine {
  /** The file. */
  file: string | null;
  /** The line. */
  line: number | null;
}

/** Where a gradient ends: a value left the framework and came back, or an edge that no gradient passes. */
export interface PathBreak {
  /** "left", "cut" (no gradient passes) or "zero" (the share is zero). */
  kind: "left" | "cut" | "zero";
  /** The row that left, or the edge's input. */
  from: number;
  /** The row as which it came back, -1 if the program's text does not tell; or the edge's row. */
  to: number;
  /** The line. */
  line: number;
  /** What is written there, such as "numpy()". */
  text: string;
}

/** A source of a gradient call, and its gradient. */
export interface Source {
  /** Its Python name. */
  name: string | null;
  /** Its states that an adjoint reached. */
  rows: number[];
  /** The adjoint of each state. */
  parts: (Value | null)[];
  /** Their sum, which the call returned. */
  gradient: Value | null;
  /** The last row that stands for the source, or -1 without such a row. */
  at: number;
  /** Why the gradient is None or zero. */
  reason: string | null;
  /** Optional. The line to blame. */
  why?: BlamedLine | null;
  /** Optional. The row to blame. */
  blame?: number | null;
  /** Optional. What the variable holds now, after the optimizer's step. */
  now?: Value | null;
  /** Optional. How often it was assigned after its last state on the tape. */
  assigned?: number;
}

/** Something that is wrong, shown above the picture. */
export interface Alarm {
  /** gradient, value, none, zero, state or broadcast. */
  kind: string;
  /** One line. */
  title: string;
  /** The explanation. */
  text: string;
  /** The row, or -1 without a row. */
  row: number;
  /** The line. */
  line: number | null;
  /** Whether the row's step of the sweep shows it. */
  back: boolean;
}

/** What a gradient call returned. */
export interface Result {
  /** The targets. */
  target: Target[];
  /** The sources with their gradients. */
  sources: Source[];
  /** How many further sources are not listed. */
  more: number;
  /** Whether the sweep could be repeated; a long one is not. */
  known: boolean;
  /** Whether this call's sweep is the snapshot's. */
  shown: boolean;
  /** Optional. Which call it was, unless `gradient`: "jacobian", "backward", ... */
  call?: string;
  /** Optional. The element of a Jacobian's target whose sweep is shown. */
  element?: number[];
  /** Optional. The sweep of an earlier call. */
  sweep?: Sweep;
}

/** The rows inside of a call of a tf.function. */
export interface Inside {
  /** The call's row. */
  row: number;
  /** The function's name. */
  name: string;
  /** The rows inside with this call's values, and the sweep through them. */
  snapshot: Snapshot;
}

/** Where two compared tapes begin to differ. */
export interface Difference {
  /** The first row that is another one in the other tape. */
  row: number;
  /** The difference in words. */
  text: string;
  /** Optional. The rows that have other values. */
  rows?: number[];
}

/** A snapshot, or a live picture's change of one. */
export interface Snapshot {
  /** The version of this format. */
  version: 1;
  /** The recording's identity; a picture forgets everything if it changes. */
  record: string;
  /** The number of the first row in `rows`; more than 0 in a change. */
  first: number;
  /** Optional. How many rows the recording has, which may be more than `rows`. */
  total?: number;
  /** The rows in order. */
  rows: Row[];
  /** Optional. Parts of earlier rows that have changed since they were sent. */
  changed?: (Partial<Row> & { row: number })[];
  /** Assignments, and values that left. */
  events: TapeEvent[];
  /** The tapes that share the recording. */
  tapes: Tape[];
  /** Optional. The text of the files and cells that the rows come from. */
  sources_text?: Record<string, string>;
  /** Optional. The sweep to step through; absent from a change that keeps it. */
  sweep?: Sweep | null;
  /** Optional. The last gradient calls; they travel with the sweep. */
  results?: Result[];
  /** Optional. What is wrong, the gravest first; they travel with the sweep. */
  alarms?: Alarm[];
  /** Optional. Where a gradient ends; they travel with the sweep. */
  torn?: PathBreak[];
  /** Optional. Of a figure: the rows that `explain` blames. */
  broken?: number[];
  /** Optional. In a comparison: where the tapes begin to differ. */
  differs?: Difference;
  /** Optional. In a comparison: views with the same name step together. */
  linked?: string;
  /** Optional. The rows inside of calls of functions; absent from a change. */
  insides?: Inside[];
  /** Optional. The view's words in another language. */
  texts?: Record<string, string>;
  /** Optional. The address at which the program can be edited and run. */
  playground?: string;
}
