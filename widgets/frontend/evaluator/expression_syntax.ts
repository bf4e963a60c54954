// The syntax tree of an expression. Python has more than this; what is missing is refused with
// words.
import { t } from "../src/words";
import { ProgramError, tokenize, type Span, type Token } from "./tokens";

export type Expression = Span &
  (
    | { kind: "number"; value: number; isFloat: boolean }
    | { kind: "text"; value: string }
    | { kind: "formatted"; parts: Expression[] } // an f-string: the expressions in it
    | { kind: "constant"; value: boolean | null }
    | { kind: "name"; id: string }
    | { kind: "attribute"; object: Expression; name: string }
    | { kind: "call"; callee: Expression; args: Expression[]; keywords: Keyword[] }
    | { kind: "operator"; op: string; args: Expression[]; sign: Span }
    | { kind: "boolean"; op: "and" | "or" | "not"; args: Expression[] }
    | { kind: "list" | "tuple"; items: Expression[] }
    | { kind: "item"; object: Expression; index: Expression }
    | { kind: "slice"; bounds: (Expression | null)[] } // start, stop, step
  );

export interface Keyword {
  name: string;
  value: Expression;
}

/** By precedence, from the weakest: operators and the names under which the table has them. */
const BINARY: Record<string, string>[] = [
  {
    "<": "less",
    ">": "greater",
    "<=": "less_equal",
    ">=": "greater_equal",
    "==": "equal",
    "!=": "not_equal",
  },
  { "+": "add", "-": "subtract" },
  { "*": "multiply", "/": "divide", "@": "matmul", "%": "mod", "//": "floordiv" },
];
/** Words with which a statement or an expression begins that needs Python. */
export const UNSUPPORTED = new Set(
  "while try class lambda global nonlocal del assert raise async await yield match from".split(" "),
);
const RESERVED = new Set([
  ..."and or not in is if else for with as def return import".split(" "),
  ...UNSUPPORTED,
]);
const MAX_DEPTH = 200; // of expressions inside of each other

/** Parses a single expression, such as a formula of the table. */
export function parseExpression(text: string): Expression {
  return new ExpressionParser(tokenize(text)).parseOnly();
}

/** Parses expressions; a parser of programs adds statements. */
export class ExpressionParser {
  protected at = 0;
  protected depth = 0;
  protected readonly tokens: Token[];

  constructor(tokens: Token[]) {
    this.tokens = tokens.filter(({ kind }) => kind !== "comment");
  }

  parseOnly(): Expression {
    if (this.next.kind === "indent") this.at++;
    const expression = this.parseOperand();
    if (this.next.kind !== "end") this.failUnexpected();
    return expression;
  }

  // --- tokens ---

  protected get next(): Token {
    return this.tokens[this.at];
  }

  protected get isLineEnd(): boolean {
    return this.next.kind === "indent" || this.next.kind === "end";
  }

  protected fail(message: string, span: Span = this.next): never {
    const isEmpty = span.from === span.to; // the end of a line: the letter before it is marked
    throw new ProgramError(
      message,
      isEmpty ? { ...this.last, from: Math.max(0, this.last.to - 1) } : span,
    );
  }

  protected failUnexpected(): never {
    if (this.isLineEnd) this.fail(t("something is missing here"));
    this.fail(t("“{0}” is not expected here", this.next.text));
  }

  /** The token before the next one. */
  protected get last(): Token {
    return this.tokens[Math.max(0, this.at - 1)];
  }

  protected peek(...texts: string[]): boolean {
    const { kind, text } = this.next;
    return (kind === "operator" || kind === "name") && texts.includes(text);
  }

  protected take(...texts: string[]): Token | null {
    return this.peek(...texts) ? this.tokens[this.at++] : null;
  }

  protected need(text: string): Token {
    return this.take(text) ?? this.fail(t("“{0}” is expected here", text));
  }

  protected needName(): Token {
    if (this.next.kind !== "name" || RESERVED.has(this.next.text))
      this.fail(t("a name is expected here"));
    return this.tokens[this.at++];
  }

