"""Make the pictures in docs/: python -m tests.widgets.make_screenshots [NAME ...]

Still pictures show a real JupyterLab and require Pillow. The animated pictures, `sweep` in light and dark, are films.
With ``MINITAPE_LANGUAGE=zh``, the pictures for the Chinese pages are made, such as `sweep.zh.gif`.
"""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

import minitape as tf
from benchmarks.view import open_notebook_and_run_first_cell, start_jupyterlab
from minitape.common.translation import ENGLISH, detect_language, say
from minitape_widgets import film
from tests.jupyterlab_page import write_notebook

DOCS = Path(__file__).parents[2] / "docs"
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
END = "" if detect_language() == ENGLISH else f".{detect_language()}"  # The suffix of a picture's name.
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

TURNS = """x, w = tf.Variable(1.0, name="x"), tf.Variable(0.8, name="w")
with tf.GradientTape() as tape:
    y = x * w
    for _ in range(15):
        y = tf.sin(y) * w + x
g = tape.gradient(y, [x, w])"""
CALLED = """w = tf.Variable(2.0, name="w")
@tf.function
def walk(x, n):
    while n > 0:
        x = x / 2.0 if x > 5.0 else x * w + 1.0
        n -= 1
    return x
with tf.GradientTape() as tape:
    y = walk(w * 1.5, tf.constant(3)) * 2.0
g = tape.gradient(y, w)"""
LAYERED = """tf.random.set_seed(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(3, \
activation="relu"), tf.keras.layers.Dense(1)])
x = tf.random.normal([4, 3])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(x) - 1.0))
g = tape.gradient(loss, model.trainable_variables)"""

TRAINED = (
    LAYERED
    + """
tf.keras.optimizers.SGD(0.1).apply_gradients(zip(g, model.trainable_variables))"""
)
TORN = """import numpy as np
w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
with tf.GradientTape() as tape:
    h = tf.constant(np.tanh((w * 3.0).numpy()))
    loss = h * b
g = tape.gradient(loss, [w, b])"""
RATES = """def step(rate):
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        loss = tf.sin(w * rate) ** 2
    tape.gradient(loss, w)
    return tape
one, other = step(1.0), step(1.5)"""

# Maps each name to (program, expression to show, keys to press, whether the theme is dark).
PICTURES: dict[str, tuple[str, str, list[str], bool]] = {
    "tapeview": (SHARED, "TapeView(tape)", ["End", "ArrowLeft"], False),
    "tapeview-nested": (TWICE, "TapeView(outer)", ["End", "ArrowLeft", "ArrowLeft"], False),
    "tapeview-feel": (SHARED, "TapeView(tape)", ["End", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"], False),
    "tapeview-folded": (LOOP, "TapeView(tape)", ["ArrowUp", "Enter", "0"], False),
    "tapeview-lines": (TURNS, "TapeView(tape)", ["End", "PageUp"], False),
    "tapeview-inside": (
        CALLED,
        "TapeView(tape)",
        [
            "Home",
            "ArrowRight",
            "ArrowRight",
            "ArrowRight",
            "ArrowRight",
            "ArrowRight",
            "Enter",
            "End",
            "ArrowLeft",
            "ArrowLeft",
        ],
        False,
    ),
    "tapeview-layers": (LAYERED, "TapeView(tape)", ["End", "ArrowLeft", "ArrowLeft", "ArrowLeft"], False),
    "tapeview-update": (TRAINED, "TapeView(tape)", ["End"], False),
    "tapeview-compare": (RATES, "TapeView.compare(one, other)", ["End", "ArrowLeft"], False),
    "tapeview-cut": (SHARED, "TapeView(tape)", ["End", "k", "["], False),
    "tapeview-torn": (TORN, "TapeView(tape)", ["End"], False),
    "tapeview-dark": (NEURON, "TapeView(tape)", ["End", "ArrowLeft", "ArrowLeft"], True),
}


def make_picture(browser: Browser, address: str, folder: Path, name: str) -> None:
    program, shown, keys, dark = PICTURES[name]
    write_notebook(folder / f"{name}.ipynb", HEAD + program + "\n" + shown)
    width = 1440 if name == "tapeview-compare" else 1120  # Two tapes side by side need more room.
    page: Any = browser.new_page(viewport={"width": width, "height": 1300}, device_scale_factor=1.5)
    dialog = page.locator("dialog.jp-Dialog")  # On a busy machine, JupyterLab asks for a kernel.
    page.add_locator_handler(dialog, lambda: dialog.locator("button.jp-mod-accept").click())
    open_notebook_and_run_first_cell(page, address, f"{name}.ipynb")
    page.wait_for_selector(".mt-node")
    if dark and not page.locator(".mt-dark").count():
        page.get_by_role("menuitem", name="Settings").click()
        page.get_by_text("Theme", exact=True).hover()
        page.get_by_role("menuitem", name="JupyterLab Dark", exact=True).click()
        page.wait_for_selector(".mt-dark")
    page.keyboard.press("Control+b")  # Close the file browser.
    page.add_style_tag(content=".Toastify { display: none }")  # Hide JupyterLab's question about news.
    page.wait_for_timeout(500)
    if name in ("tapeview-layers", "tapeview-lines"):
        folding = page.get_by_label(say("Folding", "picture"), exact=True)
        folding.select_option("layers" if name == "tapeview-layers" else "none")
    page.locator(".mt-view").first.focus()
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        if key == "Enter" and name == "tapeview-inside":
            page.locator(".mt-crumb").wait_for()
    if name == "tapeview-feel":
        page.get_by_label(say("value of {0}", "picture").format("a")).fill("1.4")
        page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    shot = page.locator(".widget-gridbox" if name == "tapeview-compare" else ".mt-view").first.screenshot()
    from PIL import Image  # Tests do not need this package.

    # This reduces the size to a third.
    few = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(DOCS / f"{name}{END}.png", optimize=True)
    page.close()


def make_sweep_film(dark: bool) -> None:
    """Make the film at the top of README.md."""
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    slope = float(tape.gradient(y, x))
    words = {
        ENGLISH: (
            "The tape writes down each operation.",
            "Then the chain rule runs backward.",
            "The slope at x is {}.",
        ),
        "zh": ("磁带记下每一步运算。", "然后链式法则往回走。", "x 处的斜率是 {}。"),
    }[detect_language()]
    story = film(tape).forward(say=words[0]).back(say=words[1]).say(words[2].format(f"{slope:.4g}"))
    story.save(DOCS / f"sweep{'-dark' if dark else ''}{END}.gif", size=(960, 400), dark=dark)


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    chromium = next(path for name in CHROMIUMS if (path := shutil.which(name)))
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        names = sys.argv[1:] or ["sweep", *PICTURES]
        if "sweep" in names:
            make_sweep_film(dark=False)
            make_sweep_film(dark=True)
            names.remove("sweep")
        if not names:
            return
        server, address = start_jupyterlab(Path(name))
        try:
            for picture_name in names:
                make_picture(browser, address, Path(name), picture_name)
        finally:
            server.terminate()
            server.wait(20)
        browser.close()


if __name__ == "__main__":
    main()
