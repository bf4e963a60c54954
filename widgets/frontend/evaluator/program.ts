// Runs a program. There are two kinds. A program with a GradientTape means what it means in Python.
// One without is shorter: a name without a value is a variable, a number with a point that is
// assigned is one as well, a tape records everything, and the last value that was assigned is the
// target.
import type { Nested } from "../src/snapshot";
import { t } from "../src/words";
import { fromNested } from "./arrays";
import { callBuiltin, findSimilarShort, toTensor } from "./builtins";
import { Expressions } from "./expressions";
import type { CallArguments } from "./operations";
import { PYTHON_BUILTINS } from "./python_builtins";
import { computeOperation, createTensor, Recording, Tape } from "./recording";
import type { GradientCall, Operand, Tensor } from "./recording";
import type { Expression } from "./expression_syntax";
import { parseProgram, type Statement } from "./syntax";
import { ProgramError, tokenize, type Span } from "./tokens";
import { hasFloat, isNumeric, isTensor, NONE, pythonNumber, toArray } from "./values";
import type { Value } from "./values";

export const FILE = "program.py";

export interface ProgramOptions {
  /** the values of names that the program gives none */
  at?: Record<string, Nested>;
  /** the target's name; the last value that was assigned */
  of?: string;
  /** the names of the sources; all variables */
  wrt?: string[];
}

/** A number or an array that a reader may change. */
export interface Parameter {
  name: string;
  tensor: Tensor;
  /** where its value is written; null for a name without one */
  span: Span | null;
}

/** What a program did. */
export interface ProgramRun {
  recording: Recording;
  tape: Tape;
  parameters: Parameter[];
  /** the program's names with their values, in the order of their assignment */
  names: Map<string, Value>;
  /** by row where else the program names it */
  uses: Map<number, Span[]>;
}

type OfKind<K extends Statement["kind"]> = Extract<Statement, { kind: K }>;
type Runners = { [K in Statement["kind"]]: (statement: OfKind<K>) => void };
type Keywords = Map<string, Value>;

const MAX_CALLS = 40; // of functions inside of each other
const MODULES: Record<string, string> = { minitape: "tf", tensorflow: "tf", math: "math" };

class Return {
  constructor(readonly value: Value) {}
}

/** Runs a program; throws a ProgramError for what is not understood. */
export function runProgram(text: string, options: ProgramOptions = {}): ProgramRun {
  return new Interpreter(text, options).runProgram();
}

class Interpreter extends Expressions {
  private recording: Recording | null = null;
  private tape: Tape | null = null; // the last one that gave a gradient
  private parameters: Parameter[] = [];
  private spans = new Map<Tensor, Span>(); // where the values of tensors are written
  private lastAssigned: Value | null = null;
  private loops = 0;

  constructor(
    private text: string,
    private options: ProgramOptions,
  ) {
    super(
      !tokenize(text).some(({ kind, text: word }) => kind === "name" && word === "GradientTape"),
    );
  }

  runProgram(): ProgramRun {
    const program = parseProgram(this.text);
    if (!program.some(({ kind }) => kind === "import"))
      this.names.set("tf", { kind: "module", path: "tf" });
    if (this.isShort) this.runShort(program);
    else this.runBody(program);
    const { tape, parameters, names } = this;
    const recording = tape?.recording;
    if (!recording) {
      const whole = { from: 0, to: this.text.length, line: 1 };
      throw new ProgramError(t("the program computes no gradient: call tape.gradient"), whole);
    }
    this.nameRows(recording);
    return { recording, tape, parameters, names, uses: this.collectUses(recording) };
  }

