// Small recordings written by hand, with a real backward sweep over scalars: fixtures that need no
// engine.
import { completeRow, type Row, type Snapshot, type SweepStep, type Value } from "../src/schema";

const val = (x: number): Value => ({
  text: Number.isInteger(x) ? x.toFixed(1) : String(Math.fround(x)),
  data: x,
});

export class Program {
  rows: Row[] = [];
  values: number[] = [];
  line = 1;
  scope: string[] = [];
  extra: Partial<Row> = {};

  private push(part: Partial<Row>, value: number): number {
    const row = this.rows.length;
    this.rows.push(
      completeRow({
        row,
        dtype: "float32",
        tapes: [0],
        line: this.line,
        file: "<cell>",
        scope: [...this.scope],
        value: val(value),
        ...this.extra,
        ...part,
      }),
    );
    this.values.push(value);
    return row;
  }
  source(name: string, x: number): number {
    return this.push({ op: "leaf", label: name, kind: "source", name, watched: "explicit" }, x);
  }
  variable(name: string, x: number, version = 0): number {
    return this.push(
      { op: "leaf", label: name, kind: "variable", name, version, watched: "automatic" },
      x,
    );
  }
  constant(x: number): number {
    return this.push({ op: "leaf", label: String(x), kind: "constant" }, x);
  }
  mul(a: number, b: number): number {
    return this.push(
      { op: "mul", label: "×", formula: "x * y", rule: ["g * y", "g * x"], inputs: [a, b] },
      this.values[a] * this.values[b],
    );
  }
  add(a: number, b: number): number {
    return this.push(
      { op: "add", label: "+", formula: "x + y", rule: ["g", "g"], inputs: [a, b] },
      this.values[a] + this.values[b],
    );
  }
  sin(a: number): number {
    return this.push(
      { op: "sin", label: "sin", formula: "sin(x)", rule: ["g * cos(x)"], inputs: [a] },
      Math.sin(this.values[a]),
    );
  }

  private local(row: Row, k: number): number {
    if (row.op === "mul") return this.values[row.inputs[1 - k]];
    if (row.op === "sin") return Math.cos(this.values[row.inputs[0]]);
    return 1;
  }

  snapshot(target: number | null = this.rows.length - 1, sources: number[] = []): Snapshot {
    const steps: SweepStep[] = [];
    const adjoint = new Map<number, number>();
    if (target !== null) adjoint.set(target, 1);
    for (let i = target ?? -1; i >= 0; i--) {
      const g = adjoint.get(i);
      if (g === undefined || this.rows[i].kind !== "operation") continue;
      const edges = this.rows[i].inputs.map((input, k) => {
        const local = this.local(this.rows[i], k);
        adjoint.set(input, (adjoint.get(input) ?? 0) + local * g);
        return {
          input,
          port: k,
          local: val(local),
          product: val(local * g),
          sum: val(adjoint.get(input) as number),
        };
      });
      steps.push({ row: i, adjoint: val(g), edges });
    }
    const sweep =
      target === null
        ? null
        : {
            target: [target],
            sources,
            steps,
            gradients: sources.map((s) => (adjoint.has(s) ? val(adjoint.get(s) as number) : null)),
            rest: 0,
          };
    return {
      version: 1,
      record: "r1",
      first: 0,
      rows: this.rows,
      events: [],
      tapes: [
        {
          id: 0,
          name: "tape",
          persistent: false,
          state: "closed",
          spans: [[0, this.rows.length]],
          bytes: 0,
        },
      ],
      sources_text: {
        "<cell>":
          "x = tf.constant(3.0)\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    y = x * x",
      },
      sweep,
    };
  }
}

export function square(): Snapshot {
  const p = new Program();
  p.line = 3;
  const x = p.source("x", 3);
  p.line = 4;
  return (p.mul(x, x), p).snapshot(1, [0]);
}

export function diamond(): Snapshot {
  const p = new Program();
  const x = p.source("x", 2);
  const a = p.mul(x, x);
  const b = p.add(a, a);
  const c = p.sin(b);
  p.add(c, a);
  return p.snapshot(4, [x]);
}

export function affine(): Snapshot {
  const p = new Program();
  const w = p.variable("w:0", 2);
  const x = p.constant(3);
  const m = p.mul(w, x);
  const b = p.variable("b:0", 0.5);
  const y = p.add(m, b);
  p.line = 5;
  const t = p.constant(1.25);
  const d = p.add(y, t);
  p.mul(d, d);
  return p.snapshot(undefined, [w, b]);
}

/** n operations y = y * w + b in a loop. */
export function chain(n: number): Snapshot {
  const p = new Program();
  let y = p.source("x", 1);
  const w = p.variable("w:0", 0.999);
  const b = p.variable("b:0", 0.01);
  for (let i = 0; i < n / 2; i++) {
    p.line = 4;
    y = p.mul(y, w);
    y = p.add(y, b);
  }
  return p.snapshot(undefined, [w, b]);
}

/** A bushy program without repetition: operations on pseudo-random earlier rows. */
export function bush(n: number): Snapshot {
  const p = new Program();
  let seed = 7;
  const random = (below: number): number =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let i = 0; i < 8; i++) p.source(`x${i}`, 1 + i / 10);
  while (p.rows.length < n) {
    p.line = p.rows.length;
    const top = p.rows.length;
    const pick = (): number => Math.max(0, top - 1 - random(12));
    if (random(3) === 0) p.sin(pick());
    else if (random(2) === 0) p.add(pick(), pick());
    else p.mul(pick(), pick());
  }
  return p.snapshot(undefined, [0]);
}

export function layers(depth: number): Snapshot {
  const p = new Program();
  let x = p.source("x", 1);
  for (let k = 0; k < depth; k++) {
    p.scope = [k ? `dense_${k}` : "dense"];
    const w = p.variable(`w${k}:0`, 0.5);
    const b = p.variable(`b${k}:0`, 0.1);
    x = p.sin(p.add(p.mul(x, w), b));
  }
  p.scope = [];
  p.mul(x, x);
  return p.snapshot(undefined, []);
}

/** A second derivative: the inner tape's gradient is recorded on the outer tape. */
export function nested(): Snapshot {
  const p = new Program();
  p.extra = { tapes: [0] };
  const x = p.source("x", 3);
  p.extra = { tapes: [0, 1] };
  const a = p.mul(x, x);
  const y = p.mul(a, x);
  p.extra = { tapes: [0], by: 1 };
  const one = p.constant(1);
  const g1 = p.mul(one, x);
  const g2 = p.mul(one, a);
  const g3 = p.mul(g1, x);
  const s = p.add(g2, g3);
  p.add(s, g3);
  const snap = p.snapshot(undefined, [x]);
  snap.tapes = [
    {
      id: 0,
      name: "outer",
      persistent: false,
      state: "closed",
      spans: [[0, p.rows.length]],
      bytes: 0,
    },
    { id: 1, name: "inner", persistent: true, state: "used", spans: [[1, y + 1]], bytes: 0 },
  ];
  return snap;
}

export const PROGRAMS: Record<string, () => Snapshot> = {
  square,
  diamond,
  affine,
  nested,
  layers: () => layers(4),
  chain: () => chain(40),
  bush: () => bush(60),
};
