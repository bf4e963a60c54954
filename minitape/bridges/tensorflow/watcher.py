"""Watch a program's use of TensorFlow inside a block.

The watcher observes operations, tapes, reads of variables, escapes and gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.eager import context, execute, record
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.framework import op_callbacks, ops
from tensorflow.python.framework.tensor_util import constant_value
from tensorflow.python.ops import custom_gradient, resource_variable_ops, script_ops

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import LIST_OR_TUPLE
from ..framework_patches import Watcher
from .function_graphs import TAPES_ATTRIBUTE
from .guard import SafeWriter
from .kept_tensors import FunctionCall
from .operation_log import changes_variable, iter_dataset_and_inputs
from .sweep_watcher import SweepWatcher, register_gradient_function_for_sweeps
from .traced_values import compare_values_with_trace_after_call, store_values_and_generators_before_call

if TYPE_CHECKING:
    from ...engine.types import TextPair
    from .recording import TensorFlowRecording

EVENT_BY_METHOD = {"__enter__": "begins", "__exit__": "ends", "reset": "resets"}
ESCAPE_METHODS = "numpy __array__ __float__ __int__ __bool__ __index__ __complex__".split()


class TensorFlowWatcher(Watcher):
    """Watches a program from the beginning of the block to its end.

    Attributes:
        recording: The recording to write.
        open_functions: Whether to run functions eagerly, so that their operations become rows.
        log: The recording's log.
        writer: The writer that keeps errors in the bridge from reaching the program.
        sweep_watcher: The watcher for TensorFlow's backward passes.
    """

    def __init__(self, recording: TensorFlowRecording, open_functions: bool = False):
        """Prepare to watch a program. `start_watching` begins the watch."""
        self.recording = recording
        self.open_functions = open_functions
        self.log = recording.log
        self.writer = SafeWriter(recording)
        self.sweep_watcher = SweepWatcher(self.writer)
        self._custom_call_count = 0
        # While a tf.custom_gradient runs, this contains the names of its operation and of its function.
        self._running_custom_op: TextPair | None = None
        self._apply_depth = 0  # This is greater than 0 while an optimizer takes a step.
        # While the graph of a tf.function runs, this is its call, and `_running_function` is its concrete function.
        self._function_call: FunctionCall | None = None
        self._scaled_loss: Any = None  # The last result of scale_loss since the last step.
        self._running_function: Any = None

    # -- the block ---------------------------------------------------------------------------------

    def start_watching(self) -> None:
        """Wrap TensorFlow's functions and register the callback, so that everything is recorded from now on."""
        patches = self.log.patches
        patches.activate_in_this_thread()
        patches.add_undo_action(self._remove_operation_callback)
        op_callbacks.add_op_callback(self._record_eager_operation)
        patches.add_undo_action(register_gradient_function_for_sweeps)
        tape_class = tf.GradientTape
        for owner, name, handler in (
            *self.sweep_watcher.list_owners_names_and_handlers(),
            (pywrap_tfe, "TFE_Py_FastPathExecute", self._read_variables_and_execute_operation),
            (resource_variable_ops, "variable_accessed", self._register_accessed_variable),
            (Function, "__call__", self._store_call_and_run_function),
            (ConcreteFunction, "_call_flat", self._run_graph_and_record_variable_states),
            (tape_class, "jacobian", self._record_jacobian_as_one_row),
            (tape_class, "batch_jacobian", self._record_jacobian_as_one_row),
            (tape_class, "watch", self._watch_and_mark_sources),
            (tape_class, "__exit__", self._record_tape_event_and_run),
            (tape_class, "stop_recording", self._stop_recording_and_record_events),
            (tape_class, "reset", self._record_tape_event_and_run),
            (custom_gradient, "_eager_mode_decorator", self._record_custom_function_as_one_row),
            (record, "record_operation", self._record_call_and_keep_custom_shares),
            (iterator_ops.OwnedIterator, "_create_iterator", self._create_and_record_iterator),
            (script_ops, "py_func_common", self._record_escapes_and_run_function),
            (tf.nn, "sigmoid_cross_entropy_with_logits", self._check_labels_and_compute_loss),
            *((ops._EagerTensorBase, name, self._build_escape_handler(name)) for name in ESCAPE_METHODS),
        ):
            self._wrap_function_for_eager_calls(owner, name, handler)
        patches.wrap_function(tape_class, "__enter__", self._enter_tape_and_record_event)
        register_gradient_function_for_sweeps()
        # Keras is patched only if the program imported it, because importing it here would be slow.
        if optimizers := sys.modules.get("keras.src.optimizers.base_optimizer"):
            patches.wrap_function(optimizers.BaseOptimizer, "apply", self._apply_gradients_and_record_new_states)
            patches.wrap_function(optimizers.BaseOptimizer, "apply_gradients", self._list_pairs_and_apply_them)
            self._wrap_function_for_eager_calls(
                sys.modules["keras.src.backend"], "convert_to_numpy", self._build_escape_handler("__array__")
            )
        if scaling := sys.modules.get("keras.src.optimizers.loss_scale_optimizer"):
            patches.wrap_function(scaling.LossScaleOptimizer, "scale_loss", self._scale_loss_and_check_scaled_twice)
            patches.wrap_function(scaling.LossScaleOptimizer, "apply", self._step_and_record_if_loss_is_unscaled)
        if losses := sys.modules.get("keras.src.backend.tensorflow.nn"):
            for name in ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"):
                self._wrap_function_for_eager_calls(losses, name, self._check_and_compute_cross_entropy)
            self._wrap_function_for_eager_calls(losses, "binary_crossentropy", self._check_labels_and_compute_loss)
        if self.open_functions and not tf.config.functions_run_eagerly():
            patches.add_undo_action(partial(tf.config.run_functions_eagerly, False))
            tf.config.run_functions_eagerly(True)

    def stop_watching(self) -> None:
        """Restore TensorFlow and release the tensors kept for sweeps."""
        self.log.patches.undo_all()
        self.log.tape_history.release_kept_tensors()

    def _remove_operation_callback(self) -> None:
        """Remove the callback for operations, even if Ctrl-C interrupted an earlier attempt."""
        if self._record_eager_operation in context.context().op_callbacks:
            op_callbacks.remove_op_callback(self._record_eager_operation)
        elif not context.context().op_callbacks:  # Ctrl-C may have interrupted an earlier removal halfway.
            execute.execute = execute.quick_execute

    def _wrap_function_for_eager_calls(self, owner: Any, name: str, handler: Any) -> None:
        """Call ``handler(original, ...)`` instead of a TensorFlow function until the block ends.

        While a ``tf.function`` is traced, only the original function runs.
        """

        def call_handler_when_eager(original: Any, /, *args: Any, **kwargs: Any) -> Any:
            return original(*args, **kwargs) if tf.inside_function() else handler(original, *args, **kwargs)

        if name in vars(owner):
            self.log.patches.wrap_function(owner, name, call_handler_when_eager)

    # -- observed calls ----------------------------------------------------------------------------

    def _record_eager_operation(
        self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        # While a tf.function is traced, the operation only becomes part of a graph.
        if graph is None and self.log.patches.is_active_in_this_thread:
            op = op_type.decode() if isinstance(op_type, bytes) else op_type
            if self._apply_depth and not changes_variable(op):
                return
            if self._running_custom_op and op != "ReadVariableOp":
                return
            running_function = self._running_function if op.startswith("__") else None
            if running_function is not None:
                # The function's results are followed by the values that it keeps for its gradient.
                outputs = outputs[: len(running_function.function_type.flat_outputs)]
            # While a function is running, no open tape can watch any rows.
            elif self._running_function is None:
                self.sweep_watcher.mark_rows_watched_by_now()
            self.writer.run_safely(
                self.log.record_eager_operation, op, inputs, outputs, running_function and self._function_call
            )

    def _store_call_and_run_function(self, original: Any, tf_function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a ``tf.function`` call, and store it with its arguments."""
        if self.open_functions:
            running_line = self.log.running_line
            function_names = [*running_line.function_names, tf_function._name]
            with TemporaryAttributes(running_line, function_names=function_names):
                return original(tf_function, *args, **kwargs)
        function_call = self.writer.run_safely(self.log.store_function_call, tf_function, (args, kwargs))
        self.writer.run_safely(store_values_and_generators_before_call, tf_function)
        with TemporaryAttributes(self, _function_call=function_call):
            results = original(tf_function, *args, **kwargs)
        self.writer.run_safely(compare_values_with_trace_after_call, tf_function)
        return results

    def _run_graph_and_record_variable_states(
        self, original: Any, concrete_function: Any, tensor_inputs: Any, captured_inputs: Any
    ) -> Any:
        """Run the graph of a ``tf.function``, and record the states of its variables before and after."""
        graph = concrete_function.graph
        inputs = [*tensor_inputs, *captured_inputs]
        call = self._function_call or FunctionCall(None, None, [], 0)
        variable_states = self.writer.run_safely(
            self.log.record_and_list_states_before_graph_run, graph.variables, inputs
        )
        call.variable_states = variable_states or []
        call.graph = graph
        with TemporaryAttributes(self, _function_call=call, _running_function=concrete_function):
            try:
                return original(concrete_function, tensor_inputs, captured_inputs)
            finally:
                self.writer.run_safely(self.log.log_assignments_and_forget_rows, inputs, graph)

    # -- Python calls while a graph is traced ------------------------------------------------------

    def _record_custom_function_as_one_row(self, original: Any, rule: Any, args: Any, kwargs: Any) -> Any:
        """Record a call to a function that has a custom gradient (``tf.custom_gradient``) as one row.

        The operations inside the function are not recorded.
        """

        @wraps(rule)
        def call_rule(*arguments: Any, **keywords: Any) -> Any:
            result, self.log.custom_rules[op] = rule(*arguments, **keywords)
            return result, self.log.custom_rules[op]

        # An optimizer uses its own custom gradient to sum gradients over replicas.
        if self._apply_depth or self._running_custom_op:
            return original(rule, args, kwargs)
        self._custom_call_count += 1
        function_name = rule.__name__
        if is_minitape_or_library_file(rule.__code__.co_filename):
            # TensorFlow often defines its custom rules inside the function that the program calls.
            enclosing_names = rule.__qualname__.split(".<locals>")
            function_name = enclosing_names[-2] if len(enclosing_names) > 1 else enclosing_names[0]
        op = f"{function_name.rpartition('.')[2]}:{self._custom_call_count}"
        if self.open_functions:  # A graph also reads the variables among its arguments before the call.
            args = tf.nest.map_structure(tf.convert_to_tensor, args, expand_composites=True)
        with TemporaryAttributes(self, _running_custom_op=(op, rule.__name__)):
            return original(call_rule, args, kwargs)

    def _record_call_and_keep_custom_shares(
        self, original: Any, name: str, outputs: Any, inputs: Any, backward: Any, *extra_arguments: Any
    ) -> Any:
        """Keep the shares sent by the program's custom gradient function during a sweep."""
        op, rule_name = self._running_custom_op or ("", None)
        if name != rule_name:
            return original(name, outputs, inputs, backward, *extra_arguments)
        self.writer.run_safely(self.log.record_custom_function_call, op, inputs, outputs)
        kept_backward = self.sweep_watcher.wrap_gradient_function_to_keep_shares(op, backward)
        return original(name, outputs, inputs, kept_backward, *extra_arguments)

    def _record_jacobian_as_one_row(
        self, original: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Record a Jacobian as one row.

        TensorFlow computes all rows of the Jacobian at once, in a separate function. Without pfor, TensorFlow computes
        the gradients one after another, and they are recorded as usual.
        """
        if not kwargs.get("experimental_use_pfor", True):
            return original(tape, target, sources, *args, **kwargs)
        self.sweep_watcher.mark_rows_watched_by_now()
        with self.writer.suspend_writing():
            results = original(tape, target, sources, *args, **kwargs)
        self.writer.run_safely(
            self.log.record_jacobian, original.__name__, target, tf.nest.flatten(sources), tf.nest.flatten(results)
        )
        return results

    def _check_and_compute_cross_entropy(
        self, original: Any, target: Any, output: Any, from_logits: bool = False, **options: Any
    ) -> Any:
        if not from_logits:
            self.writer.run_safely(self.log.record_loss_site_if_input_is_wrong, target, output)
        return original(target, output, from_logits=from_logits, **options)

    def _check_labels_and_compute_loss(self, original: Any, labels: Any, *args: Any, **options: Any) -> Any:
        self.writer.run_safely(self.log.record_loss_site_if_labels_are_wrong, labels)
        return original(labels, *args, **options)

    def _scale_loss_and_check_scaled_twice(self, original: Any, optimizer: Any, loss: Any) -> Any:
        if loss is self._scaled_loss:
            self.log.record_misused_call("scaler", "scaled_twice")
        self._scaled_loss = original(optimizer, loss)
        return self._scaled_loss

    def _step_and_record_if_loss_is_unscaled(self, original: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Record the line of a step that divides the gradients by a loss scale although the loss was not scaled."""
        if self._scaled_loss is None:
            self.log.record_misused_call("scaler", "unscaled_loss")
        self._scaled_loss = None
        return original(optimizer, *args, **kwargs)

    def _list_pairs_and_apply_them(
        self, original: Any, optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Record the line of a step that receives no gradients, because Keras then raises an error before the step."""
        gradients_with_variables = list(grads_and_vars)
        if not gradients_with_variables:
            self.log.record_misused_call("not_applied", "empty")
        return original(optimizer, gradients_with_variables, *args, **kwargs)

    def _apply_gradients_and_record_new_states(
        self, original: Any, optimizer: Any, grads: Any, trainable_variables: Any = None
    ) -> Any:
        """Record the new states of variables after an optimizer step, but not the operations of the step."""
        grads = list(grads)
        variables = optimizer._trainable_variables if trainable_variables is None else trainable_variables
        gradients_with_variables = list(zip(grads, variables, strict=False))
        is_eager = tf.executing_eagerly()
        if is_eager:
            self.writer.run_safely(self.log.record_coming_optimizer_step, gradients_with_variables, optimizer)
        self._apply_depth += is_eager
        try:
            return original(optimizer, grads, trainable_variables)
        except ValueError as error:
            if not self.recording.is_rerun:
                self._add_note_if_no_gradient(error, gradients_with_variables)
            raise
        finally:
            self._apply_depth -= is_eager
            self.log.applied_gradient_rows = {}

    def _add_note_if_no_gradient(self, error: ValueError, gradients_with_variables: Sequence[tuple]) -> None:
        """Add the reason for missing gradients to a Keras optimizer's error."""
        has_no_gradient = all(gradient is None for gradient, _ in gradients_with_variables)
        if gradients_with_variables and has_no_gradient:
            # The function is still being traced, and TensorFlow would notice the trace even under tf.init_scope().
            with tf.Graph().as_default(), context.eager_mode(), TemporaryAttributes(self.log.patches, thread_id=None):
                explanation = self.writer.run_safely(self.recording.explain, gradients_with_variables[0][1])
                if explanation is not None:
                    error.add_note(f"minitape: {explanation}")
                    self.log.explanation_of_failed_step = explanation  # AutoGraph raises a new error without the note.

    def _read_variables_and_execute_operation(
        self, original: Any, context: Any, op: str, name: Any, *inputs: Any
    ) -> Any:
        """Run an operation with the values of its variables, because TensorFlow would read them without a callback."""
        if self.recording.is_rerun and changes_variable(op):
            self.log.save_original_value_before_change(inputs[0])
        return original(context, op, name, *map(_replace_variables_by_values, inputs))

    def _register_accessed_variable(self, original: Any, variable: Any) -> Any:
        """Register a variable that the program reads. In a repeated call, first fill the variable if it is empty."""
        if self.recording.is_rerun and id(variable.handle) not in self.log.tensor_rows.variables_by_handle:
            self.writer.run_safely(self.log.fill_variable_with_placeholder_if_empty, variable)
        self.log.tensor_rows.register_variable(variable)
        return original(variable)

    def _watch_and_mark_sources(self, original: Any, tape: Any, tensor: Any) -> Any:
        self.sweep_watcher.mark_rows_watched_by_now()
        result = original(tape, tensor)
        for value in tf.nest.flatten(tensor, expand_composites=False):
            self.writer.run_safely(self.log.mark_rows_of_watched_value_as_sources, value, tape)
        return result

    def _enter_tape_and_record_event(self, original: Any, tape: Any) -> Any:
        """Begin a tape's block, and record the event.

        While a ``tf.function`` is being traced, only record that its graph contains a tape.
        """
        if tf.inside_function():
            setattr(tf.compat.v1.get_default_graph(), TAPES_ATTRIBUTE, True)
            return original(tape)
        return self._record_tape_event_and_run(original, tape)

    def _record_tape_event_and_run(self, original: Any, tape: Any, *args: Any) -> Any:
        """Record the start, end or reset of a tape, and then call the original method."""
        self.sweep_watcher.mark_rows_watched_by_now()
        self.log.record_tape_event(EVENT_BY_METHOD[original.__name__], tape)
        return original(tape, *args)

    @contextmanager
    def _stop_recording_and_record_events(self, original: Any, tape: Any) -> Iterator[None]:
        self.sweep_watcher.mark_rows_watched_by_now()
        self.log.record_tape_event("pauses", tape)
        with original(tape):
            yield
        self.log.record_tape_event("resumes", tape)

    def _build_escape_handler(self, method: str) -> Callable:
        def record_escape_and_read_value(original: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(3).f_code  # There are two wrappers between this handler and its caller.
            # TensorFlow itself reads values in constant_value(), and libraries may test a tensor's truth value.
            asked_by_library = caller is constant_value.__code__ or (
                method == "__bool__" and is_minitape_or_library_file(caller.co_filename)
            )
            if not self.writer.suspension_depth and not asked_by_library and isinstance(tensor, ops.EagerTensor):
                self.writer.run_safely(self.log.record_escape, tensor, method)
            with self.writer.suspend_writing():
                return original(tensor, *args, **kwargs)

        return record_escape_and_read_value

    def _create_and_record_iterator(self, original: Any, iterator: Any, dataset: Any) -> Any:
        """Create an iterator over a dataset's elements, and record it."""
        result = original(iterator, dataset)
        self.log.iterated_datasets.append((self.log.running_line.find_site(), dataset))
        self.writer.run_safely(self._record_tensors_read_by_dataset, iterator._iterator_resource, dataset)
        return result

    def _record_tensors_read_by_dataset(self, iterator: Any, dataset: Any) -> None:
        """Record the tensors and variables from which a dataset and its input datasets compute their elements."""
        tensors = list[Any]()
        variables = self.log.tensor_rows.variables_by_handle
        for current in iter_dataset_and_inputs(dataset):
            tensors += getattr(current, "_tensors", ())
            for graph in (function.function.graph for function in current._functions()):
                for variable in graph.variables:
                    self.log.tensor_rows.register_variable(variable)
                tensors += [value for value, _ in graph.captures]
        self.log.record_dataset_iterator(
            iterator, [tensor for tensor in tensors if tensor.dtype.is_floating or id(tensor) in variables]
        )

    def _record_escapes_and_run_function(
        self, original: Any, python_function: Any, inputs: Any, *args: Any, **kwargs: Any
    ) -> Any:
        for tensor in tf.nest.flatten(inputs):
            if isinstance(tensor, ops.EagerTensor):
                self.writer.run_safely(self.log.record_escape, tensor, "numpy_function")
        return original(python_function, inputs, *args, **kwargs)


def _replace_variables_by_values(argument: Any) -> Any:
    """Return an operation's argument with every variable replaced by its value."""
    if isinstance(argument, tf.Variable):
        return tf.convert_to_tensor(argument)
    is_list = isinstance(argument, LIST_OR_TUPLE) and any(isinstance(item, tf.Variable) for item in argument)
    return [*map(_replace_variables_by_values, argument)] if is_list else argument
