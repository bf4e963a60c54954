"""The backward pass and the forward one: JAX's own, through the operations as they ran, with a look at what passes.

Each result is handed on through ``tap``, which computes nothing. When JAX goes back, it gives the tap the adjoint of that
result: complete, and as JAX's own rules and sums made it. What an operation sent to each of its inputs is ``jax.vjp`` of it alone.
In forward mode the tap is given the tangent, which is what ``jax.jvp`` makes of the tangents of the operation's inputs.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .jax_log import Call, Log, Value, inexact
from .recording import Sweep


class Back:
    """One backward pass."""

    def __init__(self, log: Log, target: int, sources: list[Value]) -> None:
        self.log, self.entries, self.target, self.sources = log, log.entries, target, sources
        self.adjoints: dict[int, Any] = {}
        self.calls = [call for call in log.calls if any(self._on_way(row) for row in call.rows)]

    def _on_way(self, row: int | None) -> bool:
        return row is not None and self.entries[row].differentiable

    def gradients(self, seed: Any) -> list[Any]:
        """Those of the sources. An error in it is JAX's own."""
        _, back = jax.vjp(self._again, *[source.value for source in self.sources])
        return list(back(seed))

    def _again(self, *values: Any) -> Any:
        """The target, computed again by those operations that are on the way."""
        known = {source.row: self._tap(source.row, value) for source, value in zip(self.sources, values, strict=True)}
        for call in self.calls:
            results = call.compute(*[known.get(given.row, given.value) for given in call.inputs])
            for row, result in zip(call.rows, results, strict=True):
                known[row] = self._tap(row, result) if self._on_way(row) else result
        return known.get(self.target, self.entries[self.target].value.tensor)

    def _tap(self, row: int, value: Any) -> Any:
        @jax.custom_vjp
        def tap(x: Any) -> Any:
            return x

        def back(_: None, adjoint: Any) -> tuple[Any]:
            self.adjoints[row] = adjoint
            return (adjoint,)

        tap.defvjp(lambda x: (x, None), back)
        return tap(value)

    # -- what is written down ---------------------------------------------------------------------------------------------

    def write(self, sweep: Sweep) -> None:
        """The steps, in JAX's order: the last operation first."""
        keep = self.log.keep
        for row, adjoint in self.adjoints.items():
            sweep.arrive(row, keep(adjoint))
        sums: dict[int, Any] = {}
        last: dict[int, tuple[int, int]] = {}
        for call in reversed(self.calls):
            if not any(row in self.adjoints for row in call.rows):
                continue
            for port, row, product in self._sent(call):
                total = sums[row] = product if row not in sums else sums[row] + product
                sweep.send(call.rows[0], row, port, keep(product), keep(total))
                last[row] = call.rows[0], len(sweep.edges[call.rows[0]]) - 1
        for row, (call_row, at) in last.items():  # the last sum is the adjoint itself
            given, port, product, _ = sweep.edges[call_row][at]
            sweep.edges[call_row][at] = given, port, product, sweep.adjoints[row]

    def _sent(self, call: Call) -> list[tuple[int, int, Any]]:
        """(port, row, product) for each input to which an adjoint went."""
        places = [k for k, given in enumerate(call.inputs) if given.row in self.adjoints]
        values = [given.value for given in call.inputs]

        def alone(*taken: Any) -> list[Any]:
            inputs = list(values)
            for k, value in zip(places, taken, strict=True):
                inputs[k] = value
            return call.compute(*inputs)

        results, back = jax.vjp(alone, *[values[k] for k in places])
        products = back([self._came(row, result) for row, result in zip(call.rows, results, strict=True)])
        ports = {k: port for port, k in enumerate(k for k, given in enumerate(call.inputs) if self.log.constant(given) is not None)}
        return [(ports[k], call.inputs[k].row, product) for k, product in zip(places, products, strict=True)]

    def _came(self, row: int, result: Any) -> Any:
        """The adjoint of a result; zeros where none came."""
        if row in self.adjoints:
            return self.adjoints[row]
        return np.zeros(np.shape(result), result.dtype if inexact(result) else jax.dtypes.float0)


class Forward:
    """JAX's way forward: the tangents of the rows, from those of some arguments."""

    def __init__(self, log: Log, ends: list[Value], moved: list[Value]) -> None:
        self.log, self.ends, self.moved = log, ends, moved

    def tangents(self, directions: list[Any]) -> list[Any]:
        """Those of the results. An error in it is JAX's own."""
        return list(jax.jvp(self._again, [value.value for value in self.moved], directions)[1])

    def _again(self, *values: Any) -> list[Any]:
        """The results, computed again where they depend on what moves. A loop is what its last step gave."""
        known = {source.row: self._tap(source.row, value) for source, value in zip(self.moved, values, strict=True)}
        for call in self.log.calls:
            if any(given.row in known for given in call.inputs):
                given = [known.get(value.row, value.value) for value in call.ended or call.inputs]
                results = given if call.ended else call.compute(*given)
                known.update((row, self._tap(row, result)) for row, result in zip(call.rows, results, strict=True))
        return [known.get(end.row, end.value) for end in self.ends]

    def _tap(self, row: int, value: Any) -> Any:
        @jax.custom_jvp
        def tap(x: Any) -> Any:
            return x

        @tap.defjvp
        def look(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
            self.log.entries[row].tangent = self.log.keep(tangents[0])
            return primals[0], tangents[0]

        return tap(value)
