// How high the parts of a view are whose edge can be drawn.
import { PAD, READ, type Graph } from "./graph";

const [LOW, HIGH] = [310, 640]; // of the drawing: of a line, and of several
// of the window, for a drawing that can be seen whole then, and for another: the table is to be
// seen, too
const [WHOLE, PART] = [0.62, 0.45];

// A picture beside the text of an article is as high as its graph, if the window has the room.
const [LEAST, EMBEDDED] = [110, 0.85];
const SMALL = 8; // rows, that need no more room than the words do
const PAGE = 0.7; // of the window, where a page is the view's own

function heightOf(graph: Graph, width: number, hasLines: boolean): number {
  const scale = width ? Math.min(1, width / (graph.right - graph.left + 2 * PAD)) : 1;
  return scale * (graph.bottom - graph.top) + (hasLines && !graph.turned ? 50 : 84);
}

function isEmbedded(pane: HTMLElement): boolean {
  return pane.closest("[data-embed]") !== null;
}

function heightBesideText(): number {
  return Math.max(HIGH, EMBEDDED * window.innerHeight);
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
    const wanted = heightOf(graph, pane.clientWidth, lines);
    const least = READ * (graph.bottom - graph.top + 2 * PAD) + 2;
    const share = least < WHOLE * window.innerHeight ? WHOLE : PART;
    if (!pane.isConnected) return; // it is called again when it is in its page
    const own = pane.closest("[data-fill]");
    if (isEmbedded(pane)) return this.take(pane, wanted, LEAST, heightBesideText());
    // the words of a step need more than a few rows do
    this.take(below, own && rows <= SMALL ? 0 : rows && LOW, 226, LOW);
    const whole = lines ? Math.max(LOW, Math.min(HIGH, share * window.innerHeight)) : LOW;
    const most = own ? PAGE * window.innerHeight : unfolded ? HIGH : whole;
    this.take(pane, wanted, 150, most);
    if (own) pane.style.minHeight = share === WHOLE ? `${least}px` : "";
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
