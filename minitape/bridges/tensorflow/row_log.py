"""Write the rows of a TensorFlow recording.

The log adds a row for each operation result, and maps rows to the tensors and variables that they stand for.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops, resource_variable_ops

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...explain.reasons.question import Creation
from ...recording.recorded_rows import collect_rows_and_ancestors
from ...recording.sites import NOWHERE, Site
from ..framework_patches import FrameworkPatches
from ..kept_values import IdentityMap
from ..recording import ROW_LIMIT
from .function_graphs import find_indices_of_changed_handles, has_gradient_tape
from .kept_tensors import (
    FunctionCall,
    OptimizerStep,
    ReturnedGradient,
    RowLimitReached,
    TapeHistory,
    TensorFlowExtra,
    build_tensor_of_placeholder_values,
    pause_recording,
)
from .operation_log import (
    LABELS,
    LABELS_OF_STORED_DERIVATIVES,
    OPS_WITH_PARAMETERS,
    SHAPE_OPS,
    RunningLine,
    changes_variable,
    find_break_cause,
    find_given_variable_name,
    find_handle_id,
    find_index_label,
    is_dataset_op,
    is_watched_by_open_tape,
    to_handle_or_value,
    to_operation_or_function_name,
    unwrap_keras_variable,
)
from .tensor_rows import TensorRows

if TYPE_CHECKING:
    from ...engine.types import FactsById, JsonObject, RowByRow, RowList
    from .function_calls import ReplayedCall
    from .recording import TensorFlowRecording

TOLERANCE = 1e-3  # Probabilities may lie below 0 or above 1 by this much.


class RefusedSweep(NamedTuple):
    """A backward pass that TensorFlow refused.

    Attributes:
        sweep_count: The number of earlier backward passes.
        row: The row of the refused pass's target.
    """

    sweep_count: int
    row: int


class TensorFlowLog:
    """Writes the rows of a recording.

    Attributes:
        recording: The recording to write.
        rows: The rows of the recording.
        running_line: Finds the line that is running and the calls that led to it.
        tape_history: The tape events in the block.
        tensor_rows: The rows of tensors and variables.
        creations: For each handle, the time and the line at which the variable was created in the block.
        custom_rules: The gradient function of each ``tf.custom_gradient`` call, keyed by operation name.
        misused_call: The line of a Keras loss or optimizer that received wrong arguments, the cause, and its variant.
        explanation_of_failed_step: The reason why an optimizer refused a step without gradients, or None.
        assignments: For each assignment, the identity of the variable's handle, the stored row or None, the line, and
            the number of existing rows.
        copied_tensors: For each tensor used only to fill a variable, the variable's handle and the line.
        handles_with_stored_gradients: The identities of the handles of variables to which a gradient was assigned or
            added.
        function_calls: The ``tf.function`` calls, in order.
        later_functions: The ``tf.function`` objects that took a step after the block.
        replayed_calls: The repetition of each compiled step, keyed by call, or None if the call could not be repeated.
        original_values: In a repeated call, the handles and original values of changed variables, keyed by handle
            identity.
        refused_sweep: The last backward pass that TensorFlow refused, or None if there was none.
        iterated_datasets: The line and the dataset of each iterator that the program created.
        patches: The patches to TensorFlow, which are inactive during ``explain``.
        optimizer_steps: The optimizer steps, in order.
        applied_gradient_rows: During an optimizer step, the row of each variable's gradient, keyed by handle identity.
    """

    def __init__(self, recording: TensorFlowRecording):
        """Create the log of a recording."""
        # A weak reference, so that a recording's tensors are freed together with the recording, not when the garbage
        # collector runs.
        self.recording: TensorFlowRecording = weakref.proxy(recording)
        self.rows = recording.rows
        self.running_line = RunningLine()
        self.tape_history = TapeHistory()
        self.tensor_rows = TensorRows(self.recording, self.running_line, self.tape_history)
        self.creations = IdentityMap()
        self.custom_rules: dict = {}
        self.misused_call: tuple[Site, str, str] = NOWHERE, "", ""
        self.explanation_of_failed_step: Any = None
        self.assignments: list[tuple] = []
        self.copied_tensors = IdentityMap()
        self.handles_with_stored_gradients = set[int]()
        self.function_calls: list[FunctionCall] = []
        self.later_functions = set[Any]()
        self.replayed_calls: dict[FunctionCall, ReplayedCall | None] = {}
        self.original_values: FactsById = {}
        self.refused_sweep: RefusedSweep | None = None
        self.iterated_datasets: list[tuple[Site, Any]] = []
        self.patches = FrameworkPatches()
        self.optimizer_steps: list[OptimizerStep] = []
        self.applied_gradient_rows: RowByRow = {}

    def record_tape_event(self, event: str, tape: Any) -> None:
        """Record a tape event.

        Args:
            event: "begins", "ends", "pauses", "resumes" or "resets".
            tape: The ``tf.GradientTape``.
        """
        self.tape_history.record_tape_event(event, tape, len(self.rows), self.running_line.find_call_stack())

    def remember_gradients_returned_by_last_sweep(self, gradients: Sequence, sources: Sequence) -> None:
        """Remember the gradients that the last sweep returned, together with the sweep's targets.

        Args:
            gradients: The gradients. Gradients that are not tensors are ignored.
            sources: The tensors and handles that the gradients belong to.
        """
        call_stack = self.running_line.find_call_stack()
        for gradient, source in zip(gradients, sources, strict=False):
            if isinstance(gradient, tf.Tensor):
                self.tensor_rows.returned_gradients[gradient] = ReturnedGradient(
                    self.recording.sweeps[-1].target, call_stack, len(self.rows), id(source)
                )

    def record_eager_operation(self, op: str, inputs: Sequence, outputs: Sequence, function_call: Any = None) -> None:
        """Record an eager operation.

        Reading a variable adds a row only for a new state, and an assignment is recorded as an event. Constants,
        shapes and datasets add no rows here. A constant gets a row when an operation first uses it.

        Args:
            op: TensorFlow's name for the operation.
            inputs: Its input tensors and handles.
            outputs: Its results.
            function_call: The `FunctionCall` of a ``tf.function`` call, or None for any other operation.

        Raises:
            RowLimitReached: If a repeated call has too many rows.
        """
        if op == "VarHandleOp":
            self.creations[outputs[0]] = Creation(len(self.creations), self.running_line.find_call_stack())
        if op == "ReadVariableOp":
            self.tensor_rows.append_row_of_tensor(
                outputs[0], self.tensor_rows.find_or_add_state_row(inputs[0], outputs[0])
            )
            return
        if changes_variable(op):
            self.record_assignment_event(inputs)
            return
        if op in SHAPE_OPS or is_dataset_op(op) or not inputs or not outputs:
            return  # A constant gets a row when an operation first uses it.
        if len(self.rows) >= ROW_LIMIT:
            self.recording.left_out += 1
            if self.recording.is_rerun:
                raise RowLimitReached
            return
        with TemporaryAttributes(self.tensor_rows, is_recorded_later=op.startswith("__")):
            parameter_flags = [
                index > 0
                and op in OPS_WITH_PARAMETERS
                and tensor.dtype in (tf.int32, tf.int64)
                and not self.tensor_rows.list_rows_of_tensor_or_variable(tensor)
                for index, tensor in enumerate(inputs)
            ]
            rows = [
                self.tensor_rows.find_or_add_row(tensor)
                for tensor, is_parameter in zip(inputs, parameter_flags, strict=True)
                if not is_parameter
            ]
            self._record_operation(op, rows, outputs, function_call, find_index_label(op, inputs, outputs))

    def _record_operation(
        self, op: str, input_rows: RowList, outputs: Sequence, function_call: Any = None, label: str = ""
    ) -> None:
        has_tracked_input = self.recording.is_any_tracked(input_rows)
        site = self.running_line.find_site()
        scope = [*self.running_line.list_open_scopes()]
        first_row = len(self.rows)
        name = display_name = to_operation_or_function_name(op)
        if function_call is not None:
            name = "function"  # Rows with this name can be opened in pictures.
        if scope and self._contains_only_operation(scope[-1], display_name, input_rows):
            scope.pop()
        for output, tensor in enumerate(outputs):
            is_watched = is_watched_by_open_tape(tensor)
            cause = find_break_cause(op, tensor) or ("not_recorded" if has_tracked_input and not is_watched else "")
            value = self.tensor_rows.keep_value_and_keep_tensor_for_open_tapes(tensor)
            extra = TensorFlowExtra(value, op)
            extra.function_call = function_call
            extra.call_stack = () if is_watched else self.running_line.find_call_stack()
            row = self.recording.add_operation(
                name,
                input_rows,
                value,
                label=(output and LABELS_OF_STORED_DERIVATIVES.get(op)) or label or LABELS.get(op, display_name),
                call_id=first_row,
                output=output,
                site=site,
                scope=scope,
                tracked=is_watched and not cause,
                cause=cause,
                extra=extra,
                **self.tensor_rows.read_dtype_and_shape(tensor),
            )
            if cause == "not_recorded" or self.tensor_rows.is_recorded_later:
                self.tensor_rows.unsettled_rows.append(row)
            self.tensor_rows.append_row_of_tensor(tensor, row)

    def _contains_only_operation(self, scope: str, display_name: str, input_rows: RowList) -> bool:
        """Return whether a scope contains only one operation, as in the case of strided_slice.

        A layer with the operation's name, such as conv2d, also owns the kernel that the operation reads.
        """
        owns_input = any(scope in (self.rows[row].name or "").split("/") for row in input_rows)
        return scope.replace("_", "").lower() == display_name.lower() and not owns_input

    def record_jacobian(self, name: str, target: Any, sources: Sequence, results: Sequence) -> None:
        """Record a Jacobian as one row per source, without a backward pass, since TensorFlow computes it in one piece.

        Args:
            name: The name of the tape's method.
            target: The target tensor.
            sources: The sources.
            results: The Jacobian for each source, with None for an unconnected source.
        """
        input_rows = [
            self.tensor_rows.find_or_add_row(target),
            *(row for source in sources for row in self.tensor_rows.list_last_row(source)),
        ]
        self._record_operation(name, input_rows, [result for result in results if result is not None])

    def record_dataset_iterator(self, iterator: Any, dataset_inputs: Sequence) -> None:
        """Record an iterator over a dataset as a row.

        Args:
            iterator: The iterator's resource.
            dataset_inputs: The tensors and variables that the dataset's elements are computed from.
        """
        self._record_operation(
            "Dataset", [self.tensor_rows.find_or_add_row(tensor) for tensor in dataset_inputs], [iterator]
        )
        self.tensor_rows.current_rows[id(iterator)] = self.tensor_rows.list_rows_of_tensor_or_variable(iterator)[-1]

    def record_custom_function_call(self, op: str, inputs: Sequence, outputs: Sequence) -> None:
        """Record a call to one of the program's functions with a custom gradient.

        Args:
            op: The call's name and number.
            inputs: The call's input tensors.
            outputs: Its results.
        """
        input_rows = [self.tensor_rows.find_or_add_row(tensor) for tensor in inputs]
        with TemporaryAttributes(self.tensor_rows, is_recorded_later=True):  # Tapes record the call only when it ends.
            self._record_operation(op, input_rows, outputs)

    def store_function_call(self, function: Any, arguments: tuple) -> FunctionCall:
        """Store a ``tf.function`` call with its arguments, and return the call.

        Args:
            function: The ``tf.function``.
            arguments: The positional and keyword arguments, as a pair.
        """
        kept_arguments = tf.nest.map_structure(
            lambda value: self.tensor_rows.keep_value(value) if isinstance(value, tf.Tensor) else value, arguments
        )
        self.function_calls.append(
            FunctionCall(function, kept_arguments, self.running_line.find_call_stack(), len(self.recording.sweeps))
        )
        return self.function_calls[-1]

    def record_and_list_states_before_graph_run(self, variables: Sequence, inputs: Sequence) -> list[tuple[Any, int]]:
        """Return the variables of a ``tf.function`` that is about to run, each with the row of its current state.

        The rows are recorded before the call, because the call may change the variables.

        Args:
            variables: The graph's variables.
            inputs: The input tensors and handles of the graph call.
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
            for row in self.tensor_rows.list_last_row(state_variable)
        ]

    def fill_variable_with_placeholder_if_empty(self, variable: Any) -> None:
        """Assign a placeholder value to a variable that has no value in a repeated call.

        Such a variable was created during a trace that raised an error.
        """
        with pause_recording():
            value = gen_resource_variable_ops.read_variable_op(variable.handle, variable.dtype)
            if value.shape != variable.shape:
                variable.assign(build_tensor_of_placeholder_values(variable))
                self.recording.has_placeholder_values = True

    def save_original_value_before_change(self, handle: Any) -> None:
        """Save the value of a variable before a repeated call changes it.

        Args:
            handle: The variable's handle.
        """
        handle_data = resource_variable_ops.get_eager_safe_handle_data(handle)
        if id(handle) not in self.original_values:
            with suppress(tf.errors.OpError), pause_recording():  # A new variable has no value to read.
                dtype = tf.as_dtype(handle_data.shape_and_type[0].dtype)
                self.original_values[id(handle)] = handle, gen_resource_variable_ops.read_variable_op(handle, dtype)

    def record_misused_call(self, cause: str, variant: str) -> None:
        """Record the line that is running as a wrong call of a loss or an optimizer.

        Args:
            cause: The cause.
            variant: Which variant of the cause's sentences to use.
        """
        self.misused_call = self.running_line.find_site(), cause, variant

    def record_loss_site_if_input_is_wrong(self, target: Any, output: Any) -> None:
        """Record the line of a Keras loss that expects probabilities but receives something else.

        Args:
            target: The argument in the position of the labels.
            output: The argument in the position of the prediction.
        """
        ancestors = (
            collect_rows_and_ancestors(self.rows, self.tensor_rows.list_last_row(item)) for item in (target, output)
        )
        is_trained, is_prediction = (any(self.rows[row].kind == "variable" for row in rows) for rows in ancestors)
        values = np.asarray(output)
        if is_trained and not is_prediction:
            self.record_misused_call("loss_input", "swapped")
        elif is_prediction and np.any((values < -TOLERANCE) | (values > 1 + TOLERANCE)):
            self.record_misused_call("loss_input", "")

    def record_loss_site_if_labels_are_wrong(self, labels: Any) -> None:
        """Record the line of a binary cross-entropy whose labels are outside the range from 0 to 1.

        Args:
            labels: The labels.
        """
        # A GAN has noisy labels that exceed the range by less than 0.5.
        if np.any(abs(np.asarray(labels, float) - 0.5) > 1):
            self.record_misused_call("loss_input", "targets")

    def record_coming_optimizer_step(self, gradients_with_variables: Sequence[tuple], optimizer: Any) -> None:
        """Record an optimizer step that is about to change variables.

        Args:
            gradients_with_variables: Pairs of a gradient (or None) and a variable.
            optimizer: The Keras optimizer.
        """
        # Plain gradient descent has no state, so its optimizer may be recreated in every step.
        is_plain = getattr(optimizer, "momentum", 1) == 0
        new_class = "" if is_plain or optimizer.built else type(optimizer).__name__
        handle_ids = {
            find_handle_id(variable) for gradient, variable in gradients_with_variables if gradient is not None
        }
        for gradient, variable in gradients_with_variables:
            returned = self.tensor_rows.returned_gradients.get(gradient)
            # The gradients of a model's copy may be applied to the model itself, so the variables must be the same.
            if returned is not None and returned.source_id in handle_ids - {find_handle_id(variable)}:
                self.record_misused_call("not_applied", "pairs")
        self.optimizer_steps.append(OptimizerStep(self.running_line.find_site(), handle_ids, len(self.rows), new_class))
        self.applied_gradient_rows = {
            find_handle_id(variable): row
            for gradient, variable in gradients_with_variables
            for row in self.tensor_rows.list_last_row(gradient)
        }

    def log_assignments_and_forget_rows(self, inputs: Sequence, graph: Any) -> None:
        """Log the assignments of a ``tf.function`` call, and forget the rows of the variables that the call changed.

        A changed variable gets a new row at its next read. In a training step, no gradient flows through the stored
        values. Non-trainable variables are skipped in such a step, because they are the optimizer's internal state.

        Args:
            inputs: The input tensors and handles of the graph call.
            graph: The graph that ran.
        """
        changed_inputs = find_indices_of_changed_handles(graph)
        is_training_step = has_gradient_tape(graph)
        site = self.running_line.find_site()
        input_rows = [
            row
            for index, tensor in enumerate(inputs)
            if index not in changed_inputs
            for row in self.tensor_rows.list_last_row(tensor)
        ]
        for handle in (inputs[place] for place in changed_inputs):
            variable = self.tensor_rows.variables_by_handle.get(id(handle))
            if is_training_step and variable is not None and not variable.trainable:
                continue
            self.tensor_rows.current_rows.pop(id(handle), None)
            self.assignments += [(id(handle), row, site, len(self.rows)) for row in input_rows if not is_training_step]

    def record_assignment_event(self, operation_inputs: Sequence) -> None:
        """Record that a variable has a new value, so that its next use adds a row for the new state.

        Args:
            operation_inputs: The assignment's inputs, with the handle first and the value last.
        """
        handle = operation_inputs[0]
        assigned_value = operation_inputs[-1]
        stored_rows = self.tensor_rows.list_last_row(assigned_value)
        variable = self.tensor_rows.variables_by_handle.get(id(handle))
        previous_state_row = self.tensor_rows.current_rows.pop(id(handle), None)
        site = self.running_line.find_site()
        stored_row = stored_rows[0] if stored_rows else self.applied_gradient_rows.get(id(handle))
        self.assignments.append((id(handle), stored_row, site, len(self.rows)))
        if not stored_rows:
            self.copied_tensors[assigned_value] = handle, site
            if self.tensor_rows.returned_gradients.get(assigned_value) is not None:
                self.handles_with_stored_gradients.add(id(handle))
        name = None if variable is None else find_given_variable_name(variable)
        event: JsonObject = {"kind": "assign", "name": name or "variable", "line": site[1]}
        if previous_state_row is not None:
            event["from"] = previous_state_row
        self.recording.events.append(event)

    def record_escape(self, tensor: Any, method: str) -> None:
        """Record that a value leaves TensorFlow.

        Args:
            tensor: The tensor.
            method: The method that returns the value to Python, such as "numpy".
        """
        self.recording.record_escape(self.tensor_rows.find_or_add_row(tensor), method, self.running_line.find_site())

    def find_variable_creation(self, handle: Any) -> Creation:
        """Return when and where a variable was created in the block, or ``Creation(-1)`` for an older variable.

        Args:
            handle: The variable's handle.
        """
        return self.creations.get(handle, Creation(-1))

    def mark_rows_of_watched_value_as_sources(self, value: Any, tape: Any) -> None:
        """Mark the rows of a value as sources because the program passed the value to ``tape.watch``.

        Args:
            value: A tensor or a variable. Other objects are ignored.
            tape: The ``tf.GradientTape``.
        """
        variable = unwrap_keras_variable(value)
        value = to_handle_or_value(value)
        if not isinstance(value, tf.Tensor):
            return
        if isinstance(variable, tf.Variable):
            self.tensor_rows.register_variable(variable)
        rows = self.tensor_rows.list_rows_of_tensor_or_variable(value)
        for row in rows:
            recorded_row = self.rows[row]
            if recorded_row.kind == "operation":  # From now on, the watched result counts as a source.
                recorded_row.extra.is_watched_late = not recorded_row.tracked and any(
                    row in later_row.inputs_if_operation for later_row in self.rows[row + 1 :]
                )
                recorded_row.watched = "explicit"
                recorded_row.mark_as_tracked()
            else:
                recorded_row.extra.is_watched_late = not recorded_row.tracked
        if not rows:
            self.tensor_rows.find_or_add_row(value)
        self.tape_history.explicit_watches.append(
            (weakref.ref(value), self.tape_history.find_stored_or_build_unstored_reference(tape))
        )
