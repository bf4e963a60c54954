"""Explain why a gradient from minitape's own tape is None, zero, nonfinite or wrong."""

from typing import Any

import numpy as np

from ...common.translation import join_sentences
from ...engine.backward.gradient import find_differentiable_rows
from ...engine.backward.tape import GradientTape
from ...engine.record.provenance import find_creation_stack
from ...engine.tensor.variable import UnreadVariable
from ...engine.types import LIST_OR_TUPLE, TargetOrSource, TargetsOrSources
from ...recording.graph_nodes import Break, CodePlace, build_call_stack_outermost_first, find_origin_place, to_site
from ...recording.recorded_rows import OTHER_RECORDING, Escapes, OptionalBackwardPass, RecordedRow
from ...recording.sites import NOWHERE, Site, find_innermost_site
from ...recording.value_origins import find_origin
from ...recording.value_summary import ValueSummary
from ..causes import get_kind_name_or_error_kind
from ..explanation import Explanation
from ..layer_lookup import list_variables_of_owner_or_its_attributes
from ..replayed_sweep import replay_function_call_on_new_tape, replay_sweep
from ..translated_sentences import fill
from . import checks, finding_sentences
from .check_order import FrameworkChecks, combine_checks, find_nothing, find_path_break, run_checks_until_first_finding
from .program_text import find_statement
from .question import ADD_OPS, Finding, OptionalFinding, find_nearest_tracked_consumers
from .tape_adapter import TapeAdapter, TapeQuestion, build_question, build_tape_adapter
from .zero_nan import (
    find_blamed_return_site_of_rule,
    find_cause_of_nonfinite,
    find_cause_of_zero,
    is_row_value_finite_or_unknown,
)

FUNCTION_OPS = ("function", "PartitionedCall", "StatefulPartitionedCall")
MAX_CALL_DEPTH = 3  # The maximum number of nested calls to enter.