  /** Runs a program without a tape of its own. */
  private runShort(program: Statement[]): void {
    const usesGrad = tokenize(this.text).some(({ text }) => text === "grad");
    const tape = new Tape("tape", usesGrad);
    this.recording = new Recording(FILE);
    this.tape = tape;
    this.recording.open(tape);
    this.runBody(program);
    this.recording.close(tape);
    const { recording } = this;
    const { of, wrt } = this.options;
    const target = of === undefined ? this.lastAssigned : this.names.get(of);
    const last = program[program.length - 1] ?? { from: 0, to: 0, line: 1 };
    if (!target || !isTensor(target)) {
      if (of !== undefined)
        throw new ProgramError(t("{0} is not computed from a variable", of), last);
      throw new ProgramError(
        t("nothing is computed from a variable; write, for example, y = x * sin(x)"),
        last,
      );
    }
    const sources = this.parameters
      .filter(({ name, tensor }) => tensor.kind === "variable" && (wrt?.includes(name) ?? true))
      .map(({ tensor }) => tensor);
    if (!sources.length)
      throw new ProgramError(
        t("the program has no variable; write a number with a decimal point, as in x = 3.0"),
        last,
      );
    recording.includeTarget(tape, target);
    tape.calls.push({ tape, targets: [target], sources, line: last.line });
    tape.isUsed = true;
  }

  // --- statements ---

  private readonly runners: Runners = {
    expression: ({ value }) => void this.evaluate(value),
    assign: (statement) => this.runAssignment(statement),
    def: (statement) => {
      const defaults = statement.params.map(({ value }) => value && this.evaluate(value));
      this.bind(statement.id, { kind: "function", definition: statement, defaults });
    },
    return: (statement) => {
      if (!this.scopes.length)
        throw new ProgramError(t("return must be inside a function"), statement);
      throw new Return(statement.value ? this.evaluate(statement.value) : NONE);
    },
    for: (statement) => this.runFor(statement),
    if: ({ test, body, orElse }) => this.runBody(this.test(test) ? body : orElse),
    with: (statement) => this.runWith(statement),
    import: (statement) => {
      const { module, alias } = statement;
      if (!Object.hasOwn(MODULES, module))
        throw new ProgramError(t("{0} needs Python", `import ${module}`), statement);
      this.names.set(alias, { kind: "module", path: MODULES[module] });
    },
    pass: () => undefined,
  };

  private runBody(body: Statement[]): void {
    for (const statement of body) {
      this.count(statement);
      const run = this.runners[statement.kind] as (statement: Statement) => void;
      run(statement);
    }
  }

  private runFor({ target, over, body }: OfKind<"for">): void {
    const list = this.evaluate(over);
    if (list.kind !== "list")
      throw new ProgramError(t("a loop must use range(n) or a list here"), over);
    this.loops++;
    for (const item of list.items) {
      this.assign(target, item);
      this.runBody(body);
    }
    this.loops--;
  }

  private runWith({ items, body }: OfKind<"with">): void {
    const opened: Tape[] = [];
    for (const { value, target } of items) {
      const manager = this.evaluate(value);
      if (manager.kind !== "tape")
        throw new ProgramError(t("a with statement works only with GradientTape here"), value);
      const { tape } = manager;
      if (tape.recording) throw new ProgramError(t("opening a tape twice needs Python"), value);
      if (target?.kind === "name") tape.name = target.id;
      if (!this.recording?.isOpen) this.recording = new Recording(FILE);
      this.recording.open(tape);
      opened.push(tape);
      if (target) this.assign(target, manager);
    }
    this.runBody(body);
    for (const tape of opened.reverse()) this.recording?.close(tape);
  }

  private runAssignment({ op, targets, value, ...place }: OfKind<"assign">): void {
    if (op) {
      const operands = [this.evaluate(targets[0]), this.evaluate(value)];
      this.assign(targets[0], this.applyOperator(op, operands, place, [targets[0], value]));
      return;
    }
    const found = this.evaluate(value);
    for (const target of targets) this.assignNew(target, found, value);
  }

