"""Jacobians and tangents inside functions where only a run knows how many elements there are: computed when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.backward import UnconnectedGradients, gradients_of
from ..engine.forward import ForwardAccumulator
from ..engine.operation import apply
from ..engine.reach import on_tape
from ..engine.tape import GradientTape
from ..ops.arrays import shape
from ..ops.filling import zeros
from .effects import later
from .primitive import OURS, apart, moved
from .program import needed, replay


def jacobians_in_a_run(tape: Any, target: Any, sources: list[Any], unconnected_are_zero: bool) -> list[Any]:
    """The Jacobian for each source: None, or zeros, where nothing connects them."""
    found = _row(tape, target, sources, False)
    if not unconnected_are_zero:
        return found
    return [
        zeros([*_sizes(target), *_sizes(s)], s.dtype) if j is None else j for j, s in zip(found, sources, strict=True)
    ]


def batch_jacobian_in_a_run(tape: Any, target: Any, source: Any) -> Any:
    """The batched Jacobian; zeros where nothing connects them."""
    (found,) = _row(tape, target, [source], True)
    return zeros([*_sizes(target), *_sizes(source)[1:]], target.dtype) if found is None else found


def _sizes(tensor: Any) -> list[Any]:
    known = tensor.shape
    return list(known) if known.is_fully_defined() else [shape(tensor)[i] for i in range(known.rank)]


def _row(tape: Any, target: Any, sources: Sequence[Any], batch: bool) -> list[Any]:
    """The Jacobian for each source, or with ``batch`` the batched one of the only source; None where there is none.

    The row runs what the tape has recorded between them again, as eager operations under a tape of its own.
    """
    graph = target.graph
    rows = [tape._rows_of(s) for s in sources]
    connected = gradients_of(tape, [target], list(sources), [None])
    own = [r for each in rows for r in each]
    edge = [*own, *_edge(graph, target._row, set(own), on_tape(tape))]

    def run(*tensors: Any) -> list[Any]:
        given, starts = tensors[: len(edge)], list(tensors[len(edge) :])
        known = dict(zip(edge, given, strict=True))
        with GradientTape() as inner:
            inner.watch(starts)
            known.update({r: moved(start, known[r].array) for each, start in zip(rows, starts, strict=True) for r in each})
            (again,) = replay(graph, [target._row], known)
        if batch:
            return [inner.batch_jacobian(again, starts[0])]
        found = inner.jacobian(again, starts)
        return [
            zeros([*again.shape, *s.shape], s.dtype) if j is None else j for j, s in zip(found, starts, strict=True)
        ]

    specs = [(target.shape.concatenate(s.shape[1:] if batch else s.shape), s.dtype) for s in sources]
    places = [s if not hasattr(s, "_read") else s._read() for s in sources]
    made = later(run, [*[graph.tensor_at(r) for r in edge], *places], specs)
    return [None if g is None else j for g, j in zip(connected, made, strict=True)]


def _edge(graph: Any, target: int, sources: set[int], on: Any) -> list[int]:
    """Where the way to the target begins besides the sources: values that the tape does not follow, and variables."""

    def inside(call: Any) -> bool:
        return on[call.row] and call.primitive.rules is not None and call.primitive.op != "ReadVariableOp"

    calls = [c for c in needed(graph, [target], list(sources), ())[0] if inside(c)]
    made = {c.row + i for c in calls for i in range(c.outputs)}
    used = [row for c in calls for row in c.inputs] + [target]
    return sorted({row for row in used if row not in made and row not in sources})


def tangents_row(call: Any, inputs: list[Any], outputs: list[Any], tangents: list[Any]) -> list[Any] | None:
    """The tangents of a call's outputs, given those of its inputs or None; None for loops and branches.

    The row runs the operation again, as an eager one that an accumulator of its own follows.
    """
    special = getattr(call.primitive, "infer", None) is not None
    if special and call.primitive.name not in OURS:
        return None
    moving = [i for i, t in enumerate(tangents) if t is not None]

    def run(*tensors: Any) -> list[Any]:
        given = apart(tensors[: len(inputs)])
        with ForwardAccumulator([given[i] for i in moving], list(tensors[len(inputs) :])) as accumulator:
            found = call.primitive.eager(given, call.attrs) if special else apply(call.primitive, tuple(given), call.attrs)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        return [accumulator.jvp(z, UnconnectedGradients.ZERO) for z in found if z.dtype.differentiable]

    smooth = [z for z in outputs if z.dtype.differentiable]
    made = iter(later(run, [*inputs, *(tangents[i] for i in moving)], [(z.shape, z.dtype) for z in smooth]))
    return [next(made) if z.dtype.differentiable else None for z in outputs]
