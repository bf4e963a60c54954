"""Declare primitives that select elements by index, such as gather, and their adjoints."""

from math import prod

import numpy as np

from ...types import Array, Index, Sizes
from ...values.argument_errors import build_argument_error, check_indices
from ...values.dtypes import DType
from . import TABLE, declare

# -- along one axis --------------------------------------------------------------------------------


def _compute_scatter_axis(g: Array, indices: Array, *, axis: int, shape: Sizes) -> Array:
    """Compute the adjoint of a gather along an axis, by adding each slice at the index it came from."""
    scattered = np.zeros(shape, g.dtype)
    rank = indices.ndim
    np.add.at(np.moveaxis(scattered, axis, 0), indices, np.moveaxis(g, range(axis, axis + rank), range(rank)))
    return scattered


def _apply_gather_rule(g: Array, z: Array, x: Array, indices: Array, *, axis: int = 0) -> Array:
    if axis:
        return TABLE["scatter_axis"](g, indices, axis=axis, shape=tuple(x.shape))
    count = prod(indices.shape)
    rows = TABLE["reshape"](g, shape=(count, *tuple(x.shape)[1:]))
    return TABLE["scatter_slices"](rows, TABLE["reshape"](indices, shape=(count,)), shape=tuple(x.shape))


def _compute_scatter_slices(values: Array, indices: Array, *, shape: Sizes) -> Array:
    """Add slices to an array of zeros, at their indices along the first axis.

    Slices with an index out of range are ignored.
    """
    is_inside = (indices >= 0) & (indices < shape[0])
    if not is_inside.all():
        values = values[is_inside]
        indices = indices[is_inside]
    return _compute_scatter_axis(values, indices, axis=0, shape=shape)


declare("gather", np.take, [_apply_gather_rule, None], op="GatherV2", keep="y")
declare(
    "scatter_axis",
    _compute_scatter_axis,
    [lambda g, z, x, i, *, axis, shape: TABLE["gather"](g, i, axis=axis), None],
    op="GatherGrad",
    keep="y",
)
declare(
    "scatter_slices",
    _compute_scatter_slices,
    [lambda g, z, v, i, *, shape: TABLE["gather"](g, i, axis=0), None],
    op="UnsortedSegmentSum",
    keep="y",
)


# -- by rows of indices ----------------------------------------------------------------------------


def to_numpy_index(indices: Array) -> tuple[Array, ...]:
    """Convert rows of indices to a NumPy index.

    Args:
        indices: Integers of shape (..., depth). Each row along the last axis is the index of an element or slice.

    Returns:
        A tuple of `depth` arrays of shape (...).
    """
    return tuple(np.moveaxis(np.asarray(indices), -1, 0))


def _compute_gather_nd(x: Array, indices: Array) -> Array:
    if not indices.shape[-1]:
        return np.broadcast_to(x, (*indices.shape[:-1], *x.shape))
    return x[to_numpy_index(indices)]


def _apply_gather_nd_rule(g: Array, z: Array, x: Array, indices: Array) -> Array:
    if (
        len(indices.shape) == 2 and indices.shape[-1] == 1
    ):  # These indices select whole rows, which can be scattered faster.
        return TABLE["scatter_slices"](g, TABLE["reshape"](indices, shape=(indices.shape[0],)), shape=tuple(x.shape))
    return TABLE["scatter_nd"](indices, g, shape=tuple(x.shape))


def _to_checked_index(indices: Array, sizes: Sizes) -> tuple[Array, ...]:
    """Convert rows of indices to a NumPy index for writing. Unlike in NumPy, negative indices raise an error."""
    check_indices(indices, sizes)
    return to_numpy_index(indices)


def _compute_scatter_nd(indices: Array, updates: Array, *, shape: Sizes) -> Array:
    """Compute the adjoint of gather_nd, by adding elements or slices to an array of zeros at their indices."""
    if not indices.shape[-1]:
        return np.sum(updates, tuple(range(indices.ndim - 1)), updates.dtype)
    scattered = np.zeros(shape, updates.dtype)
    np.add.at(scattered, _to_checked_index(indices, shape), updates)
    return scattered


def _compute_scatter_update(tensor: Array, indices: Array, updates: Array) -> Array:
    updated = np.array(tensor)
    updated[_to_checked_index(indices, updated.shape)] = updates
    return updated


def _clear_at_indices(g: Array, indices: Array) -> Array:
    """Return the adjoint with zeros at these indices."""
    return TABLE["tensor_scatter_update"](g, indices, TABLE["zeros_like"](TABLE["gather_nd"](g, indices)))


declare("gather_nd", _compute_gather_nd, [_apply_gather_nd_rule, None], keep="y")
declare("scatter_nd", _compute_scatter_nd,
        [None, lambda g, z, i, u, *, shape: TABLE["gather_nd"](g, i)],
        keep="x")  # fmt: skip
declare("tensor_scatter_update", _compute_scatter_update,
        [lambda g, z, t, i, u: _clear_at_indices(g, i), None, lambda g, z, t, i, u: TABLE["gather_nd"](g, i)],
        keep="y")  # fmt: skip


# -- slices of variables ---------------------------------------------------------------------------


def _compute_slice_update(x: Array, value: Array, *, spec: Index) -> Array:
    """Return a copy of an array with new values in one slice. The values broadcast to the slice."""
    updated = np.array(x)
    try:
        updated[spec] = value
    except ValueError as error:
        raise build_argument_error(
            f"Cannot broadcast the value into the slice: {error}", "ResourceStridedSliceAssign"
        ) from None
    return updated


declare("slice_update", _compute_slice_update, [None, None], op="ResourceStridedSliceAssign", label="[…]=", keep="")


# -- searches among elements -----------------------------------------------------------------------


def _compute_unique(x: Array, *, out_idx: DType) -> tuple[Array, Array]:
    """Return the distinct elements in the order of first appearance, and each element's position among them."""
    _, first_positions, inverse = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first_positions)
    return x[first_positions[order]], np.argsort(order)[inverse].astype(out_idx.as_numpy_dtype)


declare(
    "where",
    lambda x: np.argwhere(x != b"" if x.dtype == object else x).reshape(-1, x.ndim),
    None,
    missing="unregistered",
    keep="",
)
declare("unique", _compute_unique, None, missing="unregistered", keep="")