def find_source_not_watched_when_used(question: TapeQuestion) -> OptionalFinding:
    """Find a source that the tape did not watch when it was used.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    if not question.used_source_rows or _is_first_step_on_tape_a_reported_break(question):
        return None
    used_rows = [question.rows[row] for row in question.used_source_rows]
    is_on_tape = any(question.adapter.reachability.is_on_tape(row.extra) and row.tracked for row in used_rows)
    if is_on_tape and not _was_watched_after_last_use(question):
        return None
    uses = question.list_target_ancestors_reading_source()
    first_use = next((row for row in uses if row.position != OTHER_RECORDING), uses[0] if uses else None)
    late_watch = _find_late_or_paused_watch(question)
    if late_watch is not None:
        late_watch.row = None if first_use is None else first_use.index
        return late_watch
    return _find_cause_of_missing_watch(question, first_use)


def _find_cause_of_missing_watch(question: TapeQuestion, first_use: RecordedRow | None) -> OptionalFinding:
    """Find out why no tape watched the source: for example, it may be frozen or may have been replaced by a tensor.

    Args:
        question: The question about the source.
        first_use: The first row that read the source, preferably on this tape, or None if no row read it.
    """
    adapter = question.adapter
    source = question.source
    site, row = (NOWHERE, None) if first_use is None else (first_use.site, first_use.index)
    if isinstance(source, UnreadVariable):
        place = find_origin_place(find_origin(source._state))
        return Finding("rebound", site if place is None else to_site(place), detail="of the variable")
    if not question.is_source_variable:
        return checks.find_rebound_name(question) or Finding("not_watched", site, row)
    if not source.trainable:
        return Finding("not_trainable", find_innermost_site(adapter.find_creation(source).call_stack, site))
    if not adapter.reachability.tape._watch_accessed_variables:
        return Finding("not_accessed_watched", adapter.find_block_site(), row)
    return None


def _is_first_step_on_tape_a_reported_break(question: TapeQuestion) -> bool:
    """Return whether the path's first step on this tape is a break that a different check reports.

    Args:
        question: The question about the source.
    """
    for row, edge in question.path:
        if edge.cause or question.rows[row].extra.enclosing_call is None:
            return edge.cause in ("outside_tape", "recording_paused", "state", "left_through_numpy")
    return False


def _was_watched_after_last_use(question: TapeQuestion) -> bool:
    """Return whether the program watched the source only after its last use.

    Args:
        question: The question about the source.
    """
    adapter = question.adapter
    rows = (question.rows[row] for row in question.used_source_rows)
    watched_since = [
        adapter.reachability.tape.watched[row.extra.row] for row in rows if adapter.was_watched_by_program(row)
    ]
    if not watched_since:
        return False
    return all(0 <= use.position < min(watched_since) for use in question.list_target_ancestors_reading_source())


def _find_late_or_paused_watch(question: TapeQuestion) -> OptionalFinding:
    """Find a call to ``tape.watch`` that ran too late, or that ran while recording was paused.

    Args:
        question: The question about the source.
    """
    for event, _, subject, frames in question.adapter.reachability.tape.history:
        if event.startswith("watch") and subject is not None and subject() is question.source and frames:
            site = to_site(CodePlace(frames))
            # init_scope does not pause the tape itself.
            if event == "watch in pause" or _is_site_in_pause(site):
                return Finding("recording_paused", site, variant="watch")
            return Finding("watched_late", site)
    return None


def _is_site_in_pause(site: Site) -> bool:
    """Return whether a line is inside a block where recording is paused.

    Args:
        site: The line.
    """
    return find_statement(site).find_enclosing_with_or_function_using("stop_recording", "init_scope") is not None


def find_custom_rule_returning_none(question: TapeQuestion) -> OptionalFinding:
    """Find a custom derivative rule that returned None on a path without breaks.

    Args:
        question: The question about the source.
    """
    for row, _ in question.path:
        rule = find_blamed_return_site_of_rule(question, row)
        if rule is not NOWHERE:
            return Finding("custom_rule", rule, row, variant="none")
    return None


def refine_break_finding_with_tape_details(question: TapeQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return the finding that best explains a break, based on details that only a tape records.

    Args:
        question: The question about the source.
        finding: The finding for the break that is nearest to the source.
        row: The row at which the path breaks.
    """
    rule = find_blamed_return_site_of_rule(question, row.index)
    if rule is not NOWHERE:
        return Finding("custom_rule", rule, row.index, variant="none", more=finding.more)
    edge = next(edge for path_row, edge in question.path if path_row == row.index and edge.cause)
    if finding.cause == "outside_tape":
        if question.is_source_unwatched_tensor:
            first_uses = question.list_target_ancestors_reading_source()
            finding.more.append(Finding("not_watched", first_uses[0].site if first_uses else NOWHERE))
        if edge.detail != "reset":
            _blame_block_exit_or_bypass(question, finding, row)
    return finding


def _blame_block_exit_or_bypass(question: TapeQuestion, finding: Finding, row: RecordedRow) -> None:
    """Change a finding so that it blames the statement by which the program left or bypassed the tape's block.

    Args:
        question: The question about the source.
        finding: The finding for the break.
        row: The row at which the path breaks.
    """
    if row.extra.record is None and _is_site_in_pause(finding.site):
        finding.cause = "recording_paused"
    # The calls that led to the block are unknown, so the comparison starts in the function that contains the block.
    block = find_statement(question.adapter.find_block_site())
    functions = [
        statement.enclosing_functions if statement else None for statement in map(find_statement, row.call_stack)
    ]
    start = functions.index(block.enclosing_functions) if block and block.enclosing_functions in functions else 0
    block_call_stack = question.adapter.find_block_begin_call_stack()
    finding.site = checks.find_divergence_site_or_deeper_storing_site(row.call_stack[start:], block_call_stack)


def find_uncalled_layer_of_source(question: TapeQuestion) -> OptionalFinding:
    """Find a layer that was not called, if the source is one of its variables.

    Args:
        question: The question about the source.
    """
    if not question.is_source_variable:
        return None
    reachability = question.adapter.reachability
    owner = question.adapter.owners.find_owner(question.source)
    if owner is None or question.source._find_rows_in_recording(reachability.tape):
        return None
    used_ids = {id(row.find_object()) for row in question.list_target_leaves_besides_source() if row.kind == "variable"}
    if any(
        id(variable) in used_ids or variable._find_rows_in_recording(reachability.tape)
        for variable in list_variables_of_owner_or_its_attributes(owner)
    ):
        return None
    frames = find_creation_stack(owner)
    call_stack = build_call_stack_outermost_first(CodePlace(frames)) if frames else question.source_call_stack
    name = getattr(owner, "name", None)
    class_name = type(owner).__name__
    detail = f"{name} ({class_name})" if isinstance(name, str) else class_name
    return Finding("unused_layer", find_innermost_site(call_stack), detail=detail)


