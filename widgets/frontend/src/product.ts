// The formula of what has arrived, as it grows with the steps: ∂loss/∂w = 2 × (p − t) × p × (1 − p)
// × x, with its numbers below; of arrays ∂loss/∂w = xᵀ @ (2 × (p − t)), with the shapes.
import { h } from "./dom";
import { assigned, seedOf } from "./results";
import type { Row, Sweep, SweepEdge, Value } from "./schema";
import type { Store } from "./store";
import { elide, full, rounded, shapeText, withNames } from "./value";
import { t } from "./words";

/**
 * A factor, a sign or a bracket: its text, its number or shape, and the step that made it; 0 for
 * none.
 */
interface Part {
  text: string;
  value: string;
  step: number;
}
/**
 * Parts that are multiplied element by element; 1 without any. The shape is that of what is
 * written, which may be spread.
 */
interface Term {
  parts: Part[];
  factors: number;
  shape: number[];
}

// terms of a sum, factors of a term, steps: of more what arrived in between has a name of its own
const [MOST, LONG, STEPS] = [4, 5, 200];
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** A rule without the adjoint, in which it is linear: `g × y` is y. */
function withoutAdjoint(rule: string): string {
  if (!/\bg\b/.test(rule)) return "0";
  return rule
    .replace(/^(−?)g$/, "$11")
    .replace(/^(−?)g × /, "$1")
    .replace(/^(−?)g \/ /, "$11 / ")
    .replace(/ × g\b|\bg × /, "")
    .replace(/^g if (.*), else 0$/, "($1)");
}

/**
 * Is a row one number that no tape followed, such as a constant or the exponent that a gradient
 * made smaller by one?
 */
function isNumber(row: Row): boolean {
  return !row.shape.length && (row.kind !== "operation" || row.status === "ghost");
}

/**
 * What a row is called in a formula: by its name, a number of the program as it is, else by what
 * made it.
 */
