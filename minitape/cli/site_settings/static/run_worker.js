// The worker in which a lesson's page runs its cells. The page sends the address of the site's Python once, and then cells.
let cells;

async function startPython({ python, language }) {
  const { loadPyodide } = await import(python);
  const pyodide = await loadPyodide({ stdout() {}, stderr() {} });
  pyodide.globals.set("language", language);
  return pyodide.runPython(`
import os
os.environ["MINITAPE_LANGUAGE"] = language
from minitape_widgets.page_cells import PageCells
PageCells()
`);
}

globalThis.onmessage = async ({ data }) => {
  try {
    if (data.python) cells = await startPython(data);
    globalThis.postMessage(data.python ? { started: true } : { shown: JSON.parse(cells.run_cell(data.code)) });
  } catch (error) {
    globalThis.postMessage({ failed: String(error) });
  }
};
