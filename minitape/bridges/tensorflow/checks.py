"""Find out why a TensorFlow gradient is None, zero or NaN. Each check looks for one cause."""

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from ...explain.causes import CAUSES
from ...explain.explanation import Explanation
from ...explain.layer_lookup import iter_living_instances
from ...explain.operation_families import ZERO_OPS_BY_CAUSE
from ...explain.reasons.check_order import FrameworkChecks, combine_checks, run_checks_until_first_finding
from ...explain.reasons.checks import (
    does_escape_reach_target,
    find_divergence_site_or_deeper_storing_site,
    find_leaf_equal_to_source,
    find_leaf_replacing_source,
    find_non_float_source,
    find_rebound_name,
    find_unused_source_sharing_ancestor,
)
from ...explain.reasons.finding_sentences import (
    describe_escape_method,
    get_operation_name_or_comparison_text,
    to_explanation_with_fixes,
)
from ...explain.reasons.object_names import find_access_path
from ...explain.reasons.program_text import (
    Statement,
    collect_statements_using_value,
    find_attribute_assignment_site,
    find_binding_statements,
    find_last_name_of_dotted_path,
    find_statement,
    list_statements,
    read_program,
    unparse,
)
from ...explain.reasons.question import Finding, OptionalFinding
from ...explain.reasons.zero_nan import (
    build_row_finding,
    find_blamed_return_site_of_rule,
    find_row_that_passed_on_no_adjoint,
)
from ...explain.translated_sentences import UNNAMED_TENSOR, fill
from ...recording.recorded_rows import Escape, Escapes, RecordedRow, RecordedRowList
from ...recording.sites import NOWHERE, Site, find_innermost_site
from .adapter import CAUSE_BY_STATE, TensorFlowQuestion, build_question
from .function_calls import filter_sweeps_by_source, replay_call_of_row, replay_one_call_per_compiled_step
from .function_graphs import has_gradient_tape
from .kept_tensors import ReturnedGradient, TapeReference
from .numpy_calls import find_numpy_use_of_result, map_keras_losses_to_prediction_parameters
from .operation_log import (
    find_given_variable_name,
    find_missing_gradient_cause,
    is_custom_gradient_op,
    is_dataset_op,
    to_handle_or_value,
)
from .recording import TensorFlowRecording

DATASET_METHODS = "map interleave flat_map filter scan".split()
VARIANT_BY_KERAS_FUNCTION = {
    "predict": "model",
    "predict_on_batch": "model",
    "predict_step": "model",
    "evaluate": "loss",
    "test_on_batch": "loss",
    "train_on_batch": "loss",
    "fit": "loss",
    "get_weights": "weights",
    "convert_to_numpy": "",
}
PYTHON_OPS = {"EagerPyFunc": "tf.py_function", "PyFunc": "tf.numpy_function", "PyFuncStateless": "tf.numpy_function"}


# -- the source ------------------------------------------------------------------------------------


