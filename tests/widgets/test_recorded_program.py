"""On a lesson's web page, readers can change the program of a picture if the browser can run it."""

import json
from typing import Any

import pytest

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder
from minitape_widgets import TapeView
from minitape_widgets.front_end import ELEMENT_SCRIPT
from minitape_widgets.lesson_views import write_view_for_frame
from minitape_widgets.recorded_program import extract_program

PRODUCT = """\
import minitape as tf
x = tf.Variable(3.0)
unused = x * 5.0
with tf.GradientTape() as tape:
    y = x * x"""
SHOW = "gradient = tape.gradient(y, x)\nTapeView(tape)"
PRODUCT_ONLY = """\
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
gradient = tape.gradient(y, x)"""
ACCEPTED = """programs => programs.map(program => {
    try { customElements.get("mini-tape").snapshotOf(program); return true; } catch { return false; }
})"""


FUNCTION = "def f(a):\n    b = a * k\n    return b"
CASES = {
    "a name that the tape does not need": ([PRODUCT, SHOW], PRODUCT_ONLY),
    "a changed variable": (
        ["x = 1\nx = tf.Variable(2.0)\nx.assign(4.0)", "TapeView(x)"],
        "x = tf.Variable(2.0)\nx.assign(4.0)",
    ),
    "a module": (
        ["import minitape as tf", "tf.random.set_seed(1)\nt = tf.GradientTape()\nTapeView(t)"],
        "t = tf.GradientTape()",
    ),
    "a function's own name": ([FUNCTION, "k = 2.0\nb = 1\nt = f(k)\nTapeView(t)"], f"{FUNCTION}\nk = 2.0\nt = f(k)"),
    "an augmented assignment": (["n = 1\nn += 1\ntape = n\nTapeView(tape)"], "n = 1\nn += 1\ntape = n"),
    "a magic": (["%matplotlib inline", "tape = 1\nTapeView(tape)"], "tape = 1"),
    "a view that another cell made": (["tape = 1\nview = TapeView(tape)", "view"], None),
    "a tape without a name": (["TapeView(program.recording)"], None),
    "no cell": ([], None),
}


@pytest.mark.parametrize("cells, program", CASES.values(), ids=CASES)
def test_only_what_contributes_to_the_shown_tape_is_kept(cells: list[str], program: str | None):
    assert extract_program(cells) == program


@pytest.fixture
def frame(tmp_path, page):
    """A function that shows a tape and a program as a lesson's page does, and returns the page."""

    def open_frame(tape: Any, program: str) -> Any:
        path = tmp_path / "view.html"
        write_view_for_frame(TapeView(tape), path, program)
        page.set_content(path.read_text(encoding="utf-8"))
        page.locator(".mt-node").first.wait_for()
        return page

    return open_frame


@pytest.mark.browser
def test_readers_change_the_program_of_a_picture(frame):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    page = frame(tape, extract_program([PRODUCT, SHOW]))
    page.get_by_role("button", name="Change the program").click()
    assert page.locator("mini-tape").evaluate("one => one.number('dy/dx')") == "6.0"
    assert page.locator("mini-tape textarea").evaluate("area => area === area.getRootNode().activeElement")
    page.locator("mini-tape textarea").fill(
        "x = tf.Variable(3.0)\nwith tf.GradientTape() as tape:\n    y = x * x * x\ng = tape.gradient(y, x)"
    )
    page.wait_for_function("document.querySelector('mini-tape').number('dy/dx') === '27.0'")


@pytest.mark.browser
@pytest.mark.parametrize(
    "program",
    ["x = tf.Variable(4.0)\ny = x * x", "x = tf.Variable(3.0)\ny = np.square(x)", "x = tf.Variable(3.0)\ny = x + 6.0"],
    ids=["another-number", "needs-python", "another-operation"],
)
def test_a_program_that_computes_something_else_is_not_offered(frame, program):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x * x
    page = frame(tape, program)
    assert page.locator("#edit").count() == 1
    assert page.locator("#edit").is_hidden()


@pytest.mark.long(sample=2)
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pictures_of_the_first_lessons_can_be_changed(page, language):
    """A list of cells, so that a reworded lesson or a smaller evaluator does not take them away unnoticed."""
    programs = {}
    for path in sorted((find_lessons_folder().parent / language).glob("*.ipynb")):
        sources = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                sources.append("".join(cell["source"]))
                if program := extract_program(sources):
                    programs[f"{path.stem[:2]} {cell['id']}"] = program
    page.set_content(f"<!doctype html><script>{ELEMENT_SCRIPT.read_text('utf-8')}</script>")
    accepted = page.evaluate(ACCEPTED, list(programs.values()))
    found = {cell for cell, is_accepted in zip(programs, accepted, strict=True) if is_accepted}
    assert len(found) >= 19, found
    ids = {cell.split()[1] for cell in found}
    assert ids >= {"first-tape-12", "inside-07", "inside-21", "freeze", "state-12", "flow-06"}
    assert any("second_order_grad" in program for cell, program in programs.items() if cell in found)
