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
LONG = """
import minitape as tf
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x
    for _ in range(99):
        y = y * 1.01
print(tape.gradient(y, x).numpy())
"""
ENDED = "document.documentElement.dataset.running === 'false'"


class Counting(SimpleHTTPRequestHandler):
    """Hands out files, and counts their bytes as a web server that compresses sends them."""

    sent = 0
    lock = threading.Lock()

    def copyfile(self, source, outputfile) -> None:
        content = source.read()
        plain = self.path.partition("?")[0].endswith((".html", ".js", ".mjs", ".json", ".wasm", ".css", ".svg"))
        size = len(gzip.compress(content, 6)) if plain else len(content)
        with Counting.lock:
            Counting.sent += size
        outputfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


def say(what: str, value: float, unit: str) -> None:
    print(f"{what:55} {value:7.2f} {unit}")


def lesson(context: BrowserContext, site: str, what: str) -> None:
    """From the page to the first cell run. After the first visit the browser keeps Python's files for the next."""
    page = context.new_page()
    began, sent = time.perf_counter(), Counting.sent
    page.goto(site + LESSON)
    page.wait_for_selector("html[data-minitape-ready]", state="attached", timeout=PATIENCE)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".jp-InputArea-prompt:text-is('[1]:')", timeout=PATIENCE)
    say(f"lesson 1, page to first cell run, {what}", time.perf_counter() - began, "s")
    say("  loaded, compressed", (Counting.sent - sent) / 1e6, "MB")
    page.wait_for_selector("html[data-minitape-kept]", state="attached", timeout=PATIENCE)
    page.close()


def playground(context: BrowserContext, site: str) -> None:
    """From the page to the first picture, to the first own program, and each further run."""
    page = context.new_page()
    began, sent = time.perf_counter(), Counting.sent
    page.goto(site + "playground/index.html")
    page.wait_for_selector(".mt-node")
    say("playground, page to first picture", time.perf_counter() - began, "s")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(LONG)
    for what in ("playground, first own program of 100 rows, cold", "playground, the same again"):
        began = time.perf_counter()
        page.click("#run")
        page.wait_for_function(ENDED, timeout=PATIENCE)
        say(what, time.perf_counter() - began, "s")
    say("  loaded, compressed", (Counting.sent - sent) / 1e6, "MB")
    page.close()


def main() -> None:
    handler = functools.partial(Counting, directory=str(Path(sys.argv[1]).resolve()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}/"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with sync_playwright() as playwright:
        options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        for work in (
            lambda c: [lesson(c, site, what) for what in ("cold", "from the cache")],
            lambda c: playground(c, site),
        ):
            browser = playwright.chromium.launch(**options)
            work(browser.new_context())
            browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
