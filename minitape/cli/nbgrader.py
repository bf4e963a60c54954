"""Implement `minitape export --nbgrader`, which writes a lesson as an assignment for nbgrader.

Each exercise keeps the code that it gives to learners. It is followed by a grade cell, which fails until the answer is
right. Only the teacher's version contains the folded solutions.
"""

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from nbformat.v4 import new_code_cell

from ..common.atomic_write import write_file as write_file
from ..common.read_data import read_text
from ..engine.types import JsonObject, OptionalText
from .lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files
from .messages import create_failed_action_error, create_usage_error, say
from .notebook_rules import Cell, find_solution_code, has_answers, is_exercise
from .save import clean_notebook, read_notebook, write_notebook

SETTINGS_FILE = "nbgrader_config.py"
STUB_SETTING = 'c.ClearSolutions.code_stub = {"python": "# Your answer goes into the cell above this line."}'
RESTORE_SETTING = """c.Autograde.sanitize_preprocessors = [
    *(f"nbgrader.preprocessors.{name}" for name in ("ClearOutput", "DeduplicateIds", "OverwriteKernelspec")),
    "minitape.cli.grading.RestoredCells", "nbgrader.preprocessors.CheckCellMetadata",
]"""
SETTINGS_TEXT = f"""\
c = get_config()  # noqa

# This text replaces a solution. nbgrader's own stub would raise an error, but here the cell still contains its "...".
{STUB_SETTING}

# If a notebook was handed in without its grade cells, such as a notebook from minitape-lessons, nbgrader inserts them \
again, with a note in each of them.
{RESTORE_SETTING}
"""
SOLVED_TEMPLATE = "{given}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
GRADE_TEMPLATE = (
    'from minitape.course import is_right\n\nassert is_right("{name}", {answer}), "Exercise {name} is not right yet."'
)
HIDDEN_TESTS_TEMPLATE = (
    "### BEGIN HIDDEN TESTS\nfrom minitape.course import Exercise, Mistake, "
    "add_exercise\n\n{key}\n\n{grade}\n### END HIDDEN TESTS"
)


@dataclass(frozen=True)
class CheckCall:
    """A call to `check` in an exercise cell.

    Attributes:
        name: The name of the exercise.
        answer: The source code of the answer.
        first_line: The number of the call's first line, counted from 1.
        last_line: The number of the call's last line.
    """

    name: str
    answer: str
    first_line: int
    last_line: int


