"""Primitives that order elements along the last axis, and the pair of them that moves elements by their positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..invalid import invalid
from . import TABLE, declare

if TYPE_CHECKING:

    from ..dtypes import DType
    from ..typed import Array, NumPyType


def _order(x: Array) -> Array:
    """Positions from the largest element to the smallest, equal ones as they come; NaN is last."""
    if x.dtype.kind == "u":
        return np.argsort(np.iinfo(x.dtype).max - x, axis=-1, kind="stable")
    if x.dtype.kind == "i":
        return np.argsort(-1 - x, axis=-1, kind="stable")
    return np.argsort(-x.astype(np.float64), axis=-1, kind="stable")


def _first(x: Array, k: int, ordered: bool) -> Array:
    """The first k of ``_order``: of few among many, those that are no less than the least of them are sorted alone."""
    found = _largest(x, k)
    return found if ordered or k == x.shape[-1] else np.sort(found, axis=-1)


def _largest(x: Array, k: int) -> Array:
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


FEW = 4  # so many times more elements than are wanted: to part them is faster than to sort them


def _top_k(x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    if x.ndim < 1:
        raise invalid("input must be >= 1-D, got shape []", "TopKV2")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}", "TopKV2")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}", "TopKV2")
    positions = _first(x, k, sorted)
    wide = np.int32 if index_type is None else index_type.as_numpy_dtype
    return np.take_along_axis(x, positions, -1), positions.astype(wide)


def _put_along(g: Array, positions: Array, *, size: int) -> Array:
    """Adds each element of g at its position along a last axis of ``size``."""
    out = np.zeros((*g.shape[:-1], size), g.dtype)
    rows, k = math.prod(g.shape[:-1]), g.shape[-1]
    flat, places = out.reshape(rows, size), positions.reshape(rows, k)
    np.add.at(flat, (np.arange(flat.shape[0])[:, None], places), g.reshape(places.shape))
    return out


declare(
    "take_along",
    lambda x, i: np.take_along_axis(x, i, -1),
    [lambda g, z, x, i: TABLE["put_along"](g, i, size=x.shape[-1]), None],
    op="GatherAlongLast",
    label="gather",
    keep="y",
    example=lambda rng: ((rng.normal(size=(2, 3)), np.array([[2, 0], [1, 1]])), {}),
)
declare("put_along", _put_along, [lambda g, z, x, i, *, size: TABLE["take_along"](g, i), None],
        op="ScatterAlongLast", label="scatter", keep="y",
        example=lambda rng: ((rng.normal(size=(2, 2)), np.array([[2, 0], [1, 1]])), {"size": 3}))  # fmt: skip
declare("top_k", _top_k,
        [lambda g, z, x, *, k, sorted=True, index_type=None: TABLE["put_along"](g[0], z[1], size=x.shape[-1])],
        op="TopKV2", label="top k", keep="z",
        example=lambda rng: ((rng.permutation(6.0 * np.arange(6)).reshape(2, 3),), {"k": 2}))  # fmt: skip


# -- counting: TensorFlow registers no gradient for these -------------------------------------------------------------


def _bincount(x: Array, size: Array, weights: Array, *, rows: bool, binary: bool) -> Array:
    wide = weights.dtype.type
    size = int(size)
    table = x if rows else x.reshape(1, -1)
    out = np.zeros((len(table), size), wide)
    row, kept = np.broadcast_to(np.arange(len(table))[:, None], table.shape), table < size
    at = (row[kept], table[kept])
    if binary:
        out[at] = 1
    else:
        np.add.at(out, at, wide(1) if not weights.size else weights.reshape(table.shape)[kept])
    return out if rows else out[0]


def _invert(x: Array) -> Array:
    from ..invalid import invalid

    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.", "InvertPermutation")
    out = np.full(x.shape, -1, x.dtype)
    for i, place in enumerate(x.tolist()):
        if not 0 <= place < x.size:
            raise invalid(f"{place} is not between 0 and {x.size}", "InvertPermutation")
        if out[place] != -1:
            raise invalid(f"{place} is duplicated in the input.", "InvertPermutation")
        out[place] = i
    return out


declare("bincount", _bincount, None, op="DenseBincount", missing="unregistered", keep="")
declare(
    "histogram",
    lambda x, *, place, size, dtype: np.bincount(place.reshape(-1), minlength=size).astype(dtype.as_numpy_dtype),
    None,
    op="HistogramFixedWidth",
    missing="unregistered",
    keep="",
)
declare("invert_permutation", _invert, None, op="InvertPermutation", keep="")


def _searchsorted(rows: Array, wanted: Array, *, side: Literal["left", "right"], dtype: NumPyType) -> Array:
    table, keys = (x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) for x in (rows, wanted))
    if len(table) != len(keys):
        from ..invalid import invalid

        raise invalid("Leading dim_size of both tensors must match.", "LowerBound" if side == "left" else "UpperBound")
    found = np.zeros(keys.shape, np.int64)
    for i, (row, key) in enumerate(zip(table, keys, strict=True)):
        found[i] = np.searchsorted(row, key, side)
    if keys.dtype.kind == "f":
        found = np.where(np.isnan(keys), 0, found)  # NaN is above nothing
    return np.reshape(found, wanted.shape).astype(dtype.as_numpy_dtype)


declare("searchsorted", _searchsorted, None, op="LowerBound", keep="")
