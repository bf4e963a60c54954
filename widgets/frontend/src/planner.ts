// Who lays a view out: short recordings at once, long ones in a worker that all views of the page
// share. Where a page forbids workers (a content security policy), the same work is done here in
// slices of time.
import { borders } from "./graph";
import { LARGE, layoutInSlices, layoutNow, type Layout, type Wish } from "./layout";
import { Skeleton } from "./skeleton";
import type { Store } from "./store";
import type { FoldMode } from "./toolbar";
import type { Answer, Order } from "./worker";

const POSTER = 10; // columns that are seen at one glance
const LEVELS: Level[] = ["none", "layers", "blocks", "all"]; // that "auto" tries, in this order
const HOLDING: Level[] = ["held", "packed"]; // that it tries next where a graph is too tall
// the same as LEVELS inside of a call, where the turns of a loop are one node
const INSIDE: Level[] = ["none", "all"];

const LINE = 7; // columns of a line in a page of usual width,
const TALL = 13; // and half-slots in its pane, with three of each line for what is around it

/** "held" is "layers", and "packed" is "all", with what is folded holding its weights. */
export type Level = FoldMode | "blocks" | "held" | "packed";

/**
 * What a reader wishes who has chosen how to fold, and opened or closed parts by hand; `auto` says
 * who chose.
 */
export function wishOf(
  store: Store,
  mode: Level,
  toggled: Map<string, boolean>,
  auto = false,
  hide = false,
): Wish {
  const patterns = mode === "all" || mode === "packed";
  const blocks = mode === "blocks";
  const layers = blocks || mode === "held" || mode === "layers";
  return {
    patterns,
    open: !patterns && !layers,
    layers: layers || auto,
    blocks,
    held: mode === "held" || mode === "packed",
    hide: hide && mode !== "none",
    toggled: [...toggled],
    borders: borders(store.tapes),
    asked: store.sweep?.sources ?? [],
    made: [
      ...store.events.flatMap(({ from, row = from, to }): [number, number][] =>
        row !== undefined && to !== undefined ? [[to, row]] : [],
      ),
      ...store.torn.flatMap(({ kind, from, to }): [number, number][] =>
        kind === "left" && from >= 0 && from < to ? [[to, from]] : [],
      ),
    ],
  };
}

/** How far these places are apart. */
function widest(places: Int32Array): number {
  return Math.max(...places) - Math.min(...places);
}

const NOW = 2500; // rows that are laid out at once: that takes less time than asking the worker
const SLICE = 8; // milliseconds before the page gets a turn

const clients = new Map<number, Planner>();
let numbers = 0;
let bundle: () => Promise<string> = async () => "";
let shared: Promise<Worker | null> | null = null; // the page's one worker, if there can be one

/**
 * Where this program's own text comes from: a worker is started from it, and serves there
 * (widget.ts).
 */
export function startFrom(source: () => Promise<string>): void {
  bundle = source;
}

async function start(): Promise<Worker | null> {
  try {
    // a page without an address starts no module
    const text = (await bundle()).replace(/export\s*\{[^{}]*\};?\s*$/, "");
    if (!text) return null;
    const made = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    made.onmessage = ({ data }: MessageEvent<Answer>) => clients.get(data.client)?.answered(data);
    made.onerror = (event) => {
      event.preventDefault();
      giveUp();
    };
    return made;
  } catch {
    return null;
  }
}

function tell(order: Order): void {
  void shared?.then((worker) => worker?.postMessage(order));
}

/** Ends the worker. */
function dismiss(): void {
  void shared?.then((worker) => worker?.terminate());
  shared = null;
}

/** No worker here: those who wait for it do their work themselves. */
function giveUp(): void {
  dismiss();
  shared = Promise.resolve(null);
  for (const client of clients.values()) client.again();
}

