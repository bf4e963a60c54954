// The engine's formulas, computed here: `x * y`, `g * cos(x)`, `select(x > 0, g, 0)`. A snapshot
// may come from anywhere, so its texts are parsed and never run as code.

export interface Numbers {
  x: number;
  y: number;
  z: number;
  g: number;
}
export type Formula = (numbers: Numbers) => number;

const FUNCTIONS: Record<string, (...numbers: number[]) => number> = {
  pow: Math.pow,
  sqrt: Math.sqrt,
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  abs: Math.abs,
  sign: Math.sign,
  floor: Math.floor,
  ceil: Math.ceil,
  rint: (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x)),
  floordiv: (x, y) => Math.floor(x / y),
  mod: (x, y) => x - y * Math.floor(x / y),
  maximum: (x, y) => (x >= y || Number.isNaN(x) ? x : y),
  minimum: (x, y) => (x <= y || Number.isNaN(x) ? x : y),
  select: (condition, x, y) => (condition ? x : y),
  mul_no_nan: (x, y) => (y === 0 ? 0 : x * y),
  sqrt_share: (z, g) => (g === 0 ? g : (0.5 / z) * g),
  relu_gate: (g, z) => (z > 0 ? g : g * 0),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  zero: () => 0,
}; // erf and erfc are not there: what uses them is left to the kernel

const TOKEN = /\s*(\d+\.?\d*(?:e[-+]?\d+)?|[A-Za-z_]\w*|[<>]=?|[-+*/(),])/gy;
const known = new Map<string, Formula | null>();

/** The formula of a text; null for one that cannot be computed here. */
export function formula(text: string): Formula | null {
  let found = known.get(text);
  if (found === undefined) {
    try {
      found = text && text.length < 300 ? new Parser(text).whole() : null;
    } catch {
      found = null;
    }
    known.set(text, found);
  }
  return found;
}

class Parser {
  private tokens: string[] = [];
  private at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    let end = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
      this.tokens.push(match[1]);
      end = TOKEN.lastIndex;
    }
    if (text.slice(end).trim()) throw new SyntaxError(text);
  }

  whole(): Formula {
    const found = this.comparison();
    if (this.at < this.tokens.length) throw new SyntaxError();
    return found;
  }

  private take(...wanted: string[]): string | null {
    return wanted.includes(this.tokens[this.at]) ? this.tokens[this.at++] : null;
  }

  private comparison(): Formula {
    const left = this.sum();
    const sign = this.take("<", ">", "<=", ">=");
    if (!sign) return left;
    const right = this.sum();
    const compare = {
      "<": (a: number, b: number) => a < b,
      ">": (a: number, b: number) => a > b,
      "<=": (a: number, b: number) => a <= b,
      ">=": (a: number, b: number) => a >= b,
    }[sign] as (a: number, b: number) => boolean;
    return (n) => Number(compare(left(n), right(n)));
  }

  private sum(): Formula {
    let left = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-")) {
      const [a, b] = [left, this.product()];
      left = sign === "+" ? (n) => a(n) + b(n) : (n) => a(n) - b(n);
    }
    return left;
  }

  private product(): Formula {
    let left = this.factor();
    for (let sign = this.take("*", "/"); sign; sign = this.take("*", "/")) {
      const [a, b] = [left, this.factor()];
      left = sign === "*" ? (n) => a(n) * b(n) : (n) => a(n) / b(n);
    }
    return left;
  }

  private factor(): Formula {
    if (this.take("-")) {
      const inner = this.factor();
      return (n) => -inner(n);
    }
    if (this.take("(")) {
      const inner = this.comparison();
      this.close();
      return inner;
    }
    const token = this.tokens[this.at++] ?? "";
    if (/^\d/.test(token)) {
      const number = Number(token);
      return () => number;
    }
    if (this.take("(")) return this.call(token);
    if (!["x", "y", "z", "g"].includes(token)) throw new SyntaxError(token);
    const name = token as keyof Numbers;
    return (n) => n[name];
  }

  private call(name: string): Formula {
    const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : null;
    if (!run) throw new SyntaxError(name);
    const inner = [this.comparison()];
    while (this.take(",")) inner.push(this.comparison());
    this.close();
    return (n) => run(...inner.map((part) => part(n)));
  }

  private close(): void {
    if (!this.take(")")) throw new SyntaxError();
  }
}
