// An explorable has its program beside the picture: it does without the table, the panes of a row
// and the toolbar, whose places stay empty.
import { h } from "../src/dom";
import type { ViewParts } from "../src/parts";
import type { Row } from "../src/snapshot";

const ignore = (): void => undefined;
const empty = (): HTMLDivElement => h("div", { hidden: true });

export const FEW_PARTS: ViewParts = {
  table: () => ({ el: empty(), draw: ignore, reveal: ignore, resized: ignore, reset: ignore }),
  source: () => ({ el: empty(), show: ignore }),
  inspector: () => ({ el: empty(), asked: "no", draw: ignore }),
  toolbar: () => ({
    el: empty(),
    search: h("input"),
    titles: [],
    items: [],
    draw: ignore,
    forget: ignore,
  }),
  help: () => ({ el: empty(), say: ignore }),
  present: () => ({ el: empty(), on: false, draw: ignore, toggle: ignore, stop: ignore }),
  feel: () => ({
    el: empty(),
    moved: false,
    can: (row): row is Row => row === undefined && false,
    draw: ignore,
    grab: ignore,
    move: ignore,
    forget: ignore,
    back: ignore,
  }),
  strip: () => ({ el: empty(), draw: ignore }),
  divider: empty,
  exportAs: async () => undefined,
  openInside: async () => undefined,
};
