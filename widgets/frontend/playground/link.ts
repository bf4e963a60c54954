// A program in the fragment of an address: compressed, in letters that no address changes. It never
// leaves the browser.

import { t } from "../src/words";

const MOST = 100_000; // characters of a program in a link

/**
 * The bytes that a stream makes of these, no more of them than there may be: a short link may
 * unfold to gigabytes.
 */
async function through(
  bytes: Uint8Array,
  stream: GenericTransformStream,
  most = Infinity,
): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart])
    .stream()
    .pipeThrough(stream)
    .getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parts.push(read.value);
    size += read.value.length;
    if (size > most) {
      void reader.cancel();
      break;
    }
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

export async function packed(program: string): Promise<string> {
  const bytes = await through(
    new TextEncoder().encode(program),
    new CompressionStream("deflate-raw"),
  );
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** The program of a link; a text that says so where it holds none. */
export async function unpacked(letters: string): Promise<string> {
  try {
    const bytes = Uint8Array.from(
      atob(letters.replaceAll("-", "+").replaceAll("_", "/")),
      (letter) => letter.charCodeAt(0),
    );
    const program = new TextDecoder("utf-8", { fatal: true }).decode(
      await through(bytes, new DecompressionStream("deflate-raw"), 4 * MOST),
      { stream: true },
    );
    return program.length > MOST ? `# ${t("The program in this link is too long.")}\n` : program;
  } catch {
    return `# ${t("The link is damaged and contains no program.")}\n`;
  }
}
