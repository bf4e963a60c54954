"""`check`: tell a learner whether an answer is right, and if not, what may have gone wrong."""

from __future__ import annotations

import sys
from dataclasses import replace

from ..common.notebook import running_notebook
from ..common.texts import paragraph, say
from .compare import kind
from .exercise import Answer, Exercise, exercises_of
from .judge import Verdict, judge, keys_in_words
from .playback import Playback
from .progress import hints_at, note_try, tries_at
from .shown import shown
from .trials import lines_of

CORRECT = "correct"
NOT_ANSWERED = "not answered yet"
NOT_YET = "not yet"
RIGHT, WRONG, BLANK = (f"Exercise {{name}}: {said}." for said in (CORRECT, NOT_YET, NOT_ANSWERED))
GIVEN, HINT = "given:    {value}", "Hint: {hint}"
MARKS = RIGHT, WRONG, BLANK, GIVEN, HINT
"""By what `minitape check` and `minitape class` read a saved notebook."""
TRIES_BEFORE_TELLING = 3
GREEN, BOLD, PLAIN = "\x1b[32m", "\x1b[1m", "\x1b[0m"


def check(name: str, answer: Answer = ...) -> None:
    """Print whether `answer` solves the exercise called `name`, and remember it in the learner's progress.

    A wrong answer is shown beside what was expected, with the largest difference and a hint: at first a question, then
    a pointer, then the line. A misspelled name, or a number in quotes, is told as such, and is no try. Whatever is
    handed in, nothing is raised.

    >>> check("no such exercise", 1)
    There is no exercise 'no such exercise'. A name looks like '01.2': lesson 01, exercise 2.
    """
    text, playback = _feedback_of(name, answer)
    print(_in_colour(text, name))
    if playback is not None and _in_notebook():
        sys.modules["IPython"].display.display(playback)


def _in_notebook() -> bool:
    return type(running_notebook()).__name__ == "ZMQInteractiveShell"


def _in_colour(text: str, name: str) -> str:
    """In a notebook, the line that says whether an answer is right in bold, with a green mark if it is; else the text
    as it is.

    As saved, no lesson is answered, and that has no colour.
    """
    first, newline, rest = text.partition("\n")
    marks = {say(RIGHT, name=name): f" {GREEN}✔{PLAIN}", say(WRONG, name=name): ""}
    marked = _in_notebook() and first in marks
    return f"{BOLD}{first}{PLAIN}{marks[first]}{newline}{rest}" if marked else text


def is_right(name: str, answer: Answer = ...) -> bool:
    """Whether `answer` solves the exercise called `name`. Nothing is printed, and nothing is counted: for a grade.

    Raises ValueError where there is no such exercise.

    >>> is_right("01.1", 12.0), is_right("01.1", 8.0), is_right("01.1", ...)
    (True, False, False)
    """
    return judge(_exercise(name), answer).right is True


def feedback(name: str, answer: Answer = ...) -> str:
    """What `check` prints, as text; the try is counted."""
    return _feedback_of(name, answer)[0]


def _feedback_of(name: str, answer: Answer) -> tuple[str, Playback | None]:
    """What `check` prints, and the tapes that it shows below."""
    try:
        exercise = _exercise(name)
    except ValueError as error:
        return str(error), None
    verdict = judge(exercise, answer)
    if verdict.right is None:
        return _blank(exercise, verdict.half_done), None
    if verdict.slip:
        return _not_yet(exercise, verdict, tries_at(exercise.name)), None
    own = exercise.hints[min(tries_at(exercise.name), len(exercise.hints) - 1)]
    told = say(verdict.hint, exercise.lesson)
    if not told or (
        not exercise.trials and any(hint.startswith(told) for hint in hints_at(exercise.name))
    ):  # it did not help: go on
        own = say(own, exercise.lesson)
        told = own if told in own else paragraph(told, own)
    verdict = replace(verdict, hint=told)
    wrong = None if verdict.right else (verdict.wrong or verdict.given or verdict.measures[0], verdict.hint)
    tries = note_try(exercise.name, wrong is None, wrong)
    text = _right(exercise, verdict) if verdict.right else _not_yet(exercise, verdict, tries)
    return text, verdict.playback


def _exercise(name: str) -> Exercise:
    exercise = exercises_of(str(name).rpartition(".")[0]).get(str(name))
    if exercise is None:
        raise ValueError(_unknown(str(name)))
    mistakes = [replace(mistake, answer=keys_in_words(exercise, mistake.answer)) for mistake in exercise.mistakes]
    return replace(exercise, expect=keys_in_words(exercise, exercise.expect), mistakes=mistakes)


def _unknown(name: str) -> str:
    known = ", ".join(exercises_of(name.rpartition(".")[0]))
    rest = (
        say("This lesson has: {known}.", known=known)
        if known
        else say("A name looks like '01.2': lesson 01, exercise 2.")
    )
    return paragraph(say("There is no exercise {name}.", name=repr(name)), rest)


def _blank(exercise: Exercise, half_done: bool) -> str:
    text = say(BLANK, name=exercise.name)
    same = say("Your program still gives what it gave at the start.")
    if not half_done and exercise.start:
        return "\n".join([text, say("Change the program, and run the cell again."), same])
    text += "\n" + say("Replace the ... with your answer, and run the cell again.")
    return "\n".join([text, *(f"  {line}" for line in lines_of([], exercise.trials))])


def _right(exercise: Exercise, verdict: Verdict) -> str:
    lines = [say(RIGHT, name=exercise.name), *(f"  {line}" for line in verdict.measures)]
    return "\n".join([*lines, say(exercise.because, exercise.lesson)] if exercise.because else lines)


def _not_yet(exercise: Exercise, verdict: Verdict, tries: int) -> str:
    kept_back = verdict.expected is None and tries < TRIES_BEFORE_TELLING
    lines = list(verdict.kept_back if kept_back and verdict.given else verdict.measures)
    if verdict.given:
        of_it = [say("of it:    {value}", value=verdict.of_it)] if verdict.of_it else []
        expected = say("expected: {value}", value=verdict.expected or _expected(exercise, tries))
        lines[:0] = [say(GIVEN, value=verdict.given), *of_it, expected]
    lines += [verdict.remark] if verdict.remark and verdict.remark not in lines else []
    text = [say(WRONG, name=exercise.name), *(f"  {line}" for line in lines)]
    return "\n".join([*text, say(HINT, hint=say(verdict.hint, exercise.lesson))] if verdict.hint else text)


def _expected(exercise: Exercise, tries: int) -> str:
    """The expected answer's kind, and from the third try on the answer itself."""
    if tries >= TRIES_BEFORE_TELLING:
        return shown(exercise.expect)
    left, asks = (
        TRIES_BEFORE_TELLING - tries,
        say(exercise.asks, exercise.lesson) if exercise.asks else kind(exercise.expect),
    )
    if left == 1:
        return say("{kind} (shown after 1 more try)", kind=asks)
    return say("{kind} (shown after {left} more tries)", kind=asks, left=left)
