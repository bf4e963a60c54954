// The live drawing: an SVG that holds only what the pane shows, changed in place as the reader
// steps.
import type { Box, Camera } from "./camera";
import { label, mapOf, onEdge, PRODUCT } from "./cards";
import { on, s, setText } from "./dom";
import { Glide, type SeenPlaces, listPlaces } from "./glide";
import { betweenEnds, profileOf, sparkline } from "./profile";
import {
  isBare,
  NODE_H,
  NODE_W,
  type Frame,
  type Graph,
  type Group,
  type Link,
  type Node,
} from "./graph";
import { drawnEdge, edgeId, LETTER, placeLabels, type Label, type Wanted } from "./labels";
import { besidePoint, linkWay } from "./links";
import type { Marks } from "./marks";
import { FAR, type Edge } from "./place";
import {
  CHARS,
  SIDES,
  edgeCurve,
  edgePath,
  entersRight,
  entry,
  farChips,
  heldText,
  isShort,
  nodeText,
  nodeValue,
  valueText,
  type Point,
} from "./shapes";
import { signedMap } from "./heatmap";
import { meets, SHARE_H, SHARE_W, sharePlaces } from "./shares";
import type { Store } from "./store";
import type { Timeline } from "./timeline";
import { describe, elide, full, shapeText, sizeOf, title } from "./value";
import { updateText } from "./update";
import { edgeWidth, heat, magnitude, notFinite } from "./scale";
import type { Row, SweepEdge, PathBreak, Value } from "./schema";
import { t, wide } from "./words";

const TEXT_SCALE = 0.4; // below this, text would be unreadable: only boxes are drawn
const CAPTION = 12; // the size of a frame's label
const FAR_CAPTION = 12; // in pixels

// where the picture of an array begins in its node: behind its shape
const [MAP_X, MAP_PAD, CHAR] = [76, 16, 7.25];
// characters of a number on an edge, and in a sum
const [SHARE_ROOMS, ROOM_OF_ADDEND] = [[7, 5], 8];
const [BARE_W, BARE_H] = [78, 30]; // of a number, which has its row's number beside it
const SCISSORS =
  // from its top left corner
  "m5.2 5.4a2.2 2.2 0 10-4.4 0 2.2 2.2 0 004.4 0zm0 5.2a2.2 2.2 0 10-4.4 0 2.2 2.2 0 004.4 0zm-.5-4l10 5.4m-10-2.6l10-5.4";

// the last that went over an edge, and whether it was the only one
type Handed = { last: SweepEdge; alone: boolean };

/** Is this the node, or another one of the same number? */
const shows = (node: Node, other: Node | null): boolean =>
  node === other || (node.row !== null && node.row === other?.row);

/** Which turn of a loop in little room: the loop's title has how many there are. */
const shortTurn = (where: string): string =>
  where.length > 10 ? `${/\d+/.exec(where)?.[0]}:` : where.replace(/ of /, "/");

interface Drawn {
  el: SVGGElement;
  value: SVGTextElement | null;
  adjoint: SVGTextElement | null;
  maps: SVGGElement; // pictures of the arrays
  mapped: [Value | null, Value | null]; // of which
  title: SVGTitleElement | null; // what the browser shows where the pointer rests: all digits
  key: string;
  profile: string; // what the profile of a loop was drawn from
}

interface DrawnEdges {
  el: SVGGElement;
  // each edge or reference; its line has the width and the arrow
  parts: { el: SVGElement; edge: Edge; from: Node; line: SVGElement; number: SVGElement | null }[];
  key: string;
}

export interface SceneEvents {
  pick(node: Node): void;
  open(node: Node): void;
  hover(node: Node | null): void;
  close(frame: Frame): void;
  /** a turn of a loop was chosen, by its rows */
  turn(start: number, end: number): void;
  grab(row: number, event: PointerEvent): void;
  /** says something beside the pointer; nothing takes it away */
  tell(text: string, event: PointerEvent | null): void;
}

/** For a scene that nobody touches. */
export const NO_EVENTS: SceneEvents = {
  pick: () => undefined,
  open: () => undefined,
  hover: () => undefined,
  close: () => undefined,
  turn: () => undefined,
  grab: () => undefined,
  tell: () => undefined,
};

export class Scene {
  readonly svg: SVGSVGElement;
  private world = s("g");
  /** what modes draw over the graph */
  readonly over = s("g");
  private layers = {
    frames: s("g"),
    edges: s("g"),
    nodes: s("g", { role: "list", "aria-label": "Nodes" }),
    labels: s("g", { class: "mt-labels", "aria-hidden": "true" }),
  };
  private graph: Graph | null = null;
  private nodes = new Map<number, Drawn>();
  private edges = new Map<number, DrawnEdges>();
  // they remain in view while a part of their frame is
  private captions: [SVGElement, Frame, number][] = [];
  private plain = false;
  private places = new Map<string, [number, number, number]>(); // of the numbers on edges

  constructor(
    private store: Store,
    private timeline: Timeline,
    private camera: Camera,
    private marks: Marks,
    private events: SceneEvents,
  ) {
    this.svg = s(
      "svg",
      { class: "mt-scene", role: "group", "aria-label": "Graph of the tape" },
      this.world,
    );
    this.world.append(
      this.layers.frames,
      this.layers.edges,
      this.layers.nodes,
      this.layers.labels,
      this.over,
    );
  }

  /** Where the nodes are in the pane, by the keys of their rows. */
  listPlaces(keys: string[]): SeenPlaces {
    return this.graph ? listPlaces(this.graph, this.camera, keys) : new Map();
  }

