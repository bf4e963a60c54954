// The parts without a page: placing, folding, stepping, paths, packing.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { foldTree } from "../src/fold";
import { borders, buildGraph, NODE_W, type Graph } from "../src/graph";
import { layoutInSlices, layoutNow, type Layout, type Wish } from "../src/layout";
import { findPaths } from "../src/paths";
import { place } from "../src/place";
import { unpack, type Snapshot } from "../src/schema";
import { Skeleton } from "../src/skeleton";
import { isLeaf, Store } from "../src/store";
import { Timeline } from "../src/timeline";
import { brief, matrix, shortName, withNumbers, withRows } from "../src/value";
import { speak, t, wide } from "../src/words";
import { extentsOf, lanesOf } from "../src/wrap";
import {
  affine,
  bush,
  chain,
  diamond,
  layers,
  nested,
  Program,
  PROGRAMS,
  square,
} from "./programs";

declare const process: { env: Record<string, string | undefined> };

function storeOf(snapshot: Snapshot): Store {
  const store = new Store();
  expect(store.take(snapshot)).toBe(true);
  return store;
}

function skeletonOf(store: Store): Skeleton {
  const skeleton = new Skeleton();
  skeleton.grow(store.rows);
  return skeleton;
}

function wishOf(
  store: Store,
  open = true,
  patterns = false,
  toggled: [string, boolean][] = [],
): Wish {
  return { open, patterns, toggled, borders: borders(store.tapes) };
}

function graphOf(
  store: Store,
  open = true,
  patterns = false,
  toggled: [string, boolean][] = [],
): Graph {
  return buildGraph(store, layoutNow(skeletonOf(store), wishOf(store, open, patterns, toggled)));
}

describe("formulas", () => {
  const number = (text: string) => ({ shape: [], value: { text } });
  const row = (said: string, inputs: number[]) => ({ row: 9, said: [said], inputs }) as never;
  const rows = [
    number("-2.0"),
    number("3.0"),
    { shape: [2], value: { text: "[1. 2.]" } },
    { shape: [], value: null },
  ] as never;

  it("name the rows that they read, since x and y may be names of the program", () => {
    expect(withRows("g × y", row("x × y", [4, 7]))).toBe("g × row 7");
    expect(withRows("g × (1 − z²)", row("tanh(x)", [4]))).toBe("g × (1 − (row 9)²)");
    expect(withRows("g × y", row("x × y", [4, 7]), true)).toBe("g × conj(row 7)");
  });

  it("hold the numbers where these are single numbers", () => {
    expect(withNumbers(row("x − y", [1, 0]), rows)).toBe("3.0 − (-2.0)");
    expect(withNumbers(row("maximum(x, y)", [0, 1]), rows)).toBe("maximum(-2.0, 3.0)");
    expect(withNumbers(row("−x", [0]), rows)).toBe("−(-2.0)");
    expect(withNumbers(row("x × y", [1, 2]), rows)).toBe("row 1 × row 2");
    expect(withNumbers(row("x × y", [3, 1]), rows)).toBe("row 3 × row 1");
  });
});

