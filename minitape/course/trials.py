"""Define small programs that try out a learner's code. Each is shown unchanged, so that it can also be run by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

from ..common.translation import format_error, say
from .answer_comparison import compare_answers, describe_kind, has_blank_part
from .answer_text import format_answer

if TYPE_CHECKING:
    from ..engine.types import Names, TextList
    from .exercise import Answer, NamedValues

RTOL, ATOL = 1e-9, 1e-12  # float64 arithmetic is this exact, but a finite difference is not.
EMPTY_CLASS_NAMES = frozenset(
    [*vars(type("Empty", (), {})), "__firstlineno__", "__static_attributes__", "__annotations__", "__annotate_func__"]
)


@dataclass(frozen=True)
class AnswerTrial:
    """A program that uses the learner's code by its name.

    Attributes:
        program: The program, whose last line is an expression.
        expect: The value of that expression.
        hints: What to say if this is the first trial that fails. Each try adds one more hint.
        slips: Wrong values, or words of an error, with replies.
        setup: Lines that run before, and are shown once for several trials.
    """

    program: str
    expect: Answer
    hints: Names = ()
    slips: Sequence[tuple[Answer, str]] = ()
    setup: str = ""

    def list_lines(self) -> TextList:
        """List the lines of the whole program."""
        return self.setup.splitlines() + self.program.splitlines()


@dataclass(frozen=True)
class TrialOutcome:
    """The outcome of a trial: a value, or the error that ended it."""

    trial: AnswerTrial
    value: Answer = None
    error: Exception | None = None
    has_passed: bool = False

    def find_hint(self, tries: int) -> str:
        """Find what to say if the trial has failed.

        Args:
            tries: The number of tries before.

        Returns:
            The reply to the slip that was made, or else one of the trial's hints.
        """
        trial_hints = self.trial.hints
        if known := [hint for slip, hint in self.trial.slips if self._matches_slip(slip)]:
            return known[0]
        values = [*self.value.values()] if isinstance(self.value, dict) else [self.value]
        if self.error is None and self.value is None:
            return say(
                ".value is None here. It's the third part of the Number's row, where apply stores what forward returns."
                if self.trial.program.endswith(".value")
                else "The result is None here, as it is if a function ends without a return that gives a value."
            )
        if compare_answers(values, self.trial.expect, RTOL, ATOL).is_right:
            return say(
                "The values are right, but they are not in a list. Return a list in the order in which the values "
                "were requested."
            )
        return trial_hints[min(tries, len(trial_hints) - 1)]

    def _matches_slip(self, slip: Answer) -> bool:
        """Return whether the value is the slip, or whether the outcome, as a learner sees it, contains its words."""
        if isinstance(slip, str):
            return slip in self.describe_result()
        return self.error is None and compare_answers(self.value, slip, RTOL, ATOL).is_right

    def describe_result(self) -> str:
        """Describe the value or the error."""
        return format_answer(self.value) if self.error is None else format_error(self.error)


def is_empty_answer(answer: Answer) -> bool:
    """Return whether nothing has been written yet, that is, whether the answer is `...` or an empty class.

    >>> class Tape:
    ...     ...
    >>> is_empty_answer(Tape), is_empty_answer(...), is_empty_answer(3)
    (True, True, False)
    """
    return has_blank_part(answer) or (
        isinstance(answer, type) and answer.__bases__ == (object,) and not set(vars(answer)) - EMPTY_CLASS_NAMES
    )


def run_trials_until_failure(answer_name: str, answer: Answer, trials: Sequence[AnswerTrial]) -> list[TrialOutcome]:
    """Run the trials up to the first that fails.

    Args:
        answer_name: The name of the answer in the programs.
        answer: The learner's class, whose table has the name RULES.
        trials: The trials.

    Returns:
        The outcomes.
    """
    outcomes = []
    rules = next((namespace["RULES"] for namespace in _iter_method_globals(answer) if "RULES" in namespace), None)
    for trial in trials:
        trial_names = {answer_name: answer, "math": math}
        # Rules that a trial adds do not affect the next trial.
        with patch.dict(rules) if isinstance(rules, dict) else nullcontext():
            outcomes.append(_run_trial(trial, trial_names if rules is None else trial_names | {"RULES": rules}))
        if not outcomes[-1].has_passed:
            break
    return outcomes


def _iter_method_globals(answer: Answer) -> Iterator[NamedValues]:
    """Yield the global names that the methods of a class can use."""
    for owner in getattr(answer, "__mro__", ()):
        yield from (method.__globals__ for method in vars(owner).values() if hasattr(method, "__globals__"))


def _run_trial(trial: AnswerTrial, names: NamedValues) -> TrialOutcome:
    *lines, expression = trial.list_lines()
    try:
        exec("\n".join(lines), names)
        value = eval(expression, names)
        # Compare the value now, because the next trial may change it.
        return TrialOutcome(trial, value, has_passed=compare_answers(value, trial.expect, RTOL, ATOL).is_right)
    except Exception as error:
        return TrialOutcome(trial, error=error)


def format_trial_checklist(outcomes: Sequence[TrialOutcome], trials: Sequence[AnswerTrial]) -> TextList:
    """Format the trials as a list with marks.

    Args:
        outcomes: The outcomes of the trials that ran.
        trials: All trials.

    Returns:
        The lines. For the failed trial, they contain the whole program, its outcome and the expected value.
    """
    setups = dict.fromkeys(trial.setup for trial in trials if trial.setup)
    lines = [say("Each test starts with {program}", program=_indent_lines(setup)) for setup in setups]
    for outcome in outcomes:
        if outcome.has_passed:
            lines.append(f"[x] {_indent_lines(outcome.trial.program)}")
            continue
        first_line, *other_lines = outcome.trial.list_lines()
        lines += [f"[ ] {first_line}", *(f"    {line}" for line in other_lines)]
        lines.append("      " + say("gives:    {value}", value=outcome.describe_result()))
        lines.append("      " + say("expected: {value}", value=format_answer(outcome.trial.expect)))
    untried_trials = trials[len(outcomes) :]
    return [
        *lines,
        *(f"[ ] {_indent_lines(trial.program)}  ->  {format_answer(trial.expect)}" for trial in untried_trials),
    ]


def _indent_lines(program: str) -> str:
    return program.strip().replace("\n", "\n      ")


def describe_non_class_answer(class_name: str, answer: Answer) -> str:
    """Say that the answer should be a class, and what was handed in instead."""
    return say(
        "expected the class {name} itself, without parentheses, but got {given}",
        name=class_name,
        given=describe_kind(answer),
    )