def find_leaf_of_same_kind_equal_to_source(question: TapeQuestion) -> OptionalFinding:
    """Find a different object that is of the same kind as the source and has the same values.

    Layer variables are ignored, because several layers often start with the same weights.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    if question.is_source_variable and question.adapter.owners.find_owner(question.source) is not None:
        return None
    finding = checks.find_leaf_equal_to_source(question)
    if finding is None or finding.row is None:
        return None
    is_same_kind = question.is_source_variable == (question.rows[finding.row].kind == "variable")
    return finding if is_same_kind else None


def build_finding_of_escape_or_earlier_break(question: TapeQuestion, escapes: Escapes) -> Finding:
    """Return the finding for the first escape, or for a break before that escape.

    If there is a break before the escape, its finding lists the escape in `more`.

    Args:
        question: The question about the source.
        escapes: The escapes that matter.
    """
    finding = checks.build_finding_of_first_escape(question, escapes)
    earlier = checks.find_break_before_escape(question, escapes[0])
    if earlier is None:
        return finding
    earlier.more = [finding]
    return earlier


TAPE_CHECKS = FrameworkChecks(
    find_untracked_source=find_source_not_watched_when_used,
    find_missing_derivative=find_custom_rule_returning_none,
    find_cause_behind_break=refine_break_finding_with_tape_details,
    rank_escapes=checks.rank_escapes_by_likely_cause,
    build_escape_finding=build_finding_of_escape_or_earlier_break,
    find_replacement_of_unused_source=combine_checks(
        checks.find_leaf_replacing_source,
        checks.find_unused_source_sharing_ancestor,
        find_leaf_of_same_kind_equal_to_source,
    ),
    find_result_unused_by_target=find_nothing,  # The sentence for "independent" names the last use.
    find_uncalled_layer=find_uncalled_layer_of_source,
    find_lost_gradient=checks.build_finding_of_target_without_source,
)


def explain_missing_gradient(question: TapeQuestion) -> Explanation:
    """Explain why a source has no gradient.

    Args:
        question: The question about the source.
    """
    return to_tape_explanation(question, run_checks_until_first_finding(question, TAPE_CHECKS))


def to_explanation_of_zero_or_nonfinite(question: TapeQuestion, finding: Finding) -> Explanation:
    """Return the explanation of a zero or nonfinite gradient, even if the cause lies inside a function.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
    """
    inner_question, inner_finding = move_finding_into_call(question, finding)
    answer = to_tape_explanation(inner_question, inner_finding)
    if inner_question is not question:
        answer._rows = [] if finding.row is None else [question.rows[finding.row].extra.row]
    name = question.name
    if answer.kind == "zero":
        answer.message = join_sentences(fill("The gradient of {x} is zero.", x=name), answer.message)
    elif answer.kind == "nonfinite":
        target_is_finite = all(is_row_value_finite_or_unknown(question, row) for row in question.target_rows)
        gradient = fill("The gradient of {x} is not finite.", x=name)
        answer.message = join_sentences(
            gradient if target_is_finite else fill("The target is not finite."), answer.message
        )
    return answer


def to_tape_explanation(question: TapeQuestion, finding: Finding) -> Explanation:
    """Return the explanation of a finding, with the sentences and rows that are specific to a tape.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
    """
    for part in (finding, *finding.more):
        if part.cause == "nondifferentiable":
            part.cause = "nondifferentiable_op"
    return _replace_rows_by_rows_of_tape(question, finding_sentences.to_explanation_with_fixes(question, finding))


def _replace_rows_by_rows_of_tape(question: TapeQuestion, answer: Explanation) -> Explanation:
    """Replace the question's rows in an answer by those rows of the tape, which its picture marks."""
    record = question.adapter.reachability.record
    for explanation in (answer, *answer.others):
        explanation._rows = [
            node.row for row in explanation._rows if (node := question.rows[row].extra).record is record
        ]
    return answer


# -- gradients that exist --------------------------------------------------------------------------


