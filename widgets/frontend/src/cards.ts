// The cards on the edges of a step: what is written on them, and how they are drawn.
import { s } from "./dom";
import type { Box } from "./camera"; // here x and y are those of its middle
import { TIGHT, type Graph } from "./graph";
import { signedMap } from "./heatmap";
import { INSET, LETTER, LINE, MAP, type Label } from "./labels";
import type { Row, Value } from "./schema";
import { isShort } from "./shapes";
import { sizeOf } from "./value";
import { wide } from "./words";

export const PRODUCT = 11; // characters of a number on an edge

/**
 * A number or a small array on an edge; of a larger one, which is drawn, how large its numbers are.
 */
export const onEdge = (sign: string, value: Value, { turned, pitch }: Graph): string =>
  sign + sizeOf(value, PRODUCT, turned || pitch >= TIGHT ? 3 : 2);

/** An array that is too long to be written on an edge. */
export function mapOf(value: Value, row: Row): Value | null {
  return row.shape.some((side) => side > 1) && !isShort(value, PRODUCT) ? value : null;
}

export function label({ id, x, y, w, h, lines, map, leader }: Label): SVGGElement {
  const el = s(
    "g.mt-product",
    { "data-edge": id },
    s("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 4 }),
  );
  if (leader) el.prepend(s("path.mt-leader", { d: `M${x} ${y}L${leader[0]} ${leader[1]}` }));
  lines.forEach((line, k) => {
    let end = x + w / 2 - INSET;
    for (const text of [...line].reverse()) {
      const kind =
        text.startsWith("=") || lines.length * line.length === 1
          ? "mt-equals"
          : text.startsWith("Σ")
            ? "mt-sum"
            : text.startsWith("×")
              ? "mt-incoming"
              : "";
      el.append(
        s(
          "text",
          { class: kind, x: end, y: y - h / 2 + 14 + LINE * k, "text-anchor": "end" },
          text,
        ),
      );
      end -= LETTER * (wide(text) + 1);
    }
  });
  const picture = signedMap(map, x - w / 2 + INSET, y + h / 2 - MAP - 4, w - 2 * INSET, MAP);
  if (picture) el.append(picture);
  return el;
}

/** Makes a box wider and higher, as far as there is room, until it holds these cards. */
export function holding(
  cards: Box[],
  box: { x: number; y: number; w: number; h: number },
  width: number,
  height: number,
): void {
  for (const { x, y, w, h } of cards) {
    const [left, top, right, bottom] = [
      Math.min(box.x, x - w / 2),
      Math.min(box.y, y - h / 2),
      Math.max(box.x + box.w, x + w / 2),
      Math.max(box.y + box.h, y + h / 2),
    ];
    if (right - left <= width && bottom - top <= height)
      Object.assign(box, { x: left, y: top, w: right - left, h: bottom - top });
  }
}
