"""Primitives that reduce axes, and their opposite, broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import TABLE, declare

Axes = tuple[int, ...] | None


def _expand(g: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    """An adjoint of a reduction, with the reduced axes put back as axes of size 1."""
    if keepdims or not len(x.shape):
        return g
    axes = range(len(x.shape)) if axis is None else {a % len(x.shape) for a in axis}
    return TABLE["reshape"](g, shape=tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def _spread(g: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    return TABLE["broadcast_to"](_expand(g, x, axis, keepdims), shape=tuple(x.shape))


def _count(x: Any, axis: Axes) -> int:
    axes = range(len(x.shape)) if axis is None else axis
    count = 1
    for a in axes:
        count *= x.shape[a]
    return count


def _same_dtype(function: Any) -> Any:
    return lambda x, *, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _mean(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    if x.dtype.kind in "iu":
        return (np.sum(x, axis=axis, keepdims=keepdims, dtype=np.int64) // max(_count(x, axis), 1)).astype(x.dtype)
    return np.mean(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _extreme_rule(g: Any, z: Any, x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Ties share the adjoint evenly, as in TensorFlow's ``_MinOrMaxGrad``."""
    like = _expand(z, x, axis, keepdims)
    chosen = TABLE["cast"](TABLE["equal"](x, like), dtype=_dtype(g))
    shares = TABLE["reduce_sum"](chosen, axis=axis, keepdims=True)
    return chosen / shares * _expand(g, x, axis, keepdims)


def _dtype(x: Any) -> Any:
    from ..dtypes import of_any

    return of_any(x)


declare("reduce_sum", _same_dtype(np.sum),
        [lambda g, z, x, *, axis=None, keepdims=False: _spread(g, x, axis, keepdims)], op="Sum", label="Σ", keep="")  # fmt: skip
declare("reduce_mean", _mean,
        [lambda g, z, x, *, axis=None, keepdims=False: _spread(g / float(max(_count(x, axis), 1)), x, axis, keepdims)],
        op="Mean", label="mean", keep="")  # fmt: skip
declare("reduce_max", lambda x, *, axis=None, keepdims=False: np.max(x, axis=axis, keepdims=keepdims),
        [_extreme_rule], op="Max", label="max", keep="xz")  # fmt: skip
declare("reduce_min", lambda x, *, axis=None, keepdims=False: np.min(x, axis=axis, keepdims=keepdims),
        [_extreme_rule], op="Min", label="min", keep="xz")  # fmt: skip
declare("broadcast_to", lambda x, *, shape: np.broadcast_to(x, shape),
        [lambda g, z, x, *, shape: _unbroadcast(g, tuple(x.shape))], op="BroadcastTo", keep="")  # fmt: skip


def _unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    from ..sweep import unbroadcast

    return unbroadcast(g, shape)
