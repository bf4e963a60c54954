"""`minitape export --nbgrader`: a lesson as an assignment of nbgrader, which hands out, collects and grades it.

Of each exercise the given part is kept. A grade cell is put behind it, which fails while the answer is wrong. The
folded solutions stay in the teacher's version only.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat.v4 import new_code_cell

from ..common.read_data import read_text
from ..common.write_beside import write as write_file
from .lessons import lesson_of, lessons_folder, notebooks_in
from .messages import failure, misuse, say
from .rules import is_answers, is_exercise, solution_of

if TYPE_CHECKING:
    from .rules import Cell
from .save import clean, read_notebook, write

SETTINGS = "nbgrader_config.py"
STUB = 'c.ClearSolutions.code_stub = {"python": "# Your answer goes into the cell above this line."}'
RESTORE = """c.Autograde.sanitize_preprocessors = [
    *(f"nbgrader.preprocessors.{name}" for name in ("ClearOutput", "DeduplicateIds", "OverwriteKernelspec")),
    "minitape.cli.grading.RestoredCells", "nbgrader.preprocessors.CheckCellMetadata",
]"""
SETTINGS_TEXT = f"""\
c = get_config()  # noqa

# What replaces a solution. nbgrader's own stub raises an error; here the cell still holds its "...".
{STUB}

# A notebook that was handed in without its grade cells, such as one of minitape-lessons, gets them back, and each of \
them says so.
{RESTORE}
"""
SOLVED = "{given}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
GRADE = (
    'from minitape.course import is_right\n\nassert is_right("{name}", {answer}), "Exercise {name} is not right yet."'
)
HIDDEN = (
    "### BEGIN HIDDEN TESTS\nfrom minitape.course import Exercise, Mistake, "
    "add_exercise\n\n{key}\n\n{grade}\n### END HIDDEN TESTS"
)


@dataclass(frozen=True)
class Check:
    """A call of `check` in an exercise's cell: the exercise's name, and the code of the answer."""

    name: str
    answer: str
    lines: tuple[int, int]


def export(lesson: str, course: Path, language: str | None = None) -> tuple[Path, int]:
    """Write a lesson to the folder `course` of nbgrader as an assignment; give back its notebook and its exercises'
    number.

    `lesson` is a number of the course's own, in a language, or a notebook.
    Raises click.ClickException where it is neither, cannot be read, has no exercises, or where the assignment exists
    already.
    """
    path = find_lesson(lesson, language)
    target = course / "source" / path.stem / path.name
    if target.exists():
        raise failure("{path} exists already; delete it to export the lesson anew", path=target)
    notebook = read_notebook(path)
    notebook.cells = list(_cells(notebook.cells, str(path)))
    count = sum(cell.metadata.get("nbgrader", {}).get("grade", False) for cell in notebook.cells)
    if not count:
        raise failure("{path} has no exercises: no cell tagged exercise calls check", path=path)
    clean(notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    write(notebook, target)
    return target, count


def find_lesson(lesson: str, language: str | None = None) -> Path:
    """The notebook that is meant: a file, or the number of a lesson of the course in a language; the appendix has a
    word.

    >>> find_lesson("1").name
    '01_the_first_tape.ipynb'
    """
    named = lesson if Path(lesson).suffix == ".ipynb" and Path(lesson).is_file() else None
    folder = lessons_folder(language, named)
    if named:
        return Path(named)
    own = {lesson_of(path): path for path in notebooks_in(folder) if lesson_of(path)}
    found = own.get(f"{int(lesson):02d}" if lesson.isdigit() else lesson)
    if found is None:
        raise misuse(
            "{lesson} is neither a notebook nor the number of a lesson ({numbers})",
            lesson=lesson,
            numbers=", ".join(own),
        )
    return found


def settings(course: Path) -> str | None:
    """Write nbgrader's settings where there are none; else give back the lines that are missing in them, if some
    are.
    """
    path = course / SETTINGS
    if path.exists():
        text = read_text(path)
        missing = [line for word, line in (("code_stub", STUB), ("RestoredCells", RESTORE)) if word not in text]
        return "\n".join(missing) or None
    write_file(path, SETTINGS_TEXT)
    return None


def _cells(cells: list[Cell], name: str) -> Iterator[Cell]:
    """The assignment's cells. A lesson that brings its own answers keeps them hidden: they move into the grade
    cells.
    """
    keys = [cell for cell in cells if cell.cell_type == "code" and is_answers(cell)]
    key = "\n\n".join(cell.source for cell in keys)
    for place, cell in enumerate(cells):
        if is_exercise(cell):
            yield from _exercise(cell, solution_of(cells, place), key, name)
        elif not is_answers(cell):
            yield cell


def _exercise(cell: Cell, solution: str | None, key: str, name: str) -> Iterator[Cell]:
    """The cell for the answer, and a cell for the grade of each call of `check` in it."""
    checks = list(checks_of(cell.source))
    if solution is None or not checks:
        missing = "calls no check(NAME, ANSWER)" if solution is not None else "has no solution"
        raise failure(
            "{path}: the exercise that begins {source!r} {missing}; see minitape check",
            path=name,
            source=cell.source[:40],
            missing=say(missing),
        )
    answer = copy.deepcopy(cell)
    given, solved = (_without(text, list(checks_of(text))) if key else text for text in (cell.source, solution))
    answer.source = SOLVED.format(given=given, solution=solved)
    answer.outputs, answer.execution_count = [], None
    answer.metadata["nbgrader"] = _metadata(f"exercise-{id_of(checks[0])}", solution=True)
    yield answer
    for check in checks:
        grade = GRADE.format(name=check.name, answer=check.answer)
        source = HIDDEN.format(key=key, grade=grade) if key else grade
        yield new_code_cell(source, metadata={"nbgrader": _metadata(f"grade-{id_of(check)}", grade=True)})


def _metadata(grade_id: str, grade: bool = False, solution: bool = False) -> dict[str, object]:
    """What nbgrader keeps with a cell; the words are its own."""
    kept = {"grade_id": grade_id, "grade": grade, "locked": grade, "solution": solution, "task": False}
    return {**kept, "schema_version": 3, **({"points": 1} if grade else {})}


def id_of(check: Check) -> str:
    """An exercise's name as nbgrader takes it."""
    return "".join(c if c.isalnum() else "-" for c in check.name)


def checks_of(source: str) -> Iterator[Check]:
    """The calls of `check` in a cell, each a statement of its own."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # a cell with a magic
        return
    for statement in statements:
        match statement:
            case ast.Expr(ast.Call(ast.Name("check"), [ast.Constant(name), answer]) as call):
                text = ast.get_source_segment(source, answer) or ast.unparse(answer)
                yield Check(str(name), text, (call.lineno, call.end_lineno or call.lineno))


def _without(source: str, checks: list[Check]) -> str:
    """A cell without its calls of `check`: who is examined has no answers to compare with."""
    left_out = {line for check in checks for line in range(check.lines[0], check.lines[1] + 1)}
    return "\n".join(line for n, line in enumerate(source.splitlines(), 1) if n not in left_out).rstrip()
