// What a view is given, and where a reader is in it.
import type { Inside } from "./schema";

export interface ViewOptions {
  bundle(): Promise<string>; // the front end's own source, for the self-contained page
  sliders?: HTMLElement;
  // asks the kernel why no gradient flows
  explain?(source: number, target: number): Promise<string>;
  sweep?(): boolean; // asks the kernel for the steps of a long sweep; false where there is none
  again?(): boolean; // asks the kernel to compute again what the tape released
  // asks the kernel for the rows inside of a call of a function
  inside?(row: number): Promise<Inside | null>;
  moved?(line: number | null): void; // the reader is at another step, of this line
  pointed?(row: number): void; // the reader points at a row, or at none (-1)
  grab?(row: number, event: PointerEvent): void; // the reader pulls at a leaf
  out?(): void; // of a view of such rows: back to where the call is
}

/** Where a reader is in a view. The playground gives one, so the bundle keeps these names. */
export interface Place {
  where: number;
  following: boolean;
  selected: number;
  focused: boolean;
}
