// What the map says about the module that was clicked: its parameters, problems and rows.
import { h, s } from "../src/dom";
import { count } from "../src/value";
import { t } from "../src/words";
import { powerText } from "./colours";
import {
  causesOf,
  type Module,
  type Norm,
  normOf,
  type Parameter,
  powerOf,
  type Update,
} from "./tree";

export interface Explained {
  /** the first parameter with this problem, which the message names */
  name: string;
  kind: string;
  cause: string;
  message: string;
  fix: string;
  place: string;
  code: string;
}

/** A row: its number, name, shape and line, and the norm of its adjoint. */
export type MappedRow = [number, string, number[], number | null, Norm];

export interface MapData {
  title: string;
  root: string[];
  steps: number;
  parameters: Parameter[];
  classes: Record<string, string>;
  explanations: Explained[];
  modules: Record<string, MappedRow[]>;
  texts?: Record<string, string>;
}

const MOST_ROWS = 300; // that a panel lists

/** A norm as people read it. */
export function normText(norm: Norm): string {
  if (norm === "none") return t("None");
  if (norm === "nonfinite") return t("NaN or infinite");
  if (norm === null) return t("not kept");
  const size = Math.abs(norm);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return norm.toExponential(2);
  return String(Number(norm.toPrecision(3)));
}

function updateText(update: Update): string {
  if (update === "from 0") return t("from 0");
  return update === null ? t("unknown") : normText(update);
}

function cells(tag: "td" | "th", texts: (string | Node)[]): HTMLElement[] {
  return texts.map((text) => h(tag, {}, text));
}

function table(head: string[], lines: HTMLElement[]): HTMLElement {
  const first = h("thead", {}, h("tr", {}, ...cells("th", head)));
  return h("div.mt-map-table", {}, h("table", {}, first, h("tbody", {}, ...lines)));
}

/** The norm in each step as a line, on a logarithmic scale. */
function curve(module: Module, data: MapData, step: number): SVGElement | null {
  const norms = Array.from({ length: data.steps }, (_, k) => normOf(module.parameters, k));
  const known = norms.filter((norm) => powerOf(norm) !== null) as number[];
  if (data.steps < 2 || !known.length) return null;
  const logs = known.map(Math.log10);
  const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 1e-9)];
  const [width, height] = [260, 56];
  const x = (k: number): number => 4 + (k / (data.steps - 1)) * (width - 36);
  const y = (norm: number): number =>
    height - 4 - ((Math.log10(norm) - low) / Math.max(1, high - low)) * (height - 8);
  let pen = "M";
  let path = "";
  for (const [k, norm] of norms.entries()) {
    if (powerOf(norm) === null) pen = "M";
    else {
      path += `${pen}${x(k).toFixed(1)} ${y(norm as number).toFixed(1)}`;
      pen = "L";
    }
  }
  const here = norms[step];
  return s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "mt-map-curve",
      role: "img",
      "aria-label": t("the norm in each step, from {0} to {1}", powerText(low), powerText(high)),
    },
    s("text", { x: width, y: 10 }, powerText(high)),
    s("text", { x: width, y: height - 2 }, powerText(low)),
    s("path", { d: path }),
    powerOf(here) === null ? null : s("circle", { cx: x(step), cy: y(here as number), r: 3.5 }),
  );
}

function parameterLine(
  parameter: Parameter,
  module: Module,
  root: number,
  step: number,
): HTMLElement {
  const path = parameter.path.slice(root);
  const below = path.slice(module.path.length - (module.isLeaf ? 1 : 0)).join(".");
  const line = h(
    "tr",
    {},
    ...cells("td", [
      below || parameter.name,
      parameter.shape.join(" × ") || t("a number"),
      normText(parameter.norms[step] ?? null),
      updateText(parameter.updates[step] ?? null),
    ]),
  );
  if ((parameter.causes[step] ?? -1) >= 0) line.classList.add("mt-map-blamed");
  return line;
}

/** A problem in the words of the first parameter of the module that has it. */
function problem(number: number, module: Module, data: MapData, step: number): HTMLElement {
  const { name, message, fix, code, place, cause } = data.explanations[number];
  const blamed = module.parameters.filter(({ causes }) => causes[step] === number);
  const say = (text: string): string => text.replaceAll(name, blamed[0].name);
  const more = blamed.length - 1;
  const others =
    more === 1
      ? t("This is also true of one more parameter.")
      : t("This is also true of {0} more parameters.", count(more));
  return h(
    "li",
    {},
    h("strong", {}, cause.replaceAll("_", " ")),
    h("p", {}, say(message), more ? ` ${others}` : ""),
    code ? h("code", {}, place ? `${place}  ` : "", code) : null,
    fix ? h("p", {}, say(fix)) : null,
  );
}

/** The rows that a module ran, and those of the modules in it. */
export function rowsOf(module: Module, data: MapData): MappedRow[] {
  const path = (module.isLeaf ? module.path.slice(0, -1) : module.path).join(".");
  return Object.entries(data.modules)
    .filter(([name]) => !path || name === path || name.startsWith(`${path}.`))
    .flatMap(([, rows]) => rows)
    .sort((one, other) => one[0] - other[0]);
}

function rowTable(module: Module, data: MapData): HTMLElement | null {
  const rows = rowsOf(module, data);
  if (!rows.length) return null;
  const lines = rows
    .slice(0, MOST_ROWS)
    .map(([row, name, shape, line, norm]) =>
      h(
        "tr",
        {},
        ...cells("td", [
          String(row),
          name,
          shape.join(" × "),
          line === null ? "" : String(line),
          normText(norm),
        ]),
      ),
    );
  const rest = rows.length - lines.length;
  return h(
    "details",
    { open: rows.length <= 40 },
    h("summary", {}, t("{0} rows of the last step", count(rows.length))),
    table([t("row"), t("operation"), t("shape"), t("line"), t("norm of the adjoint")], lines),
    rest ? h("p", {}, t("and {0} more", count(rest))) : null,
  );
}

/** All that is known of a module in a step. */
export function describeModule(module: Module, data: MapData, step: number): HTMLElement[] {
  const path = module.path.join(".");
  const causes = causesOf(module.parameters, step);
  const parts: (HTMLElement | SVGElement | null)[] = [
    h(
      "h2",
      {},
      path || module.label,
      h("small", {}, path ? (data.classes[path] ?? "") : data.title),
    ),
    h(
      "p",
      {},
      t("{0} elements", count(module.size)),
      " · ",
      t("norm of the gradient: {0}", normText(normOf(module.parameters, step))),
    ),
    curve(module, data, step),
    causes.length
      ? h("ul.mt-map-problems", {}, ...causes.map((cause) => problem(cause, module, data, step)))
      : null,
    table(
      [t("parameter"), t("shape"), t("norm"), t("update / weight")],
      module.parameters.map((each) => parameterLine(each, module, data.root.length, step)),
    ),
    rowTable(module, data),
  ];
  return parts.filter((part) => part !== null) as HTMLElement[];
}
