"""The sweeps of TensorFlow's tapes: what is asked for more than the program asks, and what operations sent in them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial, wraps
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, imperative_grad
from tensorflow.python.eager.polymorphic_function.concrete_function import _TapeGradientFunctions

from ...engine.recording.block import TemporaryAttributes
from ...recording.rows import BackwardPass
from .guard import Guard
from .rows import TensorFlowLog
from .value import unrecorded


class SweepWatcher:
    """Asks each sweep for the adjoints of what lies between, too, and writes it down."""

    def __init__(self, guard: Guard) -> None:
        self.guard, self.recording, self.log = guard, guard.recording, guard.recording.log
        self.settle = partial(guard.safely, self.log.tensors.settle)
        # operations of the sweep that runs: (op, inputs, came, gives)
        self.passed: list[tuple] = []
        self.wraps = (
            (backprop, "_gradient_function", self._passing),
            (imperative_grad, "imperative_grad", self._gradient),
            (_TapeGradientFunctions, "_wrap_backward_function", self._backward),
        )

    def _backward(self, function: Any, functions: Any, graph: Any, backward: Any, outputs: Any) -> Any:
        """What the gradient of a ``tf.function`` sends to its inputs."""
        with self.guard.quietly():  # it makes zeros for lists that a loop keeps
            back, recorded = function(functions, graph, backward, outputs)
        name = functions._forward.cached_definition.signature.name

        @wraps(back)
        def passing(*came: Any) -> Any:
            gives = back(*came)
            self.passed.append((name, None, list(came), list(gives)))
            return gives

        return passing, recorded

    def _gradient(
        self,
        function: Any,
        tape: Any,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        sources_raw: Any = None,
        **options: Any,
    ) -> Any:
        """TensorFlow's sweep, asked for the adjoints of what lies between, too."""
        raw = sources if sources_raw is None else sources_raw
        self.settle()
        between = self.guard.safely(self._between, target)
        passed: list = []
        if not between:
            with TemporaryAttributes(self, passed=passed):  # no code asks for it
                return function(tape, target, sources, output_gradients, sources_raw=sources_raw, **options)
        silent = bool(pywrap_tfe.TFE_Py_TapeSetIsEmpty())  # the sweep is not recorded: its operations are no rows
        more = [asked for _, asked in between]
        try:
            with self.guard.quietly(silent), TemporaryAttributes(self, passed=passed):
                found = function(
                    tape, target, [*sources, *more], output_gradients, sources_raw=[*raw, *more], **options
                )
        except Exception:
            self.log.failed = len(self.recording.sweeps), between[-1][0]
            raise
        self.guard.safely(
            self._note, tape, target, sources, [row for row, _ in between], found, passed, output_gradients
        )
        if silent:
            self.guard.safely(
                self.log.gave, found[: len(sources)], [row for t in target for row in self.log.tensors.rows_of(t)[-1:]]
            )
        return found[: len(sources)]

    def _between(self, target: Sequence) -> list[tuple[int, Any]]:
        """The rows behind the targets, with what a sweep is asked for."""
        stack = [self.log.tensors.row_of(t) for t in target]
        seen: set[int] = set()
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                stack += self.log.entries[row].inputs
        # whose zeros have a wrong shape: ask no more than needed
        python = any(self.log.entries[row].op == "EagerPyFunc" for row in seen)
        rows = [
            (row, self.log.entries[row].extra.asked)
            for row in sorted(seen)
            if not python or self.log.entries[row].kind != "constant"
        ]
        return [
            (row, asked)
            for row, asked in rows
            if not isinstance(asked, tf.TensorSpec)
            and (asked.dtype.is_floating or asked.dtype.is_complex or asked.dtype == tf.resource)
        ]

    def _passing(
        self,
        function: Any,
        op_name: str,
        attrs: Any,
        num_inputs: Any,
        inputs: Any,
        outputs: Any,
        out_grads: Any,
        *rest: Any,
    ) -> Any:
        """An operation of the sweep: TensorFlow's own function computes what it gives."""
        gives = function(op_name, attrs, num_inputs, inputs, outputs, out_grads, *rest)
        if self.recording.failure is None:
            self.passed.append(
                (op_name, inputs, list(out_grads), list(gives) if isinstance(gives, (list, tuple)) else [gives])
            )
        return gives

    def _note(
        self, tape: Any, target: Any, sources: Any, rows: list[int], found: Any, passed: list, seeds: Any
    ) -> None:
        """Writes the sweep down."""
        log = self.log
        ends = [row for t in target for row in log.tensors.rows_of(t)[-1:]]
        sweep = self.recording.sweep(ends)
        sweep.tape = next(
            (known for known in reversed(log.tapes.known) if getattr(known.ref(), "_tape", None) is tape), None
        )
        sweep.at, sweep.site, sweep.way = len(log.entries), log.line.here(), log.line.way()
        sweep.gave = [
            (weakref.ref(tensor), gradient is not None) for tensor, gradient in zip(sources, found, strict=False)
        ]
        states = [log.tensors.rows_of(tensor) for tensor in sources]
        behind = set(rows)
        sweep.sources = [
            next((row for row in reversed(found) if row in behind), found[-1]) for found in states if found
        ]
        adjoints = dict(zip(rows, found[len(sources) :], strict=True))
        for row, adjoint in adjoints.items():
            if adjoint is not None and (isinstance(adjoint, tf.IndexedSlices) or adjoint.dtype != tf.resource):
                sweep.arrive(row, log.tensors.keep(adjoint))
        for tensor, adjoint in zip(sources, found, strict=False):
            for row in log.tensors.rows_of(tensor)[-1:]:
                if adjoint is not None and row not in sweep.adjoints:
                    sweep.arrive(row, log.tensors.keep(adjoint))
        Sent(log, sweep, adjoints).write(passed)


