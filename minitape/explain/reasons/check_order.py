"""Run the checks that find the cause of a missing or wrong gradient, in one order for every framework.

`CHECKS` lists the checks. Each check receives the question and the `FrameworkChecks` of its framework, looks for one
cause and returns a finding or None. The first finding is the answer. The checks contain only the logic that all
frameworks share. A framework adds its own knowledge, such as which tensors are tracked, by overriding methods of
`FrameworkChecks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from ...recording.recorded_rows import Escape
from . import checks, zero_nan
from .question import Finding

FrameworkQuestion = Any  # Each framework has its own type of question, with its own adapter.


class FrameworkChecks:
    """The checks that differ between frameworks. By default, these checks find nothing.

    A framework assigns its own functions, as in ``find_untracked_source = staticmethod(find_unwatched_source)``. These
    functions receive the framework's own type of question, with its own adapter.

    Attributes:
        reports_every_escape: Whether all values that left the framework are reported, instead of only the first.
    """

    reports_every_escape = False

    def find_refusal(self, question: FrameworkQuestion) -> Finding | None:
        """Find out why the framework refused the program or the gradient with an error.

        Args:
            question: The question about the source.
        """
        return None

    def find_invalid_target(self, question: FrameworkQuestion) -> Finding | None:
        """Find a target that cannot have a gradient.

        Args:
            question: The question about the source.
        """
        return None

    def find_non_float_source(self, question: FrameworkQuestion) -> Finding | None:
        """Find a source that is not a float.

        Args:
            question: The question about the source.
        """
        return checks.find_non_float_source(question)

    def find_untracked_source(self, question: FrameworkQuestion) -> Finding | None:
        """Find a source for which the framework keeps no gradient, such as one that no tape watches.

        Args:
            question: The question about the source.
        """
        return None

    def find_missing_derivative(self, question: FrameworkQuestion) -> Finding | None:
        """Find an operation on the path that passed no gradient, although no edge on the path is a break.

        Args:
            question: The question about the source.
        """
        return None

    def specialize_break(self, question: FrameworkQuestion, finding: Finding) -> None:
        """Modify the finding about a break in place, so that it uses the framework's own terms.

        Args:
            question: The question about the source.
            finding: The finding of the shared checks.
        """

    def find_cause_behind_break(self, question: FrameworkQuestion, finding: Finding) -> Finding:
        """Return the finding that best explains a break, which is the given finding or a more fundamental one.

        Args:
            question: The question about the source.
            finding: The finding of the shared checks.
        """
        return finding

    def has_known_target(self, question: FrameworkQuestion) -> bool:
        """Return whether the operation that computed the target is known.

        Args:
            question: The question about the source.
        """
        return bool(question.target_rows)

    def rank_escapes(self, question: FrameworkQuestion, escapes: list[Escape]) -> Iterable[Escape]:
        """Return the escapes, starting with those that are most likely to be the cause.

        Args:
            question: The question about the source.
            escapes: The values computed from the source that left the framework, in chronological order.
        """
        return escapes

    def does_escape_matter(self, question: FrameworkQuestion, escape: Escape) -> bool:
        """Return whether a value that left the framework came back to the target, or decided which code ran.

        Args:
            question: The question about the source.
            escape: A value that was computed from the source and then left the framework.
        """
        return checks.does_escape_reach_target(question, escape)

    def build_escape_finding(self, question: FrameworkQuestion, escapes: Sequence[Escape]) -> Finding:
        """Return the finding about the escapes that matter.

        Args:
            question: The question about the source.
            escapes: The escapes that matter. There is at least one.
        """
        return Finding(question.adapter.escape_cause, escapes[0].site, escapes[0].row, escapes[0].method)

    def find_replaced_source(self, question: FrameworkQuestion) -> Finding | None:
        """Find a different object that was used in place of the source, which itself was not used.

        Args:
            question: The question about the source.
        """
        return None

    def find_reason_for_no_use(self, question: FrameworkQuestion) -> Finding | None:
        """Find out why the target was not computed from the source, based on what the framework recorded.

        Args:
            question: The question about the source.
        """
        return None

    def find_dropped_result(self, question: FrameworkQuestion) -> Finding | None:
        """Find a result computed from the source that the target does not depend on.

        Args:
            question: The question about the source.
        """
        return checks.find_dropped_result(question)

    def find_uncalled_layer(self, question: FrameworkQuestion) -> Finding | None:
        """Find a layer that was not called, if the source is one of its variables.

        Args:
            question: The question about the source.
        """
        return None

    def build_unused_finding(self, question: FrameworkQuestion) -> Finding:
        """Report that the target was not computed from the source.

        Args:
            question: The question about the source.
        """
        return Finding(question.adapter.unused_cause)

    def find_lost_gradient(self, question: FrameworkQuestion) -> Finding | None:
        """Find out why a gradient was computed but not kept, or why no gradient was sent.

        Args:
            question: The question about the source.
        """
        return None

    def find_nonfinite_cause(self, question: FrameworkQuestion) -> Finding | None:
        """Find where a NaN or an infinity arose.

        Args:
            question: The question about the source.
        """
        return zero_nan.find_cause_of_nonfinite(question)

    def refine_nonfinite_finding(self, question: FrameworkQuestion, finding: Finding) -> Finding:
        """Return a more specific finding about a nonfinite value. `finding.row` is known.

        Args:
            question: The question about the source.
            finding: The finding of the shared checks.
        """
        return finding

    def refine_zero_finding(self, question: FrameworkQuestion, finding: Finding) -> Finding:
        """Return a more specific finding about zeros. `finding.row` is known.

        Args:
            question: The question about the source.
            finding: The finding of the shared checks.
        """
        return finding

    def find_missing_recording(self, question: FrameworkQuestion) -> Finding | None:
        """Report that no recording exists from which a gradient could be explained. This check runs last.

        Args:
            question: The question about the source.
        """
        return None


def find_path_break(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find the break on the path from the source to the target, in the framework's terms.

    Args:
        question: The question about the source.
        framework: The checks of the framework.
    """
    finding = checks.find_path_break(question) or framework.find_missing_derivative(question)
    if finding is None:
        return None
    for break_finding in (finding, *finding.more):
        framework.specialize_break(question, break_finding)
    return framework.find_cause_behind_break(question, finding)


