"""Run a learner's function on the cases of an exercise, and find out what it did if a result is wrong.

`find_attempt_hint` runs the checks in order. Each check returns one sentence or "", and the learner sees the first
sentence. All of these checks apply to every exercise. Mistakes and changes that are specific to one exercise are in the
lesson's answers.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from inspect import getsource, isroutine

import numpy as np

from ..common.syntax import list_nodes
from ..common.translation import say
from ..engine.record import log_warnings
from ..engine.types import LIST_OR_TUPLE, Names, OptionalNumber
from ..engine.values.nest import flatten
from .answer_comparison import compare_answers, has_blank_part
from .call_log import ObservedRun, ObservedRuns, limit_iterations, observe_run
from .error_hints import find_error_hint
from .exercise import Answer, Answers, Case, Exercise, Program
from .hints import (
    describe_common_error,
    describe_rearrangement,
    describe_wrong_places,
    has_unconditional_loop_return,
    map_places_to_parts,
)
from .line_difference import rename_as_learner
from .loop_hints import find_substitution_hint
from .program_hints import (
    find_tape_outside_loop_hint,
    find_uncalled_method_hint,
    find_unused_value_hint,
    iter_programs_with_other_results,
)
from .solution_variants import iter_variants_with_hints, measure_variant_evidence
from .tape_playback import build_solution_function, find_solution_text
from .unknown_functions import UnknownFunction

NEAR_TOLERANCE = 0.01
MAX_QUESTIONS = 15  # If a run asks tapes more often than this, no variants of the solution are tried.
# The result of a function and None, or None and the error that the function raised.
ResultAndError = tuple[Answer, Exception | None]


@contextmanager
def suppress_output() -> Iterator[None]:
    """Suppress the prints, warnings and log messages of the check's own runs while the block runs."""
    import logging  # Imported here, because it is seldom needed.

    logger = logging.getLogger("tensorflow")
    logger.disabled, was_disabled, logged_warnings = True, logger.disabled, log_warnings._log_counts.copy()
    try:
        with redirect_stdout(None), np.errstate(all="ignore"):
            yield
    finally:
        # Each warning is logged only a few times. Suppressed ones must not count.
        logger.disabled, log_warnings._log_counts = was_disabled, logged_warnings


@dataclass(frozen=True)
class CheckRun:
    """What a learner's function did on one case."""

    value: Answer = None
    error: Exception | None = None
    observed: ObservedRun = field(default_factory=ObservedRun)


@dataclass(frozen=True)
class Attempt:
    """A learner's function, and a record of what the function did.

    Attributes:
        exercise: The exercise.
        function: The function.
        source: Its source, or "" if the source is not available.
        runs: What it did on each case.
        expected_values: What the solution returns on each case.
        failed_index: The first case in which the function is wrong.
    """

    exercise: Exercise
    function: Program
    source: str
    runs: list[CheckRun]
    expected_values: Answers
    failed_index: int = 0

    @property
    def failed_run(self) -> CheckRun:
        """The run that is wrong."""
        return self.runs[self.failed_index]

    @property
    def expected_value(self) -> Answer:
        """What the function should have returned."""
        return self.expected_values[self.failed_index]

    @property
    def results(self) -> Answers:
        """What the function returned for each case."""
        return [run.value for run in self.runs]

    def matches_results_of(self, other_function: Program | None, runs_like_learner: bool = True) -> bool:
        """Return whether the function did the same as a different function on every case.

        Args:
            other_function: The other function. None never matches.
            runs_like_learner: Whether the other function runs as the learner's does. Otherwise the other function
                returns the value that is compared, and any error matches any other error.
        """
        if other_function is None:
            return False
        for case, run in zip(self.exercise.cases, self.runs, strict=True):
            with suppress_output():
                value, error = (
                    compute_viewed_result(self.exercise, other_function, case)
                    if runs_like_learner
                    else call_and_catch_error(other_function, case)
                )
            if run.error and error:
                if runs_like_learner and repr(run.error) != repr(error):
                    return False
            elif run.error or error or not self.exercise.is_same(run.value, value):
                return False
        return True


def run_case(exercise: Exercise, function: Program, case: Case, max_tapes: OptionalNumber = None) -> CheckRun:
    """Call a function on a case, and observe what tapes see of the call, up to a maximum number of asked tapes."""
    with observe_run(max_tapes) as observed, np.errstate(all="ignore"):
        value, error = compute_viewed_result(exercise, function, case)
    return CheckRun(value, error, observed)


def compute_viewed_result(exercise: Exercise, function: Program, case: Case) -> ResultAndError:
    """Run a function on a case, and return its result, converted by the exercise's view, or its error."""
    # The function may change the arrays and the lists of its arguments.
    value, error = call_and_catch_error(function, tuple(map(_copy_lists_and_arrays, case)))
    if exercise.view is not None and not error and value is not None and not has_blank_part(value):
        value, error = call_and_catch_error(exercise.view, (value,))
    return value, error