def explain_existing_gradient(question: TapeQuestion) -> Explanation:
    """Explain why an existing gradient is zero, nonfinite or wrong, and otherwise report which paths are blocked.

    Args:
        question: The question about the source.
    """
    question.sweep = question.adapter.sweep
    finding = find_cause_of_zero_or_nonfinite(question)
    if finding is not None:
        return to_explanation_of_zero_or_nonfinite(question, finding)
    side_breaks = checks.find_side_breaks(question, [])
    cuts = [cut for cut in side_breaks if cut.row is None or is_blocked_path_needed_beside_open_path(question, cut)]
    cuts += checks.find_escapes_beside_open_path(question, cuts)
    connected = to_tape_explanation(question, Finding("connected", more=cuts))
    open_descendants = question.find_rows_and_descendants(question.source_rows, open_only=True)
    suspicion = next(
        (candidate for candidate in question.adapter.suspicions if candidate.row in open_descendants), None
    )
    answer = connected
    if suspicion is not None:
        answer = _replace_rows_by_rows_of_tape(question, suspicion.to_explanation(question.name, question))
    answer.name = question.name
    answer.others = [other for other in connected.others if other.line != answer.line]
    for other in answer.others:
        if other.kind == "cut":
            other.fix = fill("If this is intended, nothing is wrong.")
    if suspicion is None:
        answer.message = join_sentences(
            answer.message, _format_note_on_summed_target_elements(question.adapter.reachability.targets)
        )
    if answer.others:
        answer.message = join_sentences(answer.message, _describe_blocked_paths_beside_open_path(len(answer.others)))
    return answer


def _describe_blocked_paths_beside_open_path(count: int) -> str:
    """Return a sentence about the paths that are blocked although another path is open.

    Args:
        count: The number of blocked paths.
    """
    if count == 1:
        return fill("Another path is blocked, so its contribution is missing from the gradient.")
    template = "{n} other paths are blocked, so their contributions are missing from the gradient."
    return fill(template, n=count)


def is_blocked_path_needed_beside_open_path(question: TapeQuestion, break_finding: Finding) -> bool:
    """Return whether a blocked path is probably needed although another path is open.

    The path is needed if its result is added to or concatenated with other values. A target or a factor is often cut on
    purpose.

    Args:
        question: The question about the source.
        break_finding: The finding for the break in the blocked path.
    """
    if get_kind_name_or_error_kind(break_finding.cause) == "cut":
        return any(
            question.rows[consumer].op in {*ADD_OPS, "ConcatV2"}
            for consumer in find_nearest_tracked_consumers(question.rows, question.consumers, break_finding.row or 0)
        )
    return break_finding.cause != "state" or break_finding.row not in question.source_rows


def _format_note_on_summed_target_elements(targets: TargetsOrSources) -> str:
    """Return a sentence about a target with several elements, or "" for a target with one element.

    Args:
        targets: The targets.
    """
    sizes = [target.shape.num_elements() for target in targets]
    if None in sizes or sum(sizes) < 2:
        return ""
    if len(sizes) > 1:
        return fill("There are {n} targets, so this is the gradient of the sum of all their elements.", n=len(sizes))
    return fill(
        "The target has {n} elements, so this is the gradient of their sum. tape.jacobian computes a separate gradient "
        "for each element.",
        n=sizes[0],
    )


def find_cause_of_zero_or_nonfinite(question: TapeQuestion) -> OptionalFinding:
    """Find out why an existing gradient is zero or nonfinite.

    Args:
        question: The question about the source.
    """
    with np.errstate(all="ignore"):
        return find_cause_of_nonfinite(question) or find_cause_of_zero(question)


