// The view's own words in another language: a table from English texts to their translations comes
// with the recording.

let table: Record<string, string> = {};

/** From now on the view speaks with these texts. */
export function speak(texts: Record<string, string> | undefined): void {
  if (texts) table = texts;
}

/**
 * A text in the language of the lessons, with values in the places {0}, {1}; what has no
 * translation stays English.
 */
export function t(text: string, ...values: unknown[]): string {
  return (table[text] || text).replace(/\{(\d)\}/g, (_, k) => String(values[k]));
}

/**
 * How wide a text is, in letters: a Chinese, Japanese or Korean character takes the room of two.
 */
export function wide(text: string): number {
  return text.replace(/[\u1100-\u115f\u2e80-\ud7a3\uf900-\ufaff\ufe30-\uff60]/g, "  ").length;
}