def find_escape(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find a value computed from the source that left the framework, and then came back or decided which code ran.

    Args:
        question: The question about the source.
        framework: The checks of the framework.
    """
    if question.used_source_rows or not framework.has_known_target(question):
        return None
    escapes = [escape for escape in question.escapes if escape.row in question.descendants]
    ranked = framework.rank_escapes(question, escapes)
    mattering = (escape for escape in ranked if framework.does_escape_matter(question, escape))
    reported = list(mattering if framework.reports_every_escape else islice(mattering, 1))
    return framework.build_escape_finding(question, reported) if reported else None


def find_replaced_source(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find a different object that was used in place of the source.

    Args:
        question: The question about the source.
        framework: The checks of the framework.
    """
    return None if question.used_source_rows else framework.find_replaced_source(question)


def find_cause_of_unused_source(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find out why the target was not computed from the source.

    Args:
        question: The question about the source.
        framework: The checks of the framework.
    """
    if question.used_source_rows:
        return None
    return (
        framework.find_reason_for_no_use(question)
        or framework.find_dropped_result(question)
        or framework.find_uncalled_layer(question)
        or framework.build_unused_finding(question)
    )


def find_nonfinite_cause(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find where a NaN or an infinity arose.

    Args:
        question: The question about the gradient.
        framework: The checks of the framework.
    """
    finding = framework.find_nonfinite_cause(question)
    if finding is None or finding.row is None:
        return finding
    return framework.refine_nonfinite_finding(question, finding)


def find_zero_cause(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding | None:
    """Find the operation that produced the zeros in a gradient.

    Args:
        question: The question about the gradient.
        framework: The checks of the framework.
    """
    finding = zero_nan.find_cause_of_zero(question)
    if finding is None or finding.row is None:
        return finding
    return framework.refine_zero_finding(question, finding)


Check = Callable[[FrameworkQuestion, FrameworkChecks], Finding | None]
CHECKS: tuple[Check, ...] = (
    lambda question, framework: framework.find_refusal(question),
    lambda question, framework: framework.find_invalid_target(question),
    # The source.
    lambda question, framework: framework.find_non_float_source(question),
    lambda question, framework: framework.find_untracked_source(question),
    # The path to the target.
    find_path_break,
    find_escape,
    find_replaced_source,
    find_cause_of_unused_source,
    # The gradient that the backward pass sent.
    lambda question, framework: framework.find_lost_gradient(question),
    find_nonfinite_cause,
    find_zero_cause,
    lambda question, framework: framework.find_missing_recording(question),
)


def run_checks(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding:
    """Return the first finding from the checks, or a "connected" finding if no check finds a cause.

    Args:
        question: The question about the source.
        framework: The checks of the framework.
    """
    for check in CHECKS:
        finding = check(question, framework)
        if finding is not None:
            return finding
    return Finding("connected")