  protected spanFrom(first: Span): Span {
    return { from: first.from, to: this.last.to, line: first.line };
  }

  // --- expressions, from the weakest operator to the strongest ---

  protected parseTuple(): Expression {
    const first = this.parseOperand();
    if (!this.peek(",")) return first;
    const items = [first];
    while (this.take(",")) {
      if (this.isLineEnd || this.peek("=", ")", "]")) break;
      items.push(this.parseOperand());
    }
    return { kind: "tuple", items, ...this.spanFrom(first) };
  }

  protected parseOperand(): Expression {
    if (++this.depth > MAX_DEPTH) this.fail(t("this expression is nested too deeply"));
    const expression = this.parseBoolean("or");
    this.depth--;
    if (this.peek("if")) this.fail(t("{0} needs Python", "… if … else …"));
    return expression;
  }

  protected parseBoolean(op: "or" | "and"): Expression {
    const parse = (): Expression => (op === "or" ? this.parseBoolean("and") : this.parseNot());
    const first = parse();
    const args = [first];
    while (this.take(op)) args.push(parse());
    return args.length === 1 ? first : { kind: "boolean", op, args, ...this.spanFrom(first) };
  }

  protected parseNot(): Expression {
    const sign = this.take("not");
    if (!sign) return this.parseBinary(0);
    const args = [this.parseNot()];
    return { kind: "boolean", op: "not", args, ...this.spanFrom(sign) };
  }

  protected parseBinary(level: number): Expression {
    if (level === BINARY.length) return this.parseUnary();
    const first = this.parseBinary(level + 1);
    let left = first;
    for (;;) {
      const sign = this.take(...Object.keys(BINARY[level]));
      if (!sign) break;
      if (level === 0 && left !== first) this.fail(t("write one comparison at a time"), sign);
      const args = [left, this.parseBinary(level + 1)];
      left = {
        kind: "operator",
        op: BINARY[level][sign.text],
        args,
        sign,
        ...this.spanFrom(first),
      };
    }
    if (this.peek("&", "|", "^", "in", "is", "<<", ">>"))
      this.fail(t("{0} needs Python", this.next.text));
    return left;
  }

  protected parseUnary(): Expression {
    const sign = this.take("-", "+");
    if (!sign) return this.parsePower();
    const inner = this.parseUnary();
    const span = this.spanFrom(sign);
    if (inner.kind === "number")
      return { ...inner, ...span, value: sign.text === "-" ? -inner.value : inner.value };
    if (sign.text === "+") return inner;
    return { kind: "operator", op: "negative", args: [inner], sign, ...span };
  }

  protected parsePower(): Expression {
    const base = this.parsePostfix();
    const sign = this.take("**");
    if (!sign) return base;
    const args = [base, this.parseUnary()];
    return { kind: "operator", op: "pow", args, sign, ...this.spanFrom(base) };
  }

  protected parsePostfix(): Expression {
    let object = this.parseAtom();
    for (;;) {
      const first = object;
      if (this.take(".")) {
        const name = this.needName().text;
        object = { kind: "attribute", object, name, ...this.spanFrom(first) };
      } else if (this.take("(")) {
        const [args, keywords] = this.parseArguments();
        object = { kind: "call", callee: object, args, keywords, ...this.spanFrom(first) };
      } else if (this.take("[")) {
        const index = this.parseIndex();
        this.need("]");
        object = { kind: "item", object, index, ...this.spanFrom(first) };
      } else return object;
    }
  }

  protected parseArguments(): [Expression[], Keyword[]] {
    const args: Expression[] = [];
    const keywords: Keyword[] = [];
    while (!this.take(")")) {
      if (this.peek("*", "**")) this.fail(t("{0} needs Python", this.next.text));
      const isKeyword = this.next.kind === "name" && this.tokens[this.at + 1].text === "=";
      if (isKeyword) {
        const name = this.needName().text;
        this.need("=");
        keywords.push({ name, value: this.parseOperand() });
      } else args.push(this.parseOperand());
      if (this.peek("for")) this.fail(t("{0} needs Python", "… for … in …"));
      if (!this.take(",") && !this.peek(")")) this.need(")");
    }
    return [args, keywords];
  }

