"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one loop, :meth:`Sweep.steps`. ``gradient`` runs it to its end, the picture's stepper advances it row by row. It works on
plain arrays, or on tensors when an outer tape is to record it; a compiled loop takes long stretches of numbers off its hands.
Adjoints that do not have the shape of their input, because the operation broadcast it, are summed down here only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy import ndarray

from ..recording.record import Record
from ..recording.rows import CALL, CHUNK, LEAF, WIDTH, Call
from ..table.accelerator import fast
from ..table.fp import OFF, WARNINGS, restore
from ..table.primitives import BATCHES, TABLE
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, RULES, form_of
from ..tensor.functions import compile_recorded
from ..tensor.slices import IndexedSlices, join
from ..tensor.tensor import EagerTensor, wrap
from .reach import breadth_first
from .values import Held, Kept, Tensors, fitted, in_batches, unbroadcast

if TYPE_CHECKING:
    from ..table.primitives import Primitive, Rule, Rules
    from ..typed import Adjoint, Array, Attributes, Object, Values

Cells: TypeAlias = tuple[int, int, int, int]  # of a row: its number, op, a and b

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
        if recorded:
            compile_recorded()
        self.plain = not (recorded or stepwise or self.batched)
        if self.plain and self.high - self.low >= FEW:
            self.long = fast.long(self)
            self.plain = self.long is None
        self.values = self._values()
        if held:
            self.values = Kept(self.values, held)

    def _values(self) -> Values:
        """The value of each row: as NumPy holds it, or as the tensor that an outer tape knows."""
        record = self.record
        column: Values = Held(record) if record.base else record.rows[WIDTH - 1 :: WIDTH]
        return Tensors(record, column) if self.recorded else column

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = WARNINGS[OFF]
        try:
            for _ in self.steps():
                pass
        finally:
            restore(before)

    def steps(self) -> Iterator[int]:
        """Hands on the adjoint of each row that has one, from the last row to the first; ``stepwise`` yields the row after it."""
        marks, adjoints, values, plain = self.marks, self.adjoints, self.values, self.plain
        arrived, kept, stepwise, calls = adjoints.get, self.sources, self.stepwise, self.record.calls
        for row, op, a, b in self._cells() if self.long is None else self.long.cells():
            if op == LEAF or (marks is not None and marks[row] != 1):
                continue
            if op == CALL:
                if b or not self._call(call := calls[a]):
                    continue  # of several outputs, the first is met last
                if stepwise:
                    yield row
                    continue
                for at in (row,) if call.outputs == 1 else range(row, row + call.outputs):
                    if at not in kept:
                        adjoints.pop(at, None)
                continue
            g = arrived(row)
            if g is None:
                continue
            if type(g) is IndexedSlices:
                g = g.dense()
            z, x, y = values[row], values[a], values[b]
            to, like, kind = a, x, type(z)
            if stepwise:
                self.edges = []
            quick = plain and kind in RULES and (kind is not ndarray or z.size < LARGE)
            for rule in RULES[kind][op] if quick else self._rules(op, z):
                if rule is not None and (marks is None or marks[to]):
                    share = rule(g, z, x, y)
                    if not plain:
                        self._add(to, share)
                    else:
                        if type(share) is ndarray and share.shape != like.shape:
                            share = unbroadcast(share, like.shape)
                        before = arrived(to)
                        if before is None:
                            adjoints[to] = share
                        elif type(before) is ndarray or type(before) is IndexedSlices:
                            adjoints[to] = self._sum(to, before, share)
                        else:
                            adjoints[to] = before + share
                to, like = b, y
            if stepwise:
                yield row
            elif row not in kept:
                del adjoints[row]

    def _cells(self) -> Iterable[Cells]:
        """The rows to visit."""
        record, low, high = self.record, self.low, self.high
        if self.order is not None:
            return [(row, *record.cell(row)[:3]) for row in self.order if row >= low]
        if record.base:
            return chain.from_iterable(map(self._chunk, range(high + 1, low, -CHUNK)))
        cells = record.rows[WIDTH * low : WIDTH * high + WIDTH]
        return zip(range(high, low - 1, -1), cells[-5::-WIDTH], cells[-4::-WIDTH], cells[-3::-WIDTH])  # noqa: B905 - slow

    def _chunk(self, end: int) -> Iterable[Cells]:
        """The rows before ``end`` in a recording that is packed, at most ``CHUNK`` of them."""
        first = max(self.low, end - CHUNK)
        ops, left, right, _, _ = self.record.columns(first, end)
        return zip(range(end - 1, first - 1, -1), ops[::-1], left[::-1], right[::-1], strict=True)

    def _rules(self, op: int, value: Array) -> Sequence[Rule | None]:
        """The rules of an elementwise row, for what the adjoints are."""
        if self.recorded:
            return BY_CODE[op - FIRST_CODE].recorded_rules
        if self.batched:
            rules: Object = BY_CODE[op - FIRST_CODE].rules  # a line of the table has one for each input
            return [None if r is None else in_batches(r) for r in rules]
        return form_of(op, value).rules

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
                    self.slices.setdefault(to, []).append((row, share.indices.shape[0]))
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


def _is_complex(values: list[Adjoint]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"
