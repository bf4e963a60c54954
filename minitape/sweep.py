"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one sweep. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on plain
arrays, or on tensors when an outer tape is to record it, and runs long stretches of scalar rows in a compiled kernel.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .primitives import _BATCH, TABLE
from .primitives.elementwise import BY_CODE, FIRST_CODE, compile_recorded, scalar_table
from .quiet import hush, restore
from .record import CALL, LONG, Call, Record
from .slices import IndexedSlices, join
from .tensor import EagerTensor, wrap


class Sweep:
    """One backward pass over a recording.

    ``seeds`` maps the targets' rows to their adjoints, ``marks[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end (``adjoint(row)``).
    ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each
    step: (input row, share of the adjoint, sum so far).
    """

    def __init__(self, record: Record, seeds: dict[int, Any], sources: Iterable[int], marks: Any = None, *,
                 recorded: bool = False, stepwise: bool = False) -> None:  # fmt: skip
        self.record, self.marks, self.recorded, self.stepwise = record, marks, recorded, stepwise
        self.sources = set(sources)
        self.high = max(seeds, default=-1)
        self.low = min(self.sources, default=self.high + 1)
        self.adjoints: dict[int, Any] = {}
        self.edges: list[tuple[int, Any, Any]] = []
        self.row = self.high
        self.waiting: set[int] = set()  # first rows of calls of which a later output has an adjoint
        self.long: Any = None  # adjoints of scalar rows when kernels do the work
        scalars = self.high - self.low + 1 - len(record.calls)
        self.batched = any(type(s) in _BATCH for s in seeds.values())
        if scalars >= LONG and not recorded and not stepwise and not self.batched and record.real is not None:
            self._prepare_long()
        for row, seed in seeds.items():
            self._add(row, seed)

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = hush()
        try:
            for _ in self.steps():
                pass
        finally:
            restore(before)

    def adjoint(self, row: int) -> Any:
        """The adjoint that has arrived at ``row``, None when none has."""
        if self.long is not None and row not in self.record.meta:
            return self.record.real(self.long[row]) if self.reach[row] & 2 else None  # type: ignore[misc]
        return self.adjoints.get(row)

    def steps(self) -> Iterator[int]:
        """Yields each row after its adjoint was handed on."""
        return self._steps_long() if self.long is not None else self._steps()

    def _steps(self) -> Iterator[int]:
        record, adjoints, marks = self.record, self.adjoints, self.marks
        table = None if self.recorded else scalar_table(record.real or np.float32)
        if table is not None and record.real is not None:
            record.evaluate(self.high + 1)
        for row in range(self.high, self.low - 1, -1):
            g = adjoints.get(row)
            if g is None and row not in self.waiting:
                continue
            if marks is not None and not marks[row]:
                continue
            op, a, b, _ = record.cell(row)
            self.row, self.edges = row, []
            if op >= FIRST_CODE:
                if table is not None:
                    values = record.values
                    z, x, y = values[row], values[a], values[b]
                    rules = table[op].rules
                    if self.batched:
                        rules = [None if r is None else _in_batches(r) for r in BY_CODE[op - FIRST_CODE].rules]
                else:
                    z, x, y = (self.tensor(r) for r in (row, a, b))
                    rules = recorded_rules(op)
                share = rules[0]
                if share is not None and (marks is None or marks[a]):
                    self._add(a, share(g, z, x, y))
                if len(rules) > 1 and (marks is None or marks[b]):
                    share = rules[1]
                    if share is not None:
                        self._add(b, share(g, z, x, y))
            elif op == CALL:
                call = record.calls[a]
                if row == call.row:
                    self._call(call)
                else:
                    self.waiting.add(call.row)
                    continue
            if row not in self.sources and not self.stepwise:
                adjoints.pop(row, None)
            yield row

    def _prepare_long(self) -> None:
        record = self.record
        record.evaluate()
        if record.done and type(record.values) is list:
            record.pack()
            record.long_values()
        record.pack()
        self.long = np.zeros(len(record), record.real)
        self.reach = np.ones(len(record), np.uint8) if self.marks is None else np.asarray(self.marks, np.uint8)

    def _steps_long(self) -> Iterator[int]:
        from . import kernels

        record = self.record
        backward = kernels.load(record.real).backward
        for first, block in reversed(record.blocks):
            low, row = max(first, self.low), min(first + len(block) - 1, self.high)
            while row >= low:
                row = backward(block, first, row, low, record.values, self.long, self.reach)
                if row < low:
                    break
                call = record.calls[record.cell(row)[1]]  # a row that the kernel does not know: resume below it
                if row == call.row:
                    self.row = row
                    self._call(call)
                yield row
                row -= 1

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        """Hands the adjoints of a call's outputs on to its inputs."""
        primitive, record = call.primitive, self.record
        wanted = [i for i, r in enumerate(call.inputs) if self._wanted(r)]
        adjoints = [self.adjoint(r) for r in range(call.row, call.row + call.outputs)]
        if not wanted or all(g is None for g in adjoints):
            return
        rules = primitive.rules_for(self.recorded)
        if primitive._table_rules is None and self.recorded and primitive.code:
            compile_recorded()
            rules = primitive._table_rules
        if rules is None:
            if primitive.missing == "unregistered":
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return
        value = self.tensor if self.recorded else self.array
        inputs = [value(r) for r in call.inputs]
        outputs: Any = [value(r) for r in range(call.row, call.row + call.outputs)]
        gs: Any = [self._dense(g, r) for r, g in enumerate(adjoints, call.row)]
        if call.outputs == 1:
            gs, outputs = gs[0], outputs[0]
        if _is_complex(inputs) and primitive.code:  # d/dz of an analytic function: g * conj(f'(z))
            inputs, outputs = [_conjugate(v) for v in inputs], _conjugate(outputs)
        if self.batched and primitive.code:
            rules = [None if r is None else _in_batches(r) for r in rules]
        if callable(rules):
            for i, share in zip(range(len(inputs)), rules(gs, outputs, *inputs, **call.attrs), strict=True):
                if share is not None and i in wanted:
                    self._add(call.inputs[i], share)
            return
        for i in wanted:
            if rules[i] is not None:
                share = rules[i](gs, outputs, *inputs, **call.attrs)
                if share is not None:
                    self._add(call.inputs[i], share)

    def _wanted(self, row: int) -> bool:
        if row < self.low:
            return False
        if self.long is not None:
            return bool(self.reach[row] & 1)
        return self.marks is None or bool(self.marks[row])

    def _dense(self, g: Any, row: int) -> Any:
        if g is None:  # an output that nothing depends on
            shape, dtype = self.record.meta.get(row, ((), self.record.real))
            zeros = np.zeros(shape, dtype)
            return wrap(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    def array(self, row: int) -> Any:
        """The value of a row; where no rule reads it, and so nobody kept it, an array of its shape and dtype."""
        value = self.record.value(row)
        if value is None:
            return Outline(*self.record.meta[row])
        return value

    def tensor(self, row: int) -> Any:
        """The value of a row as the tensor that an outer tape knows."""
        record = self.record
        leaf = record.leaves.get(row)
        if leaf is not None and leaf.tensor is not None:
            return leaf.tensor
        if row not in record.meta:
            return EagerTensor(record, row)
        value = self.array(row)
        tensor = wrap(np.asarray(value) if type(value) is Outline else value)
        tensor._home, tensor._row = record, row
        return tensor

    # -- adding up ----------------------------------------------------------------------------------------------------

    def _add(self, row: int, share: Any) -> None:
        """Adds a share to the adjoint of ``row``, in the shape of the row."""
        record = self.record
        meta = record.meta.get(row)
        shape = () if meta is None else meta[0]
        if type(share) is not IndexedSlices:
            if share.shape != shape:
                share = unbroadcast(share, shape)
            if self.long is not None and meta is None:
                self.long[row] += share
                self.reach[row] |= 2
                return
        before = self.adjoints.get(row)
        if before is None:
            total = share
        elif type(before) is IndexedSlices or type(share) is IndexedSlices:
            if type(before) is type(share):
                total = join([before, share])
            else:
                total = self._dense(before, row) + self._dense(share, row)
        else:
            total = before + share
        self.adjoints[row] = total
        if self.stepwise:
            self.edges.append((row, share, total))


class Outline:
    """The shape and dtype of an array that nobody kept, because no rule reads its elements."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: _count(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.broadcast_to(np.zeros((), self.dtype if dtype is None else dtype), self.shape)


def _in_batches(rule: Any) -> Any:
    """An elementwise rule for a batch of adjoints: it broadcasts over their leading axis by itself."""

    def batched(g: Any, *values: Any) -> Any:
        share = rule(g.data, *values)
        if np.ndim(share) < g.data.ndim:  # the rule does not read g: the same for all
            share = np.broadcast_to(share, (g.data.shape[0], *np.shape(share)))
        return type(g)(share)

    return batched


_recorded_ready: list[bool] = []


def recorded_rules(code: int) -> Any:
    """The rules of a scalar row for a sweep that is recorded."""
    if not _recorded_ready:
        compile_recorded()
        _recorded_ready.append(True)
    return BY_CODE[code - FIRST_CODE]._table_rules


def _is_complex(values: list[Any]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"


def _conjugate(value: Any) -> Any:
    return TABLE["conj"](value)


def unbroadcast(g: Any, shape: Any) -> Any:
    """Sums an adjoint over the axes along which an input of ``shape`` was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    have = tuple(g.shape)
    extra = len(have) - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and 0 <= i + extra < len(have) and have[i + extra] != 1
    )
    if not isinstance(g, (np.ndarray, np.generic)):  # a tensor, or a batch of adjoints
        if axes:
            g = TABLE["reduce_sum"](g, axis=axes, keepdims=False)
        if tuple(g.shape) != tuple(shape):
            g = TABLE["reshape"](g, shape=shape) if _count(g.shape) == _count(shape) else TABLE["broadcast_to"](g, shape=shape)
        return g
    if axes:
        g = np.sum(g, axis=axes, dtype=g.dtype)
    if g.shape != tuple(shape):
        g = g.reshape(shape) if g.size == _count(shape) else np.broadcast_to(g, shape)
    return g


def _count(shape: Any) -> int:
    count = 1
    for n in shape:
        count *= n
    return count
