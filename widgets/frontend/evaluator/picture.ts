// What a picture reads of a program: the snapshot of its last tape.
import type { Alarm, PathBreak, Result, Snapshot, Source, Value } from "../src/snapshot";
import { t } from "../src/words";
import { toValue } from "./numpy_text";
import { FILE, type ProgramRun } from "./program";
import type { GradientCall, Recording, Tape, Tensor } from "./recording";
import { isTensor } from "./values";

/** Returns the snapshot of a run, for the text of its program. */
export function buildSnapshot(run: ProgramRun, text: string): Snapshot {
  const { recording, tape } = run;
  const calls = orderCalls(recording, tape);
  const namesByTensor = new Map<Tensor, string>();
  for (const [name, value] of run.names)
    if (isTensor(value) && !namesByTensor.has(value)) namesByTensor.set(value, name);
  const findName = (tensor: Tensor): string | null =>
    tensor.name ?? namesByTensor.get(tensor) ?? null;
  const results = calls.map((call, k) =>
    buildResult(recording, call, findName, k === calls.length - 1),
  );
  const { rows } = recording;
  const shown = results[results.length - 1];
  const sweep = shown.sweep ?? null;
  delete shown.sweep;
  return {
    version: 1,
    record: "program",
    first: 0,
    total: rows.length,
    rows,
    events: [],
    tapes: recording.tapes.map(describeTape),
    sources_text: { [FILE]: text },
    sweep,
    results,
    alarms: [...listNonfinite(recording, sweep), ...listMissing(shown, recording)],
    torn: listBreaks(shown, recording),
    insides: [],
  };
}

function describeTape(tape: Tape): Snapshot["tapes"][number] {
  const { number, name, isPersistent, spans } = tape;
  const state = tape.isUsed ? "used" : "closed";
  return { id: number, name, persistent: isPersistent, state, spans, bytes: 0 };
}

/** Returns the gradient calls by the rows of their targets; the last call of a tape is shown. */
function orderCalls(recording: Recording, tape: Tape): GradientCall[] {
  const shown = tape.calls[tape.calls.length - 1];
  const lastRow = (call: GradientCall): number =>
    Math.max(...call.targets.map((target) => recording.rowsOf(target).at(-1) ?? -1));
  const others = recording.tapes.flatMap(({ calls }) => calls).filter((call) => call !== shown);
  return [...others.sort((a, b) => lastRow(a) - lastRow(b)), shown];
}

function buildResult(
  recording: Recording,
  call: GradientCall,
  findName: (tensor: Tensor) => string | null,
  isShown: boolean,
): Result {
  const { sweep, adjoints } = recording.sweep(call);
  const { rows } = recording;
  const describe = (source: Tensor, k: number): Source => {
    const states = recording.rowsOf(source).filter((row) => adjoints[row]);
    const gradient = sweep.gradients[k];
    const at = recording.rowsOf(source).at(-1) ?? -1;
    const name = findName(source) ?? (at >= 0 ? rows[at].name : null);
    const cause = gradient ? null : explainNone(recording, call, at, name);
    return {
      name,
      rows: states,
      parts: states.map(() => gradient), // a variable has one state in a recording here
      gradient,
      none: !gradient,
      at,
      reason: cause?.reason ?? null,
      why: cause && cause.row >= 0 ? { file: FILE, line: rows[cause.row].line } : null,
      blame: cause && cause.row >= 0 ? cause.row : null,
      ...describeUpdate(recording, source, at),
    };
  };
  const target = call.targets.map((one) => {
    const row = recording.rowsOf(one).at(-1) ?? -1;
    return { name: findName(one) ?? (row >= 0 ? rows[row].name : null), row };
  });
  const sources = call.sources.map(describe);
  return { target, sources, more: 0, known: true, shown: isShown, call: "gradient", sweep };
}

/** Says what a variable holds now, if it was assigned after its last state on the tape. */
function describeUpdate(recording: Recording, source: Tensor, row: number) {
  const assigned = row < 0 ? 0 : source.version - recording.versions[row];
  const isUpdated = source.kind === "variable" && assigned > 0 && !recording.isOpen;
  return isUpdated ? { now: toValue(source.value), assigned } : { now: null, assigned: 0 };
}

