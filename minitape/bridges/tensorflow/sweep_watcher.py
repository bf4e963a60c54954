"""Request additional adjoints from the sweeps of TensorFlow's tapes, and keep the shares that operations send."""

from collections.abc import Sequence
from functools import partial, wraps
from typing import Any
from weakref import ref

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, imperative_grad
from tensorflow.python.eager.polymorphic_function.concrete_function import _TapeGradientFunctions

from ...common.grouping import group_values_by_key
from ...engine.record.interrupt_safe import TemporaryAttributes
from ...engine.types import LIST_OR_TUPLE, OptionalNumber, RowList
from ...recording.recorded_rows import BackwardPass
from .guard import SafeWriter
from .kept_tensors import pause_recording
from .row_log import RefusedSweep, TensorFlowLog


class SweepWatcher:
    """Requests the adjoints between the target and its leaves from each sweep, and records them.

    Attributes:
        writer: The writer that keeps errors in the bridge from reaching the program.
        recording: The recording to write.
        log: The log of the recording.
        mark_rows_watched_by_now: Calls `TensorRows.mark_rows_watched_by_now` through the writer.
        sweep_operations: The operations of the sweep that is running, as (operation, inputs, adjoints, shares) tuples.
    """

    def __init__(self, writer: SafeWriter):
        """Prepare to record sweeps through the given writer."""
        self.writer, self.recording, self.log = writer, writer.recording, writer.recording.log
        self.mark_rows_watched_by_now = partial(writer.run_safely, self.log.tensor_rows.mark_rows_watched_by_now)
        self.sweep_operations: list[tuple] = []

    def list_owners_names_and_handlers(self) -> tuple:
        """Return an (owner, name, handler) triple for each function to wrap in TensorFlow's sweeps."""
        return (
            (backprop, "_gradient_function", self._compute_and_keep_shares_of_operation),
            (imperative_grad, "imperative_grad", self._run_sweep_with_ancestors_as_sources),
            (_TapeGradientFunctions, "_wrap_backward_function", self._wrap_backward_to_keep_shares),
        )

    def _wrap_backward_to_keep_shares(
        self, original: Any, functions: Any, graph: Any, backward: Any, outputs: Any
    ) -> Any:
        """Wrap the gradient function of a ``tf.function`` to keep the shares that it sends to its inputs."""
        # TensorFlow creates zeros here for the lists of a loop, and these zeros must not be recorded.
        with self.writer.suspend_writing():
            backward_function, recorded_outputs = original(functions, graph, backward, outputs)
        name = functions._forward.cached_definition.signature.name
        return self.wrap_gradient_function_to_keep_shares(name, backward_function), recorded_outputs

    def wrap_gradient_function_to_keep_shares(self, op: str, gradient_function: Any) -> Any:
        """Wrap the gradient function of an operation whose inputs TensorFlow does not report.

        Args:
            op: The name of the operation.
            gradient_function: The function that computes the shares of the inputs from the adjoints.
        """

        @wraps(gradient_function)
        def compute_and_keep_shares(*adjoints: Any) -> Any:
            shares = gradient_function(*adjoints)
            self.sweep_operations.append((op, None, list(adjoints), list(shares)))
            return shares

        return compute_and_keep_shares

    def _run_sweep_with_ancestors_as_sources(
        self,
        original: Any,
        tape: Any,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        sources_raw: Any = None,
        **options: Any,
    ) -> Any:
        """Run TensorFlow's sweep with the target's ancestors as additional sources, and record their adjoints."""
        raw_sources = sources if sources_raw is None else sources_raw
        self.mark_rows_watched_by_now()
        ancestors_to_ask_for = self.writer.run_safely(self._list_ancestors_with_computable_adjoint, target)
        operations: list = []
        if not ancestors_to_ask_for:
            with TemporaryAttributes(self, sweep_operations=operations):  # This sweep is not recorded.
                return original(tape, target, sources, output_gradients, sources_raw=sources_raw, **options)
        # If no other tape is open, the operations of the sweep itself do not become rows.
        is_unrecorded = bool(pywrap_tfe.TFE_Py_TapeSetIsEmpty())
        extra_sources = [tensor for _, tensor in ancestors_to_ask_for]
        try:
            with self.writer.suspend_writing(is_unrecorded), TemporaryAttributes(self, sweep_operations=operations):
                gradients = original(
                    tape,
                    target,
                    [*sources, *extra_sources],
                    output_gradients,
                    sources_raw=[*raw_sources, *extra_sources],
                    **options,
                )
        except Exception:
            self.log.refused_sweep = RefusedSweep(len(self.recording.sweeps), ancestors_to_ask_for[-1][0])
            raise
        self.writer.run_safely(
            self._record_sweep,
            tape,
            target,
            sources,
            [row for row, _ in ancestors_to_ask_for],
            gradients,
            operations,
        )
        if is_unrecorded:
            self.writer.run_safely(
                self.log.remember_gradients_returned_by_last_sweep,
                gradients[: len(sources)],
                sources,
            )
        return gradients[: len(sources)]

    def _list_ancestors_with_computable_adjoint(self, targets: Sequence) -> list[tuple[int, Any]]:
        """Return the rows and tensors of the target's ancestors for which a sweep can compute adjoints."""
        # TensorFlow raises an error for a target that is not a tensor.
        pending = [self.log.tensor_rows.find_or_add_row(target) for target in targets if hasattr(target, "dtype")]
        ancestors = set()
        while pending:
            row = pending.pop()
            if row not in ancestors:
                ancestors.add(row)
                pending += self.log.rows[row].inputs_if_operation
        ancestor_rows = [self.log.rows[row] for row in sorted(ancestors)]
        # EagerPyFunc sends zeros of the wrong shape, so only the necessary adjoints are requested.
        has_python_op = any(row.op == "EagerPyFunc" for row in ancestor_rows)
        return [
            (row.index, tensor)
            for row in ancestor_rows
            if not (has_python_op and row.kind == "constant")
            and not isinstance(tensor := row.find_object(), tf.TensorSpec)
            and (tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype == tf.resource)
        ]

    def _compute_and_keep_shares_of_operation(
        self,
        original: Any,
        op_name: str,
        attrs: Any,
        num_inputs: Any,
        inputs: Any,
        outputs: Any,
        out_grads: Any,
        *extra_arguments: Any,
    ) -> Any:
        """Keep the shares of an operation in the sweep, as computed by TensorFlow's own function."""
        shares = original(op_name, attrs, num_inputs, inputs, outputs, out_grads, *extra_arguments)
        if self.recording.internal_error is None:
            self.sweep_operations.append(
                (op_name, inputs, list(out_grads), list(shares) if isinstance(shares, LIST_OR_TUPLE) else [shares])
            )
        return shares

    def _record_sweep(
        self,
        tape: Any,
        target: Any,
        sources: Any,
        ancestor_rows: RowList,
        gradients: Any,
        operations: list,
    ) -> None:
        """Record the sweep with its tape, its sources, its adjoints and its shares."""
        log = self.log
        target_rows = [row for target_tensor in target for row in log.tensor_rows.list_last_row(target_tensor)]
        sweep = self.recording.add_backward_pass(target_rows)
        tapes = reversed(log.tape_history.tapes)
        matching_tapes = (reference for reference in tapes if getattr(reference.tape_ref(), "_tape", None) is tape)
        sweep.tape = next(matching_tapes, None)
        sweep.site, sweep.call_stack = log.running_line.find_site(), log.running_line.find_call_stack()
        sweep.source_results = [
            (ref(tensor), gradient is not None) for tensor, gradient in zip(sources, gradients, strict=False)
        ]
        rows_by_source = [log.tensor_rows.list_rows_of_tensor_or_variable(tensor) for tensor in sources]
        ancestors = set(ancestor_rows)
        sweep.sources = [
            next((row for row in reversed(state_rows) if row in ancestors), state_rows[-1])
            for state_rows in rows_by_source
            if state_rows
        ]
        adjoints = dict(zip(ancestor_rows, gradients[len(sources) :], strict=True))
        for row, adjoint in adjoints.items():
            if adjoint is not None:
                sweep.set_adjoint(row, log.tensor_rows.keep_value(adjoint))
        for tensor, adjoint in zip(sources, gradients, strict=False):
            for row in log.tensor_rows.list_last_row(tensor):
                if adjoint is not None and row not in sweep.adjoints:
                    sweep.set_adjoint(row, log.tensor_rows.keep_value(adjoint))
        ShareRecorder(log, sweep, adjoints).record_shares_of_sweep(operations)