  /** Assigns a value; in a short program a number with a point becomes a variable. */
  private assignNew(target: Expression, value: Value, source: Expression): void {
    if (target.kind === "tuple" && source.kind === "tuple" && value.kind === "list") {
      const { items } = value;
      this.checkCount(target.items.length, items.length, source);
      target.items.forEach((one, k) => this.assignNew(one, items[k], source.items[k]));
      return;
    }
    const isTop = this.isShort && !this.loops && !this.scopes.length && target.kind === "name";
    if (!isTop || !isLiteral(source) || !isNumeric(value) || !hasFloat(value))
      return this.assign(target, value, source);
    const tensor = createTensor(toArray(value, source), target);
    this.assign(target, { ...tensor, kind: "variable", trainable: true }, source);
  }

  private checkCount(wanted: number, found: number, place: Span): void {
    if (wanted !== found)
      throw new ProgramError(t("{0} values are expected here, not {1}", wanted, found), place);
  }

  private assign(target: Expression, value: Value, source?: Expression): void {
    if (target.kind === "name") {
      if (source && isTensor(value)) this.noteParameter(target.id, value, source);
      this.bind(target.id, value);
      const isComputed = isTensor(value) && !(source && isLiteral(source));
      if (!this.scopes.length && isComputed) this.lastAssigned = value;
      return;
    }
    if (target.kind !== "tuple" && target.kind !== "list")
      throw new ProgramError(t("you can only assign to a name here"), target);
    if (value.kind !== "list")
      throw new ProgramError(t("an array cannot be unpacked here; use an index instead"), target);
    this.checkCount(target.items.length, value.items.length, target);
    target.items.forEach((one, k) => this.assign(one, value.items[k]));
  }

  private bind(id: string, value: Value): void {
    (this.scopes[this.scopes.length - 1] ?? this.names).set(id, value);
  }

  /** Notes where the number of a variable is written, for a reader who changes it. */
  private noteParameter(name: string, tensor: Tensor, source: Expression): void {
    if (this.scopes.length || this.parameters.some((one) => one.tensor === tensor)) return;
    const span = isLiteral(source) ? source : this.spans.get(tensor);
    if (span) this.parameters.push({ name, tensor, span });
  }

  /** Creates the variable of a name that a short program gives no value. */
  protected createFreeVariable(id: string, place: Span): Value {
    const given = fromNested(this.options.at?.[id] ?? 1);
    if (!given || given.data.some(Number.isNaN))
      throw new ProgramError(t("{0} is not a number", `at="${id}=…"`), place);
    const tensor = createTensor(given, place);
    const variable: Tensor = { ...tensor, kind: "variable", trainable: true };
    this.names.set(id, variable);
    this.parameters.push({ name: id, tensor: variable, span: null });
    return variable;
  }

  // --- calls ---

  protected call(expression: Extract<Expression, { kind: "call" }>): Value {
    const callee = this.evaluate(expression.callee);
    const args = expression.args.map((arg) => this.evaluate(arg));
    const keywords: Keywords = new Map();
    for (const { name, value } of expression.keywords) keywords.set(name, this.evaluate(value));
    if (callee.kind === "function") return this.callFunction(callee, args, keywords, expression);
    if (callee.kind === "method") return this.callMethod(callee, args, keywords, expression);
    if (callee.kind !== "builtin") throw this.rejectCallee(expression.callee);
    const builtin = PYTHON_BUILTINS.get(callee.name);
    if (builtin) return builtin(args, keywords, expression);
    if (callee.name === "abs" && args[0]?.kind === "number")
      return { ...args[0], value: Math.abs(args[0].value) };
    const result = callBuiltin(this, callee.name, args, keywords, expression);
    const [first] = expression.args;
    const isNew = isTensor(result) && result.recording === null && first && isLiteral(first);
    if (isNew) this.spans.set(result, first);
    return result;
  }

