// The dashed curves to a state of a variable: around the nodes, and crossed where the gradient
// ends.
import { NODE_H, NODE_W, type Graph, type Link, type Node } from "./graph";
import { LETTER } from "./labels";
import { edgeCurve, type Point } from "./shapes";
import { wide } from "./words";

const SIDES: Point[] = [
  [1, 0],
  [0, 1],
  [0, -1],
  [-1, 0],
  // where a curve enters; one that continues to the right leaves a node on all sides but the last,
  // where inputs are
];
const BENDS = [30, 70, 140]; // how far it goes straight on there
const POINTS = 12; // of a piece of a curve that are examined
const MARGIN = 6; // from a node
const OUTSIDE = 24; // above or below the graph
const CORNER = 20; // pixels
const ACROSS = 500; // what it costs to go from one line to another across the nodes and edges there
const MANY = 200; // links: of more each has the first curve
const EDGE = 20; // a cross this far from an edge can be read

interface Way {
  d: string;
  points: Point[];
}

/**
 * The curve of a link that meets the fewest nodes, the shortest of them; and its point that is
 * furthest from edges and nodes.
 */
export function linkWay(
  graph: Graph,
  { from, to }: Link,
): { d: string; cross: Point; points: Point[] } {
  const nodes = graph.byColumn
    .slice(Math.max(0, Math.min(from.column, to.column) - 1), Math.max(from.column, to.column) + 2)
    .flat();
  const outs = to.x > from.x ? SIDES.slice(0, 3) : SIDES;
  const ins = SIDES.filter((_, k) => k !== Number(graph.turned)); // edges leave on the other side
  const ways = BENDS.flatMap((bend) =>
    outs.flatMap((out) =>
      ins.map((into) =>
        way([at(from, out, 0), at(from, out, bend), at(to, into, bend), at(to, into, 2)], into),
      ),
    ),
  );
  const inner = nodes.filter(
    (node) =>
      node.column > from.column &&
      node.column < to.column &&
      node.line === from.line &&
      node.line === to.line,
  );
  if (inner.length) {
    const [left, right] = [
      Math.min(...inner.map((node) => node.x)) - MARGIN,
      Math.max(...inner.map((node) => node.x)) + NODE_W + MARGIN,
    ];
    const [a, b] = [at(from, SIDES[0], 0), at(to, SIDES[3], 2)];
    for (const level of inner.flatMap((node) => [node.y - 9, node.y + NODE_H + 9])) {
      const [p, q] = [(a[0] + left) / 2, (b[0] + right) / 2];
      ways.push(
        way(
          [
            a,
            [p, a[1]],
            [p, level],
            [left, level],
            [left, level],
            [right, level],
            [right, level],
            [q, level],
            [q, b[1]],
            b,
          ],
          SIDES[3],
        ),
      );
    }
  }
  const around = waysAround(graph, from, to);
  const met = (point: Point): boolean =>
    nodes.some(
      ({ x, y }) =>
        point[0] > x - MARGIN &&
        point[0] < x + NODE_W + MARGIN &&
        point[1] > y - MARGIN &&
        point[1] < y + NODE_H + MARGIN,
    );
  const cost = ({ points }: Way, isAcross: boolean): number =>
    ACROSS * Number(isAcross) +
    1000 * points.slice(1, -1).filter((point) => met(point) || isOutside(graph, point)).length +
    length(points);
  const best =
    graph.links.length > MANY
      ? ways[0]
      : [...around, ...ways]
          .map((one, k) => [cost(one, around.length > 0 && k >= around.length), one] as const)
          .reduce((least, one) => (one[0] < least[0] ? one : least))[1];
  const others = nodes.flatMap((node) =>
    graph.edges(node.index).flatMap((edge) => (edge.far ? [] : edgeCurve(graph, edge))),
  );
  const free = (point: Point): number =>
    met(point) ? -1 : Math.min(EDGE, ...others.map((other) => length([other, point])));
  const points = best.points.slice(3, -2).sort((a, b) => free(b) - free(a));
  return { d: best.d, cross: points[0], points };
}

/** Is a point where a pane that shows the whole graph ends? */
const isOutside = ({ turned, left, right, top, bottom }: Graph, [x, y]: Point): boolean =>
  y < top - OUTSIDE ||
  y > bottom + OUTSIDE ||
  (turned && (x < left - MARGIN || x > right + MARGIN));

/**
 * Ways around two corners: to a node in a later line through the room above that line, and of a
 * turned graph along its right or its left side.
 */
