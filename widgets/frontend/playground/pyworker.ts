// The worker of the playground: Pyodide, and in it minitape_widgets/playground.py. It hears "load",
// "run" and "view".

interface Load {
  pyodide: string; // the address of pyodide.mjs
  lock: string;
  packages: string[];
  language: string;
}

type Message =
  | { kind: "load"; load: Load }
  | { kind: "run"; program: string }
  | { kind: "view"; content: string };

// A program that came with a link gets neither the notebooks that this browser keeps for the
// lessons, nor other pages' messages, nor another worker, which would have them.
for (const name of ["indexedDB", "caches", "BroadcastChannel", "Worker", "SharedWorker"])
  Object.defineProperty(globalThis, name, { value: undefined });

let playground: { run(program: string): void; heard(content: string): void };
let ready: Promise<void>;

async function start({ pyodide, lock, packages, language }: Load): Promise<void> {
  const { loadPyodide } = await import(pyodide);
  const python = await loadPyodide({
    indexURL: pyodide.slice(0, pyodide.lastIndexOf("/") + 1),
    lockFileURL: lock,
    packages,
    env: { HOME: "/home/pyodide", MINITAPE_LANGUAGE: language },
  });
  const post = (text: string, bytes: { toJs(): Uint8Array; destroy(): void }) => {
    const data = bytes.toJs();
    bytes.destroy();
    globalThis.postMessage({ ...JSON.parse(text), data });
  };
  python.globals.set("post", post);
  playground = python.runPython(
    "from minitape_widgets.playground import Playground\nPlayground(lambda text, data: post(text, memoryview(data)))",
  );
  globalThis.postMessage({ kind: "ready" });
}

globalThis.onmessage = async ({ data }: MessageEvent<Message>) => {
  try {
    if (data.kind === "load") ready = start(data.load);
    await ready;
    if (data.kind === "run") playground.run(data.program);
    if (data.kind === "view") playground.heard(data.content);
  } catch (error) {
    globalThis.postMessage({ kind: "broken", text: String(error) });
  }
};
