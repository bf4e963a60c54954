// Animated GIF: one palette for all frames, LZW as the format has it.

/** Bytes of an endlessly looping GIF; `delay` and `last` are hundredths of a second. */
export function encodeGif(frames: ImageData[], delay: number, last: number): Uint8Array {
  const { width, height } = frames[0];
  const palette = new Palette(frames);
  const out: number[] = [];
  const word = (n: number): void => void out.push(n & 255, n >> 8);
  out.push(...ascii("GIF89a"));
  word(width);
  word(height);
  out.push(0xf7, 0, 0, ...palette.bytes());
  out.push(0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0);
  frames.forEach((frame, k) => {
    out.push(0x21, 0xf9, 4, 4);
    word(k === frames.length - 1 ? last : delay);
    out.push(0, 0, 0x2c);
    for (const n of [0, 0, width, height]) word(n);
    out.push(0, 8);
    const packed = compress(palette.indices(frame));
    for (let i = 0; i < packed.length; i += 255) {
      const block = packed.slice(i, i + 255);
      out.push(block.length);
      for (const byte of block) out.push(byte);
    }
    out.push(0);
  });
  out.push(0x3b);
  return Uint8Array.from(out);
}

const ascii = (text: string): number[] => [...text].map((c) => c.charCodeAt(0));

/** The 256 most frequent colours; others take the nearest of them. */
class Palette {
  private colours: [number, number, number][] = [];
  private nearest = new Map<number, number>();

  constructor(frames: ImageData[]) {
    const counts = new Map<number, number>();
    for (const { data } of frames)
      for (let i = 0; i < data.length; i += 4) {
        const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    for (const [key] of sorted.slice(0, 256)) {
      this.nearest.set(key, this.colours.length);
      this.colours.push([key >> 16, (key >> 8) & 255, key & 255]);
    }
  }

  bytes(): number[] {
    const all = this.colours.flat();
    while (all.length < 768) all.push(0);
    return all;
  }

  indices({ data }: ImageData): Uint8Array {
    const found = new Uint8Array(data.length / 4);
    for (let i = 0; i < found.length; i++) found[i] = this.index(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
    return found;
  }

  private index(r: number, g: number, b: number): number {
    const key = (r << 16) | (g << 8) | b;
    const known = this.nearest.get(key);
    if (known !== undefined) return known;
    let [best, least] = [0, Infinity];
    this.colours.forEach(([r2, g2, b2], k) => {
      const distance = (r - r2) ** 2 + (g - g2) ** 2 + (b - b2) ** 2;
      if (distance < least) [best, least] = [k, distance];
    });
    this.nearest.set(key, best);
    return best;
  }
}

/** LZW with 8-bit symbols; the table starts anew when its 4096 codes are used up. */
function compress(pixels: Uint8Array): number[] {
  const [clear, end] = [256, 257];
  const out: number[] = [];
  let [bits, used, size] = [0, 0, 9];
  const put = (code: number): void => {
    bits |= code << used;
    used += size;
    while (used >= 8) {
      out.push(bits & 255);
      bits >>>= 8;
      used -= 8;
    }
  };
  let table = new Map<number, number>();
  let next = end + 1;
  put(clear);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (prefix << 8) | pixels[i];
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    put(prefix);
    if (next < 4096) {
      table.set(key, next++);
      if (next - 1 === 1 << size && size < 12) size++;
    } else {
      put(clear);
      table = new Map();
      next = end + 1;
      size = 9;
    }
    prefix = pixels[i];
  }
  put(prefix);
  put(end);
  if (used) out.push(bits & 255);
  return out;
}
