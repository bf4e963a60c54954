"""The backward pass: JAX's own, through the operations as they ran, with a look at what passes.

Each result is handed on through ``tap``, which computes nothing. When JAX goes back, it gives the tap the adjoint of
that result: complete, and as JAX's own rules and sums made it. What an operation sent to each of its inputs is
``jax.vjp`` of it alone.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...recording.rows import BackwardPass
from .rows import JaxCall, JaxLog, JaxVariable, inexact


class Back:
    """One backward pass. What it needs it lets go as soon as JAX has passed it."""

    def __init__(self, log: JaxLog, target: int, sources: list[JaxVariable]) -> None:
        self.log, self.entries, self.target, self.sources = log, log.entries, target, sources
        self.sweep = BackwardPass([target])
        self.calls = [call for call in log.calls if any(self._on_way(row) for row in call.rows)]
        self.values: dict = {}  # of rows, as JAX computes them again
        self.adjoints: dict = {}  # of rows whose operation has sent nothing yet
        self.sums: dict = {}  # of what was sent to rows that have no adjoint yet

    def _on_way(self, row: int | None) -> bool:
        return row is not None and self.entries[row].differentiable

    def gradients(self, seed: Any) -> list:
        """Those of the sources; ``sweep`` has what passed, in JAX's order: the last operation first."""
        values = [source.value for source in self.sources]
        for given in [given for call in self.calls for given in call.inputs if self._on_way(given.row)]:
            given.value = None
        _, back = jax.vjp(self._recompute, *values)
        gradients = list(back(seed))
        self._pass(-1)
        adjoints, edges = self.sweep.adjoints, self.sweep.edges
        last: dict[int, tuple] = {}
        for call, sent in edges.items():
            sent[:] = [share for share in sent if share.row in adjoints]  # to others nothing went
            last |= {share.row: (call, at) for at, share in enumerate(sent)}
        self.sweep.edges = {call: sent for call, sent in edges.items() if sent}
        for row, (call, at) in last.items():  # the last sum is the adjoint itself
            edges[call][at] = edges[call][at]._replace(total=adjoints[row])
        return gradients

    def _recompute(self, *values: Any) -> Any:
        """Computes the target again, by the operations on its path from the sources."""
        known = {
            source.row: self._tap(source.known_row, value) for source, value in zip(self.sources, values, strict=True)
        }
        for call in self.calls:
            results = call.compute(*[known.get(given.row, given.value) for given in call.inputs])
            for row, result in zip(call.rows, results, strict=True):
                known[row] = self._tap(row, result) if self._on_way(row) else result
        return known.get(self.target, self.entries[self.target].value.given)

    def _tap(self, row: int, value: Any) -> Any:
        @jax.custom_vjp
        # JAX calls it where it knows that the tangent is zero, such as behind a rule that gives zeros
        def tap(x: Any) -> Any:
            self.values[row] = x
            return x

        def look(x: Any) -> tuple[Any, None]:
            self.values[row] = x
            return x, None

        def back(_: None, adjoint: Any) -> tuple[Any]:
            self._pass(row)
            self.adjoints[row] = adjoint
            self.sums.pop(row, None)
            self.sweep.arrive(row, self.log.keep(adjoint))
            return (adjoint,)

        tap.defvjp(look, back)
        return tap(value)

    # -- what is written down ----------------------------------------------------------------------

    def _pass(self, row: int) -> None:
        """The operations after a row have all that comes to them: what they send on."""
        keep = self.log.keep
        while self.calls and self.calls[-1].rows[0] > row:
            call = self.calls.pop()
            for port, given, product in self._sent(call) if any(made in self.adjoints for made in call.rows) else ():
                total = self.sums[given] = product if given not in self.sums else self.sums[given] + product
                self.sweep.send(call.rows[0], given, port, keep(product), keep(total))
            for made in call.rows:
                self.adjoints.pop(made, None)
                self.values.pop(made, None)

    def _sent(self, call: JaxCall) -> list[tuple]:
        """(port, row, product) for each input that is on the way."""
        places = [k for k, given in enumerate(call.inputs) if self._on_way(given.row)]
        values = [
            given.value if given.row is None else self.values.get(given.row, given.value) for given in call.inputs
        ]

        def alone(*taken: Any) -> list:
            inputs = list(values)
            for k, value in zip(places, taken, strict=True):
                inputs[k] = value
            return call.compute(*inputs)

        results, back = jax.vjp(alone, *[values[k] for k in places])
        products = back([self._came(row, result) for row, result in zip(call.rows, results, strict=True)])
        ports = {
            k: port
            for port, k in enumerate(k for k, given in enumerate(call.inputs) if self.log.constant(given) is not None)
        }
        return [(ports[k], call.inputs[k].known_row, product) for k, product in zip(places, products, strict=True)]

    def _came(self, row: int, result: Any) -> Any:
        """The adjoint of a result; zeros where none came."""
        if row in self.adjoints:
            return self.adjoints[row]
        return np.zeros(np.shape(result), result.dtype if inexact(result) else jax.dtypes.float0)
