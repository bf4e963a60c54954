"""Makes the pictures of docs/ from a real JupyterLab: python -m tests.widgets.make_screenshots"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.view import open_notebook, start_lab

from .conftest import write_notebook

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "import minitape as tf\nfrom minitape_widgets import TapeView\n"
NEURON = """x = tf.constant([[0.5, -1.0, 2.0]])
w = tf.Variable([[0.1], [0.2], [-0.3]], name="w")
b = tf.Variable(0.25, name="b")
with tf.GradientTape() as tape:
    y = tf.tanh(x @ w + b)
    loss = tf.reduce_sum((y - 1.0) ** 2)
grads = tape.gradient(loss, [w, b])"""
SHARED = """a = tf.Variable(2.0, name="a")
with tf.GradientTape() as tape:
    b = a * a
    c = b + b
    d = tf.sin(c) * b
g = tape.gradient(d, a)"""
TWICE = """x = tf.Variable(3.0, name="x")
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x * x * x
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)"""
LOOP = """w = tf.Variable(1.4, name="w")
with tf.GradientTape() as tape:
    y = w * 1.0
    for _ in range(2000):
        y = tf.sin(y) * w
g = tape.gradient(y, w)"""

# name -> (program, what to show, keys to press, dark theme)
PICTURES: dict[str, tuple[str, str, list[str], bool]] = {
    "tapeview": (SHARED, "TapeView(tape)", ["End", "ArrowLeft"], False),
    "tapeview-nested": (TWICE, "TapeView(outer)", ["End", "ArrowLeft", "ArrowLeft"], False),
    "tapeview-feel": (SHARED, "TapeView(tape)", ["End", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"], False),
    "tapeview-folded": (LOOP, "TapeView(tape)", ["ArrowUp", "Enter", "0"], False),
    "tapeview-dark": (NEURON, "TapeView(tape)", ["End", "ArrowLeft", "ArrowLeft"], True),
}


def picture(browser: Browser, address: str, folder: Path, name: str) -> None:
    program, shown, keys, dark = PICTURES[name]
    write_notebook(folder, f"{name}.ipynb", HEAD + program + "\n" + shown)
    page: Any = browser.new_page(viewport={"width": 1120, "height": 1060}, device_scale_factor=1.5)
    dialog = page.locator("dialog.jp-Dialog")  # on a busy machine JupyterLab asks which kernel
    page.add_locator_handler(dialog, lambda: dialog.locator("button.jp-mod-accept").click())
    open_notebook(page, address, f"{name}.ipynb")
    page.wait_for_selector(".mt-node")
    if dark and not page.locator(".mt-dark").count():
        page.get_by_role("menuitem", name="Settings").click()
        page.get_by_text("Theme", exact=True).hover()
        page.get_by_role("menuitem", name="JupyterLab Dark", exact=True).click()
        page.wait_for_selector(".mt-dark")
    page.keyboard.press("Control+b")  # without the file browser
    page.add_style_tag(content=".Toastify { display: none }")  # JupyterLab's question about news
    page.wait_for_timeout(500)
    page.locator(".mt-view").focus()
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(200)
    if name == "tapeview-feel":
        page.get_by_label("value of a").fill("1.4")
        page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    page.locator(".mt-view").screenshot(path=DOCS / f"{name}.png")
    page.close()


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    chromium = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        server, address = start_lab(Path(name))
        try:
            for picture_name in PICTURES:
                picture(browser, address, Path(name), picture_name)
        finally:
            server.terminate()
            server.wait(20)
        browser.close()


if __name__ == "__main__":
    main()
