// The live drawing: an SVG that holds only what the pane shows, changed in place as the reader
// steps.
import { drawLink } from "./breaks";
import type { Camera } from "./camera";
import type { Drawing, SceneEvents } from "./drawing";
import { s } from "./dom";
import { drawEdges, type DrawnEdges } from "./edge_shapes";
import { paintEdges } from "./edge_states";
import { drawFrame, placeCaption, type Caption } from "./frames";
import { Glide, type SeenPlaces, listPlaces } from "./glide";
import { NODE_H, type Graph, type Node } from "./graph";
import type { Marks } from "./marks";
import { drawNode, type DrawnNode } from "./node_shapes";
import { paintNode } from "./node_states";
import { FAR } from "./place";
import { meets, sharePlaces } from "./shares";
import { drawCards, placeCards, type StepCards } from "./step_cards";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { useDigits } from "./value";

const TEXT_SCALE = 0.4; // below this, text would be unreadable: only boxes are drawn

/** A part of the plane: columns from `left` to `right`, and pixels from `top` to `bottom`. */
interface Window {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export class Scene {
  readonly svg: SVGSVGElement;
  private world = s("g");
  /** what modes draw over the graph */
  readonly over = s("g");
  private layers = {
    frames: s("g"),
    edges: s("g"),
    nodes: s("g", { role: "list", "aria-label": "Nodes" }),
    labels: s("g.mt-labels", { "aria-hidden": "true" }),
  };
  private drawing: Drawing | null = null;
  private nodes = new Map<number, DrawnNode>();
  private edges = new Map<number, DrawnEdges>();
  private captions: Caption[] = [];
  /** the cards of this step, and the sums below its inputs */
  cards: StepCards = { cards: [], sums: [] };
  private covered: SVGElement[] = []; // the numbers on edges that they would lie on

  constructor(
    private store: Store,
    private timeline: Timeline,
    private camera: Camera,
    private marks: Marks,
    private events: SceneEvents,
  ) {
    this.svg = s("svg.mt-scene", { role: "group", "aria-label": "Graph of the tape" }, this.world);
    const { frames, edges, nodes, labels } = this.layers;
    this.world.append(frames, edges, nodes, labels, this.over);
  }

  setGraph(graph: Graph): void {
    this.gliding.stop();
    const { store, timeline, marks, events } = this;
    const plain = this.drawing?.plain ?? false;
    const places = sharePlaces(graph);
    this.drawing = { store, timeline, marks, events, graph, places, plain };
    this.clear();
    const frames = graph.frames.map((frame) => drawFrame(frame, events));
    this.captions = frames.map(([, caption]) => caption);
    this.layers.frames.replaceChildren(
      ...frames.map(([el]) => el),
      ...graph.links.map((link) => drawLink(graph, link)),
    );
    this.draw();
  }

  /** Has the whole of a graph in view, whatever its room; null: no longer. */
  whole(graph: Graph | null): void {
    if (!graph) return this.svg.removeAttribute("viewBox");
    const { left, right, top, bottom } = graph;
    this.svg.setAttribute(
      "viewBox",
      `${left - 8} ${top - 8} ${right - left + 16} ${bottom - top + 16}`,
    );
  }

  private clear(): void {
    this.nodes.clear();
    this.edges.clear();
    this.layers.nodes.replaceChildren();
    this.layers.edges.replaceChildren();
  }

  /** Adds what came into view, drops what left it, and brings everything up to date. */
  draw(): void {
    const { drawing, camera } = this;
    if (!drawing || !camera.width) return;
    useDigits(drawing.store.differs?.digits);
    const { x, y, scale, width, height } = camera;
    this.world.setAttribute("transform", `scale(${scale}) translate(${-x} ${-y})`);
    const plain = scale < TEXT_SCALE;
    for (const caption of this.captions) placeCaption(caption, camera, plain);
    if (plain !== drawing.plain) {
      drawing.plain = plain;
      this.svg.classList.toggle("mt-plain", plain);
      this.clear();
    }
    const { pitch } = drawing.graph;
    const seen = this.addSeen(drawing, {
      left: Math.floor(x / pitch) - 1,
      right: Math.ceil((x + width / scale) / pitch) + 1,
      top: y - 2 * NODE_H,
      bottom: y + height / scale + 2 * NODE_H,
    });
    if (seen.size < this.nodes.size) this.dropOthers(seen);
    this.update();
  }

