"""Copying the rows of one graph into another: functions that are called while another is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.block import During
from ..engine.errors import OpError
from ..engine.state import state
from . import infer
from .body import Body
from .build import Graph
from .program import needed


def inline(source: Graph, target: Graph, fetches: list[int], rows: dict[int, int], effects: Sequence[Any]) -> None:
    """Copies the rows that the fetches and effects need into another graph; ``rows`` maps old numbers to new ones."""
    calls, leaves = needed(source, fetches, list(rows), effects)
    for row in leaves:
        rows[row] = target.enter(source.leaves[row].tensor)
    for call in calls:
        if call.primitive.op == "ReadVariableOp":
            rows[call.row] = target.enter(target.read(call.attrs["variable"]))
            continue
        inputs = tuple(rows[r] for r in call.inputs)
        op = source.op_of[call.row]
        specs = _specs(source, target, call, inputs)
        with During(state, site=source.site(call.row) or state.site):  # a copy stands where the user wrote the original
            made = target.call_row(call.primitive, inputs, _copied(call.attrs), specs, op.name.rsplit("/", 1)[-1])
        new = target.calls[-1]
        if call.row in source.tuples:
            target.tuples.add(new.row)
        target.op_of[new.row].gradient = op.gradient or target.op_of[new.row].gradient
        for i, tensor in enumerate(made):
            rows[call.row + i] = tensor._row


def inlined(body: Body, inputs: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """Tensors of a body that has no effects, as rows of the graph around it, which is being built."""
    graph: Any = state.graph
    given = zip([*body.inputs, *body.places], [*inputs, *body.captured], strict=True)
    rows = {place._row: graph.enter(tensor) for place, tensor in given}
    fetches = [t._row for t in wanted]
    inline(body.graph, graph, fetches, rows, ())
    return [graph.tensor_at(rows[r]) for r in fetches]


def _specs(source: Graph, target: Graph, call: Any, inputs: tuple[int, ...]) -> list[Any]:
    """(shape, dtype) of the outputs of a copied row: unknown sizes may follow from its new inputs."""
    outputs = [source.tensors[call.row + i] for i in range(source.op_of[call.row].count)]
    known = [(t.shape, t.dtype) for t in outputs]
    if all(shape.is_fully_defined() for shape, _ in known):
        return known
    tensors, again = [target.tensors[r] for r in inputs], call.attrs.get("again")
    try:
        found = infer.outputs(call.primitive, tensors, call.attrs)[0] if again is None else again(tensors) or known
    except (OpError, ValueError):  # the run says what does not fit
        return known
    if len(found) != len(known):  # as many tensors as a size says, which was not known
        return known
    narrower = zip(found, known, strict=True)
    return [new if new[0].is_subtype_of(old[0]) else old for new, old in narrower]


def _copied(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a copied row: a random operation has a stretch of numbers of its own."""
    again = getattr(attrs.get("function"), "again", None)
    return attrs if again is None else attrs | {"function": again()}
