// What a tape writes down: rows, in the form in which a snapshot has them, and the sweep over them.
// It follows minitape/engine/record and minitape/engine/backward.
import { completeRow } from "../src/schema";
import type { Row, Sweep, SweepEdge, SweepStep } from "../src/snapshot";
import { t } from "../src/words";
import { addArrays, filled, MAX_SIZE, scalar, type NumericArray } from "./arrays";
import { printShape, toValue } from "./numpy_text";
import {
  applyRule,
  computeShare,
  computeValue,
  fitToShape,
  formatIndex,
  isArrayOperation,
} from "./operations";
import type { Algebra, CallArguments } from "./operations";
import { parseExpression, type Expression } from "./expression_syntax";
import { isOperation, OPERATIONS } from "./table";
import { ProgramError, type Span } from "./tokens";

export const MAX_ROWS = 3000;
const LONGEST_EXPRESSION = 10_000; // in characters

/** A value of the program that operations read. */
export interface Tensor {
  kind: "tensor" | "variable";
  value: NumericArray;
  recording: Recording | null; // in which it has a row
  row: number;
  name: string | null; // of a variable that was given one
  trainable: boolean;
  version: number; // of a variable: how often it was assigned
  place: Span;
}

export function createTensor(value: NumericArray, place: Span): Tensor {
  const [recording, row] = [null, -1];
  return { kind: "tensor", value, recording, row, name: null, trainable: false, version: 0, place };
}

/** A Python number as the operand of an operator: equal numbers share a row. */
export interface NumberOperand {
  kind: "number";
  value: number;
  place: Span;
}
export type Operand = Tensor | NumberOperand;

/** A gradient call of the program. */
export interface GradientCall {
  tape: Tape;
  targets: Tensor[];
  sources: Tensor[];
  line: number;
}

export class Tape {
  recording: Recording | null = null;
  number = 0; // among the tapes of the recording
  spans: [number, number][] = [];
  isRecording = false;
  isUsed = false;
  watched = new Set<number>();
  calls: GradientCall[] = [];

  constructor(
    public name: string,
    readonly isPersistent: boolean,
  ) {}
}

/** How a nested gradient's rows are drawn: by which tape, and below which row. */
interface Writer {
  tape: number;
  below: number;
}

export class Recording implements Algebra<number> {
  readonly isRecorded = true;
  readonly rows: Row[] = [];
  readonly values: NumericArray[] = [];
  readonly places: Span[] = []; // of each row in the program
  readonly versions: number[] = []; // of the variables whose states rows are
  readonly tapes: Tape[] = [];
  readonly variables = new Map<Tensor, number[]>(); // the rows of their states
  private marks: number[] = []; // the tapes that follow a row, as bits
  private numbers = new Map<number, number>(); // the rows of Python numbers
  private writer: Writer | null = null;
  private place: Span = { from: 0, to: 0, line: 1 };
  private unnamed: { adjoints: number[]; target: number }[] = []; // of nested gradients
  private pending: Tensor[] = []; // constants of rules, which receive a row when they are read

  constructor(private file: string) {}

  // --- tapes ---

  open(tape: Tape): void {
    tape.recording = this;
    tape.number = this.tapes.length;
    tape.isRecording = true;
    tape.spans.push([this.rows.length, this.rows.length]);
    this.tapes.push(tape);
  }

  close(tape: Tape): void {
    if (!tape.isRecording) return;
    tape.isRecording = false;
    tape.spans[tape.spans.length - 1][1] = this.rows.length;
  }

  /** Is a tape open, so that operations are written down? */
  get isOpen(): boolean {
    return this.tapes.some((tape) => tape.isRecording);
  }

  private get openTapes(): number {
    return this.tapes.reduce((bits, tape) => bits | (tape.isRecording ? 1 << tape.number : 0), 0);
  }

  isOnTape(row: number, tape: Tape): boolean {
    return (this.marks[row] & (1 << tape.number)) !== 0;
  }

  /** Lets a tape follow a value from now on. */
  watch(tape: Tape, tensor: Tensor): void {
    this.markWatched(this.findRow(tensor), tape, "explicit");
  }

  /** Gives a variable that is its own target a row, from which its gradient is 1. */
  includeTarget(tape: Tape, tensor: Tensor): void {
    if (tensor.kind !== "variable" || this.rowsOf(tensor).length) return;
    this.markWatched(this.findRow(tensor), tape, "automatic");
  }

  private markWatched(row: number, tape: Tape, watched: "automatic" | "explicit"): void {
    if (tape.watched.has(row)) return;
    tape.watched.add(row);
    this.marks[row] |= 1 << tape.number;
    const fields = this.rows[row];
    if (!fields.tapes.includes(tape.number)) fields.tapes = [...fields.tapes, tape.number];
    fields.watched ??= watched;
    if (fields.kind === "constant") {
      fields.kind = "source";
      fields.label = "x";
    }
  }

