"""Primitives of neural networks: softmax, cross entropies, leaky relu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.dtypes import dtype_of_any
from ...values.invalid import invalid
from . import TABLE, declare
from .formula import ARRAY
from .numerics import in_single

if TYPE_CHECKING:
    from ...types import Array, Function

_add: Function = np.add.reduce  # without the questions that np.sum and np.max ask before
_largest: Function = np.fmax.reduce  # of the numbers, where there is a NaN


def _shift(x: Array, axis: int, op: str) -> Array:
    """Logits less the largest number of each row."""
    if x.ndim < 1:
        raise invalid(f"logits must have >= 1 dimension, got {x.shape}", op)
    if not x.size:
        return x
    few = axis == -1 and x.shape[-1] <= 32 < x.size  # NumPy is faster along the rows than along few columns
    return x - _largest(x.copy("F") if few else x, axis, None, None, True)


@in_single
def _softmax(x: Array, *, axis: int = -1) -> Array:
    e = ARRAY["exp"](_shift(x, axis, "Softmax"))
    return e * (1 / _add(e, axis, None, None, True))


@in_single
def _log_softmax(x: Array, *, axis: int = -1) -> Array:
    away = _shift(x, axis, "LogSoftmax")
    return away - ARRAY["log"](_add(ARRAY["exp"](away), axis, None, None, True))


def _total(g: Array, axis: int) -> Array:
    return TABLE["reduce_sum"](g, axis=(axis,), keepdims=True)


declare(
    "softmax",
    _softmax,
    [lambda g, z, x, *, axis=-1: (g - _total(g * z, axis)) * z],
    op="Softmax",
    keep="z",
)
declare(
    "log_softmax",
    _log_softmax,
    [lambda g, z, x, *, axis=-1: g - _total(g, axis) * TABLE["exp"](z)],
    op="LogSoftmax",
    keep="z",
)


# -- cross entropies -------------------------------------------------------------------------------


def _column(g: Array) -> Array:
    return TABLE["reshape"](g, shape=(*g.shape, 1))


def _cross_entropy(x: Array, y: Array) -> Array:
    """The cross entropy of each row of logits x with the row of probabilities y."""
    op = "SoftmaxCrossEntropyWithLogits"
    try:
        x, y = (x, y) if x.shape == y.shape else np.broadcast_arrays(x, y)
    except ValueError:
        raise invalid(f"logits and labels must be broadcastable, got the shapes {x.shape} and {y.shape}", op) from None
    away = _shift(x, -1, op)
    rest = ARRAY["log"](_add(ARRAY["exp"](away), -1, None, None, True)) - away
    return _add(np.where(y == 0, 0, y * rest), -1, x.dtype)


def _cross_entropy_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    """As in TensorFlow the labels count as constants here: the second derivative by them is 0."""
    return _column(g) * (TABLE["softmax"](x, axis=-1) - TABLE["held"](y))


declare("held", lambda x: x, [lambda g, z, x: 0 * g], op="Identity", keep="")
declare("softmax_cross_entropy", _cross_entropy,
        [_cross_entropy_rule, lambda g, z, x, y: _column(g) * -TABLE["log_softmax"](x, axis=-1)],
        op="SoftmaxCrossEntropyWithLogits", label="xent", keep="xy")  # fmt: skip


def _sparse_cross_entropy(x: Array, labels: Array) -> Array:
    """The cross entropy where the probabilities are 1 for one class, given by its number."""
    op, count = "SparseSoftmaxCrossEntropyWithLogits", x.shape[-1]
    wrong = labels.astype(np.uint64) >= count  # negative ones are large there
    if np.count_nonzero(wrong):  # which takes half the time of any()
        raise invalid(f"The label {labels[wrong][0]} is outside of [0, {count}).", op)
    away = _shift(x, -1, op)
    picked = away.reshape(labels.size, count)[np.arange(labels.size), labels.reshape(-1)].reshape(labels.shape)
    return ARRAY["log"](_add(ARRAY["exp"](away), -1)) - picked


def _sparse_rule(g: Array, z: Array, x: Array, labels: Array) -> Array:
    if type(g) is np.ndarray and x.ndim == 2 and x.dtype.itemsize > 2:
        share = _softmax(x)
        share[np.arange(labels.size), labels] -= 1
        share *= g[:, None]
        return share
    one = dtype_of_any(g).as_numpy_dtype(1)
    true = TABLE["one_hot"](labels, depth=x.shape[-1], on=one, off=one * 0, axis=-1)
    return _column(g) * (TABLE["softmax"](x, axis=-1) - true)


declare("sparse_softmax_cross_entropy", _sparse_cross_entropy, [_sparse_rule, None],
        op="SparseSoftmaxCrossEntropyWithLogits", label="xent", keep="xy")  # fmt: skip


# -- leaky relu and bias ---------------------------------------------------------------------------


def _leaky(x: Array, *, alpha: float) -> Array:
    less = x * x.dtype.type(alpha)
    return (np.maximum(x, less) if 0 < alpha <= 1 else np.where(x > 0, x, less)).astype(x.dtype, copy=False)


def _leaky_gate(g: Array, x: Array, *, alpha: float) -> Array:
    return np.where(x > 0, g, g * g.dtype.type(alpha)).astype(g.dtype, copy=False)


declare(
    "leaky_relu", _leaky, [lambda g, z, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha)], op="LeakyRelu", keep="x"
)
declare("leaky_gate", _leaky_gate,
        [lambda g, z, y, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha), lambda g, z, y, x, *, alpha: 0 * g],
        op="LeakyReluGrad", label="gate", keep="y")  # fmt: skip
