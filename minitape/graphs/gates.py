"""Operations that compute nothing, and wait for others: ``tf.no_op``."""

from __future__ import annotations

from typing import Any

from ..engine.recording.state import state
from .primitive import GraphPrimitive

NO_OP = GraphPrimitive("no_op", "NoOp", lambda tensors, attrs: [], forward=lambda: (), rules=None)


def no_op(name: str | None = None) -> Any:
    """An operation that does nothing; None in eager mode.

    >>> import minitape as tf
    >>> print(tf.no_op())
    None
    """
    graph = state.graph
    if graph is None:
        return None
    graph.call_row(NO_OP, (), {}, [], name or "NoOp")
    graph.tuples.add(graph.calls[-1].row)
    return graph.op_of[graph.calls[-1].row]
