"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

The loop is :meth:`Sweep.steps`: the picture's stepper advances it row by row, an outer tape records it, and a compiled loop takes long
stretches of numbers off its hands. What most gradients need is written out in :func:`plain_sweep`, for numbers and arrays.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy import ndarray

from ..recording.record import Record
from ..recording.rows import CALL, CHUNK, LEAF, REALS, WIDTH, Call, operation_of
from ..table.accelerator import fast
from ..table.fp import OFF, WARNINGS, restore
from ..table.primitives import BATCHES, TABLE
from ..table.primitives.elementwise import ARRAY_FORMS, BY_CODE, FIRST_CODE, LARGE, LARGE_FORMS, SHARES, form_of
from ..table.primitives.formula import SCALAR
from ..tensor.functions import compile_recorded
from ..tensor.slices import IndexedSlices, join
from ..tensor.tensor import EagerTensor, new_tensor
from .reach import breadth_first
from .values import Held, Kept, Tensors, fitted, in_batches, unbroadcast

if TYPE_CHECKING:
    from ..table.primitives import Primitive, Rules
    from ..typed import Adjoint, Array, Attributes, Object, Values

Cells: TypeAlias = tuple[int, int, int, int]  # of a row: its number, op, a and b

FEW = 24  # rows from which on an accelerator is asked
SLICED = ("identity", "negative", "cast")  # their adjoints stay slices, as in TensorFlow


