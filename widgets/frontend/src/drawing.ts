// What the parts of the live drawing share: the recording, where the reader is, and the graph.
import type { Frame, Graph, Node } from "./graph";
import type { Marks } from "./marks";
import type { Store } from "./store";
import type { Timeline } from "./timeline";

export interface SceneEvents {
  pick(node: Node): void;
  open(node: Node): void;
  hover(node: Node | null): void;
  close(frame: Frame): void;
  /** a turn of a loop was chosen, by its rows; by a second click none was */
  turn(start: number | undefined, end: number): void;
  grab(row: number, event: PointerEvent): void;
  /** says something beside the pointer; nothing takes it away */
  tell(text: string, event: PointerEvent | null): void;
}

/** For a scene that nobody touches. */
export const NO_EVENTS: SceneEvents = {
  pick: () => undefined,
  open: () => undefined,
  hover: () => undefined,
  close: () => undefined,
  turn: () => undefined,
  grab: () => undefined,
  tell: () => undefined,
};

export interface Drawing {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly marks: Marks;
  readonly events: SceneEvents;
  readonly graph: Graph;
  /** by edge: where the number is that went over it, and how wide it may be */
  readonly places: Map<string, [number, number, number]>;
  /** from so far that only boxes are drawn */
  plain: boolean;
}

/** Is one of these rows this node's? */
export function holdsAny(rows: Set<number>, node: Node): boolean {
  if (!node.group) return rows.has(node.first);
  for (const row of rows) if (row >= node.group.start && row < node.group.end) return true;
  return false;
}