def _copy_lists_and_arrays(argument: Answer) -> Answer:
    """Copy an array, or a list with all lists and arrays inside. Return any other argument unchanged."""
    if isinstance(argument, list):
        return [*map(_copy_lists_and_arrays, argument)]
    return copy(argument) if isinstance(argument, np.ndarray) else argument


def call_and_catch_error(function: Program, case: Case) -> ResultAndError:
    """Return a function's result or its error. For an error from a traced function, return the learner's own error."""
    try:
        with limit_iterations(function):
            return function(*case), None
    except Exception as error:
        user_error = error.__context__ if str(error).startswith("in user code:") else None
        return None, user_error if isinstance(user_error, Exception) else error


def find_function_source(function: Program) -> str:
    """Return a function's source as Jupyter and Python keep it, or "" if the source is not available."""
    try:
        source = textwrap.dedent(getsource(function))
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError):
        return ""
    names = {"<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", None) for node in ast.walk(tree)}
    # Without the function's name, the source is other code from a file of the same name.
    return source if function.__name__ in names else ""


def may_have_blank(source: str) -> bool:
    """Return whether a function's source still contains a `...` as a blank, or True if it is not available."""
    tree = ast.parse(source)
    # In `y is ...` and `y[..., 0]`, the dots are not a blank.
    expressions = list_nodes(tree, ast.Compare, ast.Subscript)
    nested_nodes = [nested_node for node in expressions for nested_node in ast.walk(node)]
    return not source or any(node.value is ... and node not in nested_nodes for node in list_nodes(tree, ast.Constant))


def find_attempt_hint(attempt: Attempt) -> str:
    """Find what to say about a function that is wrong in a case, or "" if only the exercise's hints are left."""
    exercise = attempt.exercise
    failed_run = attempt.failed_run
    expected_value = attempt.expected_value
    solution = rename_as_learner(find_solution_text(exercise.name), attempt.source)
    hint = (
        _find_reversed_question_hint(attempt)
        or find_uncalled_method_hint(attempt.source)
        or _find_exercise_hint(attempt)
    )
    none_hints = (
        _select_explanation_of_unexpected_none(question.explanations, expected_value)
        for run in attempt.runs
        for question in run.observed.questions
    )
    none_hint = next(filter(None, none_hints), "")
    if failed_run.error:
        return hint or (none_hint if "None" in str(failed_run.error) else "") or find_error_hint(failed_run.error)
    # Finite differences return such values.
    is_nearly_right = compare_answers(failed_run.value, expected_value, NEAR_TOLERANCE, NEAR_TOLERANCE).is_right
    unused_tape_hint = find_unused_tape_hint(exercise, [run.observed for run in attempt.runs])
    returned_function_hint = say("You return a function but never call it. Which arguments should you call it with?")
    case_results = [*zip(exercise.cases, attempt.results, strict=True)]
    return (
        hint
        or (unused_tape_hint if is_nearly_right else "")
        or describe_rearrangement(failed_run.value, expected_value)
        or (none_hint if _has_none_for_number(failed_run.value, expected_value) else "")
        or _find_misplaced_result_hint(attempt)
        or _find_single_part_hint(attempt)
        or (returned_function_hint if isroutine(failed_run.value) else "")
        or find_unused_value_hint(attempt.source, solution)
        or find_tape_outside_loop_hint(attempt.source, solution)
        or find_substitution_hint(exercise.expect, case_results, exercise.is_same)
        or describe_common_error(attempt.results, attempt.expected_values)
        or _find_solution_variant_hint(attempt, solution)
        or unused_tape_hint
        or describe_wrong_places(failed_run.value, expected_value, exercise.is_same)
    )


def _find_reversed_question_hint(attempt: Attempt) -> str:
    """Return a hint if the program asked a tape for the input's gradient by the result, or ""."""
    if any(question.is_reversed for run in attempt.runs for question in run.observed.questions):
        return say(
            "You asked how the input changes with the result. Pass the result first, then the input that it depends on."
        )
    return ""


def _find_exercise_hint(attempt: Attempt) -> str:
    """Find the hint for the first known mistake, or the first known change to the solution, that does the same."""
    exercise, source = attempt.exercise, re.sub(r"#.*", "", attempt.source)  # Comments do not matter.
    for mistake in exercise.mistakes:
        if mistake.matches_source_and_error(source, attempt.failed_run.error) and attempt.matches_results_of(
            mistake.answer, runs_like_learner=False
        ):
            return mistake.hint
    if has_unconditional_loop_return(source):
        return say("A return statement ends your loop in its first iteration. Move the return out of the loop.")
    for change, hint in exercise.changes.items():
        piece, arrow, replacement = change.partition(" => ")
        wrong_program = find_solution_text(exercise.name).replace(piece, replacement) if arrow else change
        if attempt.matches_results_of(build_solution_function(wrong_program, attempt.function)):
            return hint
    if exercise.order and not attempt.failed_run.observed.calls:
        return ""
    return exercise.find_own_hint(attempt.failed_run.value, *exercise.cases[attempt.failed_index])


