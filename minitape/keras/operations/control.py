"""``tf.keras.ops``: branches, loops and gradients of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from ..base import convert


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """``true_fn()`` where ``pred`` holds, else ``false_fn()``.

    ``pred`` is a scalar of bool or a number; the functions take nothing and give tensors of the same structure and
    dtypes. Differentiable through the function that was called. Raises TypeError for what cannot be called.

    >>> import minitape as tf
    >>> x = tf.constant(-2.0)
    >>> tf.keras.ops.cond(x > 0, lambda: x, lambda: -x).numpy()
    np.float32(2.0)
    """
    return tf.cond(convert(pred, "bool"), true_fn, false_fn)


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """Calls ``body`` as long as ``cond`` holds, and gives the last values.

    ``loop_vars`` is a tensor or a sequence of tensors of any shapes and dtypes; ``cond`` and ``body`` take as many
    arguments, ``cond`` gives a scalar of bool and ``body`` new values. Differentiable. Raises ValueError when ``body``
    gives another number of values.

    >>> import minitape as tf
    >>> [v.numpy() for v in tf.keras.ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0))]
    [np.int32(3), np.float32(8.0)]
    """
    single = not isinstance(loop_vars, (list, tuple))
    start = (loop_vars,) if single else tuple(loop_vars)

    def step(*values: Any) -> tuple[Any, ...]:
        found = body(*values)
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)

    found = tf.while_loop(cond, step, start, maximum_iterations=maximum_iterations)
    return found[0] if single else tuple(found)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Tensor:
    """``body_fun(i, value)`` for each whole number from ``lower`` up to ``upper``, which is left out.

    The value begins with ``init_val``, a tensor of any shape and dtype, and is at each call what the last one gave.
    Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.fori_loop(0, 4, lambda i, total: total + i, 0).numpy()
    np.int32(6)
    """
    return tf.while_loop(lambda i, v: i < upper, lambda i, v: (i + 1, body_fun(i, v)), (lower, init_val))[1]


def vectorized_map(function: Callable[..., Any], elements: Any) -> Tensor:
    """``function`` of each row, the results stacked.

    ``elements`` is a tensor, or a structure of tensors, with rows along the first axis; ``function`` takes one row.
    Differentiable. Raises ValueError for a scalar.

    >>> import minitape as tf
    >>> tf.keras.ops.vectorized_map(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]])).numpy()
    array([3, 7], dtype=int32)
    """
    return tf.vectorized_map(function, elements)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that brings its own gradient: ``f`` gives the result and the function of the gradient.

    ``f`` takes tensors and gives ``(result, grad)``; ``grad`` takes the gradient of the result and gives one for each
    argument. Differentiable as ``grad`` says.

    >>> import minitape as tf
    >>> @tf.keras.ops.custom_gradient
    ... def clipped(x):
    ...     return x * x, lambda upstream: tf.clip_by_value(upstream * 2 * x, -1.0, 1.0)
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = clipped(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """
    return tf.custom_gradient(f)