function waysAround({ reach, turned, left, right }: Graph, from: Node, to: Node): Way[] {
  if (turned)
    return [0, 3].map((side) => {
      const [a, b] = [at(from, SIDES[side], 0), at(to, SIDES[side], 2)];
      const x = side ? left - 3 : right + 3;
      return cornered([a, [x, a[1]], [x, b[1]], b], SIDES[side]);
    });
  if (to.line <= from.line) return [];
  const [a, b] = [at(from, SIDES[1], 0), at(to, SIDES[2], 2)];
  return [10, 18, 26].map((above) => {
    const y = reach[to.line][0] - above;
    return cornered([a, [a[0], y], [b[0], y], b], SIDES[2]);
  });
}

/** A way through two corners that are round. */
function cornered([a, first, last, b]: Point[], into: Point): Way {
  const apart = length([first, last]) || 1;
  const [p, q] = [CORNER / apart, 1 - CORNER / apart].map(
    (share) => [0, 1].map((k) => first[k] + share * (last[k] - first[k])) as Point,
  );
  return way([a, first, first, p, p, q, q, last, last, b], into);
}

/**
 * Where words stand at one of these points: below it, above it, or beside it, in one line or in
 * each its own, where they cover the least.
 */
export function besidePoint(
  graph: Graph,
  points: Point[],
  words: string[],
): { at: Point; texts: { x: number; y: number; text: string }[]; anchor: string } {
  const edges = graph.nodes.flatMap(({ index }) => graph.edges(index));
  const drawn = points.concat(...edges.map((edge) => (edge.far ? [] : edgeCurve(graph, edge))));
  const covered = (left: number, top: number, w: number, h: number): number =>
    1000 * Number(left < graph.left || left + w > graph.right) +
    drawn.filter(([a, b]) => a > left && a < left + w && b > top && b < top + h).length +
    100 *
      graph.nodes.filter(
        (node) =>
          node.x - MARGIN < left + w &&
          node.x + NODE_W + MARGIN > left &&
          node.y - MARGIN < top + h &&
          node.y + NODE_H + MARGIN > top,
      ).length;
  const places = points.flatMap((at) =>
    [words, [words.join(", ")]].flatMap((lines) => {
      const [w, h] = [LETTER * Math.max(...lines.map(wide)), 15 * lines.length];
      const sides = [
        [-w / 2, 13, 0],
        [-w / 2, -13 - h, 0],
        [15, -h / 2, 1],
        [-15 - w, -h / 2, -1],
        // between two nodes that are too near for the words there is room above and below them
        [-w / 2, -NODE_H / 2 - MARGIN - h, 0],
        [-w / 2, NODE_H / 2 + MARGIN, 0],
      ];
      return sides.map(([dx, dy, side]) => ({
        cost: covered(at[0] + dx, at[1] + dy, w, h) + covered(at[0] - 10, at[1] - 10, 20, 20),
        at,
        lines,
        dy,
        side,
      }));
    }),
  );
  const { at, lines, dy, side } = places.reduce((best, one) => (one.cost < best.cost ? one : best));
  return {
    at,
    texts: lines.map((text, k) => ({ x: at[0] + 15 * side, y: at[1] + dy + 11 + 15 * k, text })),
    anchor: ["end", "middle", "start"][side + 1],
  };
}

const length = (points: Point[]): number =>
  points.reduce(
    (sum, [x, y], k) => sum + (k ? Math.hypot(x - points[k - 1][0], y - points[k - 1][1]) : 0),
    0,
  );

/** The middle of a side of a node, or a point before it. */
function at({ x, y }: Node, side: Point, away: number): Point {
  return [
    x + (NODE_W / 2) * (1 + side[0]) + away * side[0],
    y + (NODE_H / 2) * (1 + side[1]) + away * side[1],
  ];
}

/**
 * Curves through every third of these points, with the others to bend them; the last ends in an
 * arrow to a side of a node.
 */
function way(through: Point[], [x, y]: Point): Way {
  const points = [through[0]];
  for (let from = 0; from < through.length - 1; from += 3)
    for (let k = 1; k <= POINTS; k++) {
      const t = k / POINTS;
      const shares = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
      points.push(
        [0, 1].map((axis) =>
          shares.reduce((sum, share, i) => sum + share * through[from + i][axis], 0),
        ) as Point,
      );
    }
  const tip = `m${5 * x - 3.5 * y} ${5 * y + 3.5 * x}l${3.5 * y - 5 * x} ${-3.5 * x - 5 * y}l${5 * x + 3.5 * y} ${5 * y - 3.5 * x}`;
  return { d: `M${through[0]}C${through.slice(1).join(" ")}${tip}`, points };
}
