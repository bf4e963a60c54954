// Nodes that glide from where the reader saw them to where another program has them.
import type { Camera } from "./camera";
import { reducedMotion } from "./dom";
import type { Graph, Node } from "./graph";

const DURATION = 220; // milliseconds
const MAX_NODES = 150; // of a larger graph each frame would take too long

/** Where nodes are in the pane, by a key that a node has in both programs. */
export type SeenPlaces = Map<string, [number, number]>;

interface Move {
  node: Node;
  home: [number, number];
  away: [number, number];
}

/** Returns where the nodes of rows with a key are in the pane. */
export function listPlaces(graph: Graph, camera: Camera, keys: string[]): SeenPlaces {
  const places: SeenPlaces = new Map();
  const { x, y, scale } = camera;
  for (const node of graph.nodes)
    if (node.row && keys[node.first])
      places.set(keyOf(node, keys), [(node.x - x) * scale, (node.y - y) * scale]);
  return places;
}

/** A number that stands at several places has a node at each of them. */
function keyOf(node: Node, keys: string[]): string {
  return node.at === node.first ? keys[node.first] : `${keys[node.first]} at ${keys[node.at]}`;
}

export class Glide {
  private moves: Move[] = [];
  private frame = 0;

  constructor(private paint: (share: number) => void) {}

  /** Begins at the places where the nodes were seen. */
  start(graph: Graph, camera: Camera, seen: SeenPlaces, keys: string[]): void {
    this.stop();
    if (reducedMotion() || graph.nodes.length > MAX_NODES) return;
    const { x, y, scale } = camera;
    for (const node of graph.nodes) {
      const place = node.row && seen.get(keyOf(node, keys));
      if (!place) continue;
      const away: [number, number] = [place[0] / scale + x - node.x, place[1] / scale + y - node.y];
      if (Math.hypot(...away) * scale > 1) this.moves.push({ node, home: [node.x, node.y], away });
    }
    if (!this.moves.length) return;
    const begin = performance.now();
    const step = (now: number): void => {
      const share = Math.min(1, Math.max(0, (now - begin) / DURATION));
      this.place(1 - (1 - share) ** 3);
      if (share < 1) this.frame = requestAnimationFrame(step);
      else this.moves = [];
    };
    this.place(0);
    this.frame = requestAnimationFrame(step);
  }

  private place(share: number): void {
    for (const { node, home, away } of this.moves)
      [node.x, node.y] = [home[0] + away[0] * (1 - share), home[1] + away[1] * (1 - share)];
    this.paint(share);
  }

  /** Ends at once, with all nodes where they belong. */
  stop(): void {
    cancelAnimationFrame(this.frame);
    if (!this.moves.length) return;
    for (const { node, home } of this.moves) [node.x, node.y] = home;
    this.moves = [];
    this.paint(1);
  }
}