describe("placement", () => {
  it.each(Object.keys(PROGRAMS))(
    "%s: every node stands right of its inputs and on its own place",
    (name) => {
      const graph = graphOf(storeOf(PROGRAMS[name]()));
      const taken = new Set<string>();
      for (const node of graph.nodes) {
        for (const edge of graph.edges(node.index))
          expect(graph.nodes[edge.from].column).toBeLessThan(node.column);
        for (const slot of [node.slot, node.slot + 1]) {
          expect(taken.has(`${node.column}/${slot}`)).toBe(false);
          taken.add(`${node.column}/${slot}`);
        }
      }
    },
  );

  it("does not move operations when rows are added, however the rows are cut into batches", () => {
    const whole = bush(120);
    const places = new Map<number, string>();
    for (let n = 1; n <= whole.rows.length; n++) {
      const part = {
        ...whole,
        rows: whole.rows.slice(0, n),
        sweep: null,
        tapes: [{ ...whole.tapes[0], spans: [[0, whole.rows.length]] as [number, number][] }],
      };
      for (const node of graphOf(storeOf(part)).nodes) {
        if (node.row && isLeaf(node.row)) continue;
        const place = `${node.column}/${node.slot}`;
        expect(places.get(node.first) ?? place).toBe(place);
        places.set(node.first, place);
      }
    }
  });

  it("agrees with the static picture's", () => {
    const file = fileURLToPath(new URL("../../../tests/widgets/placements.json", import.meta.url));
    const golden = JSON.parse(readFileSync(file, "utf8")) as {
      items: [number[], boolean, number, number?, number?][];
      column: number[];
      slot: number[];
      via: [number, number, [number, number][]][];
    }[];
    expect(golden.length).toBeGreaterThan(3);
    for (const { items, column, slot, via } of golden) {
      const placement = place(
        items.map(([inputs, leaf, section, storey, below]) => ({
          inputs,
          leaf,
          section,
          storey,
          below,
        })),
      );
      expect(placement.column).toEqual(column);
      expect(placement.slot).toEqual(slot);
      const passing = placement.edges.flat().filter((edge) => edge.via.length);
      expect(new Map(passing.map((edge) => [`${edge.from},${edge.to}`, edge.via]))).toEqual(
        new Map(via.map(([from, to, points]) => [`${from},${to}`, points])),
      );
    }
  });

  it("puts what a gradient wrote below what it is the gradient of, from right to left", () => {
    const upper = [
      { inputs: [], leaf: true },
      { inputs: [0, 0], leaf: false },
      { inputs: [1, 0], leaf: false },
    ]; // x * x * x
    const lower: [number[], number][] = [
      [[], 2],
      [[3, 0], 1],
      [[3, 1], 0],
      [[4, 0], 0],
      [[5, 6], 0],
    ]; // each is below the one whose adjoint it adds to
    const written = lower.map(([inputs, below]) => ({
      inputs,
      leaf: !inputs.length,
      section: 1,
      storey: 1,
      below,
    }));
    const { column, slot, edges } = place([
      ...upper.map((item) => ({ ...item, section: 0 })),
      ...written,
      { inputs: [7, 4], leaf: false, section: 2 },
    ]);
    expect(column).toEqual([1, 2, 3, 3, 2, 1, 1, 0, 4]);
    expect(slot).toEqual([0, 0, 0, 4, 4, 4, 6, 4, 0]);
    expect(edges[4].map((edge) => [edge.from, !!edge.back, edge.far])).toEqual([
      [3, true, false],
      [0, false, true],
    ]);
  });

  it("continues in the next line, where edges from one node share a lane", () => {
    const [column, slot] = [
      [0, 0, 1, 1, 2, 3],
      [-1, 1, 0, 2, 0, 0],
    ];
    expect(extentsOf(column, slot, [[3, 4]], 2)).toEqual([
      [-1, 4],
      [0, 5],
    ]);
    expect(
      lanesOf(
        [
          [0, 2],
          [1, 2],
          [2, 4],
          [3, 4],
        ],
        column,
        slot,
        2,
      ),
    ).toEqual([[3, 2]]);
  });

  // a benchmark, for an idle machine: MINITAPE_BENCHMARK=1 npm test
  it.runIf(process.env.MINITAPE_BENCHMARK)("places 10,000 rows in well under a second", () => {
    const store = storeOf(bush(10000));
    const start = performance.now();
    graphOf(store);
    expect(performance.now() - start).toBeLessThan(900);
  });

  it("places what is read from outside of a scope before the scope's frame", () => {
    const p = new Program();
    const x = p.source("x", 3);
    p.scope = ["model", "layer"];
    p.add(p.mul(p.variable("w", 2), x), x);
    const graph = graphOf(storeOf(p.snapshot()));
    const nodes = graph.nodes.filter((node) => !node.home);
    expect(nodes.map((node) => node.first)).toEqual([x]);
    expect(graph.frames.map((frame) => frame.label)).toEqual(["model", "layer"]);
    for (const frame of graph.frames) expect(nodes[0].x + NODE_W).toBeLessThanOrEqual(frame.x);
  });

  it("keeps frames of tapes apart: the inner sweep begins right of the inner tape", () => {
    const graph = graphOf(storeOf(nested()));
    const inner = graph.frames.find((f) => f.kind === "tape" && f.label === "inner");
    const sweep = graph.frames.find((f) => f.kind === "sweep");
    const outer = graph.frames.find((f) => f.kind === "tape" && f.label === "outer");
    expect(inner && sweep && outer).toBeTruthy();
    if (!inner || !sweep || !outer) return;
    expect(sweep.x).toBeGreaterThan(inner.x + inner.w - 40);
    for (const part of [inner, sweep]) {
      expect(part.x).toBeGreaterThanOrEqual(outer.x);
      expect(part.x + part.w).toBeLessThanOrEqual(outer.x + outer.w);
    }
  });
});