class Sent:
    """What operations sent to their inputs in a sweep: TensorFlow names an operation and its adjoints, here is which
    row it is.
    """

    def __init__(self, log: TensorFlowLog, sweep: BackwardPass, adjoints: dict) -> None:
        self.log, self.sweep, self.adjoints = log, sweep, adjoints
        self.waiting: dict[str, list[int]] = {}
        for row in sorted(adjoints):
            entry = log.entries[row]
            if entry.kind == "operation" and entry.output == 0:
                self.waiting.setdefault(entry.extra.op, []).append(row)
        self.sums: dict = {}
        self.last: dict[int, tuple] = {}  # where the last contribution to a row is

    def write(self, passed: list[tuple]) -> None:
        """The steps, in TensorFlow's order."""
        for op, inputs, came, gives in passed:
            call = self._call(op, inputs, came)
            if call is not None:
                self._step(call, gives)
        for row, (call, at) in self.last.items():  # the last sum is the adjoint itself
            edges = self.sweep.edges[call]
            if row in self.sweep.adjoints:
                edges[at] = edges[at]._replace(total=self.sweep.adjoints[row])

    def _call(self, op: str, inputs: Any, came: list) -> int | None:
        """The row of an operation: the last one with its inputs, and with what came to it."""
        waiting = self.waiting.get(op, [])
        for row in reversed(waiting):
            if self._matches(row, inputs, came):
                waiting.remove(row)
                return row
        return None

    def _matches(self, row: int, inputs: Any, came: list) -> bool:
        if len(came) == 1 and self.adjoints.get(row) is not came[0]:
            return False
        given = self.log.entries[row].inputs
        if inputs is None:
            return len(came) > 1 or self.adjoints.get(row) is came[0]
        return all(
            tensor is None or tensor.dtype == tf.resource or self.log.tensors.rows_of(tensor)[-1:] in ([], [number])
            for tensor, number in zip(inputs, given, strict=False)
        )

    def _step(self, call: int, gives: list) -> None:
        for port, (row, product) in enumerate(zip(self.log.entries[call].inputs, gives, strict=False)):
            if product is None or row not in self.sweep.adjoints:
                continue
            before = self.sums.get(row)
            if before is None:
                total = product
            else:
                with unrecorded():
                    total = tf.convert_to_tensor(before) + tf.convert_to_tensor(product)
            self.sums[row] = total
            kept = self.log.tensors.keep(product)
            self.sweep.send(call, row, port, kept, kept if before is None else self.log.tensors.keep(total))
            self.last[row] = call, len(self.sweep.edges[call]) - 1


def register() -> None:
    """TensorFlow's sweep, which is no Python, asks the function that ``backprop`` has now."""
    pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
