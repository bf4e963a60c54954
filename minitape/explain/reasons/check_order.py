"""Run the checks that find the cause of a missing or wrong gradient, in the same order for every framework.

`CHECKS` lists the checks. Each check receives the question and the `FrameworkChecks` of its framework, looks for one
cause and returns a finding or None. The first finding is the answer. The checks contain only the logic that all
frameworks share. A framework adds its own knowledge, such as which tensors are tracked, by filling in fields of
`FrameworkChecks`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...recording.recorded_rows import Escape, Escapes, RecordedRow
from . import checks
from .question import Finding, OptionalFinding
from .zero_nan import find_cause_of_zero, find_nonfinite_cause_in_this_or_earlier_pass

FrameworkQuestion = Any  # Each framework has its own type of question, with its own adapter.
FindCause = Callable[[FrameworkQuestion], OptionalFinding]
Refine = Callable[[FrameworkQuestion, Finding, RecordedRow], Finding]


def find_nothing(question: FrameworkQuestion) -> None:
    """Find no cause. `FrameworkChecks` uses this function for checks to which a framework adds nothing."""


def keep_finding(question: FrameworkQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return a finding unchanged."""
    return finding


def combine_checks(*checks: FindCause) -> FindCause:
    """Return a check that runs several checks in order and returns the first finding.

    Args:
        *checks: The checks.
    """

    def run_combined_checks(question: FrameworkQuestion) -> OptionalFinding:
        return next(filter(None, (check(question) for check in checks)), None)

    return run_combined_checks


@dataclass(frozen=True)
class FrameworkChecks:
    """The parts of the checks that differ between frameworks. By default, most of these parts find nothing.

    All fields except `reports_every_escape` are functions whose first argument is the question about the source. A
    function that changes or replaces a finding also receives the row to blame.

    Attributes:
        find_cause_of_raised_error: Finds out why the framework raised an error when it ran the program or computed the
            gradient.
        find_undifferentiable_target: Finds a target that has no gradient, because it is not a tensor, or because it is
            itself a gradient that a tape returned.
        find_non_float_source: Finds a source that is not a float.
        find_untracked_source: Finds a source for which the framework keeps no gradient, such as one that no tape
            watches.
        find_missing_derivative: Finds an operation on the path that passed no gradient, although no edge on the path is
            a break.
        specialize_break: Modifies the finding for a break so that it uses the framework's own terms.
        find_cause_behind_break: Returns the finding that best explains a break: the given finding or a more fundamental
            one.
        is_target_computation_recorded_or_in_text: Returns whether the operation that computed the target is known.
        rank_escapes: Returns the values that were computed from the source and left the framework, starting with the
            most likely causes.
        does_escape_reach_target_or_branch: Returns whether a value that left the framework still affected the target or
            decided which branch ran.
        build_escape_finding: Returns the finding for the escapes that matter. By default, it reports only the first of
            these escapes.
        reports_every_escape: Whether all escapes that matter are passed to `build_escape_finding`, rather than only the
            first.
        find_replacement_of_unused_source: Finds a different object that was used in place of the source, which itself
            was not used.
        find_reason_for_no_use: Finds out from the framework's recording why the target was not computed from the
            source.
        find_result_unused_by_target: Finds a result that was computed from the source but does not contribute to the
            target.
        find_uncalled_layer: Finds a layer that was not called, if the source is one of its variables.
        build_finding_of_target_without_source: Reports that the target was not computed from the source.
        find_lost_gradient: Finds out why a gradient was computed but not kept, or why none was computed.
        refine_nonfinite_finding: Returns a more specific finding for a nonfinite value.
        refine_zero_finding: Returns a more specific finding for a zero gradient.
    """

    find_cause_of_raised_error: FindCause = find_nothing
    find_undifferentiable_target: FindCause = find_nothing
    find_non_float_source: FindCause = checks.find_non_float_source
    find_untracked_source: FindCause = find_nothing
    find_missing_derivative: FindCause = find_nothing
    specialize_break: Callable[[FrameworkQuestion, Finding, RecordedRow], None] = lambda question, finding, row: None
    find_cause_behind_break: Refine = keep_finding
    is_target_computation_recorded_or_in_text: Callable[[FrameworkQuestion], bool] = lambda question: bool(
        question.target_rows
    )
    rank_escapes: Callable[[FrameworkQuestion, list[Escape]], Iterable[Escape]] = lambda question, escapes: escapes
    does_escape_reach_target_or_branch: Callable[[FrameworkQuestion, Escape], bool] = checks.does_escape_reach_target
    build_escape_finding: Callable[[FrameworkQuestion, Escapes], Finding] = checks.build_finding_of_first_escape
    reports_every_escape: bool = False
    find_replacement_of_unused_source: FindCause = find_nothing
    find_reason_for_no_use: FindCause = find_nothing
    find_result_unused_by_target: FindCause = checks.find_result_unused_by_target
    find_uncalled_layer: FindCause = find_nothing
    build_finding_of_target_without_source: Callable[[FrameworkQuestion], Finding] = (
        checks.build_finding_of_target_without_source
    )
    find_lost_gradient: FindCause = find_nothing
    refine_nonfinite_finding: Refine = keep_finding
    refine_zero_finding: Refine = keep_finding


