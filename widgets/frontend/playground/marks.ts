// The line of the program that the picture is at.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

const setLine = StateEffect.define<number | null>();
const mark = Decoration.line({ class: "cm-at" });

export const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let moved = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setLine)) continue;
      const line = effect.value;
      const { doc } = transaction.state;
      const isThere = line !== null && line >= 1 && line <= doc.lines;
      moved = isThere ? Decoration.set([mark.range(doc.line(line).from)]) : Decoration.none;
    }
    return moved;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks a line of the program; null takes the mark away. */
export function markLine(editor: EditorView, line: number | null): void {
  editor.dispatch({ effects: setLine.of(line) });
}
