"""Blocks and questions about where operations go: ``name_scope``, ``init_scope``, ``control_dependencies``, ..."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..engine.recording.block import Elsewhere
from ..engine.recording.state import state
from .primitive import GraphPrimitive








def init_scope() -> AbstractContextManager[None]:
    """Lifts the block out of functions that are being traced: what it does happens eagerly, once. No tape records it.

    Inside a TensorFlow 1 graph it goes to that graph, without control dependencies. See
    https://www.tensorflow.org/api_docs/python/tf/init_scope.

    >>> import minitape as tf
    >>> @tf.function
    ... def f(x):
    ...     with tf.init_scope():
    ...         once = tf.executing_eagerly()
    ...     return x if once else -x
    >>> print(f(tf.constant(1.0)).numpy())
    1.0
    """
    graph = state.graph
    while graph is not None and (graph.building_function or graph.outer is not None):
        graph = graph.outer
    here = graph is not None and graph is state.graph
    return nullcontext() if here else Elsewhere(record=graph, tapes=[], graph=graph, by=None)


def executing_eagerly() -> bool:
    """True where operations compute at once: outside of graphs and functions.

    >>> import minitape as tf
    >>> tf.executing_eagerly(), bool(tf.function(lambda: tf.executing_eagerly())())
    (True, False)
    """
    return state.graph is None


def control_dependencies(control_inputs: Any) -> AbstractContextManager:
    """Operations of the block run after ``control_inputs``; in eager mode everything runs in its order anyway.

    >>> import minitape as tf
    >>> with tf.control_dependencies([]):
    ...     x = tf.constant(1.0)
    """
    if state.graph is not None:
        return state.graph.control_dependencies(control_inputs)
    for control in [control_inputs] if callable(control_inputs) else control_inputs or []:
        if callable(control):
            control()
    return nullcontext()


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
