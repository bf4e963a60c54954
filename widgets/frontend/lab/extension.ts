// The extension of JupyterLab that minitape/cli/server.py adds, for notebooks that use minitape.
//
// Two races of JupyterLab and ipywidgets are lost on a slow machine, and one step is too far:
//
// - A cell that is run before JupyterLab began to look for the notebook's kernel starts one of its
//   own. Then JupyterLab starts a second one and ends the first, with a dialog "Kernel
//   Terminating"; after a reload it is the kernel with the learner's work that ends. Here such a
//   cell waits until JupyterLab has found or started the kernel.
// - Where the start of the kernel fails, ipywidgets makes nothing that could show widgets ("Cannot
//   read properties of null"), and does not try again when a kernel comes: the output says "Loading
//   widget..." for ever. Here it is made when the kernel comes.
// - After Shift+Enter JupyterLab goes on to the next cell, and shows a half of a picture that just
//   came. Here the picture's cell is shown from its top.
// - A notebook that is opened again shows its first cell. Here it shows the one that was chosen
//   last.
//
// It uses what JupyterLab gives to each extension, so that it needs no package of JupyterLab to be
// built.

interface Signal<T> {
  connect(slot: (sender: unknown, change: T) => void): void;
  disconnect(slot: (sender: unknown, change: T) => void): void;
}

export interface SessionContext {
  readonly ready: Promise<void>;
  readonly session: { kernel: unknown } | null;
  readonly kernelChanged: Signal<{ newValue: unknown }>;
  // finds or starts the kernel; whether the learner must be asked for one
  initialize(): Promise<boolean>;
  startKernel(): Promise<boolean>; // the same answer
  _startIfNecessary?(): Promise<boolean>; // the part of `initialize` that calls `startKernel`
}

/** What JupyterLab loaded of its extensions, by their names: the containers of webpack. */
interface Container {
  init(): void;
  get(module: string): Promise<() => unknown>;
}

const loadedPackages = globalThis as { _JUPYTERLAB?: Record<string, Container> };

interface Widget {
  children?(): Iterable<Widget>;
}

interface Cell {
  model: { type: string; id: string };
  node: HTMLElement;
  outputArea: { widgets: readonly Widget[] };
}

interface Context {
  readonly path: string;
  readonly ready: Promise<void>;
  sessionContext: SessionContext;
  model: { cells: Iterable<{ sharedModel: { getSource(): string } }> };
}

export interface Notebook {
  rendermime: unknown;
  widgets: readonly Cell[];
  activeCellIndex: number;
  activeCellChanged: Signal<unknown>;
  node: HTMLElement;
  scrollToItem(index: number, align: "start" | "center"): Promise<void>;
}

interface Panel {
  content: Notebook;
  disposed: Signal<unknown>;
}

interface WidgetManagers {
  WidgetRenderer: new () => Widget;
  registerWidgetManager(
    context: Context,
    rendermime: unknown,
    renderers: Iterable<Widget>,
  ): { dispose(): void };
}

interface Application {
  docRegistry: {
    addWidgetExtension(
      factory: string,
      extension: { createNew(panel: Panel, context: Context): unknown },
    ): unknown;
  };
}

const MANAGER = "@jupyter-widgets/jupyterlab-manager";

/** Whether a notebook names minitape. */
function isMinitapes({ model }: Context): boolean {
  return [...model.cells].some((cell) => cell.sharedModel.getSource().includes("minitape"));
}

/** Lets whoever runs a cell wait for the kernel that `initialize` finds or starts. */
export function startOne(session: SessionContext, concerns: () => boolean): void {
  const parts = session._startIfNecessary?.bind(session);
  if (!parts) return; // a later JupyterLab, which does this in another way
  const initialize = session.initialize.bind(session);
  const start = session.startKernel.bind(session);
  let inside = false;
  let over = false;
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let found: Promise<boolean> | undefined;
  session.initialize = () => {
    found ??= initialize().finally(() => (over = true));
    begin();
    return found;
  };
  session._startIfNecessary = () => {
    inside = true;
    try {
      return parts(); // calls `startKernel` before it waits for anything
    } finally {
      inside = false;
    }
  };
  session.startKernel = async () => {
    if (inside || over || !concerns()) return start();
    await begun;
    // then JupyterLab asks the learner for a kernel, and once is enough
    const asks = await found!.catch(() => true);
    return asks || session.session?.kernel ? false : start();
  };
}

