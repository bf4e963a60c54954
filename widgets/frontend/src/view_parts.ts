// The parts around the graph of a view: what their buttons do, and how they are arranged.
import { fullScreen, h } from "./dom";
import type { ViewOptions } from "./options";
import type { ViewParts } from "./parts";
import { Results } from "./results";
import { StepBar } from "./stepbar";
import type { View } from "./view";

export type AroundGraph = ReturnType<typeof buildParts>;

/** The parts around the graph of a view. */
export function buildParts(view: View, options: ViewOptions, parts: ViewParts) {
  const { store, timeline, pane, modes, marks, stepping } = view;
  const back = (row: number): void => stepping.reach(() => timeline.backTo(row));
  const to = (row: number): void => view.goRow(row);
  const toolbar = parts.toolbar(store, {
    search: (text) => {
      view.schedule("all");
      return marks.search(text);
    },
    next: () => marks.next >= 0 && view.select(marks.next),
    fold: (mode) => {
      pane.fold(mode);
      view.schedule("all");
    },
    zoom: (factor) => pane.camera.zoom(factor),
    fit: () => pane.overview(),
    focus: () => view.focus(!marks.near),
    paths: () => modes.paths.toggle(),
    predict: () => modes.guess(),
    cut: () => modes.turn("cut"),
    slopes: () => modes.turn("slopes"),
    cell: () => modes.turn("cell"),
    full: () => fullScreen(view.el),
    present: () => view.present(),
    save: (kind) => view.save(kind),
    stop: () => pane.stopPlacing(),
    help: () => view.el.classList.toggle("mt-show-help"),
  });
  return {
    help: parts.help(toolbar.titles),
    table: parts.table(store, timeline, { pick: to, hover: (row) => view.hover(row) }),
    source: parts.source(store, (file, line) =>
      to(store.rows.find((row) => row.file === file && row.line === line)?.row ?? -1),
    ),
    inspector: parts.inspector(store, timeline, {
      back,
      to,
      go: (row) => view.select(row),
      end: (kind, row) => modes.paths.choose(kind, row),
      unfold: (node) => node.group && view.toggle(node.group, true),
      enter: (row) => view.enter(row),
      again: options.again,
    }),
    stepbar: new StepBar(timeline, (position) => stepping.moveTo(position), to),
    toolbar,
    results: new Results(store, (row) => view.select(row)),
    strip: parts.strip(store, (alarm) => (alarm.back ? back : to)(alarm.row)),
    feel: parts.feel(store, (row, value) => view.trail.dragged(row, value)),
    present: parts.present(view.el, store, timeline, () => view.present()),
  };
}

/** Puts the parts into the view, from above to below. */
export function arrangeParts(
  { el, pane, modes, parts }: View,
  around: AroundGraph,
  sliders: HTMLElement | undefined,
): void {
  const { toolbar, help, strip, stepbar, results, table, source, inspector, present, feel } =
    around;
  const { cut, slopes, cell, predict, paths } = modes;
  inspector.el.lastElementChild?.before(feel.el);
  stepbar.el.querySelector(".mt-count")?.before(pane.scalebar, pane.powers);
  pane.scene.over.append(slopes.el, cut.el);
  pane.watchSize(table.el);
  pane.below.append(
    table.el,
    parts.divider("the table's width", "column", table.el),
    h("div.mt-side", {}, source.el, inspector.el),
  );
  el.append(toolbar.el, help.el, paths.el);
  if (sliders) el.append(sliders);
  el.append(
    strip.el,
    pane.el,
    cut.note,
    slopes.note,
    parts.divider("the graph's height", "row", pane.el),
    present.el,
    stepbar.el,
    predict.el,
    cell.el,
    results.el,
    pane.below,
  );
}
