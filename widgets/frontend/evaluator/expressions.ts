// Evaluates the expressions of a program, all but calls.
import { t } from "../src/words";
import type { NumericArray } from "./arrays";
import { existsInPython, findInModule, findShort, toTensor, type Program } from "./builtins";
import { isValidSlice, type CallArguments, type SliceSpec } from "./operations";
import { printShape } from "./numpy_text";
import type { Operand, Tensor } from "./recording";
import type { Expression } from "./expression_syntax";
import { ProgramError, type Span } from "./tokens";
import { computePython, isTensor, NONE, pythonNumber, type Value } from "./values";

type OfKind<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
type Evaluators = { [K in Expression["kind"]]: (expression: OfKind<K>) => Value };

const MAX_STEPS = 50_000;
const OTHER_LIBRARIES = ["np", "numpy", "torch", "jnp", "jax"];
const MATH: Record<string, number> = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI, inf: Infinity };

export abstract class Expressions implements Program {
  /** the program's names with their values, in the order of their assignment */
  protected readonly names = new Map<string, Value>();
  protected scopes: Map<string, Value>[] = []; // of the functions that run, the innermost last
  /** where the program names a tensor, besides its assignment */
  protected uses = new Map<Tensor, Span[]>();
  private steps = 0;

  constructor(protected readonly isShort: boolean) {}

  abstract run(name: string, operands: Operand[], place: Span, args?: CallArguments): Tensor;
  abstract derive(target: Value, source: Value, place: Span): Value;
  protected abstract call(expression: OfKind<"call">): Value;
  protected abstract createFreeVariable(id: string, place: Span): Value;

  private readonly evaluators: Evaluators = {
    number: ({ value, isFloat }) => pythonNumber(value, isFloat),
    text: ({ value }) => ({ kind: "text", value }),
    formatted: ({ parts }) => {
      for (const part of parts) this.evaluate(part);
      return { kind: "text", value: "" };
    },
    constant: ({ value }) => (value === null ? NONE : { kind: "boolean", value }),
    name: (expression) => this.findName(expression.id, expression),
    attribute: (expression) => this.findAttribute(expression),
    call: (expression) => this.call(expression),
    operator: (expression) => {
      const values = expression.args.map((arg) => this.evaluate(arg));
      return this.applyOperator(expression.op, values, expression, expression.args);
    },
    boolean: ({ op, args }) => ({ kind: "boolean", value: this.applyBoolean(op, args) }),
    list: ({ items }) => this.createList(items, false),
    tuple: ({ items }) => this.createList(items, true),
    item: (expression) => this.index(expression),
    slice: (expression) => {
      throw new ProgramError(t("a slice must be in square brackets"), expression);
    },
  };

  protected count(place: Span): void {
    if (++this.steps > MAX_STEPS)
      throw new ProgramError(t("this program takes too many steps"), place);
  }

  protected evaluate(expression: Expression): Value {
    this.count(expression);
    const evaluate = this.evaluators[expression.kind] as (expression: Expression) => Value;
    return evaluate(expression);
  }

  private createList(items: Expression[], isTuple: boolean): Value {
    return { kind: "list", items: items.map((item) => this.evaluate(item)), isTuple };
  }

  /** Returns whether a condition holds. */
  protected test(expression: Expression): boolean {
    const value = this.evaluate(expression);
    if (value.kind === "boolean") return value.value;
    if (value.kind === "none") return false;
    if (value.kind === "number") return value.value !== 0;
    if (value.kind === "tensor" && !value.value.shape.length) return value.value.data[0] !== 0;
    throw new ProgramError(t("this value is neither true nor false"), expression);
  }

  private applyBoolean(op: "and" | "or" | "not", args: Expression[]): boolean {
    if (op === "not") return !this.test(args[0]);
    if (op === "and") return args.every((arg) => this.test(arg));
    return args.some((arg) => this.test(arg));
  }

  // --- names ---

