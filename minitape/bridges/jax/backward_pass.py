"""The backward pass: JAX's own, through the operations as they ran, with a look at what passes.

Each result is handed on through ``pass_value``, which computes nothing. When JAX goes back, it gives ``pass_value`` the
adjoint of that result: complete, and as JAX's own rules and sums made it. What an operation sent to each of its inputs
is ``jax.vjp`` of it alone.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...recording.recorded_rows import BackwardPass
from .row_log import JaxCall, JaxLog, JaxVariable, is_inexact


class JaxBackwardPass:
    """One backward pass. It releases what it needs as soon as JAX has passed it."""

    def __init__(self, log: JaxLog, target_row: int, sources: list[JaxVariable]) -> None:
        self.log, self.entries, self.target_row, self.sources = log, log.entries, target_row, sources
        self.sweep = BackwardPass([target_row])
        self.calls = [call for call in log.calls if any(self._is_tracked(row) for row in call.rows)]
        self.values_by_row: dict = {}  # of rows, as JAX computes them again
        self.pending_adjoints: dict = {}  # of rows whose operation has sent nothing yet
        self.partial_sums: dict = {}  # of what was sent to rows that have no adjoint yet

    def _is_tracked(self, row: int | None) -> bool:
        return row is not None and self.entries[row].tracked

    def compute_gradients(self, seed: Any) -> list:
        """Return the gradients of the sources.

        ``sweep`` then has what passed, in JAX's order: the last operation first.
        """
        values = [source.value for source in self.sources]
        for variable in [variable for call in self.calls for variable in call.inputs if self._is_tracked(variable.row)]:
            variable.value = None
        _, apply_vjp = jax.vjp(self._recompute_target, *values)
        gradients = list(apply_vjp(seed))
        self._send_shares_of_calls_after(-1)
        adjoints, edges = self.sweep.adjoints, self.sweep.edges
        last_share_positions: dict[int, tuple] = {}
        for call, shares in edges.items():
            shares[:] = [share for share in shares if share.row in adjoints]  # to others nothing went
            last_share_positions |= {share.row: (call, index) for index, share in enumerate(shares)}
        self.sweep.edges = {call: shares for call, shares in edges.items() if shares}
        for row, (call, index) in last_share_positions.items():  # the last sum is the adjoint itself
            edges[call][index] = edges[call][index]._replace(total=adjoints[row])
        return gradients

    def _recompute_target(self, *values: Any) -> Any:
        """Compute the target again, by the operations on its path from the sources."""
        values_by_row = {
            source.row: self._attach_adjoint_observer(source.required_row, value)
            for source, value in zip(self.sources, values, strict=True)
        }
        for call in self.calls:
            results = call.compute(*[values_by_row.get(variable.row, variable.value) for variable in call.inputs])
            for row, result in zip(call.rows, results, strict=True):
                values_by_row[row] = self._attach_adjoint_observer(row, result) if self._is_tracked(row) else result
        return values_by_row.get(self.target_row, self.entries[self.target_row].value.content)

    def _attach_adjoint_observer(self, row: int, value: Any) -> Any:
        """Return a value that is handed on unchanged, and whose adjoint is recorded when JAX goes back."""

        @jax.custom_vjp
        # JAX calls it where it knows that the tangent is zero, such as behind a rule that gives zeros
        def pass_value(x: Any) -> Any:
            self.values_by_row[row] = x
            return x

        def run_forward(x: Any) -> tuple[Any, None]:
            self.values_by_row[row] = x
            return x, None

        def run_backward(_: None, adjoint: Any) -> tuple[Any]:
            self._send_shares_of_calls_after(row)
            self.pending_adjoints[row] = adjoint
            self.partial_sums.pop(row, None)
            self.sweep.arrive(row, self.log.keep_value(adjoint))
            return (adjoint,)

        pass_value.defvjp(run_forward, run_backward)
        return pass_value(value)

    # -- what is written down ----------------------------------------------------------------------

    def _send_shares_of_calls_after(self, row: int) -> None:
        """Record what the calls after a row send to their inputs: all their adjoints are complete."""
        keep_value = self.log.keep_value
        while self.calls and self.calls[-1].rows[0] > row:
            call = self.calls.pop()
            for port, input_row, product in (
                self._compute_shares(call)
                if any(output_row in self.pending_adjoints for output_row in call.rows)
                else ()
            ):
                total = self.partial_sums[input_row] = (
                    product if input_row not in self.partial_sums else self.partial_sums[input_row] + product
                )
                self.sweep.send(call.rows[0], input_row, port, keep_value(product), keep_value(total))
            for output_row in call.rows:
                self.pending_adjoints.pop(output_row, None)
                self.values_by_row.pop(output_row, None)

    def _compute_shares(self, call: JaxCall) -> list[tuple[int, int, Any]]:
        """Return the port, the row and the share of each tracked input of a call."""
        tracked_places = [place for place, variable in enumerate(call.inputs) if self._is_tracked(variable.row)]
        values = [
            variable.value if variable.row is None else self.values_by_row.get(variable.row, variable.value)
            for variable in call.inputs
        ]

        def compute_call(*tracked_values: Any) -> list:
            inputs = list(values)
            for place, value in zip(tracked_places, tracked_values, strict=True):
                inputs[place] = value
            return call.compute(*inputs)

        results, apply_vjp = jax.vjp(compute_call, *[values[place] for place in tracked_places])
        products = apply_vjp(
            [self._get_adjoint_or_zeros(row, result) for row, result in zip(call.rows, results, strict=True)]
        )
        ports = {
            place: port
            for port, place in enumerate(
                place
                for place, variable in enumerate(call.inputs)
                if self.log.find_or_add_constant_array(variable) is not None
            )
        }
        return [
            (ports[place], call.inputs[place].required_row, product)
            for place, product in zip(tracked_places, products, strict=True)
        ]

    def _get_adjoint_or_zeros(self, row: int, result: Any) -> Any:
        """Return the adjoint of a result; zeros where none came."""
        if row in self.pending_adjoints:
            return self.pending_adjoints[row]
        return np.zeros(np.shape(result), result.dtype if is_inexact(result) else jax.dtypes.float0)
