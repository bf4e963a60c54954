"""Define a step in nbgrader's grading that restores missing grade cells. `nbgrader_config.py` refers to it.

A learner may hand in the notebook from `minitape-lessons` instead of the released notebook. That notebook has the same
exercises but no grade cells, so without this step nbgrader would silently award no points.
"""

from nbgrader import utils
from nbgrader.preprocessors import OverwriteCells

from ..engine.types import TextsByName
from .nbgrader import iter_check_calls, to_nbgrader_id
from .notebook_rules import Cell, Notebook

RESTORED_NOTE = (
    "This grade cell was missing in what was handed in, so it was put back: is it the notebook that was released?\n"
)


class RestoredCells(OverwriteCells):
    """A preprocessor that restores missing grade cells.

    Each grade cell is inserted after the cell that answers its exercise, or at the end if no cell does.
    """

    def __init__(self, **options: object):
        """Create the preprocessor with nbgrader's options and enable it.

        Args:
            **options: The options that nbgrader passes to its preprocessors.
        """
        super().__init__(**options)
        self.add_missing_cells = True
        self.missing_cell_notification = RESTORED_NOTE

    def add_missing_grade_cells(self, nb: Notebook, resources: dict[str, TextsByName]) -> tuple[Notebook, object]:
        """Insert missing grade cells into a notebook and log a warning with the learner's name.

        Args:
            nb: The notebook to change.
            resources: nbconvert's resources, which include the student's name.

        Returns:
            The notebook and the resources.
        """
        source = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        cells_by_name = {cell.name: cell for cell in source.source_cells}
        present_ids = {cell.metadata.nbgrader["grade_id"] for cell in nb.cells if utils.is_grade(cell)}
        missing_cells = [cell for cell in source.grade_cells if cell.name not in present_ids]
        for cell in missing_cells:
            cell_index = next(
                (n for n, answer_cell in enumerate(nb.cells) if _is_answer_cell_of_grade(answer_cell, cell.name)),
                len(nb.cells) - 1,
            )
            nb.cells.insert(cell_index + 1, self.missing_cell_transform(cells_by_name[cell.name], cell.max_score))
        if missing_cells:
            student = resources["nbgrader"]["student"]
            names = ", ".join(cell.name for cell in missing_cells)
            self.log.warning(
                f"{self.notebook_id} of {student} had no cells {names}: it is not the notebook that was released. "
                "They were put back."
            )
        return nb, resources


def _is_answer_cell_of_grade(cell: Cell, grade_id: str) -> bool:
    """Return whether a learner's cell contains the answer that belongs to the grade cell ``grade_id``."""
    if cell.cell_type != "code":
        return False
    own_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    check_ids = [to_nbgrader_id(check) for check in iter_check_calls(cell.source)]
    return own_id == grade_id.replace("grade-", "exercise-", 1) or grade_id.removeprefix("grade-") in check_ids
