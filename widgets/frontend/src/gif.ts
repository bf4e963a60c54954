// Animated GIF: one palette for all frames. gifenc packs them.
import { applyPalette, GIFEncoder } from "gifenc/src/index.js";

type Colour = [number, number, number];

/** Bytes of an endlessly looping GIF; `delay` and `last` are milliseconds. */
export function encodeGif(frames: ImageData[], delay: number, last: number): Uint8Array {
  const gif = GIFEncoder();
  const palette = frequent(frames);
  const unchanged = palette.length; // the index of pixels that stay as the frame before has them
  const exact = new Map(palette.map(([r, g, b], index) => [(r << 16) | (g << 8) | b, index]));
  frames.forEach(({ data, width, height }, k) => {
    const indices = applyPalette(data, palette);
    // it takes colours together that differ in few bits, such as a background and its shadow
    for (let pixel = 0; pixel < indices.length; pixel++)
      indices[pixel] = exact.get(colourOf(data, 4 * pixel)) ?? indices[pixel];
    if (k) keepUnchanged(indices, data, frames[k - 1].data, unchanged);
    gif.writeFrame(indices, width, height, {
      palette: k ? undefined : [...palette, [0, 0, 0]],
      transparent: k > 0,
      transparentIndex: unchanged,
      dispose: 1, // the frame before stays below
      delay: k === frames.length - 1 ? last : delay,
    });
  });
  gif.finish();
  return gif.bytes();
}

/** The colour at an index of the data of a frame, as one number. */
function colourOf(data: Uint8ClampedArray, at: number): number {
  return (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
}

/** Marks the pixels that a frame shares with the one before: a few runs of one index. */
function keepUnchanged(
  indices: Uint8Array,
  data: Uint8ClampedArray,
  before: Uint8ClampedArray,
  unchanged: number,
): void {
  const [now, then] = [new Uint32Array(data.buffer), new Uint32Array(before.buffer)];
  for (let pixel = 0; pixel < indices.length; pixel++)
    if (now[pixel] === then[pixel]) indices[pixel] = unchanged;
}

/**
 * The 255 most frequent colours: a drawing has few, and each is to remain what it is. One index is
 * left for pixels that do not change.
 */
function frequent(frames: ImageData[]): Colour[] {
  const counts = new Map<number, number>();
  for (const { data } of frames)
    for (let i = 0; i < data.length; i += 4) {
      const key = colourOf(data, i);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return sorted.slice(0, 255).map(([key]) => [key >> 16, (key >> 8) & 255, key & 255]);
}
