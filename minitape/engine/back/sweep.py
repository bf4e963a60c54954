"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

The loop is :meth:`Sweep.steps`: the picture's stepper advances it row by row, and a compiled loop takes long stretches
of numbers off its hands. What most gradients need is written out: :func:`number_sweep` for numbers, :func:`plain_sweep`
for arrays and calls, also while an outer tape records, and :func:`minitape.engine.back.number_rows.sweep_rows` for
numbers that an outer tape records. Adjoints that do not have the shape of their input, because the operation broadcast
it, are summed down here only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..recording.record import Record
from ..recording.rows import CALL, LEAF, REALS, Call, operation_of
from ..table.accelerator import fast
from ..table.fp import OFF, WARNINGS, restore
from ..table.primitives import BATCHES, TABLE
from ..table.primitives.choice import complex_exponent_rule
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, SHARES, form_of
from ..table.primitives.formula import SCALAR
from ..tensor.functions import recorded_rules
from ..tensor.slices import IndexedSlices
from ..tensor.tensor import EagerTensor, new_tensor
from .number_rows import sweep_rows
from .reach import TERMINAL, breadth_first
from .values import STEPS, Overlay, Tensors, column, fit, in_batches, operations, together, unbroadcast

if TYPE_CHECKING:
    from ..table.primitives import Primitive, Rules
    from ..types import Adjoint, Array, ArrayValues, Attributes, Object
    from .values import Cells

FEW = 24  # rows from which on an accelerator is asked
SLICED = ("identity", "negative", "cast")  # their adjoints stay slices, as in TensorFlow


class Sweep:
    """One backward pass over a recording.

    ``starts`` maps the targets' rows to their adjoints, ``reachable[row]`` is true where a source can be reached
    through ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end
    (``adjoint(row)``). ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the
    ``edges`` of each step: (input row, share of the adjoint, sum so far). ``held`` are arrays by row that stand for
    those of the recording.
    """

    edges: list[tuple[int, Adjoint, Adjoint]]
    values: ArrayValues  # of each row: as NumPy holds it, or as the tensor that an outer tape knows
    order: Iterable[int] | None = None  # of the rows, where it is not theirs
    long: Object = None  # what sweeps numbers in a compiled loop, see minitape.speed.long
    recorded = stepwise = batched = False
    plain = True  # on numbers and arrays, without a stop

    def __init__(
        self,
        record: Record,
        starts: dict[int, Adjoint],
        sources: set[int],
        reachable: bytearray | None = None,
        *,
        recorded: bool = False,
        stepwise: bool = False,
        held: dict[int, Array] | None = None,
        adjoints: dict[int, Adjoint] | None = None,
    ) -> None:
        self.record, self.reachable, self.starts, self.sources = record, reachable, starts, sources
        self.adjoints = starts.copy() if adjoints is None else adjoints
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.high = high = max(starts) if starts else -1
        self.low = low = min(sources) if sources else high + 1
        if recorded or stepwise or BATCHES:
            self.recorded, self.stepwise, self.batched = (
                recorded,
                stepwise,
                not BATCHES.isdisjoint(map(type, starts.values())),
            )
            self.plain = self.plain and not (stepwise or self.batched)
        if high - low >= FEW and self.plain and not recorded:
            self.long = fast.long(self)
            self.plain = self.long is None
        self.values = column(record)
        if recorded:
            self.values = Tensors(record, self.values)
        if held:
            self.values = Overlay(self.values, held)

    def visit(self, rows: set[int]) -> None:
        """Goes down to these rows, too, and in TensorFlow's order: functions of the user are called on the way."""
        self.low = min(self.low, *rows)
        if self.long is None:
            self.order, self.plain = breadth_first(self.record, self.starts), False

    def run(self) -> None:
        """Runs the sweep to its end."""
        if self.plain:
            record, adjoints, sources, reachable, high, low = (
                self.record,
                self.adjoints,
                self.sources,
                self.reachable,
                self.high,
                self.low,
            )
            if not self.recorded and reachable is None and record.kinds <= REALS:
                number_sweep(record, adjoints, sources, high, low)
            elif not (self.recorded and sweep_rows(record, adjoints, sources, reachable, high, low)):
                plain_sweep(record, adjoints, sources, reachable, high, low, self)
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
        """Hands on the adjoint of each row that has one, from the last row to the first; ``stepwise`` yields the row
        after it.
        """
        reachable, calls = self.reachable, self.record.calls
        for row, op, a, b in self._cells() if self.long is None else self.long.cells():
            if op == LEAF or (op == CALL and b) or (reachable is not None and reachable[row] != 1):
                continue  # of several outputs, the first is met last
            call = (
                calls[a]
                if op == CALL
                else Call(row, BY_CODE[op - FIRST_CODE], operation_of(self.record, row)[1], {}, 1)
            )
            if self._call(call):
                if self.stepwise:
                    yield row
                else:
                    self._let_go(call.row, call.outputs)

    def _cells(self) -> Iterable[Cells]:
        """The rows to visit."""
        if self.order is None:
            return operations(self.record, self.low, self.high)
        return [(row, *self.record.cell(row)[:3]) for row in self.order if row >= self.low]

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row) if self.long is None else self.long.adjoint(row)

    # -- one call ----------------------------------------------------------------------------------

    def _call(self, call: Call) -> bool:
        """Hands the adjoints of a call's outputs on to those of its inputs that matter; False when there are none."""
        primitive, values, row, reachable, low = call.primitive, self.values, call.row, self.reachable, self.low
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
            if r >= low and (reachable is None or reachable[r]):
                wanted.append(i)
        if primitive.rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return True
        for i, share in self._shares(primitive, wanted, g, z, inputs, call.attrs):
            if share is not None:
                to = call.inputs[i]
                self._add(to, share, primitive.mandatory and self.long is None and self.record.cell(to)[0] == LEAF)
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

    def _shares(
        self,
        primitive: Primitive,
        wanted: Sequence[int],
        g: Adjoint,
        z: Adjoint,
        inputs: list[Adjoint],
        attrs: Attributes,
    ) -> Iterable[tuple[int, Adjoint]]:
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
                rules = recorded_rules(primitive.code)
            elif self.batched:
                rules = [None if r is None else in_batches(r) for r in rules]
            else:
                rules = form_of(primitive.code, z).rules
            if inputs and getattr(inputs[0].dtype, "kind", "") == "c":  # d/dz of an analytic function: g * conj(f'(z))
                inputs, z = [TABLE["conj"](v) for v in inputs], TABLE["conj"](z)
                rules = (rules[0], complex_exponent_rule) if primitive.name == "pow" else rules
        if callable(rules):
            shares = list(rules(g, z, *inputs, **attrs))
            return [(i, shares[i]) for i in wanted]
        return (
            []
            if rules is None
            else [(i, rule(g, z, *inputs, **attrs)) for i in wanted if (rule := rules[i]) is not None]
        )

    def _dense(self, g: Adjoint, row: int) -> Adjoint:
        if g is None:  # an output that nothing depends on
            zeros = np.zeros(*self.record.shape_dtype(row))
            return new_tensor(zeros) if self.recorded else zeros[()]
        return g.dense() if type(g) is IndexedSlices else g

    # -- adding up ---------------------------------------------------------------------------------

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
                share = fit(share, value)
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
        """The slices that arrived at ``row``; those of several calls in the order in which TensorFlow meets the
        calls.
        """
        slices, arrived = self.adjoints[row], self.slices.get(row, ())
        if len(arrived) < 2:
            return slices
        place: dict[int, list[int]] = {}
        first = 0
        for call, count in arrived:
            place.setdefault(call, []).extend(range(first, first + count))
            first += count
        order = np.array([i for call in breadth_first(self.record, self.starts) for i in place.get(call, ())])
        if self.recorded:
            places = new_tensor(order)
            values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
        else:
            values, indices = slices.values[order], slices.indices[order]
        return IndexedSlices(values, indices, slices.dense_shape)


