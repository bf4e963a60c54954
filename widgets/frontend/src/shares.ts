// The numbers on the edges over which the sweep has gone: each on its own edge, where no other
// edge, node or number is; and beside nodes.
import type { Box } from "./camera";
import { NODE_H, NODE_W, TIGHT, type Graph, type Node } from "./graph";
import { boxAround, edgeId } from "./labels";
import { backHead, edgeCurve, entersRight, farChips, type Point } from "./shapes";

const SHARE_W = 62; // of a number with eight characters
export const SHARE_H = 15;
const [NARROW, SHORT] = [40, 28]; // of one with five, and with three
const CELL = 32; // pixels of the grid in which it is looked what is near
const MOST = 600; // nodes: of a larger graph no edge has its number
// of the edge's length, the best first
const PLACES = [0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.82, 0.18, 0.88, 0.12];
const [LONG, ENDS] = [40, 6]; // points of an edge, and from its end
// what it costs to lie on a point of another edge, and on a node, a number or an arrowhead
const [COVERED, MUCH] = [20, 1000];
const CROSSED = 3 * COVERED; // to lie over an edge that crosses
const ASIDE: number[] = [0, 5, -5]; // of the middle of an edge, in pixels
// of a number beside a node: its size, and how far its middle is from the node
const [TAG_W, TAG_H, AWAY] = [52, 12, 11];
const STACKED = 8; // pixels of a folded group above its box

/** Tells the number beside a node from those on edges. */
export const tagId = ({ index }: Node): string => `tag ${index}`;

/** Do two boxes, given by their middles, overlap? */
export const meets = (a: Box, b: Box): boolean =>
  Math.abs(a.x - b.x) < (a.w + b.w) / 2 && Math.abs(a.y - b.y) < (a.h + b.h) / 2;

/** The room of a node's slopes, which may have a line each: of a turned graph at the left. */
function slopesBelow({ turned }: Graph, { row, x, y }: Node): Box {
  // an input that is read twice has one slope
  const lines = row ? Math.min(2, new Set(row.inputs).size) : 2;
  const h = SHARE_H * lines - 2;
  return { x: turned ? x : x + NODE_W / 2, y: y + NODE_H + 2.5 + h / 2, w: NODE_W, h };
}

/**
 * By edge where its number is, and how wide it may be; edges without a place where at most one
 * other edge passes have none. The same by node for these nodes, whose number is above or below it.
 */
export function sharePlaces(
  graph: Graph,
  tagged: Node[] = [],
): Map<string, [number, number, number]> {
  const found = new Map<string, [number, number, number]>();
  const widths =
    graph.turned || graph.pitch >= TIGHT ? [SHARE_W] : [SHARE_W, graph.pitch - NODE_W - 12];
  if (graph.nodes.length > MOST) return found;
  if (tagged.length) widths.push(NARROW);
  const points = new Map<string, [number, number, string][]>();
  const boxes = new Map<string, Box[]>();
  const cells = function* ({ x, y, w, h }: Box): Generator<string> {
    for (let i = Math.floor((x - w / 2) / CELL); i <= (x + w / 2) / CELL; i++)
      for (let k = Math.floor((y - h / 2) / CELL); k <= (y + h / 2) / CELL; k++) yield `${i},${k}`;
  };
  const add = <T>(to: Map<string, T[]>, key: string, one: T): void =>
    void (to.get(key)?.push(one) ?? to.set(key, [one]));
  const put = (box: Box): void => {
    for (const cell of cells(box)) add(boxes, cell, box);
  };
  const curves: [string, Point[]][] = [];
  const chips: [string, [number, number, number][]][] = []; // and where a number may be beside each
  for (const node of graph.nodes) {
    put(boxAround(node, 4));
    if (tagged.length) put(slopesBelow(graph, node));
    const far = farChips(graph, graph.edges(node.index));
    for (const { edge, x, y, w, alone } of far) {
      put({ x: x + w / 2, y, w: w + 4, h: 18 });
      const beside = (room: number): [number, number, number] => [
        entersRight(graph, node) ? x + w + 3 + room / 2 : x - 3 - room / 2,
        y,
        room,
      ];
      if (alone)
        chips.push([
          edgeId(edge),
          [beside(NARROW), [x + w / 2, y - 17, NARROW], [x + w / 2, y + 17, NARROW]],
        ]);
    }
    for (const edge of graph.edges(node.index))
      if (!edge.far) {
        curves.push([edgeId(edge), edgeCurve(graph, edge)]);
        put(backHead(graph, edge));
      }
  }
  for (const [id, curve] of curves)
    for (const [x, y] of curve)
      add(points, `${Math.floor(x / CELL)},${Math.floor(y / CELL)}`, [x, y, id]);
  const cost = (box: Box, id: string): number => {
    let sum = 0;
    for (const cell of cells(box)) {
      for (const other of boxes.get(cell) ?? []) if (meets(box, other)) sum += MUCH;
      for (const [x, y, other] of points.get(cell) ?? [])
        if (other !== id && Math.abs(x - box.x) < box.w / 2 && Math.abs(y - box.y) < box.h / 2)
          sum += COVERED;
    }
    return sum;
  };
  const placeOn = (
    curve: Point[],
    id: string,
    sizes: readonly number[],
    most: number,
  ): [number, number, number] | null => {
    let [best, least]: [[number, number, number] | null, number] = [null, most];
    const shares: number[] =
      // beside the nodes it runs alone
      curve.length > LONG ? [...PLACES, ENDS / curve.length, 1 - ENDS / curve.length] : PLACES;
    for (const w of sizes)
      for (const share of best ? [] : shares)
        for (const aside of ASIDE) {
          const [left, y]: Point = curve[Math.round(share * (curve.length - 1))];
          const x: number = left + aside;
          const away: number = 10 * Math.abs(share - 0.5) + Math.abs(aside);
          if (away >= least || x - w / 2 < graph.left || x + w / 2 > graph.right) continue;
          const sum = cost({ x, y, w, h: SHARE_H }, id) + away;
          if (sum < least) [best, least] = [[x, y, w], sum];
        }
    return best;
  };
  const take = (id: string, place: [number, number, number] | null | undefined): void => {
    if (!place) return;
    found.set(id, place);
    put({ x: place[0], y: place[1], w: place[2], h: SHARE_H });
  };
  for (const node of tagged) {
    const y = node.y - AWAY - (node.group ? STACKED : 0);
    const [left, right] = [node.x + TAG_W / 2, node.x + NODE_W - TAG_W / 2];
    const corners = [
      [right, y],
      [left, y],
    ];
    const costs = corners.map(([x, y]) => cost({ x, y, w: TAG_W, h: TAG_H }, ""));
    const [x] = corners[costs.indexOf(Math.min(...costs))];
    take(tagId(node), [x, y, TAG_W]);
  }
  // those without a free place lie over another edge, or are short
  for (const [sizes, most] of [
    [widths, COVERED],
    [widths, CROSSED],
    [tagged.length ? [SHORT] : [], COVERED],
  ] as const)
    for (const [id, curve] of curves) if (!found.has(id)) take(id, placeOn(curve, id, sizes, most));
  for (const [id, places] of chips)
    take(
      id,
      places.find(([x, y, w]) => cost({ x, y, w, h: SHARE_H }, id) < COVERED),
    );
  return found;
}