  /** Returns the error for a call of something else, such as a mistyped function. */
  private rejectCallee(callee: Expression): ProgramError {
    if (callee.kind !== "name") return new ProgramError(t("this is not a function"), callee);
    const { id } = callee;
    const similar = this.isShort && findSimilarShort(id);
    const text = similar
      ? t("{0} is not a function; do you mean {1}?", id, similar)
      : t("{0} is not a function", id);
    return new ProgramError(text, callee);
  }

  private callFunction(
    callee: Extract<Value, { kind: "function" }>,
    args: Value[],
    keywords: Keywords,
    place: Span,
  ): Value {
    if (this.scopes.length >= MAX_CALLS)
      throw new ProgramError(t("these functions call each other too many times"), place);
    this.scopes.push(bindArguments(callee, args, keywords, place));
    try {
      this.runBody(callee.definition.body);
    } catch (reason) {
      if (!(reason instanceof Return)) throw reason;
      return reason.value;
    } finally {
      this.scopes.pop();
    }
    return NONE;
  }

  private callMethod(
    { object, name }: Extract<Value, { kind: "method" }>,
    args: Value[],
    keywords: Keywords,
    place: Span,
  ): Value {
    if (object.kind === "tape" && !keywords.size) {
      if (name === "watch" && args.length === 1) return this.watch(object.tape, args[0], place);
      if (name === "gradient" && args.length === 2)
        return this.takeGradient(object.tape, args[0], args[1], place);
    } else if (!keywords.size) {
      const result = this.callValueMethod(object, name, args, place);
      if (result) return result;
    }
    throw new ProgramError(t("{0} needs Python", `.${name}`), place);
  }

  private callValueMethod(object: Value, name: string, args: Value[], place: Span): Value | null {
    if (isTensor(object) && name === "numpy" && !args.length) return { kind: "left" };
    if (args.length !== 1) return null;
    if (object.kind === "variable" && /^assign(_add|_sub)?$/.test(name))
      return this.assignVariable(object, name, args[0], place);
    if (object.kind !== "list" || name !== "append" || object.isTuple) return null;
    object.items.push(args[0]);
    return NONE;
  }

  /** Gives a variable another value, outside of tapes, where it is only state. */
  private assignVariable(variable: Tensor, name: string, value: Value, place: Span): Value {
    if (this.recording?.isOpen)
      throw new ProgramError(t("an assignment on a tape needs Python"), place);
    const operand = toTensor(this, value, place, true).value;
    const op = { assign_add: "add", assign_sub: "subtract" }[name];
    variable.value = op ? computeOperation(op, [variable.value, operand], place) : operand;
    variable.version++;
    variable.recording = null;
    return variable;
  }

  // --- tapes ---

  private watch(tape: Tape, value: Value, place: Span): Value {
    for (const one of value.kind === "list" ? value.items : [value]) {
      if (!isTensor(one)) throw new ProgramError(t("a tape can only watch tensors"), place);
      if (!tape.isRecording)
        throw new ProgramError(t("a tape can only watch inside its with block"), place);
      tape.recording?.watch(tape, one);
    }
    return NONE;
  }

  private takeGradient(tape: Tape, target: Value, source: Value, place: Span): Value {
    const { recording } = tape;
    const [targets, sources] = [flattenTensors(target, place), flattenTensors(source, place)];
    if (!recording) throw new ProgramError(t("this tape recorded nothing"), place);
    if (tape.isUsed && !tape.isPersistent)
      throw new ProgramError(
        t("a tape gives only one gradient, unless it has persistent=True"),
        place,
      );
    if (!tape.isPersistent) recording.close(tape);
    tape.isUsed = true;
    this.tape = tape;
    for (const one of targets) if (sources.includes(one)) recording.includeTarget(tape, one);
    const call: GradientCall = { tape, targets, sources, line: place.line };
    tape.calls.push(call);
    const found = recording.isOpen
      ? recordGradients(recording, call, place)
      : computeGradients(recording, call, place);
    const results = found.map((tensor) => tensor ?? NONE);
    return source.kind === "list" ? { ...source, items: results } : results[0];
  }

