// What a reader shows in a view, as the storyboard of a film (minitape_widgets.film).
import type { Timeline } from "./timeline";

interface Move {
  method: "forward" | "back" | "cut" | "drag";
  /** the row that is the method's first argument; null: none */
  row: number | null;
  /** the number of a drag */
  value?: number;
}

export class Trail {
  private moves: Move[] = [];

  constructor(private timeline: Timeline) {}

  /** The reader is at another step. Before the first row a new film begins. */
  went(before: number): void {
    const { position, forward, swept, current } = this.timeline;
    if (position === 0) this.moves = [];
    else if (position <= forward)
      this.add({ method: "forward", row: position - 1 }, position > before);
    else this.add({ method: "back", row: position > swept ? null : current }, position > before);
  }

  /** The reader looks at the cut for the gradient of a row. */
  cut(row: number): void {
    this.add({ method: "cut", row: row < 0 ? null : row }, false);
  }

  /** The reader gave a leaf another number. */
  dragged(row: number, value: number): void {
    const last = this.moves.at(-1);
    this.add({ method: "drag", row, value }, last?.row === row);
  }

  /** Adds a move. One that goes on with the last takes its place. */
  private add(move: Move, goesOn: boolean): void {
    if (goesOn && this.moves.at(-1)?.method === move.method) this.moves.pop();
    this.moves.push(move);
  }

  /** The program that makes the film; `tape` is what the view shows. */
  text(): string {
    const lines = this.moves.map(({ method, row, value }) => {
      const first =
        row === null ? "" : method === "forward" || method === "back" ? `to=${row}` : row;
      return `story.${method}(${first}${value === undefined ? "" : `, ${value}`})`;
    });
    return [
      "from minitape_widgets import film",
      "",
      "story = film(tape)",
      ...(lines.length ? lines : ["story.forward()", "story.back()"]),
      'story.save("film.html")',
      "",
    ].join("\n");
  }
}
