"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one loop, :meth:`Sweep.steps`, for numbers, arrays, calls and the rows that an outer tape records; the
picture's stepper advances it row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..recording.rows import call_of
from ..table.accelerator import fast
from ..table.fp import OFF, WARNINGS, restore_fp_errors
from ..table.primitives.choice import complex_rules
from ..table.primitives.elementwise import form_of
from ..tensor.functions import recorded_rules
from ..tensor.tensor import new_tensor
from .marks import ENDS_HERE
from .row_values import TensorValues, add_adjoints, match_input, operations, values_of_rows

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..recording.rows import Call
    from ..table.primitives import Primitive, Rules
    from ..types import Adjoint, AdjointOf
    from .row_values import Cells


class Sweep:
    """One backward pass over a recording.

    ``starts`` are the targets' adjoints by row, ``reachable[row]`` is true where a source can be reached through
    ``row`` (None: everywhere), ``sources`` are the rows whose ``adjoint(row)`` is wanted at the end. ``recorded`` makes
    the sweep itself a sequence of recorded operations.
    """

    def __init__(
        self,
        record: Record,
        starts: dict[int, Adjoint],
        sources: set[int],
        reachable: bytearray | None = None,
        *,
        recorded: bool = False,
    ) -> None:
        self.record, self.reachable, self.sources, self.recorded = record, reachable, sources, recorded
        self.adjoints = starts.copy()
        # of the last step: (input row, share of the adjoint, sum so far)
        self.edges: list[tuple[int, Adjoint, Adjoint]] = []
        # the rows to visit: from the last target down to the first source
        self.high = max(starts, default=-1)
        self.low = min(sources, default=self.high + 1)
        values = values_of_rows(record)
        self.values = TensorValues(record, values) if recorded else values

    def run(self) -> None:
        """Runs the sweep to its end."""
        before = WARNINGS[OFF]
        try:
            for _ in self.steps():
                pass
        finally:
            restore_fp_errors(before)

    def steps(self) -> Iterator[int]:
        """The loop: hands on the adjoint of each row that has one, from the last row to the first, and yields it."""
        for row, op, a, b, call in self.cells():
            call = call or call_of(row, op, a, b)
            if call.row == row and self.hand_on(call):  # of several outputs, the first is met last
                yield row
                for each in range(row, row + call.outputs):
                    if each not in self.sources:
                        self.adjoints.pop(each, None)

    def cells(self) -> Iterable[Cells]:
        """The rows to visit."""
        return operations(self.record, self.low, self.high)

    def hand_on(self, call: Call) -> bool:
        """Hands the adjoints of a call's outputs on to its inputs that matter; False where none has arrived."""
        values, reachable, inputs = self.values, self.reachable, call.inputs
        rows = range(call.row, call.row + call.outputs)
        arrived = [self.adjoint(row) for row in rows]
        if all(g is None for g in arrived) or (reachable is not None and reachable[call.row] in (0, ENDS_HERE)):
            return False
        g: Adjoint = [self.zeros(row) if g is None else g for g, row in zip(arrived, rows, strict=True)]
        z: Adjoint = [values[row] for row in rows]
        if call.outputs == 1:  # its rule gets no lists
            (g,), (z,) = g, z
        positions = [i for i, row in enumerate(inputs) if row >= self.low and (reachable is None or reachable[row])]
        self.edges = []
        for i, share in self.shares(call, g, [z, *[values[row] for row in inputs]], positions).items():
            self.edges.append((inputs[i], share, self.add(inputs[i], share)))
        return True

    def shares(self, call: Call, g: Adjoint, values: Sequence[Adjoint], positions: list[int]) -> dict[int, Adjoint]:
        """The shares of an adjoint that go to the inputs at these positions, by position. ``values`` are the output and
        then the inputs: a rule gets g, z, x, y.
        """
        primitive = call.primitive
        rules = self.rules(primitive, values[0])
        if rules is None:
            if primitive.missing == "unregistered" and positions:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return {}
        if callable(rules):
            found = rules(g, *values, **call.attrs)
            shares = {i: found[i] for i in positions}
        else:
            shares = {i: rule(g, *values, **call.attrs) for i in positions if (rule := rules[i]) is not None}
        return {
            # what a function of the user gave (it is mandatory) keeps its shape and dtype, as in TensorFlow
            i: share if primitive.mandatory else match_input(share, values[i + 1])
            for i, share in shares.items()
            if share is not None
        }

    def add(self, row: int, share: Adjoint) -> Adjoint:
        """Adds a share to the adjoint of ``row``, and returns the sum."""
        before = self.adjoint(row)
        self.adjoints[row] = total = share if before is None else add_adjoints(before, share)
        return total

    def adjoint(self, row: int) -> Adjoint:
        """The adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row)

    def rules(self, primitive: Primitive, z: Adjoint) -> Rules:
        """The rules of a primitive; those of a line of the table are compiled for the kind of value z, see form_of."""
        if not primitive.code:
            return primitive.rules
        rules = recorded_rules(primitive.code) if self.recorded else form_of(primitive.code, z).rules
        return complex_rules(primitive, rules) if z.dtype.kind == "c" else rules

    def zeros(self, row: int) -> Adjoint:
        """The adjoint of an output that nothing depends on."""
        zeros = np.zeros(*self.record.shape_dtype(row))[()]
        return new_tensor(zeros) if self.recorded else zeros


@fast.run_sweep
def run_sweep(
    record: Record,
    starts: dict[int, Adjoint],
    sources: set[int],
    reachable: bytearray | None,
    recorded: bool,
) -> AdjointOf:
    """Runs a sweep, and returns the function that gives the adjoint of a row."""
    found = Sweep(record, starts, sources, reachable, recorded=recorded)
    found.run()
    return found.adjoint