  // --- rows ---

  private add(value: NumericArray, place: Span, part: Partial<Row>, marks: number): number {
    const row = this.rows.length;
    if (row >= MAX_ROWS)
      throw new ProgramError(
        t("a picture that runs without Python can have at most {0} rows", MAX_ROWS),
        place,
      );
    if (value.data.length > MAX_SIZE)
      throw new ProgramError(t("an array has at most {0} elements here", MAX_SIZE), place);
    const writer = this.writer && { by: this.writer.tape, below: this.writer.below };
    const tapes = this.tapes.filter(({ number }) => marks & (1 << number)).map((one) => one.number);
    this.rows.push(
      completeRow({
        row,
        dtype: value.dtype,
        shape: value.shape,
        value: toValue(value),
        line: place.line,
        file: this.file,
        // operands have smaller numbers than what is computed from them
        site: LONGEST_EXPRESSION * place.to - place.from,
        tapes,
        ...writer,
        ...part,
      }),
    );
    this.values.push(value);
    this.places.push(place);
    this.marks.push(value.dtype === "bool" ? 0 : marks);
    return row;
  }

  private addLeaf(tensor: Tensor, part: Partial<Row> = {}): number {
    const fields = { op: "leaf", kind: "constant" as const, label: "const", ...part };
    const row = this.add(tensor.value, tensor.place, fields, 0);
    tensor.recording = this;
    tensor.row = row;
    this.versions[row] = tensor.version;
    return row;
  }

  /** Returns the row of a value, which receives one if it has none. */
  findRow(tensor: Tensor): number {
    if (tensor.recording === this) return tensor.row;
    if (tensor.kind === "tensor") return this.addLeaf(tensor);
    const states = this.variables.get(tensor) ?? [];
    this.variables.set(tensor, states);
    const name = tensor.name && `${tensor.name}:0`;
    const label = name ?? "Variable:0";
    const row = this.addLeaf(tensor, { kind: "variable", label, name, version: states.length });
    states.push(row);
    return row;
  }

  private readVariable(variable: Tensor): void {
    const row = this.findRow(variable);
    for (const tape of this.tapes)
      if (tape.isRecording && variable.trainable) this.markWatched(row, tape, "automatic");
  }

  private findNumber({ value, place }: NumberOperand): number {
    const known = value === 0 ? undefined : this.numbers.get(value);
    if (known !== undefined) return known;
    const row = this.addLeaf(createTensor(scalar(value), place), { literal: true });
    if (value !== 0) this.numbers.set(value, row);
    return row;
  }

  /** Runs an operation and writes its row; variables are read first, then numbers. */
  run(name: string, operands: Operand[], place: Span, args?: CallArguments): Tensor {
    for (const operand of operands) if (operand.kind === "variable") this.readVariable(operand);
    const rows = operands.map((one) => (one.kind === "number" ? this.findNumber(one) : -1));
    const inputs = operands.map((one, k) => (one.kind === "number" ? rows[k] : this.findRow(one)));
    const row = this.addOperation(name, inputs, place, args);
    const result = createTensor(this.values[row], place);
    return { ...result, recording: this, row };
  }

  private addOperation(name: string, inputs: number[], place: Span, args?: CallArguments): number {
    const arrays = inputs.map((input) => this.values[input]);
    const value = computeOperation(name, arrays, place, args);
    const { label, formula, rule, cut } = OPERATIONS[name];
    const marks = inputs.reduce((bits, input) => bits | this.marks[input], 0) & this.openTapes;
    const fields: Partial<Row> = { op: name, label, formula, rule, cut, inputs };
    fields.said = describeOperation(name, args ?? {}, value.shape.length);
    fields.status = marks ? "recorded" : "ghost";
    if (name === "matmul") {
      const [left, right] = [args?.transpose_a, args?.transpose_b];
      fields.label = `${left ? "ᵀ" : ""}@${right ? "ᵀ" : ""}`;
    }
    if (name === "slice") fields.label = formatIndex(args?.spec ?? []);
    if (isArrayOperation(name)) fields.arguments = { ...args };
    return this.add(value, place, fields, marks);
  }

  // --- the sweep ---

  /** Marks the rows of a tape that depend on a source. */
  private markReachable(tape: Tape, sources: number[]): boolean[] {
    const reachable = this.rows.map(() => false);
    for (const row of sources) reachable[row] = this.isOnTape(row, tape);
    const first = Math.min(...sources);
    for (const { row, op, inputs } of this.rows.slice(first + 1)) {
      const isPassed = op !== "stop_gradient" && this.isOnTape(row, tape);
      reachable[row] ||= isPassed && inputs.some((input) => reachable[input]);
    }
    return reachable;
  }

