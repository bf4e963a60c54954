"""How long the course and the playground take in a browser: ``python benchmarks/browser.py SITE``.

SITE is what ``minitape site SITE --lite --offline`` wrote. Everything comes from this machine; Chromium is started anew
for each cold figure.
"""

from __future__ import annotations

import functools
import gzip
import os
import shutil
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright

PATIENCE = 180_000  # milliseconds
LESSON = "lab/index.html?path=en/01_the_first_tape.ipynb"
LONG_PROGRAM = """
import minitape as tf
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x
    for _ in range(99):
        y = y * 1.01
print(tape.gradient(y, x).numpy())
"""
ENDED_CONDITION = "document.documentElement.dataset.running === 'false'"


class CountingHandler(SimpleHTTPRequestHandler):
    """Hands out files, and counts their bytes as a web server that compresses sends them."""

    sent_bytes = 0
    lock = threading.Lock()

    def copyfile(self, source, outputfile) -> None:
        content = source.read()
        is_text = self.path.partition("?")[0].endswith((".html", ".js", ".mjs", ".json", ".wasm", ".css", ".svg"))
        size = len(gzip.compress(content, 6)) if is_text else len(content)
        with CountingHandler.lock:
            CountingHandler.sent_bytes += size
        outputfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


def print_figure(label: str, value: float, unit: str) -> None:
    print(f"{label:55} {value:7.2f} {unit}")


def measure_first_cell(context: BrowserContext, site: str, label: str) -> None:
    """Print the time from the page to the first cell run, and the bytes loaded.

    After the first visit the browser keeps Python's files for the next.
    """
    page = context.new_page()
    start_time, bytes_before = time.perf_counter(), CountingHandler.sent_bytes
    page.goto(site + LESSON)
    page.wait_for_selector("html[data-minitape-ready]", state="attached", timeout=PATIENCE)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".jp-InputArea-prompt:text-is('[1]:')", timeout=PATIENCE)
    print_figure(f"lesson 1, page to first cell run, {label}", time.perf_counter() - start_time, "s")
    print_figure("  loaded, compressed", (CountingHandler.sent_bytes - bytes_before) / 1e6, "MB")
    page.wait_for_selector("html[data-minitape-kept]", state="attached", timeout=PATIENCE)
    page.close()


def measure_playground_runs(context: BrowserContext, site: str) -> None:
    """Print the time from the page to the first picture, to the first own program, and of a further run."""
    page = context.new_page()
    start_time, bytes_before = time.perf_counter(), CountingHandler.sent_bytes
    page.goto(site + "playground/index.html")
    page.wait_for_selector(".mt-node")
    print_figure("playground, page to first picture", time.perf_counter() - start_time, "s")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(LONG_PROGRAM)
    for label in ("playground, first own program of 100 rows, cold", "playground, the same again"):
        start_time = time.perf_counter()
        page.click("#run")
        page.wait_for_function(ENDED_CONDITION, timeout=PATIENCE)
        print_figure(label, time.perf_counter() - start_time, "s")
    print_figure("  loaded, compressed", (CountingHandler.sent_bytes - bytes_before) / 1e6, "MB")
    page.close()


def main() -> None:
    handler = functools.partial(CountingHandler, directory=str(Path(sys.argv[1]).resolve()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}/"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with sync_playwright() as playwright:
        options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        for measure in (
            lambda c: [measure_first_cell(c, site, what) for what in ("cold", "from the cache")],
            lambda c: measure_playground_runs(c, site),
        ):
            browser = playwright.chromium.launch(**options)
            measure(browser.new_context())
            browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
