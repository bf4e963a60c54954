"""`check`: tell a learner whether an answer is right, and if not, what may have gone wrong."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .compare import Comparison, as_array, compare, is_blank, kind, together
from .exercise import Exercise, exercises_of
from .progress import note_try
from .texts import cut, say

if TYPE_CHECKING:
    from ..engine.typed import Function
    from .exercise import Answer

CORRECT = "correct"
NOT_ANSWERED = "not answered yet"
NOT_YET = "not yet"
TRIES_BEFORE_TELLING = 3
LONGEST = 200
GREEN, BOLD, PLAIN = "\x1b[32m", "\x1b[1m", "\x1b[0m"


def check(name: str, answer: Answer = ...) -> None:
    """Print whether `answer` solves the exercise called `name`, and remember it in the learner's progress.

    A wrong answer is shown beside what was expected, with the largest difference and a hint. Whatever is handed in,
    nothing is raised.

    >>> check("no such exercise", 1)
    There is no exercise 'no such exercise'. A name looks like '01.2': lesson 01, exercise 2.
    """
    print(_in_colour(feedback(name, answer)))


def _in_colour(text: str) -> str:
    """In a notebook, the line that says whether an answer is right in bold, with a green mark if it is; else the text as it is.

    As saved, no lesson is answered, and that has no colour.
    """
    ipython = sys.modules.get("IPython")
    if ipython is None or type(ipython.get_ipython()).__name__ != "ZMQInteractiveShell":
        return text
    first, newline, rest = text.partition("\n")
    if first.endswith(f": {CORRECT}."):
        return f"{BOLD}{first}{PLAIN} {GREEN}✔{PLAIN}{newline}{rest}"
    return f"{BOLD}{first}{PLAIN}{newline}{rest}" if first.endswith(": not yet.") else text


def is_right(name: str, answer: Answer = ...) -> bool:
    """Whether `answer` solves the exercise called `name`. Nothing is printed, and nothing is counted: for a grade.

    Raises ValueError where there is no such exercise.

    >>> is_right("01.1", 12.0), is_right("01.1", 8.0), is_right("01.1", ...)
    (True, False, False)
    """
    return _judge(_exercise(name), answer).right is True


def feedback(name: str, answer: Answer = ...) -> str:
    """What `check` prints, as text; the try is counted."""
    try:
        exercise = _exercise(name)
    except ValueError as error:
        return str(error)
    verdict = _judge(exercise, answer)
    if verdict.right is None:
        return _blank(exercise)
    wrong = None if verdict.right else (verdict.given or verdict.measures[0], verdict.hint)
    tries = note_try(exercise.name, verdict.right, wrong)
    return _right(exercise, verdict) if verdict.right else _not_yet(exercise, verdict, tries)


@dataclass(frozen=True)
class Verdict:
    """What is to be said of an answer. `right` is None where there is none yet.

    `given` and `expected` are texts. Where `expected` is None, it is the exercise's answer, which is kept back at first.
    `of_it` is what was looked at, where that is not the answer itself.
    """

    right: bool | None
    measures: Sequence[str] = ()
    hint: str = ""
    given: str = ""
    expected: str | None = None
    of_it: str = ""


def _exercise(name: str) -> Exercise:
    exercise = exercises_of(str(name).rpartition(".")[0]).get(str(name))
    if exercise is None:
        raise ValueError(_unknown(str(name)))
    return exercise


def _unknown(name: str) -> str:
    known = ", ".join(exercises_of(name.rpartition(".")[0]))
    rest = f"This lesson has: {known}." if known else "A name looks like '01.2': lesson 01, exercise 2."
    return f"There is no exercise {name!r}. {rest}"


def _judge(exercise: Exercise, answer: Answer) -> Verdict:
    try:
        if is_blank(answer) or answer is exercise.blank:
            return Verdict(None)
        return _judge_function(exercise, answer) if exercise.cases else _judge_value(exercise, answer)
    except Exception as error:
        problem = say("your answer could not be compared: {why}", why=f"{type(error).__name__}: {error}")
        return Verdict(False, [problem], exercise.hint)


def _judge_value(exercise: Exercise, answer: Answer) -> Verdict:
    given = answer
    if exercise.view is not None:
        try:
            answer = exercise.view(given)
        except Exception as error:
            why = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            return Verdict(False, [say("{kind} cannot be used here: {why}", kind=kind(given), why=why)], exercise.hint)
    comparison = _compare(exercise, answer)
    if comparison.approximate:
        return Verdict(True, _close(comparison))
    hint = _hint(exercise, lambda mistake: _compare(exercise, answer, mistake))
    of_it = "" if kind(given) == kind(answer) else _show(answer)  # it is not the thing itself that is compared
    return Verdict(False, _measures(comparison), hint, _show(given), of_it=of_it)


def _compare(exercise: Exercise, answer: Answer, expected: Answer = ...) -> Comparison:
    result = compare(answer, exercise.expect if expected is ... else expected, exercise.rtol, exercise.atol)
    if expected is ... and result.approximate and exercise.dtype is not None:
        given = np.asarray(as_array(answer)).dtype.name
        if given != exercise.dtype:
            return Comparison(False, False, problem=say("expected dtype {dtype}, got dtype {given}", dtype=exercise.dtype, given=given))
    return result


def _judge_function(exercise: Exercise, answer: Answer) -> Verdict:
    """Call the learner's function on each case beside the right one; report the first case where they part."""
    if not callable(answer):
        return Verdict(False, [], exercise.hint, _show(answer), say("a function: its name, without brackets after it"))
    source = _source(answer)
    if exercise.start and source and _same_program(source, exercise.start):
        return Verdict(None)
    results = [_seen(exercise, *_call(answer, case)) for case in exercise.cases]
    expected = [exercise.expect(*case) for case in exercise.cases]
    empty = all(not error and (value is None or is_blank(value)) for value, error in results)
    if empty and not exercise.start and any(wanted is not None for wanted in expected) and _holds_dots(source):
        return Verdict(None)
    parts = []
    for case, wanted, (value, error) in zip(exercise.cases, expected, results, strict=True):
        part = Comparison(False, False) if error else _compare(exercise, value, wanted)
        parts.append(part)
        if not part.approximate:
            if source and _holds_dots(source):
                return Verdict(None)
            call = f"{getattr(answer, '__name__', 'f')}({', '.join(map(_show, case))})"
            hint = _hint(exercise, lambda mistake: _same_on_all(exercise, results, mistake), source)
            if empty and hint == exercise.hint and not _gives_back(source):
                hint = say("Your function gives nothing back: write return before its result.")
            return Verdict(False, _measures(part), hint, f"{call} {error or say('gives {value}', value=_show(value))}", _show(wanted))
    return Verdict(True, _close(together(parts)))


