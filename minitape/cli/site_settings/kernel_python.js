// The Python of a notebook's kernel, which asks this module for it as it would ask pyodide.mjs. A worker whose own script this module is starts Python
// at once, and then is the kernel's worker.
//
// At each start Pyodide unpacks the packages, and Python compiles what is imported. A worker that runs this module with `?keep` does both once, and keeps
// the library of Python with all packages, partly compiled, in the browser's storage: a later start writes these files to its file system before Python begins.
const { loader, packages, kernel } = {{config}};
const pyodide = new URL(loader, import.meta.url).href;
const lockFileURL = new URL("pyodide-lock.json", import.meta.url).href;
const options = { indexURL: new URL(".", pyodide).href, lockFileURL };
const STORE = `minitape-python ${lockFileURL}`;
const LIBRARY = "/lib";
const NO_FILES = "data:application/zip;base64,UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==";
// Of IPython without its terminal and without jedi, which are not in the site: names are completed by asking the objects.
const IMPORTS = `
import sys, types
sys.modules["IPython.terminal.embed"] = types.ModuleType("embed")
sys.modules["IPython.terminal.embed"].embed = None
import pyodide_kernel, minitape_widgets
pyodide_kernel.kernel_instance.interpreter.Completer.use_jedi = False
`;
// The library comes as a zip of sources, which is never compiled to files; what is imported before this runs is compiled by name.
const UNPACK = `
import py_compile, sys, zipfile
archive = next(path for path in sys.path if path.endswith(".zip"))
library = next(path for path in sys.path if path.startswith("${LIBRARY}/python") and path != archive)
zipfile.ZipFile(archive).extractall(library)
sys.path.remove(archive)
sys.dont_write_bytecode = False
for module in list(sys.modules.values()):
    name = getattr(module, "__file__", None) or ""
    if name.startswith(archive):
        py_compile.compile(library + name.removeprefix(archive))
`;

function filesIn(FS, folder) {
  const paths = FS.readdir(folder).filter((name) => name !== "." && name !== "..");
  return paths.flatMap((name) => {
    const path = `${folder}/${name}`;
    return FS.isDir(FS.stat(path).mode) ? filesIn(FS, path) : path.endsWith(".zip") ? [] : [path];
  });
}

// What is kept: the length of the head, the head as JSON, and the content of its files, one after another.
async function kept() {
  const found = await globalThis.caches?.match(lockFileURL, { cacheName: STORE });
  if (!found) return undefined;
  const [lock, bytes] = await Promise.all([fetch(lockFileURL).then((answer) => answer.text()), found.arrayBuffer()]);
  const start = 4 + new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, start - 4)));
  return head.lock === lock ? { ...head, content: new Uint8Array(bytes, start) } : undefined; // the site has changed
}

async function keep() {
  if (!globalThis.caches || (await kept())) return;
  const { loadPyodide } = await import(pyodide);
  const python = await loadPyodide(options);
  const { FS } = python;
  python.runPython(UNPACK);
  await python.loadPackage(packages, { messageCallback() {} });
  python.runPython(IMPORTS);
  const lock = await (await fetch(lockFileURL)).text();
  const paths = filesIn(FS, LIBRARY);
  const contents = paths.map((path) => {
    const content = FS.readFile(path);
    if (path.endsWith(".pyc")) new DataView(content.buffer).setUint32(4, 1, true); // valid whatever the time of its source
    return content;
  });
  const files = paths.map((path, number) => [path, contents[number].length]);
  const head = new TextEncoder().encode(JSON.stringify({ lock, files, loaded: python.loadedPackages }));
  const store = await caches.open(STORE);
  await store.put(lockFileURL, new Response(new Blob([Uint32Array.of(head.length), head, ...contents])));
}

async function startKept({ files, loaded, content }) {
  const { loadPyodide } = await import(pyodide);
  const fsInit = (FS) => {
    const folders = new Set();
    let start = 0;
    for (const [path, size] of files) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      if (!folders.has(folder)) FS.mkdirTree(folder);
      folders.add(folder);
      FS.writeFile(path, content.subarray(start, start + size), { canOwn: true });
      start += size;
    }
  };
  const python = await loadPyodide({ ...options, stdLibURL: NO_FILES, fsInit });
  Object.assign(python.loadedPackages, loaded);
  python.runPython(IMPORTS);
  return python;
}

async function startPlain() {
  const { loadPyodide } = await import(pyodide);
  const python = await loadPyodide({ ...options, packages });
  python.runPython(IMPORTS);
  return python;
}

async function start() {
  try {
    const found = await kept();
    if (found) return await startKept(found);
  } catch (error) {
    console.warn("The saved Python does not start, so it is loaded again.", error);
    await globalThis.caches?.delete(STORE);
  }
  return startPlain();
}

const main = globalThis.location.href === import.meta.url; // this module is the worker's own script
const keeping = main && import.meta.url.endsWith("?keep");
const started = keeping ? keep().finally(() => globalThis.postMessage("kept")) : start();
if (!keeping) started.catch((error) => globalThis.postMessage({ minitape: "failed", error: String(error) })); // site_settings/loading.js says it

export async function loadPyodide({ stdout, stderr }) {
  const python = await started;
  python.setStdout({ batched: stdout });
  python.setStderr({ batched: stderr });
  return python;
}

if (main && !keeping) await import(kernel);
