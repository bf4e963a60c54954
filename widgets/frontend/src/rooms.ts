// How high the parts of a view are whose edge can be drawn.

export class Rooms {
  private given = new Map<HTMLElement, number>();

  /** A live view, which begins empty, takes more as the tape grows, and never less; what the reader has drawn stays. */
  take(part: HTMLElement, wanted: number, low: number, most: number): void {
    const given = this.given.get(part) ?? 0;
    if (given !== (parseFloat(part.style.height) || 0)) return;
    const height = Math.round(Math.max(given, low, Math.min(most, wanted)));
    this.given.set(part, height);
    part.style.height = `${height}px`;
  }
}
