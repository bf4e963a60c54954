"""``tf.nn``: activations, cross entropies, moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .arguments import axis_in, call, check_kind, tensor_of
from .arrays import squeeze
from .elementwise import cast
from .reductions import reduce_mean

if TYPE_CHECKING:
    from ..engine.types import Name, Value


def _relu(features: Value, name: Name = None) -> Tensor:
    """max(x, 0), elementwise; the gradient at 0 is 0. Differentiable; real numbers only.

    >>> import minitape as tf
    >>> print(tf.nn.relu([-1.0, 0.0, 7.0]).numpy())
    [0. 0. 7.]
    """
    return call("relu", check_kind("nn.relu", tensor_of(features), "fiu"))


_relu.__name__ = _relu.__qualname__ = "relu"
relu: Callable[..., Tensor] = fast.function(_relu, TABLE["relu"], "relu", signature="features, name=None")
relu.__module__, relu.__doc__ = __name__, _relu.__doc__


def leaky_relu(features: Value, alpha: float = 0.2, name: Name = None) -> Tensor:
    """x where it is positive, else ``alpha * x``, elementwise; integers become float32. Differentiable.

    >>> import minitape as tf
    >>> print(tf.nn.leaky_relu([-1.0, 2.0], alpha=0.5).numpy())
    [-0.5  2. ]
    """
    x = check_kind("nn.leaky_relu", tensor_of(features), "fiu")
    x = x if x.dtype.is_floating else cast(x, dtypes.float32)
    return call("leaky_relu", x, alpha=float(np.float32(alpha)))  # TensorFlow's kernel has it as a float32


def _along(name: str, logits: Value, axis: Value) -> Tensor:
    x = check_kind(f"nn.{name}", tensor_of(logits), "f")
    place = axis_in(-1 if axis is None else axis, x.ndim)
    return call(name, x, axis=-1 if place == x.ndim - 1 else place)


def softmax(logits: Value, axis: Value = None, name: Name = None) -> Tensor:
    """exp(x) / sum(exp(x)) along ``axis`` (the last one for None), without overflow. Differentiable.

    Raises InvalidArgumentError for integers, for tensors without axes and for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.softmax([0.0, 0.0]).numpy())
    [0.5 0.5]
    """
    return _along("softmax", logits, axis)


def log_softmax(logits: Value, axis: Value = None, name: Name = None) -> Tensor:
    """The logarithm of softmax along ``axis`` (the last one for None). Differentiable; errors as for ``softmax``.

    >>> import minitape as tf
    >>> print(tf.nn.log_softmax([0.0, 0.0]).numpy())
    [-0.6931472 -0.6931472]
    """
    return _along("log_softmax", logits, axis)


# -- cross entropies -------------------------------------------------------------------------------


def _labels_and_logits(labels: Value, logits: Value) -> tuple[Tensor, Tensor]:
    """Both as tensors, the logits of floats."""
    if labels is None or logits is None:
        raise ValueError("A cross entropy takes labels and logits: one of them is None")
    return tensor_of(labels), check_kind("nn's cross entropies", tensor_of(logits), "f")


def _wide(x: Tensor) -> Tensor:
    """Half floats as float32, in which losses are computed."""
    return cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x


def softmax_cross_entropy_with_logits(labels: Value, logits: Value, axis: int = -1, name: Name = None) -> Tensor:
    """The cross entropy between probabilities and softmax(logits) along ``axis``; the result lacks that axis.

    ``labels`` are cast to the dtype of ``logits`` (floats). Differentiable in both.
    Raises InvalidArgumentError when the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    y, x = _labels_and_logits(labels, logits)
    place, wide = axis_in(axis, x.ndim), _wide(x)
    y = cast(y, wide.dtype)
    if y._dims != x._dims and (y.ndim != x.ndim or any(m not in (n, 1) for m, n in zip(y._dims, x._dims, strict=True))):
        raise invalid(f"The labels must have, or broadcast to, the shape {x.shape} of the logits, got {y.shape}")
    if place != x.ndim - 1:
        order = (*(i for i in range(x.ndim) if i != place), place)
        wide, y = (call("transpose", t, perm=order) for t in (wide, y))
    return cast(call("softmax_cross_entropy", wide, y), x.dtype)


def sparse_softmax_cross_entropy_with_logits(labels: Value, logits: Value, name: Name = None) -> Tensor:
    """The cross entropy between classes, given by number, and softmax(logits) along the last axis.

    ``labels`` (int32 or int64) has the shape of ``logits`` without the last axis. Differentiable in ``logits``.
    Raises ValueError when the shapes do not fit, InvalidArgumentError for a class that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    y, x = _labels_and_logits(labels, logits)
    if not x.ndim or y._dims != x._dims[:-1]:
        raise ValueError(f"The labels must have the shape of the logits {x.shape} without the last axis, got {y.shape}")
    check_kind("nn.sparse_softmax_cross_entropy_with_logits", y, "iu")
    return cast(call("sparse_softmax_cross_entropy", _wide(x), y), x.dtype)


def sigmoid_cross_entropy_with_logits(labels: Value = None, logits: Value = None, name: Name = None) -> Tensor:
    """The cross entropy between probabilities and sigmoid(logits), elementwise, without overflow.

    Differentiable in both. Raises ValueError when the shapes differ.

    >>> import minitape as tf
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    y, x = _labels_and_logits(labels, logits)
    if x.shape != y.shape:
        raise ValueError(f"The labels must have the shape {x.shape} of the logits, got {y.shape}")
    zeros = call("zeros_like", x)
    positive = x >= zeros
    above = call("select", positive, x, zeros)
    below = call("select", positive, -x, x)
    loss: Tensor = (above - x * y) + call("log1p", call("exp", below))
    return loss


# -- moments ---------------------------------------------------------------------------------------


def moments(x: Value, axes: Value, *, keepdims: bool = False, name: Name = None) -> tuple[Tensor, Tensor]:
    """The mean and the variance over ``axes``, a pair; half floats are computed in float32. Differentiable.

    Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    x = check_kind("nn.moments", tensor_of(x), "fiu")
    y = _wide(x)
    mean = reduce_mean(y, axes, True)
    squares = call("squared_difference", y, call("stop_gradient", mean))
    variance = reduce_mean(squares, axes, True)
    if not keepdims and x.ndim:
        gone = [*range(x.ndim)] if axes is None else axes
        mean, variance = squeeze(mean, gone), squeeze(variance, gone)
    return cast(mean, x.dtype), cast(variance, x.dtype)