  /** Returns the rows of a source: all states of a variable. */
  rowsOf(tensor: Tensor): number[] {
    if (tensor.kind === "variable") return this.variables.get(tensor) ?? [];
    return tensor.recording === this ? [tensor.row] : [];
  }

  /** Sweeps from the targets back to the sources, and describes each step. */
  sweep({ tape, targets, sources }: GradientCall): { sweep: Sweep; adjoints: NumericArray[] } {
    const sourceRows = sources.flatMap((source) => this.rowsOf(source));
    const reachable = this.markReachable(tape, sourceRows);
    const targetRows = targets.flatMap((target) => this.rowsOf(target).slice(-1));
    const adjoints: NumericArray[] = [];
    const send = (row: number, share: NumericArray): NumericArray =>
      (adjoints[row] = adjoints[row] ? addArrays(adjoints[row], share) : share);
    for (const row of targetRows) if (reachable[row]) send(row, filled(this.values[row].shape, 1));
    const steps: SweepStep[] = [];
    for (let row = Math.max(-1, ...targetRows); row >= Math.min(...sourceRows, 0); row--) {
      const edges =
        adjoints[row] && reachable[row] ? this.sendShares(row, adjoints, send, reachable) : [];
      if (edges.length) steps.push({ row, adjoint: toValue(adjoints[row]), edges });
    }
    const gradients = sources.map((source) => {
      const parts = this.rowsOf(source).flatMap((row) => adjoints[row] ?? []);
      return parts.length ? toValue(parts.reduce(addArrays)) : null;
    });
    const lastRows = sources.map((source) => this.rowsOf(source).at(-1) ?? -1);
    const target = [...new Set(targetRows)].sort((a, b) => a - b);
    return { sweep: { target, sources: lastRows, rest: 0, steps, gradients }, adjoints };
  }

  private sendShares(
    row: number,
    adjoints: NumericArray[],
    send: (row: number, share: NumericArray) => NumericArray,
    reachable: boolean[],
  ): SweepEdge[] {
    const fields = this.rows[row];
    const inputs = fields.inputs.map((input) => this.values[input]);
    const edges: SweepEdge[] = [];
    fields.inputs.forEach((input, port) => {
      if (!reachable[input]) return;
      const args = fields.arguments ?? {};
      const share = computeShare(fields, port, inputs, this.values[row], adjoints[row], args);
      if (!share) return;
      const local = share.local && toValue(share.local);
      const sum = toValue(send(input, share.product));
      edges.push({ input, port, local, product: toValue(share.product), sum });
    });
    return edges;
  }

  /**
   * The same sweep with its operations written down, so that they can be derived again. Returns the
   * rows of the gradients, in the order of the sources; null for a gradient that is None.
   */
  recordSweep({ tape, targets, sources }: GradientCall, place: Span): (number | null)[] {
    const sourceRows = sources.flatMap((source) => this.rowsOf(source));
    const reachable = this.markReachable(tape, sourceRows);
    const targetRows = targets.flatMap((target) => this.rowsOf(target).slice(-1));
    const [before, end] = [this.writer, Math.max(-1, ...targetRows)];
    const adjoints: number[] = [];
    this.place = place;
    this.writer = { tape: tape.number, below: end };
    try {
      for (const row of targetRows) {
        if (!reachable[row]) continue;
        const seed = this.constant(1, this.values[row].shape);
        adjoints[row] = row in adjoints ? this.apply("add", [adjoints[row], seed]) : seed;
      }
      for (let row = end; row >= Math.min(...sourceRows, 0); row--)
        if (row in adjoints && reachable[row]) this.recordShares(row, adjoints, reachable);
      this.unnamed.push({ adjoints, target: end });
    } finally {
      this.writer = before;
    }
    return sources.map((source) => {
      const parts = this.rowsOf(source).flatMap((row) => adjoints[row] ?? []);
      const total = parts.slice(1).reduce((a, b) => this.apply("add", [a, b]), parts[0]);
      return parts.length ? this.resolve(total) : null;
    });
  }

  private recordShares(row: number, adjoints: number[], reachable: boolean[]): void {
    const { op, inputs, arguments: args = {} } = this.rows[row];
    const writer = this.writer as Writer;
    inputs.forEach((input, port) => {
      if (!reachable[input]) return;
      writer.below = row;
      const first = this.rows.length;
      const share = this.recordShare(op, { g: adjoints[row], z: row, inputs, args, port });
      if (share === null) return;
      if (share >= first) this.rows[share].below = input;
      writer.below = input;
      adjoints[input] = input in adjoints ? this.apply("add", [adjoints[input], share]) : share;
    });
  }

