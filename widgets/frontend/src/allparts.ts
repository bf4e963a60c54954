// All parts of a view.
import { divider } from "./divider";
import { exportAs } from "./export";
import { FeelPanel } from "./feelpanel";
import { Help } from "./help";
import { openInside } from "./inside";
import { Inspector } from "./inspector";
import type { ViewParts } from "./parts";
import { Present } from "./present";
import { SourcePane } from "./source";
import { Strip } from "./strip";
import { Table } from "./table";
import { Toolbar } from "./toolbar";

export const ALL_PARTS: ViewParts = {
  table: (...args) => new Table(...args),
  source: (...args) => new SourcePane(...args),
  inspector: (...args) => new Inspector(...args),
  toolbar: (...args) => new Toolbar(...args),
  help: (modes) => new Help(modes),
  present: (...args) => new Present(...args),
  feel: (...args) => new FeelPanel(...args),
  strip: (...args) => new Strip(...args),
  divider,
  exportAs,
  openInside,
};
