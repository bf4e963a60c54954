"""The page of `minitape class --html`: how far a class is, and which exercise stops it. Complete in itself, without
scripts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from .figures import Class, ExerciseFigures, LearnerFigures
from .handins import HandIn
from .html_page import header_cells, page
from .messages import column_names, say

Part = tuple[str, int, str]
"""A part of a bar: its class in STYLE, the number of its learners, and what they did."""


def as_page(figures: Class, hand_ins: Sequence[HandIn]) -> str:
    """The page as text."""
    sections = [
        _section(say("How far is the class?"), say(LESSON_KEY), _lessons(figures)),
        _section(say("Which exercise stops them?"), say(EXERCISE_KEY), _exercises(figures)),
        _section(
            say("Each learner"),
            say("Exercises solved in each lesson; the fuller the cell, the more of them."),
            _learners(figures),
        ),
    ]
    problems = [(h.learner, path, why) for h in hand_ins for path, why in h.problems]
    if problems:
        rows = "".join(f"<li>{escape(who)}: {escape(path)} {escape(why)}</li>" for who, path, why in problems)
        unread = say("These files could not be read.")
        sections.append(_section(say("Not counted"), unread, [f"<ul>{rows}</ul>"]))
    return page(say("A class"), STYLE, summary(figures), "\n".join(sections))


def summary(figures: Class) -> str:
    """One sentence: how many learners and exercises there are, and how much is solved.

    >>> summary(Class({}, [], [], [LearnerFigures("ann", {}, 0, 0, 0.0)]))
    '1 learner: no exercise is answered yet.'

    >>> summary(Class({"01": ["01.1", "01.2"]}, [], [], [LearnerFigures("ann", {"01": 1}, 3, 1, 4.0)]))
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


def _section(title: str, about: str, lines: Iterator[str] | list[str]) -> str:
    return f"<section><h2>{title}</h2>\n<p>{about}</p>\n{''.join(lines)}</section>"


def _bar(parts: Sequence[Part]) -> str:
    """A bar of parts, each as long as it has learners, with its number in it."""
    of = max(sum(number for _, number, _ in parts), 1)
    told = say(", ").join(f"{number} {what}" for _, number, what in parts if number)
    boxes = "".join(
        f"<i class='{kind}' style='width:{100 * number / of:.2f}%'>{number if 12 * number >= of else ''}</i>"
        for kind, number, _ in parts
        if number
    )
    return f"<div class='bar' role='img' aria-label='{escape(told)}' title='{escape(told)}'>{boxes}</div>"


def _lessons(figures: Class) -> Iterator[str]:
    yield "<table class='bars'>"
    for lesson in figures.by_lesson:
        parts = [
            ("first", lesson.done, say("finished")),
            ("stuck", lesson.begun, say("begun")),
            ("not", lesson.untouched, say("not begun")),
        ]
        yield f"<tr><th>{escape(lesson.name)}</th><td>{_bar(parts)}</td></tr>"
    yield "</table>"


def _exercises(figures: Class) -> Iterator[str]:
    names = column_names("exercise", "learners", "tries", "minutes", "the commonest wrong answer")
    yield f"<table class='bars'><tr>{header_cells(*names)}</tr>"
    hardest = max((exercise.stuck for exercise in figures.by_exercise), default=0)
    for exercise in figures.by_exercise:
        mark = " class='hardest'" if exercise.stuck == hardest > 0 else ""
        yield f"<tr{mark}><th>{escape(exercise.name)}</th><td>{_bar(parts_of(exercise))}</td>"
        yield f"<td>{number(exercise.tries)}</td><td>{number(exercise.minutes)}</td><td>{_wrong(exercise)}</td></tr>\n"
    yield "</table>"


def parts_of(exercise: ExerciseFigures) -> list[Part]:
    """The parts of an exercise's bar."""
    return [
        ("first", exercise.first_try, say("right at the first try")),
        ("later", exercise.later, say("solved")),
        ("stuck", exercise.stuck, say("answered, not right yet")),
        ("not", exercise.untried, say("no answer")),
    ]


