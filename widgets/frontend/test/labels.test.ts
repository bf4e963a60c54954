// Labels of a backward step: each at its own edge, none over a node or another label.
import { describe, expect, it } from "vitest";
import { buildGraph, borders, COLUMN, NEAR, NODE_H, NODE_W, type Graph } from "../src/graph";
import { drawnEdge, edgeId, LETTER, placeLabels, type Wanted } from "../src/labels";
import { layoutNow } from "../src/layout";
import { besidePoint } from "../src/links";
import { edgeCurve, farChips } from "../src/shapes";
import { Skeleton } from "../src/skeleton";
import { Store } from "../src/store";
import { affine, bush, diamond, Program, square } from "./programs";
import type { Snapshot } from "../src/schema";

function graphOf(snapshot: Snapshot, pitch = COLUMN): { graph: Graph; store: Store } {
  const store = new Store();
  store.take(snapshot);
  const skeleton = new Skeleton();
  skeleton.grow(store.rows);
  const wish = { open: true, patterns: false, toggled: [], borders: borders(store.tapes) };
  return { store, graph: buildGraph(store, layoutNow(skeleton, wish), 0, pitch) };
}

interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** How many pixels two boxes, given by their middles, share on the narrower side. */
function overlap(a: Rect, b: Rect): number {
  const across = (a.w + b.w) / 2 - Math.abs(a.x - b.x);
  const down = (a.h + b.h) / 2 - Math.abs(a.y - b.y);
  return Math.max(0, Math.min(across, down));
}

describe.each([
  ["square", square()],
  ["diamond", diamond()],
  ["affine", affine()],
  ["bush", bush(5)],
] as [string, Snapshot][])("labels of %s", (_name, snapshot) => {
  const { graph, store } = graphOf(snapshot);
  const steps = store.sweep?.steps ?? [];

  it("lie beside each other and beside the nodes", () => {
    for (const step of steps) {
      const node = graph.nodeOf(step.row);
      if (!node?.row) continue;
      const row = node.row;
      const wanted = step.edges.flatMap((edge): Wanted[] => {
        const drawn = drawnEdge(graph, node, edge, row);
        return drawn ? [{ edge: drawn, texts: ["2.5", "× 1.0", "= 2.5"], map: null }] : [];
      });
      const labels = placeLabels(graph, node, wanted, []);
      expect(labels.length).toBe(wanted.length);
      labels.forEach((label, k) => {
        for (const other of labels.slice(k + 1)) expect(overlap(label, other)).toBe(0);
        const own = edgeCurve(graph, wanted.find(({ edge }) => edgeId(edge) === label.id)!.edge);
        const crosses = own.some(
          ([x, y]) => Math.abs(x - label.x) < label.w / 2 && Math.abs(y - label.y) < label.h / 2,
        );
        expect(crosses || label.leader !== null).toBe(true);
        for (const { x, y } of graph.nodes) {
          const box = { x: x + NODE_W / 2, y: y + NODE_H / 2, w: NODE_W, h: NODE_H };
          expect(overlap(label, box)).toBeLessThanOrEqual(NODE_H / 4);
        }
      });
    }
  });
});

it.each(["stop", "detach", "stop_gradient"])(
  "keeps the words %s at a cut edge off its nodes",
  (words) => {
    const program = new Program();
    const x = program.variable("x", 0.5);
    const y = program.sin(program.sin(program.sin(x)));
    const { graph } = graphOf(program.snapshot(y, [x]), NEAR);
    const curve = edgeCurve(graph, graph.edges(2)[0]);
    const { texts, anchor } = besidePoint(graph, [curve[curve.length >> 1]], [words, "line 127"]);
    expect(anchor).toBe("middle");
    for (const { x, y, text } of texts) {
      const label = { x, y: y - 4, w: LETTER * text.length, h: 11 };
      for (const node of graph.nodes) {
        const box = { x: node.x + NODE_W / 2, y: node.y + NODE_H / 2, w: NODE_W, h: NODE_H };
        expect(overlap(label, box)).toBe(0);
      }
    }
  },
);

it("names what is read from afar as its node does, by the row only where it has no name", () => {
  const program = new Program();
  const x = program.variable("x", 0.5);
  program.extra = { name: "c" };
  const named = program.sin(x);
  program.extra = {};
  const unnamed = program.sin(named);
  let y = unnamed;
  for (let k = 0; k < 8; k++) y = program.sin(y);
  y = program.mul(named, program.mul(y, unnamed));
  const { graph } = graphOf(program.snapshot(y, [x]));
  const chips = graph.nodes.flatMap(({ index }) => farChips(graph, graph.edges(index)));
  expect(chips.map(({ text }) => text)).toEqual(["row 2", "c"]);
});