describe("laying out elsewhere", () => {
  const stores: [string, Store][] = [
    ["bush", storeOf(bush(3000))],
    ["nested", storeOf(nested())],
    ["layers", storeOf(layers(6))],
    ["chain", storeOf(chain(2000))],
  ];
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

  it.each(stores)(
    "%s: a copy of the skeleton, sent in parts, gives the same layout in slices",
    async (_, store) => {
      const here = new Skeleton();
      const there = new Skeleton();
      for (const n of [Math.floor(store.rows.length / 3), store.rows.length]) {
        here.grow(store.rows.slice(0, n));
        there.append(structuredClone(here.part(there.count)));
      }
      const wish = wishOf(store, false, true);
      expect(await layoutInSlices(there, wish, 0, turn, () => false)).toEqual(
        layoutNow(skeletonOf(store), wish),
      );
    },
  );

  it("stops between two slices", async () => {
    const skeleton = skeletonOf(storeOf(bush(3000)));
    let turns = 0;
    const found: Layout | null = await layoutInSlices(
      skeleton,
      wishOf(storeOf(square())),
      0,
      turn,
      () => ++turns === 3,
    );
    expect([found, turns]).toEqual([null, 3]);
  });
});

describe("folding", () => {
  it("finds a loop of 5,000 iterations and folds it to one node", () => {
    const store = storeOf(chain(10000));
    const graph = graphOf(store, false, true);
    expect(graph.nodes.length).toBe(4);
    expect(graph.nodes[3].group?.count).toBe(5000);
    expect(graph.nodeOf(7000)).toBe(graph.nodes[3]);
  });

  it("opens step by step: never more than twenty parts at once", () => {
    const store = storeOf(chain(10000));
    const tree = foldTree(skeletonOf(store));
    for (const group of tree.groups.values())
      if (group.kind === "repeat" || group.kind === "page")
        expect(group.children.filter((c) => typeof c !== "number").length).toBeLessThanOrEqual(20);
  });

  it("makes a group of each name scope, with the leaves that only it reads", () => {
    const store = storeOf(layers(4));
    const tree = foldTree(skeletonOf(store), false);
    const scopes = [...tree.groups.values()].filter((g) => g.kind === "scope");
    expect(scopes.map((g) => g.label)).toEqual(["dense", "dense_1", "dense_2", "dense_3"]);
    expect(tree.home[1]?.label).toBe("dense"); // its weight
    // folded, their weights and biases are still seen
    expect(graphOf(store, false).nodes.length).toBe(6 + 8);
  });

  it("folds equal layers into one repeated group", () => {
    const store = storeOf(layers(8));
    const graph = graphOf(store, false, true);
    expect(graph.nodes.some((n) => n.group?.kind === "repeat" && n.group.count === 8)).toBe(true);
  });

  it("keeps every row in sight or behind exactly one group", () => {
    const store = storeOf(chain(600));
    const repeats = [...foldTree(skeletonOf(store)).groups.values()].filter(
      (g) => g.kind === "repeat",
    );
    expect(repeats.length).toBeGreaterThan(0);
    const graph = graphOf(
      store,
      false,
      true,
      repeats.map((g) => [g.id, true]),
    );
    for (const row of store.rows) expect(graph.nodeOf(row.row)).not.toBeNull();
    for (const node of graph.nodes)
      for (const edge of graph.edges(node.index))
        expect(graph.nodes[edge.from].column).toBeLessThan(node.column);
  });
});

