"""What the picture costs: drawing, stepping, many views on a page, live recording with and without a view.

    python -m benchmarks.view

It needs Chromium and Playwright, and starts a JupyterLab of its own in a temporary folder.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import minitape as tf
from minitape_widgets.front_end import BUNDLE
from minitape_widgets.saved_page import build_html_page as page_text

START = """
  const text = JSON.parse(document.getElementById("bundle").textContent);
  const { mount } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const held = document.getElementById("data");
  const bytes = () => Uint8Array.from(atob(held.textContent), (letter) => letter.charCodeAt(0));
  const unpacked = () => new Response(new Blob([bytes()]).stream().pipeThrough(new \
DecompressionStream("deflate"))).json();
  const data = "packed" in held.dataset ? await unpacked() : JSON.parse(held.textContent);
  document.getElementById("view").replaceChildren();
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const start = performance.now();
  const view = mount(document.getElementById("view"), data);
"""
PLACED = """await frame(); await frame();
  while (view.el.querySelector(".mt-toolbar > .mt-small:not([hidden])")) await frame();  // "arranging… stop"
  await frame();"""
OPENED = f"async () => {{ {START} {PLACED} return performance.now() - start; }}"
DRAWN = f"""async () => {{ {START}
  view.pane.fold("none"); {PLACED} view.el.dispatchEvent(new KeyboardEvent("keydown", {{ key: "0" }})); await frame(); \
await frame();
  const drawn = performance.now() - start;
  const nodes = document.querySelectorAll(".mt-node").length;
  const steps = [];
  const length = Number(view.el.querySelector(".mt-slider").max);
  for (let k = 0; k < Math.min(80, length); k++) {{
    const from = performance.now();
    view.go(length - k);
    void document.body.offsetHeight;
    steps.push(performance.now() - from);
    if (k % 10 === 0) await frame();
  }}
  return [drawn, nodes, steps];
}}"""


def build_chain_snapshot(n: int) -> dict[str, Any]:
    """Build a snapshot of n rows: x * w + b again and again, with its sweep."""
    x, w, b = tf.Variable(1.0, name="x"), tf.Variable(0.999, name="w"), tf.Variable(0.01, name="b")
    with tf.GradientTape() as tape:
        y = x * w
        for _ in range((n - 4) // 2):
            y = y * w + b
    return tf.snapshot(tape, y, w)


def build_bush_snapshot(n: int) -> dict[str, Any]:
    """Build a snapshot of n rows without repetition: operations on random earlier rows, so nothing folds."""
    choose = random.Random(7)
    tape = tf.GradientTape()
    with tape:
        values: list[Any] = [tf.Variable(1.0 + k / 10).value() for k in range(12)]
        while len(tape._record) < n:
            a, b = choose.choice(values[-40:]), choose.choice(values[-40:])
            values.append(choose.choice([lambda: tf.sin(a), lambda: a * b, lambda: a + b, lambda: tf.tanh(a)])())  # noqa: B023
    return tf.snapshot(tape, values[-1], values[0])


def measure_drawing_and_stepping(page: Page, folder: Path) -> None:
    """Print what drawing and stepping cost, in a page of its own."""
    print(
        f"       the bundle, which travels once per kernel      {BUNDLE.stat().st_size / 1000:7.0f} kB  (limit 256 kB)"
    )
    for n, limit in ((100, 0.3), (1000, 1.0), (3000, 2.0), (10000, 2.0)):
        file = folder / f"tape{n}.html"
        file.write_text(page_text(build_bush_snapshot(n) if n < 10000 else build_chain_snapshot(n)), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_selector(".mt-view")
        if n == 10000:
            drawn = statistics.median(page.evaluate(OPENED) / 1000 for _ in range(3))
            print(f"{n:6} rows opened, folded                          {drawn:7.3f} s   (limit {limit} s)")
            continue
        runs = sorted(page.evaluate(DRAWN) for _ in range(3))
        drawn, nodes, steps = runs[1]
        print(f"{nodes:6} nodes drawn, all of them in view             {drawn / 1000:7.3f} s   (limit {limit} s)")
        if n <= 1000:
            steps.sort()
            worst = steps[int(len(steps) * 0.95)]
            print(
                f"{nodes:6} nodes, a step: median {statistics.median(steps):5.2f} ms, 95 %        {worst:7.2f} ms  "
                "(limit 16 ms)"
            )


def start_jupyterlab(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a JupyterLab in ``folder`` that knows nothing of the user's settings; return its process and address."""
    environment = {
        name: str(folder / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--port=0",
        f"--ServerApp.root_dir={folder}",
        "--allow-root",
    ]
    log = folder / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    for _ in range(600):
        if address := re.search(r"http://127\.0\.0\.1:\d+/lab\?token=\w+", log.read_text()):
            return server, address.group()
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text())


