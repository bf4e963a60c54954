"""Run the cells of a lesson's web page, with Python in the reader's browser.

The worker of the page sends each cell's code to `PageCells.run_cell` and receives JSON. The page shows printed text as
text and everything else in frames, so nothing that a program prints or draws becomes part of the page itself.
"""

from __future__ import annotations

import json
import tempfile
import traceback
from pathlib import Path

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

from minitape.common.read_data import read_text

from .lesson_views import VIEW_KEY, View, capture_shown_views, write_view_for_frame

MAX_PRINTED_LETTERS = 20_000  # The page shows at most this many letters of what a cell prints.


class PageCells:
    r"""The cells of one page, which share their variables.

    >>> cells = PageCells()
    >>> cells.run_cell("x = 6.0")
    '{"text": "", "frames": [], "has_failed": false}'
    >>> json.loads(cells.run_cell("print(x)"))["text"]
    '6.0\n'
    """

    def __init__(self) -> None:
        """Set up IPython's shell for a page, so that nothing reports errors or widgets elsewhere."""
        shell = InteractiveShell.instance()
        shell._showtraceback = lambda *error: None  # type: ignore[method-assign]  # `run_cell` returns the error.
        # JupyterLite's shell calls this function, which its notebooks set, for the messages of widgets.
        shell.send_comm = lambda *message: None  # type: ignore[attr-defined]
        self._shell = shell
        self._shown_views = capture_shown_views(shell)

    def run_cell(self, code: str) -> str:
        """Run a cell and return what it shows.

        Args:
            code: The source text of the cell.

        Returns:
            JSON with the "text" that the cell printed, an HTML page for each of its "frames", and "has_failed".
        """
        self._shown_views.clear()
        with capture_output() as captured:
            self._shell.display_trap.hook = CapturingDisplayHook(shell=self._shell, outputs=captured._outputs)
            result = self._shell.run_cell(code, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        texts, frames = [captured.stdout, captured.stderr], []
        for output in captured.outputs:
            text, html = _read_output(output)
            if html:
                frames.append(html)
            elif text:
                texts.append(f"{text}\n")
        frames += map(_build_view_page, self._shown_views)
        if error is not None:
            texts.append(_format_error(error))
        answer = {"text": "".join(texts)[:MAX_PRINTED_LETTERS], "frames": frames, "has_failed": error is not None}
        return json.dumps(answer)


def _read_output(output: RichOutput) -> tuple[str, str]:
    """Return the text and the HTML of an output.

    Both are empty for views, which have their own frames, and for the answers to predictions, which are Markdown and
    are already on the page.
    """
    if VIEW_KEY in output.metadata or "text/markdown" in output.data:
        return "", ""
    return str(output.data.get("text/plain", "")), str(output.data.get("text/html", ""))


def _build_view_page(view: View) -> str:
    """Build the HTML page of a view."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "view.html")
        write_view_for_frame(view, path)
        return read_text(path)


def _format_error(error: BaseException) -> str:
    """Format an error with the lines of the page's cells, which exist in no file."""
    report = traceback.TracebackException.from_exception(error)
    report.stack[:] = [frame for frame in report.stack if frame.filename.startswith("<ipython-input-")]
    return "".join(report.format(chain=False))