export function nameOf(store: Store, row: Row): string {
  const name = row.name ?? (row.kind === "source" && row.label);
  if (name) return name.replace(/:0$/, "");
  if (isNumber(row) && row.value?.text)
    return bracketed(rounded(row.value.text).replace(/\.0$/, ""));
  // what passes a value on is called as that value is
  if (row.said[0] === "x") return nameOf(store, store.rows[row.inputs[0]]);
  const within = (one: Row): string =>
    one.name || one.kind !== "operation" || isNumber(one)
      ? nameOf(store, one)
      : t("row {0}", one.row);
  const made = row.said[0]
    ? powers(withNames(row.said[0], row, (input) => within(store.rows[input])))
    : "";
  return made && made.length < 14
    ? /^\w+(\(|ᵀ$)/.test(made)
      ? made
      : `(${made})`
    : t("row {0}", row.row);
}

/**
 * What is derived: the target, times what the sweep began with where that is not 1, as with
 * `output_gradients` or in a call; or several targets.
 */
function derived(store: Store, seed: string): string {
  const names = (store.sweep?.target ?? [0]).map((at) => {
    const row = store.rows[at];
    return assigned(store, row) || nameOf(store, row);
  });
  const name = names.join(", ");
  return seed ? `(${seed} × ${name})` : names[1] ? `(${name})` : name;
}

/** Is there one target? Of several each is one that no other reads, and the sweep began with 1. */
const isSimple = (sweep: Sweep): boolean => {
  const { steps, target } = sweep;
  const isPlain = (at: number): boolean =>
    steps.some(({ row }) => row === at) &&
    !steps.some(({ edges }) => edges.some(({ input }) => input === at)) &&
    !seedOf({ sweep }, at);
  return target.length > 1 ? target.every(isPlain) : target.length > 0;
};

const sign = (text: string): Part => ({ text, value: text, step: 0 });
const same = (one: number[], other: number[]): boolean => String(one) === String(other);
const valueOf = (text: string | undefined, shape: number[]): string =>
  shape.length ? shapeText({ shape }) : (text ?? "");

/** A term times one factor more; with its bracket, where it is a product of matrices. */
function times({ parts, factors, shape }: Term, factor: Part, of: number[]): Term {
  const wide =
    of.length > shape.length
      ? of
      : shape.map((n, k) => Math.max(n, of[k - shape.length + of.length] ?? 1));
  return {
    parts: [...parts, ...(parts.length ? [sign(" × ")] : []), factor],
    factors: factors + 1,
    shape: wide,
  };
}

/** All terms as one, of this shape, inside of a text: `xᵀ @ (…)`. */
function within(terms: Term[], shape: number[], before: Part[], after: Part[]): Term {
  const whole = terms.map((term) =>
    same(term.shape, shape)
      ? term
      : times(
          term,
          { text: `ones${shapeText({ shape })}`, value: shapeText({ shape }), step: 0 },
          shape,
        ),
  );
  const parts = whole.flatMap((term, k) => [...(k ? [sign(" + ")] : []), ...term.parts]);
  const bare =
    parts.length === 1 &&
    !/[ −]/.test(parts[0].text.replace(/\([^()]*\)/g, "")) &&
    !/^\w/.test(before.at(-1)?.text ?? "");
  const open = /\($/.test(before.at(-1)?.text ?? "") || bare;
  return {
    parts: [
      ...before,
      ...(open ? [] : [sign("(")]),
      ...parts,
      ...(open ? [] : [sign(")")]),
      ...after,
    ],
    factors: parts.length,
    shape,
  };
}

/** What an edge hands on of what arrived; null where no rule says it. */
function handed(
  store: Store,
  row: Row,
  terms: Term[],
  { input, port, local, differs }: SweepEdge,
  step: number,
): Term[] | null {
  const said = row.said[port + 1] ?? "";
  const to = store.rows[input];
  const named = (text: string): string =>
    powers(withNames(text, row, (one) => nameOf(store, store.rows[one])));
  const shapeOf = (name: string): number[] =>
    store.rows[{ x: row.inputs[0], y: row.inputs[1], z: row.row }[name] ?? row.row].shape;
  if (differs || said.split(/\bg/).length !== 2 || row.dtype.startsWith("complex")) return null;
  if (/[@ᵀ]|reshape/.test(said)) {
    // summed over a batch
    if (/@/.test(said) && !same(to.shape.slice(0, -2), row.shape.slice(0, -2))) return null;
    const parts = said
      .split(/(g| @ )/)
      .filter(Boolean)
      .map((text): Part => {
        const name = /^[xy]/.test(text) ? shapeOf(text[0]) : null;
        return name
          ? {
              text: named(text),
              value: shapeText({
                shape: /ᵀ/.test(text) ? [...name.slice(0, -2), ...name.slice(-2).reverse()] : name,
              }),
              step,
            }
          : sign(text);
      });
    const at = parts.findIndex(({ text }) => text === "g");
    const made = within(terms, row.shape, parts.slice(0, at), parts.slice(at + 1));
    return [{ ...made, shape: to.shape, factors: /@/.test(said) ? LONG : made.factors }];
  }
  const text = named(
    withoutAdjoint(said).replace(" / size(x)", `/${to.shape.reduce((a, n) => a * n, 1)}`),
  );
  const of = [...said.matchAll(/\b[xyz]\b/g)]
    .map(([name]) => (/size/.test(said) ? [] : shapeOf(name)))
    .reduce((a, b) => (b.length > a.length ? b : a), []);
  if (row.formula && !local) return null; // a framework sent something else
  const found =
    text === "1"
      ? terms
      : terms.map((term) =>
          times(
            term.parts.some((part) => part.text === " @ ")
              ? within([term], term.shape, [], [])
              : term,
            {
              text: bracketed(text),
              value: of.length
                ? shapeText({ shape: of })
                : row.shape.length || /size/.test(said)
                  ? bracketed(text)
                  : (local?.text ?? ""),
              step,
            },
            of,
          ),
        );
  if (
    same(to.shape, row.shape) ||
    row.shape.length < to.shape.length ||
    (/^g$|size/.test(said) && !row.shape.length)
  )
    return found;
  const lost = row.shape.length - to.shape.length;
  const axes = row.shape.flatMap((n, k) =>
    k < lost || (n > 1 && to.shape[k - lost] === 1) ? [SUBSCRIPTS[k]] : [],
  );
  return [
    {
      ...within(found, row.shape, [sign(`Σ${to.shape.length ? axes.join("") : ""}(`)], [sign(")")]),
      shape: to.shape,
      factors: 1,
    },
  ];
}

/**
 * By row what has arrived there after so many steps of the sweep; what no rule says has the name of
 * the derivative, and with `short` all that arrived at the row before: the chain rule costs one
 * factor for each edge.
 */
export function productsOf(store: Store, steps: number, short = false): Map<number, Term[]> {
  const { sweep, rows } = store;
  const found = new Map<number, Term[]>();
  if (!sweep || steps > STEPS || !isSimple(sweep)) return found;
  const { target } = sweep;
  const seed = seedOf(store);
  const unknown = new Set<number>();
  // a hook may have changed it before it arrived
  const sums = new Map<number, string | undefined>();
  if (/[[…]/.test(seed)) return found;
  for (const row of target)
    found.set(row, [
      { parts: seed ? [{ text: seed, value: seed, step: 0 }] : [], factors: 1, shape: [] },
    ]);
  for (const [k, step] of sweep.steps.slice(0, steps).entries()) {
    const row = rows[step.row];
    let terms = found.get(step.row) ?? [];
    const sum = sums.get(step.row);
    if (
      !terms.length ||
      (short && !target.includes(step.row)) ||
      (sum && sum !== step.adjoint.text) ||
      unknown.has(step.row) ||
      terms.length > MOST ||
      terms.some(({ factors }) => factors > LONG)
    )
      terms = [
        {
          parts: [
            {
              text: `∂${derived(store, seed)}/∂${nameOf(store, row)}`,
              value: valueOf(step.adjoint.text, row.shape),
              step: k,
            },
          ],
          factors: 1,
          shape: row.shape,
        },
      ];
    for (const edge of step.edges) {
      const sent = step.others ? null : handed(store, row, terms, edge, k + 1);
      if (!sent) unknown.add(edge.input);
      sums.set(edge.input, edge.sum.text);
      found.set(edge.input, [...(found.get(edge.input) ?? []), ...(sent ?? [])]);
    }
  }
  for (const row of unknown) found.delete(row);
  return found;
}

/** `x^(3 − 1)` is `x²`, and `cos((x × 3))` is `cos(x × 3)`. */
const powers = (text: string): string =>
  text
    .replace(/\(\(([^()]*)\)\)/g, "($1)")
    .replace(/\^\((\d+) − 1\)/, (_, n) => ["^0", "", "²", "³"][n - 1] ?? `^${n - 1}`)
    .replace(/\^([23])(?![\d.])/, (_, n) => (n === "2" ? "²" : "³"));

/** A factor with the brackets that it needs. */
const bracketed = (text: string): string =>
  /^−| [+−/] | if /.test(text.replace(/\((?:[^()]|\([^()]*\))*\)/g, "")) ? `(${text})` : text;

/** The parts of all terms, each with its plus. */
const partsOf = (terms: Term[]): Part[] =>
  terms.flatMap(({ parts }, k) => [
    ...(k ? [sign(" + ")] : []),
    ...(parts.length ? parts : [sign("1")]),
  ]);

/** Terms that are alike as one: `2 × a`. */
function together(terms: Term[]): Term[] {
  const alike = new Map<string, Term[]>();
  for (const term of terms) {
    const key = term.parts.map(({ text, value }) => `${text}|${value}`).join("");
    alike.set(key, [...(alike.get(key) ?? []), term]);
  }
  return [...alike.values()]
    .map((some) =>
      some.length < 2 || some[0].shape.length
        ? some
        : [
            {
              ...some[0],
              parts: [
                { text: `${some.length}`, value: `${some.length}`, step: 0 },
                ...(some[0].parts.length ? [sign(" × ")] : []),
                ...some[0].parts,
              ],
            },
          ],
    )
    .flat();
}

const bracketNegative = (value: string): string =>
  value.startsWith("-") ? `(${rounded(value)})` : rounded(value);

/**
 * The formula of what arrived at a row, with its numbers below; the factor of this step is marked
 * as its edge is. All its factors, along each path, are there for who asks.
 */
export function formulaLine(
  store: Store,
  short: Term[],
  whole: Term[],
  row: Row,
  step: number,
  arrived: Value | null,
): HTMLElement {
  const terms = together(short);
  const of = derived(store, seedOf(store));
  const by = nameOf(store, row);
  const linesOf =
    (all: Term[]) =>
    (text: (part: Part) => string): Node[] =>
      partsOf(all).map((part) =>
        h(
          "span",
          { class: part.step === step && /\w/.test(part.text) ? "mt-factor" : "" },
          text(part),
        ),
      );
  const line = linesOf(terms);
  const numbers = (all: Term[]): (Node | string)[] => {
    const parts = partsOf(all);
    if (all.some(({ shape }) => shape.length) || row.shape.length) return [];
    const factors = parts.length > 1 ? linesOf(all)(({ value }) => bracketNegative(value)) : [];
    const isRounded = parts.some(({ value }) => rounded(value) !== value);
    const equals = factors.length ? [isRounded ? " ≈ " : " = "] : [];
    return [h("p.mt-num", {}, "= ", ...factors, ...equals, h("b", {}, full(arrived)))];
  };
  const paths = together(whole);
  const differs =
    whole.length > 0 &&
    String(partsOf(paths).map(({ text }) => text)) !==
      String(partsOf(terms).map(({ text }) => text));
  const all = differs
    ? h(
        "details.mt-digits",
        {},
        h("summary", {}, t("along each path")),
        h(
          "p.mt-num",
          {},
          `∂${elide(of, 20)}/∂${elide(by, 20)} = `,
          ...linesOf(paths)(({ text }) => text),
        ),
        ...numbers(paths),
      )
    : null;
  return h(
    "div.mt-eq.mt-product-line",
    {},
    h("p.mt-num", {}, `∂${elide(of, 20)}/∂${elide(by, 20)} = `, ...line(({ text }) => text)),
    ...numbers(terms),
    all,
  );
}
