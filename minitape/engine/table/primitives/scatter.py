"""Primitives that pick elements by index and put them back: gather, gather_nd, scatter, where."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import check_inside, invalid
from . import TABLE, declare

if TYPE_CHECKING:
    from ...types import Array, Index, Sizes
    from ...values.dtypes import DType


# -- along one axis --------------------------------------------------------------------------------


def _gather(x: Array, indices: Array, *, axis: int = 0) -> Array:
    if not x.shape[axis] and indices.size:
        raise invalid(f"The axis {axis} of the shape {x.shape} is empty: it has no index.", "GatherV2")
    return np.take(x, indices, axis=axis)


def _scatter_axis(g: Array, indices: Array, *, axis: int, shape: Sizes) -> Array:
    """The adjoint of a gather along ``axis``: adds each slice where it came from."""
    out, rank = np.zeros(shape, g.dtype), indices.ndim
    np.add.at(np.moveaxis(out, axis, 0), indices, np.moveaxis(g, range(axis, axis + rank), range(rank)))
    return out


def _gather_rule(g: Array, z: Array, x: Array, indices: Array, *, axis: int = 0) -> Array:
    if axis:
        return TABLE["scatter_axis"](g, indices, axis=axis, shape=tuple(x.shape))
    count = math.prod(indices.shape)
    rows = TABLE["reshape"](g, shape=(count, *tuple(x.shape)[1:]))
    return TABLE["scatter_slices"](rows, TABLE["reshape"](indices, shape=(count,)), shape=tuple(x.shape))


def _scatter_slices(values: Array, indices: Array, *, shape: Sizes) -> Array:
    """The sum of slices put at their places along the first axis; places outside are left out."""
    inside = (indices >= 0) & (indices < shape[0])
    if not inside.all():
        values, indices = values[inside], indices[inside]
    return _scatter_axis(values, indices, axis=0, shape=shape)


declare("gather", _gather, [_gather_rule, None], op="GatherV2", keep="y")
declare(
    "scatter_axis",
    _scatter_axis,
    [lambda g, z, x, i, *, axis, shape: TABLE["gather"](g, i, axis=axis), None],
    op="GatherGrad",
    keep="y",
)
declare(
    "scatter_slices",
    _scatter_slices,
    [lambda g, z, v, i, *, shape: TABLE["gather"](g, i, axis=0), None],
    op="UnsortedSegmentSum",
    keep="y",
)


# -- at places: rows of indices --------------------------------------------------------------------


def places(indices: Array) -> tuple[Array, ...]:
    """The NumPy index that the last axis of ``indices`` (..., depth) stands for."""
    return tuple(np.moveaxis(np.asarray(indices), -1, 0))


def _gather_nd(x: Array, indices: Array) -> Array:
    if not indices.shape[-1]:
        return np.broadcast_to(x, (*indices.shape[:-1], *x.shape))
    return x[places(indices)]


def _gather_nd_rule(g: Array, z: Array, x: Array, indices: Array) -> Array:
    if len(indices.shape) == 2 and indices.shape[-1] == 1:  # whole rows
        return TABLE["scatter_slices"](g, TABLE["reshape"](indices, shape=(indices.shape[0],)), shape=tuple(x.shape))
    return TABLE["scatter_nd"](indices, g, shape=tuple(x.shape))


def _targets(indices: Array, sizes: Sizes) -> tuple[Array, ...]:
    """The NumPy index of places to write to; NumPy would count negative ones from behind."""
    check_inside(indices, sizes)
    return places(indices)


def _scatter_nd(indices: Array, updates: Array, *, shape: Sizes) -> Array:
    """Adds elements (or slices) into zeros at their places: the adjoint of gather_nd."""
    if not indices.shape[-1]:
        return np.sum(updates, tuple(range(indices.ndim - 1)), updates.dtype)
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, _targets(indices, shape), updates)
    return out


def _scatter_update(t: Array, indices: Array, updates: Array) -> Array:
    out = np.array(t)
    out[_targets(indices, out.shape)] = updates
    return out


def _pick(g: Array, indices: Array) -> Array:
    return TABLE["gather_nd"](g, indices)


def _without(g: Array, indices: Array) -> Array:
    """The adjoint with zeros at the listed places."""
    return TABLE["tensor_scatter_update"](g, indices, TABLE["zeros_like"](_pick(g, indices)))


declare("gather_nd", _gather_nd, [_gather_nd_rule, None], op="GatherNd", keep="y")
declare("scatter_nd", _scatter_nd,
        [None, lambda g, z, i, u, *, shape: TABLE["gather_nd"](g, i)],
        op="ScatterNd", keep="x")  # fmt: skip
declare("tensor_scatter_update", _scatter_update,
        [lambda g, z, t, i, u: _without(g, i), None, lambda g, z, t, i, u: _pick(g, i)],
        op="TensorScatterUpdate", keep="y")  # fmt: skip


# -- slices of variables ---------------------------------------------------------------------------


def _slice_update(x: Array, value: Array, *, spec: Index) -> Array:
    """A copy of ``x`` with another value in one slice, into which the value is broadcast."""
    new = np.array(x)
    try:
        new[spec] = value
    except ValueError as error:
        raise invalid(f"Cannot broadcast the value into the slice: {error}", "ResourceStridedSliceAssign") from None
    return new


declare("slice_update", _slice_update, [None, None], op="ResourceStridedSliceAssign", label="[…]=", keep="")


# -- what is found among elements ------------------------------------------------------------------


def _unique(x: Array, *, out_idx: DType) -> tuple[Array, Array]:
    """The different elements in the order of first appearance, and each element's number among them."""
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first)
    return x[first[order]], np.argsort(order)[inverse].astype(out_idx.as_numpy_dtype)


declare(
    "where",
    lambda x: np.argwhere(x != b"" if x.dtype == object else x).reshape(-1, x.ndim),
    None,
    op="Where",
    missing="unregistered",
    keep="",
)
declare("unique", _unique, None, missing="unregistered", keep="")
