// Which rows of an edited program are those of the program before: rows are known by the place of
// their operator or name in the text, and an edit moves the places behind it.
import type { ProgramRun } from "../evaluator/program";

/** What an edit did: letters from `from` on became others, and what was behind moved by `shift`. */
export interface Edit {
  from: number;
  to: number; // where the replaced letters ended
  shift: number;
}

/** Returns the smallest edit between two texts. */
export function findEdit(before: string, after: string): Edit {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let same = 0;
  while (same < most - from && before.at(-1 - same) === after.at(-1 - same)) same++;
  return { from, to: before.length - same, shift: after.length - before.length };
}

/** Returns a key for each row: its kind, its place after the edit, and which one there it is. */
export function listKeys({ recording }: ProgramRun, edit: Edit | null): string[] {
  const seen = new Map<string, number>();
  return recording.rows.map(({ op, inputs, by }, row) => {
    const { from } = recording.places[row];
    // A function stays the same node when it becomes another one: sin, then cos.
    const kind = inputs.length === 1 ? "call" : op;
    const place = edit && from >= edit.to ? from + edit.shift : from;
    const key = `${kind} ${place} ${by ?? ""}`;
    const count = seen.get(key) ?? 0;
    seen.set(key, count + 1);
    return `${key} ${count}`;
  });
}