interface Cause {
  reason: string;
  row: number; // the row to blame; -1 if there is none
}

/** Says why a gradient is None. */
function explainNone(
  recording: Recording,
  { tape, targets }: GradientCall,
  at: number,
  name: string | null,
): Cause {
  const source = name ?? t("a source");
  const { rows } = recording;
  const ends = targets.flatMap((target) => recording.rowsOf(target).slice(-1));
  const target = ends.length ? (rows[ends[0]].name ?? t("the target")) : t("the target");
  const independent = { reason: t("{0} does not depend on {1}", target, source), row: -1 };
  if (at < 0) return independent;
  const below = markDescendants(recording, at);
  const above = markAncestors(recording, ends);
  if (!ends.some((end) => below[end])) return independent;
  if (!recording.isOnTape(at, tape)) {
    const reason = t("the tape does not watch {0}: call tape.watch({0}) before using {0}", source);
    return { reason, row: at };
  }
  const cut = rows.find(({ row, cut: why }) => why && below[row] && above[row]);
  if (!cut)
    return { reason: t("no path on the tape leads from {0} to {1}", source, target), row: -1 };
  const reason =
    cut.cut === "stop_gradient"
      ? t("stop_gradient in line {0} blocks the gradient", cut.line)
      : t("{0} in line {1} has no derivative", cut.label, cut.line);
  return { reason, row: cut.row };
}

function markDescendants({ rows }: Recording, from: number): boolean[] {
  const marks = rows.map(({ row }) => row === from);
  for (const { row, inputs } of rows) marks[row] ||= inputs.some((input) => marks[input]);
  return marks;
}

function markAncestors({ rows }: Recording, ends: number[]): boolean[] {
  const marks = rows.map(({ row }) => ends.includes(row));
  for (const { row, inputs } of [...rows].reverse())
    if (marks[row]) for (const input of inputs) marks[input] = true;
  return marks;
}

// --- what is wrong ---

function isBad(value: Value | null): boolean {
  return /\b(nan|inf)\b/.test(value?.text ?? "");
}

function nameBad(value: Value): string {
  return /\bnan\b/.test(value.text ?? "") ? "NaN" : t("infinite");
}

function listNonfinite({ rows }: Recording, sweep: Snapshot["sweep"]): Alarm[] {
  const value = rows.find(
    (row) => row.inputs.length && isBad(row.value) && !row.inputs.some((k) => isBad(rows[k].value)),
  );
  const isTargetBad = sweep?.target.some((row) => isBad(rows[row].value));
  if (value?.value && (isTargetBad || !sweep)) {
    const place = t("row {0}, line {1}", value.row, value.line);
    const title = t("The value becomes {0} at {1}", nameBad(value.value), place);
    return [{ kind: "value", title, text: "", row: value.row, line: value.line, back: false }];
  }
  for (const step of sweep?.steps ?? []) {
    const edge = step.edges.find(({ product }) => isBad(product));
    if (!edge) continue;
    const { line } = rows[step.row];
    const place = t("row {0}, line {1}", step.row, line);
    const title = t("The gradient becomes {0} at {1}", nameBad(edge.product), place);
    return [{ kind: "gradient", title, text: "", row: step.row, line, back: true }];
  }
  return [];
}

function listMissing({ sources }: Result, { rows }: Recording): Alarm[] {
  return sources
    .filter(({ gradient }) => !gradient)
    .map(({ name, reason, blame }) => {
      const line = typeof blame === "number" ? rows[blame].line : null;
      const title = t("The gradient for {0} is None", name ?? t("a source"));
      return { kind: "none", title, text: reason ?? "", row: blame ?? -1, line, back: false };
    });
}

function listBreaks({ sources }: Result, { rows }: Recording): PathBreak[] {
  const cuts = new Set(sources.flatMap(({ blame }) => blame ?? []));
  return [...cuts]
    .filter((row) => rows[row].cut)
    .map((row) => ({
      kind: "cut" as const,
      from: rows[row].inputs[0],
      to: row,
      line: rows[row].line ?? 0,
      text: rows[row].label,
    }));
}