class ShareRecorder:
    """Records the shares that operations send to their inputs in a sweep.

    TensorFlow reports an operation by its name, inputs and adjoints. The recorder finds the row with these inputs and
    adjoints.

    Attributes:
        log: The log of the recording.
        sweep: The backward pass that receives the shares.
        adjoints: Each ancestor's adjoint, keyed by row.
        waiting_rows_by_op: The rows without recorded shares, keyed by operation.
        partial_sums: The sum of the shares sent so far, keyed by row.
    """

    def __init__(self, log: TensorFlowLog, sweep: BackwardPass, adjoints: dict):
        """Prepare to record a sweep's shares."""
        self.log = log
        self.sweep = sweep
        self.adjoints = adjoints
        recorded_rows = (log.rows[row] for row in sorted(adjoints))
        self.waiting_rows_by_op: dict[str, RowList] = group_values_by_key(
            (row.extra.op, row.index) for row in recorded_rows if row.kind == "operation" and row.output == 0
        )
        self.partial_sums: dict = {}

    def record_shares_of_sweep(self, operations: list[tuple]) -> None:
        """Record the steps of a sweep in TensorFlow's order.

        Args:
            operations: The sweep's operations, in the form of `SweepWatcher.sweep_operations`.
        """
        for op, inputs, adjoints, shares in operations:
            call_id = self._remove_and_return_matching_call(op, inputs, adjoints)
            if call_id is not None:
                self._record_shares_of_call(call_id, shares)
        self.sweep.replace_last_totals_by_adjoints()

    def _remove_and_return_matching_call(self, op: str, inputs: Any, adjoints: list) -> OptionalNumber:
        """Return the first row of the last waiting call with these inputs and adjoints.

        The call is removed from the waiting rows. Returns None if no call matches.
        """
        waiting_rows = self.waiting_rows_by_op.get(op, [])
        for row in reversed(waiting_rows):
            if self._are_inputs_and_adjoints_of_row(row, inputs, adjoints):
                waiting_rows.remove(row)
                return row
        return None

    def _are_inputs_and_adjoints_of_row(self, row: int, inputs: Any, adjoints: list) -> bool:
        if len(adjoints) == 1 and self.adjoints.get(row) is not adjoints[0]:
            return False
        return inputs is None or all(
            tensor is None
            or tensor.dtype == tf.resource
            or self.log.tensor_rows.list_last_row(tensor) in ([], [input_row])
            for tensor, input_row in zip(inputs, self.log.rows[row].inputs, strict=False)
        )

    def _record_shares_of_call(self, call_id: int, shares: list) -> None:
        for port, (row, product) in enumerate(zip(self.log.rows[call_id].inputs, shares, strict=False)):
            if product is None or row not in self.sweep.adjoints:
                continue
            previous_sum = self.partial_sums.get(row)
            if previous_sum is None:
                total = product
            else:
                with pause_recording():
                    total = tf.convert_to_tensor(previous_sum) + tf.convert_to_tensor(product)
            self.partial_sums[row] = total
            kept_product = self.log.tensor_rows.keep_value(product)
            kept_total = kept_product if previous_sum is None else self.log.tensor_rows.keep_value(total)
            self.sweep.send(call_id, row, port, kept_product, kept_total)


def register_gradient_function_for_sweeps() -> None:
    """Register the current ``backprop._gradient_function`` with TensorFlow's C++ sweep."""
    pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
