// The whole graph in a corner, with the part in view; click or drag to move there.
import type { Camera } from "./camera";
import { h, on } from "./dom";
import { NODE_H, NODE_W, type Graph, type Node } from "./graph";
import { edgeCurve } from "./shapes";

const [LONG, SHORT] = [150, 56]; // as wide as this and as high as that, or the other way around

const EDGE = 16; // from the edge of the pane, with its own
const MANY = 500; // nodes: of more it is not examined which the map covers
const CORNERS = [[false, false], [true, false], [false, true], [true, true]]; // left, and at the top; the first is the best

type Part = [number, number, number, number]; // of the drawing: left, top, width, height

const partOf = ({ x, y }: Node): Part => [x, y, NODE_W, NODE_H];

export class Minimap {
  readonly el = h("canvas", { class: "mt-minimap", "aria-hidden": "true" });
  private base: HTMLCanvasElement | null = null;
  private colour = ""; // of the nodes in `base`; none while the view is not in the page
  private graph: Graph | null = null;
  private drawn: Part[] = [];
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
    on(this.el, "pointerdown", (event) => {
      event.stopPropagation();
      this.el.setPointerCapture(event.pointerId);
      move(event);
    });
    on(this.el, "pointermove", (event) => event.buttons && move(event));
  }

  setGraph(graph: Graph): void {
    this.graph = graph;
    this.base = null;
    const near = graph.nodes.length > MANY ? [] : graph.nodes;
    this.drawn = near.flatMap((node) => [partOf(node), ...graph.edges(node.index).flatMap((edge) => (edge.far ? [] : edgeCurve(graph, edge).map(([x, y]) => [x, y, 0, 0] as Part)))]);
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
    this.place(node);
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

  /** In a corner where no nodes and edges are; away where it would cover some everywhere. */
  private place(current: Node | null): void {
    const parts = current ? [...this.drawn, partOf(current)] : this.drawn;
    const free = CORNERS.find(([left, top]) => !parts.some((part) => this.covers(part, left, top)));
    this.el.classList.toggle("mt-left", !!free?.[0]);
    this.el.classList.toggle("mt-top", !!free?.[1]);
    this.el.classList.toggle("mt-away", !free);
  }

  /** Is a part of the drawing where the map would be in this corner? */
  private covers(part: Part, atLeft: boolean, atTop: boolean): boolean {
    const { x, y, scale, width, height } = this.camera;
    const meets = (from: number, length: number, room: number, size: number, first: boolean): boolean =>
      first ? from < size && from + length > 0 : from + length > room - size && from < room;
    return meets((part[0] - x) * scale, part[2] * scale, width, this.width + EDGE, atLeft) && meets((part[1] - y) * scale, part[3] * scale, height, this.height + EDGE, atTop);
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