def write_notebook(folder: Path, name: str, *cells: str) -> None:
    """Write a notebook of code cells."""
    cell_nodes = [
        {"cell_type": "code", "id": f"c{k}", "execution_count": None, "metadata": {}, "outputs": [], "source": c}
        for k, c in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (folder / name).write_text(
        json.dumps({"cells": cell_nodes, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    )


def open_notebook_and_run_first_cell(page: Page, address: str, name: str) -> None:
    """Open a notebook and run its first cell."""
    page.goto(address.replace("/lab?", f"/lab/workspaces/{Path(name).stem}/tree/{name}?"))  # no tabs from before
    page.wait_for_selector(".jp-CodeCell", timeout=60000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60000)
    prompt = page.locator(".jp-InputPrompt").first
    for _ in range(30):  # a cell that is run before the kernel answers is not run at all
        page.click(".jp-CodeCell >> nth=0")
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(100)
        while "*" in prompt.inner_text():
            page.wait_for_timeout(50)
        if prompt.inner_text().strip() != "[ ]:":
            return
    raise RuntimeError("the first cell does not run")


TWENTY = """import minitape as tf
from minitape_widgets import TapeView
from IPython.display import display
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x + x
g = tape.gradient(y, x)
print("ready to show")"""

LIVE = """import gc, time
import minitape as tf
from minitape_widgets import TapeView
def record(tape):
    x, w, b = tf.Variable(1.0), tf.Variable(0.999), tf.Variable(0.01)
    gc.collect()
    start = time.perf_counter()
    with tape:
        y = x * w
        for _ in range(50_000):
            y = y * w + b
    return time.perf_counter() - start
record(tf.GradientTape())
tape = tf.GradientTape()
view = TapeView(tape)
view"""
LIVE_RUN = """import time
time.sleep(0.5)
first = record(tape)
print(f"END {time.time():.3f}", flush=True)
time.sleep(2)
alone, seen = [], []
for _ in range(4):  # in turns, so that both meet the same other work of the machine
    alone.append(record(tf.GradientTape()))
    other = tf.GradientTape(); shown = TapeView(other); seen.append(record(other)); shown.close()
print(f"RESULT {first:.4f} {min(alone):.4f} {min(seen):.4f}")"""

THIRTY_RUN = """import gc, psutil
def taken():
    gc.collect()
    return psutil.Process().memory_info().rss
before = taken()
for _ in range(30): display(TapeView(tape))
print("KERNEL", (taken() - before) / 1e6)"""

THOUSAND = """import time
import minitape as tf
from minitape_widgets import TapeView
def recorded():
    x, w, b = tf.Variable(1.0), tf.Variable(0.999), tf.Variable(0.01)
    with tf.GradientTape() as tape:
        y = x * w
        for _ in range(498):
            y = y * w + b
    tape.gradient(y, w)
    return tape
view = TapeView(recorded())
print("ready to show")"""
THOUSAND_RUN = """tape = recorded()
shown = TapeView(tape)
print(f"END {time.time():.3f}", flush=True)
shown"""
# notes when a view has drawn its nodes and the first of its 1,000 rows
DRAWN_LATE = """() => {
  globalThis.drawn = 0;
  const timer = setInterval(() => {
    const view = document.querySelectorAll(".mt-view")[0];
    if (!view || !view.querySelector(".mt-node") || !view.querySelector(".mt-lines [data-row]")) return;
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawn = Date.now(); }));
    clearInterval(timer);
  }, 2);
}"""

# notes when the last row is in the table of the view
SEEN = """() => {
  const timer = setInterval(() => {
    if (!document.querySelector(".mt-name").textContent.startsWith("100,00")) return;
    if (!document.querySelector(".mt-lines [data-row='100003']")) return;
    globalThis.seen = Date.now();
    clearInterval(timer);
  }, 5);
}"""


def measure_memory_of_thirty_views(page: Page, folder: Path, address: str) -> None:
    """Print the memory of 30 views in the kernel and in the page, which has shown one before."""
    write_notebook(folder, "thirty.ipynb", TWENTY + "\nTapeView(tape)", THIRTY_RUN)
    open_notebook_and_run_first_cell(page, address, "thirty.ipynb")
    page.wait_for_selector(".mt-view .mt-node", timeout=60000)
    session = page.context.new_cdp_session(page)

    def read_heap() -> float:
        session.send("HeapProfiler.collectGarbage")
        return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6

    before = read_heap()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("document.querySelectorAll('.mt-view .mt-node').length >= 93", timeout=60000)
    kernel = float(page.locator(".jp-RenderedText", has_text="KERNEL").first.inner_text().split()[1])
    in_page = read_heap() - before
    print(f"    30 views on a page: {kernel:.1f} MB in the kernel, {in_page:.1f} MB in the page   (limit 28 MB)")


def measure_delay_of_thousand_rows(page: Page, folder: Path, address: str) -> None:
    """Print how long after its cell a view of 1,000 rows with their sweep is on the screen, in JupyterLab."""
    delays = []
    write_notebook(folder, "thousand.ipynb", THOUSAND, THOUSAND_RUN)
    for _ in range(3):
        open_notebook_and_run_first_cell(page, address, "thousand.ipynb")
        page.wait_for_selector(".jp-RenderedText:has-text('ready to show')", timeout=60000)
        page.evaluate(DRAWN_LATE)
        page.keyboard.press("Shift+Enter")
        page.wait_for_function("globalThis.drawn", timeout=60000)
        end_time = float(page.locator(".jp-RenderedText", has_text="END").first.inner_text().split()[1])
        delays.append(page.evaluate("globalThis.drawn") / 1000 - end_time)
    print(
        f" 1,000 rows on screen after the cell's end         {min(delays):7.3f} s   (limit 0.3 s; at worst "
        f"{max(delays):.3f} s)"
    )


def measure_in_lab(page: Page, folder: Path) -> None:
    """Print what many views, and live recording, cost in a real JupyterLab."""
    server, address = start_jupyterlab(folder)
    try:
        write_notebook(folder, "twenty.ipynb", TWENTY, "for _ in range(20): display(TapeView(tape))")
        open_notebook_and_run_first_cell(page, address, "twenty.ipynb")
        page.wait_for_selector(".jp-OutputArea-output:has-text('ready to show')", timeout=60000)
        start = time.perf_counter()
        page.keyboard.press("Shift+Enter")
        page.wait_for_function("document.querySelectorAll('.mt-view .mt-node').length >= 60", timeout=60000)
        print(f"    20 views on a page, run to last view drawn    {time.perf_counter() - start:7.3f} s   (limit 2 s)")
        measure_memory_of_thirty_views(page, folder, address)
        measure_delay_of_thousand_rows(page, folder, address)
        write_notebook(folder, "live.ipynb", LIVE, LIVE_RUN)
        open_notebook_and_run_first_cell(page, address, "live.ipynb")
        try:
            page.wait_for_selector(".mt-view", timeout=20000)
        except Exception:
            raise SystemExit("no view appeared: " + page.locator(".jp-OutputArea").first.inner_text()) from None
        page.evaluate(SEEN)
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".jp-OutputArea-output:has-text('RESULT')", timeout=60000)
        result_words = page.locator(".jp-OutputArea-output", has_text="RESULT").inner_text().split()
        end_time, first_seconds, alone, seen = (float(word) for word in result_words if word[0].isdigit())
        page.wait_for_function("globalThis.seen", timeout=60000)
        delay = page.evaluate("globalThis.seen") / 1000 - end_time
        rows = page.locator(".mt-name").first.inner_text()
        print(
            f"100,000 operations recorded: alone {alone:.3f} s, with a view {seen:.3f} s, "
            f"{seen / alone:.2f} times (limit 1.1)"
        )
        print(f"  the view in the page: {first_seconds:.3f} s, {rows} shown {delay:.2f} s later")
    finally:
        server.terminate()
        server.wait(20)


def main() -> None:
    chromium = next(
        (
            path
            for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
            if (path := shutil.which(name))
        ),
        None,
    )
    if chromium is None:
        raise SystemExit("benchmarks.view needs Chromium on the PATH")
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        measure_drawing_and_stepping(page, Path(name))
        measure_in_lab(page, Path(name))
        browser.close()


if __name__ == "__main__":
    main()
