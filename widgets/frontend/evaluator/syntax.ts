// The syntax tree of a program: statements, as far as the browser can run them.
import { t } from "../src/words";
import { ExpressionParser, UNSUPPORTED, type Expression } from "./expression_syntax";
import { tokenize, type Span } from "./tokens";

export type Statement = Span &
  (
    | { kind: "assign"; targets: Expression[]; value: Expression; op: string | null }
    | { kind: "expression"; value: Expression }
    | { kind: "for"; target: Expression; over: Expression; body: Statement[] }
    | { kind: "if"; test: Expression; body: Statement[]; orElse: Statement[] }
    | { kind: "with"; items: { value: Expression; target: Expression | null }[]; body: Statement[] }
    | { kind: "def"; id: string; params: Parameter[]; body: Statement[] }
    | { kind: "return"; value: Expression | null }
    | { kind: "import"; module: string; alias: string }
    | { kind: "pass" }
  );

export interface Parameter {
  name: string;
  value: Expression | null; // its default
}

const AUGMENTED: Record<string, string> = {
  "+=": "add",
  "-=": "subtract",
  "*=": "multiply",
  "/=": "divide",
  "**=": "pow",
  "//=": "floordiv",
  "%=": "mod",
  "@=": "matmul",
};

/** Parses a program into statements. */
export function parseProgram(program: string): Statement[] {
  return new ProgramParser(tokenize(program)).parseProgram();
}

class ProgramParser extends ExpressionParser {
  parseProgram(): Statement[] {
    const statements = this.next.kind === "end" ? [] : this.parseBlock(this.next.indent);
    if (this.next.kind !== "end") this.fail(t("the indentation of this line is wrong"));
    return statements;
  }

  private parseBlock(indent: number): Statement[] {
    const statements: Statement[] = [];
    while (this.next.kind === "indent" && this.next.indent === indent) {
      this.at++;
      statements.push(...this.parseLine(indent));
    }
    return statements;
  }

  private parseLine(indent: number): Statement[] {
    const statements: Statement[] = [];
    do {
      if (this.isLineEnd) break;
      statements.push(this.parseStatement(indent));
      if (this.last.kind === "indent") return statements;
    } while (this.take(";"));
    const isBlockEnd = ["for", "if", "with", "def"].includes(
      statements[statements.length - 1]?.kind,
    );
    if (!this.isLineEnd && !isBlockEnd) this.failUnexpected();
    return statements;
  }

  private parseSuite(indent: number): Statement[] {
    this.need(":");
    if (this.next.kind !== "indent") return this.parseLine(indent);
    if (this.next.indent <= indent) this.fail(t("an indented line is expected here"));
    return this.parseBlock(this.next.indent);
  }

  private parseStatement(indent: number): Statement {
    const first = this.next;
    const done = <T extends object>(part: T): T & Span => ({ ...part, ...this.spanFrom(first) });
    if (this.take("import")) return done(this.parseImport());
    if (this.take("pass")) return done({ kind: "pass" as const });
    if (this.take("for")) return done(this.parseFor(indent));
    if (this.take("if")) return done(this.parseIf(indent));
    if (this.take("with")) return done(this.parseWith(indent));
    if (this.take("def")) return done(this.parseDef(indent));
    if (this.take("return")) {
      const value = this.isLineEnd ? null : this.parseTuple();
      return done({ kind: "return" as const, value });
    }
    if (this.next.kind === "name" && UNSUPPORTED.has(this.next.text))
      this.fail(t("{0} needs Python", this.next.text));
    return done(this.parseAssignment());
  }

  private parseImport() {
    const parts = [this.needName().text];
    while (this.take(".")) parts.push(this.needName().text);
    const alias = this.take("as") ? this.needName().text : parts[0];
    if (this.peek(",")) this.fail(t("import only one module per line"));
    return { kind: "import" as const, module: parts.join("."), alias };
  }

  private parseFor(indent: number) {
    const target = this.parseTargets();
    this.need("in");
    const over = this.parseTuple();
    const body = this.parseSuite(indent);
    if (this.peekClause(indent, "else")) this.fail(t("{0} needs Python", "for … else"));
    return { kind: "for" as const, target, over, body };
  }

  /** Is this the next line, indented as the statement that it belongs to? */
  private peekClause(indent: number, ...words: string[]): boolean {
    const following = this.tokens[this.at + 1];
    return (
      this.next.kind === "indent" &&
      this.next.indent === indent &&
      following?.kind === "name" &&
      words.includes(following.text)
    );
  }

  private parseIf(indent: number) {
    const test = this.parseOperand();
    const body = this.parseSuite(indent);
    let orElse: Statement[] = [];
    if (this.peekClause(indent, "elif")) {
      this.at++;
      const first = this.next;
      this.at++;
      const nested = this.parseIf(indent);
      orElse = [{ ...nested, ...this.spanFrom(first) }];
    } else if (this.peekClause(indent, "else")) {
      this.at += 2;
      orElse = this.parseSuite(indent);
    }
    return { kind: "if" as const, test, body, orElse };
  }

  private parseWith(indent: number) {
    const items: { value: Expression; target: Expression | null }[] = [];
    const hasBrackets = this.take("(") !== null;
    do {
      if (hasBrackets && this.peek(")")) break;
      const value = this.parseOperand();
      items.push({ value, target: this.take("as") ? this.parsePostfix() : null });
    } while (this.take(","));
    if (hasBrackets) this.need(")");
    return { kind: "with" as const, items, body: this.parseSuite(indent) };
  }

  private parseDef(indent: number) {
    const id = this.needName().text;
    const params: Parameter[] = [];
    this.need("(");
    while (!this.take(")")) {
      if (this.peek("*", "**", "/")) this.fail(t("{0} needs Python", `${this.next.text}`));
      const name = this.needName().text;
      if (this.take(":")) this.parseOperand(); // an annotation
      params.push({ name, value: this.take("=") ? this.parseOperand() : null });
      if (!this.take(",") && !this.peek(")")) this.need(")");
    }
    if (this.take("->")) this.parseOperand();
    return { kind: "def" as const, id, params, body: this.parseSuite(indent) };
  }

  private parseAssignment() {
    const first = this.parseTuple();
    const augmented = this.take(...Object.keys(AUGMENTED));
    if (augmented) {
      const value = this.parseTuple();
      const target = this.checkTarget(first);
      return { kind: "assign" as const, targets: [target], value, op: AUGMENTED[augmented.text] };
    }
    const values = [first];
    while (this.take("=")) values.push(this.parseTuple());
    const value = values.pop() as Expression;
    if (!values.length) return { kind: "expression" as const, value };
    const targets = values.map((target) => this.checkTarget(target));
    return { kind: "assign" as const, targets, value, op: null };
  }

  private checkTarget(target: Expression): Expression {
    if (target.kind === "tuple" || target.kind === "list")
      for (const item of target.items) this.checkTarget(item);
    else if (target.kind !== "name")
      this.fail(t("you can only assign to a name here; other targets need Python"), target);
    return target;
  }

  private parseTargets(): Expression {
    const first = this.needName();
    this.at--;
    const items = [this.parsePostfix()];
    while (this.take(",")) items.push(this.parsePostfix());
    return items.length === 1 ? items[0] : { kind: "tuple", items, ...this.spanFrom(first) };
  }
}
