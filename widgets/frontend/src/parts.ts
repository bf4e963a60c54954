// The parts around the graph that a view has or does without: a notebook's view has all of them
// (allparts.ts), an explorable in a web page shows its program instead.
import type { divider } from "./divider";
import type { exportAs } from "./export";
import type { FeelPanel } from "./feelpanel";
import type { Help } from "./help";
import type { openInside } from "./inside";
import type { Inspector } from "./inspector";
import type { Present } from "./present";
import type { SourcePane } from "./source";
import type { Strip } from "./strip";
import type { Table } from "./table";
import type { Toolbar } from "./toolbar";

/** What a view calls of a class, without what only the class itself knows. */
type Public<T> = { [K in keyof T]: T[K] };
type Create<C extends abstract new (...args: never[]) => unknown> = (
  ...args: ConstructorParameters<C>
) => Public<InstanceType<C>>;

export interface ViewParts {
  table: Create<typeof Table>;
  source: Create<typeof SourcePane>;
  inspector: Create<typeof Inspector>;
  toolbar: Create<typeof Toolbar>;
  help: Create<typeof Help>;
  present: Create<typeof Present>;
  feel: Create<typeof FeelPanel>;
  strip: Create<typeof Strip>;
  divider: typeof divider;
  exportAs: typeof exportAs;
  openInside: typeof openInside;
}