def move_finding_into_call(
    question: TapeQuestion, finding: Finding, entered_calls: int = 0
) -> tuple[TapeQuestion, Finding]:
    """Replace a finding that blames a function call with a finding that blames an operation inside the function.

    Args:
        question: The question that the finding answers.
        finding: The finding.
        entered_calls: The number of calls already entered, at most `MAX_CALL_DEPTH`.

    Returns:
        The question about the innermost call that is at fault, and the finding that answers it. If nothing inside a
        call is at fault, the arguments are returned unchanged.
    """
    unchanged = question, finding
    if entered_calls == MAX_CALL_DEPTH or finding.row is None or question.rows[finding.row].op not in FUNCTION_OPS:
        return unchanged
    node = question.rows[finding.row].extra
    adjoint: ValueSummary | None = None if question.sweep is None else question.sweep.adjoints.get(finding.row)
    replayed_call = (
        None if adjoint is None else replay_function_call_on_new_tape(question.adapter.reachability, node.row)
    )
    if adjoint is None or replayed_call is None:
        return unchanged
    inner_adapter = build_tape_adapter(*replayed_call)
    sweep = _replay_sweep_inside_function_call(inner_adapter, adjoint)
    assert node.record is not None
    call = node.record.get_call(node.row)
    for source, input_row in zip(inner_adapter.reachability.sources, call.inputs, strict=False):
        outer_row = question.adapter.row_of_node.get((id(node.record), input_row))
        if not source.dtype.differentiable or outer_row not in question.descendants:
            continue
        inner_question = build_question(inner_adapter, source)
        inner_question.sweep = sweep
        inner_question.name = question.name
        if not inner_adapter.reachability.is_connected(source):
            cut = run_checks_until_first_finding(inner_question, TAPE_CHECKS)
            if cut.cause == "independent":  # The source is used in another branch of the function.
                return question, Finding("independent", finding.site, variant="call")
            return inner_question, cut
        inner_finding = find_cause_of_zero_or_nonfinite(inner_question)
        if inner_finding is not None:
            return move_finding_into_call(inner_question, inner_finding, entered_calls + 1)
    return unchanged


def _replay_sweep_inside_function_call(adapter: TapeAdapter, adjoint: ValueSummary) -> OptionalBackwardPass:
    """Replay the backward sweep inside a function call.

    Args:
        adapter: The adapter for the separate tape on which the call was replayed.
        adjoint: The adjoint of the call: one array, or one for each result.
    """
    reachability = adapter.reachability
    adjoints = adjoint.content if isinstance(adjoint.content, LIST_OR_TUPLE) else [adjoint.content]
    starts = {
        row: result_adjoint
        for result, result_adjoint in zip(reachability.targets, adjoints, strict=False)
        for row in find_differentiable_rows(reachability.tape, result)[-1:]
    }
    return replay_sweep(reachability, adapter.row_of_node, starts, reachability.sources)


def find_cut_that_makes_zero(question: TapeQuestion) -> OptionalFinding:
    """Find the cut that makes a gradient zero, if every path through a loop or a branch is cut.

    Args:
        question: The question about the source.
    """
    if not question.path_breaks:
        return None
    has_inner_rows = any(row.extra.enclosing_call is not None for row in question.rows)
    if not has_inner_rows and question.adapter.sweep is not None:
        return None
    return find_path_break(question, TAPE_CHECKS)


def explain_gradient(adapter: TapeAdapter, source: Any) -> Explanation:
    """Explain why a source has no gradient, or what is wrong with its existing gradient.

    Args:
        adapter: The adapter for the tape.
        source: The tensor or variable.
    """
    question = build_question(adapter, source)
    is_reached = not adapter.sweep or not adapter.sweep.adjoints.keys().isdisjoint(question.source_rows)
    unreached_break = None if is_reached else find_path_break(question, TAPE_CHECKS)
    if unreached_break is not None and unreached_break.cause == "custom_rule":
        answer = to_tape_explanation(question, unreached_break)
    elif not adapter.reachability.is_connected(source):
        answer = explain_missing_gradient(question)
    else:
        cut = find_cut_that_makes_zero(question)
        answer = explain_existing_gradient(question) if cut is None else to_tape_explanation(question, cut)
        if answer.kind not in ("connected", "zero", "nonfinite", "suspect"):
            answer.message = join_sentences(fill("The gradient of {x} is zero.", x=question.name), answer.message)
        answer.connected = True
    answer._tape = adapter.reachability.tape
    return answer


def find_break_on_tape_of_py_function(
    tape: GradientTape, target: TargetOrSource, source: TargetOrSource
) -> Break | None:
    """Return the break in the path from a source to a target inside a ``tf.py_function``, or None.

    Args:
        tape: The tape that recorded the function while it ran.
        target: A result of the function.
        source: An input of the function.
    """
    adapter = build_tape_adapter(tape, [target], [source])
    if adapter.reachability.is_connected(source):
        return None
    finding = run_checks_until_first_finding(build_question(adapter, source), TAPE_CHECKS)
    return Break(finding.cause, getattr(finding.site, "place", None), finding.detail)