  private findName(id: string, place: Span): Value {
    const scope = this.scopes[this.scopes.length - 1];
    const value = scope?.get(id) ?? this.names.get(id);
    if (value) {
      if (isTensor(value)) this.noteUse(value, place);
      return value;
    }
    if (["print", "range", "len", "abs"].includes(id)) return { kind: "builtin", name: id };
    const short = this.isShort ? findShort(id) : null;
    if (short) return short;
    if (OTHER_LIBRARIES.includes(id))
      throw new ProgramError(t("{0} needs Python; write sin(x) or tf.sin(x) here", id), place);
    if (!this.isShort || scope) throw new ProgramError(t("the name {0} is not defined", id), place);
    return this.createFreeVariable(id, place);
  }

  private noteUse(tensor: Tensor, place: Span): void {
    const spans = this.uses.get(tensor) ?? [];
    if (!spans.some(({ from }) => from === place.from)) spans.push(place);
    this.uses.set(tensor, spans);
  }

  private findAttribute(expression: OfKind<"attribute">): Value {
    const object = this.evaluate(expression.object);
    const { name } = expression;
    if (object.kind !== "module") return { kind: "method", object, name };
    if (object.path === "math" && Object.hasOwn(MATH, name)) return pythonNumber(MATH[name], true);
    const path = `${object.path}.${name}`;
    if (path === "tf.math" || path === "tf.nn") return { kind: "module", path };
    if (/^tf\.(float|int|bool|complex|uint)\d*$/.test(path)) return { kind: "dtype", name };
    if (path === "tf.GradientTape") return { kind: "builtin", name };
    const found = findInModule(object.path, name);
    if (found) return found;
    const why = existsInPython(object.path, name) ? "{0} needs Python" : "{0} does not exist";
    throw new ProgramError(t(why, path), expression);
  }

  // --- indices ---

  private index(expression: OfKind<"item">): Value {
    const object = this.evaluate(expression.object);
    if (isTensor(object)) {
      const spec = this.readSpec(expression.index, object.value);
      const shape = printShape(object.value.shape).slice(1, -1);
      if (!isValidSlice(object.value.shape, spec))
        throw new ProgramError(t("this index does not fit the shape ({0})", shape), expression);
      return this.run("slice", [object], expression, { spec });
    }
    const index = this.evaluate(expression.index);
    if (object.kind !== "list" || index.kind !== "number" || index.isFloat)
      throw new ProgramError(t("this index needs Python"), expression);
    const item = object.items.at(index.value);
    if (!item) throw new ProgramError(t("the list has no item at this index"), expression);
    return item;
  }

  private readSpec(index: Expression, array: NumericArray): SliceSpec {
    const parts = index.kind === "tuple" ? index.items : [index];
    let axis = 0;
    return parts.map((part) => {
      if (part.kind === "constant" && part.value === null) return null;
      const side = array.shape[axis++] ?? 0;
      if (part.kind === "slice") {
        const [start, stop, step] = part.bounds.map((bound) => bound && this.readInteger(bound));
        return [start, stop ?? null, step ?? null];
      }
      // A recording writes down which element from the front it is.
      const position = this.readInteger(part);
      return position < 0 && position >= -side ? position + side : position;
    });
  }

  private readInteger(expression: Expression): number {
    const value = this.evaluate(expression);
    if (value.kind === "number" && !value.isFloat) return value.value;
    throw new ProgramError(t("this index needs Python"), expression);
  }

  // --- operators ---

  protected applyOperator(
    op: string,
    values: Value[],
    place: Span,
    parts: Expression[] = [],
  ): Value {
    const numbers = values.flatMap((value) => (value.kind === "number" ? [value] : []));
    if (numbers.length === values.length) {
      const areFloats = numbers.map(({ isFloat }) => isFloat);
      const operands = numbers.map(({ value }) => value);
      return computePython(op, operands, areFloats, place);
    }
    if (values.some(({ kind }) => kind === "left"))
      throw new ProgramError(t("values from .numpy() need Python"), place);
    if (!values.some(isTensor)) throw new ProgramError(t("{0} needs Python", op), place);
    const operands = values.map((value, k): Operand => {
      if (value.kind !== "number") return toTensor(this, value, place, true);
      return { kind: "number", value: value.value, place: parts[k] ?? place };
    });
    return this.run(op, operands, place);
  }
}
