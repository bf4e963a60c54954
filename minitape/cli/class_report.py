"""Format the output of `minitape class` for the terminal and as CSV."""

import csv
import re
import sys
from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..engine.types import OptionalFloat, PathSequence
from .class_figures import ClassFigures
from .handins import UNTRIED, HandIn, find_hand_in_files_by_learner, read_hand_ins
from .messages import say, translate_column_names
from .terminal_report import create_progress_bar

CSV_COLUMNS = "learner lesson exercise solved tries right_at seconds wrong_answers".split()
_NUMBER_PATTERN = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)?", re.IGNORECASE)


def read_hand_ins_with_progress_bar(folders: PathSequence) -> list[HandIn]:
    """Read the hand-ins in the given folders, with a progress bar if stderr is a terminal.

    Args:
        folders: The folders of a class or of individual learners (see `find_hand_in_files_by_learner`).

    Returns:
        One hand-in per learner, sorted by name.
    """
    files_by_learner = find_hand_in_files_by_learner(folders)
    with create_progress_bar() as progress_bar:
        task = progress_bar.add_task("reading", total=len(files_by_learner))
        return read_hand_ins(files_by_learner, lambda: progress_bar.advance(task))


def print_class_figures(figures: ClassFigures, hand_ins: Sequence[HandIn]) -> None:
    """Print tables of learners and exercises, a list of unreadable files, and a one-line summary.

    Args:
        figures: The figures of the class.
        hand_ins: The hand-ins, which list the unreadable files.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = sys.maxsize  # Another program may read the output, so each row must be a single line.
    console.print(_build_learner_table(figures))
    if figures.by_exercise:
        console.print(_build_exercise_table(figures))
    for hand_in in hand_ins:
        for path, reason in hand_in.problems:
            console.print(Text(say("not counted: {path} {why}", path=path, why=reason), style="red"), soft_wrap=True)
    console.print(Text(format_class_summary(figures), style="bold"))


def format_class_summary(figures: ClassFigures) -> str:
    """Summarize a class in one sentence.

    >>> from minitape.cli.class_figures import LearnerFigures
    >>> format_class_summary(ClassFigures({}, [], [LearnerFigures("ann", {}, 0, 0, 0.0)]))
    '1 learner: no exercise has been answered yet.'

    >>> format_class_summary(ClassFigures({"01": ["01.1", "01.2"]}, [], [LearnerFigures("ann", {"01": 1}, 3, 1, 4.0)]))
    '1 learner, 1 lesson, 2 exercises: 50% solved.'

    Args:
        figures: The figures of the class.

    Returns:
        The numbers of learners, lessons and exercises, and the percentage that is solved.
    """
    exercises = sum(map(len, figures.exercises_by_lesson.values()))
    solved = sum(learner.solved_count for learner in figures.by_learner)
    solved_share = solved / max(exercises * len(figures.by_learner), 1)
    phrases = [
        say(singular if n == 1 else plural, n=n)
        for n, singular, plural in (
            (len(figures.by_learner), "{n} learner", "{n} learners"),
            (len(figures.exercises_by_lesson), "{n} lesson", "{n} lessons"),
            (exercises, "{n} exercise", "{n} exercises"),
        )
    ]
    if not exercises:
        return say("{learners}: no exercise has been answered yet.", learners=phrases[0])
    return say("{counted}: {share:.0%} solved.", counted=say(", ").join(phrases), share=solved_share)


def format_median(value: OptionalFloat) -> str:
    """Format a median with at most one decimal.

    >>> format_median(2.0), format_median(2.5), format_median(None)
    ('2', '2.5', '-')

    Args:
        value: The median.

    Returns:
        The text, or a dash if the value is None.
    """
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def _create_table(*column_titles: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for title in column_titles:
        table.add_column(Text(title), justify="right" if table.columns else "left")
    return table


def _build_learner_table(figures: ClassFigures) -> Table:
    table = _create_table(
        *translate_column_names("learner"),
        *figures.exercises_by_lesson,
        *translate_column_names("solved", "1st try", "tries", "min"),
    )
    for learner in figures.by_learner:
        solved_parts = [
            f"{learner.solved_by_lesson[lesson]}/{len(names)}" for lesson, names in figures.exercises_by_lesson.items()
        ]
        cells = [
            learner.learner,
            *solved_parts,
            learner.solved_count,
            learner.first_try_count,
            learner.tries,
            round(learner.minutes),
        ]
        table.add_row(*(Text(str(cell)) for cell in cells))
    table.columns[0].no_wrap = True
    table.add_section()
    return table


def _build_exercise_table(figures: ClassFigures) -> Table:
    wrong_answer_title = "the most common wrong answer and its hint"
    table = _create_table(
        *translate_column_names(
            "exercise", "1st try", "later", "stuck", "no answer", "tries", "min", wrong_answer_title
        )
    )
    table.columns[-1].justify = "left"
    table.title = "\n"
    table.title_justify = "left"
    most_stuck = max((exercise.stuck_count for exercise in figures.by_exercise), default=0)
    for exercise in figures.by_exercise:
        counts = (exercise.first_try_count, exercise.later_try_count, exercise.stuck_count, exercise.untried_count)
        cells = [
            exercise.name,
            *counts,
            format_median(exercise.median_tries),
            format_median(exercise.median_minutes),
            exercise.commonest_wrong_answer,
        ]
        style = "bold yellow" if exercise.stuck_count == most_stuck > 0 else ""
        table.add_row(*(Text(str(cell)) for cell in cells), style=style)
    return table


def format_class_csv(figures: ClassFigures, hand_ins: Sequence[HandIn]) -> str:
    """Format the work of a class as CSV, with one row per learner and exercise.

    Args:
        figures: The figures of the class, which list the lessons and exercises.
        hand_ins: The hand-ins.

    Returns:
        The CSV text, with the header `CSV_COLUMNS`. Fields that are missing from a learner's files are left empty.
    """
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(CSV_COLUMNS)
    for hand_in in hand_ins:
        for lesson, names in figures.exercises_by_lesson.items():
            for name in names:
                record = hand_in.records.get(name, UNTRIED)
                row = [
                    hand_in.learner,
                    lesson,
                    name,
                    int(record.is_solved),
                    record.tries,
                    record.right_at,
                    record.seconds,
                ]
                writer.writerow(map(_escape_spreadsheet_formula, [*row, " | ".join(record.wrong_answers)]))
    return buffer.getvalue()


def _escape_spreadsheet_formula(cell: object) -> object:
    """Put an apostrophe in front of text that a spreadsheet would run as a formula. Numbers are left unchanged.

    >>> [_escape_spreadsheet_formula(cell) for cell in ("=HYPERLINK(1)", "-1.0", 3)]
    ["'=HYPERLINK(1)", '-1.0', 3]
    """
    is_formula = (
        isinstance(cell, str)
        and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        and not _NUMBER_PATTERN.fullmatch(cell)
    )
    return f"'{cell}" if is_formula else cell
