"""`check`: tell a learner whether an answer is right, and if not, what may have gone wrong."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from .compare import Comparison, as_array, compare, is_blank, kind, together
from .exercise import Exercise
from .progress import note_try

CORRECT = "correct"
NOT_ANSWERED = "not answered yet"
TRIES_BEFORE_TELLING = 3
LONGEST = 200
NO_RETURN = "Your function gives nothing back: write return before its result."
A_FUNCTION = "a function: its name, without brackets after it"
GREEN, BOLD, PLAIN = "\x1b[32m", "\x1b[1m", "\x1b[0m"
SAME = "Your program still gives what it gave at the start."

_added: dict[str, Exercise] = {}


def add_exercise(exercise: Exercise) -> None:
    """Make an exercise of your own known to `check`; one of the same name is replaced."""
    _added[exercise.name] = exercise


@cache
def own_lessons() -> frozenset[str]:
    """The course's own lessons that have exercises."""
    import minitape.course

    names = (module.name.partition("_") for module in pkgutil.iter_modules(minitape.course.__path__))
    return frozenset(lesson for first, _, lesson in names if first == "lesson")


def exercises_of(lesson: str) -> dict[str, Exercise]:
    """The exercises of a lesson by name: the course's own, and those added in this session."""
    own: Iterable[Exercise] = ()
    if lesson in own_lessons():  # a progress file names others, too
        own = importlib.import_module(f"minitape.course.lesson_{lesson}").EXERCISES
    added = (exercise for exercise in _added.values() if exercise.lesson == lesson)
    return {exercise.name: exercise for exercise in (*own, *added)}


def check(name: str, answer: Any = ...) -> None:
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


def feedback(name: str, answer: Any = ...) -> str:
    """What `check` prints, as text; the try is counted."""
    exercise = exercises_of(str(name).rpartition(".")[0]).get(str(name))
    if exercise is None:
        return _unknown(str(name))
    try:
        return _feedback(exercise, answer)
    except Exception as error:
        problem = f"your answer could not be compared: {type(error).__name__}: {error}"
        return _not_yet(exercise, [problem], exercise.hint)


def _unknown(name: str) -> str:
    known = ", ".join(exercises_of(name.rpartition(".")[0]))
    rest = f"This lesson has: {known}." if known else "A name looks like '01.2': lesson 01, exercise 2."
    return f"There is no exercise {name!r}. {rest}"


def _feedback(exercise: Exercise, answer: Any) -> str:
    if is_blank(answer) or answer is exercise.blank:
        return _blank(exercise)
    if exercise.cases:
        return _function_feedback(exercise, answer)
    given = answer
    if exercise.view is not None:
        try:
            answer = exercise.view(given)
        except Exception as error:
            note_try(exercise.name, False)
            why = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            return _not_yet(exercise, [f"{kind(given)} cannot be used here: {why}"], exercise.hint)
    comparison = _compare(exercise, answer)
    if comparison.approximate:
        return _right(exercise, comparison)
    tries = note_try(exercise.name, False)
    lines = [f"given:    {_show(given)}", f"expected: {_expected(exercise, tries)}", *_measures(comparison)]
    if kind(given) != kind(answer):  # it is not the thing itself that is compared
        lines.insert(1, f"of it:    {_show(answer)}")
    return _not_yet(exercise, lines, _hint(exercise, lambda mistake: _compare(exercise, answer, mistake)))


def _compare(exercise: Exercise, answer: Any, expected: Any = ...) -> Comparison:
    result = compare(answer, exercise.expect if expected is ... else expected, exercise.rtol, exercise.atol)
    if expected is ... and result.approximate and exercise.dtype is not None:
        given = np.asarray(as_array(answer)).dtype.name
        if given != exercise.dtype:
            return Comparison(False, False, problem=f"expected dtype {exercise.dtype}, got dtype {given}")
    return result


def _function_feedback(exercise: Exercise, answer: Any) -> str:
    """Call the learner's function on each case beside the right one; report the first case where they part."""
    if not callable(answer):
        note_try(exercise.name, False)
        return _not_yet(exercise, [f"given:    {_show(answer)}", f"expected: {A_FUNCTION}"], exercise.hint)
    source = _source(answer)
    if exercise.start and source and _same_program(source, exercise.start):
        return _blank(exercise)
    results = [_seen(exercise, *_call(answer, case)) for case in exercise.cases]
    expected = [exercise.expect(*case) for case in exercise.cases]
    empty = all(not error and (value is None or is_blank(value)) for value, error in results)
    if empty and not exercise.start and any(wanted is not None for wanted in expected) and _holds_dots(source):
        return _blank(exercise)
    parts = []
    for case, wanted, (value, error) in zip(exercise.cases, expected, results, strict=True):
        part = Comparison(False, False) if error else _compare(exercise, value, wanted)
        parts.append(part)
        if not part.approximate:
            if source and _holds_dots(source):
                return _blank(exercise)
            note_try(exercise.name, False)
            call = f"{getattr(answer, '__name__', 'f')}({', '.join(map(_show, case))})"
            lines = [f"given:    {call} {error or f'gives {_show(value)}'}", f"expected: {_show(wanted)}"]
            hint = _hint(exercise, lambda mistake: _same_on_all(exercise, results, mistake), source)
            if empty and hint == exercise.hint and not _gives_back(source):
                hint = NO_RETURN
            return _not_yet(exercise, [*lines, *_measures(part)], hint)
    return _right(exercise, together(parts))


