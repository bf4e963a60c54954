// Written by tests/repository/make_schema.py from minitape/picture/snapshot_types.py; do not edit.

export type Num = number | string; // "nan", "inf" and "-inf" travel as strings: JSON has no such numbers
export type Nested = Num | boolean | Nested[];
export type Kind = "source" | "variable" | "constant" | "operation";

/** A number or array. Arrays of more than 64 elements are reduced to statistics and a thumbnail. */
export interface Value {
  /** Optional. The value as printed by NumPy. In a long recording, an array's range, or "" if it is finite. */
  text?: string;
  /** Optional. The value as nested lists, if it has at most 64 elements or is a small image. */
  data?: Nested;
  /** Optional. min and max of a larger array, and mean, std, norm, zeros and nans if known. */
  stats?: { min: Num; max: Num; mean?: Num; std?: Num; zeros?: number; nans?: number };
  /** Optional. A larger array, averaged down to at most 32 x 32 elements. */
  thumb?: Num[][];
  /** Optional. The width of one thumbnail element, relative to a height of 1. */
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
  /** The formula of the value, such as "x * y", or "". */
  formula: string;
  /** The derivative rule of each input, such as "g * y", or [] without a formula. */
  rule: string[];
  /** The formula and rules in textbook notation, or [] without a formula. */
  said: string[];
  /** The kind of the row. */
  kind: Kind;
  /** A variable's name, or the Python name of a tensor if it is known. */
  name: string | null;
  /** The index of the variable's state in this recording, counted from 0. */
  version: number;
  /** The rows that the row was computed from. */
  inputs: number[];
  /** Optional. The arguments of an array operation that a browser can recompute, such as {"axis": [0]}. */
  arguments?: Record<string, unknown>;
  /** Optional. The index of the row among the outputs of its call, counted from 0. */
  output?: number;
  /** The first row of the call that computed the row. */
  call: number;
  /** The dtype, such as "float32". */
  dtype: string;
  /** The shape. */
  shape: number[];
  /** The value, or None if the recording did not keep it. */
  value: Value | null;
  /** The forward-mode derivative, or None if it is unknown or 0. */
  tangent: Value | null;
  /** Whether the recording has released the value. */
  released: boolean;
  /** Whether the row is a number literal, which may be used several times. */
  literal: boolean;
  /** The line that created the row. */
  line: number | null;
  /** The bytecode instruction that ran the operation, or 0 if it is unknown. */
  site: number;
  /** The file or notebook cell. */
  file: string | null;
  /** "recorded", or "ghost" if it ran while a tape was open but was not recorded. */
  status: "recorded" | "ghost";
  /** "automatic", "explicit", "requires_grad" (PyTorch) or "argument" (JAX): why the row is differentiated. */
  watched: "automatic" | "explicit" | "requires_grad" | "argument" | null;
  /** Why no gradient passes: stop_gradient, nondifferentiable, no_gradient_registered, integer or paused. */
  cut: string | null;
  /** The tapes that recorded the row. */
  tapes: number[];
  /** The tape whose gradient() wrote this row on an outer tape. */
  by: number | null;
  /** Optional. The row below which a row written by a gradient is drawn. */
  below?: number;
  /** The name scopes or modules, the outermost first. */
  scope: string[];
}

/** The contribution of one edge of a step to the adjoint of an input. */
export interface SweepEdge {
  /** The input's row. */
  input: number;
  /** The index of the input, counted from 0. */
  port: number;
  /** The local derivative of an elementwise operation. */
  local: Value | null;
  /** Optional. Whether another framework sent a share that differs from the rule. */
  differs?: boolean;
  /** The share, in the input's shape. */
  product: Value;
  /** The input's adjoint after adding the share. */
  sum: Value;
}

/** The adjoint of another output of the same call. */
export interface OtherAdjoint {
  /** The output's row. */
  row: number;
  /** Its adjoint. */
  adjoint: Value;
}

/** A step of the sweep, which visits one row. */
export interface SweepStep {
  /** The row. */
  row: number;
  /** The row's complete adjoint. */
  adjoint: Value;
  /** The shares that the row sends to its inputs. */
  edges: SweepEdge[];
  /** Optional. The adjoints of the other outputs of the same call. */
  others?: OtherAdjoint[];
}

/** A sweep: the backward pass of the last gradient call, or one from a given target to given sources. */
export interface Sweep {
  /** Optional. The number of the tape's sweep, which the pages of a long sweep refer to. */
  id?: number;
  /** The rows of the targets. */
  target: number[];
  /** The rows of the sources. */
  sources: number[];
  /** The steps in order, from the target back. */
  steps: SweepStep[];
  /** The gradient of each source. */
  gradients: (Value | null)[];
  /** The number of rows whose steps a long sweep does not contain. */
  rest: number;
}

/** A tape that shares the recording. */
export interface Tape {
  /** The tape's number, counted from 0. */
  id: number;
  /** The Python name. */
  name: string;
  /** Whether the tape can compute several gradients. */
  persistent: boolean;
  /** "recording", "closed", "used" or "released". */
  state: "recording" | "closed" | "used" | "released";
  /** The ranges of rows during which the tape recorded: [first, end]. */
  spans: [number, number][];
  /** The memory that the tape still holds, in bytes. */
  bytes: number;
}

