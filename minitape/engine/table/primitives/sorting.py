"""Primitives that order and count elements: the largest along the last axis, histograms, permutations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid
from . import TABLE, declare, scatter  # noqa: F401 - its primitives are in the rules

if TYPE_CHECKING:
    from ...types import Array
    from ...values.dtypes import DType


def _order(x: Array) -> Array:
    """Positions from the largest element to the smallest, equal ones as they come; NaN is last."""
    return np.argsort(~x if x.dtype.kind in "iu" else -x.astype(np.float64), axis=-1, kind="stable")


FEW = 4  # so many times more elements than are wanted: to part them is faster than to sort them


def _first(x: Array, k: int) -> Array:
    """The first k of ``_order``: of few among many, those that are no less than the least of them are sorted alone."""
    size = x.shape[-1]
    if not 0 < FEW * k <= size or x.dtype.kind not in "fiu" or np.isnan(x).any():
        return _order(x)[..., :k]
    least = np.partition(x, size - k, axis=-1)[..., size - k, None]
    among = x >= least
    if np.count_nonzero(among) > math.prod(x.shape[:-1]) * k:  # of those that equal it, the first ones
        equal = x == least
        room = k - np.count_nonzero(x > least, axis=-1, keepdims=True)
        among &= ~equal | (np.cumsum(equal, axis=-1) <= room)
    positions = np.nonzero(among)[-1].reshape(*x.shape[:-1], k)
    return np.take_along_axis(positions, _order(np.take_along_axis(x, positions, -1)), -1)


def _top_k(x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    if x.ndim < 1:
        raise invalid("input must be >= 1-D, got shape []", "TopKV2")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}", "TopKV2")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}", "TopKV2")
    positions = _first(x, k)
    if not sorted and k < x.shape[-1]:
        positions = np.sort(positions, axis=-1)
    wide = np.int32 if index_type is None else index_type.as_numpy_dtype
    return np.take_along_axis(x, positions, -1), positions.astype(wide)


def _top_k_rule(g: Array, z: Array, x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    rows = len(x.shape) - 1
    return TABLE["scatter_axis"](g[0], z[1], axis=rows, batch_dims=rows, shape=tuple(x.shape))


declare("top_k", _top_k, [_top_k_rule], op="TopKV2", label="top k", keep="z")


# -- counting and searching: TensorFlow has no gradient for these ----------------------------------
