"""A step of nbgrader's grading, named in `nbgrader_config.py`: what was handed in without its grade cells gets them
back.

A learner who hands in the notebook of `minitape-lessons`, instead of the one that was released, has answered the same
exercises. Without this step nbgrader would give zero points for them, and say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbgrader import utils
from nbgrader.preprocessors import OverwriteCells

from .nbgrader import checks_of, id_of

if TYPE_CHECKING:
    from .rules import Cell, Notebook

NOTE = "This grade cell was missing in what was handed in, so it was put back: is it the notebook that was released?\n"


class RestoredCells(OverwriteCells):
    """Puts a missing grade cell behind the cell in which its exercise is answered, or at the end where there is
    none.
    """

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self.add_missing_cells, self.missing_cell_notification = True, NOTE

    def add_missing_grade_cells(self, nb: Notebook, resources: dict[str, dict[str, str]]) -> tuple[Notebook, object]:
        """The notebook with all grade cells of the assignment, and a warning that names the learner."""
        source = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        texts = {cell.name: cell for cell in source.source_cells}
        there = {cell.metadata.nbgrader["grade_id"] for cell in nb.cells if utils.is_grade(cell)}
        missing = [cell for cell in source.grade_cells if cell.name not in there]
        for cell in missing:
            place = next((n for n, other in enumerate(nb.cells) if _answers(other, cell.name)), len(nb.cells) - 1)
            nb.cells.insert(place + 1, self.missing_cell_transform(texts[cell.name], cell.max_score))
        if missing:
            student = resources["nbgrader"]["student"]
            names = ", ".join(cell.name for cell in missing)
            self.log.warning(
                f"{self.notebook_id} of {student} had no cells {names}: it is not the notebook that was released. "
                "They were put back."
            )
        return nb, resources


def _answers(cell: Cell, grade_id: str) -> bool:
    """Whether a learner's cell is the one in front of a grade cell."""
    if cell.cell_type != "code":
        return False
    own = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    checks = [id_of(check) for check in checks_of(cell.source)]
    return own == grade_id.replace("grade-", "exercise-", 1) or grade_id.removeprefix("grade-") in checks
