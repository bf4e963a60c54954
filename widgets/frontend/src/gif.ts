// Animated GIF: one palette for all frames. gifenc packs them.
import { applyPalette, GIFEncoder } from "gifenc/src/index.js";

type Colour = [number, number, number];

/** Bytes of an endlessly looping GIF; `delay` and `last` are milliseconds. */
export function encodeGif(frames: ImageData[], delay: number, last: number): Uint8Array {
  const gif = GIFEncoder();
  const palette = frequent(frames);
  frames.forEach(({ data, width, height }, k) =>
    gif.writeFrame(applyPalette(data, palette), width, height, {
      palette: k ? undefined : palette,
      delay: k === frames.length - 1 ? last : delay,
    }),
  );
  gif.finish();
  return gif.bytes();
}

/** The 256 most frequent colours: a drawing has few, and each is to remain what it is. */
function frequent(frames: ImageData[]): Colour[] {
  const counts = new Map<number, number>();
  for (const { data } of frames)
    for (let i = 0; i < data.length; i += 4) {
      const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return sorted.slice(0, 256).map(([key]) => [key >> 16, (key >> 8) & 255, key & 255]);
}
