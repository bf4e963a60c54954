"""A learner's function: how it is run on the cases of an exercise, and what it did where a result is wrong.

`hint_for` has the looks in their order: each says one thing, or "", and the first that says something is told. All of
them hold for every exercise; what is known of one alone, its mistakes and changes, stands in the lesson's answers.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..common.texts import say
from ..engine.recording import logs
from .call_log import Observed, Seen, ending, watching
from .compare import as_array, compare, is_blank
from .error_hints import told_of
from .exercise import Answer, Case, Exercise, Named, Program
from .hints import (
    content_of,
    in_common,
    of_one_part,
    parts_of,
    rearranged,
    returns_in_loop,
)
from .loop_hints import of_calls
from .playback import program_of, solution_of
from .program_text import names_at_end, of_text
from .shown import shown
from .unknown import UnknownFunction
from .variants import evidence, variants_of

NEAR = 0.01
FEW = 15  # questions to tapes


@contextmanager
def quietly() -> Iterator[None]:
    """A context for runs that the check makes itself: they print, warn and log nothing."""
    import logging  # seldom needed, as in minitape.engine.recording.logs

    logger = logging.getLogger("tensorflow")
    logger.disabled, before, logged = True, logger.disabled, logs._logged.copy()
    try:
        with redirect_stdout(None), np.errstate(all="ignore"):
            yield
    finally:
        logger.disabled, logs._logged = before, logged  # what nobody saw is not one of the few that are logged


@dataclass(frozen=True)
class CheckRun:
    """What a learner's function did on one case."""

    value: Answer = None
    error: Exception | None = None
    seen: Seen = field(default_factory=Seen)


@dataclass(frozen=True)
class Attempt:
    """A learner's function with its source, what it did on each case, and what the solution gives; `at` is the first
    case in which it is wrong.
    """

    exercise: Exercise
    function: Program
    source: str
    runs: list[CheckRun]
    expected: list[Answer]
    at: int = 0

    @property
    def failed(self) -> CheckRun:
        """The run that is wrong."""
        return self.runs[self.at]

    @property
    def wanted(self) -> Answer:
        """What it should have given."""
        return self.expected[self.at]

    @cached_property
    def last_names(self) -> list[Named]:
        """What the names of the function held when it gave its result, on each case."""
        with quietly(), suppress(Exception), ending(self.function):
            return [names_at_end(self.function, _copied(case)) for case in self.exercise.cases]
        return [{} for _ in self.runs]

    @property
    def results(self) -> list[Answer]:
        """What the function gave on all cases."""
        return [run.value for run in self.runs]

    def same(self, one: Answer, other: Answer) -> bool:
        """Whether two results are alike, for this exercise."""
        return compare(one, other, self.exercise.rtol, self.exercise.rtol).right

    def does_as(self, other: Program | None, program: bool = True) -> bool:
        """Whether the function did on every case what another one does. A `program` is run as the learner's is; else it
        gives what is compared, and one error is as good as another.
        """
        if other is None:
            return False
        for case, run in zip(self.exercise.cases, self.runs, strict=True):
            with quietly():
                theirs = CheckRun(*(result_of(self.exercise, other, case) if program else call(other, case)))
            if run.error and theirs.error:
                if program and type(run.error) is not type(theirs.error):
                    return False
            elif run.error or theirs.error or not self.same(run.value, theirs.value):
                return False
        return True


def run_on(exercise: Exercise, function: Program, case: Case) -> CheckRun:
    """One call of a function on a case, and what tapes saw of it."""
    with watching() as seen, np.errstate(all="ignore"):
        value, error = result_of(exercise, function, case)
    return CheckRun(value, error, seen)


def result_of(exercise: Exercise, function: Program, case: Case) -> tuple[Answer, Exception | None]:
    """What a function gives on a case, through the exercise's view, or its error."""
    value, error = call(function, _copied(case))
    if exercise.view is not None and not error and value is not None and not is_blank(value):
        value, error = call(exercise.view, (value,))
    return value, error


def _copied(case: Case) -> Case:
    """A case with lists and arrays of its own."""
    return tuple(copy(one) if isinstance(one, (list, np.ndarray)) else one for one in case)


