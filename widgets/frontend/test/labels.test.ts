// Labels of a backward step: each at its own edge, none over a node or another label.
import { describe, expect, it } from "vitest";
import { buildGraph, borders, NODE_H, NODE_W, type Graph } from "../src/graph";
import { drawnEdge, edgeId, placeLabels, type Wanted } from "../src/labels";
import { layoutNow } from "../src/layout";
import { edgeCurve } from "../src/shapes";
import { Skeleton } from "../src/skeleton";
import { Store } from "../src/store";
import { affine, bush, diamond, square } from "./programs";
import type { Snapshot } from "../src/schema";

function graphOf(snapshot: Snapshot): { graph: Graph; store: Store } {
  const store = new Store();
  store.take(snapshot);
  const skeleton = new Skeleton();
  skeleton.grow(store.rows);
  const wish = { open: true, patterns: false, toggled: [], borders: borders(store.tapes) };
  return { store, graph: buildGraph(store, layoutNow(skeleton, wish)) };
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
