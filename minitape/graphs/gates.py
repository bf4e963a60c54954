"""Operations that compute nothing, and wait for others: ``tf.no_op``, ``tf.group``, ``tf.tuple``."""

from __future__ import annotations

from typing import Any

from ..engine import nest
from ..engine.convert import convert_to_tensor
from ..engine.operands import worded
from ..engine.state import state
from ..engine.tensor import Tensor
from ..ops.arrays import identity
from .primitive import GraphPrimitive
from .symbolic import Operation

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


def group(*inputs: Any, name: str | None = None) -> Any:
    """An operation that runs all of ``inputs``; in a graph TypeError for one that is no tensor or operation.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v, w = (tf.compat.v1.get_variable(n, initializer=1.0) for n in "vw")
    ...     both = tf.group(v.assign_add(1.0), w.assign_add(2.0))
    ...     _ = session.run(tf.compat.v1.global_variables_initializer()), session.run(both)
    ...     print(session.run([v, w]))
    [np.float32(2.0), np.float32(3.0)]
    """
    graph = state.graph
    if graph is None:
        return None
    flat = nest.flatten(list(inputs))
    for part in flat:
        if not hasattr(part, "graph") and not hasattr(part, "device"):
            raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{part}' with type '{type(part)}'.")
    with graph.control_dependencies(flat):
        return no_op(name or "group_deps")


@worded
def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors of a list, all of them computed, and ``control_inputs`` run. Eagerly they are so already.

    None stays None. TypeError for a control input that is neither a tensor nor an operation.

    >>> import minitape as tf
    >>> [t.numpy() for t in tf.tuple([tf.constant(1), tf.constant(2)])]
    [np.int32(1), np.int32(2)]
    """
    if state.graph is None:
        return list(tensors)
    for value in control_inputs or []:
        if not isinstance(value, (Tensor, Operation)):
            raise TypeError(f"'control_inputs' must only contain Operation or Tensor. Received: {type(value)}")
    tensors = [None if t is None else convert_to_tensor(t) for t in tensors]
    with state.graph.name_scope(name or "tuple"):
        gate = group(*[t for t in tensors if t is not None], *(control_inputs or []))
        with state.graph.control_dependencies([gate]):
            return [None if t is None else identity(t) for t in tensors]
