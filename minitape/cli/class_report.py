"""`minitape class` on the terminal and as CSV."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .figures import Class
from .handins import HandIn, find, read
from .messages import column_names, say
from .report import bar

COLUMNS = "learner lesson exercise solved tries right_at seconds wrong_answers".split()
_NUMBER = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)?", re.IGNORECASE)


def read_with_progress(folders: Sequence[Path]) -> list[HandIn]:
    """Read what lies in the folders, with a progress bar on stderr (none where stderr is no terminal)."""
    found = find(folders)
    with bar(Console(stderr=True)) as shown:
        task = shown.add_task("reading", total=len(found))
        return read(found, lambda learner: shown.update(task, advance=1))


def print_class(figures: Class, hand_ins: Sequence[HandIn]) -> None:
    """Print the learners, the exercises, one line of summary, and the files that could not be read."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = sys.maxsize  # a program that reads it wants a row in a line
    console.print(_learners(figures))
    if figures.by_exercise:
        console.print(_exercises(figures))
    for hand_in in hand_ins:
        for path, why in hand_in.problems:
            console.print(Text(say("not counted: {path} {why}", path=path, why=why), style="red"), soft_wrap=True)
    console.print(Text(summary(figures), style="bold"))


def summary(figures: Class) -> str:
    """One sentence: how many learners and exercises there are, and how much is solved.

    >>> from minitape.cli.figures import LearnerFigures
    >>> summary(Class({}, [], [LearnerFigures("ann", {}, 0, 0, 0.0)]))
    '1 learner: no exercise is answered yet.'

    >>> summary(Class({"01": ["01.1", "01.2"]}, [], [LearnerFigures("ann", {"01": 1}, 3, 1, 4.0)]))
    '1 learner, 1 lesson, 2 exercises: 50% solved.'
    """
    exercises = sum(map(len, figures.lessons.values()))
    solved = sum(learner.all_solved for learner in figures.by_learner)
    share = solved / max(exercises * len(figures.by_learner), 1)
    words = [
        say(one if n == 1 else several, n=n)
        for n, one, several in (
            (len(figures.by_learner), "{n} learner", "{n} learners"),
            (len(figures.lessons), "{n} lesson", "{n} lessons"),
            (exercises, "{n} exercise", "{n} exercises"),
        )
    ]
    if not exercises:
        return say("{learners}: no exercise is answered yet.", learners=words[0])
    return say("{counted}: {share:.0%} solved.", counted=say(", ").join(words), share=share)


def number(value: float | None) -> str:
    """A median as text, a dash where it is not known.

    >>> number(2.0), number(2.5), number(None)
    ('2', '2.5', '-')
    """
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(Text(column), justify="right" if table.columns else "left")
    return table


def _learners(figures: Class) -> Table:
    table = _table(*column_names("learner"), *figures.lessons, *column_names("solved", "1st try", "tries", "min"))
    for learner in figures.by_learner:
        parts = [f"{learner.solved[lesson]}/{len(names)}" for lesson, names in figures.lessons.items()]
        cells = [learner.learner, *parts, learner.all_solved, learner.first_try, learner.tries, round(learner.minutes)]
        table.add_row(*(Text(str(cell)) for cell in cells))
    table.columns[0].no_wrap = True
    table.add_section()
    return table


def _exercises(figures: Class) -> Table:
    wrong = "the commonest wrong answer, and its hint"
    table = _table(*column_names("exercise", "1st try", "later", "stuck", "no answer", "tries", "min", wrong))
    table.columns[-1].justify = "left"
    table.title, table.title_justify = "\n", "left"
    hardest = max((exercise.stuck for exercise in figures.by_exercise), default=0)
    for exercise in figures.by_exercise:
        counts = (exercise.first_try, exercise.later, exercise.stuck, exercise.untried)
        cells = [exercise.name, *counts, number(exercise.tries), number(exercise.minutes), exercise.wrong or ""]
        style = "bold yellow" if exercise.stuck == hardest > 0 else ""
        table.add_row(*(Text(str(cell)) for cell in cells), style=style)
    return table


def as_csv(figures: Class, hand_ins: Sequence[HandIn]) -> str:
    """A row for each learner and exercise; what a file does not say stays empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for hand_in in hand_ins:
        for lesson, names in figures.lessons.items():
            for name in names:
                work = hand_in.work.get(name)
                row: list[object] = [hand_in.learner, lesson, name, int(work is not None and work.solved)]
                if work is not None:
                    row += [work.tries, work.right_at, work.seconds, " | ".join(work.wrong)]
                writer.writerow([_harmless(cell) for cell in [*row, *[None] * (len(COLUMNS) - len(row))]])
    return text.getvalue()


def _harmless(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula.

    >>> _harmless("=HYPERLINK(1)"), _harmless("-1.0"), _harmless(3)
    ("'=HYPERLINK(1)", '-1.0', 3)
    """
    formula = (
        isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(cell)
    )
    return f"'{cell}" if formula else cell