export class Planner {
  private skeleton = new Skeleton();
  private client = ++numbers;
  private sent = 0; // rows that the worker has
  private sequence = 0;
  private waiting: { wish: Wish; done: (layout: Layout) => void } | null = null;
  private later: (() => void) | null = null; // what to do when the present work is done

  /** Something is being laid out. */
  get busy(): boolean {
    return this.waiting !== null;
  }

  /** Forgets the rows: they were replaced. */
  reset(): void {
    this.cancel();
    this.skeleton = new Skeleton();
    this.sent = 0;
  }

  /**
   * Lays its rows out and calls `done`, at once when there are few. An earlier wish is forgotten,
   * or with `patient` waited for.
   */
  plan(store: Store, wish: Wish, done: (layout: Layout) => void, patient = false): void {
    const { rows, sources } = store;
    this.later = null;
    if (patient && this.waiting) {
      this.later = () => this.plan(store, wish, done);
      return;
    }
    this.skeleton.grow(rows, sources);
    this.sequence++;
    this.waiting = null;
    if (rows.length <= NOW) return done(layoutNow(this.skeleton, wish));
    this.waiting = { wish, done };
    clients.set(this.client, this);
    void this.ask();
  }

  /**
   * The level at which these rows are a poster: the first with few columns, else the one with the
   * fewest; but where weights beside their layers would leave no room for all of it, layers hold
   * them.
   */
  level(store: Store, inside: boolean): Level {
    if (store.rows.length > LARGE) return "all"; // without trying
    this.skeleton.grow(store.rows, store.sources);
    const sizeAt = (mode: Level): [Level, number, number] => {
      const layout = layoutNow(this.skeleton, wishOf(store, mode, new Map(), true, inside));
      const [columns, slots] = [layout.column, layout.slot].map((places) => 1 + widest(places));
      // two storeys in one line
      return [mode, (layout.flat ? 2 : 1) * columns, Math.ceil(columns / LINE) * (slots + 3)];
    };
    let best: [Level, number, number] = ["none", Infinity, 0];
    for (const mode of inside ? INSIDE : LEVELS) {
      const found = sizeAt(mode);
      if (found[1] < best[1]) best = found;
      if (found[1] <= POSTER) break;
    }
    for (const mode of inside ? [] : HOLDING) {
      if (best[2] <= TALL) break;
      const found = sizeAt(mode);
      if (found[2] < best[2] && found[1] <= Math.max(POSTER, best[1])) best = found;
    }
    return best[0];
  }

  private async ask(): Promise<void> {
    const helper = await (shared ??= start());
    if (!this.waiting) return;
    if (!helper) return this.here(this.sequence);
    const order: Order = { client: this.client, sequence: this.sequence, wish: this.waiting.wish };
    if (this.sent < this.skeleton.count) order.part = this.skeleton.part(this.sent);
    this.sent = this.skeleton.count;
    helper.postMessage(order);
  }

  private async here(sequence: number): Promise<void> {
    const wish = this.waiting?.wish;
    if (!wish) return;
    const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
    const layout = await layoutInSlices(
      this.skeleton,
      wish,
      SLICE,
      turn,
      () => this.sequence !== sequence,
    );
    if (layout) this.answered({ client: this.client, sequence, layout });
  }

  answered({ sequence, layout }: Answer): void {
    if (sequence !== this.sequence || !this.waiting) return;
    const { done } = this.waiting;
    this.waiting = null;
    done(layout);
    this.later?.();
  }

  /** The worker is gone. */
  again(): void {
    this.sent = 0;
    void this.ask();
  }

  /** Stops what is under way: its answer never comes. */
  cancel(): void {
    this.later = null;
    if (!this.waiting) return;
    this.waiting = null;
    this.sequence++;
    tell({ client: this.client, sequence: this.sequence });
  }

  destroy(): void {
    this.cancel();
    if (!clients.delete(this.client)) return;
    tell({ client: this.client, forget: true });
    if (!clients.size) dismiss();
  }
}
