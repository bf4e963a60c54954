// Draws a film at any time: the scene at a step of the tape, and what travels between two steps.
import { Camera } from "../src/camera";
import { Cut } from "../src/cut";
import { h, s } from "../src/dom";
import { boxOf } from "../src/export";
import { Fitting } from "../src/fitting";
import { Folding } from "../src/folding";
import { buildGraph, COLUMN, PAD, stage, TIGHT, type Graph } from "../src/graph";
import { drawnEdge, LETTER } from "../src/labels";
import type { Layout } from "../src/layout";
import { Marks } from "../src/marks";
import { Present } from "../src/present";
import { NO_EVENTS } from "../src/drawing";
import { Scene } from "../src/scene";
import { edgeCurve, nodeValue, type Point } from "../src/shapes";
import { Store } from "../src/store";
import type { Snapshot, SweepEdge } from "../src/schema";
import { Timeline } from "../src/timeline";
import { elide } from "../src/value";
import { numberOf, WhatIf } from "../src/whatif";
import { t } from "../src/words";
import { beatAt, durationOf, planBeats, splitLines, type Beat, type Shot } from "./storyboard";

const LEGIBLE = 1.1; // the scale below which a film shows a part of the graph, and moves
const LARGEST = 2.6;
const ROOM = 9; // letters of a number that travels
// shares of a beat: when inputs have arrived at a new row, and when products leave and arrive
const [COMPUTED, LEAVES, ARRIVES] = [0.7, 0.3, 0.75];
const PAN = 0.3; // share of a beat in which the camera moves
const [HEIGHT, APART] = [20, 3]; // pixels of a number that travels, and between it and a node

export interface Size {
  width: number;
  height: number;
}

/** Slow at the begin and at the end. */
const ease = (share: number): number => share * share * (3 - 2 * share);

/** How far a part of a beat has come. */
const within = (share: number, begin: number, end: number): number =>
  Math.max(0, Math.min(1, (share - begin) / (end - begin)));

export class Director {
  readonly svg: SVGSVGElement;
  readonly beats: Beat[];
  readonly duration: number;
  private store = new Store();
  private timeline: Timeline;
  private camera = new Camera(() => undefined);
  private marks: Marks;
  private scene: Scene;
  private cut: Cut;
  private present: Present;
  private travellers = s("g.mt-labels", {});
  private graph: Graph;
  private corners: Point[]; // where the camera is at the end of each beat
  private recorded: number[]; // the numbers of the rows, before any drag
  private dragged = ""; // the drags that the numbers of the store show
  private refused = ""; // why a cut or a drag cannot be shown
  // sizes in pixels of the film
  private unit: number;
  private head: SVGTextElement;
  private words = s("g");
  private subtitle = s("g");

  /** `home` is an element in the page that is seen or not: styles need one. */
  constructor(
    home: HTMLElement,
    snapshot: Snapshot,
    shots: Shot[],
    private size: Size,
  ) {
    this.store.take(snapshot);
    this.recorded = this.store.rows.map(({ value }) => numberOf(value));
    this.timeline = new Timeline(this.store);
    this.beats = planBeats(shots, this.timeline);
    this.duration = durationOf(this.beats);
    this.marks = new Marks(this.store);
    this.scene = new Scene(this.store, this.timeline, this.camera, this.marks, NO_EVENTS);
    this.cut = new Cut(
      this.store,
      () => this.marks.selected,
      (text) => (this.refused = text),
    );
    this.scene.over.append(this.cut.el, this.travellers);
    const words = h("div.mt-present", {});
    this.present = new Present(words, this.store, this.timeline, () => undefined);
    this.unit = Math.sqrt(size.width * size.height) / 1440;
    const { width, height } = size;
    const [above, below] = [110 * this.unit, 290 * this.unit];
    this.camera.resize(width, height - above - below);
    this.graph = this.layOut();
    this.corners = this.planCamera();
    this.head = s("text", {
      x: width / 2,
      y: 75 * this.unit,
      "text-anchor": "middle",
      class: "mt-film-code",
      style: `font-size: ${38 * this.unit}px`,
    });
    for (const [name, value] of Object.entries({
      x: 0,
      y: above,
      width,
      height: height - above - below,
    }))
      this.scene.svg.setAttribute(name, String(value));
    this.svg = s(
      "svg.mt-film",
      { viewBox: `0 0 ${width} ${height}`, role: "img" },
      this.head,
      this.scene.svg,
      this.words,
      this.subtitle,
    );
    home.append(this.svg);
    this.scene.setGraph(this.graph);
    this.draw(0);
  }

