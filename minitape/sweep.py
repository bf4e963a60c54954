"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one sweep. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on plain
arrays, or on tensors when an outer tape is to record it, and runs long stretches of scalar rows in a compiled kernel.
Where tapes of one structure come again and again, its plan is written out as a function (:mod:`minitape.straight`).
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from . import kernels, plan
from .columns import LEAF, Call
from .evaluation import long_values
from .plan import Visit
from .primitives import BATCHES, TABLE
from .primitives.blocks import LARGE, WALKED, accumulate
from .quiet import hush, restore
from .record import LONG, Record
from .slices import IndexedSlices, join
from .tensor import EagerTensor, tensor_of_row, wrap

FEW = 24  # rows from which on a kernel that is loaded already is faster than Python
MANY = 100_000  # rows swept in Python after which numba is worth its loading time


_SHAPE, _DIMS = attrgetter("shape"), attrgetter("_dims")  # the shape of an array, and of a tensor, as a tuple
_SCALAR = ((), None)


class Sweep:
    """One backward pass over a recording.

    ``seeds`` maps the targets' rows to their adjoints, ``marks[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end (``adjoint(row)``).
    ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each
    step: (input row, share of the adjoint, sum so far). ``visits`` is the plan, where the caller has one already.
    """

    tensor_of = staticmethod(lambda record, row: tensor_of(record, row))

    def __init__(self, record: Record, seeds: dict[int, Any], sources: Iterable[int], marks: Any = None, *,
                 recorded: bool = False, stepwise: bool = False, visits: list[Visit] | None = None) -> None:  # fmt: skip
        self.record, self.marks, self.recorded, self.stepwise = record, marks, recorded, stepwise
        self.sources = sources if type(sources) is set else set(sources)
        self.high = max(seeds) if seeds else -1
        self.low = min(self.sources) if self.sources else self.high + 1
        self.adjoints: dict[int, Any] = {}
        self.edges: list[tuple[int, Any, Any]] = []
        self.visits = visits
        self.targets = tuple(seeds)
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.long: Any = None  # adjoints of scalar rows when kernels do the work
        self.kernel: Any = None  # which does it
        self.batched = bool(BATCHES) and any(type(s) in BATCHES for s in seeds.values())
        if not recorded and record.real is not None:
            if not stepwise and not self.batched and earns_kernels(self.high - self.low + 1 - len(record.meta)):
                self.kernel = kernels.kernel(record.real, "backward")
            if self.kernel is not None:
                self._prepare_long()
            else:
                record.evaluate(self.high + 1)
        self.values = Values(record, self.tensor_of) if recorded else arrays(record)
        for row, seed in seeds.items():
            self._add(row, seed)

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = hush()
        try:
            deque(self.steps(), 0)
        finally:
            restore(before)

    def steps(self) -> Iterator[int]:
        """Yields each row after its adjoint was handed on."""
        if self.long is not None:
            return self._steps_long()
        return self._walk(self._planned(range(self.high, self.low - 1, -1)) if self.visits is None else self.visits)

    def _planned(self, rows: Iterable[int]) -> Iterator[Visit]:
        return plan.visits(self.record, rows, self.low, self.marks, self.recorded, self.batched)

    def adjoint(self, row: int) -> Any:
        """The adjoint that has arrived at ``row``, None when none has."""
        if self.long is not None and row not in self.record.meta:
            return self.record.real(self.long[row]) if self.reach[row] & 2 else None
        return self.adjoints.get(row)

    def slices_at(self, row: int) -> IndexedSlices:
        """The slices that arrived at ``row``; those of several calls in the order in which TensorFlow meets the calls."""
        slices, arrived = self.adjoints[row], self.slices.get(row, ())
        if len(arrived) < 2:
            return slices
        place: dict[int, list[int]] = {}
        first = 0
        for call, count in arrived:
            place.setdefault(call, []).extend(range(first, first + count))
            first += count
        order = np.array([i for call in plan.breadth_first(self.record, self.targets) for i in place.get(call, ())])
        if self.recorded:
            places = wrap(order)
            values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
        else:
            values, indices = slices.values[order], slices.indices[order]
        return IndexedSlices(values, indices, slices.dense_shape)

    def _walk(self, visits: Iterable[Visit]) -> Iterator[int]:
        """Hands on one share after the other; yields a row when its last share is handed on."""
        adjoints, values, calls, meta = self.adjoints, self.values, self.record.calls, self.record.meta
        arrived, dims = adjoints.get, _DIMS if self.recorded else _SHAPE
        plain, now = not self.stepwise and self.long is None, -1
        kept: Container[int] = range(self.high + 1) if self.stepwise else self.sources
        for row, rule, a, b, to, last in visits:
            if rule is None:
                self.edges, call = [], calls[a]
                if self._call(call, to):
                    for r in range(row, row + call.outputs):
                        if r not in kept:
                            adjoints.pop(r, None)
                    yield row
                continue
            g = arrived(row)
            if g is None:
                continue
            if type(g) is IndexedSlices:
                g = g.dense()
            share = rule(g, values[row], values[a], values[b])
            if plain and share is not None and dims(share) == (meta[to][0] if to in meta else ()):
                before = arrived(to)
                adjoints[to] = share if before is None else self._sum(to, before, share)
            else:
                if row != now:
                    now, self.edges = row, []
                if share is not None:
                    self._add(to, share)
            if last:
                if row not in kept:
                    del adjoints[row]
                yield row

    def _prepare_long(self) -> None:
        record = self.record
        record.evaluate()
        if record.done and type(record.values) is list:
            record.pack()
            long_values(record)
        record.pack()
        self.long = np.zeros(len(record), record.real)
        self.reach = (
            np.ones(len(record), np.uint8) if self.marks is None else np.frombuffer(self.marks, np.uint8).copy()
        )

    def _steps_long(self) -> Iterator[int]:
        record, backward = self.record, self.kernel
        for first, block in reversed(record.blocks):
            low, row = max(first, self.low), min(first + len(block) - 1, self.high)
            while row >= low:
                row = backward(block, first, row, low, record.values, self.long, self.reach)
                if row < low:
                    break
                # a row that the kernel does not know: resume below it
                yield from self._walk(self._planned((row,)))
                row -= 1

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call, wanted: Sequence[int]) -> bool:
        """Hands the adjoints of a call's outputs on to the ``wanted`` of its inputs; False when there are none."""
        primitive, values, row = call.primitive, self.values, call.row
        gs: Any
        z: Any
        if call.outputs == 1:
            gs = self.adjoint(row)
            if gs is None:
                return False
            if type(gs) is IndexedSlices:
                gs = gs.dense()
            z = values[row]
        else:
            rows = range(row, row + call.outputs)
            adjoints = [self.adjoint(r) for r in rows]
            if all(g is None for g in adjoints):
                return False
            gs, z = [self._dense(g, r) for g, r in zip(adjoints, rows, strict=True)], [values[r] for r in rows]
        if primitive.rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return True
        inputs = call.inputs
        for i, share in self._shares(primitive, wanted, gs, z, [values[r] for r in inputs], call.attrs):
            if share is not None:
                self._add(inputs[i], share, primitive.name == "custom_gradient" and self._is_leaf(inputs[i]))
                if type(share) is IndexedSlices:
                    self.slices.setdefault(inputs[i], []).append((row, share.indices.shape[0]))
        return True

    def _is_leaf(self, row: int) -> bool:
        return self.long is None and self.record.cell(row)[0] == LEAF

    def _shares(self, primitive: Any, wanted: Sequence[int], g: Any, z: Any, inputs: list[Any], attrs: Any) -> Any:
        """(position, share) for each wanted input of a call."""
        rules = primitive.rules
        if primitive.code:  # of the table of derivatives
            if self.recorded:
                rules = plan.recorded_rules(primitive.code)
            elif self.batched:
                rules = [None if r is None else plan.in_batches(r) for r in rules]
            if _is_complex(inputs):  # d/dz of an analytic function: g * conj(f'(z))
                inputs, z = [_conjugate(v) for v in inputs], _conjugate(z)
        if callable(rules):
            shares = list(rules(g, z, *inputs, **attrs))
            return [(i, shares[i]) for i in wanted]
        return [(i, rules[i](g, z, *inputs, **attrs)) for i in wanted if rules[i] is not None]

    def _dense(self, g: Any, row: int) -> Any:
        if g is None:  # an output that nothing depends on
            shape, dtype = self.record.meta.get(row, ((), self.record.real))
            zeros = np.zeros(shape, dtype)
            return wrap(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    def tensor(self, row: int) -> Any:
        """The value of a row as the tensor that an outer tape knows."""
        return self.values[row]

    # -- adding up ----------------------------------------------------------------------------------------------------

    def _add(self, row: int, share: Any, as_given: bool = False) -> None:
        """Adds a share to the adjoint of ``row``, in the shape of the row.

        A source gets what a custom gradient gave for it ``as_given``: TensorFlow does not look at its shape either.
        """
        if type(share) is not IndexedSlices:
            share = share if as_given else self._fitted(row, share)
            if self.long is not None:
                self.reach[row] |= 2
                if row not in self.record.meta:
                    self.long[row] += share
                    return
        before = self.adjoints.get(row)
        self.adjoints[row] = total = share if before is None else self._sum(row, before, share)
        if self.stepwise:
            self.edges.append((row, share, total))

    def _sum(self, row: int, before: Any, share: Any) -> Any:
        """What has arrived at ``row`` and a share that arrives now, together."""
        if type(before) is IndexedSlices and type(share) is IndexedSlices:
            return join([before, share])
        if type(before) is IndexedSlices or type(share) is IndexedSlices:
            return self._dense(before, row) + self._dense(share, row)
        if type(before) is np.ndarray and before.size >= LARGE:
            return accumulate(before, share, WALKED)
        return before + share

    def _fitted(self, row: int, share: Any) -> Any:
        """A share in the shape and dtype of the row that it belongs to."""
        shape, dtype = self.record.meta.get(row, _SCALAR)
        if (share._dims if type(share) is EagerTensor else share.shape) != shape:
            share = unbroadcast(share, shape)
        if dtype is not None and isinstance(share, (np.ndarray, np.generic)) and share.dtype is not dtype:
            share = share.astype(dtype)  # NumPy computes some of the half types in float32
        return share


_swept = [0]  # scalar rows that this process swept without kernels


def earns_kernels(rows: int) -> bool:
    """Whether a sweep over so many scalar rows should be left to the compiled kernels.

    Loading numba costs about half a second: one long tape earns it, and so do many short ones together. Without numba
    there is nothing to gain: the kernels' text would run as Python, slower than the walk.
    """
    if kernels.loaded():
        return rows >= FEW
    _swept[0] += rows
    return (rows >= LONG or (_swept[0] > MANY and rows >= FEW)) and kernels.available()


class Outline:
    """The shape and dtype of an array that nobody kept, because no rule reads its elements."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("a rule reads an array that nobody kept: its primitive's `keep` does not name it")


class Values(dict[int, Any]):
    """Row -> value; what is not there yet is found by a function of the recording and the row."""

    def __init__(self, record: Any, find: Callable[[Any, int], Any]) -> None:
        self.record, self.find = record, find

    def __missing__(self, row: int) -> Any:
        value = self[row] = self.find(self.record, row)
        return value


class _Long(Values):
    """The values of a long recording: nothing is kept twice."""

    def __missing__(self, row: int) -> Any:
        return self.find(self.record, row)


def arrays(record: Record) -> Values:
    """The values of rows as NumPy holds them: those that are there at once, the others when they are asked for."""
    if type(record.values) is not list:
        return _Long(record, array_of)
    found = Values(record, array_of)
    found.update(enumerate(record.values))
    found.update(record.arrays)
    for row in record.meta.keys() - record.arrays.keys():  # arrays that nobody kept
        found.pop(row, None)
    return found


def array_of(record: Record, row: int) -> Any:
    """The value of a row; where no rule reads it, and so nobody kept it, only its shape and dtype."""
    if row in record.arrays:
        return record.arrays[row]
    if row in record.meta:
        value = record.value(row) if record.lanes else None
        return Outline(*record.meta[row]) if value is None else value
    return record.values[row] if row < record.done else record.value(row)


def tensor_of(record: Record, row: int) -> Any:
    """The value of a row as the tensor that an outer tape knows."""
    leaf = record.leaves.get(row)
    if leaf is not None and leaf.tensor is not None:
        return leaf.tensor
    if row not in record.meta:
        return tensor_of_row(record, row)
    shape, dtype = record.meta[row]
    lane = record.wide_lanes.get(shape) if row in record.wide and row not in record.arrays else record.lanes.get(shape)
    if lane is not None and lane.dtype is dtype:
        return tensor_of_row(lane, row)
    value = array_of(record, row)
    if type(value) is Outline:
        value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
    tensor = wrap(value)
    tensor._home, tensor._row = record, row
    return tensor


def _is_complex(values: list[Any]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"


def _conjugate(value: Any) -> Any:
    return value if type(value) is Outline else TABLE["conj"](value)  # that no rule reads


def unbroadcast(g: Any, shape: Any) -> Any:
    """Sums an adjoint over the axes along which an input of ``shape`` was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if type(g) is np.ndarray and not shape:  # a number
        return np.add.reduce(g, None, g.dtype)
    have = tuple(g.shape)
    extra = len(have) - len(shape)
    if extra == 1 and have[1:] == shape and type(g) is np.ndarray:  # a bias: the usual case
        return np.add.reduce(g, 0, g.dtype)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and 0 <= i + extra < len(have) and have[i + extra] != 1
    )
    if not isinstance(g, (np.ndarray, np.generic)):  # a tensor, or a batch of adjoints
        if axes:
            g = TABLE["reduce_sum"](g, axis=axes, keepdims=False)
        if tuple(g.shape) != tuple(shape):
            g = (
                TABLE["reshape"](g, shape=shape)
                if math.prod(g.shape) == math.prod(shape)
                else TABLE["broadcast_to"](g, shape=shape)
            )
        return g
    if axes:
        g = np.add.reduce(g, axes, g.dtype)
    if g.shape != tuple(shape):
        g = g.reshape(shape) if g.size == math.prod(shape) else np.broadcast_to(g, shape)
    return g