  /** Lets the nodes glide from where they were seen. */
  glideFrom(seen: SeenPlaces, keys: string[]): void {
    if (this.graph) this.gliding.start(this.graph, this.camera, seen, keys);
  }

  private gliding = new Glide((share) => {
    this.svg.classList.toggle("mt-gliding", share < 1);
    for (const [index, { el }] of this.nodes) {
      const node = (this.graph as Graph).nodes[index];
      el.setAttribute("transform", `translate(${node.x} ${node.y})`);
    }
    for (const drawn of this.edges.values()) drawn.key = "";
    if (share >= 1) this.update();
    else this.updateEdges();
  });

  setGraph(graph: Graph): void {
    this.gliding.stop();
    this.graph = graph;
    this.places = sharePlaces(graph);
    this.clear();
    this.captions = [];
    this.layers.frames.replaceChildren(...graph.frames.map((frame) => this.frame(frame)));
    this.layers.frames.append(...graph.links.map((link) => this.link(link)));
    this.draw();
  }

  /** Has the whole of a graph in view, whatever its room; null: no longer. */
  whole(graph: Graph | null): void {
    if (graph)
      this.svg.setAttribute(
        "viewBox",
        `${graph.left - 8} ${graph.top - 8} ${graph.right - graph.left + 16} ${graph.bottom - graph.top + 16}`,
      );
    else this.svg.removeAttribute("viewBox");
  }

  private clear(): void {
    this.nodes.clear();
    this.edges.clear();
    this.layers.nodes.replaceChildren();
    this.layers.edges.replaceChildren();
  }

  /** Adds what came into view, drops what left it, and brings everything up to date. */
  draw(): void {
    const graph = this.graph;
    if (!graph || !this.camera.width) return;
    const { x, y, scale, width, height } = this.camera;
    this.world.setAttribute("transform", `scale(${scale}) translate(${-x} ${-y})`);
    const plain = scale < TEXT_SCALE;
    for (const caption of this.captions) this.caption(...caption, plain);
    if (plain !== this.plain) {
      this.plain = plain;
      this.svg.classList.toggle("mt-plain", plain);
      this.clear();
    }
    const [left, right] = [
      Math.floor(x / graph.pitch) - 1,
      Math.ceil((x + width / scale) / graph.pitch) + 1,
    ];
    const [top, bottom] = [y - 2 * NODE_H, y + height / scale + 2 * NODE_H];
    const seen = new Set<number>();
    const newNodes = document.createDocumentFragment();
    const newEdges = document.createDocumentFragment();
    const [firstColumn, lastColumn] = this.columnsIn(graph, left, right, top, bottom);
    for (let c = firstColumn; c <= lastColumn; c++) {
      for (const node of graph.byColumn[c]) {
        const inside =
          (graph.per !== Infinity || (c >= left && c <= right)) &&
          node.y >= top &&
          node.y <= bottom;
        if (!inside && !this.reaches(node, left, right, top, bottom)) continue;
        seen.add(node.index);
        if (!this.nodes.has(node.index)) newNodes.append(this.node(node));
        if (
          !this.edges.has(node.index) &&
          (graph.edges(node.index).length || this.store.torn.length)
        )
          newEdges.append(this.edgeGroup(node));
      }
    }
    this.layers.nodes.append(newNodes);
    this.layers.edges.append(newEdges);
    if (seen.size < this.nodes.size)
      for (const [index, drawn] of this.nodes) {
        if (seen.has(index)) continue;
        drawn.el.remove();
        this.nodes.delete(index);
        this.edges.get(index)?.el.remove();
        this.edges.delete(index);
      }
    this.update();
  }

  /**
   * The columns whose nodes or edges may be in the pane: an edge begins at most FAR columns before
   * its node.
   */
  private columnsIn(
    graph: Graph,
    left: number,
    right: number,
    top: number,
    bottom: number,
  ): [number, number] {
    const { per, reach, columns } = graph;
    if (per === Infinity) return [Math.max(0, left - FAR), Math.min(columns - 1, right + FAR)];
    const first = reach.findIndex((line) => line[1] >= top);
    const behind = reach.findIndex((line) => line[0] > bottom);
    if (first < 0) return [0, -1];
    return [
      first * per,
      Math.min(columns - 1, (behind < 0 ? reach.length : behind) * per - 1 + FAR),
    ];
  }

  /** Does one of the node's incoming edges cross the pane? */
  private reaches(node: Node, left: number, right: number, top: number, bottom: number): boolean {
    const graph = this.graph as Graph;
    return graph.edges(node.index).some((edge) => {
      if (edge.far) return false;
      const from = graph.nodes[edge.from];
      const across =
        graph.per !== Infinity ||
        (Math.min(from.column, node.column) <= right && Math.max(from.column, node.column) >= left);
      return across && Math.min(from.y, node.y) <= bottom && Math.max(from.y, node.y) >= top;
    });
  }

  // --- nodes ---

