"""What the operations of a backward pass sent on, row by row, as TensorFlow's sweep went."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..recording.rows import Sweep
from .tensorflow_log import Log
from .tensorflow_value import unrecorded


class Sent:
    """What operations sent to their inputs in a sweep: TensorFlow names an operation and its adjoints, here is which row it is."""

    def __init__(self, log: Log, sweep: Sweep, adjoints: dict[int, Any]) -> None:
        self.log, self.sweep, self.adjoints = log, sweep, adjoints
        self.waiting: dict[str, list[int]] = {}
        for row in sorted(adjoints):
            entry = log.entries[row]
            if entry.kind == "operation" and entry.output == 0:
                self.waiting.setdefault(entry.extra.op, []).append(row)
        self.sums: dict[int, Any] = {}
        self.last: dict[int, tuple[int, int]] = {}  # where the last contribution to a row stands

    def write(self, passed: list[tuple[str, Any, Any, Any]]) -> None:
        """The steps, in TensorFlow's order."""
        for op, inputs, came, gives in passed:
            call = self._call(op, inputs, came)
            if call is not None:
                self._step(call, gives)
        for row, (call, at) in self.last.items():  # the last sum is the adjoint itself
            edges = self.sweep.edges[call]
            if row in self.sweep.adjoints:
                given, port, product, _ = edges[at]
                edges[at] = given, port, product, self.sweep.adjoints[row]

    def _call(self, op: str, inputs: Any, came: list[Any]) -> int | None:
        """The row of an operation: the last one with its inputs, and with what came to it."""
        waiting = self.waiting.get(op, [])
        for row in reversed(waiting):
            if self._matches(row, inputs, came):
                waiting.remove(row)
                return row
        return None

    def _matches(self, row: int, inputs: Any, came: list[Any]) -> bool:
        if len(came) == 1 and self.adjoints.get(row) is not came[0]:
            return False
        given = self._given(row)
        if inputs is None:
            return len(came) > 1 or self.adjoints.get(row) is came[0]
        return all(tensor is None or tensor.dtype == tf.resource or self.log.rows_of(tensor)[-1:] in ([], [number])
                   for tensor, number in zip(inputs, given, strict=False))  # fmt: skip

    def _given(self, row: int) -> list[int]:
        return self.log.entries[row].inputs

    def _step(self, call: int, gives: list[Any]) -> None:
        for port, (row, product) in enumerate(zip(self._given(call), gives, strict=False)):
            if product is None or row not in self.sweep.adjoints:
                continue
            before = self.sums.get(row)
            if before is None:
                total = product
            else:
                with unrecorded():
                    total = tf.convert_to_tensor(before) + tf.convert_to_tensor(product)
            self.sums[row] = total
            kept = self.log.keep(product)
            self.sweep.send(call, row, port, kept, kept if before is None else self.log.keep(total))
            self.last[row] = call, len(self.sweep.edges[call]) - 1
