"""Declare primitives for neural networks, such as softmax and cross entropies."""

import numpy as np

from ...types import Array, Function
from ...values.argument_errors import build_argument_error
from ...values.dtypes import as_dtype
from . import TABLE, declare
from .formula import ARRAY
from .numerics import wrap_to_compute_half_in_float32

_sum_axes: Function = np.add.reduce  # Unlike np.sum, this method does not spend time on checking its arguments.
_max_axes: Function = np.fmax.reduce  # Unlike maximum, fmax ignores NaN.


def _subtract_largest_logit(x: Array, axis: int) -> Array:
    """Subtract the largest logit of each row from the row, so that the exponential function cannot overflow."""
    if not x.size:
        return x
    # NumPy reduces a few long columns faster than many short rows, so a copy in column order pays off.
    has_few_columns = axis == -1 and x.shape[-1] <= 32 < x.size
    return x - _max_axes(x.copy("F") if has_few_columns else x, axis, None, None, True)


@wrap_to_compute_half_in_float32
def _compute_softmax(x: Array, *, axis: int = -1) -> Array:
    exponentials = ARRAY["exp"](_subtract_largest_logit(x, axis))
    return exponentials * (1 / _sum_axes(exponentials, axis, None, None, True))


@wrap_to_compute_half_in_float32
def _compute_log_softmax(x: Array, *, axis: int = -1) -> Array:
    shifted = _subtract_largest_logit(x, axis)
    return shifted - ARRAY["log"](_sum_axes(ARRAY["exp"](shifted), axis, None, None, True))


def _sum_along_axis(g: Array, axis: int) -> Array:
    return TABLE["reduce_sum"](g, axis=(axis,), keepdims=True)


declare(
    "softmax",
    _compute_softmax,
    [lambda g, z, x, *, axis=-1: (g - _sum_along_axis(g * z, axis)) * z],
    keep="z",
)
declare(
    "log_softmax",
    _compute_log_softmax,
    [lambda g, z, x, *, axis=-1: g - _sum_along_axis(g, axis) * TABLE["exp"](z)],
    keep="z",
)


# -- cross entropies -------------------------------------------------------------------------------


def _reshape_to_column(g: Array) -> Array:
    return TABLE["reshape"](g, shape=(*g.shape, 1))


def _compute_cross_entropy(x: Array, y: Array) -> Array:
    """Compute the cross entropy of each row of logits in `x` and the same row of probabilities in `y`."""
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    shifted = _subtract_largest_logit(x, -1)
    negative_logs = ARRAY["log"](_sum_axes(ARRAY["exp"](shifted), -1, None, None, True)) - shifted
    return _sum_axes(np.where(y == 0, 0, y * negative_logs), -1, x.dtype)


def _apply_cross_entropy_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    """Return the share of the logits.

    As in TensorFlow, this rule treats the labels as constants, so second derivatives with respect to them are 0.
    """
    return _reshape_to_column(g) * (TABLE["softmax"](x, axis=-1) - TABLE["held"](y))


declare("held", lambda x: x, [lambda g, z, x: 0 * g], op="Identity", keep="")
declare("softmax_cross_entropy", _compute_cross_entropy,
        [_apply_cross_entropy_rule, lambda g, z, x, y: _reshape_to_column(g) * -TABLE["log_softmax"](x, axis=-1)],
        op="SoftmaxCrossEntropyWithLogits", label="xent", keep="xy")  # fmt: skip


def _compute_sparse_cross_entropy(x: Array, labels: Array) -> Array:
    """Compute the cross entropy of rows of logits and integer class labels."""
    count = x.shape[-1]
    is_outside = labels.astype(np.uint64) >= count  # Negative labels become large numbers.
    if np.count_nonzero(is_outside):  # This takes half as long as any().
        raise build_argument_error(
            f"The label {labels[is_outside][0]} is outside [0, {count}).", "SparseSoftmaxCrossEntropyWithLogits"
        )
    shifted = _subtract_largest_logit(x, -1)
    label_logits = shifted.reshape(labels.size, count)[np.arange(labels.size), labels.reshape(-1)].reshape(labels.shape)
    return ARRAY["log"](_sum_axes(ARRAY["exp"](shifted), -1)) - label_logits


def _apply_sparse_cross_entropy_rule(g: Array, z: Array, x: Array, labels: Array) -> Array:
    if type(g) is np.ndarray and x.ndim == 2 and x.dtype.itemsize > 2:
        share = _compute_softmax(x)
        share[np.arange(labels.size), labels] -= 1
        share *= g[:, None]
        return share
    unit = as_dtype(g.dtype).as_numpy_dtype(1)
    labels_one_hot = TABLE["one_hot"](labels, depth=x.shape[-1], on=unit, off=unit * 0, axis=-1)
    return _reshape_to_column(g) * (TABLE["softmax"](x, axis=-1) - labels_one_hot)


declare("sparse_softmax_cross_entropy", _compute_sparse_cross_entropy, [_apply_sparse_cross_entropy_rule, None],
        op="SparseSoftmaxCrossEntropyWithLogits", label="xent", keep="xy")  # fmt: skip


# -- leaky relu and bias ---------------------------------------------------------------------------


def _compute_leaky_relu(x: Array, *, alpha: float) -> Array:
    scaled = x * x.dtype.type(alpha)
    activation = np.maximum(x, scaled) if 0 < alpha <= 1 else np.where(x > 0, x, scaled)
    return activation.astype(x.dtype, copy=False)


def _compute_leaky_gate(g: Array, x: Array, *, alpha: float) -> Array:
    return np.where(x > 0, g, g * g.dtype.type(alpha)).astype(g.dtype, copy=False)


declare(
    "leaky_relu",
    _compute_leaky_relu,
    [lambda g, z, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha)],
    keep="x",
)
declare("leaky_gate", _compute_leaky_gate,
        [lambda g, z, y, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha), lambda g, z, y, x, *, alpha: 0 * g],
        op="LeakyReluGrad", label="gate", keep="y")  # fmt: skip
