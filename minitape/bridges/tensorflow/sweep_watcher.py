"""Ask the sweeps of TensorFlow's tapes for more than the program asks, and keep what operations sent in them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial, wraps
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, imperative_grad
from tensorflow.python.eager.polymorphic_function.concrete_function import _TapeGradientFunctions

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...recording.recorded_rows import BackwardPass
from .guard import SafeWriter
from .kept_tensors import pause_recording
from .row_log import RefusedSweep, TensorFlowLog


class SweepWatcher:
    """Asks each sweep for the adjoints of what lies between, too, and writes it down."""

    def __init__(self, writer: SafeWriter) -> None:
        self.writer, self.recording, self.log = writer, writer.recording, writer.recording.log
        self.mark_rows_watched_by_now = partial(writer.run_safely, self.log.tensor_rows.mark_rows_watched_by_now)
        # operations of the sweep that runs: (op, inputs, adjoints, shares)
        self.sweep_operations: list[tuple] = []
        self.wrappers = (
            (backprop, "_gradient_function", self._on_gradient_function),
            (imperative_grad, "imperative_grad", self._on_sweep),
            (_TapeGradientFunctions, "_wrap_backward_function", self._on_wrap_backward),
        )

    def _on_wrap_backward(self, original: Any, functions: Any, graph: Any, backward: Any, outputs: Any) -> Any:
        """Wrap the gradient of a ``tf.function`` so that what it sends to its inputs is kept."""
        with self.writer.suspend_writing():  # it makes zeros for lists that a loop keeps
            backward_function, recorded_outputs = original(functions, graph, backward, outputs)
        name = functions._forward.cached_definition.signature.name

        @wraps(backward_function)
        def call_backward(*adjoints: Any) -> Any:
            shares = backward_function(*adjoints)
            self.sweep_operations.append((name, None, list(adjoints), list(shares)))
            return shares

        return call_backward, recorded_outputs

    def _on_sweep(
        self,
        original: Any,
        tape: Any,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        sources_raw: Any = None,
        **options: Any,
    ) -> Any:
        """Ask TensorFlow's sweep for the adjoints of what lies between, too."""
        raw_sources = sources if sources_raw is None else sources_raw
        self.mark_rows_watched_by_now()
        ancestors_to_ask_for = self.writer.run_safely(self._list_ancestors_to_ask_for, target)
        operations: list = []
        if not ancestors_to_ask_for:
            with TemporaryAttributes(self, sweep_operations=operations):  # no code asks for it
                return original(tape, target, sources, output_gradients, sources_raw=sources_raw, **options)
        is_unrecorded = bool(
            pywrap_tfe.TFE_Py_TapeSetIsEmpty()
        )  # the sweep is not recorded: its operations are no rows
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
            output_gradients,
        )
        if is_unrecorded:
            self.writer.run_safely(
                self.log.on_gradients_returned,
                gradients[: len(sources)],
                [row for target_tensor in target for row in self.log.tensor_rows.list_rows(target_tensor)[-1:]],
            )
        return gradients[: len(sources)]

    def _list_ancestors_to_ask_for(self, targets: Sequence) -> list[tuple[int, Any]]:
        """Return the ancestors of the targets that a sweep can be asked for: their rows and tensors."""
        pending = [self.log.tensor_rows.find_or_add_row(target_tensor) for target_tensor in targets]
        ancestors: set[int] = set()
        while pending:
            row = pending.pop()
            if row not in ancestors:
                ancestors.add(row)
                pending += self.log.entries[row].inputs
        # whose zeros have a wrong shape: ask no more than needed
        has_python_op = any(self.log.entries[row].op == "EagerPyFunc" for row in ancestors)
        sources_by_row = [
            (row, self.log.entries[row].extra.tensor_or_handle)
            for row in sorted(ancestors)
            if not has_python_op or self.log.entries[row].kind != "constant"
        ]
        return [
            (row, tensor)
            for row, tensor in sources_by_row
            if not isinstance(tensor, tf.TensorSpec)
            and (tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype == tf.resource)
        ]

    def _on_gradient_function(
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
        """Keep what an operation of the sweep sends: TensorFlow's own function computes it."""
        shares = original(op_name, attrs, num_inputs, inputs, outputs, out_grads, *extra_arguments)
        if self.recording.internal_error is None:
            self.sweep_operations.append(
                (op_name, inputs, list(out_grads), list(shares) if isinstance(shares, (list, tuple)) else [shares])
            )
        return shares

    def _record_sweep(
        self,
        tape: Any,
        target: Any,
        sources: Any,
        ancestor_rows: list[int],
        gradients: Any,
        operations: list,
        seeds: Any,
    ) -> None:
        """Write the sweep down."""
        log = self.log
        target_rows = [row for target_tensor in target for row in log.tensor_rows.list_rows(target_tensor)[-1:]]
        sweep = self.recording.sweep(target_rows)
        sweep.tape = next(
            (
                reference
                for reference in reversed(log.tape_history.tapes)
                if getattr(reference.tape_ref(), "_tape", None) is tape
            ),
            None,
        )
        sweep.row_count, sweep.site, sweep.call_stack = (
            len(log.entries),
            log.running_line.find_site(),
            log.running_line.find_call_stack(),
        )
        sweep.source_results = [
            (weakref.ref(tensor), gradient is not None) for tensor, gradient in zip(sources, gradients, strict=False)
        ]
        rows_by_source = [log.tensor_rows.list_rows(tensor) for tensor in sources]
        ancestors = set(ancestor_rows)
        sweep.sources = [
            next((row for row in reversed(state_rows) if row in ancestors), state_rows[-1])
            for state_rows in rows_by_source
            if state_rows
        ]
        adjoints = dict(zip(ancestor_rows, gradients[len(sources) :], strict=True))
        for row, adjoint in adjoints.items():
            if adjoint is not None and (isinstance(adjoint, tf.IndexedSlices) or adjoint.dtype != tf.resource):
                sweep.arrive(row, log.tensor_rows.keep_value(adjoint))
        for tensor, adjoint in zip(sources, gradients, strict=False):
            for row in log.tensor_rows.list_rows(tensor)[-1:]:
                if adjoint is not None and row not in sweep.adjoints:
                    sweep.arrive(row, log.tensor_rows.keep_value(adjoint))
        ShareRecorder(log, sweep, adjoints).record_shares_of_sweep(operations)


class ShareRecorder:
    """Writes what operations sent to their inputs in a sweep.

    TensorFlow names an operation and its adjoints, here is which row it is.
    """

    def __init__(self, log: TensorFlowLog, sweep: BackwardPass, adjoints: dict) -> None:
        self.log, self.sweep, self.adjoints = log, sweep, adjoints
        self.waiting_rows_by_op: dict[str, list[int]] = {}
        for row in sorted(adjoints):
            entry = log.entries[row]
            if entry.kind == "operation" and entry.output == 0:
                self.waiting_rows_by_op.setdefault(entry.extra.op, []).append(row)
        self.partial_sums: dict = {}
        self.last_share_positions: dict[int, tuple] = {}  # where the last share of a row is

    def record_shares_of_sweep(self, operations: list[tuple]) -> None:
        """Write the steps of a sweep down, in TensorFlow's order."""
        for op, inputs, adjoints, shares in operations:
            call_id = self._take_waiting_call(op, inputs, adjoints)
            if call_id is not None:
                self._record_shares_of_call(call_id, shares)
        for row, (call_id, index) in self.last_share_positions.items():  # the last sum is the adjoint itself
            edges = self.sweep.edges[call_id]
            if row in self.sweep.adjoints:
                edges[index] = edges[index]._replace(total=self.sweep.adjoints[row])

    def _take_waiting_call(self, op: str, inputs: Any, adjoints: list) -> int | None:
        """Return the first row of the last call with these inputs and adjoints, and wait for it no more."""
        waiting_rows = self.waiting_rows_by_op.get(op, [])
        for row in reversed(waiting_rows):
            if self._has_inputs_and_adjoints(row, inputs, adjoints):
                waiting_rows.remove(row)
                return row
        return None

    def _has_inputs_and_adjoints(self, row: int, inputs: Any, adjoints: list) -> bool:
        if len(adjoints) == 1 and self.adjoints.get(row) is not adjoints[0]:
            return False
        input_rows = self.log.entries[row].inputs
        if inputs is None:
            return len(adjoints) > 1 or self.adjoints.get(row) is adjoints[0]
        return all(
            tensor is None
            or tensor.dtype == tf.resource
            or self.log.tensor_rows.list_rows(tensor)[-1:] in ([], [input_row])
            for tensor, input_row in zip(inputs, input_rows, strict=False)
        )

    def _record_shares_of_call(self, call_id: int, shares: list) -> None:
        for port, (row, product) in enumerate(zip(self.log.entries[call_id].inputs, shares, strict=False)):
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
            self.sweep.send(
                call_id,
                row,
                port,
                kept_product,
                kept_product if previous_sum is None else self.log.tensor_rows.keep_value(total),
            )
            self.last_share_positions[row] = call_id, len(self.sweep.edges[call_id]) - 1


def register_current_gradient_function() -> None:
    """Register the function that ``backprop`` has now with TensorFlow's sweep, which is no Python."""
    pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