def number(value: float | None) -> str:
    """A median as text, a dash where it is not known.

    >>> number(2.0), number(2.5), number(None)
    ('2', '2.5', '-')
    """
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def _wrong(exercise: ExerciseFigures) -> str:
    wrong = exercise.wrong
    if wrong is None:
        return ""
    return f"<code>{escape(wrong.answer)}</code> ({wrong.learners}) <small>{escape(wrong.hint)}</small>"


def _learners(figures: Class) -> Iterator[str]:
    names = *column_names("learner"), *figures.lessons, *column_names("solved", "1st try", "tries", "minutes")
    yield f"<div class='wide'><table class='learners'><tr>{header_cells(*names)}</tr>"
    for learner in figures.by_learner:
        yield f"<tr><th>{escape(learner.learner)}</th>{_cells(learner, figures)}<td>{learner.all_solved}</td>"
        yield f"<td>{learner.first_try}</td><td>{learner.tries}</td><td>{learner.minutes:.0f}</td></tr>\n"
    yield "</table></div>"


def _cells(learner: LearnerFigures, figures: Class) -> str:
    return "".join(
        "<td class='share' "
        f"style='--share:{100 * learner.solved[lesson] // max(len(names), 1)}%'>"
        f"{learner.solved[lesson]}/{len(names)}</td>"
        for lesson, names in figures.lessons.items()
    )


LESSON_KEY = (
    "Learners who <i class='first'>finished</i> all exercises of a lesson, have <i class='stuck'>begun</i>, or have "
    "<i class='not'>not begun</i>."
)
EXERCISE_KEY = (
    "Learners who were <i class='first'>right at the first try</i>, <i class='later'>solved it later</i> (or it "
    "is not known when), are <i class='stuck'>not right yet</i>, or gave <i class='not'>no answer</i>. The exercise "
    "with the most who are not right yet is framed. Tries and minutes are medians over those who solved it."
)

STYLE = """
h2 { font-size: 1.2rem; }
td, th { padding: 0.15rem 0.5rem; font-weight: normal; }
.bars { width: 100%; }
.bars th:first-child { width: 4.5rem; }
.bars td:nth-child(2):not(:last-child) { width: 45%; }
.bars tr > td:nth-child(n + 5) { overflow-wrap: anywhere; }
.bar { display: flex; height: 1.5rem; min-width: 8rem; border-radius: 0.3rem; overflow: hidden; }
.bar i { font-size: 0.8rem; text-align: center; line-height: 1.5rem; }
i { font-style: normal; border-radius: 0.2rem; padding: 0 0.2rem; }
.bar i { border-radius: 0; padding: 0; min-width: 2px; overflow: hidden; }
.first { background: #1a7f37; color: white; }
.later { background: light-dark(#9ad0a5, #2f5f3b); color: light-dark(black, white); }
.stuck { background: light-dark(#f2b84b, #b07400); color: black; }
.not { background: light-dark(#e4e4e4, #3a3a3a); color: light-dark(black, white); }
.hardest { outline: 2px solid light-dark(#b36b00, #f2b84b); }
.wide { overflow-x: auto; }
.learners th:first-child { position: sticky; left: 0; background: Canvas; white-space: nowrap; }
.learners td { text-align: right; white-space: nowrap; }
.share { background: color-mix(in srgb, light-dark(#9ad0a5, #2f5f3b) var(--share), transparent); }
@media (max-width: 40rem) {
  .bars, .bars tbody { display: block; }
  .bars tr { display: grid; grid-template-columns: 4.5rem 1fr 3rem 4.5rem; }
  .bars tr > td:nth-child(2):not(:last-child) { width: auto; }
  .bars tr > :nth-child(5) { grid-column: 1 / -1; }
  .bar { min-width: 0; }
}
"""