def _seen(exercise: Exercise, value: Answer, error: str) -> tuple[Answer, str]:
    """What a function gave, through the exercise's view."""
    if exercise.view is None or error or value is None or is_blank(value):
        return value, error
    return _call(exercise.view, (value,))


def _same_program(source: str, other: str) -> bool:
    """Whether two programs differ in blanks and comments at most."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def _holds_dots(source: str) -> bool:
    """Whether a `...` still stands in a function's source as a blank; True also where that is out of reach."""
    nodes = list(ast.walk(ast.parse(source)))
    asked = [part for node in nodes if isinstance(node, ast.Compare) for part in node.comparators]  # as in `y is ...`
    return not source or any(isinstance(node, ast.Constant) and node.value is ... and node not in asked for node in nodes)


def _gives_back(source: str) -> bool:
    """Whether a function may give something back; True also where its source is out of reach."""
    returns = (
        isinstance(node, ast.Lambda) or (isinstance(node, ast.Return) and node.value)
        for node in ast.walk(ast.parse(source))
    )
    return not source or any(returns)


def _source(function: Function) -> str:
    """A function's source, as Jupyter and Python keep it; nothing where it is out of reach."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        nodes = list(ast.walk(ast.parse(source)))
    except (OSError, TypeError, SyntaxError):
        return ""
    names = {"<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", None) for node in nodes}
    return source if function.__name__ in names else ""  # else the text of other code by the same file name


def _call(function: Function, case: tuple[Answer, ...]) -> tuple[Answer, str]:
    try:
        return function(*case), ""
    except Exception as error:
        return None, say("raises {error}", error=f"{type(error).__name__}: {error}")


def _same_on_all(exercise: Exercise, results: list[tuple[Answer, str]], mistake: Function) -> Comparison:
    """Whether the learner's function did on every case what this mistake does."""
    for case, (value, error) in zip(exercise.cases, results, strict=True):
        wanted, mistaken_error = _call(mistake, case)
        if bool(error) != bool(mistaken_error) or not (error or _compare(exercise, value, wanted).approximate):
            return Comparison(False, False)
    return Comparison(True, True)


