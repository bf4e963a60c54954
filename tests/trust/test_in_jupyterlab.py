"""In `minitape lab`, neither the saved outputs of a stranger's notebook nor the outputs of its programs run code."""

from pathlib import Path
from typing import Any

import pytest
from test_shown import HOSTILE, HOVER, MARKS, RUN

from tests.jupyterlab_page import Notebook, write_notebook

pytestmark = [pytest.mark.browser, pytest.mark.long]

SAVED = {
    "text/html": "{}",
    "image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=1'>{}<text>saved</text></svg>",
    "text/markdown": "{}",
    "text/latex": r"$\href{{javascript:window.hacked=1}}{{x}}\text{{{}}}$",
    "application/javascript": "window.hacked = 1",
    "application/vnd.jupyter.widget-view+json": {"model_id": RUN, "version_major": 2, "version_minor": 0},
    "text/plain": "{}",
}
"""Each kind of output that a notebook can have saved, with a place for a text."""
TRUSTED = {"trusted": True}  # The notebook claims this about itself.
SHOWS = f"""import minitape as tf
from minitape.course import check
from minitape_widgets import TapeView
from IPython.display import display
variables = [tf.Variable(1.0, name=text) for text in {HOSTILE!r}]
numbers = [tf.Variable(2, name=text) for text in {HOSTILE!r}]
with tf.GradientTape() as tape:
    y = tf.add_n(variables) * 2.0
display(tf.draw(tape, y, variables), tape, variables, TapeView(tape, y, variables))
display(*tape.explain(y, variables + numbers))  # JupyterLab shows 50 outputs of a cell
check("01.1", {RUN!r})
print("all", "shown")"""


def open_notebook(page: Any, start_lab: Any, path: Path, *cells: str | dict[str, Any]) -> Notebook:
    """Open a notebook with these cells."""
    write_notebook(path, *cells, title=RUN)
    return Notebook(page, start_lab(path.parent), path.stem)


def check_nothing_ran(page: Any) -> None:
    """Check that nothing ran or will run. JupyterLab turns a printed address into a link, which does no harm."""
    page.evaluate(HOVER)
    page.wait_for_timeout(200)  # Code might run with a delay.
    marks = [mark for mark in page.evaluate(MARKS) if not mark.startswith("href=http:")]
    assert (page.evaluate("window.hacked"), marks) == (None, [])


def test_what_a_notebook_has_saved_runs_nothing(start_lab, page, tmp_path):
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {kind: form.format(text) if isinstance(form, str) and "{}" in form else form},
        }
        for kind, form in SAVED.items()
        for text in HOSTILE
    ]
    outputs += [
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [f"\x1b[31m{text}"]} for text in HOSTILE
    ]
    outputs += [{"output_type": "stream", "name": "stdout", "text": text} for text in HOSTILE]
    text = {"cell_type": "markdown", "metadata": TRUSTED, "source": "\n\n".join(HOSTILE)}
    code = {"cell_type": "code", "metadata": TRUSTED, "source": "'saved'", "execution_count": None, "outputs": outputs}
    open_notebook(page, start_lab, tmp_path / "saved.ipynb", text, code)
    page.locator(".jp-CodeCell .jp-OutputArea-child").nth(30).wait_for(state="attached")
    check_nothing_ran(page)


def test_names_that_a_program_shows_run_nothing(start_lab, page, tmp_path):
    open_notebook(page, start_lab, tmp_path / "shown.ipynb", SHOWS).run_cell(0)
    page.locator(".jp-CodeCell .jp-OutputArea").get_by_text("all shown").wait_for(state="attached")
    page.locator(".mt-node").first.wait_for(state="attached")
    check_nothing_ran(page)
