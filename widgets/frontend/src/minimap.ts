// The whole graph in a corner, with the part in view; click or drag to move there.
import type { Camera } from "./camera";
import { h } from "./dom";
import { COLUMN, NODE_H, NODE_W, type Graph, type Node } from "./graph";

const [WIDTH, HEIGHT] = [150, 56];

export class Minimap {
  readonly el = h("canvas", { class: "mt-minimap", width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" });
  private base: HTMLCanvasElement | null = null;
  private colour = ""; // of the nodes in `base`; none while the view is not in the page
  private graph: Graph | null = null;
  private scale = 1;
  private left = 0;
  private top = 0;

  constructor(private camera: Camera) {
    const move = (event: PointerEvent): void => {
      const box = this.el.getBoundingClientRect();
      camera.center((event.clientX - box.left) / this.scale + this.left, (event.clientY - box.top) / this.scale + this.top);
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
  }

  draw(current: number): void {
    const graph = this.graph;
    const context = this.el.getContext("2d");
    if (!graph || !context) return;
    const whole = { w: graph.columns * COLUMN, h: graph.bottom - graph.top };
    const { camera } = this;
    const needed = whole.w * camera.scale > camera.width * 1.15 || whole.h * camera.scale > camera.height * 1.25;
    this.el.hidden = !needed;
    if (!needed) return;
    this.scale = Math.min(WIDTH / whole.w, HEIGHT / whole.h);
    this.left = -(WIDTH / this.scale - whole.w) / 2;
    this.top = graph.top - (HEIGHT / this.scale - whole.h) / 2;
    const style = getComputedStyle(this.el);
    const colour = style.getPropertyValue("--mt-muted");
    if (!this.base || this.colour !== colour) this.base = this.drawBase(graph, (this.colour = colour));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, 2 * WIDTH, 2 * HEIGHT);
    context.drawImage(this.base, 0, 0);
    const node = graph.nodeOf(current);
    this.el.classList.toggle("mt-left", node !== null && this.covers(node));
    context.setTransform(2, 0, 0, 2, 0, 0);
    if (node) {
      context.fillStyle = style.getPropertyValue("--mt-current");
      context.fillRect((node.x - this.left) * this.scale - 1, (node.y - this.top) * this.scale - 1, Math.max(4, NODE_W * this.scale), Math.max(4, NODE_H * this.scale));
    }
    context.strokeStyle = style.getPropertyValue("--mt-accent");
    context.lineWidth = 1.2;
    const x = Math.max(0.6, (camera.x - this.left) * this.scale);
    const y = Math.max(0.6, (camera.y - this.top) * this.scale);
    const right = Math.min(WIDTH - 0.6, (camera.x + camera.width / camera.scale - this.left) * this.scale);
    const bottom = Math.min(HEIGHT - 0.6, (camera.y + camera.height / camera.scale - this.top) * this.scale);
    context.strokeRect(x, y, Math.max(2, right - x), Math.max(2, bottom - y));
  }

  /** Would it cover a node, at its usual place on the right? */
  private covers(node: Node): boolean {
    const { x, y, scale, width, height } = this.camera;
    const [right, bottom] = [(node.x + NODE_W - x) * scale, (node.y + NODE_H - y) * scale];
    return right > width - WIDTH - 16 && bottom > height - HEIGHT - 16;
  }

  private drawBase(graph: Graph, colour: string): HTMLCanvasElement {
    const base = h("canvas", { width: 2 * WIDTH, height: 2 * HEIGHT });
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