def _hint(exercise: Exercise, compared: Callable[[Answer], Comparison], source: str = "") -> str:
    """The hint of the first mistake that gives the same, and whose mark stands in the source."""
    made = (m for m in exercise.mistakes if not m.where or re.search(m.where, source))
    return next((m.hint for m in made if compared(m.answer).approximate), exercise.hint)


def _blank(exercise: Exercise) -> str:
    text = f"Exercise {exercise.name}: {NOT_ANSWERED}."
    same = say("Your program still gives what it gave at the start.")
    if exercise.blank is not ... or exercise.start:
        return "\n".join([text, say("Change the program, and run the cell again."), same])
    text += "\n" + say("Replace the ... with your answer, and run the cell again.")
    return f"{text}\n{same}" if exercise.cases else text


def _close(comparison: Comparison) -> list[str]:
    """How far off an answer is that is right, where it is not exactly so."""
    off = comparison.largest_difference
    return [] if comparison.exact or not off else [say("Close enough: the largest difference is {off}.", off=f"{off:.2g}")]


def _right(exercise: Exercise, verdict: Verdict) -> str:
    lines = [f"Exercise {exercise.name}: {CORRECT}.", *(f"  {line}" for line in verdict.measures)]
    return "\n".join([*lines, say(exercise.because, exercise.lesson)] if exercise.because else lines)


def _not_yet(exercise: Exercise, verdict: Verdict, tries: int) -> str:
    lines = list(verdict.measures)
    if verdict.given:
        of_it = [f"{say('of it:')}    {verdict.of_it}"] if verdict.of_it else []
        lines[:0] = [f"given:    {verdict.given}", *of_it, f"expected: {verdict.expected or _expected(exercise, tries)}"]
    text = [f"Exercise {exercise.name}: {NOT_YET}.", *(f"  {line}" for line in lines)]
    return "\n".join([*text, f"Hint: {say(verdict.hint, exercise.lesson)}"] if verdict.hint else text)



def _measures(comparison: Comparison) -> list[str]:
    """How far a wrong answer is off, or why that cannot be said; and how much of a list or dict is right."""
    right, of = comparison.parts or (0, 0)
    count = [say("right: {right} of {of}", right=right, of=of)] if right < of else []
    only_text = comparison.largest_difference == 0 and not comparison.approximate
    if comparison.problem or comparison.largest_difference is None or only_text:
        return [comparison.problem, *count] if comparison.problem else count
    return [say("largest difference: {off}", off=float(f"{comparison.largest_difference:.6g}")), *count]


def _expected(exercise: Exercise, tries: int) -> str:
    """The expected answer's kind, and from the third try on the answer itself."""
    if tries >= TRIES_BEFORE_TELLING:
        return _show(exercise.expect)
    left = TRIES_BEFORE_TELLING - tries
    if left == 1:
        return say("{kind} (shown after 1 more try)", kind=kind(exercise.expect))
    return say("{kind} (shown after {left} more tries)", kind=kind(exercise.expect), left=left)


def _show(value: Answer) -> str:
    value = as_array(value)
    text = str(value.item()) if isinstance(value, np.generic) else repr(value)
    return cut(text, LONGEST)