def plain_sweep(
    record: Record,
    adjoints: dict[int, Adjoint],
    sources: set[int],
    reachable: bytearray | None,
    high: int,
    low: int,
    general: Sweep | None = None,
) -> Sweep | None:
    """The same as :meth:`Sweep.steps`, written out for numbers and arrays. Returns ``general``, which is made where a
    row needs more.
    """
    recorded = general is not None and general.recorded
    matters: bytes | bytearray = b"\1" * (high + 1) if reachable is None else reachable
    kind: type | None
    values = column(record) if general is None else general.values
    read = value_of = values.__getitem__
    arrived, calls, starts = adjoints.get, record.calls, adjoints.copy()
    look = values.column.__getitem__ if isinstance(values, Tensors) else value_of  # where a rule reads no elements
    foreign = TERMINAL in matters
    before = WARNINGS[OFF]
    try:
        for row, op, a, b in operations(record, low, high):
            if foreign and matters[row] == TERMINAL:
                continue
            g = arrived(row)
            if op != CALL:  # a line of the table
                if g is None:
                    continue
                if general is not None and type(g) is IndexedSlices:
                    if general._hand_on(row, BY_CODE[op - FIRST_CODE], (a,), {}):
                        general._let_go(row)
                        continue
                    g = g.dense()
                if recorded:
                    primitive, kind = BY_CODE[op - FIRST_CODE], EagerTensor
                    z, read = value_of(row) if primitive.keeps_output else None, value_of if primitive.keeps else look
                else:
                    z = values[row]
                    kind = type(z) if type(z) in SCALAR else ndarray if g.size < LARGE else None
                STEPS[kind, op, matters[a], matters[b]](g, z, read(a), read(b), a, b, adjoints)
                if row not in sources:
                    del adjoints[row]
                continue
            call = calls[a]
            if g is None and call.outputs == 1:
                continue
            primitive, rows, attrs = call.primitive, call.inputs, call.attrs
            rules: Object = primitive.rules
            if not primitive.each or call.outputs > 1 or (general is not None and type(g) is IndexedSlices):
                general = general or Sweep(record, starts, sources, reachable, adjoints=adjoints)
                if not b and general._call(call):  # of several outputs, the first is met last
                    general._let_go(call.row, call.outputs)
                continue
            if recorded:
                z = value_of(row) if primitive.keeps_output else look(row)
                inputs = [*map(look if primitive.keeps == () else value_of, rows)]
            else:
                z, inputs = values[row], [*map(value_of, rows)]
            for to, like, rule in zip(rows, inputs, rules):  # noqa: B905 - slow
                if rule is None or not matters[to]:
                    continue
                share = rule(g, z, *inputs, **attrs)
                kind = type(share)
                if kind is ndarray or kind in SCALAR:
                    if share.shape != like.shape or share.dtype is not like.dtype:
                        share = fit(share, like)
                elif kind is EagerTensor:
                    if share._value.shape != (shape := look(to).shape):
                        share = unbroadcast(share, shape)
                elif share is None:
                    continue
                elif kind is not IndexedSlices:
                    share = fit(share, like)
                else:
                    general = general or Sweep(record, starts, sources, reachable, adjoints=adjoints)
                    general.note_slices(to, row, share)
                total = arrived(to)
                if total is None:
                    adjoints[to] = share
                elif type(total) is ndarray is kind and total.size < LARGE:
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
        for row, op, a, b in operations(record, low, high):
            g = arrived(row)
            if g is None:
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