  /** Folds and places the rows in lines that fill the frame. */
  private layOut(): Graph {
    let layout: Layout | null = null;
    const folding = new Folding(this.store, false, (found) => (layout = found));
    folding.layOut();
    folding.destroy();
    if (!layout) throw new Error(t("This tape is too long for a film."));
    const line = this.findLargest(this.flatIfCut(layout));
    if (this.scaleOf(line) >= LEGIBLE) return line;
    const fitting = new Fitting(
      this.camera,
      this.store,
      this.timeline,
      this.scene,
      () => true,
      () => false,
      () => false,
      () => false,
    );
    return fitting.wrapped(layout);
  }

  /** The graph of a layout in one line, with closer columns where that makes it larger. */
  private findLargest(layout: Layout): Graph {
    const graphs = [COLUMN, TIGHT].map((pitch) => buildGraph(this.store, layout, 0, pitch));
    const scales = graphs.map((graph) => Math.min(LARGEST, this.scaleOf(graph)));
    return graphs[scales.indexOf(Math.max(...scales))];
  }

  /** The cut needs a graph of one storey. */
  private flatIfCut(layout: Layout): Layout {
    return (this.beats.some(({ kind }) => kind === "cut") && layout.flat) || layout;
  }

  /** The scale at which all of the graph is in the frame. */
  private scaleOf(graph: Graph): number {
    const { w, h } = boxOf(graph);
    return Math.min(this.camera.width / w, this.camera.height / h);
  }

  /** Fits the graph into the frame; of a large one, follows what happens. */
  private planCamera(): Point[] {
    const { camera, graph, timeline } = this;
    camera.fit(boxOf(graph), LEGIBLE, LARGEST);
    const [width, height] = [camera.width / camera.scale, camera.height / camera.scale];
    return this.beats.map(({ after }): Point => {
      timeline.go(after);
      const seen = stage(graph, timeline, timeline.current, width - 2 * PAD, height - 2 * PAD);
      if (seen) camera.reveal(seen, false);
      return [camera.x, camera.y];
    });
  }

  /** Draws the film as it is after so many seconds. */
  draw(time: number): void {
    const { index, share } = beatAt(this.beats, time);
    const beat = this.beats[index];
    this.take(index, share);
    const [from, to] = [this.corners[Math.max(0, index - 1)], this.corners[index]];
    const moved = ease(within(share, 0, PAN));
    [this.camera.x, this.camera.y] = [
      from[0] + (to[0] - from[0]) * moved,
      from[1] + (to[1] - from[1]) * moved,
    ];
    this.travellers.replaceChildren();
    this.cut.on = beat.kind === "cut";
    this.svg.classList.toggle("mt-cutting", this.cut.on);
    this.marks.selected = beat.kind === "cut" ? (beat.row ?? -1) : -1;
    if (beat.kind === "row") this.drawRow(beat, share);
    else if (beat.kind === "step") this.drawStep(beat, share);
    else this.show(beat.after);
    this.cut.draw(this.graph);
    this.write(beat);
  }

  /** Shows a step of the tape, with nothing on the way. */
  private show(position: number): void {
    this.timeline.go(position);
    this.scene.draw();
    this.scene.refresh();
  }

  /** A new row: the values of its inputs travel to it, and then it is there. */
  private drawRow(beat: Beat, share: number): void {
    this.show(share < COMPUTED ? beat.before : beat.after);
    const node = this.graph.nodeOf(beat.before);
    if (!node) return;
    if (share >= COMPUTED) return this.fadeIn(node.index, within(share, COMPUTED, 1));
    const at = ease(within(share, PAN / 2, COMPUTED));
    for (const edge of this.graph.edges(node.index)) {
      const row = this.graph.nodes[edge.from].row;
      if (edge.far || !row?.value) continue;
      this.travel(edgeCurve(this.graph, edge), at, nodeValue(row.value, row, ROOM), "");
    }
  }