def call(function: Program, case: Case) -> tuple[Answer, Exception | None]:
    """What a function gives, or its error; of one that was raised in a traced function, the learner's own."""
    try:
        with ending(function):
            return function(*case), None
    except Exception as error:
        traced = error.__context__ if str(error).startswith("in user code:") else None
        return None, traced if isinstance(traced, Exception) else error


def source_of(function: Program) -> str:
    """A function's source, as Jupyter and Python keep it; nothing where it is out of reach."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        nodes = list(ast.walk(ast.parse(source)))
    except (OSError, TypeError, SyntaxError):
        return ""
    names = {"<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", None) for node in nodes}
    return source if function.__name__ in names else ""  # else the text of other code by the same file name


def holds_dots(source: str) -> bool:
    """Whether a `...` still is in a function's source as a blank; True also where that is out of reach."""
    nodes = list(ast.walk(ast.parse(source)))
    used = [node for node in nodes if isinstance(node, (ast.Compare, ast.Subscript))]  # as in `y is ...`, `y[..., 0]`
    within = [part for node in used for part in ast.walk(node)]
    return not source or any(
        isinstance(node, ast.Constant) and node.value is ... and node not in within for node in nodes
    )


def hint_for(attempt: Attempt) -> str:
    """What to say of a function that is wrong in a case; "" where only the exercise's hints are left."""
    exercise, failed, wanted = attempt.exercise, attempt.failed, attempt.wanted
    told = _of_questions(attempt) or _of_this_exercise(attempt)
    questions = (question for run in attempt.runs for question in run.seen.questions)
    why = next(filter(None, (_why(question.why, wanted) for question in questions)), "")
    if failed.error:
        return told or (why if "None" in str(failed.error) else "") or told_of(failed.error)
    near = compare(failed.value, wanted, NEAR, NEAR).right  # as differences give it
    pairs = [*zip(exercise.cases, attempt.results, strict=True)]
    return (
        told
        or (without_a_tape(exercise, [run.seen for run in attempt.runs]) if near else "")
        or rearranged(failed.value, wanted)
        or (why if _lacks_a_number(failed.value, wanted) else "")
        or _of_its_names(attempt)
        or of_text(attempt.source, program_of(exercise.name))
        or of_calls(exercise.expect, pairs, attempt.same)
        or _of_the_function(attempt)
        or in_common(attempt.results, attempt.expected)
        or _of_variants(attempt)
        or without_a_tape(exercise, [run.seen for run in attempt.runs])
        or of_one_part(failed.value, wanted, attempt.same)
        or _of_other_cases(attempt)
    )


def _of_questions(attempt: Attempt) -> str:
    """That a tape was asked the wrong way round."""
    if any(question.turned for run in attempt.runs for question in run.seen.questions):
        return say(
            "You ask how the input changes when the result does. The result comes first, and then what it depends on."
        )
    return ""


def _of_this_exercise(attempt: Attempt) -> str:
    """The hint of the first known mistake, or of the first known change of the solution, that does the same."""
    exercise, source = attempt.exercise, re.sub(r"#.*", "", attempt.source)  # a comment does nothing
    for mistake in exercise.mistakes:
        if mistake.may_be(source, attempt.failed.error) and attempt.does_as(mistake.answer, program=False):
            return mistake.hint
    if returns_in_loop(source):
        return say("A return is inside a loop, which ends there, in its first iteration. Move it out of the loop.")
    for change, hint in exercise.changes.items():
        piece, other = change.split(" => ")
        if attempt.does_as(solution_of(program_of(exercise.name).replace(piece, other), attempt.function)):
            return hint
    if exercise.of_wrong and attempt.failed.seen.calls:
        with suppress(Exception):  # the look is not made for all that a learner can hand in
            return exercise.of_wrong(attempt.failed.value, *exercise.cases[attempt.at])
    return ""


def _why(said: tuple[str, ...], wanted: Answer) -> str:
    """What `explain` says of the first source that got None, where a number is wanted of it."""
    right = parts_of(wanted)
    meant = (one for place, one in enumerate(said, 1) if len(said) == 1 or right.get(str(place), ...) is not None)
    return next(filter(None, meant), "")


