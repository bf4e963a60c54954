"""Run JAX's own backward pass through the recorded operations, and record the adjoints.

Each result passes through ``pass_value``, which returns it unchanged. During the backward pass, JAX calls the
derivative rule of ``pass_value`` with the complete adjoint of the result, which JAX itself has computed and summed. The
shares for each operation's inputs are computed by applying ``jax.vjp`` to that operation alone.
"""

from dataclasses import dataclass
from itertools import starmap
from typing import Any

import jax
import numpy as np

from ...engine.types import OptionalNumber
from ...recording.recorded_rows import BackwardPass
from .row_log import JaxCall, JaxLog, JaxVariables, is_inexact


@dataclass(eq=False)
class JaxBackwardPass:
    """A backward pass that releases each array as soon as JAX no longer needs it.

    Attributes:
        log: The recording's log.
        target_row: The row of the target.
        sources: The variables with respect to which the target is differentiated.
        rows: The rows of the recording.
        sweep: The backward pass that receives the adjoints and shares.
        calls: The operations that have not yet sent their shares.
        values_by_row: The values that JAX recomputed, keyed by row.
        pending_adjoints: The adjoints of rows whose operations have not yet sent their shares.
        partial_sums: The sums of the shares sent so far to rows whose adjoints are still incomplete.
    """

    log: JaxLog
    target_row: int
    sources: JaxVariables

    def __post_init__(self) -> None:
        """Prepare a backward pass from the target to the sources."""
        self.rows = self.log.rows
        self.sweep = BackwardPass([self.target_row])
        self.calls = [call for call in self.log.calls if any(map(self._is_tracked, call.rows))]
        self.values_by_row: dict = {}
        self.pending_adjoints: dict = {}
        self.partial_sums: dict = {}

    def _is_tracked(self, row: OptionalNumber) -> bool:
        return row is not None and self.rows[row].tracked

    def compute_gradients_and_fill_sweep(self, seed: Any) -> list:
        """Run the backward pass and return the gradients of the sources.

        Afterwards, `sweep` contains the adjoints and shares in JAX's order, from the last operation to the first.

        Args:
            seed: The adjoint of the target.
        """
        values = [source.value for source in self.sources]
        for variable in [variable for call in self.calls for variable in call.inputs if self._is_tracked(variable.row)]:
            variable.value = None
        _, apply_vjp = jax.vjp(self._recompute_target, *values)
        gradients = list(apply_vjp(seed))
        self._record_shares_sent_by_all_calls_after_row(-1)
        for shares in self.sweep.edges.values():
            # Drop the shares of rows to which JAX sent no adjoint.
            shares[:] = [share for share in shares if share.row in self.sweep.adjoints]
        self.sweep.edges = {call: shares for call, shares in self.sweep.edges.items() if shares}
        self.sweep.replace_last_totals_by_adjoints()
        return gradients

    def _recompute_target(self, *values: Any) -> Any:
        """Recompute the target by rerunning the operations on the path from the sources."""
        values_by_row = {
            source.row: self._attach_adjoint_observer(source.required_row, value)
            for source, value in zip(self.sources, values, strict=True)
        }
        for call in self.calls:
            results = call.compute(*[values_by_row.get(variable.row, variable.value) for variable in call.inputs])
            for row, result in zip(call.rows, results, strict=True):
                values_by_row[row] = self._attach_adjoint_observer(row, result) if self._is_tracked(row) else result
        return values_by_row.get(self.target_row, self.rows[self.target_row].value.content)

    def _attach_adjoint_observer(self, row: int, value: Any) -> Any:
        """Return a value unchanged, but have its adjoint recorded during the backward pass."""

        @jax.custom_vjp
        # JAX calls this function directly if the tangent is known to be zero, for example after a rule that returns
        # zeros.
        def pass_value(x: Any) -> Any:
            self.values_by_row[row] = x
            return x

        def run_forward(x: Any) -> tuple[Any, None]:
            self.values_by_row[row] = x
            return x, None

        def run_backward(_: None, adjoint: Any) -> tuple[Any]:
            self._record_shares_sent_by_all_calls_after_row(row)
            self.pending_adjoints[row] = adjoint
            self.partial_sums.pop(row, None)
            self.sweep.set_adjoint(row, self.log.keep_value(adjoint))
            return (adjoint,)

        pass_value.defvjp(run_forward, run_backward)
        return pass_value(value)

    # -- the recorded shares -----------------------------------------------------------------------

    def _record_shares_sent_by_all_calls_after_row(self, row: int) -> None:
        """Record the shares sent by the calls after a row, once the adjoints of their results are complete."""
        keep_value = self.log.keep_value
        while self.calls and self.calls[-1].rows[0] > row:
            call = self.calls.pop()
            has_adjoint = any(output_row in self.pending_adjoints for output_row in call.rows)
            for port, input_row, product in self._compute_ports_rows_and_shares(call) if has_adjoint else ():
                total = product
                if input_row in self.partial_sums:
                    total = self.partial_sums[input_row] + product
                self.partial_sums[input_row] = total
                self.sweep.send(call.rows[0], input_row, port, keep_value(product), keep_value(total))
            for output_row in call.rows:
                self.pending_adjoints.pop(output_row, None)
                self.values_by_row.pop(output_row, None)

    def _compute_ports_rows_and_shares(self, call: JaxCall) -> list[tuple[int, int, Any]]:
        """Return the port, row and share for each tracked input of a call."""
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
        products = apply_vjp(list(starmap(self._get_adjoint_or_zeros, zip(call.rows, results, strict=True))))
        ports = {
            place: port
            for port, place in enumerate(
                place
                for place, variable in enumerate(call.inputs)
                if self.log.find_row_or_add_constant_unless_scalar(variable) is not None
            )
        }
        return [
            (ports[place], call.inputs[place].required_row, product)
            for place, product in zip(tracked_places, products, strict=True)
        ]

    def _get_adjoint_or_zeros(self, row: int, result: Any) -> Any:
        """Return the adjoint of a result, or zeros if no adjoint reached the result."""
        if row in self.pending_adjoints:
            return self.pending_adjoints[row]
        return np.zeros(np.shape(result), result.dtype if is_inexact(result) else jax.dtypes.float0)
