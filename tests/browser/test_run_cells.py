"""The Run buttons of a lesson's page run cells that share variables, and their output cannot change the page."""

from pathlib import Path

import pytest

from minitape.cli.lesson_pages import build_page_translator
from minitape.cli.run_places import format_run_settings
from minitape.cli.site import SETTINGS_FOLDER

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.lite]
CELLS = [
    "import minitape as tf\nx = tf.Variable(3.0)",
    "with tf.GradientTape() as tape:\n    y = x * x\nprint('&lt;b>', tape.gradient(y, x).numpy())",
    "from minitape_widgets import TapeView\nTapeView(tape)",
    "class Hostile:\n    def _repr_html_(self):\n"
    "        return '&lt;script>parent.taken = 1&lt;/script>in a frame'\nHostile()",
]


@pytest.fixture(scope="module")
def lesson_page(context, site):
    """Return a page with the scripts and the markup of a lesson's page."""
    lesson = Path(__file__).parents[2] / "notebooks" / "en" / "01_the_first_tape.ipynb"
    settings = format_run_settings(lesson, ".", build_page_translator(lesson.parent))
    block = '<div class="highlight-python"><div class="highlight"><pre>{}</pre></div></div>'
    cells = "".join(f'<div class="cell code">{block.format(code)}</div>' for code in CELLS)
    body = f'<!doctype html><meta charset="utf-8"><script src="run_cells.js"></script><body>{settings}{cells}'
    files = {"lesson.html": (body, "text/html")} | {
        name: ((SETTINGS_FOLDER / "static" / name).read_text(encoding="utf-8"), "text/javascript")
        for name in ("run_cells.js", "run_worker.js")
    }

    def send_file(route):
        text, content_type = files[route.request.url.rpartition("/")[2]]
        route.fulfill(body=text, content_type=content_type)

    for name in files:
        context.route(f"{site}/{name}", send_file)
    page = context.new_page()
    page.goto(f"{site}/lesson.html")
    yield page
    page.close()


def run_cell(page, number):
    """Run a cell of the page, and return its output."""
    cell = page.locator(".cell").nth(number)
    cell.get_by_role("button", name="Run").click()
    page.wait_for_function("document.documentElement.dataset.runningCells === 'false'", timeout=300_000)
    return cell.locator(".ran")


def test_a_cell_runs_after_those_above_it_and_can_be_changed(lesson_page):
    assert run_cell(lesson_page, 1).inner_text().strip() == "<b> 6.0"
    lesson_page.locator("pre").first.fill("import minitape as tf\nx = tf.Variable(5.0)")
    run_cell(lesson_page, 0)
    assert run_cell(lesson_page, 1).inner_text().strip() == "<b> 10.0"
    picture = run_cell(lesson_page, 2).frame_locator("iframe")
    picture.locator(".mt-node").first.wait_for()
    hostile = run_cell(lesson_page, 3).frame_locator("iframe")
    hostile.get_by_text("in a frame").wait_for()
    assert lesson_page.evaluate("window.taken") is None
    lesson_page.locator("pre").first.fill("1 / 0")
    assert "ZeroDivisionError" in run_cell(lesson_page, 0).inner_text()