def _lacks_a_number(value: Answer, wanted: Answer) -> bool:
    """Whether a None is where a number is wanted."""
    right = parts_of(wanted)
    return any(
        part is None and right.get(place, None if place else ...) is not None for place, part in parts_of(value).items()
    )


def _of_its_names(attempt: Attempt) -> str:
    """In which name, or in which place of what it gives back, the right result is, on each case."""
    for found in attempt.last_names, [*map(parts_of, attempt.results)]:
        for name in found[0]:
            held = [(one.get(name), wanted) for one, wanted in zip(found, attempt.expected, strict=True)]
            if all(value is not None and attempt.same(value, wanted) for value, wanted in held):
                if found is attempt.last_names:
                    return say("The right result is in {name}. Your function gives back something else.", name=name)
                return say(
                    "The right result is in place {name} of what your function gives back. Give back that alone.",
                    name=name,
                )
    return ""


def _of_variants(attempt: Attempt) -> str:
    """That the function does as the solution does with one piece changed; "" where a None has other reasons, or where
    that would take long.
    """
    program = program_of(attempt.exercise.name)
    if (
        "while" in program
        or _lacks_a_number(attempt.failed.value, attempt.wanted)
        or len(attempt.failed.seen.questions) > FEW
    ):
        return ""
    told = ""
    right = sum(map(attempt.same, attempt.results, attempt.expected))
    most = int(isinstance(attempt.wanted, float) and 0 < right == len(attempt.runs) - 1)  # one number is no evidence
    for changed, words in variants_of(program):
        with suppress(Exception):  # not each change leaves a program
            shows = evidence(changed, program, attempt.source)
            if shows > most and attempt.does_as(solution_of(changed, attempt.function)):
                most, told = shows, words
    return told


def _of_the_function(attempt: Attempt) -> str:
    """What was done with the function that is handed in: not watched, not called, or given back."""
    calls, runs = attempt.failed.seen.calls, attempt.runs
    if inspect.isroutine(attempt.failed.value):
        return say("That is a function itself, and not what it gives. Should it be called?")
    if not calls and any(map(_has_unknown, attempt.exercise.cases)):
        return say("Your program never called the function that it was given. What should its result depend on?")
    found = [(run.value, run.seen.results) for run in runs]
    if all(gave and (_is_it(value, gave[-1]) or _is_it(value, gave)) for value, gave in found):
        return say("You gave back what the function itself gave, its value. What does the exercise ask for?")
    return ""


def _of_other_cases(attempt: Attempt) -> str:
    """That the function is right in another case."""
    runs = attempt.runs
    for case, run, wanted in zip(attempt.exercise.cases, runs, attempt.expected, strict=True):
        if not run.error and attempt.same(run.value, wanted):
            given = ", ".join(map(shown, case))
            return say("With {given} your function is right. What is different here?", given=given)
    return ""


def _is_it(value: Answer, other: Answer) -> bool:
    """Whether a result is this value, also where it was made a number, or put into a box."""
    try:
        return compare(content_of(value), as_array(other), 0.0, 0.0).right
    except TypeError:  # a tensor of a traced function has no value outside of it
        return False


def without_a_tape(exercise: Exercise, runs: Observed) -> str:
    """What a program did instead of asking a tape; "" where it asked one, or need not."""
    for case, seen in zip(exercise.cases, runs, strict=True) if exercise.order else ():
        if not _has_unknown(case):
            continue
        if not any(run.calls for run in runs):
            return say(
                "Your program never called the function that it was given, so its answer cannot hold for other "
                "functions."
            )
        if not seen.calls:  # it need not, as where no number of the case is asked about
            continue
        if not seen.recorded:
            return say(
                "Your program called the function, and no tape recorded that. Let a tape record it, and ask the tape."
            )
        if not any(run.questions for run in runs):
            return say(
                "A tape recorded the function, but tape.gradient was not called. Where does your answer come from?"
            )
        if (order := max(run.order for run in runs)) < exercise.order:
            return say(
                "What your tapes gave is a derivative of order {order}. Here one of order {asked} is asked of them.",
                order=order,
                asked=exercise.order,
            )
    return ""


def _has_unknown(given: Answer) -> bool:
    return isinstance(given, UnknownFunction) or (isinstance(given, (list, tuple)) and any(map(_has_unknown, given)))