/** An event that is not a row: an assignment ("assign"), or a value that left the framework ("numpy"). */
export interface TapeEvent {
  /** The kind of event. */
  kind: string;
  /** Optional. The variable's name. */
  name?: string;
  /** Optional. The variable's row before an assignment. */
  from?: number;
  /** Optional. The variable's row after the assignment. */
  to?: number;
  /** Optional. The row whose value left the framework. */
  row?: number;
  /** Optional. The line. */
  line?: number | null;
}

/** A target of a gradient call. */
export interface Target {
  /** The Python name. */
  name: string | null;
  /** The target's row. */
  row: number;
}

/** The line on which a gradient ends or becomes zero. */
export interface BlamedLine {
  /** The file. */
  file: string | null;
  /** The line. */
  line: number | null;
}

/** A point at which a gradient ends: a value that left the framework and came back, or an edge without a gradient. */
export interface PathBreak {
  /** "left", "cut" (no gradient passes) or "zero" (the share is zero). */
  kind: "left" | "cut" | "zero";
  /** The row whose value left, or the edge's input. */
  from: number;
  /** The row of the returned value (-1 if unknown), or the edge's row. */
  to: number;
  /** The line. */
  line: number;
  /** The source text, such as "numpy()". */
  text: string;
}

/** A source of a gradient call, and its gradient. */
export interface Source {
  /** The Python name. */
  name: string | null;
  /** The states of the source that an adjoint reached. */
  rows: number[];
  /** The adjoint of each state. */
  parts: (Value | null)[];
  /** The sum of these adjoints, which the call returned, or None if it is unknown. */
  gradient: Value | null;
  /** Optional. Whether the call returned None. */
  none?: boolean;
  /** The last row that represents the source, or -1 if no row does. */
  at: number;
  /** Why the gradient is None or zero. */
  reason: string | null;
  /** Optional. The line to blame. */
  why?: BlamedLine | null;
  /** Optional. The row to blame. */
  blame?: number | null;
  /** Optional. The variable's current value, after the optimizer step. */
  now?: Value | null;
  /** Optional. The number of assignments after the last state on the tape. */
  assigned?: number;
}

/** A problem, shown above the picture. */
export interface Alarm {
  /** gradient, value, none, zero, state or broadcast. */
  kind: string;
  /** A one-line title. */
  title: string;
  /** The explanation. */
  text: string;
  /** The row, or -1. */
  row: number;
  /** The line. */
  line: number | null;
  /** Whether the problem is visible in the row's step of the sweep. */
  back: boolean;
}

/** The result of a gradient call. */
export interface Result {
  /** The targets. */
  target: Target[];
  /** The sources with their gradients. */
  sources: Source[];
  /** The number of further sources, which are not listed. */
  more: number;
  /** Whether the sweep was repeated, which is not done for long sweeps. */
  known: boolean;
  /** Whether the snapshot contains this call's sweep. */
  shown: boolean;
  /** Optional. The kind of call, if it is not `gradient`: "jacobian", "backward", ... */
  call?: string;
  /** Optional. The element of a Jacobian's target whose sweep is shown. */
  element?: number[];
  /** Optional. The sweep of an earlier call. */
  sweep?: Sweep;
}

/** The rows inside a tf.function call. */
export interface Inside {
  /** The call's row. */
  row: number;
  /** The function's name. */
  name: string;
  /** The inside rows with this call's values, and the sweep through them. */
  snapshot: Snapshot;
}

/** The first difference between two compared tapes. */
export interface Difference {
  /** The first row that differs from the other tape. */
  row: number;
  /** The difference in words. */
  text: string;
  /** Whether only the other tape has the row that differs. */
  missing: boolean;
  /** Optional. The rows whose values differ, and the operations in `alone`. */
  rows?: number[];
  /** Optional. The operations that the other tape does not have. */
  alone?: number[];
  /** Optional. The number of digits that tells every two numbers apart that differ. */
  digits?: number;
  /** Optional. By row, the largest magnitude in both values, and in both adjoints or 0. */
  most?: Record<number, number[]>;
}

/** A snapshot, or an update of a live picture's snapshot. */
export interface Snapshot {
  /** The version of this format. */
  version: 1;
  /** The recording's identity. If it changes, a picture starts over. */
  record: string;
  /** The number of the first row in `rows`, which is greater than 0 in an update. */
  first: number;
  /** Optional. The number of rows in the recording, which may exceed those in `rows`. */
  total?: number;
  /** The rows in order. */
  rows: Row[];
  /** Optional. The changed fields of rows sent earlier. */
  changed?: (Partial<Row> & { row: number })[];
  /** Assignments, and values that left the framework. */
  events: TapeEvent[];
  /** The tapes that share the recording. */
  tapes: Tape[];
  /** Optional. The texts of the files and cells that the rows come from. */
  sources_text?: Record<string, string>;
  /** Optional. The sweep to step through, if it has changed. */
  sweep?: Sweep | null;
  /** Optional. The last gradient calls, which are sent with the sweep. */
  results?: Result[];
  /** Optional. Problems, the most serious first, which are sent with the sweep. */
  alarms?: Alarm[];
  /** Optional. The points at which a gradient ends, sent with the sweep. */
  torn?: PathBreak[];
  /** Optional. The rows that `explain` blames, in a figure. */
  broken?: number[];
  /** Optional. The first difference between the tapes, in a comparison. */
  differs?: Difference;
  /** Optional. A name shared by views that step together, in a comparison. */
  linked?: string;
  /** Optional. The rows inside function calls, absent from updates. */
  insides?: Inside[];
  /** Optional. The view's texts in another language. */
  texts?: Record<string, string>;
  /** Optional. The address at which the program can be edited and run. */
  playground?: string;
}
