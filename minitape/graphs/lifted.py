"""Eager tensors that branches and loops of a function use: they become inputs of these operations.

While a function is traced they are constants of the body that uses them. Once it is traced, those that somebody outside
still holds may be watched by a tape: the operation around the body then takes them as further inputs, so that a gradient
finds its way to them.
"""

from __future__ import annotations

import sys
from typing import Any

from ..engine.tensor.tensor import EagerTensor
from .body import Body


def held_elsewhere(leaf: Any) -> bool:
    """True for a captured eager tensor that somebody outside still holds: a tape may watch it later."""
    kind = type(leaf.tensor)  # in no variable here: whether that counts as a holder depends on the interpreter
    return kind is EagerTensor and leaf.tensor.dtype.differentiable and sys.getrefcount(leaf.tensor) > 2


def lift(graph: Any) -> None:
    """Hands the held tensors of all bodies inside the graph to the operations around them."""
    done = {id(b) for call in graph.calls for b in _bodies(call.attrs.get("attrs", {}))}  # whose gradients are rows
    for call in graph.calls:
        bodies = [] if any(id(b) in done for b in _bodies(call.attrs)) else _bodies(call.attrs)
        for body in bodies:
            lift(body.graph)
        for tensor in _held(bodies):
            row = graph.enter(tensor)
            call.inputs = (*call.inputs, row)
            for body in bodies:
                body.take(graph.tensor_at(row), tensor)


def _bodies(attrs: dict[str, Any]) -> list[Body]:
    given = [*attrs.get("bodies", ()), attrs.get("test"), attrs.get("body")]
    return [b for b in given if isinstance(b, Body)]


def _held(bodies: list[Body]) -> list[Any]:
    """The tensors that are constants of the bodies, each once."""
    found: dict[int, Any] = {}
    for body in bodies:
        numbers = {id(t) for t in body.graph.numbers.values()}
        fed = {*body.feeds}
        for row, leaf in body.graph.leaves.items():
            if row not in fed and id(leaf.tensor) not in numbers and held_elsewhere(leaf):
                found[id(leaf.tensor)] = leaf.tensor
    return list(found.values())