def find_path_break(question: FrameworkQuestion, framework: FrameworkChecks) -> OptionalFinding:
    """Find the break in the path from the source to the target, and adapt the finding to the framework.

    Args:
        question: The question about the source.
        framework: The framework's own checks.
    """
    finding = checks.find_path_break_nearest_to_source(question) or framework.find_missing_derivative(question)
    if finding is None:
        return None
    for break_finding in (finding, *finding.more):
        framework.specialize_break(question, break_finding, question.rows[break_finding.row])
    return framework.find_cause_behind_break(question, finding, question.rows[finding.row])


def find_escape_to_target_or_branch(question: FrameworkQuestion, framework: FrameworkChecks) -> OptionalFinding:
    """Find a value that was computed from the source and left the framework, but still affected the target.

    Args:
        question: The question about the source.
        framework: The framework's own checks.
    """
    if question.used_source_rows or not framework.is_target_computation_recorded_or_in_text(question):
        return None
    escapes = [escape for escape in question.escapes if escape.row in question.descendants]
    ranked = framework.rank_escapes(question, escapes)
    mattering = (escape for escape in ranked if framework.does_escape_reach_target_or_branch(question, escape))
    reported = list(mattering if framework.reports_every_escape else islice(mattering, 1))
    return framework.build_escape_finding(question, reported) if reported else None


def find_replacement_of_unused_source(question: FrameworkQuestion, framework: FrameworkChecks) -> OptionalFinding:
    """Find a different object that was used in place of the source.

    Args:
        question: The question about the source.
        framework: The framework's own checks.
    """
    return None if question.used_source_rows else framework.find_replacement_of_unused_source(question)


def find_cause_if_source_is_unused(question: FrameworkQuestion, framework: FrameworkChecks) -> OptionalFinding:
    """Find out why the target was not computed from the source.

    Args:
        question: The question about the source.
        framework: The framework's own checks.
    """
    if question.used_source_rows:
        return None
    return (
        framework.find_reason_for_no_use(question)
        or framework.find_result_unused_by_target(question)
        or framework.find_uncalled_layer(question)
        or framework.build_finding_of_target_without_source(question)
    )


def _refine_finding_with_row(question: FrameworkQuestion, finding: OptionalFinding, refine: Refine) -> OptionalFinding:
    """Let the framework refine a finding that blames a row, and return any other finding unchanged."""
    if finding is None or finding.row is None:
        return finding
    return refine(question, finding, question.rows[finding.row])


Check = Callable[[FrameworkQuestion, FrameworkChecks], OptionalFinding]
CHECKS: tuple[Check, ...] = (
    lambda question, framework: framework.find_cause_of_raised_error(question),
    lambda question, framework: framework.find_undifferentiable_target(question),
    # Checks of the source.
    lambda question, framework: framework.find_non_float_source(question),
    lambda question, framework: framework.find_untracked_source(question),
    # Checks of the path to the target.
    find_path_break,
    find_escape_to_target_or_branch,
    find_replacement_of_unused_source,
    find_cause_if_source_is_unused,
    # Checks of the gradient that the backward pass computed.
    lambda question, framework: framework.find_lost_gradient(question),
    lambda question, framework: _refine_finding_with_row(
        question, find_nonfinite_cause_in_this_or_earlier_pass(question), framework.refine_nonfinite_finding
    ),
    lambda question, framework: _refine_finding_with_row(
        question, find_cause_of_zero(question), framework.refine_zero_finding
    ),
)


def run_checks_until_first_finding(question: FrameworkQuestion, framework: FrameworkChecks) -> Finding:
    """Return the first finding from the checks, or a "connected" finding if no check finds a cause.

    Args:
        question: The question about the source.
        framework: The framework's own checks.
    """
    return next(filter(None, (check(question, framework) for check in CHECKS)), Finding("connected"))