  private node(node: Node): SVGGElement {
    const text = nodeText(this.store, node);
    const row = node.row;
    const label = row
      ? describe(row)
      : t(
          "folded group {0}, rows {1} to {2}, press Enter to unfold",
          text.title,
          node.first,
          (node.group?.end ?? 0) - 1,
        );
    const el = s("g", {
      class: "",
      transform: `translate(${node.x} ${node.y})`,
      "data-id": node.id,
      "data-index": node.index,
      role: "listitem",
      "aria-label": label,
    });
    const radius = text.kind === "source" ? NODE_H / 2 : text.kind === "operation" ? 9 : 3;
    if (text.kind === "group") {
      el.append(s("rect", { class: "mt-card", x: 6, y: -6, width: NODE_W, height: NODE_H, rx: 6 }));
      el.append(s("rect", { class: "mt-card", x: 3, y: -3, width: NODE_W, height: NODE_H, rx: 6 }));
    }
    const bare = isBare(row);
    const [width, height] = bare
      ? [BARE_W + CHAR * `${row?.row}`.length, BARE_H]
      : [NODE_W, NODE_H];
    const [left, top] = this.graph?.turned
      ? [(NODE_W - width) / 2, NODE_H - height]
      : // where its edges begin
        [this.graph && entersRight(this.graph, node) ? 0 : NODE_W - width, (NODE_H - height) / 2];
    el.append(
      s("rect", {
        class: "mt-box",
        x: left,
        y: top,
        width,
        height,
        rx: text.kind === "group" ? 6 : radius,
      }),
    );
    if (text.kind === "variable")
      el.append(
        s("rect", {
          class: "mt-inner",
          x: 3,
          y: 3,
          width: NODE_W - 6,
          height: NODE_H - 6,
          rx: 1.5,
        }),
      );
    if (this.plain)
      el.style.setProperty(
        "--c",
        heat(this.timeline.last(node.group ? node.group.end - 1 : node.first)),
      );
    const drawn: Drawn = {
      el,
      value: null,
      adjoint: null,
      maps: s("g"),
      mapped: [null, null],
      title: null,
      key: "",
      profile: "",
    };
    if (!this.plain) {
      const pad = text.kind === "source" ? 16 : 10;
      if (!bare)
        el.append(
          s(
            "text",
            {
              class: `mt-title${text.unnamed ? " mt-unnamed" : ""}${text.long ? " mt-long" : ""}`,
              x: pad,
              y: 20.5,
            },
            text.title,
          ),
        );
      if (text.op)
        el.append(s("text", { class: "mt-op", x: pad + text.width + 6, y: 20 }, text.op));
      const number = row ? `${row.row}` : "";
      el.append(
        s(
          "text",
          {
            class: "mt-number",
            x: left + width - (text.kind === "source" ? 16 : 8),
            y: top + 20,
            "text-anchor": "end",
          },
          number,
        ),
      );
      const held = this.graph ? heldText(this.store, this.graph, node) : "";
      if (held)
        el.append(
          s(
            "text",
            { class: "mt-held", x: NODE_W / 2, y: NODE_H + 12.5, "text-anchor": "middle" },
            held,
          ),
        );
      drawn.value = s("text", { class: "mt-value", x: left + pad, y: bare ? top + 20 : 38 });
      drawn.adjoint = s("text", { class: "mt-adjoint", x: pad, y: 54 });
      el.append(drawn.value, drawn.adjoint, drawn.maps);
      drawn.title = s("title", {}, label);
      el.append(drawn.title);
    }
    on(el, "click", (event) =>
      event.detail > 1 && node.group ? this.events.open(node) : this.events.pick(node),
    ); // what was clicked first may be drawn anew
    if (row)
      on(el, "pointerdown", (event) => event.button === 0 && this.events.grab(row.row, event));
    on(el, "dblclick", () => this.events.open(node));
    on(el, "pointerenter", () => this.events.hover(node));
    on(el, "pointerleave", () => this.events.hover(null));
    this.nodes.set(node.index, drawn);
    return el;
  }

  /** Other numbers on the same rows. */
  refresh(): void {
    for (const drawn of [...this.nodes.values(), ...this.edges.values()]) drawn.key = "";
    this.update();
  }

  /** Brings classes and numbers of what is drawn to the current position. */
  update(): void {
    const graph = this.graph;
    if (!graph) return;
    const current = graph.nodeOf(this.timeline.current);
    const hover = graph.nodeOf(this.marks.hover);
    const selected = graph.nodeOf(this.marks.selected);
    for (const [index, drawn] of this.nodes)
      this.paint(graph.nodes[index], drawn, current, hover, selected);
    this.updateEdges();
    this.products(current);
  }

  private updateEdges(): void {
    const graph = this.graph as Graph;
    const current = graph.nodeOf(this.timeline.current);
    for (const [index, drawn] of this.edges) this.paintEdges(graph.nodes[index], drawn, current);
  }

