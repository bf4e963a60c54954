"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one loop, :meth:`Sweep.steps`, for numbers, arrays, calls and the rows that an outer tape records; the
picture's stepper advances it row by row.
"""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..recording.record import Record
from ..recording.rows import LEAF, Call, call_of
from ..table.fp import OFF, WARNINGS, restore_fp_errors
from ..table.primitives import BATCHES, TABLE
from ..table.primitives.choice import complex_exponent_rule
from ..table.primitives.elementwise import form_of
from ..tensor.functions import recorded_rules
from ..tensor.operation import check_broadcast
from ..tensor.tensor import EagerTensor, new_tensor
from ..values.invalid import invalid
from .order import breadth_first
from .values import Tensors, add_adjoints, as_read, column, in_batches, late_reads, match_input, operations, unbroadcast

if TYPE_CHECKING:
    from ..table.primitives import Primitive, Rules
    from ..types import Adjoint, Array, ArrayValues, Attributes, Function
    from .values import Cells


class Sweep:
    """One backward pass over a recording.

    ``starts`` are the targets' adjoints by row, ``reachable[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose ``adjoint(row)`` is wanted at the end. ``recorded`` makes
    the sweep itself a sequence of recorded operations. ``stepwise`` keeps the ``edges`` of each step: (input row, share
    of the adjoint, sum so far). ``held`` are arrays by row in place of those of the recording.
    """

    edges: list[tuple[int, Adjoint, Adjoint]]
    values: ArrayValues  # of each row: as NumPy holds it, or as the tensor that an outer tape knows
    order: Iterable[int] | None = None  # of the rows, where it is not theirs
    odd = False  # whether a function of the user gave an adjoint that does not fit

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
    ) -> None:
        self.record, self.reachable, self.starts, self.sources = record, reachable, starts, sources
        self.recorded, self.stepwise, self.adjoints = recorded, stepwise, starts.copy()
        self.high = max(starts, default=-1)
        self.low = min(sources, default=self.high + 1)
        self.values = Tensors(record, column(record)) if recorded else column(record)
        self.late = late_reads(record) if recorded else {}
        if held:
            self.values = ChainMap(held, self.values)  # looks into the first one first

    def include(self, rows: set[int]) -> None:
        """Goes down to these rows, too, and in TensorFlow's order: functions of the user are called on the way."""
        self.low = min(self.low, *rows)
        self.order = breadth_first(self.record, self.starts)

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = WARNINGS[OFF]
        try:
            deque(self.steps(), 0)  # takes them all, and keeps none
        finally:
            restore_fp_errors(before)

    def steps(self) -> Iterator[int]:
        """The loop: hands on the adjoint of each row that has one, from the last row to the first, and yields it."""
        reachable = self.reachable
        for row, op, a, b, call in self._cells():
            call = call or call_of(row, op, a, b)
            first = call.row == row  # of several outputs, the first is met last
            if first and (reachable is None or reachable[row] == 1) and self._call(call):
                yield row
                if not self.stepwise:
                    self._drop(row, call.outputs)

    def _drop(self, row: int, outputs: int = 1) -> None:
        for each in range(row, row + outputs):
            if each not in self.sources:
                self.adjoints.pop(each, None)

    def _cells(self) -> Iterable[Cells]:
        """The rows to visit."""
        if self.order is None:
            return operations(self.record, self.low, self.high)
        cells = [(row, *self.record.cell(row)[:3], self.record.call_at(row)) for row in self.order if row >= self.low]
        return [cell for cell in cells if cell[1] != LEAF]

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row)

    def _call(self, call: Call) -> bool:
        """Hands the adjoints of a call's outputs on to its inputs that matter; False where none has arrived."""
        values, reachable, primitive = self.values, self.reachable, call.primitive
        rows = range(call.row, call.row + call.outputs)
        arrived = [self.adjoint(row) for row in rows]
        if all(g is None for g in arrived):
            return False
        self.edges = []
        g: Adjoint = [self._dense(g, row) for g, row in zip(arrived, rows)]  # noqa: B905 - slow
        z: Adjoint = [values[row] for row in rows]
        inputs = [values[row] for row in call.inputs]
        if self.late:
            inputs = [as_read(self, row, call.row) for row in call.inputs]
        if call.outputs == 1:
            (g,), (z,) = g, z
        wanted = [i for i, row in enumerate(call.inputs) if row >= self.low and (reachable is None or reachable[row])]
        given = primitive.mandatory
        odd = self.odd and not given and call.outputs == 1 and g.shape != z.shape
        try:
            for i, share in self._shares(primitive, wanted, g, z, inputs, call.attrs):
                if share is not None:
                    to = call.inputs[i]
                    self._add(to, self._given(to, share) if given else share, given or odd)
        except ValueError as error:
            if odd:
                check_broadcast("", g, z)
                raise invalid(str(error)) from None
            raise
        return True

    def _given(self, to: int, share: Adjoint) -> Adjoint:
        """What a function of the user gave for a row. Where it is of another shape or dtype, the sweep goes on in
        operations, which TensorFlow's sweep is made of: they say what does not fit.
        """
        if type(share) in BATCHES:
            return share
        value = self.values[to]
        if share.shape != value.shape or share.dtype != value.dtype:
            if not self.recorded:
                self.recorded, self.values = True, Tensors(self.record, self.values)
                self.adjoints = {row: _as_tensor(g) for row, g in self.adjoints.items()}
            self.odd = True
        return _as_tensor(share) if self.recorded else share

    def _shares(
        self,
        primitive: Primitive,
        wanted: Sequence[int],
        g: Adjoint,
        z: Adjoint,
        inputs: list[Adjoint],
        attrs: Attributes,
    ) -> Iterable[tuple[int, Adjoint]]:
        """(position, share) for each wanted input of a call; None for one that gets nothing."""
        rules = self._rules(primitive, z)
        if rules is None:
            if primitive.missing == "unregistered" and wanted:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return []
        if callable(rules):
            shares = list(rules(g, z, *inputs, **attrs))
            return [(i, shares[i]) for i in wanted]
        if primitive.code and inputs and getattr(inputs[0].dtype, "kind", "") == "c":
            # d/dz of an analytic function: g * conj(f'(z))
            inputs, z = [TABLE["conj"](v) for v in inputs], TABLE["conj"](z)
            rules = (rules[0], complex_exponent_rule) if primitive.name == "pow" else rules
        return [(i, rule(g, z, *inputs, **attrs)) for i in wanted if (rule := rules[i]) is not None]

    def _rules(self, primitive: Primitive, z: Adjoint) -> Rules:
        """The rules of a primitive: those of the textbook's lines are compiled for what they compute with."""
        if not primitive.code or primitive.rules is None or callable(primitive.rules):
            return primitive.rules
        if self.recorded:
            return recorded_rules(primitive.code)
        if not BATCHES.isdisjoint(map(type, self.starts.values())):
            return [rule and in_batches(rule) for rule in primitive.rules]
        return form_of(primitive.code, z).rules

    def _dense(self, g: Adjoint, row: int) -> Adjoint:
        if g is None:  # an output that nothing depends on
            zeros = np.zeros(*self.record.shape_dtype(row))
            return new_tensor(zeros) if self.recorded else zeros[()]
        return g

    def _add(self, row: int, share: Adjoint, as_given: bool = False) -> None:
        """Adds a share to the adjoint of ``row``, summed to the shape of the row where the operation broadcast that.

        What a custom gradient gave is added ``as_given``: TensorFlow does not look at its shape either.
        """
        if not as_given:
            value = self.values[row]
            if type(share) is EagerTensor:
                if share._value.shape != value._value.shape:
                    share = unbroadcast(share, value._value.shape)
            elif share.shape != value.shape or share.dtype is not value.dtype:
                share = match_input(share, value)
        before = self.adjoints.get(row)
        self.adjoints[row] = total = share if before is None else add_adjoints(before, share)
        if self.stepwise:
            self.edges.append((row, share, total))


def _as_tensor(g: Adjoint) -> Adjoint:
    return new_tensor(g) if isinstance(g, (np.ndarray, np.generic)) else g


def run_sweep(
    record: Record,
    starts: dict[int, Adjoint],
    sources: set[int],
    reachable: bytearray | None,
    recorded: bool,
    mandatory: set[int] | None,
) -> tuple[Function, Sweep | None]:
    """Runs a sweep, also down to the rows ``mandatory``. Returns what gives the adjoint of a row, and the sweep."""
    found = Sweep(record, starts, sources, reachable, recorded=recorded)
    if mandatory:
        found.include(mandatory)
    found.run()
    return found.adjoint, found