def _select_explanation_of_unexpected_none(explanations: Names, expected_value: Answer) -> str:
    """Select what `explain` says about the first source that got None although a number was expected."""
    expected_parts = map_places_to_parts(expected_value)
    relevant = (
        explanation
        for place, explanation in enumerate(explanations, 1)
        if len(explanations) == 1 or expected_parts.get(str(place), ...) is not None
    )
    return next(filter(None, relevant), "")


def _has_none_for_number(value: Answer, expected_value: Answer) -> bool:
    """Return whether a None takes the place of an expected number."""
    expected_parts = map_places_to_parts(expected_value)
    return any(
        part is None
        and expected_parts.get(place, expected_parts.get(f"{place}, 1", None if place else ...)) is not None
        for place, part in map_places_to_parts(value).items()
    )


def _find_misplaced_result_hint(attempt: Attempt) -> str:
    """Say which name, or which part of the returned value, is the right result in each case."""
    right_attempt = replace(attempt, runs=[*map(CheckRun, attempt.expected_values)])
    for text, program in iter_programs_with_other_results(attempt.source):
        if right_attempt.matches_results_of(build_solution_function(program, attempt.function)):
            return say("The right result is in {name}, but your function returns something else.", name=text)
    return ""


def _find_single_part_hint(attempt: Attempt) -> str:
    """Say that the function returns only one of several parts in each case, or return "" if it does not."""
    expected_values = attempt.expected_values
    if not all(isinstance(expected_value, LIST_OR_TUPLE) for expected_value in expected_values):
        return ""
    for parts in zip(*expected_values, strict=False):
        if parts[0] is not None and all(map(attempt.exercise.is_same, attempt.results, parts)):
            return say(
                "Your function returns only one part of the result. Return all {count} parts.",
                count=len(attempt.expected_value),
            )
    return ""


def _find_solution_variant_hint(attempt: Attempt, program: str) -> str:
    """Say that the function does the same as the solution with one piece changed.

    Args:
        attempt: The attempt.
        program: The solution in the learner's names.

    Returns:
        The sentence, or "" if a None has other reasons or if trying would take too long.
    """
    if (
        "while" in program
        or _has_none_for_number(attempt.failed_run.value, attempt.expected_value)
        or len(attempt.failed_run.observed.questions) > MAX_QUESTIONS
    ):
        return ""
    hint = ""
    right_count = sum(map(attempt.exercise.is_same, attempt.results, attempt.expected_values))
    # If only a single number is wrong, many variants could explain it, so more evidence is necessary.
    best_evidence = int(isinstance(attempt.expected_value, float) and 0 < right_count == len(attempt.runs) - 1)
    for variant, sentence in iter_variants_with_hints(program):
        with suppress(Exception):  # Some variants are not valid programs.
            variant_evidence = measure_variant_evidence(variant, program, attempt.source)
            if variant_evidence > best_evidence and attempt.matches_results_of(
                build_solution_function(variant, attempt.function)
            ):
                best_evidence = variant_evidence
                hint = sentence
    return hint


def find_unused_tape_hint(exercise: Exercise, observed_runs: ObservedRuns) -> str:
    """Say what a program did instead of asking a tape, or return "" if it asked one or did not have to."""
    for case, observed in zip(exercise.cases, observed_runs, strict=True) if exercise.order else ():
        if not any(isinstance(argument, UnknownFunction) for argument in flatten(case)):
            continue
        if not any(run.calls for run in observed_runs):
            return say(
                "Your program never called the function that it received, so its answer cannot be right for other "
                "functions."
            )
        if not observed.calls:  # The case may not need a call, if its answer contains no derivative.
            continue
        if not any(call.is_recorded for call in observed.calls):
            return say(
                "Your program called the function, but no tape recorded the call. Record it with a tape and ask that "
                "tape for the gradient."
            )
        if not any(run.questions for run in observed_runs):
            return say(
                "A tape recorded the function, but you never called tape.gradient. Where does your answer come from?"
            )
        if (order := max(run.max_order for run in observed_runs)) < exercise.order:
            return say(
                "Your tapes computed a derivative of order {order}, but the exercise asks for a derivative of order "
                "{asked}.",
                order=order,
                asked=exercise.order,
            )
    return ""