  private recordShare(
    op: string,
    read: { g: number; z: number; inputs: number[]; args: CallArguments; port: number },
  ): number | null {
    if (isArrayOperation(op)) {
      const share = applyRule(this, op, read);
      if (share === null && op === "stack")
        throw new ProgramError(t("the second derivative of {0} needs Python", op), this.place);
      return share;
    }
    const text = OPERATIONS[op].recorded[read.port];
    if (!text) return null;
    const { g, z, inputs } = read;
    const names = { x: inputs[0], y: inputs[inputs.length - 1], z, g };
    const share = this.recordRule(parseExpression(text), names);
    return fitToShape(this, share, this.shapeOf(inputs[read.port]));
  }

  /** Runs a rule that is written as calls of operations: `multiply(g, cos(x))`. */
  private recordRule(rule: Expression, rows: Record<string, number>): number {
    if (rule.kind === "number") return this.number(rule.value);
    if (rule.kind === "name") return rows[rule.id];
    const isCall = rule.kind === "call" && rule.callee.kind === "name";
    if (!isCall && rule.kind !== "operator") throw new SyntaxError(rule.kind);
    const called = rule.kind === "call" ? (rule.callee as { id: string }).id : rule.op;
    const name = called.replace(/^reflected_|_number$/g, "");
    const inputs = rule.args.map((arg) =>
      // The numbers of a choice are constants, those of all other operations Python numbers.
      name === "select" && arg.kind === "number"
        ? this.constant(arg.value)
        : this.recordRule(arg, rows),
    );
    if (name === "zero") return this.apply("zeros_like", inputs);
    return this.apply(name, called.startsWith("reflected_") ? inputs.reverse() : inputs);
  }

  /** Names the adjoints that nested gradients wrote, unless the program has a name for them. */
  nameAdjoints(): void {
    for (const { adjoints, target } of this.unnamed)
      for (const [row, adjoint] of adjoints.entries()) {
        const found = adjoint === undefined ? undefined : this.findResolved(adjoint);
        const fields = found === undefined ? undefined : this.rows[found];
        if (!fields || fields.by === null || fields.name) continue;
        fields.name = `∂${this.nameRow(target)}/∂${this.nameRow(row)}`;
      }
  }

  private nameRow(row: number): string {
    const name = this.rows[row].name?.replace(/:0$/, "");
    return name || `#${row}`;
  }

  // --- operations on rows, for rules ---

  apply(name: string, inputs: number[], args?: CallArguments): number {
    if (!isOperation(name)) throw new SyntaxError(name);
    const rows = inputs.map((input) => this.resolve(input));
    return this.addOperation(name, rows, this.place, args);
  }

  shapeOf(row: number): number[] {
    return row < 0 ? this.pending[~row].value.shape : this.values[row].shape;
  }

  number(value: number): number {
    return this.findNumber({ kind: "number", value, place: this.place });
  }

  /** Returns a constant, as a negative number until an operation reads it. */
  constant(value: number, shape: number[] = []): number {
    return ~(this.pending.push(createTensor(filled(shape, value), this.place)) - 1);
  }

  private resolve(row: number): number {
    return row < 0 ? this.findRow(this.pending[~row]) : row;
  }

  private findResolved(row: number): number | undefined {
    if (row >= 0) return row;
    const { recording, row: found } = this.pending[~row];
    return recording ? found : undefined;
  }
}

/** Computes an operation; what does not fit is an error with its place. */
export function computeOperation(
  name: string,
  inputs: NumericArray[],
  place: Span,
  args: CallArguments = {},
): NumericArray {
  const { formula, rule, label } = OPERATIONS[name];
  const takesBool = ["cast", "select", "equal", "not_equal"].includes(name);
  if (!takesBool && inputs.some(({ dtype }) => dtype === "bool"))
    throw new ProgramError(t("{0} takes numbers, not True and False", label), place);
  const value = computeValue({ op: name, formula, rule }, inputs, args);
  if (value) return value;
  const shapes = inputs.map(({ shape }) => printShape(shape)).join(", ");
  throw new ProgramError(t("the shapes {0} do not fit {1}", shapes, label), place);
}

/** The formula and the rules of a row as a book prints them; none where they depend on axes. */
function describeOperation(name: string, args: CallArguments, rank: number): string[] {
  const operation = OPERATIONS[name];
  const letters = `${args.transpose_a ? "a" : ""}${args.transpose_b ? "b" : ""}`;
  if (letters) return operation.transposed?.[letters] ?? [];
  const isReduction = name.startsWith("reduce_") && rank > 0;
  const hasOtherAxes = args.perm !== undefined && String(args.perm) !== "1,0";
  return isReduction || hasOtherAxes ? [] : operation.said;
}
