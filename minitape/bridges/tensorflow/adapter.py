"""Adapt a TensorFlow recording, including its variables and tapes, for use by the checks."""

from __future__ import annotations

import gc
from bisect import bisect_right
from math import inf
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from ...engine.types import OptionalFunction, OptionalNumber
from ...explain.fixes.dialects import TENSORFLOW
from ...explain.layer_lookup import iter_living_instances
from ...explain.operation_families import CLASS_LOSS_OPS, NORMALIZATION_LAYERS, ZERO_OPS_BY_CAUSE
from ...explain.reasons import checks
from ...explain.reasons.program_text import Statement, find_last_name_of_dotted_path
from ...explain.reasons.question import Creation, Question
from ...recording.recorded_rows import InputEdge, OptionalArray, RecordedRow, TapeStateChange
from ...recording.sites import NOWHERE, CallStack, Site
from ...recording.value_summary import to_float_array
from ..framework_adapter import FrameworkAdapter
from .function_calls import filter_sweeps_by_source
from .kept_tensors import TapeReference, TensorFlowExtra
from .model_variables import MODULE_TYPES
from .operation_log import to_handle_or_value, unwrap_keras_variable

if TYPE_CHECKING:
    from .recording import TensorFlowRecording

STATE_AFTER_EVENT = {"begins": "records", "ends": "after", "pauses": "paused", "resumes": "records"}
CAUSE_BY_STATE = {
    "before": "computed_before_tape",
    "after": "computed_after_tape",
    "paused": "recording_paused",
    "dropped": "computed_before_tape",
}


def build_question(recording: TensorFlowRecording, target: Any, source: Any) -> TensorFlowQuestion:
    """Build a question about a target and a source in a recording.

    The edges of an operation that no tape recorded are breaks, whose cause depends on the tape's state at that time.
    An assignment adds an edge from the stored row to the later states of the variable.

    Args:
        recording: The recording that contains the rows.
        target: The target tensor, variable or row number, or None to ask about the source alone.
        source: The source tensor or variable.

    Returns:
        The question. If the recording does not contain the target, the question has no target rows.
    """
    log = recording.log
    target_row = recording.find_row(target)
    adapter = TensorFlowAdapter(recording, target_row, source)
    source_rows = log.tensor_rows.list_rows_of_tensor_or_variable(source)
    rows = [_copy_row_with_tape_state_as_cause(adapter, row) for row in recording.rows]
    for handle, stored_row, site, first_row in log.assignments:
        if stored_row is None:
            continue
        for row in rows[first_row:]:
            is_same_variable = row.kind == "variable" and id(row.find_object()) == handle
            if is_same_variable and row.index not in source_rows:
                row.add_edge(InputEdge(stored_row, "variable_assign", site))
    for index in source_rows:
        rows[index].edges = [edge._replace(cause="") for edge in rows[index].edges]
    return TensorFlowQuestion(
        adapter=adapter,
        rows=rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=recording.escapes,
        sweep=adapter.sweep,
    )


def _copy_row_with_tape_state_as_cause(adapter: TensorFlowAdapter, row: RecordedRow) -> RecordedRow:
    """Copy a row, and store the tape's state as the cause of the copy's edges if that state blocks the gradient."""
    extra: TensorFlowExtra = row.extra
    state, _ = adapter.find_tape_state_at_row(row.index)
    sweep = adapter.sweep
    was_swept = sweep is not None and row.index in sweep.adjoints and row.index not in sweep.target
    is_unswept_operation = adapter.tape is not None and row.kind == "operation" and not was_swept
    is_explained_by_state = row.cause == "not_recorded" or (row.cause == "" and is_unswept_operation)
    cause = row.cause
    detail = ""
    site = NOWHERE
    if is_explained_by_state and state != "records":
        cause = CAUSE_BY_STATE[state]
    if cause in CAUSE_BY_STATE.values():
        detail = state if extra.row_count is None else "gradient"
        site = adapter.find_tape_state_and_blamed_site(row)[1]
    edges = [InputEdge(edge.input_row, cause, site, detail) for edge in row.edges]
    copied_row = row.copy_with_edges(edges)
    copied_row.call_stack = list(extra.call_stack) or [row.site]
    return copied_row


