"""Find the rows that are on a tape, and the rows that an adjoint would reach.

These rows are computed only when explain needs them. Rows are ordered by their numbers, and values without a row by
their clocks.
"""

from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from ..engine.backward.gradient import find_differentiable_rows
from ..engine.backward.reachability import mark_rows_on_tape
from ..engine.backward.row_marks import has_differentiable_dtype
from ..engine.backward.row_values import iter_operations_backward
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import find_rows_in_recording, is_read_off_tape_by_targets
from ..engine.record import provenance
from ..engine.record.array_spec import ArraySpec
from ..engine.record.provenance import LoggedEscape, Stack, get_thread_escape_log
from ..engine.record.thread_state import state
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from ..engine.types import Array, OptionalFlag, TargetOrSource, TargetsOrSources
from .graph_nodes import OptionalPlace, ValueNode, iter_operations_from_row
from .value_graph import ValueGraph
from .value_origins import ValueOrigin, find_origin, to_value_origin


class BlockBegin(NamedTuple):
    """The beginning of a tape's ``with`` block.

    Attributes:
        clock: The time at which the block began.
        frames: The user's frames when the block began, as (code, offset) pairs, innermost first.
    """

    clock: int
    frames: Stack


# For each scalar operation, whether its first and second inputs receive a share.
_PASSED_INPUTS = [(False, False)] * FIRST_CODE + [
    (p.texts[1] != "-", len(p.texts) > 2 and p.texts[2] != "-") for p in BY_CODE
]


def unwrap_to_base_variable(value: Any) -> Any:
    """Return the variable that a Keras variable wraps, or that a part of a variable belongs to.

    Args:
        value: The object. Objects of other types are returned unchanged.
    """
    if hasattr(value, "_get_gradient_carrier"):
        value = value._get_gradient_carrier()
    return getattr(value, "_base", value)


