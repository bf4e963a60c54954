// Run buttons for the cells of a lesson's page. Python runs in a worker, which starts with the first click.
//
// The cells of a page share their variables, so a cell runs after those above it that have not run yet. Printed text is
// shown as text. HTML that a program made is shown in a frame without access to this page.
const workerScript = new URL("run_worker.js", document.currentScript.src);

addEventListener("DOMContentLoaded", () => {
  const element = document.getElementById("run-cells");
  if (!element || location.protocol === "file:") return; // Browsers start no workers for files.
  const settings = JSON.parse(element.dataset.settings);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const blocks = [...document.querySelectorAll(".cell .highlight pre")].filter((block) => !block.closest(".output"));
  const cells = blocks.map((code, number) => ({ code, number, element: code.closest(".cell"), hasRun: false }));
  let worker;
  let settleAnswer; // what the answer of the worker settles

  const ask = (message) =>
    new Promise((resolve, reject) => {
      settleAnswer = { resolve, reject };
      worker.postMessage(message);
    });

  async function startPython() {
    if (worker) return;
    worker = new Worker(workerScript, { type: "module" });
    worker.onmessage = ({ data }) => {
      const failure = data.failed ?? (data.minitape === "failed" ? data.error : undefined); // from kernel_python.js
      if (failure === undefined) settleAnswer.resolve(data);
      else settleAnswer.reject(new Error(failure));
    };
    worker.onerror = ({ message }) => settleAnswer.reject(new Error(message));
    await ask({ python: new URL(settings.python, location.href).href, language: settings.language });
  }

  function stop() {
    worker?.terminate();
    worker = undefined;
    for (const cell of cells) cell.hasRun = false;
    settleAnswer?.reject(new DOMException(settings.stop, "AbortError"));
  }

  function showOutput(cell, { text, frames, has_failed: hasFailed }) {
    cell.ran.replaceChildren();
    cell.element.classList.add("ran-here");
    if (text && !cell.element.querySelector(".predict")) {
      const output = document.createElement("pre");
      output.className = hasFailed ? "output failed" : "output";
      output.textContent = text;
      cell.ran.append(output);
    }
    for (const html of frames) {
      const frame = document.createElement("iframe");
      frame.className = "tapeview";
      frame.title = settings.picture;
      frame.setAttribute("sandbox", "allow-scripts allow-downloads");
      frame.srcdoc = /^\s*<!doctype html/i.test(html) ? html : withHeight(html);
      cell.ran.append(frame);
    }
  }

  // HTML that is not a whole page is shown on white, as in a notebook, and reports its height.
  const withHeight = (html) => `<!doctype html><meta charset="utf-8">
<body style="margin:0;padding:4px;background:#fff;color:#111;font:14px system-ui,sans-serif">${html}<script>
new ResizeObserver(() => parent.postMessage({ tapeview: document.documentElement.offsetHeight }, "*")).observe(document.body);
</script>`;

  async function run(chosen) {
    if (chosen.element.classList.contains("waits")) {
      chosen.state.textContent = settings.choose;
      return;
    }
    setRunning(true);
    try {
      if (!worker) chosen.state.textContent = settings.loading;
      await startPython();
      const pending = cells.filter((cell) => cell.number < chosen.number && !cell.hasRun);
      for (const cell of [...pending, chosen]) {
        chosen.state.textContent = fill(settings.running, { number: cell.number + 1, count: cells.length });
        const { shown } = await ask({ code: cell.code.innerText });
        cell.hasRun = true;
        if (cell === chosen || shown.has_failed) showOutput(cell, shown);
      }
      chosen.state.textContent = "";
    } catch (error) {
      const isStopped = error.name === "AbortError";
      if (!isStopped) stop();
      chosen.state.textContent = isStopped ? "" : fill(settings.failed, { error: error.message });
    }
    setRunning(false);
  }

  function setRunning(isRunning) {
    for (const { button } of cells) button.disabled = isRunning;
    document.documentElement.dataset.runningCells = String(isRunning);
    for (const { stopButton } of cells) stopButton.hidden = !isRunning;
  }

  for (const cell of cells) {
    const { code } = cell;
    code.contentEditable = "plaintext-only";
    code.spellcheck = false;
    code.setAttribute("role", "textbox");
    code.setAttribute("aria-multiline", "true");
    code.setAttribute("aria-label", settings.code);
    const bar = document.createElement("div");
    bar.className = "run-bar";
    [cell.button, cell.stopButton] = [settings.run, settings.stop].map((text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      return button;
    });
    cell.button.title = "Shift+Enter";
    cell.stopButton.hidden = true;
    cell.state = document.createElement("span");
    cell.state.setAttribute("role", "status");
    cell.ran = document.createElement("div");
    cell.ran.className = "ran";
    bar.append(cell.button, cell.stopButton, cell.state);
    (code.closest("details.code") ?? code.closest("div[class*=highlight-]")).after(bar, cell.ran);
    cell.button.onclick = () => run(cell);
    cell.stopButton.onclick = stop;
    code.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      if (!cell.button.disabled) run(cell);
    });
  }
});
