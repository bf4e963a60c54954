// What is folded, as the reader chose it or by itself, and the placing of what is left to see.
import type { Group } from "./graph";
import type { Layout } from "./layout";
import { Planner, wishOf, type Level } from "./planner";
import type { Store } from "./store";
import type { FoldMode } from "./toolbar";

export class Folding {
  mode: FoldMode = "auto";
  private level: Level = "none"; // that "auto" has chosen
  private toggled = new Map<string, boolean>();
  private drawn: { mode: FoldMode; toggled: Map<string, boolean> } = {
    mode: "auto",
    toggled: new Map(),
  }; // what the graph shows
  private planner = new Planner();
  private recast = 0; // how often rows became leaves of another kind

  /** `inside` says that the rows are those inside of a call; `placed` is given each layout. */
  constructor(
    private store: Store,
    private inside: boolean,
    private placed: (layout: Layout) => void,
  ) {}

  /** The nodes are being placed; what is drawn is older. */
  get busy(): boolean {
    return this.planner.busy;
  }

  /** The reader has opened a part. */
  get unfolded(): boolean {
    return [...this.toggled.values()].includes(true);
  }

  /** Folds and places anew. Nodes keep their places: placing goes by the order of rows. */
  layOut(patient = false): void {
    const { store, mode, inside } = this;
    const auto = mode === "auto";
    if (this.recast !== store.recast) this.planner.reset();
    this.recast = store.recast;
    const toggled = new Map(this.toggled);
    // what the reader opens changes no level
    if (auto && !toggled.size) this.level = this.planner.level(store, inside);
    const placed = (layout: Layout): void => {
      this.drawn = { mode, toggled };
      this.placed(layout);
    };
    this.planner.plan(
      store,
      wishOf(store, auto ? this.level : mode, toggled, auto, inside),
      placed,
      patient,
    );
  }

  choose(mode: FoldMode): void {
    this.mode = mode;
    this.toggled.clear();
  }

  toggle(group: Group, open: boolean): void {
    this.toggled.set(group.id, open);
    if (open && group.kind === "repeat" && group.only) this.toggled.set(group.only, true);
  }

  /** Stops placing: what was drawn remains. */
  stop(): void {
    this.planner.cancel();
    this.mode = this.drawn.mode;
    this.toggled = new Map(this.drawn.toggled);
  }

  /** The rows were replaced. */
  reset(): void {
    this.planner.reset();
  }

  destroy(): void {
    this.planner.destroy();
  }
}
