"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one loop, :meth:`Sweep.steps`. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on
plain arrays, or on tensors when an outer tape is to record it; a compiled loop takes long stretches of numbers off its hands.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy import ndarray

from ..recording.record import Record
from ..recording.rows import CALL, CHUNK, LEAF, Call
from ..table.accelerator import fast
from ..table.fp import OFF, WARNINGS, restore
from ..table.primitives import BATCHES, TABLE
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, RULES, form_of
from ..tensor.slices import IndexedSlices, join
from ..tensor.tensor import EagerTensor, wrap
from .reach import breadth_first, in_batches, recorded_rules
from .values import Held, Kept, Tensors, unbroadcast

if TYPE_CHECKING:
    from ..table.primitives import Primitive, Rule, Rules
    from ..typed import Adjoint, Array, Attributes, Object, Result, Values

Part: TypeAlias = "tuple[Sequence[int], int, list[int], list[int], list[int]]"

FEW = 24  # rows from which on an accelerator is asked



class Sweep:
    """One backward pass over a recording.

    ``seeds`` maps the targets' rows to their adjoints, ``marks[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose adjoints are wanted at the end (``adjoint(row)``).
    ``recorded`` makes the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each
    step: (input row, share of the adjoint, sum so far). ``held`` are arrays by row that stand for those of the recording.
    """

    edges: list[tuple[int, Adjoint, Adjoint]]
    order: Iterable[int] | None = None  # of the rows, where it is not theirs
    long: Object = None  # what sweeps numbers in a compiled loop, see minitape.speed.long
    batched = False

    def __init__(self, record: Record, seeds: dict[int, Adjoint], sources: Iterable[int], marks: bytearray | None = None, *,
                 recorded: bool = False, stepwise: bool = False, held: dict[int, Array] | None = None) -> None:  # fmt: skip
        self.record, self.marks, self.recorded, self.stepwise = record, marks, recorded, stepwise
        self.sources = sources if type(sources) is set else set(sources)
        self.high = max(seeds) if seeds else -1
        self.low = min(self.sources) if self.sources else self.high + 1
        self.adjoints = dict(seeds)
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.targets = seeds
        if BATCHES:
            self.batched = any(type(s) in BATCHES for s in seeds.values())
        self.plain = not (recorded or stepwise or self.batched)
        if self.plain and self.high - self.low >= FEW:
            self.long = fast.long(self)
            self.plain = self.long is None
        self.columns = None if record.base else record.columns()
        self.values = self._values()
        if held:
            self.values = Kept(self.values, held)

    def _values(self) -> Values:
        """The value of each row: as NumPy holds it, or as the tensor that an outer tape knows."""
        if self.recorded:
            return Tensors(self)
        return Held(self.record) if self.columns is None else self.columns[-1]

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = WARNINGS[OFF]
        try:
            for _ in self.steps():
                pass
        finally:
            restore(before)

    def steps(self) -> Iterator[int]:
        """Hands on the adjoint of each row that has one, from the last row to the first; yields the row after it."""
        marks, adjoints, values, plain, low = self.marks, self.adjoints, self.values, self.plain, self.low
        arrived, kept, stepwise = adjoints.get, self.sources, self.stepwise
        for rows, first, ops, left, right in self._parts() if self.long is None else self.long.parts():
            for row in rows:
                op = ops[row - first]
                if op == LEAF or (marks is not None and marks[row] != 1):
                    continue
                a, b = left[row - first], right[row - first]
                if op == CALL:
                    call = self.record.calls[a]
                    if b or not self._call(call, [i for i, r in enumerate(call.inputs) if r >= low and (marks is None or marks[r])]):
                        continue  # of several outputs, the first is met last
                    for at in range(row, row + call.outputs) if not stepwise else ():
                        if at not in kept:
                            adjoints.pop(at, None)
                    yield row
                    continue
                g = arrived(row)
                if g is None:
                    continue
                if type(g) is IndexedSlices:
                    g = g.dense()
                z, x, y = values[row], values[a], values[b]
                to, like, kind, self.edges = a, x, type(z), []
                quick = plain and kind in RULES and (kind is not ndarray or z.size < LARGE)
                for rule in RULES[kind][op] if quick else self._rules(op, z):
                    if rule is not None and (marks is None or marks[to]) and (share := rule(g, z, x, y)) is not None:
                        if not plain:
                            self._add(to, share)
                        else:
                            if share.shape != like.shape:
                                share = unbroadcast(share, like.shape)
                            before = arrived(to)
                            if before is None:
                                adjoints[to] = share
                            elif type(before) is ndarray or type(before) is IndexedSlices:
                                adjoints[to] = self._sum(to, before, share)
                            else:
                                adjoints[to] = before + share
                    to, like = b, y
                if row not in kept and not stepwise:
                    del adjoints[row]
                yield row

    def _parts(self) -> Iterable[Part]:
        """The rows to visit, in this order, in parts: numbers of rows, the first in the columns, the columns op, a and b."""
        rows: Sequence[int] = range(self.high, self.low - 1, -1) if self.order is None else [r for r in self.order if r >= self.low]
        if self.columns is not None:
            return ((rows, 0, self.columns[0], self.columns[1], self.columns[2]),)
        record = self.record
        if self.order is not None:
            return [((row,), row, [op], [a], [b]) for row in rows for op, a, b, _ in (record.cell(row),)]
        return self._packed(self.low, self.high + 1)

    def _packed(self, low: int, high: int) -> Iterator[Part]:
        """The rows of a packed recording, unpacked in part."""
        while high > low:
            first = max(low, high - CHUNK)
            ops, left, right, _, _ = self.record.columns(first, high)
            yield range(high - 1, first - 1, -1), first, ops, left, right
            high = first

    def _rules(self, op: int, value: Array) -> Sequence[Rule | None]:
        """The rules of an elementwise row, for what the adjoints are."""
        if self.recorded:
            return recorded_rules(op)
        if self.batched:
            rules: Object = BY_CODE[op - FIRST_CODE].rules  # a line of the table has one for each input
            return [None if r is None else in_batches(r) for r in rules]
        return form_of(op, value).rules

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row) if self.long is None else self.long.adjoint(row)

    # -- one call -----------------------------------------------------------------------------------------------------

    def _call(self, call: Call, wanted: Sequence[int]) -> bool:
        """Hands the adjoints of a call's outputs on to the ``wanted`` of its inputs; False when there are none."""
        primitive, values, row = call.primitive, self.values, call.row
        g: Adjoint
        z: Adjoint
        self.edges = []
        if call.outputs == 1:
            g = self.adjoint(row)
            if g is None:
                return False
            if type(g) is IndexedSlices:
                g = g.dense()
            z = values[row]
        else:
            rows = range(row, row + call.outputs)
            adjoints = [self.adjoint(r) for r in rows]
            if all(g is None for g in adjoints):
                return False
            g, z = [self._dense(g, r) for g, r in zip(adjoints, rows, strict=True)], [values[r] for r in rows]
        if primitive.rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return True
        for i, share in self._shares(primitive, wanted, g, z, [values[r] for r in call.inputs], call.attrs):
            if share is not None:
                to = call.inputs[i]
                self._add(to, share, primitive.name == "custom_gradient" and self._is_leaf(to))
                if type(share) is IndexedSlices:
                    self.slices.setdefault(to, []).append((row, share.indices.shape[0]))
        return True

    def _is_leaf(self, row: int) -> bool:
        return self.long is None and self.record.cell(row)[0] == LEAF

    def _shares(self, primitive: Primitive, wanted: Sequence[int], g: Adjoint, z: Adjoint, inputs: list[Adjoint], attrs: Attributes) -> Iterable[tuple[int, Adjoint]]:
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
        return [] if rules is None else [(i, rule(g, z, *inputs, **attrs)) for i in wanted if (rule := rules[i]) is not None]

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
            value = self.values[row]
            if not as_given and (type(share) is EagerTensor or share.shape != value.shape or share.dtype is not value.dtype):
                share = _fitted(share, value)
            if self.long is not None and self.long.add(row, share):
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


def _fitted(share: Adjoint, value: Adjoint) -> Adjoint:
    """A share in the shape and dtype of the value that it belongs to."""
    if type(share) is EagerTensor:
        return share if share._value.shape == value._value.shape else unbroadcast(share, value._value.shape)
    if share.shape != value.shape:
        share = unbroadcast(share, tuple(value.shape))
    if share.dtype is not value.dtype and isinstance(share, (np.ndarray, np.generic)):
        share = share.astype(value.dtype)  # NumPy computes some of the half types in float32
    return share


def _is_complex(values: list[Adjoint]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"