class Sweep:
    """One backward pass over a recording.

    ``seeds`` maps the targets' rows to their adjoints, ``marks[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end (``adjoint(row)``).
    ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each
    step: (input row, share of the adjoint, sum so far). ``held`` are arrays by row that stand for those of the recording.
    """

    edges: list[tuple[int, Adjoint, Adjoint]]
    values: Values  # of each row: as NumPy holds it, or as the tensor that an outer tape knows
    order: Iterable[int] | None = None  # of the rows, where it is not theirs
    long: Object = None  # what sweeps numbers in a compiled loop, see minitape.speed.long
    recorded = stepwise = batched = False
    plain = True  # on numbers and arrays, without a stop

    def __init__(self, record: Record, seeds: dict[int, Adjoint], sources: set[int], marks: bytearray | None = None, *,
                 recorded: bool = False, stepwise: bool = False, held: dict[int, Array] | None = None,
                 adjoints: dict[int, Adjoint] | None = None) -> None:  # fmt: skip
        self.record, self.marks, self.seeds, self.sources = record, marks, seeds, sources
        self.adjoints = seeds.copy() if adjoints is None else adjoints
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.high = high = max(seeds) if seeds else -1
        self.low = low = min(sources) if sources else high + 1
        if recorded or stepwise or BATCHES:
            self.recorded, self.stepwise, self.batched = recorded, stepwise, not BATCHES.isdisjoint(map(type, seeds.values()))
            self.plain = self.plain and not (stepwise or self.batched)
            if recorded:
                compile_recorded()
        if high - low >= FEW and self.plain and not recorded:
            self.long = fast.long(self)
            self.plain = self.long is None
        self.values = column(record)
        if recorded:
            self.values = Tensors(record, self.values)
        if held:
            self.values = Kept(self.values, held)

    def run(self) -> None:
        """Runs the sweep to its end."""
        if self.plain:
            plain_sweep(self.record, self.adjoints, self.sources, self.marks, self.high, self.low, self)
            return
        before = WARNINGS[OFF]
        try:
            deque(self.steps(), 0)  # takes them all, and keeps none
        finally:
            restore(before)

    def _let_go(self, row: int, outputs: int = 1) -> None:
        for each in range(row, row + outputs):
            if each not in self.sources:
                self.adjoints.pop(each, None)

    def steps(self) -> Iterator[int]:
        """Hands on the adjoint of each row that has one, from the last row to the first; ``stepwise`` yields the row after it."""
        marks, calls = self.marks, self.record.calls
        for row, op, a, b in self._cells() if self.long is None else self.long.cells():
            if op == LEAF or (op == CALL and b) or (marks is not None and marks[row] != 1):
                continue  # of several outputs, the first is met last
            call = calls[a] if op == CALL else Call(row, BY_CODE[op - FIRST_CODE], operation_of(self.record, row)[1], {}, 1)
            if self._call(call):
                if self.stepwise:
                    yield row
                else:
                    self._let_go(call.row, call.outputs)

    def _cells(self) -> Iterable[Cells]:
        """The rows to visit."""
        if self.order is None:
            return cells(self.record, self.low, self.high)
        return [(row, *self.record.cell(row)[:3]) for row in self.order if row >= self.low]

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row) if self.long is None else self.long.adjoint(row)

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> bool:
        """Hands the adjoints of a call's outputs on to those of its inputs that matter; False when there are none."""
        primitive, values, row, marks, low = call.primitive, self.values, call.row, self.marks, self.low
        g: Adjoint
        z: Adjoint
        if self.stepwise:
            self.edges = []
        if call.outputs == 1:
            g = self.adjoints.get(row) if self.long is None else self.long.adjoint(row)
            if g is None:
                return False
            if type(g) is IndexedSlices:
                if self._hand_on(row, primitive, call.inputs, call.attrs):
                    return True
                g = g.dense()
            z = values[row]
        else:
            rows = range(row, row + call.outputs)
            adjoints = [self.adjoint(r) for r in rows]
            if all(g is None for g in adjoints):
                return False
            g, z = [self._dense(g, r) for g, r in zip(adjoints, rows, strict=True)], [values[r] for r in rows]
        wanted, inputs = [], []
        for i, r in enumerate(call.inputs):
            inputs.append(values[r])
            if r >= low and (marks is None or marks[r]):
                wanted.append(i)
        if primitive.rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return True
        for i, share in self._shares(primitive, wanted, g, z, inputs, call.attrs):
            if share is not None:
                to = call.inputs[i]
                self._add(to, share, primitive.asked and self.long is None and self.record.cell(to)[0] == LEAF)
                if type(share) is IndexedSlices:
                    self.note_slices(to, row, share)
        return True

    def _hand_on(self, row: int, primitive: Primitive, inputs: tuple[int, ...], attrs: Attributes) -> bool:
        """Hands the slices at ``row`` on as slices of its one input; False for operations that make them dense."""
        if primitive.name not in SLICED:
            return False
        g, to = self.slices_at(row), inputs[0]
        for _, share in self._shares(primitive, [0], g.values, None, [self.values[to]], attrs):
            self._add(to, g.with_values(share))
            self.note_slices(to, row, g)
        return True

    def _shares(self, primitive: Primitive, wanted: Sequence[int], g: Adjoint, z: Adjoint, inputs: list[Adjoint], attrs: Attributes) -> Iterable[tuple[int, Adjoint]]:
        """(position, share) for each wanted input of a call."""
        rules: Rules = primitive.rules
        if type(rules) is tuple and not primitive.code:
            shares = []
            for i in wanted:
                if (rule := rules[i]) is not None:
                    shares.append((i, rule(g, z, *inputs, **attrs)))
            return shares
        if primitive.code and rules is not None and not callable(rules):  # of the table of derivatives
            if self.recorded:
                rules = primitive.recorded_rules
            elif self.batched:
                rules = [None if r is None else in_batches(r) for r in rules]
            else:
                rules = form_of(primitive.code, z).rules
            if _is_complex(inputs):  # d/dz of an analytic function: g * conj(f'(z))
                inputs, z = [TABLE["conj"](v) for v in inputs], TABLE["conj"](z)
        if callable(rules):
            shares = list(rules(g, z, *inputs, **attrs))
            return [(i, shares[i]) for i in wanted]
        return [] if rules is None else [(i, rule(g, z, *inputs, **attrs)) for i in wanted if (rule := rules[i]) is not None]

    def _dense(self, g: Adjoint, row: int) -> Adjoint:
        if g is None:  # an output that nothing depends on
            zeros = np.zeros(*self.record.shape_dtype(row))
            return new_tensor(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    # -- adding up ----------------------------------------------------------------------------------------------------

    def _add(self, row: int, share: Adjoint, as_given: bool = False) -> None:
        """Adds a share to the adjoint of ``row``, in the shape of the row.

        A source gets what a custom gradient gave for it ``as_given``: TensorFlow does not look at its shape either.
        """
        if type(share) is not IndexedSlices:
            value = self.values[row]
            if as_given:
                pass
            elif type(share) is EagerTensor:
                if share._value.shape != value._value.shape:
                    share = unbroadcast(share, value._value.shape)
            elif share.shape != value.shape or share.dtype is not value.dtype:
                share = fitted(share, value)
            if self.long is not None and self.long.add(row, share):
                return
        before = self.adjoints.get(row)
        self.adjoints[row] = total = share if before is None else together(before, share)
        if self.stepwise:
            self.edges.append((row, share, total))

    def note_slices(self, to: int, row: int, slices: IndexedSlices) -> None:
        """Notes which row these slices come from, for their order."""
        self.slices.setdefault(to, []).append((row, slices.indices.shape[0]))

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
        order = np.array([i for call in breadth_first(self.record, self.seeds) for i in place.get(call, ())])
        if self.recorded:
            places = new_tensor(order)
            values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
        else:
            values, indices = slices.values[order], slices.indices[order]
        return IndexedSlices(values, indices, slices.dense_shape)


def plain_sweep(record: Record, adjoints: dict[int, Adjoint], sources: set[int], marks: bytearray | None, high: int, low: int,
                general: Sweep | None = None) -> Sweep | None:  # fmt: skip
    """The same as :meth:`Sweep.steps`, written out for numbers and arrays. Returns ``general``, which is made where a row needs more."""
    recorded = general is not None and general.recorded
    if marks is None and record.kinds <= REALS and not recorded:
        number_sweep(record, adjoints, sources, high, low)
        return None
    matters: bytes | bytearray = b"\1" * (high + 1) if marks is None else marks
    rows: Sequence[int]
    inputs: Sequence[Adjoint]
    rules: Object
    values = column(record) if general is None else general.values
    value_of, arrived, calls, seeds = values.__getitem__, adjoints.get, record.calls, adjoints.copy()
    before = WARNINGS[OFF]
    try:
        for row, op, a, b in cells(record, low, high):
            if op == LEAF or matters[row] != 1:
                continue
            g, z, attrs = arrived(row), values[row], None
            if op == CALL:
                call = calls[a]
                if g is None and call.outputs == 1:
                    continue
                rules, rows, attrs = call.primitive.rules, call.inputs, call.attrs
                if not call.primitive.each or call.outputs > 1 or type(g) is IndexedSlices:
                    general = general or Sweep(record, seeds, sources, marks, adjoints=adjoints)
                    if not b and general._call(call):  # of several outputs, the first is met last
                        general._let_go(call.row, call.outputs)
                    continue
                inputs = [*map(value_of, rows)]
            elif g is None:
                continue
            else:
                if type(g) is IndexedSlices:
                    general = general or Sweep(record, seeds, sources, marks, adjoints=adjoints)
                    if general._hand_on(row, BY_CODE[op - FIRST_CODE], (a,), {}):
                        general._let_go(row)
                        continue
                    g = g.dense()
                if recorded:
                    rules = BY_CODE[op - FIRST_CODE].recorded_rules
                else:
                    rules = form_of(op, z).rules if type(z) in SCALAR else (LARGE_FORMS if g.size >= LARGE else ARRAY_FORMS)[op].rules
                rows, inputs = (a, b), (x := values[a], y := values[b])
            for to, like, rule in zip(rows, inputs, rules):  # noqa: B905 - slow
                if rule is None or not matters[to]:
                    continue
                share = rule(g, z, x, y) if attrs is None else rule(g, z, *inputs, **attrs)
                if type(share) is IndexedSlices:
                    general = general or Sweep(record, seeds, sources, marks, adjoints=adjoints)
                    general.note_slices(to, row, share)
                elif share is None:
                    continue
                elif type(share) is EagerTensor:
                    if share._value.shape != like._value.shape:
                        share = unbroadcast(share, like._value.shape)
                elif share.shape != like.shape or share.dtype is not like.dtype:
                    share = fitted(share, like)
                total = arrived(to)
                if total is None:
                    adjoints[to] = share
                elif type(total) is ndarray is type(share) and total.size < LARGE:
                    adjoints[to] = total + share
                else:
                    adjoints[to] = together(total, share)
            if row not in sources:
                del adjoints[row]
    finally:
        restore(before)
    return general


def number_sweep(record: Record, adjoints: dict[int, Adjoint], sources: set[int], high: int, low: int) -> None:
    """The way back over a tape of numbers: what an operation hands on to its inputs is computed at once."""
    values, arrived = column(record), adjoints.get
    before = WARNINGS[OFF]
    try:
        for row, op, a, b in cells(record, low, high):
            g = arrived(row)
            if g is None or op == LEAF:
                continue
            z, to = values[row], a
            for share in SHARES[type(z)][op](g, z, values[a], values[b]):
                if share is not None:
                    total = arrived(to)
                    adjoints[to] = share if total is None else total + share
                to = b
            if row not in sources:
                del adjoints[row]
    finally:
        restore(before)


def column(record: Record) -> Values:
    """The values of the rows."""
    return Held(record) if record.base else record.rows[WIDTH - 1 :: WIDTH]


def cells(record: Record, low: int, high: int) -> Iterable[Cells]:
    """The rows from ``high`` down to ``low``."""
    if record.base:
        return chain.from_iterable(_chunk(record, low, end) for end in range(high + 1, low, -CHUNK))
    rows, at = record.rows, WIDTH * high
    return zip(range(high, low - 1, -1), rows[at::-WIDTH], rows[at + 1 :: -WIDTH], rows[at + 2 :: -WIDTH])  # noqa: B905 - slow


def _chunk(record: Record, low: int, end: int) -> Iterable[Cells]:
    """The rows before ``end`` in a recording that is packed, at most ``CHUNK`` of them."""
    first = max(low, end - CHUNK)
    ops, left, right, _, _ = record.columns(first, end)
    return zip(range(end - 1, first - 1, -1), ops[::-1], left[::-1], right[::-1], strict=True)


def together(total: Adjoint, share: Adjoint) -> Adjoint:
    """What has arrived at a row and a share that arrives now."""
    if type(total) is IndexedSlices:
        return join([total, share]) if type(share) is IndexedSlices else total.dense() + share
    if type(share) is IndexedSlices:
        return total + share.dense()
    if type(total) is np.ndarray and total.size >= LARGE:
        return fast.accumulate(total, share)
    return total + share


def _is_complex(values: list[Adjoint]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"
