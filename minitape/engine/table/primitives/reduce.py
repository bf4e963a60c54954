"""Primitives that reduce axes, and their opposite, broadcasting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ...values.dtypes import dtype_of_any
from ...values.invalid import invalid
from ..accelerator import full
from . import TABLE, declare
from .numerics import lowest

if TYPE_CHECKING:
    from ...types import Adjoint, Array, Function, Sizes
    from ...values.dtypes import DType

Axes = tuple[int, ...] | None


# -- axes ------------------------------------------------------------------------------------------


def _axis_set(x: Array, axis: Axes) -> set[int]:
    rank = len(x.shape)
    return set(range(rank)) if axis is None else {a % rank for a in axis}


def _expand(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    """An adjoint of a reduction, with the reduced axes put back as axes of size 1; what lacks the first axis, or all of
    them, broadcasts as it is.
    """
    if keepdims or axis is None or axis == (0,) or not len(x.shape):
        return g
    axes = _axis_set(x, axis)
    return TABLE["reshape"](g, shape=tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def _spread(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    g, shape = _expand(g, x, axis, keepdims), tuple(x.shape)
    return (
        _broadcast_to(g, shape=shape) if isinstance(g, (ndarray, np.generic)) else TABLE["broadcast_to"](g, shape=shape)
    )


def _count(x: Array, axis: Axes) -> int:
    """How many elements are reduced to one."""
    return math.prod(x.shape if axis is None else [x.shape[a] for a in axis])


def _reducer(op: str, function: Function) -> Function:
    """A forward function of a reduction, half precision in float32; InvalidArgumentError for an axis that is not there
    or given twice.
    """

    def forward(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
        dtype = x.dtype
        try:
            if dtype.itemsize != 2 or dtype.kind in "iu":
                return function(x, axis, keepdims)
            return function(x.astype(np.float32), axis, keepdims).astype(dtype)
        except ValueError as error:
            raise invalid(f"Invalid reduction arguments: {error} (input with {x.ndim} dimensions)", op) from None

    return forward


# -- forward ---------------------------------------------------------------------------------------


_add: Function = np.add.reduce  # of an array, axes, the dtype, nothing and whether the axes are kept


def _mean(x: Array, axis: Axes, keepdims: bool) -> Array:
    dtype = x.dtype
    if dtype.kind not in "iu":
        return _add(x, axis, dtype, None, keepdims) / (x.size if axis is None else _count(x, axis))
    total, count = _add(x, axis, np.int64, None, keepdims), max(_count(x, axis), 1)
    # integers are divided as C divides them, towards 0
    return (np.sign(total) * (np.abs(total) // count)).astype(dtype)


def _extreme(ufunc: np.ufunc, sign: int) -> Function:
    reduce: Function = ufunc.reduce

    def function(x: Array, axis: Axes, keepdims: bool) -> Array:
        if x.size:
            return reduce(x, axis, None, None, keepdims)
        return reduce(x, axis, None, None, keepdims, lowest(x.dtype, sign))

    return function


# -- rules -----------------------------------------------------------------------------------------


def _sum_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _spread(g, x, axis, keepdims)


def _mean_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _spread(g / float(max(_count(x, axis), 1)), x, axis, keepdims)


def _extreme_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Ties share the adjoint evenly, as in TensorFlow's ``_MinOrMaxGrad``."""
    like = _expand(z, x, axis, keepdims)
    chosen = TABLE["cast"](TABLE["equal"](x, like), dtype=dtype_of_any(g))
    shares = TABLE["reduce_sum"](chosen, axis=axis, keepdims=True)
    return chosen / shares * _expand(g, x, axis, keepdims)


for _name, _kernel, _label, _forward, _rule, _keep in (
    ("reduce_sum", "Sum", "Σ", lambda x, axis, keepdims: _add(x, axis, x.dtype, None, keepdims), _sum_rule, ""),
    ("reduce_mean", "Mean", "mean", _mean, _mean_rule, ""),
    ("reduce_max", "Max", "max", _extreme(np.maximum, -1), _extreme_rule, "xz"),
    ("reduce_min", "Min", "min", _extreme(np.minimum, 1), _extreme_rule, "xz"),
    ("reduce_all", "All", "all", lambda x, axis, keepdims: np.all(x, axis, None, keepdims), None, ""),
    ("reduce_any", "Any", "any", lambda x, axis, keepdims: np.any(x, axis, None, keepdims), None, ""),
):
    declare(_name, _reducer(_kernel, _forward), _rule and [_rule], op=_kernel, label=_label, keep=_keep,
            missing="none" if _rule else "unregistered")  # fmt: skip


def unbroadcast(g: Adjoint, shape: Sizes) -> Adjoint:
    """Sums an adjoint over the axes along which an input of ``shape`` was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    is_array = isinstance(g, (ndarray, np.generic))  # else a tensor
    have = g.shape if is_array else g._dims
    extra = len(have) - len(shape)
    axes = tuple([at for at, n in enumerate(have) if at < extra or (n != 1 and shape[at - extra] == 1)])
    if axes:
        g = np.add.reduce(g, axes, g.dtype) if is_array else TABLE["reduce_sum"](g, axis=axes, keepdims=False)
    if (g.shape if is_array else g._dims) != shape:
        g = TABLE["reshape" if math.prod(g.shape) == math.prod(shape) else "broadcast_to"](g, shape=shape)
    return g


COPIED = 4096  # elements of a result up to which values are written out rather than broadcast


def _broadcast_to(x: Array, *, shape: Sizes) -> Array:
    """A view with strides of 0; a copy where that is faster than making the view."""
    if type(shape) is tuple and math.prod(shape) <= COPIED and x.ndim <= len(shape):
        if type(x) is not ndarray:
            return full(shape, x.dtype, x)
        out = np.empty(shape, x.dtype)
        out[...] = x
        return out
    return np.broadcast_to(x, shape)


declare(
    "broadcast_to",
    _broadcast_to,
    [lambda g, z, x, *, shape: unbroadcast(g, tuple(x.shape))],
    op="BroadcastTo",
    keep="",
)


# -- along one axis --------------------------------------------------------------------------------


def _position(op: str, best: Function, sign: int) -> Function:
    def forward(x: Array, *, axis: int, dtype: DType) -> Array:
        if not -x.ndim <= axis < x.ndim or x.shape[axis] == 0:
            raise invalid(
                f"Expected a dimension in [{-x.ndim}, {x.ndim}) that is not empty, got {axis} of {x.shape}", op
            )
        if x.dtype.kind == "f" and np.isnan(x).any():  # NaN is never the extreme
            x = np.where(np.isnan(x), lowest(x.dtype, sign), x)
        return best(x, axis).astype(dtype.as_numpy_dtype)

    return forward


declare("argmax", _position("ArgMax", np.argmax, -1), None, op="ArgMax", keep="")
declare("argmin", _position("ArgMin", np.argmin, 1), None, op="ArgMin", keep="")
