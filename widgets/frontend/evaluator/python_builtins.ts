// Python's own functions, as far as programs here call them.
import { t } from "../src/words";
import { Tape } from "./recording";
import { ProgramError, type Span } from "./tokens";
import { NONE, pythonNumber, type Value } from "./values";

type PythonBuiltin = (args: Value[], keywords: Map<string, Value>, place: Span) => Value;

const MAX_ITEMS = 10_000;

export const PYTHON_BUILTINS = new Map<string, PythonBuiltin>([
  ["print", () => NONE],
  ["range", (args, _, place) => createRange(args, place)],
  ["len", (args, _, place) => countItems(args, place)],
  ["GradientTape", (args, keywords, place) => createTape(args, keywords, place)],
]);

function createRange(args: Value[], place: Span): Value {
  const bounds = args.map((arg) => {
    if (arg.kind === "number" && !arg.isFloat) return arg.value;
    throw new ProgramError(t("a whole number is expected here"), place);
  });
  const [start, stop, step] = bounds.length === 1 ? [0, bounds[0], 1] : [...bounds, 1];
  if (bounds.length < 1 || bounds.length > 3 || step === 0)
    throw new ProgramError(t("{0} takes {1} arguments", "range", "1, 2, 3"), place);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > MAX_ITEMS) throw new ProgramError(t("this program takes too many steps"), place);
  const items = Array.from({ length: count }, (_, k) => pythonNumber(start + k * step, false));
  return { kind: "list", items, isTuple: false };
}

function countItems(args: Value[], place: Span): Value {
  const [list] = args;
  if (args.length === 1 && list.kind === "list") return pythonNumber(list.items.length, false);
  throw new ProgramError(t("{0} needs Python", "len"), place);
}

function createTape(args: Value[], keywords: Map<string, Value>, place: Span): Value {
  const persistent = keywords.get("persistent") ?? args[0];
  const unknown = [...keywords.keys()].find((key) => key !== "persistent");
  if (unknown || args.length > 1 || (persistent && persistent.kind !== "boolean"))
    throw new ProgramError(t("{0} needs Python", `GradientTape(${unknown ?? "…"}=…)`), place);
  const isPersistent = persistent?.kind === "boolean" && persistent.value;
  return { kind: "tape", tape: new Tape("tape", isPersistent) };
}