  /** A step of the sweep: products appear on the edges, travel along them, and are added up. */
  private drawStep(beat: Beat, share: number): void {
    const { graph, timeline, scene } = this;
    timeline.go(beat.after);
    const { step } = timeline;
    const node = step && graph.nodeOf(step.row);
    if (!step || !node?.row || share >= ARRIVES) {
      this.show(beat.after);
      if (step) this.fadeSums(within(share, ARRIVES, 1));
      return;
    }
    this.showWithoutArrivals(beat, step.edges);
    // Cards appear, and are gone when their products leave: these would cover them.
    const cards = share < LEAVES ? within(share, 0, LEAVES / 2) : 0;
    for (const card of scene.svg.querySelectorAll<SVGElement>(".mt-product"))
      card.style.opacity = String(cards);
    if (share < LEAVES) return;
    const at = ease(within(share, LEAVES, ARRIVES));
    for (const edge of step.edges) {
      const drawn = drawnEdge(graph, node, edge, this.store.rows[step.row]);
      if (!drawn || drawn.far) continue;
      const curve = edgeCurve(graph, drawn).reverse();
      const product = nodeValue(edge.product, this.store.rows[edge.input], ROOM);
      this.travel(curve, at, product, "mt-back", 0.5); // from where its card was
    }
  }

  /** A step of the sweep, before its products have arrived in nodes and sums. */
  private showWithoutArrivals(beat: Beat, edges: SweepEdge[]): void {
    this.show(beat.before);
    const inputs = edges.map(({ input }) => this.graph.nodeOf(input)?.index ?? -1);
    const before = new Map(
      inputs.map((index) => [
        index,
        [this.adjointOf(index)?.textContent, this.nodeEl(index)?.getAttribute("class")],
      ]),
    );
    this.show(beat.after);
    for (const [index, [adjoint, name]] of before) {
      const [node, text] = [this.nodeEl(index), this.adjointOf(index)];
      if (text) text.textContent = adjoint ?? "";
      node?.setAttribute("class", name ?? "");
    }
    this.fadeSums(0);
  }

  private nodeEl(index: number): SVGElement | null {
    return this.scene.svg.querySelector(`.mt-node[data-index="${index}"]`);
  }

  private adjointOf(index: number): SVGElement | null {
    return this.nodeEl(index)?.querySelector<SVGElement>(".mt-adjoint") ?? null;
  }

  private fadeIn(index: number, share: number): void {
    const node = this.nodeEl(index);
    if (node) node.style.opacity = String(0.4 + 0.6 * ease(share));
    if (node && share >= 1) node.style.opacity = "";
  }

  private fadeSums(share: number): void {
    for (const sum of this.scene.svg.querySelectorAll<SVGElement>(".mt-addends"))
      sum.style.opacity = share >= 1 ? "" : String(ease(share));
  }

  /** A number on its way along a curve, or its last part: it covers no node at the ends. */
  private travel(curve: Point[], share: number, text: string, name: string, begin = 0): void {
    if (!text) return;
    const width = text.length * LETTER + 10;
    const [axis, half] = this.graph.turned ? [1, HEIGHT / 2] : [0, width / 2];
    const ends = [curve[0], curve[curve.length - 1]].map((end) => end[axis]);
    const free = curve.filter((at) => ends.every((end) => Math.abs(at[axis] - end) > half + APART));
    const way = free.length ? free : [curve[curve.length >> 1]];
    const place = (begin + share * (1 - begin)) * (way.length - 1);
    const [a, b] = [way[Math.floor(place)], way[Math.ceil(place)]];
    const part = place - Math.floor(place);
    const [x, y] = [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];
    this.travellers.append(
      s(
        "g",
        { class: `mt-traveller ${name}`, transform: `translate(${x} ${y})` },
        s("rect", { x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT, rx: HEIGHT / 2 }),
        s("text", { y: 4.5, "text-anchor": "middle" }, text),
      ),
    );
  }