  /** Draws the nodes that came into a window; returns the numbers of all that are in it. */
  private addSeen(drawing: Drawing, window: Window): Set<number> {
    const { graph } = drawing;
    const seen = new Set<number>();
    const newNodes = document.createDocumentFragment();
    const newEdges = document.createDocumentFragment();
    const [firstColumn, lastColumn] = columnsIn(graph, window);
    for (let column = firstColumn; column <= lastColumn; column++)
      for (const node of graph.byColumn[column]) {
        if (!isInside(graph, node, window) && !reaches(graph, node, window)) continue;
        const { index } = node;
        seen.add(index);
        if (!this.nodes.has(index)) {
          const drawn = drawNode(drawing, node);
          this.nodes.set(index, drawn);
          newNodes.append(drawn.el);
        }
        if (!this.edges.has(index) && (graph.edges(index).length || this.store.torn.length)) {
          const drawn = drawEdges(drawing, node);
          this.edges.set(index, drawn);
          newEdges.append(drawn.el);
        }
      }
    this.layers.nodes.append(newNodes);
    this.layers.edges.append(newEdges);
    return seen;
  }

  /** Takes away what is no longer seen. */
  private dropOthers(seen: Set<number>): void {
    for (const [index, { el }] of this.nodes) {
      if (seen.has(index)) continue;
      el.remove();
      this.nodes.delete(index);
      this.edges.get(index)?.el.remove();
      this.edges.delete(index);
    }
  }

  /** Other numbers on the same rows. */
  refresh(): void {
    for (const drawn of [...this.nodes.values(), ...this.edges.values()]) drawn.key = "";
    this.update();
  }

  /** Brings classes and numbers of what is drawn to the current position. */
  update(): void {
    const { drawing, timeline, marks } = this;
    if (!drawing) return;
    const { graph } = drawing;
    const [current, hover, selected] = [timeline.current, marks.hover, marks.selected].map((row) =>
      graph.nodeOf(row),
    );
    const spotlight = { current, hover, selected };
    for (const [index, drawn] of this.nodes)
      paintNode(drawing, graph.nodes[index], drawn, spotlight);
    this.updateEdges(drawing);
    this.cards = placeCards(drawing, current);
    this.layers.labels.replaceChildren(...drawCards(this.cards));
    this.hideCovered();
  }

  private updateEdges(drawing: Drawing): void {
    const { graph } = drawing;
    const current = graph.nodeOf(this.timeline.current);
    for (const [index, drawn] of this.edges)
      paintEdges(drawing, graph.nodes[index], drawn, current);
  }

  /** Hides the numbers on edges that cards or sums would lie on. */
  private hideCovered(): void {
    for (const number of this.covered) number.removeAttribute("visibility");
    this.covered = [];
    const taken = [...this.cards.cards, ...this.cards.sums.map(([box]) => box)];
    if (!taken.length) return;
    for (const { parts } of this.edges.values())
      for (const { number, box } of parts) {
        if (!number || !box || !taken.some((one) => meets(one, box))) continue;
        number.setAttribute("visibility", "hidden");
        this.covered.push(number);
      }
  }

  // --- gliding from one recording to the next ---

  /** Where the nodes are in the pane, by the keys of their rows. */
  listPlaces(keys: string[]): SeenPlaces {
    return this.drawing ? listPlaces(this.drawing.graph, this.camera, keys) : new Map();
  }

  /** Lets the nodes glide from where they were seen. */
  glideFrom(seen: SeenPlaces, keys: string[]): void {
    if (this.drawing) this.gliding.start(this.drawing.graph, this.camera, seen, keys);
  }

  private gliding = new Glide((share) => {
    const { drawing } = this;
    if (!drawing) return;
    this.svg.classList.toggle("mt-gliding", share < 1);
    for (const [index, { el }] of this.nodes) {
      const { x, y } = drawing.graph.nodes[index];
      el.setAttribute("transform", `translate(${x} ${y})`);
    }
    for (const drawn of this.edges.values()) drawn.key = "";
    if (share >= 1) this.update();
    else this.updateEdges(drawing);
  });
}

/**
 * The columns whose nodes or edges may be in a window: an edge begins at most FAR columns before
 * its node.
 */
function columnsIn(
  { per, reach, columns }: Graph,
  { left, right, top, bottom }: Window,
): [number, number] {
  if (per === Infinity) return [Math.max(0, left - FAR), Math.min(columns - 1, right + FAR)];
  const first = reach.findIndex((line) => line[1] >= top);
  const behind = reach.findIndex((line) => line[0] > bottom);
  if (first < 0) return [0, -1];
  return [first * per, Math.min(columns - 1, (behind < 0 ? reach.length : behind) * per - 1 + FAR)];
}

/** Is a node in a window? */
function isInside(
  { per }: Graph,
  { column, y }: Node,
  { left, right, top, bottom }: Window,
): boolean {
  return (per !== Infinity || (column >= left && column <= right)) && y >= top && y <= bottom;
}

/** Does one of the node's incoming edges cross a window? */
function reaches(graph: Graph, node: Node, { left, right, top, bottom }: Window): boolean {
  return graph.edges(node.index).some((edge) => {
    if (edge.far) return false;
    const from = graph.nodes[edge.from];
    const across =
      graph.per !== Infinity ||
      (Math.min(from.column, node.column) <= right && Math.max(from.column, node.column) >= left);
    return across && Math.min(from.y, node.y) <= bottom && Math.max(from.y, node.y) >= top;
  });
}
