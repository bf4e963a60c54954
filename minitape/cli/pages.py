"""Lessons as pages: what nbconvert, and with it JupyterLab's "Save and Export Notebook As", does not do by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert.preprocessors import Preprocessor

from ..common.texts import language
from .contents import is_minitapes
from .rules import is_answers, is_folded

if TYPE_CHECKING:
    from .rules import Cell, Notebook

LINK = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?=[#)])")


class LessonPage(Preprocessor):
    """Answers are left out, folded code stays folded, links from one notebook of minitape's to another lead to the
    other's page, which says in what language it is.

    >>> from nbformat.v4 import new_markdown_cell
    >>> cell = new_markdown_cell("A [tape](glossary.ipynb#cell-id=tape) of [lesson 2](02_inside_the_tape.ipynb).")
    >>> LessonPage().preprocess_cell(cell, {}, 0)[0].source
    'A [tape](glossary.html#cell-id=tape) of [lesson 2](02_inside_the_tape.html).'
    >>> from nbformat.v4 import new_code_cell, new_output
    >>> told = new_output("display_data", {"text/markdown": "A [path](glossary.ipynb#cell-id=path)."})
    >>> LessonPage().preprocess_cell(new_code_cell(outputs=[told]), {}, 0)[0].outputs[0].data["text/markdown"]
    'A [path](glossary.html#cell-id=path).'
    """

    def preprocess(self, nb: Notebook, resources: dict[str, Any]) -> tuple[Notebook, object]:  # of nbconvert's, by name
        """The notebook without answers, and with its links changed; one that has nothing to do with minitape stays as
        it is.
        """
        if not is_minitapes(nb):
            return nb, resources
        nb.cells = [cell for cell in nb.cells if not is_answers(cell)]
        resources["language_code"] = language(Path(resources.get("metadata", {}).get("path") or "."))
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell: Cell, resources: object, index: int) -> tuple[Cell, object]:
        """The cell with its links changed, also where a prediction is explained; without its code where that is
        folded.
        """
        if is_folded(cell):
            cell.transient = {"remove_source": True}
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1.html", cell.source)
        for output in cell.get("outputs", ()):
            if "text/markdown" in output.get("data", {}):
                output.data["text/markdown"] = LINK.sub(r"\1.html", "".join(output.data["text/markdown"]))
        return cell, resources
