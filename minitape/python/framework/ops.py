"""``tensorflow.python.framework.ops``: graphs, and ``op_scope`` of TensorFlow 1."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from ...compat.v1.legacy import name_scope
from ...convert import convert_to_tensor
from ...graphs.build import Graph
from ...graphs.session import get_default_graph, reset_default_graph
from ...graphs.symbolic import Operation
from ...registry import NotDifferentiable, RegisterGradient, no_gradient
from ...tensor import EagerTensor, Tensor

NoGradient = no_gradient

__all__ = ["EagerTensor", "Graph", "NoGradient", "NotDifferentiable", "Operation", "RegisterGradient", "Tensor",
           "convert_to_tensor", "get_default_graph", "name_scope", "no_gradient", "op_scope",
           "reset_default_graph"]  # fmt: skip


@contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Any:
    """``name_scope`` with its arguments in the old order; yields the scope's name.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with op_scope([], None, "mod") as scope:
    ...         print(scope)
    mod/
    """
    with name_scope(name, default_name, values) as scope:
        yield scope
