// The whole graph in a corner, with the part in view; click or drag to move there.
import type { Camera } from "./camera";
import { h } from "./dom";
import { NODE_H, NODE_W, type Graph, type Node } from "./graph";

const [LONG, SHORT] = [150, 56]; // as wide as this and as high as that, or the other way round

const EDGE = 16; // from the edge of the pane, with its own
const MANY = 500; // nodes: of more nobody asks which the map covers
const CORNERS = [[false, false], [true, false], [false, true], [true, true]]; // left, and at the top; the first is the best

export class Minimap {
  readonly el = h("canvas", { class: "mt-minimap", "aria-hidden": "true" });
  private base: HTMLCanvasElement | null = null;
  private colour = ""; // of the nodes in `base`; none while the view is not in the page
  private graph: Graph | null = null;
  private scale = 1;
  private left = 0;
  private top = 0;
  private width = LONG;
  private height = SHORT;

  constructor(private camera: Camera) {
    const move = (event: PointerEvent): void => {
      const box = this.el.getBoundingClientRect();
      const scale = (this.scale * box.width) / this.width; // on a narrow page the map is smaller
      camera.center((event.clientX - box.left) / scale + this.left, (event.clientY - box.top) / scale + this.top);
    };
    this.el.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      this.el.setPointerCapture(event.pointerId);
      move(event);
    });
    this.el.addEventListener("pointermove", (event) => event.buttons && move(event));
  }

  setGraph(graph: Graph): void {
    this.graph = graph;
    this.base = null;
    const tall = graph.bottom - graph.top > graph.right - graph.left;
    [this.width, this.height] = tall ? [SHORT, LONG] : [LONG, SHORT];
    if (this.el.width !== 2 * this.width) [this.el.width, this.el.height] = [2 * this.width, 2 * this.height];
    this.el.classList.toggle("mt-tall", tall);
  }

  draw(current: number): void {
    const graph = this.graph;
    const context = this.el.getContext("2d");
    if (!graph || !context) return;
    const whole = { w: graph.right - graph.left, h: graph.bottom - graph.top };
    const { width, height } = this;
    const { camera } = this;
    const needed = whole.w * camera.scale > camera.width * 1.15 || whole.h * camera.scale > camera.height * 1.25;
    this.el.hidden = !needed;
    if (!needed) return;
    this.scale = Math.min(width / whole.w, height / whole.h);
    this.left = graph.left - (width / this.scale - whole.w) / 2;
    this.top = graph.top - (height / this.scale - whole.h) / 2;
    const style = getComputedStyle(this.el);
    const colour = style.getPropertyValue("--mt-muted");
    if (!this.base || this.colour !== colour) this.base = this.drawBase(graph, (this.colour = colour));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, 2 * width, 2 * height);
    context.drawImage(this.base, 0, 0);
    const node = graph.nodeOf(current);
    this.stand(graph, node);
    context.setTransform(2, 0, 0, 2, 0, 0);
    if (node) {
      context.fillStyle = style.getPropertyValue("--mt-current");
      context.fillRect((node.x - this.left) * this.scale - 1, (node.y - this.top) * this.scale - 1, Math.max(4, NODE_W * this.scale), Math.max(4, NODE_H * this.scale));
    }
    context.strokeStyle = style.getPropertyValue("--mt-accent");
    context.lineWidth = 1.2;
    const x = Math.max(0.6, (camera.x - this.left) * this.scale);
    const y = Math.max(0.6, (camera.y - this.top) * this.scale);
    const east = Math.min(width - 0.6, (camera.x + camera.width / camera.scale - this.left) * this.scale);
    const south = Math.min(height - 0.6, (camera.y + camera.height / camera.scale - this.top) * this.scale);
    context.strokeRect(x, y, Math.max(2, east - x), Math.max(2, south - y));
  }

  /** In a corner where no nodes are; in none where it would be in the way everywhere. */
  private stand(graph: Graph, current: Node | null): void {
    const near = graph.nodes.length > MANY ? [] : graph.nodes;
    const costs = CORNERS.map(([left, top]) => near.filter((node) => this.covers(node, left, top)).length + (current && this.covers(current, left, top) ? Infinity : 0));
    const least = Math.min(...costs);
    const [left, top] = CORNERS[costs.indexOf(least)];
    this.el.classList.toggle("mt-left", left);
    this.el.classList.toggle("mt-top", top);
    this.el.classList.toggle("mt-away", least > 0);
  }

  /** Is a node where the map would be in this corner? */
  private covers(node: Node, atLeft: boolean, atTop: boolean): boolean {
    const { camera } = this;
    const [x, y, scale] = [(node.x - camera.x) * camera.scale, (node.y - camera.y) * camera.scale, camera.scale];
    const [w, h] = [this.width + EDGE, this.height + EDGE];
    return (atLeft ? x < w && x + NODE_W * scale > 0 : x + NODE_W * scale > camera.width - w && x < camera.width) && (atTop ? y < h && y + NODE_H * scale > 0 : y + NODE_H * scale > camera.height - h && y < camera.height);
  }

  private drawBase(graph: Graph, colour: string): HTMLCanvasElement {
    const base = h("canvas", { width: 2 * this.width, height: 2 * this.height });
    const context = base.getContext("2d") as CanvasRenderingContext2D;
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.fillStyle = colour;
    for (const node of graph.nodes) {
      const [x, y] = [(node.x - this.left) * this.scale, (node.y - this.top) * this.scale];
      context.fillRect(x, y, Math.max(0.8, NODE_W * this.scale), Math.max(0.8, NODE_H * this.scale));
    }
    return base;
  }
}