/** The places of a notebook in which ipywidgets shows widgets. */
function* renderers(panel: Panel, kind: WidgetManagers["WidgetRenderer"]): Iterable<Widget> {
  for (const cell of panel.content.widgets)
    if (cell.model.type === "code")
      for (const output of cell.outputArea.widgets)
        for (const child of output.children?.() ?? []) if (child instanceof kind) yield child;
}

/**
 * Makes what shows widgets when the kernel comes, where there was none when ipywidgets looked for
 * it.
 */
async function showLater(panel: Panel, context: Context): Promise<void> {
  const session = context.sessionContext;
  await session.ready;
  if (session.session?.kernel) return;
  const came = async (_: unknown, { newValue }: { newValue: unknown }) => {
    if (!newValue || !isMinitapes(context)) return;
    session.kernelChanged.disconnect(came);
    const container = loadedPackages._JUPYTERLAB?.[MANAGER];
    if (!container) return;
    const module = await container.get("./index");
    const { registerWidgetManager, WidgetRenderer } = module() as WidgetManagers;
    const made = registerWidgetManager(
      context,
      panel.content.rendermime,
      renderers(panel, WidgetRenderer),
    );
    panel.disposed.connect(() => made.dispose());
  };
  session.kernelChanged.connect(came);
}

const PATIENCE = 15_000; // milliseconds in which a picture may come
// milliseconds after it came: JupyterLab scrolls when it knows how high the output is
const LOOKS = [0, 150, 500];

const PICTURE = ".mt-view:has(.mt-node), .minitape-moving:has(img)";

/**
 * Shows a picture from the top of its cell when it has come, as long as the next cell is the one
 * that Shift+Enter chose.
 */
export function showFromTop(notebook: Notebook): void {
  let last: MutationObserver | undefined;
  notebook.activeCellChanged.connect(() => {
    last?.disconnect();
    const index = notebook.activeCellIndex - 1;
    const before = notebook.widgets[index];
    if (before?.model.type !== "code") return;
    const old = before.node.querySelector(PICTURE);
    const observer = (last = new MutationObserver(() => {
      const view = before.node.querySelector(PICTURE);
      if (!view || view === old) return;
      observer.disconnect();
      const look = () => {
        const [seen, all] = [view.getBoundingClientRect(), notebook.node.getBoundingClientRect()];
        if ((seen.top < all.top || seen.bottom > all.bottom) && last === observer)
          void notebook.scrollToItem(index, "start");
      };
      for (const time of LOOKS) setTimeout(look, time);
    }));
    observer.observe(before.node, { childList: true, subtree: true });
    setTimeout(() => observer.disconnect(), PATIENCE);
  });
}

/**
 * Shows the cell that was chosen when this notebook was open before. A page without programs is
 * opened at a link.
 */
function showLastCell(notebook: Notebook, context: Context): void {
  void context.ready.then(() => {
    if (!isMinitapes(context) || !notebook.widgets.some((cell) => cell.model.type === "code"))
      return;
    const key = `minitape-cell:${context.path}`;
    const chosen = notebook.widgets.findIndex(
      (cell) => cell.model.id === localStorage.getItem(key),
    );
    if (chosen > 0) {
      notebook.activeCellIndex = chosen;
      void notebook.scrollToItem(chosen, "center");
    }
    notebook.activeCellChanged.connect(() => {
      const cell = notebook.widgets[notebook.activeCellIndex];
      if (cell) localStorage.setItem(key, cell.model.id);
    });
  });
}

// a notebook has one, and may be shown by several panels
const known = new WeakSet<SessionContext>();

const plugin = {
  id: "minitape-kernel:plugin",
  description: "Notebooks of minitape start one kernel, and show widgets also when it comes late.",
  autoStart: true,
  activate(app: Application): void {
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew(panel, context) {
        if (!known.has(context.sessionContext)) {
          known.add(context.sessionContext);
          startOne(context.sessionContext, () => isMinitapes(context));
        }
        void showLater(panel, context);
        showFromTop(panel.content);
        showLastCell(panel.content, context);
      },
    });
  },
};

/**
 * What JupyterLab asks an extension for that was built elsewhere: webpack's containers have these
 * two functions.
 */
(loadedPackages._JUPYTERLAB ??= {})["minitape-kernel"] = {
  init: () => undefined,
  get: async () => () => ({ __esModule: true, default: plugin }),
};
