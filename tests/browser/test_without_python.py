"""If Python does not load, readers see a sentence in their language within seconds."""

import time

import pytest

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.lite]
PYTHON = "pyodide.*"
# The time limit, counted from the loading of the page or the click on Run. Drawing takes longer on a busy machine.
SECONDS = 5


@pytest.mark.parametrize(("way", "code", "said", "again"), [
    ("refused", "en", "Python could not be loaded", "Try again"),
    ("late", "zh", "Python 加载不了", "再试一次"),
    ("gone", "en", "Python could not be loaded", "Try again"),
])  # fmt: skip
def test_a_lesson_says_that_no_cell_will_run(fresh, site, missing, way, code, said, again):
    missing(PYTHON, way=way)
    page = fresh.new_page()
    page.goto(f"{site}/lab/index.html?path={code}/01_the_first_tape.ipynb", wait_until="commit")
    began = time.monotonic()
    told = page.get_by_role("alert").filter(has_text=said)
    told.wait_for()
    assert time.monotonic() - began < 3 * SECONDS
    assert told.get_by_role("button", name=again).is_visible()
    if way == "late":  # The page itself is the same in all cases.
        cell = page.locator(".jp-CodeCell").first
        cell.click()
        page.keyboard.press("Shift+Enter")
        cell.locator(".jp-InputPrompt", has_text="[ ]").wait_for()


def test_one_file_that_is_missing_is_enough(fresh, site, missing):
    """Pyodide itself would wait for the file forever."""
    missing("pyodide.asm.wasm", way="gone")
    page = fresh.new_page()
    page.goto(f"{site}/lab/index.html?path=en/01_the_first_tape.ipynb")
    page.get_by_role("alert").filter(has_text="Python could not be loaded").wait_for()


@pytest.mark.parametrize(
    ("way", "name", "said"), [("refused", "zh", "加载不了 Python"), ("late", "index", "Python could not be loaded")]
)
def test_the_playground_says_it_and_tries_again(fresh, site, missing, way, name, said):
    missing(PYTHON, way=way)
    page = fresh.new_page()
    page.goto(f"{site}/playground/{name}.html")
    page.locator("#run").click()
    page.locator("#output", has_text=said).wait_for()
    if way == "refused":
        return  # The rest is the same in all cases.
    page.locator("#stop").click()  # So far, the file was only late, and Stop loads it again.
    missing()
    # This second attempt has failed or is ready.
    page.wait_for_function("document.querySelector('#state').textContent === ''")
    page.locator("#run").click()
    page.wait_for_function("document.documentElement.dataset.running === 'false'")
    assert "0.077" in page.locator("#output").inner_text()