  private paint(
    node: Node,
    drawn: Drawn,
    current: Node | null,
    hover: Node | null,
    selected: Node | null,
  ): void {
    const last = node.group ? node.group.end - 1 : node.first;
    const row = node.row;
    const done = this.timeline.done(node.group ? node.first : last);
    const adjoint = this.timeline.seen(last);
    let name = `mt-node mt-${node.group ? "group" : (row?.kind ?? "operation")}`;
    if (row?.kind === "variable" && !row.watched) name += " mt-unwatched";
    if (!done) name += " mt-todo";
    if (shows(node, current))
      name += this.timeline.backward ? " mt-current mt-backward" : " mt-current";
    if (shows(node, hover)) name += " mt-hover";
    if (shows(node, selected)) name += " mt-selected";
    if (row?.status === "ghost") name += " mt-ghost";
    if (row?.cut) name += " mt-cut";
    if (row && row.by !== null) name += " mt-written";
    const { differs } = this.store;
    if (differs && node === this.graph?.nodeOf(differs.row)) name += " mt-differs";
    else if (differs?.rows?.some((one) => one >= node.first && one <= last)) name += " mt-unlike";
    if (row && done && this.alarming(row)) name += " mt-nan";
    if (this.store.blamed(node.first, node.group?.end)) name += " mt-blamed";
    if (this.timeline.badIn(node.first, node.group ? node.group.end : node.first + 1))
      name += " mt-bad";
    if (adjoint) name += " mt-has-adjoint";
    if (node.group && node === current && !this.timeline.backward) name += " mt-inside";
    if (this.store.sweep?.target.includes(last)) name += " mt-target";
    if (row && !this.timeline.held && this.store.gave(row.row)) name += " mt-empty-handed";
    if (this.any(this.marks.found, node)) name += " mt-found";
    if (this.marks.path && !this.any(this.marks.path, node)) name += " mt-off";
    if (this.marks.near && !this.any(this.marks.near, node)) name += " mt-off";
    const inside = node === current && node.group ? this.inside(node.group) : null;
    const output =
      // what a layer gave
      node.group?.kind === "scope" && this.timeline.done(last) ? this.store.rows[last] : null;
    const update = this.timeline.updating ? this.timeline.updates.get(last) : undefined;
    if (update && node !== current) name += " mt-current mt-backward";
    this.paintProfile(node, drawn, inside !== null);
    const profiled = node.group && drawn.profile !== "";
    const value = profiled
      ? ""
      : update && row
        ? updateText(row, update, CHARS)
        : inside
          ? inside[0]
          : output
            ? nodeValue(output.value, output, CHARS)
            : (drawn.value && done) || node.group || isBare(row)
              ? valueText(this.store, node)
              : "";
    const waits = !!adjoint && this.timeline.waits(last);
    if (waits) name += " mt-waits";
    const none =
      !adjoint &&
      row &&
      !this.timeline.held &&
      !this.timeline.updating &&
      this.timeline.done(row.row)
        ? this.store.gave(row.row)
        : "";
    const adjointText =
      none === "None"
        ? "∂ None"
        : inside && profiled
          ? `${shortTurn(inside[0])} ${inside[1]}`
          : inside
            ? inside[1]
            : drawn.adjoint && adjoint
              ? `∂ ${sizeOf(adjoint, CHARS - (waits ? 6 : 2))}${waits ? " + …" : ""}`
              : row?.released && !row.value && done && !value.endsWith(t("released"))
                ? t("released")
                : row?.tangent && done && !this.timeline.backward
                  ? `→ ${nodeValue(row.tangent, row, CHARS - 2)}`
                  : "";
    const seen = row ?? output;
    // its number, or its adjoint, is in the third line
    const here = inside ? this.store.rows[this.timeline.current] : null;
    if (
      !this.plain &&
      (seen?.shape.length || here?.shape.length || drawn.mapped[0] || drawn.mapped[1])
    )
      this.paintMaps(
        drawn,
        here ?? seen,
        seen && done && !inside ? (update?.now ?? seen.value) : null,
        here
          ? profiled
            ? null
            : (this.timeline.adjoint(here.row) ?? here.value)
          : seen
            ? adjoint
            : null,
      );
    const key = `${name}|${value}|${adjointText}`;
    if (key === drawn.key) return;
    drawn.key = key;
    drawn.el.setAttribute("class", name);
    if (drawn.value) setText(drawn.value, value);
    if (drawn.adjoint) setText(drawn.adjoint, adjointText);
    drawn.value?.classList.toggle("mt-shape", /^(→ )?\(/.test(value));
    if (!row) return;
    const words = adjoint
      ? `${describe(row)}${t(", adjoint {0}", elide(full(adjoint).replace(/\s+/g, " "), 60))}`
      : describe(row);
    drawn.el.setAttribute("aria-label", words);
    if (drawn.title) setText(drawn.title, words);
  }

  /**
   * NaN is wrong everywhere, infinity only where something came of it: a mask holds it on purpose.
   */
  private alarming(row: Row): boolean {
    const what = notFinite(row.value);
    return (
      what === "NaN" ||
      (what !== "" &&
        this.store.alarms.some((alarm) => alarm.kind === "value" && alarm.row <= row.row))
    );
  }

  /** Where in a folded group the reader is, and the number there. */
  private inside(group: Group): [string, string] {
    const { timeline, store } = this;
    const row = store.rows[timeline.current];
    let turn = 0;
    while (turn < group.starts.length && group.starts[turn] <= row.row) turn++;
    const where = turn ? t("{0} of {1}", turn, group.count) : elide(title(row), CHARS);
    const adjoint = timeline.adjoint(row.row);
    if (adjoint)
      return [
        where,
        `∂ ${sizeOf(adjoint, group.starts.length ? CHARS - 3 - shortTurn(where).length : CHARS - 2)}`,
      ];
    const value = nodeValue(
      row.value,
      row,
      group.starts.length ? CHARS - 3 - shortTurn(where).length : CHARS - 2,
    );
    return [where, value.startsWith("(") ? value : `= ${value}`];
  }

  /** Arrays that are too long to be written are seen. */
  private paintMaps(
    drawn: Drawn,
    of: Row | null,
    value: Value | null,
    adjoint: Value | null,
  ): void {
    if (drawn.mapped[0] === value && drawn.mapped[1] === adjoint) return;
    drawn.mapped = [value, adjoint];
    const seen = (
      one: Value | null,
      y: number,
      room: number,
      shape: string,
    ): SVGGElement | null => {
      const round = of?.kind === "source" ? 6 : 0; // its ends
      const x = Math.max(MAP_X, MAP_PAD + round + CHAR * shape.length);
      return one && !isShort(one, room, of) && x < NODE_W - 24
        ? signedMap(one, x, y, NODE_W - x - 8 - round, 15)
        : null;
    };
    const shape = (row: Row | null, room: number): string => (row ? shapeText(row, room) : "");
    drawn.maps.replaceChildren(
      ...[
        seen(value, 26, CHARS, (value === of?.value ? "" : "→ ") + shape(of, SIDES)),
        seen(adjoint, 43, CHARS - 2, `∂ ${adjoint ? sizeOf(adjoint, CHARS - 2) : ""}`),
      ].filter((map) => map !== null),
    );
  }

  /** Of a folded loop the adjoints by turn, with a point at the turn where the reader is. */
  private paintProfile(node: Node, drawn: Drawn, inside: boolean): void {
    const { group } = node;
    if (!group || this.plain || group.starts.length === 0) return;
    const { timeline } = this;
    const sizes = profileOf(group.starts, group.end, timeline);
    const turn = inside ? group.starts.filter((start) => start <= timeline.current).length - 1 : -1;
    const key = sizes
      ? `${!!timeline.adjoint(group.end - 1)}|${turn}|${sizes.length}|${sizes[0]}|${this.store.moved}`
      : "";
    if (key === drawn.profile) return;
    drawn.profile = key;
    drawn.el.querySelector(".mt-profile")?.remove();
    if (!sizes) return;
    const ends =
      inside || this.timeline.adjoint(group.end - 1)
        ? null
        : timeline.ends(group.starts, group.end);
    drawn.el.append(
      sparkline(sizes, ends ? betweenEnds(ends, CHARS) : "", NODE_W - 20, turn, (k) =>
        this.events.turn(group.starts[k], group.starts[k + 1] ?? group.end),
      ),
    );
  }

  private any(rows: Set<number>, node: Node): boolean {
    if (!node.group) return rows.has(node.first);
    for (const row of rows) if (row >= node.group.start && row < node.group.end) return true;
    return false;
  }

  // --- edges ---

  private edgeGroup(node: Node): SVGGElement {
    const graph = this.graph as Graph;
    const el = s("g", { "aria-hidden": "true" });
    const edges = graph.edges(node.index);
    const parts: DrawnEdges["parts"] = [];
    for (const edge of edges) {
      if (edge.far) continue;
      const from = graph.nodes[edge.from];
      const line = s("path", {
        class: "mt-edge",
        d: edgePath(graph, edge),
        "data-from": edge.from,
        "data-edge": edgeId(edge),
      });
      const hit = s("path", { class: "mt-hit", d: edgePath(graph, edge, true) });
      on(hit, "pointerenter", (event) => this.events.tell(this.edgeWords(node, edge), event));
      on(hit, "pointerleave", () => this.events.tell("", null));
      el.append(line, hit);
      parts.push({ el: line, edge, from, line, number: null });
    }
    if (!this.plain)
      for (const chip of farChips(graph, edges)) {
        const drawn = this.chip(node, chip);
        el.append(drawn);
        parts.push({
          el: drawn,
          edge: chip.edge,
          from: graph.nodes[chip.edge.from],
          line: drawn.querySelector(".mt-edge") as SVGElement,
          number: null,
        });
      }
    const tears = this.plain ? [] : this.tears(node, edges);
    if (tears.length) el.append(...tears);
    else if (node.row?.cut && edges.length)
      el.append(this.cross(...entry(graph, node, edges[0], 12)));
    this.edges.set(node.index, { el, parts, key: "" });
    return el;
  }

  /**
   * What an edge carries at the present step: the value, and in a backward step what the sweep has
   * sent along it.
   */
  private edgeWords(node: Node, edge: Edge): string {
    const { timeline } = this;
    const from = (this.graph as Graph).nodes[edge.from];
    const [source, reader] = [from.row, node.row];
    const words = [
      `${source ? title(source) : t("rows {0} …", from.first)} → ${reader ? title(reader) : t("a folded part")}`,
    ];
    if (source?.value && timeline.done(source.row))
      words.push(t("carries {0}", elide(full(source.value).replace(/\s+/g, " "), 60)));
    const inside = reader ? undefined : this.handed(node, this.sentFrom(node)).get(edge);
    if (inside)
      words.push(
        t(
          inside.alone ? "back: {0}" : "back: {0} in total",
          elide(
            full(inside.alone ? inside.last.product : inside.last.sum).replace(/\s+/g, " "),
            60,
          ),
        ),
      );
    for (const sent of reader ? timeline.sent(reader.row) : []) {
      if (drawnEdge(this.graph as Graph, node, sent, reader as Row) !== edge) continue;
      const adjoint = timeline.stepOn(node.first)?.adjoint ?? null;
      const product = elide(full(sent.product).replace(/\s+/g, " "), 60);
      words.push(
        t(
          "back: {0}",
          sent.local && adjoint
            ? `${elide(full(sent.local).replace(/\s+/g, " "), 40)} × ${elide(full(adjoint).replace(/\s+/g, " "), 40)} = ${product}`
            : product,
        ),
      );
    }
    return words.join("\n");
  }

  private chip(node: Node, chip: ReturnType<typeof farChips>[number]): SVGGElement {
    const from = (this.graph as Graph).nodes[chip.edge.from];
    const el = s("g", {
      class: "mt-chip",
      "data-from": chip.edge.from,
      "data-edge": edgeId(chip.edge),
    });
    el.append(
      s("path", {
        class: "mt-edge",
        d: entersRight(this.graph as Graph, node)
          ? `M${chip.x} ${chip.y}h-12m5 -3.5l-5 3.5l5 3.5`
          : `M${chip.x + chip.w} ${chip.y}h12m-5 -3.5l5 3.5l-5 3.5`,
      }),
      s("rect", { x: chip.x, y: chip.y - 9, width: chip.w, height: 18, rx: 9 }),
      s("text", { x: chip.x + chip.w / 2, y: chip.y + 4, "text-anchor": "middle" }, chip.text),
    );
    on(el, "click", () => this.events.pick(from));
    on(el, "pointerenter", () => this.events.hover(from));
    on(el, "pointerleave", () => this.events.hover(null));
    return el;
  }

  /**
   * A dashed curve to a state of a variable: crossed where it comes from what was assigned. Torn
   * where a value left the framework.
   */
  private link(link: Link): SVGElement {
    const { d, cross, points } = linkWay(this.graph as Graph, link);
    if (link.torn) return this.tear(link.torn, d, points);
    const words = t(
      link.value
        ? "assigned to {0}: the gradient does not flow back through an assignment"
        : "the next state of {0}",
      link.name,
    );
    return s(
      "g",
      { class: link.value ? "mt-assigned" : "" },
      s("path", { class: "mt-assign", d }),
      link.value ? this.cross(...cross) : null,
      s("title", {}, words),
    );
  }

  /** Where an arrow is torn: scissors, and what did it. */
  private tear(torn: PathBreak, d: string, points: Point[]): SVGElement {
    const place = t("line {0}", torn.line);
    const words = t(
      torn.kind === "left"
        ? "the value left the tape here and came back as a plain number, so no gradient flows back ({0}, {1})"
        : "no gradient passes: {0}, {1}",
      torn.text,
      place,
    );
    const {
      at: [x, y],
      texts,
      anchor,
    } = besidePoint(this.graph as Graph, points, [torn.text, place]);
    const said = texts.map(({ text, ...at }) => s("text", { ...at, "text-anchor": anchor }, text));
    return s(
      "g",
      { class: "mt-torn", "data-torn": `${torn.from}>${torn.to}` },
      d && s("path", { class: "mt-assign", d }),
      s("circle", { cx: x, cy: y, r: 11 }),
      s("path", { d: `M${x - 8} ${y - 8}${SCISSORS}` }),
      ...said,
      s("title", {}, words),
    );
  }

  /** The torn edges into a node, and what a value left without coming back. */
  private tears(node: Node, edges: Edge[]): SVGElement[] {
    const graph = this.graph as Graph;
    return this.store.torn.flatMap((torn) => {
      if (torn.kind === "left")
        return torn.to < 0 && graph.nodeOf(torn.from) === node && node.row
          ? [
              this.tear(torn, `M${node.x + NODE_W} ${node.y + NODE_H / 2}h24`, [
                [node.x + NODE_W + 36, node.y + NODE_H / 2],
              ]),
            ]
          : [];
      const edge =
        graph.nodeOf(torn.to) === node &&
        node.row &&
        edges.find((one) => !one.far && graph.nodes[one.from] === graph.nodeOf(torn.from));
      const curve = edge && torn.kind === "cut" ? edgeCurve(graph, edge) : null;
      return curve ? [this.tear(torn, "", [curve[curve.length >> 1]])] : [];
    });
  }

  private cross(x: number, y: number): SVGPathElement {
    return s("path", { class: "mt-cross", d: `M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9` });
  }

  /** Is an edge lit, or one inside of what is folded? */
  private litBetween(lit: Set<string>, from: Node, to: Node): boolean {
    if (!from.group && !to.group) return lit.has(`${from.first}>${to.first}`);
    const graph = this.graph as Graph;
    for (const way of lit) {
      const [a, b] = way.split(">").map(Number);
      if (graph.nodeOf(a) === from && graph.nodeOf(b) === to) return true;
    }
    return false;
  }

  /** What the sweep has handed on from a row, or out of a folded part. */
  private sentFrom(node: Node): SweepEdge[] {
    if (!node.group) return this.timeline.sent(node.first);
    return this.timeline
      .sentFrom(node.group.start, node.group.end)
      .filter((one) => (this.graph as Graph).nodeOf(one.input) !== node);
  }

  /**
   * By its drawn edges what has left a node so far: a product, or where several went over one edge
   * the sum after the last of them.
   */
  private handed(node: Node, sent: SweepEdge[]): Map<Edge, Handed> {
    const graph = this.graph as Graph;
    const found = new Map<Edge, Handed>();
    for (const one of sent) {
      const from = graph.nodeOf(one.input);
      const edge = node.row
        ? drawnEdge(graph, node, one, node.row)
        : graph.edges(node.index).find((other) => other.from === from?.index);
      if (edge)
        found.set(edge, {
          last: one,
          alone: node.row !== null || !found.has(edge) || (!!from?.row && from.first !== one.input),
        }); // a row between them is left out: its sum is not that of what is drawn
    }
    return found;
  }

  private paintEdges(node: Node, drawn: DrawnEdges, current: Node | null): void {
    const { pathEdges, near, lit } = this.marks;
    const graph = this.graph as Graph;
    const active = node === current && node.row !== null;
    const ran = this.timeline.done(node.first);
    const sent = this.sentFrom(node); // what the sweep has handed on by now
    const key =
      pathEdges || near || lit
        ? ""
        : `${active}|${active && this.timeline.backward}|${ran}|${sent.length}`;
    if (key && key === drawn.key) return;
    drawn.key = key;
    const shares = this.handed(node, sent);
    for (const { el, edge, from, line } of drawn.parts) {
      const chip = el.tagName === "g";
      const given = shares.get(edge);
      const share = given && (given.alone ? given.last.product : given.last.sum);
      let name = chip ? "mt-chip" : "mt-edge";
      if (active && (share || !this.timeline.backward))
        name += this.timeline.backward ? " mt-active mt-backward" : " mt-active";
      if (!ran) name += " mt-todo";
      if (share)
        name +=
          magnitude(share) === 0
            ? " mt-sent mt-zero"
            : notFinite(share)
              ? " mt-sent mt-broken"
              : " mt-sent";
      if (node.row?.cut) name += " mt-cut";
      if (node.row?.status === "ghost") name += " mt-ghost";
      if (lit && this.litBetween(lit, from, node)) name += " mt-lit";
      if (pathEdges) name += pathEdges.has(`${from.first}>${node.first}`) ? " mt-on" : " mt-off";
      else if (near && !(this.any(near, node) && this.any(near, from))) name += " mt-off";
      if (el.getAttribute("class") !== name) el.setAttribute("class", name);
      this.number(drawn, el, edge, active && this.timeline.backward ? undefined : share);
      if (chip) continue;
      line.setAttribute("d", edgePath(graph, edge, share !== undefined));
      const width = share && edgeWidth(share);
      line.style.strokeWidth = width ? `${width}px` : "";
    }
  }

  /** What went back over an edge, on it. */
  private number(
    drawn: DrawnEdges,
    el: SVGElement,
    edge: Edge,
    share: Value | undefined | null,
  ): void {
    const part = drawn.parts.find((one) => one.el === el) as DrawnEdges["parts"][number];
    const at = share && !this.plain && this.places.get(edgeId(edge));
    const text = at
      ? SHARE_ROOMS.map((room) => sizeOf(share, room, room > 6 ? 3 : 2)).find(
          (one) => one.length * LETTER + 2 <= at[2],
        )
      : undefined;
    if (!at || !text) {
      part.number?.remove();
      part.number = null;
      return;
    }
    const w = text.length * LETTER + 4;
    if (!part.number)
      drawn.el.append(
        (part.number = s(
          "g",
          { class: "mt-share", "data-edge": edgeId(edge) },
          s("rect", { height: SHARE_H, y: at[1] - SHARE_H / 2 }),
          s("text", { x: at[0], y: at[1] + 4, "text-anchor": "middle" }),
        )),
      );
    const [box, written] = part.number.children;
    box.setAttribute("x", String(at[0] - w / 2));
    box.setAttribute("width", String(w));
    setText(written, text);
  }

  // --- local derivative × incoming adjoint = product, on the edges of a backward step ---

  private products(current: Node | null): void {
    const step = this.timeline.step;
    const layer = this.layers.labels;
    layer.replaceChildren();
    this.placed = [];
    for (const number of this.covered) number.removeAttribute("visibility");
    this.covered = [];
    if (!step || !current || this.plain) return;
    const graph = this.graph as Graph;
    const wanted: Wanted[] = current.row ? [] : this.foldedProducts(current);
    if (current.row)
      step.edges.forEach((edge, k) => {
        const drawn = drawnEdge(graph, current, edge, this.store.rows[step.row]);
        if (!drawn) return;
        const [own, row] = [this.store.rows[step.row], this.store.rows[edge.input]];
        const texts: string[] = [];
        const written =
          !own.shape.length ||
          // of large arrays only the product is seen
          [edge.local, step.adjoint].every((one) => one && isShort(one, PRODUCT));
        if (edge.local && written)
          texts.push(
            nodeValue(edge.local, own, PRODUCT),
            `× ${nodeValue(step.adjoint, own, PRODUCT)}`,
          );
        texts.push(onEdge(texts.length ? "= " : "", edge.product, graph));
        if (row.shape.length && this.sumBefore(step.edges, k))
          texts.push(onEdge("Σ ", edge.sum, graph));
        const twin =
          step.edges.length === 2 &&
          wanted.find((one) => one.edge.from === drawn.from && String(one.texts) === String(texts));
        if (twin) {
          // One card serves two edges that carry the same.
          twin.texts.unshift(t("both"));
          twin.twin = drawn;
        } else wanted.push({ edge: drawn, texts, map: mapOf(edge.product, row) });
      });
    const sums = current.row ? this.sums(step.edges) : [];
    this.added = sums.map(([box]) => box);
    for (const one of (this.placed = placeLabels(graph, current, wanted, this.added)))
      layer.append(label(one));
    for (const [{ x, y, h }, lines] of sums)
      layer.append(
        s(
          "text",
          { class: "mt-addends", y: y + 12 - h / 2, "text-anchor": "middle" },
          ...lines.map((line, k) => s("tspan", { x, dy: k * SHARE_H }, `${k ? " " : ""}${line}`)),
        ),
      );
    const taken = [...this.placed, ...sums.map(([box]) => box)];
    for (const { parts } of this.edges.values())
      for (const { number, edge } of parts) {
        const at = number && this.places.get(edgeId(edge));
        if (!at || !taken.some((box) => meets(box, { x: at[0], y: at[1], w: SHARE_W, h: SHARE_H })))
          continue;
        number.setAttribute("visibility", "hidden");
        this.covered.push(number);
      }
  }

  placed: Label[] = []; // the cards of this step
  added: Box[] = []; // the sums below the inputs of this step, each by its middle
  private covered: SVGElement[] = []; // the numbers on edges that they would lie on

  /**
   * Below each input at which products of this step met others, or above it where the cards are
   * below: what was added up; a long sum leaves the cards at the right their place, and has two
   * lines where there is none at the left.
   */
  private sums(edges: SweepEdge[]): [Box, string[]][] {
    const graph = this.graph as Graph;
    const found: [Box, string[]][] = [];
    for (const input of new Set(edges.map((edge) => edge.input))) {
      const [node, row, sum] = [
        graph.nodeOf(input),
        this.store.rows[input],
        this.timeline.adjoint(input),
      ];
      const addends = this.timeline.addends(input);
      if (!node?.row || row.shape.length || !sum || !addends.length) continue;
      const texts = addends.map((one) => sizeOf(one, ROOM_OF_ADDEND));
      const shown = (texts.length > 3 ? [texts[0], "…", texts[texts.length - 1]] : texts)
        .map((one, k) => (k && one.startsWith("-") ? `(${one})` : one))
        .join(" + ");
      const above = graph.turned && !graph.edges(node.index).length;
      const beside = [-1, 0, 1]
        .flatMap((k) => graph.byColumn[node.column + k] ?? [])
        .filter((one) => one !== node);
      const [result, least] = [`= ${sizeOf(sum, ROOM_OF_ADDEND)}`, graph.left - 8];
      for (const [k, lines] of [
        [`${shown} ${result}`],
        [shown, result],
        [`${shown} ${result}`],
        [shown],
      ].entries()) {
        const [w, h] = [
          Math.max(...lines.map((line) => line.length)) * LETTER + 6,
          SHARE_H * lines.length,
        ];
        const x = node.x + (graph.turned ? NODE_W / 2 : Math.min(NODE_W / 2, NODE_W - w / 2));
        const [over, under] = [-2.5 - h / 2, NODE_H + 1.5 + h / 2].map((away) => ({
          x: Math.max(least + w / 2, x),
          y: node.y + away,
          w,
          h,
        }));
        const free = (box: typeof over): boolean =>
          !beside.some((one) =>
            meets(box, {
              x: one.x + NODE_W / 2,
              y: one.y + NODE_H / 2,
              w: NODE_W,
              h: isBare(one.row) ? NODE_H / 2 : NODE_H,
            }),
          );
        const box = above || (free(over) && !free(under)) ? over : under;
        if (
          (k === 0 && x < least + w / 2) ||
          (k === 1 && !(box === under && free(box))) ||
          (k < 3 && found.some(([other]) => meets(other, box)))
        )
          continue; // the node says the sum, too
        found.push([box, lines]);
        break;
      }
    }
    return found;
  }

  /**
   * What has left a folded part by now, on its edges: one product, or the sum of several at what
   * they went to.
   */
  private foldedProducts(node: Node): Wanted[] {
    return [...this.handed(node, this.sentFrom(node))].map(([edge, { last, alone }]) => {
      const row = this.store.rows[last.input];
      const value = alone ? last.product : last.sum;
      return {
        edge,
        texts: [onEdge(alone ? "" : "Σ ", value, this.graph as Graph)],
        map: mapOf(value, row),
      };
    });
  }

  /** Did this input hold an adjoint before this edge added its product? */
  private sumBefore(edges: { input: number }[], k: number): boolean {
    if (this.timeline.before(edges[k].input)) return true;
    return edges.slice(0, k).some((edge) => edge.input === edges[k].input);
  }

  // --- frames ---

  /**
   * From afar a caption is above its frame, as large as can be read; those of inner frames have no
   * room then.
   */
  private caption(caption: SVGElement, frame: Frame, room: number, plain: boolean): void {
    const { x, scale } = this.camera;
    const size = plain ? FAR_CAPTION / scale : CAPTION;
    const needs = (room * size) / CAPTION;
    caption.setAttribute(
      "visibility",
      plain && (frame.inner || !frame.widest || needs > frame.w) ? "hidden" : "visible",
    );
    caption.style.fontSize = `${size}px`;
    caption.setAttribute("y", String(plain ? frame.y - 4 / scale : frame.y + 16));
    caption.setAttribute(
      "x",
      String(Math.max(frame.x + 12, Math.min(x + 8 / scale, frame.x + frame.w - needs))),
    );
  }

  private frame(frame: Frame): SVGGElement {
    const state = frame.tape && frame.kind === "tape" ? frame.tape.state : "";
    const el = s("g", {
      class: `mt-frame mt-frame-${frame.kind}${state ? ` mt-tape-${state}` : ""}${frame.tape ? ` mt-lane-${frame.tape.id % 4}` : ""}`,
    });
    const note =
      state && state !== "closed" ? ` · ${t(state === "used" ? "gradient computed" : state)}` : "";
    const text = elide(
      `${frame.label}${note}`,
      Math.max(14, Math.floor((frame.w - 24) / 7) - (frame.group ? 2 : 0)),
    );
    el.append(s("rect", { x: frame.x, y: frame.y, width: frame.w, height: frame.h, rx: 10 }));
    const caption = s(
      "text",
      { x: frame.x + 12, y: frame.y + 16 },
      frame.group ? `− ${text}` : text,
    );
    el.append(caption);
    this.captions.push([caption, frame, 12 + 7 * wide(text)]);
    if (frame.group) {
      caption.setAttribute("role", "button");
      caption.setAttribute("aria-label", t("fold {0}", frame.label));
      on(caption, "click", () => this.events.close(frame));
    }
    return el;
  }
}
