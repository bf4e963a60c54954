// The storyboard of a film, and the beats that it becomes: what happens, for how long, under which
// subtitle.

/** One line of a storyboard, as `minitape_widgets.film` writes it. */
export type Shot =
  | { shot: "forward"; to: number | null } // up to this row; null: up to the last
  | { shot: "back"; to: number | null } // until this row has its adjoint; null: to the end
  | { shot: "say"; text: string }
  | { shot: "hold"; seconds: number }
  | { shot: "cut"; row: number | null } // the cut for the gradient of this row
  | { shot: "drag"; row: number; to: number };

/** What a storyboard needs to know of a recording; `Timeline` does. */
export interface Positions {
  readonly forward: number;
  readonly swept: number;
  readonly length: number;
  backTo(row: number): number | null;
}

export interface Beat {
  kind: "row" | "step" | "update" | "hold" | "cut" | "drag";
  /** the position of the timeline before the beat, and after it */
  before: number;
  after: number;
  seconds: number;
  subtitle: string;
  /** of a cut or a drag */
  row?: number;
  /** the number to which a drag leads */
  value?: number;
}

const SECONDS = { row: 1, step: 2, update: 2, cut: 3.5, drag: 3 };
const READING = 0.06; // seconds that a letter of a subtitle needs
const [PAUSE, LAST] = [0.8, 2]; // seconds before the first beat, and after the last
// rows or steps of one shot that are shown at full length; of more, each is shorter
const SKIM = 40;

/** Returns the beats of a film, with a pause at its beginning and its end. */
export function planBeats(shots: Shot[], positions: Positions): Beat[] {
  const beats: Beat[] = [];
  let [position, subtitle] = [0, ""];
  const hold = (seconds: number): void => {
    beats.push({ kind: "hold", before: position, after: position, seconds, subtitle });
  };
  const walk = (goal: number): void => {
    // Time does not run backwards: to an earlier step, the film jumps.
    if (goal < position) {
      position = goal;
      return hold(PAUSE);
    }
    const count = goal - position;
    const pace = Math.min(1, SKIM / Math.max(1, count));
    while (position < goal) {
      const kind = kindAt(position, positions);
      const seconds = SECONDS[kind] * pace;
      beats.push({ kind, before: position, after: position + 1, seconds, subtitle });
      position++;
    }
  };
  hold(PAUSE);
  shots.forEach((shot, k) => {
    if (shot.shot === "say") {
      subtitle = shot.text;
      // What moves next leaves time to read. A last word, or two in a row, need their own.
      const next = shots[k + 1]?.shot;
      if (!next || next === "say") hold(Math.max(1.5, READING * subtitle.length));
    } else if (shot.shot === "hold") hold(shot.seconds);
    else if (shot.shot === "forward")
      walk(shot.to === null ? positions.forward : Math.min(positions.forward, shot.to + 1));
    else if (shot.shot === "back") {
      if (position < positions.forward) walk(positions.forward);
      walk(shot.to === null ? positions.length : (positions.backTo(shot.to) ?? positions.swept));
    } else if (shot.shot === "cut")
      beats.push({
        kind: "cut",
        before: position,
        after: position,
        seconds: SECONDS.cut,
        subtitle,
        row: shot.row ?? -1,
      });
    else
      beats.push({
        kind: "drag",
        before: position,
        after: position,
        seconds: SECONDS.drag,
        subtitle,
        row: shot.row,
        value: shot.to,
      });
  });
  hold(LAST);
  return beats;
}

function kindAt(position: number, { forward, swept }: Positions): "row" | "step" | "update" {
  if (position < forward) return "row";
  return position < swept ? "step" : "update";
}

/** Returns the beat at a time, and how much of it has passed: 0 at its begin, 1 at its end. */
export function beatAt(beats: Beat[], time: number): { index: number; share: number } {
  let start = 0;
  for (const [index, { seconds }] of beats.entries()) {
    if (time < start + seconds) return { index, share: Math.max(0, (time - start) / seconds) };
    start += seconds;
  }
  return { index: beats.length - 1, share: 1 };
}

export function durationOf(beats: Beat[]): number {
  return beats.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Lines of at most `room` letters, split between words; Chinese anywhere. */
export function splitLines(text: string, room: number): string[] {
  const pieces = text.match(/[\u3000-\uffef]\s*|[^\s\u3000-\uffef]+\s*/g) ?? [];
  const lines = [""];
  for (const piece of pieces) {
    const last = lines[lines.length - 1];
    if (last && widthOf(last + piece.trimEnd()) > room) lines.push(piece);
    else lines[lines.length - 1] = last + piece;
  }
  return lines.map((line) => line.trimEnd());
}

/** In letters of an alphabet: a Chinese one is twice as wide. */
function widthOf(text: string): number {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2fff" ? 2 : 1), 0);
}
