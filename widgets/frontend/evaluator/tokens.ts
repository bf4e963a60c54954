// The tokens of a Python program, each with its place in the text.
import { t } from "../src/words";

export interface Span {
  from: number;
  to: number;
  line: number; // counted from 1
}

export type TokenKind = "text" | "number" | "name" | "operator" | "comment" | "indent" | "end";

export interface Token extends Span {
  kind: TokenKind;
  text: string;
  indent: number; // of an "indent" token: how far the line is indented
}

/** What a program cannot be run for, in words and with the place to blame. */
export class ProgramError extends Error {
  constructor(
    message: string,
    readonly span: Span,
  ) {
    super(message);
    this.name = "ProgramError";
  }
}

const TAB = 8;
const TOKEN = new RegExp(
  [
    String.raw`(?<text>(?:\b[fFrRbBuU]{1,2})?(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))`,
    String.raw`(?<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?)`,
    String.raw`(?<name>[\p{L}_][\p{L}\p{N}_]*)`,
    String.raw`(?<operator>\*\*=?|\/\/=?|->|:=|[-+*/%@<>=!&|^]=|[-+*/%@<>=(),[\]{}:;.&|^~])`,
    String.raw`(?<comment>#[^\n]*)`,
  ].join("|"),
  "uy",
);

function measureIndent(text: string): number {
  let width = 0;
  for (const letter of text)
    width = letter === "\t" ? (Math.floor(width / TAB) + 1) * TAB : width + 1;
  return width;
}

/**
 * Splits a program into tokens. Before the first token of each logical line stands one of the kind
 * "indent", and "end" is the last.
 */
export function tokenize(program: string): Token[] {
  return new Tokenizer(program).tokenize();
}

class Tokenizer {
  private tokens: Token[] = [];
  private at = 0;
  private line = 1;
  private depth = 0; // of open brackets, within which a line goes on
  private isLineStart = true;

  constructor(private program: string) {}

  tokenize(): Token[] {
    const { program } = this;
    while (this.at < program.length) {
      const blank = this.skipBlank();
      if (this.at >= program.length) break;
      if (program[this.at] === "\n") {
        this.isLineStart ||= this.depth === 0;
        this.line++;
        this.at++;
      } else this.addToken(blank);
    }
    this.add("end", program.length, program.length);
    return this.tokens;
  }

  private add(kind: TokenKind, from: number, to: number, indent = 0): void {
    const text = this.program.slice(from, to);
    this.tokens.push({ kind, text, from, to, line: this.line, indent });
  }

  /** Skips spaces and continued line ends, and returns them. */
  private skipBlank(): string {
    const space = /(?:[ \t\r\f]|\\\r?\n)*/y;
    space.lastIndex = this.at;
    const blank = space.exec(this.program)?.[0] ?? "";
    this.line += countLineEnds(blank);
    this.at += blank.length;
    return blank;
  }

  private addToken(blank: string): void {
    const { program, at } = this;
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(program)?.groups;
    const kind = (Object.keys(groups ?? {}) as TokenKind[]).find((key) => groups?.[key]);
    if (!groups || !kind) {
      const letter = String.fromCodePoint(program.codePointAt(at) ?? 0);
      const span = { from: at, to: at + letter.length, line: this.line };
      throw new ProgramError(t("“{0}” is not understood here", letter), span);
    }
    if (this.isLineStart && kind !== "comment") {
      this.add("indent", at, at, measureIndent(blank));
      this.isLineStart = false;
    }
    const text = groups[kind];
    this.at += text.length;
    this.add(kind, at, this.at);
    if (kind === "operator" && /[([{]/.test(text)) this.depth++;
    if (kind === "operator" && /[)\]}]/.test(text)) this.depth = Math.max(0, this.depth - 1);
    if (kind === "text") this.line += countLineEnds(text);
  }
}

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

/** Joins a minus to the number behind it, for people who look at a program and change a number. */
export function joinSigns(tokens: Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const [before, sign] = joined.slice(-2);
    const isOperand =
      before !== undefined &&
      (before.kind === "name" || before.kind === "number" || /^[)\]]$/.test(before.text));
    const isSign = sign?.text === "-" && sign.to === token.from && !isOperand;
    if (token.kind !== "number" || !isSign) joined.push(token);
    else joined[joined.length - 1] = { ...token, text: `-${token.text}`, from: sign.from };
  }
  return joined;
}
