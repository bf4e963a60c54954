"""Losses of ``tf.nn``: cross entropies between labels and logits, and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.operands import call, generated, strict, tensor_of
from ...engine.operation import apply
from ...engine.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor


def _both(name: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {name}Received: labels={labels} and logits={logits}"
        )


def _wide(x: Any) -> Any:
    """Half floats as float32, in which losses are computed."""
    return TABLE["cast"](x, dtype=dtypes.float32) if x.dtype.name in ("float16", "bfloat16") else x


def _back(loss: Any, like: Any) -> Any:
    return loss if loss.dtype is like.dtype else TABLE["cast"](loss, dtype=like.dtype)


def _axis_last(x: Any, axis: int) -> Any:
    """x with ``axis`` moved to the end."""
    rank = x.ndim
    if axis in (-1, rank - 1):
        return x
    if not -rank <= axis < rank:
        raise invalid(f"Requires start <= limit when delta > 0: {axis + 1}/{rank}", "Range")
    axis %= rank
    return call("transpose", x, perm=(*(i for i in range(rank) if i != axis), axis))


@strict
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The cross entropy between probabilities and softmax(logits) along ``axis``; the result lacks that axis.

    ``labels`` are cast to the dtype of ``logits`` (floats). Differentiable in both.
    Raises InvalidArgumentError when the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    x, y = tensor_of(logits), tensor_of(labels)
    wide = _wide(x)
    y = y if y.dtype is wide.dtype else TABLE["cast"](y, dtype=wide.dtype)
    if 0 in (x.ndim, y.ndim) and x.dtype.is_floating:
        raise invalid("Expected begin[0] == 0 (got -1) and size[0] == 0 (got 1) when input.dim_size(0) == 0", "Slice")
    wide, y = _axis_last(wide, axis), _axis_last(y, axis)
    found = call("softmax_cross_entropy", wide, y)
    rows, wanted = y.shape[:-1].num_elements(), wide.shape[:-1].num_elements()
    if None not in (rows, wanted) and rows > wanted:  # labels may be fewer, but not more
        raise invalid(f"Input to reshape is a tensor with {rows} values, but the requested shape has {wanted}", "Reshape")
    return _back(found, x)


@strict
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
    if x.ndim == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if None in (x.ndim, y.ndim):
        return _of_unknown_rank(y, x)
    if y.ndim != x.ndim - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={y.shape} of rank {y.ndim} and logits.shape={x.shape} of rank {x.ndim}"
        )
    if not y.shape.is_compatible_with(x.shape[:-1]):
        raise ValueError("`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                         f"labels.shape={y.shape} and logits.shape={x.shape}")  # fmt: skip
    return _back(call("sparse_softmax_cross_entropy", _wide(x), y), x)


def _of_unknown_rank(labels: Any, logits: Any) -> Any:
    """The sparse cross entropy in a graph that does not know the ranks, one label after the other."""
    from ...ops.arrays import reshape, shape

    rows = reshape(logits, [-1, shape(logits)[-1]])
    return reshape(sparse_softmax_cross_entropy_with_logits(reshape(labels, [-1]), rows), shape(labels))


def _same_shape(x: Any, y: Any) -> None:
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape}).")


@strict
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """The cross entropy between probabilities and sigmoid(logits), elementwise, without overflow.

    Differentiable in both. Raises ValueError when the shapes differ.

    >>> import minitape as tf
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    _both("sigmoid_cross_entropy_with_logits", labels, logits)
    x, y = tensor_of(logits), tensor_of(labels)
    _same_shape(x, y)
    zeros = TABLE["zeros_like"](x)
    positive = x >= zeros
    above = apply(TABLE["select"], (positive, x, zeros), {})
    below = apply(TABLE["select"], (positive, -x, x), {})
    return (above - x * y) + apply(TABLE["log1p"], (apply(TABLE["exp"], (below,), {}),), {})


@strict
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Tensor:
    """Sigmoid cross entropy in which the share of positive labels is multiplied by ``pos_weight``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 2.0).numpy())
    [1.3862944]
    """
    x, y = tensor_of(logits), tensor_of(labels)
    _same_shape(x, y)
    weight = 1 + (pos_weight - 1) * y
    small = apply(TABLE["log1p"], (apply(TABLE["exp"], (-apply(TABLE["abs"], (x,), {}),), {}),), {})
    return (1 - y) * x + weight * (small + apply(TABLE["relu"], (-x,), {}))


@strict
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Tensor:
    """The loss of a Poisson distribution with rate exp(log_input), up to a constant unless ``compute_full_loss``.

    Differentiable in both. Raises ValueError when the shapes differ.

    >>> import minitape as tf
    >>> print(tf.nn.log_poisson_loss([1.0], [0.0]).numpy())
    [1.]
    """
    x, y = tensor_of(log_input), tensor_of(targets)
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"`log_input` and `targets` must have the same shape, received ({x.shape} vs {y.shape}).")
    loss = apply(TABLE["exp"], (x,), {}) - x * y
    if not compute_full_loss:
        return loss
    log = TABLE["log"]
    stirling = y * log(y) - y + 0.5 * log(y * 2.0 * np.pi)
    small = apply(TABLE["logical_and"], (y >= 0.0, y <= 1.0), {})
    return loss + apply(TABLE["select"], (small, TABLE["zeros_like"](y), stirling), {})


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of penalties, divided by the number of replicas, of which there is one here. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.scale_regularization_loss([1.0, 2.0]).numpy()
    np.float32(3.0)
    """
    return tf.math.divide_no_nan(tf.reduce_sum(regularization_loss), 1)


@generated("l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements. Differentiable; floats only.

    >>> import minitape as tf
    >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
    12.5
    """
    return call("l2_loss", tensor_of(t))


@strict
def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Tensor:
    """The sum of the losses (times their weights) over the size of the batch; 0 for a batch of size 0. Differentiable.

    Weights of one axis less or more (of size 1) than the losses belong to their rows. ValueError for a loss without axes
    and a size that has some, TypeError for a size that is no whole number, InvalidArgumentError for one below 0.

    >>> import minitape as tf
    >>> print(tf.nn.compute_average_loss([1.0, 3.0]).numpy())
    2.0
    """
    losses = tensor_of(per_example_loss)
    if losses.shape.rank == 0:
        raise ValueError("Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. Received "
                         f"per_example_loss={per_example_loss} with rank 0")  # fmt: skip
    dtype = losses.dtype
    if sample_weight is not None:
        losses = tf.cast(_weighed(tf.cast(losses, tf.float32), tf.cast(sample_weight, tf.float32)), dtype)
    size = tf.shape(losses)[0] if global_batch_size is None else tf.convert_to_tensor(global_batch_size)
    tf.debugging.assert_scalar(size, "global_batch_size must be scalar.")
    tf.debugging.assert_integer(size, "global_batch_size must be an integer.")
    tf.debugging.assert_non_negative(size, "global_batch_size must be non-negative.")
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.cast(size, dtype))


def _weighed(losses: Any, weights: Any) -> Any:
    more = 0 if None in (losses.shape.rank, weights.shape.rank) or not weights.shape.rank else weights.shape.rank - losses.shape.rank
    if more == 1:
        weights = tf.squeeze(weights, [-1])
    elif more == -1:
        weights = tf.expand_dims(weights, -1)
    return losses * weights
