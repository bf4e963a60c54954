"""Functions of TensorFlow 1 that change variables, or ask whether they have a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.slices import IndexedSlices
from ...engine.state import state
from ...engine.tensor import Tensor, wrap


def _scatter(how: str, sentence: str, result: str) -> Callable[..., Any]:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return getattr(ref, f"scatter_{how}")(IndexedSlices(updates, indices), use_locking, name)

    function.__name__ = function.__qualname__ = f"scatter_{how}"
    function.__doc__ = f"""{sentence} the slices of a variable at ``indices``; the result has the new value.

    ``updates`` has the shape of ``indices`` and then that of a slice, or is a scalar. ``use_locking`` has no effect.
    Raises InvalidArgumentError for an index outside or another shape. No gradient passes.

    >>> import minitape as tf
    >>> v = tf.Variable([2.0, 4.0])
    >>> tf.compat.v1.scatter_{how}(v, [0], [3.0]).numpy()
    array({result}, dtype=float32)
    """
    return function


scatter_add = _scatter("add", "Adds to", "[5., 4.]")
scatter_sub = _scatter("sub", "Subtracts from", "[-1.,  4.]")
scatter_mul = _scatter("mul", "Multiplies", "[6., 4.]")
scatter_div = _scatter("div", "Divides", "[0.6666667, 4.       ]")
scatter_min = _scatter("min", "Keeps the smaller of the updates and", "[2., 4.]")
scatter_max = _scatter("max", "Keeps the larger of the updates and", "[3., 4.]")
scatter_update = _scatter("update", "Replaces", "[3., 4.]")


def _scatter_nd(how: str, sentence: str, result: str) -> Callable[..., Any]:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return getattr(ref, f"scatter_nd_{how}")(indices, updates, name)

    function.__name__ = function.__qualname__ = f"scatter_nd_{how}"
    function.__doc__ = f"""{sentence} the places of a variable that the last axis of ``indices`` lists.

    The result has the new value. ``use_locking`` has no effect. Raises InvalidArgumentError for a place outside or
    updates of another shape. No gradient passes.

    >>> import minitape as tf
    >>> v = tf.Variable([2.0, 4.0])
    >>> tf.compat.v1.scatter_nd_{how}(v, [[1]], [3.0]).numpy()
    array({result}, dtype=float32)
    """
    return function


scatter_nd_add = _scatter_nd("add", "Adds to", "[2., 7.]")
scatter_nd_sub = _scatter_nd("sub", "Subtracts from", "[2., 1.]")
scatter_nd_update = _scatter_nd("update", "Replaces", "[2., 3.]")


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replaces slices along the second axis of a variable, for each element of the first; ``use_locking`` has no effect.

    >>> import minitape as tf
    >>> v = tf.Variable([[1, 2], [3, 4]])
    >>> tf.compat.v1.batch_scatter_update(v, [[0], [1]], [[9], [8]]).numpy()
    array([[9, 2],
           [3, 8]], dtype=int32)
    """
    return ref.batch_scatter_update(IndexedSlices(updates, indices), use_locking, name)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """The value of an integer variable, which is then increased by one; OutOfRangeError at the limit.

    >>> import minitape as tf
    >>> v = tf.Variable(1)
    >>> print(tf.compat.v1.count_up_to(v, 3).numpy(), v.numpy())
    1 2
    """
    return ref.count_up_to(limit)


def is_variable_initialized(variable: Any) -> Tensor:
    """A boolean tensor: whether the variable has a value.

    >>> import minitape as tf
    >>> print(tf.compat.v1.is_variable_initialized(tf.Variable(1)).numpy())
    True
    """
    return variable.is_initialized()


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Tensor:
    """The names of the variables that have no value yet: none in eager mode, whatever is in ``var_list``.

    The result is an empty vector of strings. NotImplementedError in a graph.

    >>> import minitape as tf
    >>> tf.compat.v1.report_uninitialized_variables().shape
    TensorShape([0])
    """
    if state.graph is not None:
        raise NotImplementedError(
            "minitape's report_uninitialized_variables works in eager mode: run tf.compat.v1.is_variable_initialized of "
            "each variable in a session instead."
        )
    return wrap(np.zeros(0, object))


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Python 2's division: ``//`` for integers, ``/`` for others.

    >>> import minitape as tf
    >>> print(tf.compat.v1.div(-7, 2).numpy(), tf.compat.v1.div(7.0, 2.0).numpy())
    -4 3.5
    """
    from ...engine.operands import together

    x, y = together(x, y)
    return x / y if x.dtype.differentiable else x // y