def export_lesson(lesson: str, course_folder: Path, language: OptionalText = None) -> tuple[Path, int]:
    """Write a lesson as an assignment.

    Args:
        lesson: The number of a course lesson, or the path of a notebook.
        course_folder: nbgrader's course folder.
        language: The language of the course's lessons. None means English.

    Returns:
        The assignment's notebook and the number of its graded exercises.

    Raises:
        click.ClickException: If the lesson does not exist, cannot be read or has no exercises, or if the assignment
            already exists.
    """
    path = find_lesson_notebook(lesson, language)
    target = course_folder / "source" / path.stem / path.name
    if target.exists():
        raise create_failed_action_error("{path} already exists; delete it to export the lesson again", path=target)
    notebook = read_notebook(path)
    notebook.cells = list(_iter_assignment_cells(notebook.cells, str(path)))
    count = sum(cell.metadata.get("nbgrader", {}).get("grade", False) for cell in notebook.cells)
    if not count:
        raise create_failed_action_error(
            "{path} has no exercises, because no cell with the tag exercise calls check", path=path
        )
    clean_notebook(notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_notebook(notebook, target)
    return target, count


def find_lesson_notebook(lesson: str, language: OptionalText = None) -> Path:
    """Find the notebook of a lesson.

    >>> find_lesson_notebook("1").name
    '01_the_first_tape.ipynb'

    Args:
        lesson: The path of a notebook, the number of a course lesson, or "appendix".
        language: The language of the course's lessons. None means English.

    Returns:
        The path of the notebook.

    Raises:
        click.UsageError: If the lesson does not exist.
    """
    notebook_path = lesson if Path(lesson).suffix == ".ipynb" and Path(lesson).is_file() else None
    folder = find_lessons_folder(language, notebook_path)
    if notebook_path:
        return Path(notebook_path)
    path_by_lesson = {
        get_exercise_prefix(path): path for path in list_notebook_files(folder) if get_exercise_prefix(path)
    }
    lesson_path = path_by_lesson.get(f"{int(lesson):02d}" if lesson.isdigit() else lesson)
    if lesson_path is None:
        raise create_usage_error(
            "{lesson} is neither a notebook nor the number of a lesson ({numbers})",
            lesson=lesson,
            numbers=", ".join(path_by_lesson),
        )
    return lesson_path


def write_settings_or_find_missing_lines(course_folder: Path) -> OptionalText:
    """Write nbgrader's settings unless the course already has settings.

    Args:
        course_folder: nbgrader's course folder.

    Returns:
        The lines that are missing from existing settings, or None if no line is missing.
    """
    path = course_folder / SETTINGS_FILE
    if not path.exists():
        write_file(path, SETTINGS_TEXT)
        return None
    text = read_text(path)
    markers = (("code_stub", STUB_SETTING), ("RestoredCells", RESTORE_SETTING))
    missing_lines = [line for marker, line in markers if marker not in text]
    return "\n".join(missing_lines) or None


def _iter_assignment_cells(cells: list[Cell], notebook_name: str) -> Iterator[Cell]:
    """Yield the cells of the assignment.

    If a lesson includes its own answers, they are hidden in the grade cells.
    """
    answer_code = "\n\n".join(cell.source for cell in cells if cell.cell_type == "code" and has_answers(cell))
    for cell_index, cell in enumerate(cells):
        if is_exercise(cell):
            yield from _iter_answer_and_grade_cells(
                cell, find_solution_code(cells, cell_index), answer_code, notebook_name
            )
        elif not has_answers(cell):
            yield cell


def _iter_answer_and_grade_cells(
    exercise_cell: Cell, solution: OptionalText, answer_code: str, notebook_name: str
) -> Iterator[Cell]:
    """Yield the answer cell, and a grade cell for each call to `check`."""
    checks = list(iter_check_calls(exercise_cell.source))
    if solution is None or not checks:
        problem = "does not call check(NAME, ANSWER)" if solution is not None else "has no solution"
        raise create_failed_action_error(
            "{path}: the exercise that begins with {source!r} {missing}; run minitape check for details",
            path=notebook_name,
            source=exercise_cell.source[:40],
            missing=say(problem),
        )
    answer_cell = deepcopy(exercise_cell)
    given_code = exercise_cell.source
    solved_code = solution
    if answer_code:
        given_code = _remove_check_calls(given_code)
        solved_code = _remove_check_calls(solved_code)
    answer_cell.source = SOLVED_TEMPLATE.format(given=given_code, solution=solved_code)
    answer_cell.outputs = []
    answer_cell.execution_count = None
    answer_cell.metadata["nbgrader"] = _build_nbgrader_metadata(f"exercise-{to_nbgrader_id(checks[0])}", is_grade=False)
    yield answer_cell
    for check in checks:
        grade_code = GRADE_TEMPLATE.format(name=check.name, answer=check.answer)
        source = HIDDEN_TESTS_TEMPLATE.format(key=answer_code, grade=grade_code) if answer_code else grade_code
        yield new_code_cell(
            source, metadata={"nbgrader": _build_nbgrader_metadata(f"grade-{to_nbgrader_id(check)}", is_grade=True)}
        )


def _build_nbgrader_metadata(grade_id: str, is_grade: bool) -> JsonObject:
    """Build the metadata that nbgrader defines for a grade cell, or else for the cell of a solution."""
    fields = {"grade_id": grade_id, "grade": is_grade, "locked": is_grade, "solution": not is_grade, "task": False}
    return {**fields, "schema_version": 3, **({"points": 1} if is_grade else {})}


def to_nbgrader_id(check_call: CheckCall) -> str:
    """Return the name of an exercise in the form that nbgrader accepts.

    Args:
        check_call: A call to `check` with the exercise's name.

    Returns:
        The name, with all characters except letters and digits replaced with "-".
    """
    return re.sub(r"[\W_]", "-", check_call.name)


def iter_check_calls(source: str) -> Iterator[CheckCall]:
    """Yield a cell's calls to `check` that are separate statements.

    Args:
        source: The cell's code. Cells with magics have no calls.

    Yields:
        The calls, in order.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # The cell contains a magic.
        return
    for statement in statements:
        match statement:
            case ast.Expr(ast.Call(ast.Name("check"), [ast.Constant(name), answer]) as call):
                answer_text = ast.get_source_segment(source, answer) or ast.unparse(answer)
                yield CheckCall(str(name), answer_text, call.lineno, call.end_lineno or call.lineno)


def _remove_check_calls(source: str) -> str:
    """Remove the calls to `check` from a cell, because exam takers have no answers to compare with."""
    checks = iter_check_calls(source)
    removed_lines = {line for check in checks for line in range(check.first_line, check.last_line + 1)}
    return "\n".join(line for n, line in enumerate(source.splitlines(), 1) if n not in removed_lines).rstrip()