class TensorFlowAdapter(FrameworkAdapter):
    """The adapter for TensorFlow's tensors, variables and tapes.

    Attributes:
        is_left_out_by_keras: Whether Keras computed no gradient for the source because the source is not trainable.
        recording: The recording that the question is about.
        log: The recording's log.
        sweep: The backward pass that computed the gradient of the source, or else the first pass that began at or
            passed through the target, or None if no such pass exists.
        tape: The tape of the backward pass. If no pass exists, this is the newest tape that recorded the target, or
            else the newest tape. The value is None if the block has no tape.
    """

    framework = "tensorflow"
    zero_mechanisms = ZERO_OPS_BY_CAUSE
    class_loss_ops = CLASS_LOSS_OPS
    cancelling_scopes = NORMALIZATION_LAYERS
    dialect = TENSORFLOW
    unused_cause = "independent"
    escape_cause = "left_through_numpy"
    to_handle_for_comparison = staticmethod(to_handle_or_value)
    is_left_out_by_keras = False

    def __init__(self, recording: TensorFlowRecording, target_row: OptionalNumber, source: Any):
        """Select the backward pass and the tape for a question about a target and a source."""
        self.recording = recording
        self.sweeps = recording.sweeps
        self.log = recording.log
        sweeps = recording.list_sweeps_from_or_else_through(target_row)
        self.sweep = next(iter(filter_sweeps_by_source(sweeps, source) or sweeps), None)
        self.tape: TapeReference | None = None if self.sweep is None else self.sweep.tape
        self._changes_by_tape: dict[int, list[TapeStateChange]] = {}  # The keys are the identities of tapes.
        if self.sweep is None and target_row is not None:
            tapes = self.log.tape_history.tapes
            recording_tapes = [tape for tape in tapes if self.find_tape_state_at_row(target_row, tape)[0] == "records"]
            newest_tapes = (recording_tapes or tapes)[-1:]
            self.tape = newest_tapes[0] if newest_tapes else None

    def find_tape_state_at_row(self, row: int, tape: TapeReference | None = None) -> tuple[str, TapeStateChange | None]:
        """Return the state of a tape during an operation, and the event that began this state.

        Args:
            row: The operation's row.
            tape: The tape, or None for the question's tape.

        Returns:
            The state is "before" (the tape's block had not begun), "records", "paused", "after" (its block had ended)
            or "dropped" (a later reset removed the row). The event is None if no event of the tape is known.
        """
        state_changes = self._list_tape_state_changes_before_sweep(tape or self.tape)
        row_count = self.recording.rows[row].extra.row_count
        passed_count = bisect_right(state_changes, row if row_count is None else row_count, key=lambda span: span.row)
        while (
            passed_count
            and row_count == state_changes[passed_count - 1].row
            and state_changes[passed_count - 1].kind not in ("ends", "pauses")
        ):
            passed_count -= 1
        if not passed_count:
            return "before", next((span for span in state_changes if span.kind == "begins"), None)
        last_change = next(
            (span for span in state_changes[passed_count - 1 :: -1] if span.kind in STATE_AFTER_EVENT), None
        )
        state = "before" if last_change is None else STATE_AFTER_EVENT[last_change.kind]
        if state == "records":
            reset = next((span for span in state_changes[passed_count:] if span.kind == "resets"), None)
            if reset is not None:
                return "dropped", reset
        return state, state_changes[passed_count - 1]

    def find_tape_state_and_blamed_site(self, row: RecordedRow) -> tuple[str, Site]:
        """Return the state of the tape during an operation, and the line to blame for this state.

        The line is the statement that caused the state, or the statement that left the tape's block.
        """
        state, state_change = self.find_tape_state_at_row(row.index)
        if state_change is not None and state == "dropped":
            return state, state_change.call_stack[-1]
        if state_change is None or not row.extra.call_stack:
            return state, row.site
        return state, checks.find_divergence_site_or_deeper_storing_site(row.extra.call_stack, state_change.call_stack)

    def find_pause_site(self) -> Site | None:
        """Return the statement that last paused the tape's recording before the sweep, or None if none did."""
        state_changes = self._list_tape_state_changes_before_sweep(self.tape)
        return next((change.call_stack[-1] for change in reversed(state_changes) if change.kind == "pauses"), None)

    def _list_tape_state_changes_before_sweep(self, tape: TapeReference | None) -> list[TapeStateChange]:
        """Return the state changes of a tape before the sweep, in order."""
        if id(tape) not in self._changes_by_tape:
            last_row_count = inf if self.sweep is None else self.sweep.row_count
            self._changes_by_tape[id(tape)] = [
                span for span in self.log.tape_history.state_changes if span.tape is tape and span.row <= last_row_count
            ]
        return self._changes_by_tape[id(tape)]

    def is_variable(self, obj: Any) -> bool:
        """Return whether the program treats an object as a variable."""
        return isinstance(unwrap_keras_variable(obj), tf.Variable) or getattr(obj, "dtype", None) == tf.resource

    def find_array(self, obj: Any) -> OptionalArray:
        """Return the elements of a tensor or variable as an array of floats, or None if it has no such elements."""
        return to_float_array(self.log.tensor_rows.keep_value(tf.convert_to_tensor(obj)))

    def find_creation(self, obj: Any) -> Creation:
        """Return when and where a variable was created."""
        return self.log.find_variable_creation(to_handle_or_value(obj))

    def find_leaf_creation(self, row: RecordedRow) -> Creation:
        """Return when and where a leaf was created, which is known only for variables."""
        return self.find_creation(row.find_object()) if row.kind == "variable" else Creation(-1)

    def find_custom_rule(self, row: RecordedRow) -> OptionalFunction:
        """Return the custom gradient function of a call, or None if it has no such function."""
        return self.log.custom_rules.get(row.extra.op)

    def was_watched_by_program(self, row: RecordedRow) -> bool:
        """Return whether the program called ``tape.watch`` for a row."""
        return bool(self.list_tapes_explicitly_watching(row.find_object()))

    def list_tapes_explicitly_watching(self, source: Any) -> list[TapeReference]:
        """Return the tapes for which the program called ``tape.watch`` on the source."""
        return [
            tape
            for reference, tape in self.log.tape_history.explicit_watches
            if reference() is to_handle_or_value(source)
        ]

    def find_block_begin_call_stack(self) -> CallStack:
        """Return the statements that were running when the tape's block began, outermost first."""
        for span in self.log.tape_history.state_changes:
            if span.tape is self.tape and span.call_stack:
                return list(span.call_stack)
        return [NOWHERE]

    def was_source_replaced_when_statement_reran(
        self, question: Question, row: RecordedRow, statement: Statement, *_: int
    ) -> bool:
        """Return whether a row's object was created as a replacement for the source.

        This is the case if the statement calls a class, no name refers to the row's object, and no existing layer
        contains the source.
        """
        creates_object = any(find_last_name_of_dotted_path(call.func)[:1].isupper() for call in statement.calls)
        return (
            creates_object
            and not self.is_named_or_in_named_container(row.find_object())
            and not self.is_in_living_layer(to_handle_or_value(question.source))
        )

    def is_named_or_in_named_container(self, obj: Any) -> bool:
        """Return whether any name in the program refers to a variable or to a container that holds it."""
        return any(
            self.to_handle_for_comparison(part) is obj
            for _, value in self.list_program_variable_names_and_values()
            if isinstance(value, (tf.Variable, list, tuple, dict))
            for part in tf.nest.flatten(value)
        )

    def is_in_living_layer(self, obj: Any) -> bool:
        """Return whether an existing layer or module contains a variable."""
        gc.collect()
        return any(
            to_handle_or_value(part) is obj
            for owner in iter_living_instances(*MODULE_TYPES)
            for part in owner.variables
        )

    def is_named_or_in_layer(self, obj: Any) -> bool:
        """Return whether one of the program's names or an existing layer refers to a variable."""
        return self.is_named_or_in_named_container(obj) or self.is_in_living_layer(obj)


class TensorFlowQuestion(Question):
    """A question about a TensorFlow recording.

    Attributes:
        adapter: The adapter for TensorFlow.
    """

    adapter: TensorFlowAdapter
