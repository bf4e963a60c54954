"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one sweep. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on plain
arrays, or on tensors when an outer tape is to record it, and runs long stretches of scalar rows in a compiled kernel.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import kernels
from .primitives import _BATCH, TABLE
from .primitives.elementwise import BY_CODE, FIRST_CODE, compile_recorded, scalar_table
from .quiet import hush, restore
from .record import CALL, LONG, Call, Record
from .slices import IndexedSlices, join
from .tensor import EagerTensor, wrap

FOREIGN = 5  # the mark of a source whose own operation is not on the tape: nothing is handed on from there
FEW = 24  # rows from which on a kernel that is loaded already is faster than Python
MANY = 100_000  # rows swept in Python after which numba is worth its loading time


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
        self.sources = sources if type(sources) is set else set(sources)
        self.high = max(seeds) if seeds else -1
        self.low = min(self.sources) if self.sources else self.high + 1
        self.adjoints: dict[int, Any] = {}
        self.edges: list[tuple[int, Any, Any]] = []
        self.row = self.high
        self.waiting: set[int] = set()  # first rows of calls of which a later output has an adjoint
        self.long: Any = None  # adjoints of scalar rows when kernels do the work
        self.table: Any = None  # rules of scalar rows, when they run on numbers
        self.batched = False
        if _BATCH:
            self.batched = any(type(s) in _BATCH for s in seeds.values())
        if not recorded and record.real is not None:
            if not stepwise and not self.batched and earns_kernels(self.high - self.low + 1 - len(record.meta)):
                self._prepare_long()
            else:
                record.evaluate(self.high + 1)
                self.table = scalar_table(record.real)
        for row, seed in seeds.items():
            self._add(row, seed)

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = hush()
        try:
            if self.long is not None:
                for _ in self._steps_long():
                    pass
                return
            adjoints, waiting, hand_on = self.adjoints, self.waiting, self._hand_on
            for row in range(self.high, self.low - 1, -1):
                if row in adjoints or row in waiting:
                    hand_on(row)
        finally:
            restore(before)

    def adjoint(self, row: int) -> Any:
        """The adjoint that has arrived at ``row``, None when none has."""
        if self.long is not None and row not in self.record.meta:
            return self.record.real(self.long[row]) if self.reach[row] & 2 else None  # type: ignore[misc]
        return self.adjoints.get(row)

    def steps(self) -> Iterator[int]:
        """Yields each row after its adjoint was handed on."""
        if self.long is not None:
            yield from self._steps_long()
            return
        for row in range(self.high, self.low - 1, -1):
            if (row in self.adjoints or row in self.waiting) and self._hand_on(row):
                yield row

    def _hand_on(self, row: int) -> bool:
        """Hands the adjoint of one row on to its inputs; False when there was nothing to do."""
        marks, record = self.marks, self.record
        if marks is not None and marks[row] != 1:
            return marks[row] == FOREIGN
        if row >= record.base:
            at, pending = (row - record.base) << 2, record.pending
            op, a, b = pending[at], pending[at + 1], pending[at + 2]
        else:
            op, a, b, _ = record.cell(row)
        if self.stepwise:
            self.row, self.edges = row, []
        if op >= FIRST_CODE:
            g = self.adjoints[row]
            if type(g) is IndexedSlices:
                g = g.dense()
            if not self.recorded:
                if row in record.meta:  # small arrays
                    arrays, values = record.arrays, record.values
                    z = arrays[row]
                    x = arrays[a] if a in arrays else values[a]
                    y = arrays[b] if b in arrays else values[b]
                    rules = BY_CODE[op - FIRST_CODE].plain[1]
                else:
                    values = record.values
                    z, x, y = values[row], values[a], values[b]
                    rules = BY_CODE[op - FIRST_CODE].rules if self.batched else self.table[op].rules
                if self.batched:
                    rules = [None if r is None else _in_batches(r) for r in rules]
            else:
                z, x, y = self.tensor(row), self.tensor(a), self.tensor(b)
                rules = recorded_rules(op)
            rule = rules[0]
            if rule is not None and (marks is None or marks[a]):
                self._add(a, rule(g, z, x, y))
            if len(rules) > 1:
                rule = rules[1]
                if rule is not None and (marks is None or marks[b]):
                    self._add(b, rule(g, z, x, y))
        elif op == CALL:
            call = record.calls[a]
            if row != call.row:
                self.waiting.add(call.row)
                return False
            self._call(call)
        if not self.stepwise and row not in self.sources and row in self.adjoints:
            del self.adjoints[row]
        return True

    def _prepare_long(self) -> None:
        record = self.record
        record.evaluate()
        if record.done and type(record.values) is list:
            record.pack()
            record.long_values()
        record.pack()
        self.long = np.zeros(len(record), record.real)
        self.reach = (
            np.ones(len(record), np.uint8) if self.marks is None else np.frombuffer(self.marks, np.uint8).copy()
        )

    def _steps_long(self) -> Iterator[int]:
        record = self.record
        backward = kernels.load(record.real).backward
        for first, block in reversed(record.blocks):
            low, row = max(first, self.low), min(first + len(block) - 1, self.high)
            while row >= low:
                row = backward(block, first, row, low, record.values, self.long, self.reach)
                if row < low:
                    break
                op, number, _, _ = record.cell(row)  # a row that the kernel does not know: resume below it
                if self.reach[row] & FOREIGN == FOREIGN:
                    pass
                elif op != CALL:
                    self._hand_on(row)
                elif row == record.calls[number].row:
                    self.row = row
                    self._call(record.calls[number])
                yield row
                row -= 1

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        """Hands the adjoints of a call's outputs on to its inputs."""
        primitive, marks = call.primitive, self.marks
        first, inputs = call.row, call.inputs
        if self.long is not None:
            wanted = [i for i, r in enumerate(inputs) if r >= self.low and self.reach[r] & 1]
        else:
            wanted = [i for i, r in enumerate(inputs) if r >= self.low and (marks is None or marks[r])]
        rules = primitive.rules
        if rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return
        value = self.tensor if self.recorded else self.array
        gs: Any
        z: Any
        if call.outputs == 1:
            gs, z = self.adjoint(first), value(first)
            if gs is None:
                return
            if type(gs) is IndexedSlices:
                gs = gs.dense()
        else:
            rows = range(first, first + call.outputs)
            adjoints = [self.adjoint(r) for r in rows]
            if all(g is None for g in adjoints):
                return
            gs, z = [self._dense(g, r) for g, r in zip(adjoints, rows, strict=True)], [value(r) for r in rows]
        arguments = [value(r) for r in inputs]
        if primitive.code:  # of the table of derivatives
            if self.recorded:
                rules = recorded_rules(primitive.code)
            elif self.batched:
                rules = [None if r is None else _in_batches(r) for r in rules]
            if _is_complex(arguments):  # d/dz of an analytic function: g * conj(f'(z))
                arguments, z = [_conjugate(v) for v in arguments], _conjugate(z)
        if callable(rules):
            for i, share in zip(range(len(inputs)), rules(gs, z, *arguments, **call.attrs), strict=True):
                if share is not None and i in wanted:
                    self._add(inputs[i], share)
            return
        for i in wanted:
            rule = rules[i]
            if rule is not None:
                share = rule(gs, z, *arguments, **call.attrs)
                if share is not None:
                    self._add(inputs[i], share)

    def _dense(self, g: Any, row: int) -> Any:
        if g is None:  # an output that nothing depends on
            shape, dtype = self.record.meta.get(row, ((), self.record.real))
            zeros = np.zeros(shape, dtype)
            return wrap(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    def array(self, row: int) -> Any:
        """The value of a row; where no rule reads it, and so nobody kept it, only its shape and dtype."""
        record = self.record
        arrays = record.arrays
        if row in arrays:
            return arrays[row]
        if row in record.meta:
            value = record.value(row) if record.lanes else None
            return Outline(*record.meta[row]) if value is None else value
        return record.values[row] if row < record.done else record.value(row)

    def tensor(self, row: int) -> Any:
        """The value of a row as the tensor that an outer tape knows."""
        record = self.record
        leaf = record.leaves.get(row)
        if leaf is not None and leaf.tensor is not None:
            return leaf.tensor
        if row not in record.meta:
            return EagerTensor(record, row)
        shape, dtype = record.meta[row]
        lane = record.lanes.get(shape)
        if lane is not None and lane.dtype is dtype:
            return EagerTensor(lane, row)
        value = self.array(row)
        if type(value) is Outline:
            value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
        tensor = wrap(value)
        tensor._home, tensor._row = record, row
        return tensor

    # -- adding up ----------------------------------------------------------------------------------------------------

    def _add(self, row: int, share: Any) -> None:
        """Adds a share to the adjoint of ``row``, in the shape of the row."""
        meta = self.record.meta.get(row)
        if type(share) is not IndexedSlices:
            shape = () if meta is None else meta[0]
            if share.shape != shape:
                share = unbroadcast(share, shape)
            if meta is not None and share.dtype is not meta[1] and isinstance(share, (np.ndarray, np.generic)):
                share = share.astype(meta[1])  # NumPy computes some of the half types in float32
            if self.long is not None:
                self.reach[row] |= 2
                if meta is None:
                    self.long[row] += share
                    return
        adjoints = self.adjoints
        if row in adjoints:
            before = adjoints[row]
            if type(before) is IndexedSlices or type(share) is IndexedSlices:
                if type(before) is type(share):
                    total = join([before, share])
                else:
                    total = self._dense(before, row) + self._dense(share, row)
            elif type(before) is np.ndarray:
                total = TABLE["add"].forward(before, share)  # in blocks when they are large
            else:
                total = before + share
        else:
            total = share
        adjoints[row] = total
        if self.stepwise:
            self.edges.append((row, share, total))


_swept = [0]  # scalar rows that this process swept without kernels


def earns_kernels(rows: int) -> bool:
    """Whether a sweep over so many scalar rows should be left to the compiled kernels.

    Loading numba costs about half a second: one long tape earns it, and so do many short ones together.
    """
    if kernels.loaded():
        return rows >= FEW
    _swept[0] += rows
    return rows >= LONG or (_swept[0] > MANY and rows >= FEW)


class Outline:
    """The shape and dtype of an array that nobody kept, because no rule reads its elements."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: _count(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("a rule reads an array that nobody kept: its primitive's `keep` does not name it")


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
            g = (
                TABLE["reshape"](g, shape=shape)
                if _count(g.shape) == _count(shape)
                else TABLE["broadcast_to"](g, shape=shape)
            )
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