class TapeReachability:
    """The rows on a tape, and the rows that the adjoints of some targets would reach, found without a sweep.

    Attributes:
        tape: The tape.
        targets: The targets of the gradient.
        sources: The sources of the gradient.
        graph: The values that the tape can reach, as a graph.
        record: The recording of the tape.
        target_nodes: The current node of each target.
    """

    def __init__(self, tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources | None = None):
        """Create the graph of a tape, and find the nodes of the targets."""
        self.tape = tape
        self.targets = targets
        self.sources = sources or []
        self.graph = ValueGraph(tape)
        self.record = self.graph.record
        self.target_nodes = [node for target in targets for node in self.graph.list_nodes_of_value(target)[:1]]
        self.graph.target_keys = {node.key for node in self.target_nodes}
        # Storing each source keeps it alive. Otherwise, a new source might reuse its id.
        self._known_answers: dict[int, tuple[TargetOrSource, bool]] = {}

    @cached_property
    def rows_on_tape(self) -> bytearray:
        """For each row of the recording, whether it is on the tape."""
        return mark_rows_on_tape(self.tape) if len(self.record) else bytearray()

    def is_connected(self, source: TargetOrSource) -> bool:
        """Return whether an adjoint reaches a source, in which case ``gradient`` does not return None.

        If the last ``gradient`` call had the same targets and included this source, the result of that call is used.
        The answer is cached.

        Args:
            source: A tensor or variable.
        """
        if id(source) not in self._known_answers:
            self._known_answers[id(source)] = source, self._compute_is_connected(source)
        return self._known_answers[id(source)][1]

    def _compute_is_connected(self, source: TargetOrSource) -> bool:
        """Return whether an adjoint reaches a source, without using the cache."""
        last_answer = self._has_gradient_in_last_call_of_same_targets(source)
        if last_answer is not None:
            return last_answer
        return source.dtype.differentiable and (
            (
                any(target is source for target in self.targets)
                and not is_read_off_tape_by_targets(self.tape, source, self.targets)
            )
            or any(
                self.rows_on_tape[row] and self.rows_reached_by_target_adjoint[row]
                for row in find_rows_in_recording(self.tape, source)
            )
        )

    def _has_gradient_in_last_call_of_same_targets(self, source: TargetOrSource) -> OptionalFlag:
        """Return whether the last ``gradient`` call found a gradient for a source, or None if its targets differed.

        The result is also None if the source was not among the sources of the last call.
        """
        last = self.tape.last_request
        if last is None or [*map(id, last.targets)] != [*map(id, self.targets)]:
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
    def rows_reached_by_target_adjoint(self) -> bytearray:
        """For each row of the recording, whether a target's adjoint reaches it."""
        reached = bytearray(len(self.record))
        rows = [
            target_row for target in self.targets for target_row in find_differentiable_rows(self.tape, target)[-1:]
        ]
        for row in rows:
            reached[row] = 1
        record = self.record
        for row, op, left_row, right_row, call in iter_operations_backward(record, 0, max(rows, default=-1)):
            if not (reached[row] and self.rows_on_tape[row]):
                continue
            if call is None:
                passes_left, passes_right = _PASSED_INPUTS[op]
                if passes_left:
                    reached[left_row] = 1
                if passes_right:
                    reached[right_row] = 1
                continue
            for input_row, passes in zip(
                call.inputs, self.graph.list_whether_inputs_get_adjoint(record, call), strict=True
            ):
                if passes and has_differentiable_dtype(record, input_row):
                    reached[input_row] = 1
        return reached

    def is_on_tape(self, node: ValueNode) -> bool:
        """Return whether a node is a row on the tape.

        Args:
            node: The node.
        """
        return node.record is self.record and bool(self.rows_on_tape[node.row])

    def find_array(self, node: ValueNode) -> Array:
        """Return the array of a value.

        Args:
            node: The node of the value.

        Returns:
            An array or number with the value's shape and dtype, or None if the value no longer exists or belongs to a
            function's first run.
        """
        if node.tensor is not None:
            value = getattr(node.tensor, "_value", None)
            return None if isinstance(value, ArraySpec) else value  # After the first run, only shapes are known.
        if node.record is None or node.enclosing_call is not None:
            return None
        return node.record.get_value_or_none(node.row)

    def find_origin(self, source: TargetOrSource) -> ValueOrigin | None:
        """Return the origin of a tensor or variable, or None if it is unknown.

        Args:
            source: The tensor or variable.
        """
        if isinstance(source, Tensor):
            return find_origin(source)
        return to_value_origin(getattr(source, "_creation_origin", None))

    @property
    def block_begins(self) -> list[BlockBegin]:
        """The beginnings of the tape's ``with`` blocks, in chronological order."""
        return [BlockBegin(clock, frames) for event, _, clock, frames in self.tape.history if event == "enter"]

    def find_last_computation_from_source_before_target(self, source: TargetOrSource) -> OptionalPlace:
        """Return the last statement before the target that computed something from a source under this tape.

        Args:
            source: The tensor or variable.

        Returns:
            The location of the statement, or None if nothing was computed from the source.
        """
        source_rows = find_rows_in_recording(self.tape, source)
        target_row = next((node.row for node in self.target_nodes if node.record is self.record), len(self.record))
        derived_rows = set(source_rows)
        for row, inputs in iter_operations_from_row(self.record, min(source_rows, default=target_row)):
            if row < target_row and not derived_rows.isdisjoint(inputs):
                derived_rows.add(row)
        last_row = max(derived_rows.difference(source_rows), default=None)
        if last_row is None:
            return None
        return self.graph.find_or_add_row_node(self.record, last_row).find_computation_use_or_creation_place()

    @cached_property
    def escapes(self) -> list[LoggedEscape]:
        """The values that left the framework in any thread, oldest first."""
        escapes = [*get_thread_escape_log().escapes]
        for thread_log in [*provenance.THREAD_ESCAPE_LOGS]:
            if thread_log is not state.memory.escapes:
                with suppress(RuntimeError):  # Another thread may append an escape during the iteration.
                    escapes += thread_log.escapes
        return sorted(escapes, key=lambda escape: escape.clock)


def read_given_variable_name(variable: Any) -> str:
    """Return the name that the program gave to a variable, or "" if the variable has only a default name.

    Args:
        variable: The variable, or None.
    """
    name = getattr(variable, "name", None) or ""
    return "" if "ariable" in name else name.removesuffix(":0")
