// What is folded at each level of a network: layers are seen, however deep it is.
import { describe, expect, it } from "vitest";
import { groupTitle } from "../src/fold";
import { buildGraph, type Graph } from "../src/graph";
import { layoutNow } from "../src/layout";
import { Planner, wishOf, type Level } from "../src/planner";
import { heldText } from "../src/shapes";
import { Skeleton } from "../src/skeleton";
import { Store } from "../src/store";
import { squeezed } from "../src/wrap";
import { Program } from "./programs";

/** A transformer: an embedding, blocks of six layers, and a head; each layer has a weight. */
function transformer(blocks: number): Store {
  const program = new Program();
  const layer = (name: string, input: number, scope: string[]): number => {
    program.scope = scope;
    program.line++;
    const out = program.mul(input, program.variable(`${name}.weight`, 0.5));
    program.scope = [];
    return out;
  };
  let x = layer("emb", program.constant(1), ["GPT", "emb"]);
  for (let k = 0; k < blocks; k++) {
    program.line = 10; // the same lines in each block
    for (const part of ["n1", "qkv", "proj", "n2", "up", "down"])
      x = layer(`blocks.${k}.${part}`, x, ["GPT", `blocks.${k}`, part]);
  }
  program.line = 50;
  x = layer("head", x, ["GPT", "head"]);
  return take(program, x);
}

/** A chain of layers with an operation behind each, in one module. */
function chain(layers: number): Store {
  const program = new Program();
  let x = program.constant(1);
  for (let k = 0; k < layers; k++) {
    program.line = 3;
    program.scope = ["MLP", `layers.${k}`];
    x = program.mul(x, program.variable(`layers.${k}.weight`, 0.5));
    program.scope = ["MLP"];
    program.line = 4;
    x = program.sin(x);
  }
  program.line = 5;
  return take(program, program.add(x, x));
}

function take(program: Program, target: number): Store {
  const store = new Store();
  store.take(program.snapshot(target, [target]));
  return store;
}

function graphAt(store: Store, level: Level): Graph {
  const skeleton = new Skeleton();
  skeleton.grow(store.rows);
  return buildGraph(store, layoutNow(skeleton, wishOf(store, level, new Map(), true)));
}

const titles = ({ nodes }: Graph): string[] =>
  nodes.flatMap(({ group }) => (group ? [groupTitle(group)] : []));

describe("a network with more layers than are shown side by side", () => {
  const store = transformer(12);

  it("shows its blocks at the level of layers", () => {
    const blocks = Array.from({ length: 12 }, (_, k) => `blocks.${k}`);
    for (const level of ["layers", "blocks"] as const)
      expect(titles(graphAt(store, level))).toEqual(["emb", ...blocks, "head"]);
  });

  it("shows what repeats as one node where patterns are folded", () => {
    expect(titles(graphAt(store, "all"))).toEqual(["emb", "blocks × 12", "head"]);
  });

  it("names the first and the last variable of what repeats", () => {
    const graph = graphAt(store, "all");
    const node = graph.nodes.find(({ group }) => group?.kind === "repeat")!;
    expect(heldText(store, graph, node)).toMatch(/n1\.weight … .*down\.weight$/);
  });

  it("leaves out of these names what the node itself says, so that they are whole", () => {
    const graph = graphAt(store, "blocks");
    const node = graph.nodes.find(({ group }) => group?.label === "blocks.11")!;
    expect(heldText(store, graph, node)).toBe("n1.weight … down.weight");
  });
});

it("holds the weights of layers in them where a network has many rows", () => {
  const namesIn = (blocks: number): string[] =>
    graphAt(transformer(blocks), "all").nodes.flatMap(({ row }) => row?.name ?? []);
  expect(namesIn(12)).toEqual(["emb.weight", "head.weight"]);
  expect(namesIn(36)).toEqual([]);
  expect(titles(graphAt(transformer(36), "all"))).toEqual(["emb", "blocks × 36", "head"]);
  const store = transformer(36);
  const graph = graphAt(store, "all");
  const head = graph.nodes.find(({ group }) => group && groupTitle(group) === "head")!;
  expect(heldText(store, graph, head)).toBe("head.weight");
});

