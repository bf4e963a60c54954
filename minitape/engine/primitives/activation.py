"""Primitives of neural networks: activations, softmax, cross entropies, bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from ..invalid import invalid, shown
from . import TABLE, declare, sorting  # noqa: F401 - its primitives are in the rules
from .formula import ARRAY
from .selecting import select

if TYPE_CHECKING:
    from ..typed import Array
    from . import Example

# -- softmax ----------------------------------------------------------------------------------------------------------


def _shifted(x: Array, axis: int, op: str) -> Array:
    if x.ndim < 1:
        raise invalid(f"logits must have >= 1 dimension, got {shown(x.shape)}", op)
    return x - np.max(x, axis=axis, keepdims=True) if x.size else x


def _softmax(x: Array, *, axis: int = -1) -> Array:
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    e = ARRAY["exp"](_shifted(wide, axis, "Softmax"))
    return (e * (1 / np.sum(e, axis=axis, keepdims=True))).astype(x.dtype) if x.size else x


def _log_softmax(x: Array, *, axis: int = -1) -> Array:
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    away = _shifted(wide, axis, "LogSoftmax")
    return (away - ARRAY["log"](np.sum(ARRAY["exp"](away), axis=axis, keepdims=True))).astype(x.dtype) if x.size else x


def _total(g: Array, axis: int) -> Array:
    return TABLE["reduce_sum"](g, axis=(axis,), keepdims=True)


def _rows(rng: np.random.Generator) -> Example:
    return (rng.normal(size=(2, 3)),), {"axis": -1}


declare("softmax", _softmax, [lambda g, z, x, *, axis=-1: (g - _total(g * z, axis)) * z], op="Softmax", keep="z",
        example=_rows)  # fmt: skip
declare(
    "log_softmax",
    _log_softmax,
    [lambda g, z, x, *, axis=-1: g - _total(g, axis) * TABLE["exp"](z)],
    op="LogSoftmax",
    keep="z",
    example=_rows,
)


# -- cross entropies --------------------------------------------------------------------------------------------------


def _column(g: Array) -> Array:
    return TABLE["reshape"](g, shape=(*g.shape, 1))


def _cross_entropy(x: Array, y: Array) -> Array:
    """The cross entropy of each row of logits x with the row of probabilities y."""
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        flat = [(int(np.prod(s[:-1])), s[-1]) for s in (x.shape, y.shape)]
        raise invalid(f"logits and labels must be broadcastable: logits_size={shown(flat[0])} "
                      f"labels_size={shown(flat[1])}",
                      "SoftmaxCrossEntropyWithLogits") from None  # fmt: skip
    away = np.broadcast_to(_shifted(x, -1, "SoftmaxCrossEntropyWithLogits"), shape)
    rest = ARRAY["log"](np.sum(ARRAY["exp"](away), axis=-1, keepdims=True)) - away
    return np.sum(np.where(y == 0, 0, y * rest), axis=-1, dtype=x.dtype)


def _cross_entropy_logits(g: Array, z: Array, x: Array, y: Array) -> Array:
    """As in TensorFlow the labels count as constants here: the second derivative by them is 0."""
    return _column(g) * (TABLE["softmax"](x, axis=-1) - TABLE["held"](y))


declare("held", lambda x: x, [lambda g, z, x: 0 * g], op="Identity", keep="",
        example=lambda rng: ((rng.normal(size=3),), {}, {"order": 0, "modes": ()}))  # fmt: skip
declare("softmax_cross_entropy", _cross_entropy,
        [_cross_entropy_logits, lambda g, z, x, y: _column(g) * -TABLE["log_softmax"](x, axis=-1)],
        op="SoftmaxCrossEntropyWithLogits", label="xent", keep="xy",
        example=lambda rng: ((rng.normal(size=(2, 3)), rng.dirichlet(np.ones(3), 2)), {}, {"order": 1}))  # fmt: skip


def _sparse_cross_entropy(x: Array, labels: Array) -> Array:
    """The same where the probabilities are 1 for one class, given by its number."""
    op = "SparseSoftmaxCrossEntropyWithLogits"
    wrong = (labels < 0) | (labels >= x.shape[-1])
    if np.any(wrong):
        shown = " ".join(map(str, labels.reshape(-1)))
        raise invalid(f"Received a label value of {np.asarray(labels)[wrong].reshape(-1)[0]} which is outside the "
                      f"valid range of "
                      f"[0, {x.shape[-1]}).  Label values: {shown}", op)  # fmt: skip
    away = _shifted(x, -1, op)
    total = ARRAY["log"](np.sum(ARRAY["exp"](away), axis=-1))
    return total - np.take_along_axis(away, np.asarray(labels)[..., None], -1)[..., 0]


def _sparse_rule(g: Array, z: Array, x: Array, labels: Array) -> Array:
    from ..elements import dtype_of_any

    ones = _column(TABLE["cast"](TABLE["ones_like"](labels), dtype=dtype_of_any(g)))
    true = TABLE["put_along"](ones, _column(labels), size=x.shape[-1])
    return _column(g) * (TABLE["softmax"](x, axis=-1) - true)


declare(
    "sparse_softmax_cross_entropy",
    _sparse_cross_entropy,
    [_sparse_rule, None],
    op="SparseSoftmaxCrossEntropyWithLogits",
    label="xent",
    keep="xy",
    example=lambda rng: ((rng.normal(size=(2, 3)), np.array([2, 0])), {}),
)


# -- leaky relu and bias ----------------------------------------------------------------------------------------------


@fast.by_blocks
def _leaky(x: Array, *, alpha: float) -> Array:
    less = x * x.dtype.type(alpha)
    return (np.maximum(x, less) if 0 < alpha <= 1 else select(x > 0, x, less)).astype(x.dtype, copy=False)


@fast.by_blocks
def _leaky_gate(g: Array, x: Array, *, alpha: float) -> Array:
    return select(x > 0, g, g * g.dtype.type(alpha)).astype(g.dtype, copy=False)


declare("leaky_relu", _leaky,
        [lambda g, z, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha)], op="LeakyRelu", keep="x",
        example=lambda rng: ((rng.normal(size=5),), {"alpha": 0.2}))  # fmt: skip
declare(
    "leaky_gate",
    _leaky_gate,
    [lambda g, z, y, x, *, alpha: TABLE["leaky_gate"](g, x, alpha=alpha), lambda g, z, y, x, *, alpha: 0 * g],
    op="LeakyReluGrad",
    label="gate",
    keep="y",
    example=lambda rng: ((rng.normal(size=5), rng.normal(size=5)), {"alpha": 0.2}),
)


def _bias_add(x: Array, b: Array, *, axis: int = -1) -> Array:
    op = "BiasAdd"
    if x.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {shown(x.shape)}", op)
    if b.ndim != 1:
        raise invalid(f"Biases must be 1D: {shown(b.shape)}", op)
    if x.shape[axis] != b.shape[0]:
        raise invalid("Must provide as many biases as the last dimension of the input tensor: "
                      f"{shown(b.shape)} vs. {shown(x.shape)}", op)  # fmt: skip
    return x + b if axis == -1 else x + b.reshape(-1, *[1] * (x.ndim - axis - 1))


def _bias_rule(g: Array, z: Array, x: Array, b: Array, *, axis: int = -1) -> Array:
    rank = len(x.shape)
    return TABLE["reduce_sum"](g, axis=tuple(i for i in range(rank) if i != axis % rank), keepdims=False)


declare("bias_add", _bias_add, [lambda g, z, x, b, *, axis=-1: g, _bias_rule], op="BiasAdd", label="+", keep="",
        example=lambda rng: ((rng.normal(size=(2, 3)), rng.normal(size=3)), {}))  # fmt: skip
