"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one sweep. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on plain
arrays, or on tensors when an outer tape is to record it, and runs long stretches of numbers in a compiled kernel.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .accelerator import fast
from .primitives import BATCHES, TABLE
from .primitives.elementwise import ARRAY_RULES, BY_CODE, FIRST_CODE, LARGE, form_of
from .quiet import hush, restore
from .reach import breadth_first, in_batches, recorded_rules
from .record import Record
from .rows import CALL, CHUNK, LEAF, Call, Outline
from .slices import IndexedSlices, join
from .tensor import EagerTensor, bare, wrap

if TYPE_CHECKING:
    from .primitives import Primitive, Rule, Rules
    from .tensor import Tensor
    from .typed import Adjoint, Array, Attributes, Columns, Function, Object, Result, Values

FEW = 24  # rows from which on an accelerator is asked
UNPACKED = 512  # rows up to which the columns are unpacked once for all


class Sweep:
    """One backward pass over a recording.

    ``seeds`` maps the targets' rows to their adjoints, ``marks[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end (``adjoint(row)``).
    ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each
    step: (input row, share of the adjoint, sum so far). ``held`` are arrays by row that stand for those of the recording.
    ``columns`` are those of the recording, where the caller has them.
    """

    def __init__(self, record: Record, seeds: dict[int, Adjoint], sources: Iterable[int], marks: bytearray | None = None, *,
                 recorded: bool = False, stepwise: bool = False, held: dict[int, Array] | None = None,
                 columns: Columns | None = None) -> None:  # fmt: skip
        self.record, self.marks, self.recorded, self.stepwise = record, marks, recorded, stepwise
        self.sources = sources if type(sources) is set else set(sources)
        self.high = max(seeds) if seeds else -1
        self.low = min(self.sources) if self.sources else self.high + 1
        self.adjoints: dict[int, Adjoint] = {}
        self.edges: list[tuple[int, Adjoint, Adjoint]] = []
        self.targets = tuple(seeds)
        self.order: Iterable[int] | None = None  # of the rows, where it is not theirs
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.long: np.ndarray | None = None  # adjoints of numbers when a kernel does the work
        self.batched = bool(BATCHES) and any(type(s) in BATCHES for s in seeds.values())
        self.kernel: Function | None = None  # which does it
        rows = self.high - self.low + 1
        if rows >= FEW and not (recorded or stepwise or self.batched):
            self.kernel = fast.kernel(record, rows, "backward")
        if self.kernel is not None:
            self._prepare_long()
        elif columns is None and not record.base:
            columns = record.columns()
        self.columns = columns  # of a recording that is not packed
        self.values = self._values()
        if held:
            self.values = Kept(self.values, held)
        if self.long is None:
            self.adjoints.update(seeds)
        else:
            for row, seed in seeds.items():
                self._add(row, seed)

    def _values(self) -> Values:
        """The value of each row: as NumPy holds it, or as the tensor that an outer tape knows."""
        if self.recorded:
            return Tensors(self)
        return Held(self.record) if self.columns is None else self.columns[-1]

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = hush()
        try:
            if self.stepwise or self.recorded or self.batched or self.long is not None:
                deque(self.steps(), 0)
            else:
                self._walk(self._rows())
        finally:
            restore(before)

    def steps(self) -> Iterator[int]:
        """Yields each row after its adjoint was handed on."""
        return self._steps(self._rows()) if self.long is None else self._steps_long()

    def _rows(self) -> Iterable[tuple[int, int, int, int]]:
        """(number, op, a, b) of the rows to visit, in this order."""
        if self.order is not None:
            return [(row, *self.record.cell(row)[:3]) for row in self.order if row >= self.low]
        low, high = self.low, self.high + 1
        if self.columns is None:
            return self._packed(low, high)
        ops, left, right, _, _ = self.columns
        return _backwards(ops[low:high], left[low:high], right[low:high], low)

    def _packed(self, low: int, high: int) -> Iterator[tuple[int, int, int, int]]:
        """The rows of a packed recording, unpacked in part."""
        while high > low:
            first = max(low, high - CHUNK)
            ops, left, right, _, _ = self.record.columns(first, high)
            yield from _backwards(ops, left, right, first)
            high = first

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        if self.long is not None and type(self.values[row]) is self.real:
            return self.real(self.long[row]) if self.reach[row] & 2 else None
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
        order = np.array([i for call in breadth_first(self.record, self.targets) for i in place.get(call, ())])
        if self.recorded:
            places = wrap(order)
            values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
        else:
            values, indices = slices.values[order], slices.indices[order]
        return IndexedSlices(values, indices, slices.dense_shape)

    def _walk(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """Hands on the adjoint of each of the rows that has one, to its inputs: the sweep over plain numbers and arrays."""
        marks, adjoints, values, calls, kept = self.marks, self.adjoints, self.values, self.record.calls, self.sources
        arrived, ndarray = adjoints.get, np.ndarray
        for row, op, a, b in rows:
            if op == LEAF or (marks is not None and marks[row] != 1):
                continue
            if op == CALL:
                if not b:  # of several outputs, the first is met last
                    self._hand_on(calls[a])
                continue
            g = arrived(row)
            if g is None:
                continue
            if type(g) is IndexedSlices:
                g = g.dense()
            z, x, y = values[row], values[a], values[b]
            to, like = a, x
            for rule in ARRAY_RULES[op] if type(z) is ndarray and z.size < LARGE else form_of(op, z).rules:
                if rule is not None and (marks is None or marks[to]):
                    share = rule(g, z, x, y)
                    if share.shape != like.shape:
                        share = unbroadcast(share, like.shape)
                    before = arrived(to)
                    if before is None:
                        adjoints[to] = share
                    elif type(before) is IndexedSlices or (type(before) is ndarray and before.size >= LARGE):
                        adjoints[to] = self._sum(to, before, share)
                    else:
                        adjoints[to] = before + share
                to, like = b, y
            if row not in kept:
                del adjoints[row]

    def _steps(self, rows: Iterable[tuple[int, int, int, int]]) -> Iterator[int]:
        """The same one row at a time, with adjoints of any kind: tensors that are recorded, batches, long columns of numbers."""
        marks, adjoints, values, calls = self.marks, self.adjoints, self.values, self.record.calls
        for row, op, a, b in rows:
            if op == LEAF or (marks is not None and marks[row] != 1):
                continue
            if op == CALL:
                if not b and self._call_row(calls[a]):
                    yield row
                continue
            g = adjoints.get(row)
            if g is None:
                continue
            if type(g) is IndexedSlices:
                g = g.dense()
            z, x, y = values[row], values[a], values[b]
            to, self.edges = a, []
            for rule in self._rules(op, z):
                if rule is not None and (marks is None or marks[to]) and (share := rule(g, z, x, y)) is not None:
                    self._add(to, share)
                to = b
            if not self.stepwise and row not in self.sources:
                del adjoints[row]
            yield row

    def _rules(self, op: int, value: Array) -> Sequence[Rule | None]:
        """The rules of an elementwise row, for what the adjoints are."""
        if self.recorded:
            return recorded_rules(op)
        if self.batched:
            rules: Object = BY_CODE[op - FIRST_CODE].rules  # a line of the table has one for each input
            return [None if r is None else in_batches(r) for r in rules]
        return form_of(op, value).rules

    def _hand_on(self, call: Call) -> None:
        """Hands on the adjoint of a call; most have one output, and a rule for each input."""
        row, primitive = call.row, call.primitive
        if call.outputs > 1 or type(primitive.rules) is not tuple or primitive.code:
            self._call_row(call)
            return
        marks, values, adjoints, inputs, attrs = self.marks, self.values, self.adjoints, call.inputs, call.attrs
        g = adjoints.get(row)
        if g is None:
            return
        if type(g) is IndexedSlices:
            g = g.dense()
        z, arguments = values[row], list(map(values.__getitem__, inputs))
        for rule, to, like in zip(primitive.rules, inputs, arguments, strict=False):
            if rule is None or to < self.low or (marks is not None and not marks[to]):
                continue
            share = rule(g, z, *arguments, **attrs)
            if share is None:
                continue
            if type(share) is IndexedSlices:
                self._add(to, share)
                self.slices.setdefault(to, []).append((row, share.indices.shape[0]))
                continue
            if share.shape != like.shape or share.dtype is not like.dtype:
                share = self._fitted(to, share)
            before = adjoints.get(to)
            adjoints[to] = share if before is None else self._sum(to, before, share)
        if row not in self.sources:
            del adjoints[row]

    def _call_row(self, call: Call) -> bool:
        """Hands on the adjoints of a call; False where none has arrived."""
        low, marks, wanted, self.edges = self.low, self.marks, [], []
        for i, row in enumerate(call.inputs):
            if row >= low and (marks is None or marks[row]):
                wanted.append(i)
        if not self._call(call, wanted):
            return False
        if not self.stepwise:
            for row in range(call.row, call.row + call.outputs):
                if row not in self.sources:
                    self.adjoints.pop(row, None)
        return True

    # -- long stretches of numbers ------------------------------------------------------------------------------------

    def _prepare_long(self) -> None:
        record = self.record
        self.real = record.real
        self.numbers = record.numbers_from(self.real)
        self.long = np.zeros(len(record), self.real)
        self.reach = (
            np.ones(len(record), np.uint8) if self.marks is None else np.frombuffer(self.marks, np.uint8).copy()
        )

    def _steps_long(self) -> Iterator[int]:
        record, backward = self.record, self.kernel
        assert backward is not None
        for first, block, _ in reversed(record.blocks):
            low, row = max(first, self.low), min(first + len(block) - 1, self.high)
            while row >= low:
                row = backward(block, first, row, low, self.numbers, self.long, self.reach)
                if row < low:
                    break
                # a row that the kernel does not know: resume below it
                yield from self._steps([(row, *record.cell(row)[:3])])
                row -= 1

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call, wanted: Sequence[int]) -> bool:
        """Hands the adjoints of a call's outputs on to the ``wanted`` of its inputs; False when there are none."""
        rows: Sequence[int]
        primitive, values, row = call.primitive, self.values, call.row
        gs: Adjoint
        z: Adjoint
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
        rows, inputs = call.inputs, []
        for r in call.inputs:
            inputs.append(values[r])
        for i, share in self._shares(primitive, wanted, gs, z, inputs, call.attrs):
            if share is not None:
                self._add(rows[i], share, primitive.name == "custom_gradient" and self._is_leaf(rows[i]))
                if type(share) is IndexedSlices:
                    self.slices.setdefault(rows[i], []).append((row, share.indices.shape[0]))
        return True

    def _is_leaf(self, row: int) -> bool:
        return self.long is None and self.record.cell(row)[0] == LEAF

    def _shares(self, primitive: Primitive, wanted: Sequence[int], g: Adjoint, z: Adjoint, inputs: list[Adjoint], attrs: Attributes) -> list[tuple[int, Adjoint]]:
        """(position, share) for each wanted input of a call."""
        rules: Rules = primitive.rules
        if primitive.code and rules is not None and not callable(rules):  # of the table of derivatives
            if self.recorded:
                rules = recorded_rules(primitive.code)
            elif self.batched:
                rules = [None if r is None else in_batches(r) for r in rules]
            if _is_complex(inputs):  # d/dz of an analytic function: g * conj(f'(z))
                inputs, z = [TABLE["conj"](v) for v in inputs], TABLE["conj"](z)
        if callable(rules):
            shares = list(rules(g, z, *inputs, **attrs))
            return [(i, shares[i]) for i in wanted]
        found: list[tuple[int, Adjoint]] = []
        if rules is None:
            return found
        for i in wanted:
            if (rule := rules[i]) is not None:
                found.append((i, rule(g, z, *inputs, **attrs)))
        return found

    def _dense(self, g: Adjoint, row: int) -> Adjoint:
        if g is None:  # an output that nothing depends on
            zeros = np.zeros(*self.record.shape_dtype(row))
            return wrap(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    def tensor(self, row: int) -> Result:
        """The value of a row as the tensor that an outer tape knows."""
        return self.values[row]

    # -- adding up ----------------------------------------------------------------------------------------------------

    def _add(self, row: int, share: Adjoint, as_given: bool = False) -> None:
        """Adds a share to the adjoint of ``row``, in the shape of the row.

        A source gets what a custom gradient gave for it ``as_given``: TensorFlow does not look at its shape either.
        """
        if type(share) is not IndexedSlices:
            if not as_given:
                share = self._fitted(row, share)
            if self.long is not None:
                self.reach[row] |= 2
                if type(self.values[row]) is self.real:
                    self.long[row] += share
                    return
        before = self.adjoints.get(row)
        self.adjoints[row] = total = share if before is None else self._sum(row, before, share)
        if self.stepwise:
            self.edges.append((row, share, total))

    def _sum(self, row: int, before: Adjoint, share: Adjoint) -> Adjoint:
        """What has arrived at ``row`` and a share that arrives now, together."""
        if type(before) is IndexedSlices and type(share) is IndexedSlices:
            return join([before, share])
        if type(before) is IndexedSlices or type(share) is IndexedSlices:
            return self._dense(before, row) + self._dense(share, row)
        if type(before) is np.ndarray and before.size >= LARGE:
            return fast.accumulate(before, share)
        return before + share

    def _fitted(self, row: int, share: Adjoint) -> Adjoint:
        """A share in the shape and dtype of the row that it belongs to."""
        value = self.values[row]
        if type(share) is EagerTensor:
            return share if share._value.shape == value._value.shape else unbroadcast(share, value._value.shape)
        if share.shape != value.shape:
            share = unbroadcast(share, tuple(value.shape))
        if share.dtype is not value.dtype and isinstance(share, (np.ndarray, np.generic)):
            share = share.astype(value.dtype)  # NumPy computes some of the half types in float32
        return share


def _backwards(ops: list[int], left: list[int], right: list[int], low: int) -> Iterator[tuple[int, int, int, int]]:
    return zip(range(low + len(ops) - 1, low - 1, -1), reversed(ops), reversed(left), reversed(right), strict=True)


class Held:
    """The column of values of a long recording, of which few are read."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __getitem__(self, row: int) -> Array:
        return self.record.held(row)


class Kept:
    """A column of values, and arrays in their place: which were kept from being released, or which might have been."""

    def __init__(self, values: Values, arrays: dict[int, Array]) -> None:
        self.values, self.arrays = values, arrays

    def __getitem__(self, row: int) -> Array:
        return self.arrays[row] if row in self.arrays else self.values[row]


class Tensors(dict[int, "Tensor"]):
    """The values of rows as tensors that an outer tape knows: made when they are asked for."""

    def __init__(self, sweep: Sweep) -> None:
        self.record, self.columns = sweep.record, sweep.columns

    def __missing__(self, row: int) -> Tensor:
        if self.columns is None or row in self.record.leaves or type(value := self.columns[-1][row]) is Outline:
            tensor = tensor_of(self.record, row)
        else:
            tensor = made = EagerTensor()
            made._value, made._record, made._row, made._origin = value, self.record, row, None
        self[row] = tensor
        return tensor


def tensor_of(record: Record, row: int) -> Tensor:
    """The tensor of a row: that of a leaf, or one with the same value in the same place."""
    leaf = record.leaves.get(row)
    if leaf is not None and leaf.tensor is not None:
        return leaf.tensor
    value = record.held(row)
    if type(value) is Outline:
        value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
    tensor = bare(value)
    tensor._record, tensor._row = record, row
    return tensor


def _is_complex(values: list[Adjoint]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"


def unbroadcast(g: Adjoint, shape: tuple[int, ...]) -> Adjoint:
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
