"""The rows of a recording of TensorFlow: which row stands for which tensor or variable, and a new one for what was
computed.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops, resource_variable_ops

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...explain.reasons.question import Creation
from ...recording.sites import Site
from ..framework_patches import FrameworkPatches
from ..kept_values import IdentityMap
from ..recording import ROW_LIMIT
from .function_graphs import find_changed_input_places, has_gradient_tape
from .kept_tensors import (
    FunctionCall,
    OptimizerStep,
    ReturnedGradient,
    RowLimitReached,
    TapeHistory,
    TensorFlowExtra,
    build_placeholder_tensor,
    pause_recording,
)
from .operation_log import (
    CUT_BY_CAUSE,
    LABELS,
    OPS_WITH_PARAMETERS,
    SHAPE_OPS,
    RunningLine,
    changes_variable,
    find_break_cause,
    find_variable_name,
    is_dataset_op,
    is_watched_by_open_tape,
    to_display_name,
    to_handle_or_value,
    unwrap_keras_variable,
)
from .tensor_rows import TensorRows

if TYPE_CHECKING:
    from .function_calls import ReplayedCall
    from .recording import TensorFlowRecording


class RefusedSweep(NamedTuple):
    """A backward pass that TensorFlow refused.

    Attributes:
        sweep_count: How many backward passes had run.
        row: The row of its target.
    """

    sweep_count: int
    row: int


class TensorFlowLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: TensorFlowRecording) -> None:
        self.recording, self.entries = recording, recording.entries
        self.running_line, self.tape_history = RunningLine(), TapeHistory()
        self.tensor_rows = TensorRows(recording, self.running_line, self.tape_history)
        # of a variable's handle: as which of the block's variables it was created, and where
        self.creations: IdentityMap[Creation] = IdentityMap()
        self.custom_rules: dict = {}  # the gradient function of each call of a tf.custom_gradient
        # (a variable's handle, the row that was stored in it, where, at which row)
        self.assignments: list[tuple] = []
        self.copied_tensors: IdentityMap[tuple[Any, Site]] = (
            IdentityMap()
        )  # tensors that were used for nothing but to fill a variable
        self.function_calls: list[FunctionCall] = []  # of tf.functions
        self.replayed_calls: dict[
            FunctionCall, ReplayedCall | None
        ] = {}  # what the compiled steps among them computed when they were replayed
        self.original_values: dict[
            int, tuple
        ] = {}  # in a call that is replayed, variables before they change, by their handles
        self.refused_sweep: RefusedSweep | None = None
        self.patches = FrameworkPatches()  # asleep while explain computes something
        self.optimizer_steps: list[OptimizerStep] = []
        self.applied_gradient_rows: dict[
            int, int
        ] = {}  # a variable's handle -> the gradient that an optimizer changes it with

    def on_tape_event(self, event: str, tape: Any) -> None:
        """Record that a tape begins, ends, pauses, goes on, or is reset."""
        self.tape_history.record_tape_event(event, tape, len(self.entries), self.running_line.find_call_stack())

    def on_gradients_returned(self, gradients: Sequence, target_rows: list[int]) -> None:
        """Remember the gradients that a tape returned, with their targets."""
        call_stack = self.running_line.find_call_stack()
        for gradient in gradients:
            if isinstance(gradient, tf.Tensor):
                self.tensor_rows.returned_gradients[gradient] = ReturnedGradient(
                    target_rows, call_stack, len(self.entries)
                )

    def on_operation(self, op: str, inputs: Sequence, outputs: Sequence, function_call: Any = None) -> None:
        """Write an operation that ran eagerly; ``function_call`` where it is the call of a ``tf.function``."""
        if op == "VarHandleOp":
            self.creations[outputs[0]] = Creation(len(self.creations), self.running_line.find_call_stack())
        if op == "ReadVariableOp":
            self.tensor_rows.register_row(outputs[0], self.tensor_rows.find_or_add_state_row(inputs[0], outputs[0]))
            return
        if changes_variable(op):
            self.on_assign(inputs)
            return
        if (
            op in SHAPE_OPS
            or is_dataset_op(op)
            or not inputs
            or not outputs
            or all(tensor.dtype == tf.resource for tensor in outputs)
        ):
            return  # constants enter when they are used
        if len(self.entries) >= ROW_LIMIT:
            self.recording.left_out += 1
            if self.recording.is_rerun:
                raise RowLimitReached
            return
        with TemporaryAttributes(self.tensor_rows, is_recorded_later=op.startswith("__")):
            parameter_flags = [
                index > 0
                and op in OPS_WITH_PARAMETERS
                and tensor.dtype in (tf.int32, tf.int64)
                and not self.tensor_rows.list_rows(tensor)
                for index, tensor in enumerate(inputs)
            ]
            rows = [
                self.tensor_rows.find_or_add_row(tensor)
                for tensor, is_parameter in zip(inputs, parameter_flags, strict=True)
                if not is_parameter
            ]
            self._record_operation(op, rows, outputs, function_call)

    def _record_operation(self, op: str, input_rows: list[int], outputs: Sequence, function_call: Any = None) -> None:
        has_tracked_input = any(self.entries[row].tracked for row in input_rows)
        site = self.running_line.find_site()
        scope = [*self.running_line.list_open_scopes()]
        call_id: int | None = None
        name = label = to_display_name(op)
        if function_call is not None:
            name = "function"  # which pictures open
        # of the operation alone, such as strided_slice
        if scope and scope[-1].replace("_", "").lower() == label.lower():
            scope.pop()
        for output, tensor in enumerate(outputs):
            is_watched = is_watched_by_open_tape(tensor)
            cause = find_break_cause(op, tensor) or ("not_recorded" if has_tracked_input and not is_watched else "")
            value = self.tensor_rows.keep_value_for_tapes(tensor)
            extra = TensorFlowExtra(value, cause, op)
            extra.function_call = function_call
            extra.call_stack = () if is_watched else self.running_line.find_call_stack()
            row = self.recording.operation(
                name,
                input_rows,
                value,
                label=LABELS.get(op, label),
                call_id=call_id,
                output=output,
                site=site,
                scope=scope,
                cut=CUT_BY_CAUSE.get(cause) if has_tracked_input else None,
                tracked=is_watched and not cause,
                extra=extra,
                **self.tensor_rows.read_dtype_and_shape(tensor),
            )
            if cause == "not_recorded" or self.tensor_rows.is_recorded_later:
                self.tensor_rows.unsettled_rows.append(row)
            self.tensor_rows.register_row(tensor, row)
            call_id = row if call_id is None else call_id

    def on_jacobian(self, name: str, target: Any, sources: Sequence, results: Sequence) -> None:
        """Write a Jacobian, which TensorFlow computes in one piece: one row for each source, and no backward pass."""
        input_rows = [
            self.tensor_rows.find_or_add_row(target),
            *(row for source in sources for row in self.tensor_rows.list_rows(source)[-1:]),
        ]
        self._record_operation(name, input_rows, [result for result in results if result is not None])

    def on_dataset_iterator_created(self, iterator: Any, dataset_inputs: Sequence) -> None:
        """Write a row for an iterator over a dataset, whose elements are computed of these tensors and variables."""
        self._record_operation(
            "Dataset", [self.tensor_rows.find_or_add_row(tensor) for tensor in dataset_inputs], [iterator]
        )
        self.tensor_rows.current_rows[id(iterator)] = self.tensor_rows.list_rows(iterator)[-1]

    def on_custom_function(self, op: str, inputs: Sequence, outputs: Sequence) -> None:
        """Write a call of a function with a gradient of the program's own."""
        input_rows = [self.tensor_rows.find_or_add_row(tensor) for tensor in inputs]
        with TemporaryAttributes(self.tensor_rows, is_recorded_later=True):  # the tape hears of it at its end
            self._record_operation(op, input_rows, outputs)

    def on_function_call(self, function: Any, arguments: tuple) -> FunctionCall:
        """Remember a call of a ``tf.function``, with its arguments."""
        kept_arguments = tf.nest.map_structure(
            lambda value: self.tensor_rows.keep_value(value) if isinstance(value, tf.Tensor) else value, arguments
        )
        self.function_calls.append(
            FunctionCall(function, kept_arguments, self.running_line.find_call_stack(), len(self.recording.sweeps))
        )
        return self.function_calls[-1]

    def record_states_before_graph_run(self, variables: Sequence, inputs: Sequence) -> list[tuple[Any, int]]:
        """Return the variables of a ``tf.function`` that is about to run, each with the row of its state.

        They may have changed when it has run.
        """
        for variable in variables:
            self.tensor_rows.register_variable(variable)
        self.tensor_rows.is_recorded_later = True
        for handle in inputs:
            if handle.dtype == tf.resource and id(handle) in self.tensor_rows.variables_by_handle:
                self.tensor_rows.find_or_add_state_row(handle)
        self.tensor_rows.is_recorded_later = False
        return [
            (state_variable, row)
            for state_variable in variables
            for row in self.tensor_rows.list_rows(state_variable)[-1:]
        ]

    def fill_variable_without_value(self, variable: Any) -> None:
        """Give a variable of a call that runs again a value, if it has none.

        It was made while the call was traced, and that raised.
        """
        with pause_recording():
            value = gen_resource_variable_ops.read_variable_op(variable.handle, variable.dtype)
            if value.shape != variable.shape:
                variable.assign(build_placeholder_tensor(variable))
                self.recording.has_placeholder_values = True

    def save_value_before_change(self, handle: Any) -> None:
        """Save the value of a variable that is about to change, in a call that runs again."""
        handle_data = resource_variable_ops.get_eager_safe_handle_data(handle)
        if id(handle) not in self.original_values:
            with suppress(tf.errors.OpError), pause_recording():  # it may be new
                dtype = tf.as_dtype(handle_data.shape_and_type[0].dtype)
                self.original_values[id(handle)] = handle, gen_resource_variable_ops.read_variable_op(handle, dtype)

    def on_apply_gradients(self, gradients_with_variables: Sequence[tuple]) -> None:
        """Remember the step of an optimizer that is about to change variables with gradients."""
        gradient_rows = [
            (to_handle_or_value(variable), self.tensor_rows.list_rows(gradient)[-1:])
            for gradient, variable in gradients_with_variables
        ]
        handle_ids = {
            id(to_handle_or_value(variable)) for gradient, variable in gradients_with_variables if gradient is not None
        }
        self.optimizer_steps.append(OptimizerStep(self.running_line.find_site(), handle_ids, len(self.entries)))
        self.applied_gradient_rows = {id(handle): rows[0] for handle, rows in gradient_rows if rows}

    def note_variables_changed_by_graph(self, inputs: Sequence, graph: Any) -> None:
        """Note which variables a ``tf.function`` has changed.

        In a training step they are on no path of a gradient, and what is not trainable there an optimizer keeps
        for itself.
        """
        changed_inputs, is_training_step, site = (
            find_changed_input_places(graph),
            has_gradient_tape(graph),
            self.running_line.find_site(),
        )
        input_rows = [
            row
            for index, tensor in enumerate(inputs)
            if index not in changed_inputs
            for row in self.tensor_rows.list_rows(tensor)[-1:]
        ]
        for handle in (inputs[place] for place in changed_inputs):
            variable = self.tensor_rows.variables_by_handle.get(id(handle))
            if is_training_step and variable is not None and not variable.trainable:
                continue
            self.tensor_rows.current_rows.pop(id(handle), None)
            self.assignments += [
                (id(handle), row, site, len(self.entries)) for row in input_rows if not is_training_step
            ]

    def on_assign(self, operation_inputs: Sequence) -> None:
        """Note that a variable has a new value: its next use is another state."""
        handle = operation_inputs[0]
        assigned_value = operation_inputs[-1] if len(operation_inputs) > 1 else None
        stored_rows = (
            self.tensor_rows.list_rows(assigned_value)[-1:]
            if assigned_value is not None and assigned_value.dtype != tf.resource
            else []
        )
        variable = self.tensor_rows.variables_by_handle.get(id(handle))
        previous_state_row = self.tensor_rows.current_rows.pop(id(handle), None)
        site = self.running_line.find_site()
        self.assignments.append(
            (
                id(handle),
                stored_rows[0] if stored_rows else self.applied_gradient_rows.get(id(handle)),
                site,
                len(self.entries),
            )
        )
        if not stored_rows and isinstance(assigned_value, tf.Tensor):
            self.copied_tensors[assigned_value] = handle, site
        name = None if variable is None else find_variable_name(variable)
        self.recording.events.append(
            {"kind": "assign", "name": name or "variable", "line": site[1]}
            | ({} if previous_state_row is None else {"from": previous_state_row})
        )

    def on_escape(self, tensor: Any, method: str) -> None:
        """Record that a value leaves TensorFlow."""
        if tensor.dtype not in (tf.resource, tf.variant):
            self.recording.record_escape(
                self.tensor_rows.find_or_add_row(tensor), method, self.running_line.find_site()
            )

    def find_variable_creation(self, handle: Any) -> Creation:
        """Return when among the block's variables one was created, and by which lines; -1 for an earlier one."""
        return self.creations.get(handle, Creation(-1))

    def on_watch(self, value: Any, tape: Any) -> None:
        """Mark the rows of what ``tape.watch`` was given as sources."""
        variable, value = unwrap_keras_variable(value), to_handle_or_value(value)
        if not isinstance(value, tf.Tensor):
            return
        if isinstance(variable, tf.Variable):
            self.tensor_rows.register_variable(variable)
        for row in self.tensor_rows.list_rows(value):
            entry = self.entries[row]
            if entry.kind == "operation":  # from now on it counts as a source
                entry.extra.is_watched_late = not entry.tracked and any(
                    row in later_entry.inputs for later_entry in self.entries[row + 1 :]
                )
                entry.watched, entry.tracked, entry.extra.cause, entry.cut = "explicit", True, "", None
            else:
                entry.extra.is_watched_late = not entry.tracked
        if not self.tensor_rows.list_rows(value):
            self.tensor_rows.find_or_add_row(value)
        self.tape_history.explicit_watches.append((weakref.ref(value), self.tape_history.find_or_build_reference(tape)))