  run(name: string, operands: Operand[], place: Span, args?: CallArguments): Tensor {
    if (this.recording?.isOpen) return this.recording.run(name, operands, place, args);
    const inputs = operands.map((operand) =>
      operand.kind === "number" ? toArray(pythonNumber(operand.value, true), place) : operand.value,
    );
    return createTensor(computeOperation(name, inputs, place, args), place);
  }

  derive(target: Value, source: Value, place: Span): Value {
    if (!this.tape || !this.isShort)
      throw new ProgramError(t("the name {0} is not defined", "grad"), place);
    const result = this.takeGradient(this.tape, target, source, place);
    if (result.kind === "none")
      throw new ProgramError(t("this gradient is None because no path leads to its source"), place);
    return result;
  }

  // --- names ---

  /** Names rows after the program's variables, as they are at its end. */
  private nameRows(recording: Recording): void {
    const named = [...this.names].filter(([name]) => !name.startsWith("_"));
    const items = named.flatMap(([name, value]): [string, Value][] =>
      value.kind === "list" ? value.items.map((item, k) => [`${name}[${k}]`, item]) : [],
    );
    const variables = items.filter(([, value]) => value.kind === "variable");
    for (const [name, value] of [...named, ...variables]) {
      if (!isTensor(value)) continue;
      for (const row of recording.rowsOf(value)) recording.rows[row].name ??= name;
    }
    // A variable whose name has another value at the end is the start value of that name.
    const taken = new Set(recording.rows.map(({ name }) => name));
    for (const { name, tensor } of this.parameters)
      if (tensor.kind === "variable")
        for (const row of recording.rowsOf(tensor))
          recording.rows[row].name ??= taken.has(name) ? `${name}₀` : name;
    recording.nameAdjoints();
  }

  private collectUses(recording: Recording): Map<number, Span[]> {
    const uses = new Map<number, Span[]>();
    for (const [tensor, spans] of this.uses)
      for (const row of recording.rowsOf(tensor))
        uses.set(row, [...(uses.get(row) ?? []), ...spans]);
    return uses;
  }
}

function flattenTensors(value: Value, place: Span): Tensor[] {
  if (value.kind === "list") return value.items.flatMap((item) => flattenTensors(item, place));
  if (isTensor(value)) return [value];
  throw new ProgramError(t("a gradient needs tensors as its target and sources"), place);
}

function recordGradients(recording: Recording, call: GradientCall, place: Span) {
  return recording.recordSweep(call, place).map((row): Tensor | null => {
    if (row === null) return null;
    return { ...createTensor(recording.values[row], place), recording, row };
  });
}

function computeGradients(recording: Recording, call: GradientCall, place: Span) {
  return recording.sweep(call).sweep.gradients.map((value): Tensor | null => {
    const array = value?.data === undefined ? null : fromNested(value.data);
    return array && createTensor(array, place);
  });
}

function bindArguments(
  { definition, defaults }: Extract<Value, { kind: "function" }>,
  args: Value[],
  keywords: Keywords,
  place: Span,
): Map<string, Value> {
  const { params, id } = definition;
  if (args.length > params.length)
    throw new ProgramError(t("{0} takes {1} arguments", id, params.length), place);
  const scope = new Map<string, Value>();
  params.forEach(({ name }, k) => {
    const value = args[k] ?? keywords.get(name) ?? defaults[k];
    if (!value) throw new ProgramError(t("{0} is missing {1}", id, name), place);
    scope.set(name, value);
  });
  for (const key of keywords.keys())
    if (!scope.has(key)) throw new ProgramError(t("{0} has no parameter {1}", id, key), place);
  return scope;
}

/** Is this a number, or a list of numbers, as it is written? */
function isLiteral(expression: Expression): boolean {
  if (expression.kind === "list") return expression.items.every(isLiteral);
  return expression.kind === "number";
}
