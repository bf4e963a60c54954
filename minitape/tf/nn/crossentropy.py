"""Losses of ``tf.nn``: cross entropies between labels and logits, and their kin."""

from __future__ import annotations

from typing import Any

from ...engine.table.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ...engine.tensor.tensor import EagerTensor, Tensor
from ...engine.values.invalid import invalid
from ...ops.operands import call, same_shape_and_dtype, tensor_of


def _both(name: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {name}Received: labels={labels} and logits={logits}"
        )


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The cross entropy between probabilities and softmax(logits) along ``axis``; the result lacks that axis.

    ``labels`` are cast to the dtype of ``logits`` (floats). Differentiable in both.
    Raises InvalidArgumentError when the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    x, y = tensor_of(logits), tensor_of(labels)
    if (
        type(x) is type(y) is EagerTensor
        and type(axis) is int
        and axis == -1
        and x.ndim
        and x._value.dtype.itemsize > 2
        and same_shape_and_dtype(x, y)
    ):
        return call("softmax_cross_entropy", x, y)
    if 0 in (x.ndim, y.ndim) and x.dtype.is_floating:
        raise invalid("Expected begin[0] == 0 (got -1) and size[0] == 0 (got 1) when input.dim_size(0) == 0", "Slice")


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    """The cross entropy between classes, given by number, and softmax(logits) along the last axis.

    ``labels`` (int32 or int64) has the shape of ``logits`` without the last axis. Differentiable in ``logits``.
    Raises ValueError when the shapes do not fit, InvalidArgumentError for a class that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    _both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    x, y = tensor_of(logits), tensor_of(labels)
    if type(x) is type(y) is EagerTensor and x._dims and y._dims == x._dims[:-1] and x._value.dtype.itemsize > 2:
        return call("sparse_softmax_cross_entropy", x, y)
    if x.ndim == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if y.ndim != x.ndim - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={y.shape} of rank {y.ndim} and logits.shape={x.shape} of rank {x.ndim}"
        )
    if not y.shape.is_compatible_with(x.shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={y.shape} and logits.shape={x.shape}"
        )


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """The cross entropy between probabilities and sigmoid(logits), elementwise, without overflow.

    Differentiable in both. Raises ValueError when the shapes differ.

    >>> import minitape as tf
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    _both("sigmoid_cross_entropy_with_logits", labels, logits)
    x, y = tensor_of(logits), tensor_of(labels)
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape}).")
    zeros = call("zeros_like", x)
    positive = x >= zeros
    above = call("select", positive, x, zeros)
    below = call("select", positive, -x, x)
    return (above - x * y) + call("log1p", call("exp", below))
