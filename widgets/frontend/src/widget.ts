// What the bundle offers: `mount` for any page, `listen` and `show` for a Jupyter widget model and
// its views.
import { ALL_PARTS } from "./allparts";
import { attach, followTheme, leaveGroup } from "./attach";
import { decode, decodePage, type Inside, type Snapshot } from "./schema";
import { Sliders, type Knob } from "./slider";
import { Store } from "./store";
import type { View } from "./view";
import { t } from "./words";
import type { Place, ViewOptions } from "./options";
import { serve } from "./worker";

if ("WorkerGlobalScope" in globalThis) serve(); // started by planner.ts

export interface Model {
  get(name: string): unknown;
  on(name: string, listener: (...args: never[]) => void): void;
  off(name: string, listener: (...args: never[]) => void): void;
  send(content: unknown): void;
}

export interface Shared {
  store: Store;
  ready: Promise<void>;
  knobs: Knob[];
  sliders: Set<Sliders>;
  /**
   * where the reader was in a view that was taken away: JupyterLab draws an output anew when it is
   * replaced
   */
  place: Place | null;
  run(values: number[]): boolean;
  /** asks for the steps of a long sweep; false where there is no kernel to ask */
  sweep(): boolean;
  /** asks the kernel to compute again what the tape released; false without one */
  again(): boolean;
  /** why no gradient flows between two rows, in the engine's words; "" where it does not say */
  explain(source: number, target: number): Promise<string>;
  /** the rows inside of a call of a function; null where they cannot be had */
  inside(row: number): Promise<Inside | null>;
}

type Bytes = ArrayBuffer | DataView | Uint8Array;

/**
 * Puts a view of this snapshot into an element; returns the view. Of what is no snapshot it says
 * so, and raises what went wrong.
 */
export function mount(
  el: HTMLElement,
  snapshot: Snapshot,
  bundle: () => Promise<string> = async () => "",
  options: Partial<ViewOptions> = {},
): View {
  try {
    const store = new Store();
    store.take(snapshot);
    const view = attach(el, store, { ...options, bundle }, ALL_PARTS);
    followTheme(view);
    return view;
  } catch (error) {
    el.textContent = t("This picture cannot be drawn: {0}", error);
    throw error;
  }
}

/** Shows a widget model's tape in an element; returns what takes it away again. */
export async function show(
  one: Shared,
  el: HTMLElement,
  bundle: () => Promise<string>,
  options: Partial<ViewOptions> = {},
): Promise<() => void> {
  await one.ready;
  const sliders = new Sliders(one.knobs, one.run);
  one.sliders.add(sliders);
  const view = attach(
    el,
    one.store,
    {
      ...options,
      bundle,
      sliders: sliders.el,
      explain: one.explain,
      sweep: one.sweep,
      again: one.again,
      inside: one.inside,
    },
    ALL_PARTS,
  );
  if (one.place) view.goBack(one.place);
  const stop = followTheme(view);
  return () => {
    stop();
    one.sliders.delete(sliders);
    one.place = view.place();
    leaveGroup(view);
    view.destroy();
    view.el.remove();
  };
}

// The server drops messages silently when there are many, the last one too. So after a pause the
// view says what it has, until it hears that this is all.
const WAIT = 1200; // milliseconds
const TRIES = 10;

/**
 * Takes the data that came with the model, then deltas in order; asks again where one is missing.
 */
export function listen(model: Model): Shared {
  const store = new Store();
  const sliders = new Set<Sliders>();
  const asking = new Map<number, (answer: Message | null) => void>();
  const ask = (content: object): Promise<Message | null> =>
    new Promise((resolve) => {
      asking.set(asking.size, resolve);
      if (!tell(model, { ...content, ask: asking.size - 1 })) resolve(null);
    });
  const explain = async (source: number, target: number): Promise<string> =>
    (await ask({ kind: "explain", source, target }))?.text ?? "";
  const inside = async (row: number): Promise<Inside | null> =>
    (await ask({ kind: "inside", row }))?.inside ?? null;
  let sequence = 0;
  let asked = -1; // number of rows at which missing ones were asked for
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    clearTimeout(timer);
    if (tries++ < TRIES) timer = setTimeout(need, WAIT);
  };
  const need = (): void => {
    const { record, rows, sweep } = store;
    const sent = tell(model, {
      kind: "need",
      record,
      since: rows.length,
      sequence,
      sweep: sweep?.id,
      steps: sweep?.steps.length ?? 0,
    });
    if (sent) later(); // the answer may be lost as well
  };
  const take = async (message: Message, buffers: Bytes[]): Promise<void> => {
    if (message.kind === "running") for (const one of sliders) one.heard();
    if (message.kind === "ran") for (const one of sliders) one.answered(message.error ?? "");
    if (message.ask !== undefined) asking.get(message.ask)?.(message);
    if (message.kind === "all" && message.sequence === sequence) clearTimeout(timer);
    let taken = true;
    if (message.kind === "rows") {
      const part = await decode(buffers[0]);
      if (message.replace) store.replace(part);
      else taken = store.take(part);
    } else if (message.kind === "steps") taken = store.takeSteps(await decodePage(buffers[0]));
    else return;
    tries = 0;
    later();
    if (!taken) {
      if (asked !== store.rows.length) need();
      asked = store.rows.length;
      return;
    }
    sequence = message.sequence;
    asked = -1;
  };
  const first = model.get("_wire") as DataView | null;
  const ready = (async () => {
    if (first && first.byteLength > 0) store.take(await decode(first));
    need();
  })().catch(report);
  let queue = ready;
  model.on("msg:custom", ((message: Message, buffers: Bytes[]) => {
    queue = queue.then(() => take(message, buffers)).catch(report);
  }) as never);
  const knobs = JSON.parse((model.get("_knobs") as string) || "[]") as Knob[];
  const sweep = (): boolean => {
    later();
    return tell(model, { kind: "sweep" });
  };
  const again = (): boolean => tell(model, { kind: "again" });
  return {
    store,
    ready,
    knobs,
    sliders,
    place: null,
    explain,
    inside,
    sweep,
    again,
    run: (values) => tell(model, { kind: "run", values }),
  };
}

/**
 * Sends to the kernel; false when there is none to send to: it was restarted, or the view was
 * closed.
 */
function tell(model: Model, content: unknown): boolean {
  try {
    model.send(content);
    return true;
  } catch {
    return false;
  }
}

interface Message {
  kind: string;
  sequence: number;
  replace?: boolean;
  error?: string;
  ask?: number;
  text?: string;
  inside?: Inside | null;
}

function report(error: unknown): void {
  console.error("minitape view:", error);
}
