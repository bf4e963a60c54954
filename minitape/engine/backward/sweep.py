"""Run the backward sweep, which visits rows in reverse order and sends shares of each adjoint to the inputs.

A single loop, :meth:`Sweep.iter_steps`, handles scalars, arrays and calls, and also sweeps that an outer tape records.
The picture's stepper advances the same loop row by row.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..record.record import Record
from ..record.row_parts import Call, build_elementwise_call
from ..table.accelerator import fast
from ..table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..table.primitives import Primitive, Rules
from ..table.primitives.choice import build_complex_rules
from ..table.primitives.elementwise import select_formulas_for_value_kind
from ..tensor.rule_functions import compile_recorded_rules
from ..tensor.tensor import wrap_array_with_origin
from ..types import Adjoint, AdjointLookup, AdjointsByRow, RowSet
from .row_marks import ENDS_HERE
from .row_values import (
    Cells,
    TensorValues,
    add_share_to_adjoint,
    fit_share_to_input,
    get_values_by_row,
    iter_operations_backward,
)


class Sweep:
    """One backward pass over a recording.

    Attributes:
        record: The recording.
        reachable: A mark for each row, or None if all rows matter. The mark 0 means that the row does not matter,
            because no source is reachable through it, or no tape tracks it.
        sources: The source rows, whose adjoints are kept until the end.
        is_recorded: Whether the sweep computes with tensors, so that its operations are recorded.
        adjoints: The adjoints, keyed by row. After a row has sent its shares, its adjoint is dropped unless the row is
            a source.
        edges: The shares sent in the last step, as tuples (position of the input among the call's inputs, its row, the
            share, sum of the input's shares so far).
        last_row: The last target, at which the sweep starts.
        first_row: The first source, at which the sweep ends.
        values: The values of the rows: arrays, or tensors if the sweep is recorded.
    """

    def __init__(
        self,
        record: Record,
        seeds: AdjointsByRow,
        sources: RowSet,
        reachable: bytearray | None = None,
        *,
        is_recorded: bool = False,
    ):
        """Prepare a sweep, without visiting any row.

        Args:
            record: The recording.
            seeds: The adjoints of the targets, keyed by row. The dictionary is copied.
            sources: The source rows.
            reachable: A mark for each row (0 if the row does not matter), or None if all rows matter.
            is_recorded: Whether the sweep computes with tensors, so that its operations are recorded.
        """
        self.record = record
        self.reachable = reachable
        self.sources = sources
        self.is_recorded = is_recorded
        self.adjoints = seeds.copy()
        self.edges: list[tuple[int, int, Adjoint, Adjoint]] = []
        self.last_row = max(seeds, default=-1)
        self.first_row = min(sources, default=self.last_row + 1)
        values = get_values_by_row(record)
        self.values = TensorValues(record, values) if is_recorded else values

    def run_to_end(self) -> None:
        """Run the sweep to its end, with NumPy's warnings switched off."""
        saved_setting = WARNINGS[OFF]
        try:
            for _ in self.iter_steps():
                pass
        finally:
            restore_fp_errors(saved_setting)

    def iter_steps(self) -> Iterator[int]:
        """Run the sweep step by step, from the last row back to the first.

        Each step sends shares of a row's adjoint to the row's inputs. After the yield, the row's adjoint is dropped
        unless the row is a source.

        Yields:
            The row of each step, or the first row of a call with several outputs. Rows without an adjoint are skipped.
        """
        for row, code, a, b, call in self.iter_cells_backward():
            call = call or build_elementwise_call(row, code, a, b)
            # The first output of a call is visited last, when the adjoints of all outputs are complete.
            if call.row == row and self.send_shares_to_inputs(call):
                yield row
                for output_row in range(row, row + call.outputs):
                    if output_row not in self.sources:
                        self.adjoints.pop(output_row, None)

    def iter_cells_backward(self) -> Iterable[Cells]:
        """Return an iterator over the cells of all rows to visit, in reverse order."""
        return iter_operations_backward(self.record, self.first_row, self.last_row)

    def send_shares_to_inputs(self, call: Call) -> bool:
        """Propagate a call's output adjoints to the inputs that need gradients.

        Args:
            call: A call, or the ``Call`` that was built for an elementwise operation.

        Returns:
            Whether shares were sent. False if no output has an adjoint, or if the row does not matter.
        """
        values = self.values
        reachable = self.reachable
        inputs = call.inputs
        rows = range(call.row, call.row + call.outputs)
        adjoints = [self.get_adjoint(row) for row in rows]
        if all(g is None for g in adjoints) or (reachable is not None and reachable[call.row] in (0, ENDS_HERE)):
            return False
        g: Adjoint = [self.build_zero_adjoint(row) if g is None else g for g, row in zip(adjoints, rows, strict=True)]
        z: Adjoint = [values[row] for row in rows]
        if call.outputs == 1:  # The rules of a call with one output take an array instead of a list.
            (g,) = g
            (z,) = z
        positions = [
            i for i, row in enumerate(inputs) if row >= self.first_row and (reachable is None or reachable[row])
        ]
        self.edges = []
        input_values = [values[row] for row in inputs]
        for i, share in self.compute_shares(call, g, z, input_values, positions).items():
            self.edges.append((i, inputs[i], share, self.add_share(inputs[i], share)))
        return True

    def compute_shares(
        self, call: Call, g: Adjoint, z: Adjoint, inputs: Sequence[Adjoint], positions: list[int]
    ) -> AdjointsByRow:
        """Compute the shares that a call sends to its inputs.

        `g` and `z` are named as in the formulas of the table of primitives. For example, the rule of exp is ``g * z``.

        Args:
            call: The call whose primitive provides the rules.
            g: The adjoint of the output, or a list of adjoints if the call has several outputs.
            z: The value of the output, or a list of values if the call has several outputs.
            inputs: The values of the inputs. For an elementwise operation, these are x, or x and y.
            positions: The positions of the inputs that need a share.

        Returns:
            The shares, keyed by position. A position is missing if its rule is None or returns None. Each share is
            converted to the shape and dtype of its input, unless the call is mandatory. As in TensorFlow, a share that
            a user's gradient function returned is not converted.

        Raises:
            LookupError: If the operation has no registered gradient in TensorFlow.
        """
        primitive = call.primitive
        rules = self.find_rules_for_value(primitive, z)
        if rules is None:
            if primitive.missing == "unregistered" and positions:
                raise LookupError(f"gradient registry has no entry for: {primitive.op}")
            return {}
        if callable(rules):
            all_shares = rules(g, z, *inputs, **call.attrs)
            shares = {i: all_shares[i] for i in positions}
        else:
            shares = {i: rule(g, z, *inputs, **call.attrs) for i in positions if (rule := rules[i]) is not None}
        return {
            i: share if primitive.mandatory else fit_share_to_input(share, inputs[i])
            for i, share in shares.items()
            if share is not None
        }

    def add_share(self, row: int, share: Adjoint) -> Adjoint:
        """Add a share to the adjoint of a row.

        Args:
            row: The row that receives the share.
            share: The share, which has the shape and dtype of the row's value.

        Returns:
            The sum of all shares that the row has received.
        """
        previous = self.get_adjoint(row)
        self.adjoints[row] = total = share if previous is None else add_share_to_adjoint(previous, share)
        return total

    def get_adjoint(self, row: int) -> Adjoint:
        """Return the adjoint of a row, or None if the row has not received a share.

        Args:
            row: The row number.
        """
        return self.adjoints.get(row)

    def find_rules_for_value(self, primitive: Primitive, output_value: Adjoint) -> Rules:
        """Return the rules of a primitive for one kind of value.

        The rules in a line of the table are compiled once for each kind (:func:`select_formulas_for_value_kind`).

        Args:
            primitive: The primitive.
            output_value: The value of the output. Its type and dtype determine the rules.

        Returns:
            One function for all inputs, a list with a rule or None for each input, or None if the primitive has no
            derivative.
        """
        if not primitive.code:
            return primitive.rules
        rules = (
            compile_recorded_rules(primitive.code)
            if self.is_recorded
            else select_formulas_for_value_kind(primitive.code, output_value).rules
        )
        return build_complex_rules(primitive, rules) if output_value.dtype.kind == "c" else rules

    def build_zero_adjoint(self, row: int) -> Adjoint:
        """Return zeros as the adjoint of an output that the targets do not depend on."""
        zeros = np.zeros(*self.record.get_shape_and_dtype(row))[()]
        return wrap_array_with_origin(zeros) if self.is_recorded else zeros


@fast.replace_by_fast_form
def run_sweep(
    record: Record,
    seeds: AdjointsByRow,
    sources: RowSet,
    reachable: bytearray | None,
    is_recorded: bool,
) -> AdjointLookup:
    """Run a sweep to completion.

    ``minitape.speed`` replaces this function with a faster function that returns the same results.

    Args:
        record: The recording.
        seeds: The adjoints of the targets, keyed by row.
        sources: The source rows.
        reachable: A mark for each row (0 if the row does not matter), or None if all rows matter.
        is_recorded: Whether the sweep computes with tensors, so that its operations are recorded.

    Returns:
        A function that takes a row and returns its adjoint, or None if the row has none.
    """
    sweep = Sweep(record, seeds, sources, reachable, is_recorded=is_recorded)
    sweep.run_to_end()
    return sweep.get_adjoint