describe("stepping", () => {
  it("goes forward through rows and backward through the sweep", () => {
    const timeline = new Timeline(storeOf(square()));
    expect([timeline.forward, timeline.length]).toEqual([2, 3]);
    const seen: number[] = [];
    for (let p = 0; p <= timeline.length; p++) {
      timeline.go(p);
      seen.push(timeline.current);
    }
    expect(seen).toEqual([-1, 0, 1, 1]);
    expect(timeline.adjoint(0)?.text).toBe("6.0");
    expect(timeline.adjoint(1)?.text).toBe("1.0");
  });

  it("shows adjoints as they accumulate and takes them back when stepping back", () => {
    const store = storeOf(diamond());
    const timeline = new Timeline(store);
    const at = (step: number, row: number): string | undefined => {
      timeline.go(timeline.forward + step);
      return timeline.adjoint(row)?.text;
    };
    expect(at(1, 1)).toBe("1.0");
    expect(at(0, 1)).toBeUndefined();
    expect(Number(at(4, 0))).toBeCloseTo(4 + 8 * Math.cos(8), 5);
  });

  it("stays within bounds", () => {
    const timeline = new Timeline(storeOf(affine()));
    timeline.go(1e9);
    expect(timeline.position).toBe(timeline.length);
    timeline.go(-5);
    expect(timeline.position).toBe(0);
  });
});

describe("data", () => {
  it("takes deltas in order, refuses gaps, ignores what it has", () => {
    const whole = chain(40);
    const store = storeOf({ ...whole, rows: whole.rows.slice(0, 10) });
    expect(store.take({ ...whole, first: 20, rows: whole.rows.slice(20) })).toBe(false);
    expect(store.rows.length).toBe(10);
    expect(store.take({ ...whole, first: 5, rows: whole.rows.slice(5, 20) })).toBe(true);
    expect(
      store.take({
        ...whole,
        first: 20,
        rows: whole.rows.slice(20),
        changed: [{ row: 3, name: "y" }],
      }),
    ).toBe(true);
    expect(store.rows.map((r) => r.row)).toEqual(whole.rows.map((r) => r.row));
    expect(store.rows[3].name).toBe("y");
  });

  it("starts anew when the recording is another one", () => {
    const store = storeOf(chain(40));
    expect(store.take({ ...square(), record: "r2" })).toBe(true);
    expect(store.rows.length).toBe(2);
    expect(store.take({ ...square(), record: "r3", first: 1 })).toBe(false);
  });

  it("unpacks columns", () => {
    const { rows: _rows, ...rest } = square();
    const forms = [
      { op: "mul", dtype: "a" },
      { op: "mul", dtype: "b" },
    ];
    const edge = {
      input: [0],
      port: [1],
      local: ["~0.1"],
      product: ["nan"],
      sum: [{ text: "[1 2]", data: [1, 2] }],
    };
    const steps = {
      row: [2, 1],
      adjoint: ["1.5", null],
      others: [[1, [{ row: 2, adjoint: "-inf" }]]] as [
        number,
        { row: number; adjoint: string }[],
      ][],
      edges: [1, 0],
      differs: [0],
      ...edge,
    };
    const packed = {
      forms,
      form: [0, 1, 0],
      a: [[], 0, 0],
      b: [null, -1, 1],
      value: ["~0.1", "0.1", null],
      own: [[2, { name: "y" }]] as [number, object][],
    };
    const found = unpack({
      ...rest,
      packed,
      sweep: { target: [2], sources: [], rest: 0, steps, gradients: ["inf"] },
    });
    expect(found.rows.map((r) => [r.row, r.op, r.inputs, r.dtype, r.name])).toEqual([
      [0, "mul", [], "a", null],
      [1, "mul", [0], "b", null],
      [2, "mul", [0, 1], "a", "y"],
    ]);
    expect(found.rows.map((r) => r.value?.data)).toEqual([Math.fround(0.1), 0.1, undefined]);
    const nan = { text: "nan", data: "nan" };
    expect(found.sweep?.steps).toEqual([
      {
        row: 2,
        adjoint: { text: "1.5", data: 1.5 },
        edges: [
          {
            input: 0,
            port: 1,
            local: { text: "0.1", data: Math.fround(0.1) },
            differs: true,
            product: nan,
            sum: { text: "[1 2]", data: [1, 2] },
          },
        ],
      },
      {
        row: 1,
        adjoint: null,
        others: [{ row: 2, adjoint: { text: "-inf", data: "-inf" } }],
        edges: [],
      },
    ]);
    expect(found.sweep?.gradients).toEqual([{ text: "inf", data: "inf" }]);
  });

  it("keeps the end of a path, in the spelling of each framework", () => {
    const names = [
      "w",
      "sequential/dense/kernel",
      "layers.0.linear.bias",
      "params['dense']['w']",
      "params[0]['weight']",
      "velocity_of_the_ball",
    ];
    expect(names.map((name) => shortName(name, 12))).toEqual([
      "w",
      "dense/kernel",
      "…linear.bias",
      "…dense['w']",
      "…['weight']",
      "veloci…_ball",
    ]);
  });

  it("gives numbers four digits, and fewer where they do not fit", () => {
    const scalar = { dtype: "float64", shape: [] };
    expect(brief({ text: "0.30000001" }, scalar, 15)).toBe("0.3");
    expect(brief({ text: "0.30000000000000004" }, scalar, 12)).toBe("0.3");
    expect(brief({ text: "123456.789012345" }, scalar, 9)).toBe("123457");
    expect(brief({ text: "-1.2345678901234e-07" }, scalar, 9)).toBe("-1.235e-7");
    expect(brief({ text: "[[1. 2.]\n [3. 4.]]" }, { dtype: "float32", shape: [2, 2] }, 15)).toBe(
      "(2, 2)",
    );
    expect(
      matrix({
        data: [
          [1, 2],
          [3, "nan"],
        ],
      }),
    ).toEqual([
      [1, 2],
      [3, NaN],
    ]);
  });
});