  /** Puts the numbers in place that the drags up to now have led to. */
  private take(index: number, share: number): void {
    const values = new Map<number, number>();
    for (const [k, { kind, row, value }] of this.beats.slice(0, index + 1).entries()) {
      if (kind !== "drag" || row === undefined || value === undefined) continue;
      const from = values.get(row) ?? this.recorded[row];
      const part = k < index ? 1 : ease(within(share, 0.1, 0.85));
      values.set(row, rounded(from + (value - from) * part, value - from));
    }
    const key = JSON.stringify([...values]);
    if (key === this.dragged) return;
    this.dragged = key;
    this.store.comeBack();
    const what = new WhatIf(this.store);
    for (const [row, value] of values) {
      const found = what.can(row) ? what.snapshot(row, value) : null;
      if (!found) {
        this.refused = t(
          "The film cannot drag row {0}, because the values that depend on this row cannot be computed here.",
          row,
        );
        continue;
      }
      this.store.imagine(found.values, found.sweep);
      what.refresh();
    }
    this.timeline.index();
  }

  /** Says why a shot of the storyboard cannot be shown; "" where all can be. */
  findFault(): string {
    let start = 0;
    for (const { kind, seconds } of this.beats) {
      if (kind === "cut" || kind === "drag") this.draw(start + seconds / 2);
      if (this.refused) return this.refused;
      start += seconds;
    }
    return "";
  }

  /** The line of the program, what happens in it, and the subtitle. */
  private write({ subtitle }: Beat): void {
    const { width, height } = this.size;
    const { unit } = this;
    this.present.draw();
    const [code, words] = [...this.present.el.children];
    this.head.textContent = elide(code.textContent ?? "", Math.floor((width - 80) / (23 * unit)));
    this.head.classList.toggle("mt-back", this.timeline.backward);
    const told = this.cut.on ? describeCut(this.cut.note) : listLines(words);
    const room = Math.floor((width - 80) / (19.5 * unit));
    this.words.replaceChildren(
      ...told.slice(0, 3).map((line, k) =>
        s(
          "text",
          {
            x: width / 2,
            y: height + (k * 46 - 240) * unit,
            "text-anchor": "middle",
            class: "mt-film-words",
            style: `font-size: ${32 * unit}px`,
          },
          elide(line, room),
        ),
      ),
    );
    const lines = splitLines(subtitle, Math.floor((width - 160) / (20 * unit))).slice(0, 2);
    this.subtitle.replaceChildren(
      ...lines.map((line, k) =>
        s(
          "text",
          {
            x: width / 2,
            y: height + ((k - lines.length + 1) * 52 - 36) * unit,
            "text-anchor": "middle",
            class: "mt-film-subtitle",
            style: `font-size: ${42 * unit}px`,
          },
          line,
        ),
      ),
    );
  }

  /** Names the nodes and edges as other programs find them: row-3, edge-4-1. */
  nameParts(svg: SVGSVGElement): void {
    const { graph } = this;
    for (const el of svg.querySelectorAll("[data-index]"))
      el.id = `row-${graph.nodes[Number(el.getAttribute("data-index"))].first}`;
    for (const el of svg.querySelectorAll("path[data-edge]")) {
      const [, to, port] = /^\d+>(\d+):(\d+)$/.exec(el.getAttribute("data-edge") ?? "") ?? [];
      if (to !== undefined) el.id = `edge-${graph.nodes[Number(to)].first}-${port}`;
    }
  }
}

/** To a thousandth of the way: numbers that can be read while they change. */
function rounded(value: number, way: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.abs(way) / 100 || 1));
  return Number((Math.round(value / unit) * unit).toPrecision(12));
}

/** The lines of words: their paragraphs, or all of them as one line. */
function listLines(words: Element): string[] {
  const hasParagraphs = [...words.childNodes].some((one) => one.nodeName === "P");
  return (hasParagraphs ? [...words.children] : [words]).map((line) => line.textContent ?? "");
}

/** A number in a circle, as the mark on an edge has it. */
const circled = (number: number): string =>
  number <= 20 ? String.fromCodePoint(0x245f + number) : `${number}:`;

/** What is multiplied, the products of a cut behind the numbers of their marks, and their sum. */
function describeCut(note: Element): string[] {
  const [key, ...texts] = [...note.children].map((one) => one.textContent ?? "");
  const sum = texts.pop() ?? "";
  const numbered = texts.map((text, k) => text.replace(/^\d+/, circled(k + 1)));
  return [key, numbered.join("\u2003"), sum]; // SVG shows several spaces as one
}
