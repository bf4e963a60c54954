"""One turn of a loop over tensors, traced, and the shapes that the loop's values keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.recording.state import state
from .body import Body, BodyGraph
from .build import Graph


def traced_turn(function: Any, specs: Sequence[Any], kind: type[Graph] = BodyGraph) -> Body:
    """``function``, traced on placeholders of these (shape, dtype) pairs."""
    graph = kind(state.graph)
    with graph.as_default(), graph.name_scope("while"):
        inputs = [graph.placeholder(d, s) for s, d in specs]
        for t in inputs:
            graph.untracked.discard(t._row)
        result = function(*inputs)
    return Body(graph, inputs, result)


def settled(turn: Any, specs: list[Any], widens: bool) -> tuple[list[Any], Body]:
    """The types that the loop's values keep, and the turn itself; in a loop that ``widens``, shapes that it changes stay open."""
    made = traced_turn(turn, specs)
    while widens and (wider := _widened(specs, made.outputs)) != specs:
        specs = wider
        made = traced_turn(turn, specs)
    return specs, made


def _widened(specs: list[Any], outputs: Sequence[Any]) -> list[Any]:
    """The types of the loop's values with shapes that cover those after a turn too."""
    return [
        (shape if t.shape.is_subtype_of(shape) else shape.most_specific_compatible_shape(t.shape), dtype)
        for (shape, dtype), t in zip(specs, outputs, strict=True)
    ]