describe("paths", () => {
  it("lists the paths, their products and their sum", () => {
    const store = storeOf(diamond());
    const found = findPaths(store, 0, 4);
    // x twice into x*x; from there through a+a twice, and directly
    expect(found.paths.length).toBe(6);
    expect(found.sum).toBeCloseTo(4 + 8 * Math.cos(8), 4);
  });

  it("says where a gradient is cut", () => {
    const snapshot = diamond();
    snapshot.rows[1] = { ...snapshot.rows[1], cut: "stop_gradient" };
    const found = findPaths(storeOf(snapshot), 0, 4);
    expect(found.paths).toEqual([]);
    expect(found.breaks).toEqual([{ row: 1, reason: "stop_gradient cuts the path" }]);
  });

  it("gives up gracefully where there are too many", () => {
    const found = findPaths(storeOf(bush(400)), 0, 399);
    expect(found.complete || found.sum === null).toBe(true);
  });
});

it("gives away what was recorded, also while a leaf is moved", () => {
  const store = storeOf(square());
  const before = JSON.stringify(store.snapshot());
  store.imagine(
    new Map([
      [0, { text: "9.0", data: 9 }],
      [1, { text: "81.0", data: 81 }],
    ]),
    null,
  );
  expect(store.rows.map((row) => row.value?.text)).toEqual(["9.0", "81.0"]);
  expect(JSON.stringify(store.snapshot())).toBe(before);
  store.comeBack();
  expect(JSON.stringify(store.snapshot())).toBe(before);
});

it("writes a small array with as many digits as fit", () => {
  const value = { text: "[[-0.52500004  1.6100001 ]]", data: [[-0.52500004, 1.6100001]] };
  const row = { dtype: "float32", shape: [1, 2] };
  expect([40, 18, 12, 9].map((room) => brief(value, row, room))).toEqual([
    "[[-0.525 1.61]]",
    "[[-0.525 1.61]]",
    "(1, 2)",
    "(1, 2)",
  ]);
  const column = { text: "[[1.]\n [2.]]", data: [[1], [2]] };
  expect(brief(column, { dtype: "float32", shape: [2, 1] }, 18)).toBe("[[1.] [2.]]");
  expect(
    brief({ text: "[nan inf]", data: ["nan", "inf"] }, { dtype: "float32", shape: [2] }, 9),
  ).toBe("[nan inf]");
});

describe("words", () => {
  it("speaks with the texts of a snapshot, in their order of values", () => {
    expect(t("{0} of {1} rows", 3, 9)).toBe("3 of 9 rows");
    new Store().take({
      ...chain(2),
      texts: { "{0} of {1} rows": "共 {1} 行，显示 {0} 行", row: "" },
    });
    expect([t("{0} of {1} rows", "{1}", 9), t("row")]).toEqual(["共 9 行，显示 {1} 行", "row"]);
    speak({});
  });

  it("gives wide letters the room of two", () => {
    expect([wide("w1"), wide("权重 w"), wide("…")]).toEqual([2, 6, 1]);
    expect([shortName("权重", 4), shortName("隐藏层的偏置", 8)]).toEqual(["权重", "隐藏层…"]);
  });
});