def _seen(exercise: Exercise, value: Any, error: str) -> tuple[Any, str]:
    """What a function gave, through the exercise's view."""
    if exercise.view is None or error or value is None or is_blank(value):
        return value, error
    return _call(exercise.view, (value,))


def _same_program(source: str, other: str) -> bool:
    """Whether two programs differ in blanks and comments at most."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def _holds_dots(source: str) -> bool:
    """Whether a `...` still stands in a function's source; True also where that is out of reach."""
    nodes = ast.walk(ast.parse(source))
    return not source or any(isinstance(node, ast.Constant) and node.value is ... for node in nodes)


def _gives_back(source: str) -> bool:
    """Whether a function may give something back; True also where its source is out of reach."""
    returns = (
        isinstance(node, ast.Lambda) or (isinstance(node, ast.Return) and node.value)
        for node in ast.walk(ast.parse(source))
    )
    return not source or any(returns)


def _source(function: Callable[..., Any]) -> str:
    """A function's source, as Jupyter and Python keep it; nothing where it is out of reach."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        nodes = list(ast.walk(ast.parse(source)))
    except (OSError, TypeError, SyntaxError):
        return ""
    names = {"<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", None) for node in nodes}
    return source if function.__name__ in names else ""  # else the text of other code by the same file name


def _call(function: Callable[..., Any], case: tuple[Any, ...]) -> tuple[Any, str]:
    try:
        return function(*case), ""
    except Exception as error:
        return None, f"raises {type(error).__name__}: {error}"


def _same_on_all(exercise: Exercise, results: list[tuple[Any, str]], mistake: Callable[..., Any]) -> Comparison:
    """Whether the learner's function did on every case what this mistake does."""
    for case, (value, error) in zip(exercise.cases, results, strict=True):
        wanted, mistaken_error = _call(mistake, case)
        if bool(error) != bool(mistaken_error) or not (error or _compare(exercise, value, wanted).approximate):
            return Comparison(False, False)
    return Comparison(True, True)


def _hint(exercise: Exercise, compared: Callable[[Any], Comparison], source: str = "") -> str:
    """The hint of the first mistake that gives the same, and whose mark stands in the source."""
    made = (m for m in exercise.mistakes if not m.where or re.search(m.where, source))
    return next((m.hint for m in made if compared(m.answer).approximate), exercise.hint)


def _blank(exercise: Exercise) -> str:
    text = f"Exercise {exercise.name}: {NOT_ANSWERED}."
    if exercise.blank is not ... or exercise.start:
        return f"{text}\nChange the program, and run the cell again.\n{SAME}"
    text += "\nReplace the ... with your answer, and run the cell again."
    return f"{text}\n{SAME}" if exercise.cases else text


def _right(exercise: Exercise, comparison: Comparison) -> str:
    note_try(exercise.name, True)
    off = comparison.largest_difference
    close = [] if comparison.exact or not off else [f"  Close enough: the largest difference is {off:.2g}."]
    because = [exercise.because] if exercise.because else []
    return "\n".join([f"Exercise {exercise.name}: {CORRECT}.", *close, *because])


def _not_yet(exercise: Exercise, lines: list[str], hint: str) -> str:
    text = [f"Exercise {exercise.name}: not yet.", *(f"  {line}" for line in lines)]
    return "\n".join([*text, f"Hint: {hint}"] if hint else text)


def _measures(comparison: Comparison) -> list[str]:
    """How far a wrong answer is off, or why that cannot be said; and how much of a list or dict is right."""
    right, of = comparison.parts or (0, 0)
    count = [f"right: {right} of {of}"] if right < of else []
    only_text = comparison.largest_difference == 0 and not comparison.approximate
    if comparison.problem or comparison.largest_difference is None or only_text:
        return [comparison.problem, *count] if comparison.problem else count
    return [f"largest difference: {float(f'{comparison.largest_difference:.6g}')}", *count]


def _expected(exercise: Exercise, tries: int) -> str:
    """The expected answer's kind, and from the third try on the answer itself."""
    if tries >= TRIES_BEFORE_TELLING:
        return _show(exercise.expect)
    left = TRIES_BEFORE_TELLING - tries
    return f"{kind(exercise.expect)} (shown after {left} more {'try' if left == 1 else 'tries'})"


def _show(value: Any) -> str:
    value = as_array(value)
    text = str(value.item()) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