def find_non_tensor_or_gradient_target(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a target that is not a tensor, or that is itself a gradient returned by a tape.

    If the target is None, check the source first.

    Args:
        question: The question about the source.
    """
    if question.target is None:
        return None
    if not isinstance(to_handle_or_value(question.target), tf.Tensor) and not isinstance(question.target, int):
        return Finding("target_not_tensor", detail=type(question.target).__name__)
    returned_gradients = question.adapter.log.tensor_rows.returned_gradients
    gradient: ReturnedGradient | None = returned_gradients.get(question.target)
    if gradient is None:
        return None
    site = find_innermost_site(gradient.call_stack)
    return Finding("computed_after_tape", site, detail="tape.gradient", variant="gradient")


def find_source_left_out_by_keras_or_not_float(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a source that Keras left out because it is not trainable, or a source that is not a float.

    Args:
        question: The question about the source.
    """
    if question.adapter.is_left_out_by_keras:
        return Finding("not_trainable", find_freezing_or_use_site(question), variant="left out")
    finding = find_non_float_source(question)
    if finding is None or question.source_call_stack:
        return finding
    name = question.name
    names = {name, f"self.{name.rpartition('.')[2]}", name.rpartition("[")[0]} - {"self.", ""}

    def is_source_creation(statement: Statement) -> bool:
        call = statement.find_call("Variable", "constant", "add_weight")
        return call is not None and not names.isdisjoint(statement.bound_names)

    created_at = find_creating_or_first_line_that_fits(question, is_source_creation)
    finding.site = created_at or find_first_use_site_preferring_use_on_tape(question)
    return finding


def find_first_use_site_preferring_use_on_tape(question: TensorFlowQuestion) -> Site:
    """Return the first line on the path to the target that used the source while the tape was recording.

    If no use was recorded, return the line of the first use, or NOWHERE if none exists.

    Args:
        question: The question about the source.
    """
    first_use = find_first_use_row_preferring_use_on_tape(question)
    return NOWHERE if first_use is None else first_use.site


def find_first_use_row_preferring_use_on_tape(question: TensorFlowQuestion) -> RecordedRow | None:
    """Return the first row that read the source while the tape was recording, or else the first row that read it."""
    uses = question.list_target_ancestors_reading_source()
    recorded_uses = (use for use in uses if question.adapter.find_tape_state_at_row(use.index)[0] == "records")
    return next(recorded_uses, uses[0] if uses else None)


def find_creating_or_first_line_that_fits(
    question: TensorFlowQuestion, fits: Callable[[Statement], Any]
) -> Site | None:
    """Return the line that created the source, if this line meets a condition.

    If no such line exists, return the first statement of the program that meets the condition. If the lines that
    created the source are unknown, this statement must be the only one that meets the condition.

    Args:
        question: The question about the source.
        fits: A function that returns a true value for a matching statement.

    Returns:
        The line, or None if no line matches.
    """
    creating_statements = [find_statement(site) for site in reversed(question.source_call_stack)]
    for statement in creating_statements:
        if fits(statement):
            return statement.site
    matching_statements = [
        statement
        for statement in list_statements(find_first_use_site_preferring_use_on_tape(question)[0])
        if fits(statement)
    ]
    if not matching_statements or (not creating_statements and len(matching_statements) > 1):
        return None
    return matching_statements[0].site


def find_freezing_or_use_site(question: TensorFlowQuestion) -> Site:
    """Return the line that made the source non-trainable, or else the first line that uses the source.

    Args:
        question: The question about the source.
    """
    return find_creating_or_first_line_that_fits(
        question, _does_set_trainable_by_keyword_or_attribute
    ) or find_first_use_site_preferring_use_on_tape(question)


def _does_set_trainable_by_keyword_or_attribute(statement: Statement) -> bool:
    """Return whether a statement passes ``trainable=`` to a call or assigns a ``trainable`` attribute.

    Args:
        statement: The statement.
    """
    keywords = (keyword.arg for call in statement.calls for keyword in call.keywords)
    attributes = (name.rpartition(".")[2] for name in statement.bound_names)
    return "trainable" in (*keywords, *attributes)


def find_variable_filled_from_source(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a variable that was created from the source or received the source's value before the tape began.

    Args:
        question: The question about the source.
    """
    adapter = question.adapter
    for row, edge in question.path:
        if edge.cause != "variable_assign":
            continue
        if edge.input_row not in question.source_rows and adapter.find_tape_state_at_row(edge.input_row)[0] != "before":
            continue
        creation = adapter.log.find_variable_creation(question.rows[row].find_object())
        if creation.call_stack and creation.call_stack[-1] == edge.site:
            return build_row_finding(question, "wrong_object", row, "copied", site=edge.site)
        if find_statement(edge.site).covers_site(question.rows[question.path[0].row].site):
            return build_row_finding(question, "variable_assign", row, site=edge.site)
    return None


def find_missing_backward_if_no_target(question: TensorFlowQuestion) -> OptionalFinding:
    """If the question has no target, find out why no gradient was requested.

    Args:
        question: The question about the source.
    """
    if question.target is not None:
        return None
    calls = question.adapter.log.function_calls
    has_tape_inside = any(has_gradient_tape(call.graph) for call in calls if call.graph)
    return Finding("no_backward", variant="inside" if has_tape_inside else "")


class SourceUse(NamedTuple):
    """The program's uses of a source that the target depends on.

    Attributes:
        rows: The source's rows that the target depends on.
        leaf: The source's first row that no operation computed, or None if operations computed all its rows.
        uses: The rows that read the source directly.
        first_recorded_use: The first use that the tape recorded, or the first use if the tape recorded none.
        explicit_watchers: The tapes for which the program called ``tape.watch`` on the source.
    """

    rows: RecordedRowList
    leaf: RecordedRow | None
    uses: RecordedRowList
    first_recorded_use: RecordedRow | None
    explicit_watchers: list[TapeReference]

    @property
    def is_variable(self) -> bool:
        """Whether the source is a variable."""
        return self.leaf is not None and self.leaf.kind == "variable"


def find_source_not_watched_when_used(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a source that the question's tape does not watch.

    Args:
        question: The question about the source.
    """
    has_arrived = question.sweep is not None and not question.sweep.adjoints.keys().isdisjoint(
        question.used_source_rows
    )
    if has_arrived or not question.used_source_rows or question.adapter.tape is None:
        return _find_source_read_from_variable(question)
    if question.path and question.path[0].edge.cause in ("variable_assign", "left_through_numpy"):
        return None  # Another check reports that break.
    rows = [question.rows[row] for row in question.used_source_rows]
    use = SourceUse(
        rows,
        next((row for row in rows if row.kind != "operation"), None),
        question.list_target_ancestors_reading_source(),
        find_first_use_row_preferring_use_on_tape(question),
        question.adapter.list_tapes_explicitly_watching(question.source),
    )
    late_finding = _find_late_watch(question, use)
    if late_finding is not None:
        return late_finding
    if any(_did_question_tape_record_source_row(question, row, use.explicit_watchers) for row in use.rows):
        return None
    frozen_finding = _find_frozen_variable(question, use)
    if frozen_finding is not None:
        return frozen_finding
    if use.is_variable and use.uses and all(row.cause not in ("", "not_recorded") for row in use.uses):
        # Every use of the variable breaks the gradient for some other reason, such as an operation without a
        # derivative.
        return None
    return _explain_unwatched_use(question, use)


def _find_late_watch(question: TensorFlowQuestion, use: SourceUse) -> OptionalFinding:
    """Find a call to ``tape.watch`` that came after the source was used, or a use before the tape began.

    Args:
        question: The question about the source.
        use: The uses of the source.
    """
    late_row = next((row.index for row in use.rows if row.extra.is_watched_late), None)
    if late_row is None:
        return None
    first_use = use.uses[0].index if use.uses else late_row
    if question.adapter.find_tape_state_at_row(first_use)[0] == "before":
        return _find_cause_in_tape_state(question, first_use)
    return build_row_finding(
        question, "watched_late", late_row, site=find_first_use_site_preferring_use_on_tape(question)
    )


def _find_frozen_variable(question: TensorFlowQuestion, use: SourceUse) -> OptionalFinding:
    """Find a source that no tape watches automatically because it is a non-trainable variable.

    Args:
        question: The question about the source.
        use: The uses of the source.
    """
    if use.leaf is None or not use.is_variable or getattr(question.source, "trainable", True):
        return None
    finding = build_row_finding(question, "not_trainable", use.leaf.index, site=find_freezing_or_use_site(question))
    sweep = question.sweep
    if sweep is not None and not any(has_gradient for _, has_gradient in sweep.source_results):
        # A sweep in which no source gets a gradient is never intentional.
        finding.is_intended = False
    return finding


def _explain_unwatched_use(question: TensorFlowQuestion, use: SourceUse) -> Finding:
    """Find out why the tape did not watch a source when the source was used.

    The tape may not have been recording at that time, another tape may have watched the source, or the program may not
    have asked any tape to watch the source.

    Args:
        question: The question about the source.
        use: The uses of the source.
    """
    adapter, leaf = question.adapter, use.leaf
    if leaf is not None and (use.is_variable or use.explicit_watchers) and use.first_recorded_use is not None:
        untimely_finding = _find_cause_in_tape_state(question, use.first_recorded_use.index)
        if untimely_finding is not None:
            return untimely_finding
    if use.explicit_watchers:
        pause_site = adapter.find_pause_site() if adapter.tape in use.explicit_watchers else None
        if pause_site is not None:  # A tape watches nothing while its recording is paused.
            return Finding("recording_paused", pause_site, variant="watch")
        return Finding("not_watched", adapter.find_block_site(), variant="other")
    if leaf is None:  # The source was computed from values that no tape watches.
        first_row = use.rows[0]
        site = find_divergence_site_or_deeper_storing_site(first_row.call_stack, adapter.find_block_begin_call_stack())
        return find_rebound_name(question) or build_row_finding(
            question, "not_watched", first_row.index, "made", site=site
        )
    if not use.is_variable:
        site = _find_use_site_or_block_line_leading_to_it(question, use.first_recorded_use)
        return build_row_finding(question, "not_watched", leaf.index, site=site)
    assert adapter.tape is not None
    if not adapter.tape._watch_accessed_variables:
        return build_row_finding(question, "not_accessed_watched", leaf.index, site=adapter.find_block_site())
    return build_row_finding(
        question, "recording_paused", leaf.index, site=find_first_use_site_preferring_use_on_tape(question)
    )


def _did_question_tape_record_source_row(
    question: TensorFlowQuestion, row: RecordedRow, explicit_watchers: Sequence[TapeReference]
) -> bool:
    """Return whether the question's tape recorded one of the source's rows.

    Args:
        question: The question about the source.
        row: A row of the source.
        explicit_watchers: The tapes for which the program called ``tape.watch`` on the source.
    """
    tape = question.adapter.tape
    if tape is None or not row.tracked:
        return False
    if any(watcher is tape for watcher in explicit_watchers):
        return True
    if row.kind == "variable":
        return bool(tape._watch_accessed_variables and getattr(question.source, "trainable", True))
    return row.kind == "operation" and question.adapter.find_tape_state_at_row(row.index)[0] == "records"


def _find_use_site_or_block_line_leading_to_it(
    question: TensorFlowQuestion, first_recorded_use: RecordedRow | None
) -> Site:
    """Return the line that uses a tensor, or the line in the tape's block that led to this use.

    Args:
        question: The question about the source.
        first_recorded_use: The first use that the tape recorded, or None.
    """
    first_use = find_statement(find_first_use_site_preferring_use_on_tape(question))
    block = find_statement(question.adapter.find_block_site())
    is_outside = first_use and block and block not in first_use.enclosing and "." not in question.name
    if not is_outside:
        return find_first_use_site_preferring_use_on_tape(question)
    block_stack = question.adapter.find_block_begin_call_stack()
    call_stack = () if first_recorded_use is None else first_recorded_use.extra.call_stack
    return find_divergence_site_or_deeper_storing_site(call_stack, block_stack) if call_stack else block_stack[-1]


def _find_source_read_from_variable(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a source that is a value read from a variable rather than the variable itself.

    Args:
        question: The question about the source.
    """
    if question.sweep is None or not question.used_source_rows or question.is_source_variable:
        return None
    row = question.rows[question.used_source_rows[0]]
    if row.kind != "variable":
        return None
    gradient_flags = [
        has_gradient for reference, has_gradient in question.sweep.source_results if reference() is question.source
    ]
    if not gradient_flags or any(gradient_flags):
        return None
    name = row.name or fill("the variable")
    return Finding("wrong_object", question.sweep.site, row.index, variant="read", other_name=name)


def _find_cause_in_tape_state(question: TensorFlowQuestion, row: int) -> OptionalFinding:
    """Return a finding for an operation that ran while the tape was not recording, or None if the tape was recording.

    Args:
        question: The question about the source.
        row: The row of the operation.
    """
    state, site = question.adapter.find_tape_state_and_blamed_site(question.rows[row])
    if state == "records":
        return None
    return build_row_finding(question, CAUSE_BY_STATE[state], row, "reset" if state == "dropped" else "", site=site)


# -- the path --------------------------------------------------------------------------------------


def find_break_inside_call_or_at_call(question: TensorFlowQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """If the break is a call to a ``tf.function``, return the finding inside that function, or else the given finding.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row of the break.
    """
    is_unexplained = finding.cause in ("", "nondifferentiable", "not_recorded")
    return move_finding_into_call(question, finding, row) if is_unexplained else finding


def move_finding_into_call(question: TensorFlowQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Replace the finding for a ``tf.function`` call with the finding inside the function, if there is one.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row that the finding blames.
    """
    if row.extra.function_call is None:
        return finding
    inner_finding = find_cause_in_function_call(question, row.index)
    return finding if inner_finding is None or inner_finding.cause == "connected" else inner_finding


def specialize_break_finding(question: TensorFlowQuestion, finding: Finding, row: RecordedRow) -> None:
    """Replace the cause and variant of a finding in place, if more specific ones exist for TensorFlow.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row of the break.
    """
    tape_state, finding.detail = finding.detail, ""
    if finding.cause == "not_recorded":
        finding.cause = "recording_paused"  # The tape's block was running, but no tape recorded the operation.
    elif finding.cause in CAUSE_BY_STATE.values():
        variant = _select_variant_for_tape_state(row, finding, tape_state)
        finding.variant = (
            variant if (question.adapter.framework, variant) in CAUSES[finding.cause].text_by_variant else ""
        )
    elif is_dataset_op(row.op):
        _change_to_dataset_escape(row, finding)
    elif is_custom_gradient_op(row.extra.op or ""):
        finding.cause, finding.variant = "custom_rule", "none"
        finding.site = find_blamed_return_site_of_rule(question, row.index)
    elif finding.cause == "integer_dtype":
        finding.variant = "inside"
    elif finding.cause == "nondifferentiable":
        if not row.cause:
            finding.cause = find_missing_gradient_cause(row.extra.op) or finding.cause
        is_step = finding.cause == "nondifferentiable" and row.op in ZERO_OPS_BY_CAUSE["zero_derivative"]
        finding.variant = "steps" if is_step else ""


def _select_variant_for_tape_state(row: RecordedRow, finding: Finding, tape_state: str) -> str:
    """Return the variant of the explanation for an operation that ran while the tape was not recording.

    Args:
        row: The row of the operation.
        finding: The finding for the break.
        tape_state: The state of the tape during the operation.
    """
    if tape_state == "dropped":
        return "reset"
    if find_statement(finding.site).enclosing_function_name in ("__init__", "build"):
        return "made"
    return "other" if row.tracked else ""


def _change_to_dataset_escape(row: RecordedRow, finding: Finding) -> None:
    """Make a finding blame an escape into a dataset and the line that maps the dataset or calls Keras."""
    use = find_statement(row.site)
    keras_function = find_keras_function_giving_numpy(use)  # Keras converts the arrays that it receives into a dataset.
    finding.cause, finding.detail = "left_through_numpy", f"{keras_function}()" if keras_function else ""
    finding.variant = VARIANT_BY_KERAS_FUNCTION.get(keras_function, "dataset")
    if not keras_function:
        mapping = [
            statement
            for name in use.read_names
            for statement in find_binding_statements(name, use)
            if statement.find_call(*DATASET_METHODS)
        ]
        finding.site = mapping[-1].site if mapping else finding.site


def find_operation_without_derivative(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a recorded operation that has no derivative with respect to its input.

    Args:
        question: The question about the source.
    """
    if not question.used_source_rows:
        return None
    row = None
    if question.sweep is None:
        path = [question.rows[path_row] for path_row, _ in question.path]
        row = next((item.index for item in path if find_missing_gradient_cause(item.extra.op or "Identity")), None)
        # The Python function may have raised the error, so check the values that it read.
        escapes = [
            escape
            for item in path
            if item.op in PYTHON_OPS
            for escape in question.escapes
            if min(item.inputs) < escape.row < item.index
        ]
        if row is None and escapes:
            return build_finding_of_first_escape(question, escapes)
    elif question.sweep.adjoints.keys().isdisjoint(question.used_source_rows):
        row = find_row_that_passed_on_no_adjoint(question)
    if row is None:
        return None
    if question.adapter.recording.rows[row].watched == "explicit":
        untimely_finding = _find_cause_in_tape_state(question, row)
        if untimely_finding is not None:
            return untimely_finding
    return build_row_finding(question, "nondifferentiable", row)


def find_cause_in_compiled_step(question: TensorFlowQuestion) -> OptionalFinding:
    """Find the cause within a ``tf.function`` that contains the tape.

    Args:
        question: The question about the source.
    """
    ancestors = [question.rows[row] for row in sorted(question.ancestors)]
    source_calls = [
        row
        for row in ancestors
        if row.extra.function_call is not None and not row.tracked and {*row.inputs} & {*question.used_source_rows}
    ]
    if not source_calls:
        return None
    call_row = source_calls[-1]
    if question.adapter.log.tape_history.tapes and not has_gradient_tape(call_row.extra.function_call.graph):
        return None
    return find_cause_in_function_call(question, call_row.index) or build_row_finding(
        question, "nondifferentiable", call_row.index, "function"
    )


def find_cause_in_function_call(question: TensorFlowQuestion, call_row: int) -> OptionalFinding:
    """Find the break in the source's path inside a ``tf.function`` call by repeating the call.

    Args:
        question: The question about the source.
        call_row: The call's row.

    Returns:
        The finding, with `call_row` as its row, or None if the call could not be repeated.
    """
    recording, dependent_rows = question.adapter.recording, {*question.descendants, *question.used_source_rows}
    rows, recorded_row = recording.rows, recording.rows[call_row]
    replay = replay_call_of_row(recording, call_row, question.sweep, seeds_with_ones=True)
    if replay is None or recorded_row.output >= len(replay.results):
        return None
    inner_recording, target = replay.recording, replay.results[recorded_row.output]
    finding = None
    variables = recording.log.tensor_rows.variables_by_handle
    input_tensors = [rows[item].find_object() for item in recorded_row.inputs if item in dependent_rows]
    for inner_source in (variables.get(id(item), item) for item in input_tensors):
        inner_question = build_named_question(inner_recording, target, inner_source, question.name)
        finding = run_checks_until_first_finding(inner_question, TENSORFLOW_CHECKS)
        finding.detail = finding.detail or (
            "" if finding.row is None else get_operation_name_or_comparison_text(inner_question, finding.row)
        )
        finding.row = call_row
        if finding.cause != "connected":
            break
    return finding


# -- through Python --------------------------------------------------------------------------------


def rank_escapes_and_numpy_memory_reads(question: TensorFlowQuestion, escapes: Escapes) -> list[Escape]:
    """Return the escapes, latest first, followed by NumPy's reads of memory and then by branch conditions.

    Args:
        question: The question about the source.
        escapes: One or more relevant escapes.
    """
    memory_reads = [
        Escape(row, "", site, row + 1)
        for row in sorted(question.descendants)
        if (site := find_numpy_use_of_result(question.rows[row].site)) is not None
    ]
    return [
        *[escape for escape in reversed(escapes) if not escape.is_condition],
        *memory_reads,
        *[escape for escape in escapes if escape.is_condition],
    ]


def does_keras_loss_return_escaped_value(escape: Escape) -> bool:
    """Return whether a Keras loss function returns a value that was computed from an escaped value.

    Args:
        escape: A value that was computed from the source and then left the framework.
    """
    statement = find_statement(escape.site)
    if not statement.enclosing_functions or statement.enclosing_functions[
        0
    ] not in map_keras_losses_to_prediction_parameters(read_program(statement.file), statement):
        return False
    return any(
        isinstance(later.node, ast.Return) and later.enclosing_functions == statement.enclosing_functions
        for later in collect_statements_using_value(statement, [])
    )


def build_finding_of_first_escape(question: TensorFlowQuestion, escapes: Escapes) -> Finding:
    """Build the finding for the first of the given escapes, naming the function that the escape's line calls.

    Args:
        question: The question about the source.
        escapes: One or more values that were computed from the source and left the framework.
    """
    escape = escapes[0]
    if escape.is_condition:
        return Finding("python_branch", escape.site, escape.row)
    keras_function = find_keras_function_giving_numpy(find_statement(escape.site))
    detail = f"{keras_function}()" if keras_function else describe_escape_method(escape.method)
    variant = VARIANT_BY_KERAS_FUNCTION.get(keras_function, "")
    if not variant and escape.method == "numpy_function":
        variant = "python"
    return Finding("left_through_numpy", escape.site, escape.row, detail, variant)


def find_keras_function_giving_numpy(statement: Statement) -> str:
    """Return the name of the Keras function that a line calls to get NumPy arrays, or "" if it calls no such function.

    Args:
        statement: The statement.
    """
    return next(
        (
            name
            for call in statement.calls
            if (name := find_last_name_of_dotted_path(call.func)) in VARIANT_BY_KERAS_FUNCTION
        ),
        "",
    )


# -- another object --------------------------------------------------------------------------------


def _find_variable_used_instead_of_copy(question: TensorFlowQuestion) -> OptionalFinding:
    """Find the variable that was used instead of the source, if the source is a copy of the variable's value.

    Args:
        question: The question about the source.
    """
    variable_handle, copy_site = question.adapter.log.copied_tensors.get(question.source, (None, NOWHERE))
    leaves = question.list_target_leaves_besides_source()
    if variable_handle is None or not any(
        leaf.kind == "variable" and leaf.find_object() is variable_handle for leaf in leaves
    ):
        return None
    return Finding("wrong_object", copy_site, variant="copied")


def _find_variable_replacing_source(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a variable that took the place of the source, unless the program still refers to both.

    Args:
        question: The question about the source.
    """
    replacement = find_leaf_replacing_source(question)
    if replacement is None or replacement.row is None:
        return None
    objects = [question.rows[replacement.row].find_object(), to_handle_or_value(question.source)]
    are_both_kept = all(map(question.adapter.is_named_or_in_layer, objects))
    replacing_statement = find_statement(replacement.site)
    if are_both_kept and not replacing_statement.find_call("Variable"):
        return None
    replacement.cause, replacement.other_name = "wrong_object", fill("a new variable")
    return replacement


def _find_source_derived_from_target_ancestor(question: TensorFlowQuestion) -> OptionalFinding:
    """Find an unused source that was computed from an ancestor of the target.

    Args:
        question: The question about the source.
    """
    derived = find_unused_source_sharing_ancestor(question)
    if derived is not None:
        derived.variant, derived.other_name = "made", fill("the value that it was created from")
    return derived


def _find_object_used_instead_of_source(question: TensorFlowQuestion) -> OptionalFinding:
    """Find an object that has the source's values or name and was used instead of the source.

    Args:
        question: The question about the source.
    """
    finding = find_leaf_equal_to_source(question) or _find_namesake_replacing_source(question)
    if finding is None or question.is_source_variable:
        return finding
    source_array = np.asarray(question.adapter.find_array(question.source))
    escapes_with_values = (
        escape
        for escape in question.escapes
        if np.array_equal(np.asarray(question.rows[escape.row].array), source_array)
    )
    escape = next(escapes_with_values, None)
    if escape is not None:  # The source was created from the escaped values.
        finding.site = escape.site
    finding.variant = finding.variant or "equal"
    return finding


def _find_namesake_replacing_source(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a variable with the source's name and shape, if the program no longer refers to one of the two.

    Args:
        question: The question about the source.
    """
    handle, name = to_handle_or_value(question.source), find_given_variable_name(question.source) or ""
    if question.source_rows:
        return None
    is_source_kept = question.adapter.is_named_or_in_layer(handle)
    for row in question.list_target_leaves_besides_source():
        is_same_shape = row.kind == "variable" and tuple(row.shape) == tuple(question.source.shape)
        if is_same_shape and (row.name or "").rpartition("/")[2] == name.rpartition("/")[2]:
            is_copy = "/" in name and row.name == name
            if is_copy or not question.adapter.is_named_or_in_layer(row.find_object() if is_source_kept else handle):
                call_stack = question.adapter.find_leaf_creation(row).call_stack or [row.site]
                return Finding(
                    "wrong_object",
                    call_stack[-1],
                    row.index,
                    other_name=row.name or fill("a variable"),
                    variant="cloned" if is_copy else "",
                )
    return None


def find_uncalled_layer_of_source(question: TensorFlowQuestion) -> OptionalFinding:
    """Find a layer that contains the source but was never called.

    Args:
        question: The question about the source.
    """
    handle, layers = to_handle_or_value(question.source), list(iter_living_instances(tf.keras.layers.Layer))
    owners = [
        layer
        for layer in layers
        if any(to_handle_or_value(variable) is handle for variable in layer._trainable_variables)
    ]
    if any(
        question.ancestors.intersection(question.adapter.log.tensor_rows.list_rows_of_tensor_or_variable(variable))
        for layer in owners
        for variable in layer._trainable_variables
    ):
        return None
    for holder in layers:
        for name, value in vars(holder).items():
            if any(value is layer for layer in owners):
                site = find_attribute_assignment_site(holder, name)
                if site != NOWHERE:
                    return Finding("unused_layer", site, detail=owners[0].name)
    return None


# -- what arrived ----------------------------------------------------------------------------------


def move_finding_into_python_or_tf_function(
    question: TensorFlowQuestion, finding: Finding, row: RecordedRow
) -> Finding:
    """If a finding blames a Python function or a ``tf.function``, return the finding inside that function.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row that the finding blames.
    """
    if row.op in PYTHON_OPS:
        return build_row_finding(question, "left_through_numpy", row.index, "python", PYTHON_OPS[row.op])
    return move_finding_into_call(question, finding, row)


def find_missing_tape(question: TensorFlowQuestion) -> OptionalFinding:
    """Report that no tape recorded anything that involves the source.

    Args:
        question: The question about the source.
    """
    log = question.adapter.log
    has_tape = (
        question.sweep is not None
        or log.tape_history.tapes
        or replay_one_call_per_compiled_step(question.adapter.recording)
        or not question.target_rows
        or question.first_target.tracked
    )
    return None if has_tape else Finding("no_backward", variant="tape")


def does_escape_reach_target_branch_or_loss(question: TensorFlowQuestion, escape: Escape) -> bool:
    """Return whether an escaped value decided which branch ran, reached the target, or was returned by a Keras loss.

    Args:
        question: The question about the source.
        escape: A value that was computed from the source and left the framework.
    """
    return (
        escape.is_condition
        or does_escape_reach_target(question, escape)
        or does_keras_loss_return_escaped_value(escape)
    )


def build_finding_of_target_without_source(question: TensorFlowQuestion) -> Finding:
    """Report that the target was not computed from the source.

    This is intended if the program skips gradients that are None.

    Args:
        question: The question about the source.
    """
    request = find_statement(NOWHERE if question.sweep is None else question.sweep.site)
    is_expected = any(
        not statement.read_names.isdisjoint(request.bound_names) and " is not None" in unparse(statement.node)
        for statement in list_statements(request.file)
    )
    return Finding("independent", is_intended=is_expected or None)


TENSORFLOW_CHECKS = FrameworkChecks(
    build_finding_of_target_without_source=build_finding_of_target_without_source,
    find_undifferentiable_target=find_non_tensor_or_gradient_target,
    find_non_float_source=find_source_left_out_by_keras_or_not_float,
    find_untracked_source=combine_checks(
        find_missing_backward_if_no_target,
        find_cause_in_compiled_step,
        find_variable_filled_from_source,
        find_source_not_watched_when_used,
    ),
    find_missing_derivative=find_operation_without_derivative,
    specialize_break=specialize_break_finding,
    find_cause_behind_break=find_break_inside_call_or_at_call,
    rank_escapes=rank_escapes_and_numpy_memory_reads,
    does_escape_reach_target_or_branch=does_escape_reach_target_branch_or_loss,
    build_escape_finding=build_finding_of_first_escape,
    find_lost_gradient=find_missing_tape,
    find_replacement_of_unused_source=combine_checks(
        _find_variable_used_instead_of_copy,
        _find_variable_replacing_source,
        _find_source_derived_from_target_ancestor,
        _find_object_used_instead_of_source,
    ),
    find_uncalled_layer=find_uncalled_layer_of_source,
    refine_nonfinite_finding=move_finding_into_python_or_tf_function,
    refine_zero_finding=move_finding_into_python_or_tf_function,
)


def build_named_question(
    recording: TensorFlowRecording, target: Any, source: Any, name: str = ""
) -> TensorFlowQuestion:
    """Build a question, including the name of its source.

    Args:
        recording: The recording that contains the rows.
        target: The target, or None if no gradient was requested.
        source: A tensor or a variable.
        name: The name of the source, or "" to look up the name in the program.

    Raises:
        TypeError: If the source is neither a tensor nor a variable.
    """
    if not isinstance(to_handle_or_value(source), tf.Tensor):
        raise TypeError(f"explain() takes a tensor or a variable as its source, but received {source!r}.")
    question = build_question(recording, target, source)
    question.name = name or get_source_name_or_placeholder(question)
    return question


def get_source_name_or_placeholder(question: TensorFlowQuestion) -> str:
    """Return the program's name for the source, or a placeholder, without reading any rows.

    Args:
        question: The question about the source.
    """
    return (
        find_access_path(question, to_handle_or_value(question.source))
        or find_given_variable_name(question.source)
        or fill(UNNAMED_TENSOR)
    )


def explain_gradient(recording: TensorFlowRecording, target: Any, source: Any) -> Explanation:
    """Explain why a gradient is None, or what is wrong with an existing gradient.

    Args:
        recording: The block's recording.
        target: The target, or None if no gradient was requested.
        source: A tensor or a variable.

    Raises:
        TypeError: If the source is neither a tensor nor a variable.
    """
    question = build_named_question(recording, target, source)
    return to_explanation_with_fixes(question, run_checks_until_first_finding(question, TENSORFLOW_CHECKS))


def explain_last_gradient_of_source(recording: TensorFlowRecording, source: Any) -> Explanation:
    """Explain the gradient of the source in the last backward pass that was meant to compute this gradient.

    This pass may have run in a function that was only traced, or TensorFlow may have refused it.

    Args:
        recording: The block's recording.
        source: A tensor or a variable.

    Raises:
        TypeError: If the source is neither a tensor nor a variable.
    """
    log, sweeps = recording.log, recording.sweeps
    source_sweeps, steps = filter_sweeps_by_source(sweeps, source)[-1:], replay_one_call_per_compiled_step(recording)
    source_steps = [step for step in steps if filter_sweeps_by_source(step.recording.sweeps, source)]
    eager_sweeps = (source_sweeps or sweeps)[-1:]
    last_steps = (source_steps or steps)[-1:]
    asked_recording, target_row = recording, None
    if last_steps and (not eager_sweeps or sweeps.index(eager_sweeps[0]) < last_steps[0].call.sweep_count):
        asked_recording = last_steps[0].recording
        sweep = (filter_sweeps_by_source(asked_recording.sweeps, source) or asked_recording.sweeps)[-1]
        target_row = sweep.target[-1]
    elif log.refused_sweep is not None and log.refused_sweep.sweep_count == len(sweeps):
        target_row = log.refused_sweep.row
    elif eager_sweeps:
        target_row = eager_sweeps[0].target[-1]
    target = None if target_row is None else asked_recording.rows[target_row].find_object()
    question = build_named_question(asked_recording, target, source)
    question.adapter.is_left_out_by_keras = (
        not source_sweeps and not source_steps and not getattr(source, "trainable", True)
    )
    return to_explanation_with_fixes(question, run_checks_until_first_finding(question, TENSORFLOW_CHECKS))
