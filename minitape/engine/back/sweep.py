"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

The loop is :meth:`Sweep.steps`: the picture's stepper advances it row by row, an outer tape records it, and a compiled loop takes long
stretches of numbers off its hands. What most gradients need is written out in :meth:`Sweep.run`, for plain arrays.
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
                 recorded: bool = False, stepwise: bool = False, held: dict[int, Array] | None = None) -> None:  # fmt: skip
        self.record, self.marks, self.seeds, self.sources, self.adjoints = record, marks, seeds, sources, seeds.copy()
        self.slices: dict[int, list[tuple[int, int]]] = {}  # row -> (call, number) of the slices that arrived there
        self.high = high = max(seeds) if seeds else -1
        self.low = low = min(sources) if sources else high + 1
        if recorded or stepwise or BATCHES:
            self.recorded, self.stepwise, self.batched = recorded, stepwise, any(type(s) in BATCHES for s in seeds.values())
            self.plain = self.plain and not (recorded or stepwise or self.batched)
            if recorded:
                compile_recorded()
        if high - low >= FEW and self.plain:
            self.long = fast.long(self)
            self.plain = self.long is None
        self.values = Held(record) if record.base else record.rows[WIDTH - 1 :: WIDTH]
        if recorded:
            self.values = Tensors(record, self.values)
        if held:
            self.values = Kept(self.values, held)

    def run(self) -> None:
        """Runs the sweep to its end: :meth:`steps`, or the same written out for arrays, with their own rules, in their own order."""
        marks, adjoints, values, kept, calls = self.marks, self.adjoints, self.values, self.sources, self.record.calls
        arrived = adjoints.get
        warnings = WARNINGS[OFF]
        try:
            if not self.plain:
                deque(self.steps(), 0)  # takes them all, and keeps none
            for row, op, a, b in self._cells() if self.plain else ():
                if op == LEAF or (marks is not None and marks[row] != 1):
                    continue
                if op == CALL:
                    self._run_call(calls[a], b)
                    continue
                g = arrived(row)
                if g is None:
                    continue
                if type(g) is IndexedSlices:
                    if self._hand_on(row, BY_CODE[op - FIRST_CODE], (a,), {}):
                        if row not in kept:
                            del adjoints[row]
                        continue
                    g = g.dense()
                z, x, y = values[row], values[a], values[b]
                to, like, kind = a, x, type(z)
                for rule in RULES[kind][op] if kind in RULES and (kind is not ndarray or z.size < LARGE) else form_of(op, z).rules:
                    if rule is not None and (marks is None or marks[to]):
                        share = rule(g, z, x, y)
                        if type(share) is ndarray and share.shape != like.shape:
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
        finally:
            restore(warnings)

    def _run_call(self, call: Call, output: int) -> None:
        """The same for a call; of several outputs, the first is met last."""
        adjoints, value_of, marks, primitive, row = self.adjoints, self.values.__getitem__, self.marks, call.primitive, call.row
        rules: Rules = primitive.rules
        g = adjoints.get(row)
        if type(rules) is not tuple or primitive.code or call.outputs > 1 or type(g) is IndexedSlices:
            if not output and self._call(call):
                self._let_go(call)
            return
        if g is None:
            return
        z, inputs = value_of(row), [*map(value_of, call.inputs)]
        for to, like, rule in zip(call.inputs, inputs, rules):  # noqa: B905 - slow
            if rule is not None and to >= self.low and (marks is None or marks[to]):
                share = rule(g, z, *inputs, **call.attrs)
                if type(share) is IndexedSlices:
                    self.slices.setdefault(to, []).append((row, share.indices.shape[0]))
                elif share is None:
                    continue
                elif share.shape != like.shape or share.dtype is not like.dtype:
                    share = fitted(share, like)
                before = adjoints.get(to)
                adjoints[to] = share if before is None else self._sum(to, before, share)
        if row not in self.sources:
            del adjoints[row]

    def _let_go(self, call: Call) -> None:
        for row in range(call.row, call.row + call.outputs):
            if row not in self.sources:
                self.adjoints.pop(row, None)

    def steps(self) -> Iterator[int]:
        """Hands on the adjoint of each row that has one, from the last row to the first; ``stepwise`` yields the row after it."""
        marks, adjoints, values = self.marks, self.adjoints, self.values
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
                self._let_go(call)
                continue
            g = arrived(row)
            if g is None:
                continue
            if stepwise:
                self.edges = []
            if type(g) is IndexedSlices:
                if self._hand_on(row, BY_CODE[op - FIRST_CODE], (a,), {}):
                    if stepwise:
                        yield row
                    elif row not in kept:
                        del adjoints[row]
                    continue
                g = g.dense()
            z, x, y = values[row], values[a], values[b]
            to = a
            for rule in self._rules(op, z):
                if rule is not None and (marks is None or marks[to]):
                    self._add(to, rule(g, z, x, y))
                to = b
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
        rows, at = record.rows, WIDTH * high
        return zip(range(high, low - 1, -1), rows[at::-WIDTH], rows[at + 1 :: -WIDTH], rows[at + 2 :: -WIDTH])  # noqa: B905 - slow

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
                    self.slices.setdefault(to, []).append((row, share.indices.shape[0]))
        return True

    def _hand_on(self, row: int, primitive: Primitive, inputs: tuple[int, ...], attrs: Attributes) -> bool:
        """Hands the slices at ``row`` on as slices of its one input; False for operations that make them dense."""
        if primitive.name not in SLICED:
            return False
        g, to = self.slices_at(row), inputs[0]
        for _, share in self._shares(primitive, [0], g.values, None, [self.values[to]], attrs):
            self._add(to, g.with_values(share))
            self.slices.setdefault(to, []).append((row, g.indices.shape[0]))
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
        order = np.array([i for call in breadth_first(self.record, self.seeds) for i in place.get(call, ())])
        if self.recorded:
            places = wrap(order)
            values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
        else:
            values, indices = slices.values[order], slices.indices[order]
        return IndexedSlices(values, indices, slices.dense_shape)


def _is_complex(values: list[Adjoint]) -> bool:
    dtype = values[0].dtype if values else None
    return getattr(dtype, "kind", "") == "c"
