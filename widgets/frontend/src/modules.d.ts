declare module "*.css" {
  const text: string;
  export default text;
}
// build.mjs bundles the named module and gives its text.
declare module "worker:*" {
  const source: string;
  export default source;
}
declare module "gifenc/src/index.js" {
  interface Encoder {
    writeFrame(
      pixels: Uint8Array,
      width: number,
      height: number,
      options: {
        palette?: number[][];
        delay?: number;
        transparent?: boolean;
        transparentIndex?: number;
        dispose?: number;
      },
    ): void;
    finish(): void;
    bytes(): Uint8Array;
  }
  export function GIFEncoder(): Encoder;
  export function applyPalette(rgba: Uint8ClampedArray, palette: number[][]): Uint8Array;
}