/** Layers in a row, each with variables or sources of its own, and an operation behind each. */
function stack(layers: number, kind: "variable" | "source", scoped = true): Store {
  const program = new Program();
  const made = Array.from({ length: layers }, (_, k) =>
    kind === "source" ? ["w", "b"].map((name) => program.source(`p[${k}].${name}`, 0.5)) : [],
  );
  let x = program.constant(1);
  for (let k = 0; k < layers; k++) {
    program.line = scoped ? 3 + k : 3;
    const own = made[k].length
      ? made[k]
      : ["w", "b"].map((name) => program.variable(`fc${k}.${name}`, 0.5));
    if (scoped) program.scope = ["Net", `fc${k}`];
    x = program.add(program.mul(x, own[0]), own[1]);
    program.scope = [];
    program.line++;
    x = program.sin(x);
  }
  return take(program, x);
}

it("lets layers and loops hold their weights where a graph would be too high otherwise", () => {
  const heldAt = (store: Store): [Level, string[]] => {
    const level = new Planner().level(store, false);
    const graph = graphAt(store, level);
    return [level, graph.nodes.map((node) => heldText(store, graph, node)).filter(Boolean)];
  };
  expect(heldAt(stack(1, "variable"))).toEqual(["none", []]);
  const five = Array.from({ length: 5 }, () => "w, b");
  expect(heldAt(stack(5, "variable"))).toEqual(["held", five]);
  // what the first layer is given could be among its sources
  const given = five.slice(1).map((_, k) => `p[${k + 1}].w, p[${k + 1}].b`);
  expect(heldAt(stack(5, "source"))).toEqual(["held", given]);
  expect(heldAt(stack(5, "source", false))).toEqual(["packed", ["p[0].w … p[4].b"]]);
});

it("shows every layer of a network that has few", () => {
  const parts = ["n1", "qkv", "proj", "n2", "up", "down"];
  expect(titles(graphAt(transformer(2), "layers"))).toEqual(["emb", ...parts, ...parts, "head"]);
});

it("calls a layer and what is behind it by the layer's name where they repeat", () => {
  expect(titles(graphAt(chain(20), "all"))).toEqual(["layers × 20"]);
});

it("chooses a level at which the parts of a network are seen", () => {
  for (const store of [transformer(6), transformer(12), chain(20)]) {
    const graph = graphAt(store, new Planner().level(store, false));
    expect(titles(graph)).not.toContain("GPT");
    expect(titles(graph)).not.toContain("MLP");
    expect(graph.columns).toBeLessThanOrEqual(10);
  }
});

it("shows what every turn of a long loop reads beside the folded loop", () => {
  const program = new Program();
  const w = program.variable("w", 0.9);
  let [h, u] = [program.constant(0.5), -1];
  for (let turn = 0; turn < 200; turn++) {
    program.line = 3;
    h = program.mul(h, w);
    if (turn === 0) u = program.variable("u", 0.3); // made right before it is first read
    program.line = 4;
    h = program.add(h, u);
    program.line = 5;
    h = program.add(h, program.constant(turn)); // of one turn: it stays in the loop
  }
  const graph = graphAt(take(program, h), "all");
  const loop = graph.nodes.find(({ group }) => group?.kind === "repeat")!;
  const read = graph.edges(loop.index).map(({ from }) => graph.nodes[from].first);
  expect(new Set(read)).toEqual(new Set([0, 1, u]));
  expect(graph.nodes).toHaveLength(4);
});

it("leaves no half-slot of a line empty, as an edge that passes other lines would", () => {
  const [column, slot] = [
    [0, 0, 1, 2],
    [0, 6, 10, 20],
  ].map((list) => Int32Array.from(list));
  const edges = Int32Array.from([0, 0, 1, 0, 2, 1, -3, 2, 14]); // it passes columns 1 and 2
  const found = squeezed({ column, slot, edges }, 2, (i) => i === 1);
  expect([...found.slot]).toEqual([1, 3, 4, 1]); // the number takes one
  expect([...found.edges]).toEqual([0, 0, 1, 0, 2, 1, 0, 2, 0]);
});
