"""A tape as a recording: the rules that say whether an adjoint arrives, and the rows, with what breaks on their edges.

It is made when it is asked. Rows are in the order of time, as far as it is known: those of the table know their
number, what ran outside of it a clock.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.backward.reachability import mark_rows_on_tape
from ..engine.backward.row_marks import has_differentiable_dtype
from ..engine.record import provenance
from ..engine.record.array_spec import ArraySpec
from ..engine.record.provenance import EscapeNote, get_thread_escapes
from ..engine.record.row_parts import CALL, CHUNK
from ..engine.record.thread_state import state
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from .graph_nodes import CodePlace, ValueNode, iter_operations_from_row
from .value_graph import ValueGraph
from .value_origins import ValueOrigin, convert_note_to_origin

if TYPE_CHECKING:
    from ..engine.backward.tape import GradientTape
    from ..engine.types import Array, TargetOrSource


class BlockBegin(NamedTuple):
    """The time at which a tape began to record, and the user's frames then."""

    clock: int
    frames: tuple[tuple[CodeType, int], ...]


# of each scalar operation whether its first and its second input get something
_PASSED_INPUTS = [(False, False)] * FIRST_CODE + [
    (p.texts[1] != "-", len(p.texts) > 2 and p.texts[2] != "-") for p in BY_CODE
]


def unwrap_to_base_variable(value: Any) -> Any:
    """Return the variable that is behind one of Keras, or behind a part of a variable; any other value itself."""
    value = value._gradient_end() if hasattr(value, "_gradient_end") else value
    return getattr(value, "_base", value)


class TapeRules:
    """The rules that say what is on a tape, and which rows the adjoints of its targets reach, without a sweep."""

    def __init__(
        self, tape: GradientTape, targets: list[TargetOrSource], sources: list[TargetOrSource] | None = None
    ) -> None:
        self.tape, self.targets, self.sources = tape, targets, sources or []
        self.graph = ValueGraph(tape)
        self.record = self.graph.record
        self.target_nodes = [node for target in targets for node in self.graph.list_nodes_of_value(target)[:1]]
        self.graph.target_keys = {node.key for node in self.target_nodes}

    @cached_property
    def rows_on_tape(self) -> bytearray:
        """For each row whether it is on the tape."""
        return mark_rows_on_tape(self.tape) if len(self.record) else bytearray()

    def is_connected(self, source: TargetOrSource) -> bool:
        """Whether an adjoint reaches the source: the answer is that of ``gradient``."""
        last_answer = self._was_connected_in_last_call(source)
        if last_answer is not None:
            return last_answer
        return source.dtype.differentiable and (
            any(target is source for target in self.targets)
            or any(self.rows_on_tape[row] and self.reached_rows[row] for row in self.tape._find_rows_of_value(source))
        )

    def _was_connected_in_last_call(self, source: TargetOrSource) -> bool | None:
        """Return whether the last call of ``gradient`` returned one for the source; None if it was about others."""
        last = self.tape.last_request
        if last is None or len(last.targets) != len(self.targets):
            return None
        if any(last_target is not target for last_target, target in zip(last.targets, self.targets, strict=True)):
            return None
        return next(
            (
                not is_none
                for last_source, is_none in zip(last.sources, last.is_none, strict=True)
                if last_source is source
            ),
            None,
        )

    @cached_property
    def reached_rows(self) -> bytearray:
        """For each row whether the adjoint of a target arrives there."""
        reached = bytearray(len(self.record))
        rows = [
            target_row
            for target in self.targets
            if target.dtype.differentiable
            for target_row in self.tape._find_rows_of_value(target)[-1:]
        ]
        for row in rows:
            reached[row] = 1
        for end in range(max(rows, default=-1) + 1, 0, -CHUNK):
            self._mark_reached_in_chunk(max(0, end - CHUNK), end, reached)
        return reached

    def _mark_reached_in_chunk(self, first_row: int, end_row: int, reached: bytearray) -> None:
        """Mark the inputs that adjoints reach from the rows in [first_row, end_row), from the last one on."""
        record = self.record
        ops, left, right, calls, _, _ = record.read_columns(first_row, end_row)
        for row in range(end_row - 1, first_row - 1, -1):
            if not (reached[row] and self.rows_on_tape[row]):
                continue
            op, left_row = ops[row - first_row], left[row - first_row]
            if op >= FIRST_CODE:
                passed = _PASSED_INPUTS[op]
                if passed[0]:
                    reached[left_row] = 1
                if passed[1]:
                    reached[right[row - first_row]] = 1
            elif op == CALL:
                call = calls[row - first_row]
                for input_row, passes in zip(
                    call.inputs, self.graph.list_adjoint_passes_by_input(record, call), strict=True
                ):
                    if passes and has_differentiable_dtype(record, input_row):
                        reached[input_row] = 1

    def is_on_tape(self, node: ValueNode) -> bool:
        """Whether a node is a row that is on the tape."""
        return node.record is self.record and bool(self.rows_on_tape[node.row])

    def was_watched(self, node: ValueNode) -> bool:
        """Whether ``watch`` (or the reading of a variable) put a row on the tape."""
        return node.record is self.record and node.row in self.tape.watched

    def find_array(self, node: ValueNode) -> Array:
        """The array of a value, None when it is gone."""
        if node.tensor is not None:
            value = getattr(node.tensor, "_value", None)
            return None if isinstance(value, ArraySpec) else value  # of a function whose first run is over
        return (
            None if node.record is None or node.enclosing_call is not None else node.record.get_value_or_none(node.row)
        )

    def find_origin(self, source: TargetOrSource) -> ValueOrigin | None:
        """The origin of a tensor or variable, as far as it is known."""
        return convert_note_to_origin(
            source._origin if isinstance(source, Tensor) else getattr(source, "_creation_origin", None)
        )

    @property
    def block_begins(self) -> list[BlockBegin]:
        """When and where the tape began to record."""
        return [BlockBegin(clock, frames) for event, _, clock, frames in self.tape.notes if event == "enter"]

    def find_last_use_before_target(self, source: TargetOrSource) -> CodePlace | None:
        """Find the last statement under this tape, before the target, that computed something from a source."""
        source_rows = self.tape._find_rows_of_value(source)
        target_row = next((node.row for node in self.target_nodes if node.record is self.record), len(self.record))
        derived_rows = set(source_rows)
        for row, inputs in iter_operations_from_row(self.record, min(source_rows, default=target_row)):
            if row < target_row and not derived_rows.isdisjoint(inputs):
                derived_rows.add(row)
        last_row = max(derived_rows.difference(source_rows), default=None)
        return (
            None if last_row is None else self.graph.find_or_add_row_node(self.record, last_row).find_recorded_place()
        )

    @cached_property
    def escapes(self) -> list[EscapeNote]:
        """The values that left, on this thread and on others, oldest first."""
        escapes = [*get_thread_escapes().notes]
        for thread_log in [*provenance.THREAD_ESCAPE_LOGS]:
            if thread_log is not state.memory.escapes:
                with suppress(RuntimeError):  # that thread continues meanwhile
                    escapes += thread_log.notes
        return sorted(escapes, key=lambda escape: escape.clock)


def read_given_variable_name(variable: Any) -> str:
    """The name that a variable was given; empty without one."""
    name = getattr(variable, "name", None) or ""
    return "" if "ariable" in name else name.removesuffix(":0")
