"""The reverse sweep: walks the rows from the targets down and hands each adjoint on to the row's inputs.

There is one loop, :meth:`Sweep.iter_steps`, for numbers, arrays, calls and the rows that an outer tape records; the
picture's stepper advances it row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..record.row_parts import build_elementwise_call
from ..table.accelerator import fast
from ..table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..table.primitives.choice import build_complex_rules
from ..table.primitives.elementwise import select_form_for_kind
from ..tensor.rule_functions import compile_recorded_rules
from ..tensor.tensor import create_tensor
from .row_marks import ENDS_HERE
from .row_values import TensorValues, add_share_to_adjoint, fit_share_to_input, get_row_values, iter_operations_backward

if TYPE_CHECKING:
    from ..record.record import Record
    from ..record.row_parts import Call
    from ..table.primitives import Primitive, Rules
    from ..types import Adjoint, AdjointLookup
    from .row_values import Cells


class Sweep:
    """One backward pass over a recording.

    ``seeds`` are the targets' adjoints by row, ``reachable[row]`` is true where a source can be reached through ``row``
    (None: everywhere), ``sources`` are the rows whose ``get_adjoint(row)`` is wanted at the end. ``is_recorded`` makes
    the sweep itself a sequence of recorded operations.
    """

    def __init__(
        self,
        record: Record,
        seeds: dict[int, Adjoint],
        sources: set[int],
        reachable: bytearray | None = None,
        *,
        is_recorded: bool = False,
    ) -> None:
        self.record, self.reachable, self.sources, self.is_recorded = record, reachable, sources, is_recorded
        self.adjoints = seeds.copy()
        # of the last step: (input row, share of the adjoint, sum so far)
        self.edges: list[tuple[int, Adjoint, Adjoint]] = []
        # the rows to visit: from the last target down to the first source
        self.last_row = max(seeds, default=-1)
        self.first_row = min(sources, default=self.last_row + 1)
        values = get_row_values(record)
        self.values = TensorValues(record, values) if is_recorded else values

    def run_to_end(self) -> None:
        """Run the sweep to its end."""
        saved_setting = WARNINGS[OFF]
        try:
            for _ in self.iter_steps():
                pass
        finally:
            restore_fp_errors(saved_setting)

    def iter_steps(self) -> Iterator[int]:
        """Run the loop: hand on the adjoint of each row that has one, from the last row to the first, and yield the
        row.
        """
        for row, op, a, b, call in self.iter_cells_backward():
            call = call or build_elementwise_call(row, op, a, b)
            if call.row == row and self.send_shares_to_inputs(call):  # of several outputs, the first is met last
                yield row
                for output_row in range(row, row + call.outputs):
                    if output_row not in self.sources:
                        self.adjoints.pop(output_row, None)

    def iter_cells_backward(self) -> Iterable[Cells]:
        """Iterate over the cells of the rows to visit, from the last to the first."""
        return iter_operations_backward(self.record, self.first_row, self.last_row)

    def send_shares_to_inputs(self, call: Call) -> bool:
        """Hand the adjoints of a call's outputs on to its inputs that matter; return False where none has arrived."""
        values, reachable, inputs = self.values, self.reachable, call.inputs
        rows = range(call.row, call.row + call.outputs)
        adjoints = [self.get_adjoint(row) for row in rows]
        if all(g is None for g in adjoints) or (reachable is not None and reachable[call.row] in (0, ENDS_HERE)):
            return False
        g: Adjoint = [self.build_zero_adjoint(row) if g is None else g for g, row in zip(adjoints, rows, strict=True)]
        z: Adjoint = [values[row] for row in rows]
        if call.outputs == 1:  # its rule gets no lists
            (g,), (z,) = g, z
        positions = [
            i for i, row in enumerate(inputs) if row >= self.first_row and (reachable is None or reachable[row])
        ]
        self.edges = []
        for i, share in self.compute_shares(call, g, [z, *[values[row] for row in inputs]], positions).items():
            self.edges.append((inputs[i], share, self.add_share(inputs[i], share)))
        return True

    def compute_shares(
        self, call: Call, g: Adjoint, values: Sequence[Adjoint], positions: list[int]
    ) -> dict[int, Adjoint]:
        """Compute the shares of an adjoint that go to the inputs at these positions, by position. ``values`` are the
        output and then the inputs: a rule gets g, z, x, y.
        """
        primitive = call.primitive
        rules = self.find_rules_for_value(primitive, values[0])
        if rules is None:
            if primitive.missing == "unregistered" and positions:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return {}
        if callable(rules):
            all_shares = rules(g, *values, **call.attrs)
            shares = {i: all_shares[i] for i in positions}
        else:
            shares = {i: rule(g, *values, **call.attrs) for i in positions if (rule := rules[i]) is not None}
        return {
            # what a function of the user gave (it is mandatory) keeps its shape and dtype, as in TensorFlow
            i: share if primitive.mandatory else fit_share_to_input(share, values[i + 1])
            for i, share in shares.items()
            if share is not None
        }

    def add_share(self, row: int, share: Adjoint) -> Adjoint:
        """Add a share to the adjoint of ``row``, and return the sum."""
        previous = self.get_adjoint(row)
        self.adjoints[row] = total = share if previous is None else add_share_to_adjoint(previous, share)
        return total

    def get_adjoint(self, row: int) -> Adjoint:
        """Return the adjoint that has arrived at ``row``, None when none has."""
        return self.adjoints.get(row)

    def find_rules_for_value(self, primitive: Primitive, output_value: Adjoint) -> Rules:
        """Return the rules of a primitive; those of a line of the table are compiled for the kind of its value, see
        :func:`select_form_for_kind`.
        """
        if not primitive.code:
            return primitive.rules
        rules = (
            compile_recorded_rules(primitive.code)
            if self.is_recorded
            else select_form_for_kind(primitive.code, output_value).rules
        )
        return build_complex_rules(primitive, rules) if output_value.dtype.kind == "c" else rules

    def build_zero_adjoint(self, row: int) -> Adjoint:
        """Build the adjoint of an output that nothing depends on."""
        zeros = np.zeros(*self.record.get_shape_and_dtype(row))[()]
        return create_tensor(zeros) if self.is_recorded else zeros


@fast.replace_run_sweep
def run_sweep(
    record: Record,
    seeds: dict[int, Adjoint],
    sources: set[int],
    reachable: bytearray | None,
    is_recorded: bool,
) -> AdjointLookup:
    """Run a sweep, and return the function that gives the adjoint of a row."""
    sweep = Sweep(record, seeds, sources, reachable, is_recorded=is_recorded)
    sweep.run_to_end()
    return sweep.get_adjoint
