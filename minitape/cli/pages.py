"""Lessons as pages: what nbconvert, and with it JupyterLab's "Save and Export Notebook As", does not do by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nbconvert.preprocessors import Preprocessor

from .contents import is_minitapes

if TYPE_CHECKING:
    from .rules import Cell, Notebook

LINK = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?=[#)])")


class Links(Preprocessor):
    """Links from one notebook of minitape's to another lead from its page to the other's page.

    >>> from nbformat.v4 import new_markdown_cell
    >>> cell = new_markdown_cell("A [tape](glossary.ipynb#cell-id=tape) of [lesson 2](02_inside_the_tape.ipynb).")
    >>> Links().preprocess_cell(cell, {}, 0)[0].source
    'A [tape](glossary.html#cell-id=tape) of [lesson 2](02_inside_the_tape.html).'
    """

    def preprocess(self, nb: Notebook, resources: object) -> tuple[Notebook, object]:
        """The notebook with its links changed; one that has nothing to do with minitape stays as it is."""
        return super().preprocess(nb, resources) if is_minitapes(nb) else (nb, resources)

    def preprocess_cell(self, cell: Cell, resources: object, index: int) -> tuple[Cell, object]:
        """The cell with its links changed; code stays as it is."""
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1.html", cell.source)
        return cell, resources
