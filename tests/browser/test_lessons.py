"""The lessons run in a browser alone, with JupyterLite and Pyodide in a Chromium that can reach only the site."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.lite]
LESSONS = Path(__file__).parents[2] / "notebooks"
PATIENCE = 300_000  # The number of milliseconds on a busy machine.
STATE = """() => [document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status,
    [...document.querySelectorAll(".jp-InputArea-prompt")].filter((e) => e.innerText.includes("*")).length]"""


def open_lesson(context, site, name):
    page = context.new_page()
    page.goto(f"{site}/lab/index.html?path={name}")
    page.wait_for_selector("html[data-minitape-ready]", timeout=PATIENCE, state="attached")
    return page


def run_all_cells(page):
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    page.wait_for_timeout(1000)
    page.wait_for_function(
        f"() => {{ const [state, left] = ({STATE})(); return state === 'idle' && !left }}", timeout=PATIENCE
    )


def read_saved_notebook(page, name, text=""):
    """Return the notebook that the browser stores, once it has been saved with this text in it."""
    page.keyboard.press("Control+s")
    for _ in range(40):
        page.wait_for_timeout(250)
        kept = page.evaluate(
            """async (name) => {
                for (const { name: base } of await indexedDB.databases()) {
                    const db = await new Promise((done) => { const r = indexedDB.open(base);
                        r.onsuccess = () => done(r.result) });
                    for (const store of db.objectStoreNames) {
                        const r = db.transaction(store).objectStore(store).get(name);
                        const found = await new Promise((done) => {
                            r.onsuccess = () => done(r.result); r.onerror = () => done(null) });
                        if (found?.content?.cells) { db.close(); return JSON.stringify(found.content) }
                    }
                    db.close();
                }
                return null;
            }""",
            name,
        )
        if kept and text in kept and any(cell.get("execution_count") for cell in json.loads(kept)["cells"]):
            return json.loads(kept)
    raise AssertionError(f"{name} was not kept by the browser")


def read_printed_and_errors(cell):
    """Return what a cell printed, and the names of its errors."""
    texts = ["".join(o["text"]) for o in cell.get("outputs", ()) if o.get("output_type") == "stream"]
    return "".join(texts).replace(NO_NUMBA, "").replace(OWN_INTEGER, ""), [
        o["ename"] for o in cell.get("outputs", ()) if o.get("output_type") == "error"
    ]


# The output of a cell with this Pyodide's NumPy 2.0, which prints large numbers differently from later versions.
OLDER_NUMPY = {"inside-45": ("1.0737418e+09", "1073741800.0")}

# NumPy prints this after integers in lesson 3, but not in the browser, where integers have 32 bits by default.
OWN_INTEGER = ", dtype=int32"

# Lesson 12 prints this without numba, as in the browser. No other program prints it.
NO_NUMBA = "There is no numba here. What is called compiled below is not.\n"


def find_differing_cells(name, kept):
    """Return the cells whose output differs from the saved lesson."""
    lesson = json.loads((LESSONS / name).read_text(encoding="utf-8"))
    saved = {cell["id"]: cell for cell in lesson["cells"] if cell["cell_type"] == "code"}
    found = {cell["id"]: cell for cell in kept["cells"] if cell["cell_type"] == "code"}
    assert saved.keys() == found.keys()
    may = {id for id, cell in saved.items() if "nbval-ignore-output" in cell["metadata"].get("tags", ())}
    expected = {id: read_printed_and_errors(cell) for id, cell in saved.items() if id not in may}
    expected |= {id: (expected[id][0].replace(*texts), []) for id, texts in OLDER_NUMPY.items() if id in expected}
    return {
        id: (read_printed_and_errors(found[id]), text)
        for id, text in expected.items()
        if read_printed_and_errors(found[id]) != text
    }


PATHS = [*sorted((LESSONS / "en").glob("[01]*.ipynb")), *sorted((LESSONS / "zh").glob("0[1256]*.ipynb"))]
NAMES = [f"{path.parent.name}/{path.name}" for path in PATHS]


@pytest.mark.longest
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_runs_from_its_first_cell_to_its_last_and_prints_what_is_saved(fresh, site, name):
    """The learner in a test below also runs the first lesson."""
    fresh.route("**/kernel_python.js?keep", lambda route: route.abort())  # There is no second visit.
    page = open_lesson(fresh, site, name)
    run_all_cells(page)
    kept = read_saved_notebook(page, name)
    different = find_differing_cells(name, kept)
    views = page.locator(".mt-view").count()
    cells = sum(cell["cell_type"] == "code" for cell in kept["cells"])
    print(f"{name}: {cells} cells, {len(different)} differ, {views} pictures seen")
    page.close()
    assert not different


def find_code_cell(page, text):
    """Return the code cell whose source contains this text."""
    found = page.locator(".jp-CodeCell").filter(has=page.locator(".jp-InputArea", has_text=text)).first
    found.scroll_into_view_if_needed()
    return found


def run_code_cell(page, text, source=None):
    """Run this cell, after replacing its source if a source is given."""
    found = find_code_cell(page, text)
    found.locator(".cm-content").click()
    if source is not None:
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    return found


def test_a_learner_steps_answers_reloads_and_takes_the_work_elsewhere(browser, site, fresh, tmp_path):
    page = open_lesson(fresh, site, "en/01_the_first_tape.ipynb")
    run_all_cells(page)
    assert not find_differing_cells(
        "en/01_the_first_tape.ipynb", read_saved_notebook(page, "en/01_the_first_tape.ipynb")
    )
    view = find_code_cell(page, "TapeView(g)").locator(".mt-view")
    view.click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    view.locator(".mt-node.mt-current").wait_for(timeout=PATIENCE)
    for answer, said in ("8.0", "not yet"), ("12.0", "correct"):
        found = run_code_cell(page, 'check("01.1"', f'answer = {answer}\ncheck("01.1", answer)')
        expect(found).to_contain_text(f"Exercise 01.1: {said}", timeout=PATIENCE)
        assert found.evaluate("cell => getComputedStyle(cell).filter") == "none"  # No question has been answered.
    expect(run_code_cell(page, 'progress("01")')).to_contain_text("1 of 5 solved", timeout=PATIENCE)
    read_saved_notebook(page, "en/01_the_first_tape.ipynb", "answer = 12.0")
    page.locator(".jp-DirListing-item", has_text="01_the_first_tape").click(button="right")
    with page.expect_download() as download:
        page.locator(".lm-Menu-itemLabel", has_text="Download").click()
    mine = tmp_path / "01_the_first_tape.ipynb"
    download.value.save_as(mine)

    page.wait_for_selector("html[data-minitape-kept]", timeout=PATIENCE, state="attached")
    page.reload()
    page.wait_for_selector("html[data-minitape-ready]", timeout=PATIENCE, state="attached")
    assert "kernel_python.js" in page.workers[0].url
    loaded = page.workers[0].evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert not [name for name in loaded if name.endswith(".whl")]  # The browser has cached Python.
    expect(find_code_cell(page, 'check("01.1"')).to_contain_text("answer = 12.0", timeout=PATIENCE)
    run_code_cell(page, "import minitape as tf")
    expect(run_code_cell(page, 'progress("01")')).to_contain_text("1 of 5 solved", timeout=PATIENCE)
    page.close()

    other = browser.new_context(viewport={"width": 1400, "height": 900})  # This is a different browser.
    page = other.new_page()
    page.goto(f"{site}/lab/index.html?path=en/02_inside_the_tape.ipynb")
    page.locator(".jp-DirListing-item", has_text="01_the_first_tape").wait_for(timeout=PATIENCE)
    with page.expect_file_chooser() as chooser:
        page.locator("[title*='Upload']").first.click()
    chooser.value.set_files(mine)
    page.locator(".jp-Dialog button", has_text="Overwrite").click()
    page.locator(".jp-Dialog").wait_for(state="detached")
    page.locator(".jp-DirListing-item", has_text="01_the_first_tape").dblclick()
    notebook = page.locator(".jp-Notebook:visible")
    expect(notebook.locator(".jp-CodeCell", has_text='check("01.1"')).to_contain_text("answer = 12.0", timeout=PATIENCE)
    other.close()


TAKEN = "window.taken = 1"
HOSTILE = {
    "cells": [
        {
            "cell_type": "markdown",
            "id": "m",
            "metadata": {},
            "source": f'<img src="x" onerror="{TAKEN}"><script>{TAKEN}</script>here',
        },
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"trusted": True},
            "execution_count": 1,
            "source": "import js\njs.fetch('https://example.com/')",
            "outputs": [
                {"output_type": "display_data", "metadata": {}, "data": {kind: text}}
                for kind, text in {
                    "text/html": f'<img src="x" onerror="{TAKEN}"><script>{TAKEN}</script>',
                    "application/javascript": TAKEN,
                    "image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg" onload="{TAKEN}"/>',
                }.items()
            ],
        },
    ],
    "metadata": {"kernelspec": {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_a_hostile_notebook_runs_nothing_when_it_is_opened(site, fresh, tmp_path):
    (tmp_path / "hostile.ipynb").write_text(json.dumps(HOSTILE))
    page = fresh.new_page()
    page.goto(f"{site}/lab/index.html")
    with page.expect_file_chooser() as chooser:
        page.locator("[title*='Upload']").first.click(timeout=PATIENCE)
    chooser.value.set_files(tmp_path / "hostile.ipynb")
    page.locator(".jp-DirListing-item", has_text="hostile").dblclick(timeout=PATIENCE)
    page.locator(".jp-MarkdownOutput", has_text="here").wait_for(timeout=PATIENCE)
    page.wait_for_timeout(1000)
    assert page.evaluate("window.taken") is None  # An outgoing request would fail the test when the browser closes.
