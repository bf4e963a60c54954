// The tree of a model's modules: what its gradients are in a step, and where its boxes stand.

/** A norm, or why there is none: null where the recording did not keep it. */
export type Norm = number | "none" | "nonfinite" | null;

export type Update = number | "nonfinite" | "from 0" | null;

export interface Parameter {
  name: string;
  path: string[];
  shape: number[];
  size: number;
  norms: Norm[];
  /** the norm of each step's update, divided by the norm of the parameter unless that was 0 */
  updates: Update[];
  /** the number of the explanation in each step, or -1 */
  causes: number[];
}

export interface Module {
  label: string;
  /** the names from the model to here */
  path: string[];
  parent: Module | null;
  children: Module[];
  size: number;
  /** the parameters of this module and of all modules in it */
  parameters: Parameter[];
  /** whether this is a parameter */
  isLeaf: boolean;
}

/** Modules that are too small to be seen one by one stand in one box. */
export interface Box {
  modules: Module[];
  column: number;
  top: number;
  height: number;
}

function createModule(label: string, path: string[], parent: Module | null): Module {
  return { label, path, parent, children: [], size: 0, parameters: [], isLeaf: false };
}

/** Builds the tree; the parameters' paths begin with the names of the root. */
export function buildTree(parameters: Parameter[], root: string[], title: string): Module {
  const tree = createModule(root.join(".") || title || "model", [], null);
  for (const parameter of parameters) {
    let module = tree;
    const below = parameter.path.slice(root.length);
    const names = below.length ? below : parameter.path;
    for (const [index, name] of names.entries()) {
      let child = module.children.find(({ label }) => label === name);
      if (!child) {
        child = createModule(name, names.slice(0, index + 1), module);
        module.children.push(child);
      }
      module = child;
    }
    module.isLeaf = true;
    for (let at: Module | null = module; at; at = at.parent) {
      at.size += parameter.size;
      at.parameters.push(parameter);
    }
  }
  return tree;
}

/** The norm of the gradient of all parameters of a module together. */
export function normOf(parameters: Parameter[], step: number): Norm {
  const norms = parameters.map((parameter) => parameter.norms[step] ?? null);
  const known = norms.filter((norm) => norm !== "none");
  if (!known.length) return "none";
  if (known.includes("nonfinite")) return "nonfinite";
  if (known.includes(null)) return null;
  return Math.hypot(...(known as number[]));
}

/** The explanations of a module's problems in a step, each once. */
export function causesOf(parameters: Parameter[], step: number): number[] {
  const causes = parameters.map((parameter) => parameter.causes[step] ?? -1);
  return [...new Set(causes.filter((cause) => cause >= 0))];
}

/** The power of ten of a norm, or null for what has none. */
export function powerOf(norm: Norm): number | null {
  return typeof norm === "number" && norm > 0 ? Math.floor(Math.log10(norm) + 1e-9) : null;
}

const MOST_POWERS = 14; // more colours cannot be told apart

/**
 * The smallest and the largest power of ten of all gradients, whose colours the legend names. That
 * of the whole model is the largest one, because its norm covers all parameters.
 */
export function rangeOf(parameters: Parameter[], steps: number): [number, number] | null {
  const whole = Array.from({ length: steps }, (_, step) => normOf(parameters, step));
  const powers = [...whole, ...parameters.flatMap(({ norms }) => norms)]
    .map(powerOf)
    .filter((power) => power !== null);
  if (!powers.length) return null;
  const high = powers.reduce((most, power) => Math.max(most, power));
  const low = powers.reduce((least, power) => Math.min(least, power));
  return [Math.max(low, high - MOST_POWERS), high];
}

/** How many columns a module and all modules in it take. */
export function depthOf(module: Module): number {
  return 1 + Math.max(0, ...module.children.map(depthOf));
}

/** How the height of a module is shared: by numbers of parameters, or each parameter the same. */
export type Share = "size" | "equal";

export const LEAST_HEIGHT = 3; // of a box, in pixels
const MARKED_HEIGHT = 18; // of one that has a problem in any step: its name can be read

/** How high a module must be for the names of all that have a problem in it. */
function leastOf(module: Module): number {
  const isMarked = module.parameters.some(({ causes }) => causes.some((cause) => cause >= 0));
  if (!isMarked) return 0;
  return Math.max(
    MARKED_HEIGHT,
    module.children.reduce((sum, child) => sum + leastOf(child), 0),
  );
}

/** Shares a height by weight, but each gets its least; for that half of the height may be used. */
function shareHeight(weights: number[], least: number[], height: number): number[] {
  const needed = least.reduce((sum, one) => sum + one, 0);
  const scaled = least.map((one) => one * Math.min(1, height / 2 / needed));
  const raised = new Set<number>();
  for (;;) {
    const free = weights.map((weight, k) => (raised.has(k) ? 0 : weight));
    const whole = free.reduce((sum, weight) => sum + weight, 0) || 1;
    const room = scaled.reduce((sum, one, k) => sum - (raised.has(k) ? one : 0), height);
    const heights = free.map((weight, k) => (raised.has(k) ? scaled[k] : (weight / whole) * room));
    const low = heights.findIndex((one, k) => !raised.has(k) && one < scaled[k]);
    if (low < 0) return heights;
    raised.add(low);
  }
}

/**
 * Places a module and what is in it: a column for each level, heights by size; what has a problem
 * is high enough to be seen.
 */
export function placeBoxes(top: Module, columns: number, height: number, share: Share): Box[] {
  const weigh = (module: Module): number =>
    share === "size" ? module.size : module.parameters.length;
  const boxes: Box[] = [{ modules: [top], column: 0, top: 0, height }];
  const place = (module: Module, column: number, begin: number, room: number): void => {
    if (column >= columns) return;
    const { children } = module;
    const heights = shareHeight(children.map(weigh), children.map(leastOf), room);
    let at = begin;
    let small: Box | null = null;
    for (const [k, child] of children.entries()) {
      const own = heights[k];
      if (own >= LEAST_HEIGHT) {
        boxes.push({ modules: [child], column, top: at, height: own });
        place(child, column + 1, at, own);
        small = null;
      } else if (small) {
        small.modules.push(child);
        small.height += own;
      } else {
        small = { modules: [child], column, top: at, height: own };
        boxes.push(small);
      }
      at += own;
    }
  };
  place(top, 1, 0, height);
  return boxes;
}