  protected parseIndex(): Expression {
    const first = this.next;
    const items = [this.parseIndexPart()];
    let isTuple = false;
    while (this.take(",")) {
      isTuple = true;
      if (!this.peek("]")) items.push(this.parseIndexPart());
    }
    return isTuple ? { kind: "tuple", items, ...this.spanFrom(first) } : items[0];
  }

  protected parseIndexPart(): Expression {
    const first = this.next;
    const bounds: (Expression | null)[] = [this.peek(":") ? null : this.parseOperand()];
    while (bounds.length < 3 && this.take(":"))
      bounds.push(this.peek(":", "]", ",") ? null : this.parseOperand());
    if (bounds.length === 1) return bounds[0] as Expression;
    return { kind: "slice", bounds, ...this.spanFrom(first) };
  }

  protected parseAtom(): Expression {
    const token = this.next;
    if (this.isLineEnd) this.failUnexpected();
    this.at++;
    if (token.kind === "number") return parseNumberToken(token);
    if (token.kind === "text") return this.parseText(token);
    if (token.text === "(" || token.text === "[") return this.parseBrackets(token);
    if (token.kind === "name" && ["True", "False", "None"].includes(token.text)) {
      const value = token.text === "None" ? null : token.text === "True";
      return { kind: "constant", value, ...this.spanFrom(token) };
    }
    if (token.kind !== "name" || RESERVED.has(token.text)) {
      this.at--;
      if (UNSUPPORTED.has(token.text)) this.fail(t("{0} needs Python", token.text));
      this.failUnexpected();
    }
    return { kind: "name", id: token.text, ...this.spanFrom(token) };
  }

  protected parseBrackets(open: Token): Expression {
    const close = open.text === "(" ? ")" : "]";
    const items: Expression[] = [];
    let isTuple = false;
    while (!this.peek(close)) {
      items.push(this.parseOperand());
      if (this.peek("for")) this.fail(t("{0} needs Python", "… for … in …"));
      if (!this.take(",")) break;
      isTuple = true;
    }
    this.need(close);
    if (open.text === "[") return { kind: "list", items, ...this.spanFrom(open) };
    if (items.length === 1 && !isTuple) return items[0]; // its place is inside the brackets
    return { kind: "tuple", items, ...this.spanFrom(open) };
  }

  protected parseText(token: Token): Expression {
    const [, prefix, quoted] = /^([a-z]*)(.*)$/is.exec(token.text) as RegExpExecArray;
    const quotes = /^("""|'''|.)/.exec(quoted)?.[0].length ?? 1;
    const value = quoted.slice(quotes, -quotes);
    if (!/f/i.test(prefix)) return { kind: "text", value, ...this.spanFrom(token) };
    const start = token.from + prefix.length + quotes;
    return { kind: "formatted", parts: parseFields(value, start, token), ...this.spanFrom(token) };
  }
}

/** Returns the expressions in the braces of an f-string, in their places. */
function parseFields(text: string, start: number, token: Token): Expression[] {
  const parts: Expression[] = [];
  for (const match of text.replaceAll(/\{\{|\}\}/g, "  ").matchAll(/\{([^{}:!]*)/g)) {
    const shift = start + match.index + 1;
    const moved = tokenize(match[1].replace(/=\s*$/, "")).map((part) => ({
      ...part,
      from: part.from + shift,
      to: part.to + shift,
      line: token.line,
    }));
    parts.push(new ExpressionParser(moved).parseOnly());
  }
  return parts;
}

function parseNumberToken(token: Token): Expression {
  const { from, to, line } = token;
  const isFloat = /[.e]/i.test(token.text);
  return { kind: "number", value: Number(token.text.replaceAll("_", "")), isFloat, from, to, line };
}
