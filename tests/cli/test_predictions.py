"""While a prediction is open, the cells after the one that reveals its answer cannot be read."""

import re

import nbformat
import pytest

from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files

LESSONS = [path for path in list_notebook_files(find_lessons_folder()) if get_exercise_prefix(path)]
QUESTION = re.compile(r'\bpredict\(\s*"([^"]+)"')


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_question_is_followed_at_once_by_the_cell_that_tells_its_answer(path):
    """The veil starts at that cell."""
    cells = nbformat.read(path, as_version=4).cells
    asked = [(place, QUESTION.search(cell.source)) for place, cell in enumerate(cells) if cell.cell_type == "code"]
    questions = {found[1]: place for place, found in asked if found}
    assert questions
    for name, place in questions.items():
        assert re.search(rf'reveal\(\s*"{re.escape(name)}"', cells[place + 1].source), name
