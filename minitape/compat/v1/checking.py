"""TensorFlow 1's checks of gradients against finite differences, on tensors of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.updates import deprecated
from ...tf.check import session_jacobians


def compute_gradient(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                     init_targets: Any = None, extra_feed_dict: Any = None) -> Any:  # fmt: skip
    """The Jacobian of ``y`` in ``x``, by ``gradients`` and by finite differences; a list of pairs for a list ``x``.

    ``x`` and ``y`` are tensors of a graph, of these shapes; the default session runs it, from ``x_init_value`` or a
    random point. Both are 2-d arrays of shape [size of x, size of y]; a complex number counts as two real ones. The
    operations ``init_targets`` are run before. Raises AssertionError for types that have no gradient.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session():
    ...     x = tf.constant([1.0, 2.0])
    ...     tf.compat.v1.test.compute_gradient(x, [2], x * x, [2], x_init_value=np.array([1.0, 2.0]))[0]
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    _deprecated("compute_gradient")
    return _pairs(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)


def _deprecated(name: str) -> None:
    deprecated(f"{name} (from tensorflow.python.ops.gradient_checker) is deprecated and will be removed in a future "
               "version.\nInstructions for updating:\nUse tf.test.compute_gradient in 2.0, which has better support for "
               "functions. Note that the two versions have different usage, so code change is needed.")  # fmt: skip


def _pairs(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any, delta: float, init_targets: Any, extra_feed_dict: Any
) -> Any:
    for target in init_targets or ():
        target.run()
    if not isinstance(x, list):
        return _one(x, x_shape, y, y_shape, x_init_value, delta, extra_feed_dict)
    starts = [None] * len(x) if x_init_value is None else x_init_value
    return [_one(each, shape, y, y_shape, start, delta, extra_feed_dict)
            for each, shape, start in zip(x, x_shape, starts, strict=True)]  # fmt: skip


def _one(x: Any, x_shape: Any, y: Any, y_shape: Any, start: Any, delta: float, feeds: Any) -> tuple[Any, Any]:
    for name, tensor in (("x", x), ("y", y)):
        dtype = dtypes.as_dtype(tensor.dtype)
        assert dtype.differentiable, f"Don't support type {dtype.name} for {name}"
    kind = x.dtype.as_numpy_dtype
    if start is None:
        start = np.random.random_sample(x_shape)
        if x.dtype.is_complex:
            start = start + 1j * np.random.random_sample(x_shape)
    else:
        assert list(x_shape) == list(start.shape), f"x_shape = {x_shape}, init_data shape = {list(start.shape)}"
    theory, numbers = session_jacobians(x, np.asarray(start, kind), y, y_shape, feeds or {}, delta)
    return theory.T, numbers.T


def compute_gradient_error(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                           init_targets: Any = None, extra_feed_dict: Any = None) -> Any:  # fmt: skip
    """The largest difference between the two Jacobians of ``compute_gradient``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session():
    ...     x = tf.constant([1.0, 2.0])
    ...     print(tf.compat.v1.test.compute_gradient_error(x, [2], x * x, [2]) < 0.01)
    True
    """
    _deprecated("compute_gradient_error")
    pairs = _pairs(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0
    for theory, numbers in [pairs] if isinstance(pairs, tuple) else pairs:
        error = np.maximum(error, np.abs(theory - numbers).max(initial=0))
    return error
