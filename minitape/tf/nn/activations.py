"""Activation functions of ``tf.nn``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.table.primitives import TABLE, activation, sorting, special  # noqa: F401 - they fill the table
from ...engine.tensor.tensor import Tensor
from ...engine.values import dtypes
from ...engine.values.invalid import invalid
from ...ops.operands import call, quick, tensor_of, unary, with_name


def _simple(name: str, sentence: str, result: str) -> Any:
    primitive = TABLE[name]

    def function(features: Any, name: str | None = None) -> Tensor:
        return unary(primitive, features)

    doc = f"""{sentence}, elementwise.

    Same shape and dtype as ``features``. Differentiable. Raises InvalidArgumentError for dtypes without such a kernel.

    >>> import minitape as tf
    >>> print(tf.nn.{name}([-1.0, 0.0, 7.0]).numpy())
    {result}
    """
    made = with_name(function, name, doc, __name__)
    return quick(primitive)(made) if primitive.code else made


relu = _simple("relu", "max(x, 0); the gradient at 0 is 0", "[0. 0. 7.]")


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """x where it is positive, else ``alpha * x``, elementwise; integers become float32. Differentiable.

    >>> import minitape as tf
    >>> print(tf.nn.leaky_relu([-1.0, 2.0], alpha=0.5).numpy())
    [-0.5  2. ]
    """
    x = tensor_of(features)
    if x.dtype.is_integer:
        x = call("cast", x, dtype=dtypes.float32)
    if isinstance(alpha, (Tensor, list, tuple, str, bytes)):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    return call("leaky_relu", x, alpha=float(np.float32(alpha)))  # the kernel has it as a float32


# float64 gets float32's, as in TensorFlow
_CUBIC, _ROOT = float(np.float32(0.044715)), float(np.float32(math.sqrt(0.5)))


def _over_axis(name: str, logits: Any, axis: Any) -> Any:
    x = tensor_of(logits)
    axis = -1 if axis is None else axis
    rank = x.ndim
    if axis == -1 or (axis >= 0 and axis == rank - 1) or isinstance(axis, str):
        return call(name, x, axis=int(axis >= -1) - 2)
    if not -rank <= axis < rank or axis != int(axis):
        raise invalid(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the "
            f"input. Received: dim={axis}"
        )
    return call(name, x, axis=int(axis))


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along ``axis`` (the last one for None), without overflow. Differentiable.

    Raises InvalidArgumentError for integers, for tensors without axes and for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.softmax([0.0, 0.0]).numpy())
    [0.5 0.5]
    """
    return _over_axis("softmax", logits, axis)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of softmax along ``axis`` (the last one for None). Differentiable; errors as for ``softmax``.

    >>> import minitape as tf
    >>> print(tf.nn.log_softmax([0.0, 0.0]).numpy())
    [-0.6931472 -0.6931472]
    """
    return _over_axis("log_softmax", logits, axis)
