// How high the parts of a view are whose edge can be drawn.
import { PAD, READ, type Graph } from "./graph";

const [LOW, HIGH] = [310, 640]; // of the drawing: of a line, and of several
// of the window, for a drawing that can be seen whole then, and for another: the table is to be
// seen, too
const [WHOLE, PART] = [0.7, 0.45];
const AROUND = 304; // of a page of its own: its margins, the bars and the least of the table
const LEAST_BELOW = 226; // of the table and the program
const LOW_WINDOW = 0.64; // of a low window, which scrolls to the rest of the table
const LARGEST = 1.6; // the scale of a graph that is smaller than its pane
const SUMS = 32; // above or below a node, for what was added up there

// A picture beside the text of an article is as high as its graph, if the window has the room.
const [LEAST, EMBEDDED] = [110, 0.85];
const SMALL = 8; // rows, that need no more room than the words do
// of the window, where a page is the view's own; on a phone the numbers of a step are to be seen
const [PAGE, PHONE] = [0.7, 0.6];
const NARROW = 640; // pixels
// of the window, where the graph and the words of another tape are to be seen, too
const PAIRED = 0.23;

function heightOf(graph: Graph, width: number, hasLines: boolean, largest: number): number {
  const scale = width ? Math.min(largest, width / (graph.right - graph.left + 2 * PAD)) : 1;
  const height = graph.bottom - graph.top;
  if (hasLines && !graph.turned) return Math.min(1, scale) * height + 50;
  return scale * (height + 2 * PAD + 2 * SUMS);
}

function isEmbedded(pane: HTMLElement): boolean {
  return pane.closest("[data-embed]") !== null;
}

function heightBesideText(): number {
  return Math.max(HIGH, EMBEDDED * window.innerHeight);
}

/** Is the whole graph in view only if the table becomes lower? */
function isTight(least: number, share: number): boolean {
  return share === WHOLE && least > PART * window.innerHeight;
}

export class Rooms {
  private given = new Map<HTMLElement, number>();

  /** For the drawing of a graph, and for the table and the program below it. */
  share(
    pane: HTMLElement,
    below: HTMLElement,
    graph: Graph,
    rows: number,
    unfolded: boolean,
  ): void {
    const lines = graph.tops.length > 1 || graph.nodes.some((node) => node.storey); // or storeys
    const embedded = isEmbedded(pane);
    const isCell = !embedded && !pane.closest("[data-fill]"); // of a notebook
    const wanted = heightOf(graph, pane.clientWidth, lines, isCell ? LARGEST : 1);
    if (!pane.isConnected) return; // it is called again when it is in its page
    if (embedded) return this.take(pane, wanted, LEAST, heightBesideText());
    const least = READ * (graph.bottom - graph.top + 2 * PAD) + 2;
    if (!isCell) return this.sharePage(pane, below, wanted, least, rows);
    const share = least < WHOLE * window.innerHeight ? WHOLE : PART;
    const line = pane.closest(".mt-compared") ? Math.min(LOW, PAIRED * window.innerHeight) : LOW;
    const most = lines ? Math.max(LOW, Math.min(HIGH, share * window.innerHeight)) : line;
    this.take(below, isTight(least, share) ? 0 : rows && LOW, LEAST_BELOW, LOW);
    this.take(pane, wanted, 150, unfolded ? HIGH : most);
  }

  /** The same on a page that the view has for itself. */
  private sharePage(
    pane: HTMLElement,
    below: HTMLElement,
    wanted: number,
    least: number,
    rows: number,
  ): void {
    const room = Math.max(window.innerHeight - AROUND, LOW_WINDOW * window.innerHeight);
    const share = least < room ? WHOLE : PART;
    // the words of a step need more than a few rows do: they have what a small graph leaves
    const rest = rows <= SMALL ? window.innerHeight - AROUND - wanted + LEAST_BELOW : LOW;
    this.take(below, isTight(least, share) ? 0 : rest, LEAST_BELOW, LOW);
    const page = pane.clientWidth < NARROW ? PHONE : PAGE;
    this.take(pane, wanted, 150, page * window.innerHeight);
    pane.style.minHeight = share === WHOLE ? `${least}px` : "";
  }

  /**
   * A live view, which begins empty, takes more as the tape grows, and never less; what the reader
   * has drawn is respected.
   */
  private take(part: HTMLElement, wanted: number, low: number, most: number): void {
    const given = this.given.get(part) ?? 0;
    if (given !== (parseFloat(part.style.height) || 0)) return;
    const height = Math.round(Math.max(given, low, Math.min(most, wanted)));
    this.given.set(part, height);
    part.style.height = `${height}px`;
  }
}
