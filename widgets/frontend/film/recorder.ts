// Files of a film: a video, an animated GIF, numbered SVG frames.
import {
  BufferTarget,
  CanvasSource,
  getFirstEncodableVideoCodec,
  Mp4OutputFormat,
  Output,
  QUALITY_HIGH,
  WebMOutputFormat,
} from "mediabunny";
import { h } from "../src/dom";
import { inlineStyles, paintOn } from "../src/export";
import { encodeGif } from "../src/gif";
import { t } from "../src/words";
import type { Director, Size } from "./director";

const GIF_RATE = 12; // frames a second
const GIF_WIDTH = 960; // pixels

export type Progress = (share: number) => void;

/** The text of the SVG picture that a film shows at a time. */
export function pictureAt(director: Director, time: number, { width, height }: Size): string {
  director.draw(time);
  director.nameParts(director.svg);
  return new XMLSerializer().serializeToString(inlineStyles(director.svg, width, height));
}

/** A video in a file of this kind. */
export async function recordVideo(
  director: Director,
  size: Size,
  kind: "webm" | "mp4",
  rate: number,
  progress: Progress = () => undefined,
): Promise<Blob> {
  const format = kind === "mp4" ? new Mp4OutputFormat() : new WebMOutputFormat();
  const codec = await getFirstEncodableVideoCodec(format.getSupportedVideoCodecs(), size);
  if (!codec)
    throw new Error(
      t("This browser cannot encode .{0} videos. Try a different file extension.", kind),
    );
  const output = new Output({ format, target: new BufferTarget() });
  const canvas = h("canvas", { width: size.width, height: size.height });
  const source = new CanvasSource(canvas, { codec, bitrate: QUALITY_HIGH });
  output.addVideoTrack(source, { frameRate: rate });
  await output.start();
  const count = Math.ceil(director.duration * rate);
  let last = "";
  for (let frame = 0; frame < count; frame++) {
    const text = pictureAt(director, frame / rate, size);
    if (text !== last) await paintOn(canvas, text);
    last = text;
    await source.add(frame / rate, 1 / rate);
    progress((frame + 1) / count);
  }
  await output.finalize();
  const { buffer } = output.target as BufferTarget;
  return new Blob([buffer as ArrayBuffer], { type: `video/${kind}` });
}

/** An animated GIF of at most 960 pixels' width. */
export async function recordGif(
  director: Director,
  size: Size,
  progress: Progress = () => undefined,
): Promise<Blob> {
  const scale = Math.min(1, GIF_WIDTH / size.width);
  const canvas = h("canvas", {
    width: Math.round(size.width * scale),
    height: Math.round(size.height * scale),
  });
  const context = canvas.getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
  const frames: ImageData[] = [];
  const count = Math.ceil(director.duration * GIF_RATE);
  for (let frame = 0; frame < count; frame++) {
    await paintOn(canvas, pictureAt(director, frame / GIF_RATE, size));
    frames.push(context.getImageData(0, 0, canvas.width, canvas.height));
    progress((frame + 1) / count);
  }
  return new Blob([encodeGif(frames, 1000 / GIF_RATE, 2000) as BlobPart], { type: "image/gif" });
}

/** An SVG picture of the end of each beat. */
export function listPictures(director: Director, size: Size): string[] {
  let time = 0;
  return director.beats.map(({ seconds }) => {
    time += seconds;
    return pictureAt(director, time - 1e-3, size);
  });
}
