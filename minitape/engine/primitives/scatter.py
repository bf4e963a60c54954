"""Primitives that pick elements by index and put them back: gather, gather_nd, scatter, where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import TABLE, declare

if TYPE_CHECKING:
    from ..dtypes import DType
    from ..typed import Array, Function, Index, Object, Sizes
    from . import Example


def _count(shape: Sizes) -> int:
    return int(np.prod(tuple(shape), dtype=np.int64))


def _moved(x: Array, source: range, target: range) -> Array:
    return np.moveaxis(x, tuple(source), tuple(target))


def _gather(x: Array, indices: Array, *, axis: int = 0, batch_dims: int = 0) -> Array:
    if not batch_dims:
        return np.take(x, indices, axis=axis)
    return _gather_batches(x, indices, axis, batch_dims)


def _gather_batches(x: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    """Gathers along ``axis`` separately for each element of the first axes that both have."""
    batch = x.shape[:batch_dims]
    flat = np.reshape(indices, (_count(batch), *indices.shape[batch_dims:]))
    rows = np.reshape(x, (_count(batch), *x.shape[batch_dims:]))
    parts = [np.take(r, i, axis=axis - batch_dims) for r, i in zip(rows, flat, strict=True)]
    tail = (*x.shape[batch_dims:axis], *indices.shape[batch_dims:], *x.shape[axis + 1 :])
    return (np.stack(parts) if parts else np.zeros(0, x.dtype)).reshape((*batch, *tail))


def _gather_rule(g: Array, z: Array, x: Array, indices: Array, *, axis: int = 0, batch_dims: int = 0) -> Array:
    from ..slices import IndexedSlices
    from ..tensor import Tensor, wrap

    if axis == 0 and not batch_dims:
        sizes = np.array(x.shape, np.int32)
        count = _count(indices.shape)
        values = TABLE["reshape"](g, shape=(count, *tuple(x.shape)[1:]))
        flat = TABLE["reshape"](indices, shape=(count,))
        return IndexedSlices(values, flat, wrap(sizes) if isinstance(g, Tensor) else sizes)
    return TABLE["scatter_axis"](g, indices, axis=axis, batch_dims=batch_dims, shape=tuple(x.shape))


def _scatter_axis(g: Array, indices: Array, *, axis: int, shape: tuple[int, ...], batch_dims: int = 0) -> Array:
    """The adjoint of a gather along ``axis``: adds each slice where it came from."""
    indices = np.asarray(indices)
    if batch_dims:
        batch = shape[:batch_dims]
        rows = np.reshape(g, (_count(batch), *g.shape[batch_dims:]))
        flat = np.reshape(indices, (_count(batch), *indices.shape[batch_dims:]))
        parts = [
            _scatter_axis(r, i, axis=axis - batch_dims, shape=shape[batch_dims:])
            for r, i in zip(rows, flat, strict=True)
        ]
        return np.reshape(np.stack(parts) if parts else np.zeros(0, g.dtype), shape)
    k = indices.ndim
    out = np.zeros((shape[axis], *shape[:axis], *shape[axis + 1 :]), g.dtype)
    np.add.at(out, indices, _moved(g, range(axis, axis + k), range(k)))
    return np.moveaxis(out, 0, axis)


def _scatter_slices(values: Array, indices: Array, *, shape: tuple[int, ...]) -> Array:
    """The sum of slices put at their places along the first axis; places outside are left out."""
    inside = (indices >= 0) & (indices < shape[0]) if shape else np.ones(0, bool)
    if not np.all(inside):
        values, indices = values[inside], indices[inside]
    return _scatter_axis(values, indices, axis=0, shape=shape)


def places(indices: Array) -> tuple[Array, ...]:
    """The NumPy index that the last axis of ``indices`` (..., depth) stands for."""
    return tuple(np.moveaxis(np.asarray(indices), -1, 0))


def _gather_nd(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    if not batch_dims:
        return x[places(indices)] if indices.shape[-1] else np.broadcast_to(x, (*indices.shape[:-1], *x.shape))
    return x[_batched(x.shape, indices, batch_dims)]


def _batched(shape: Sizes, indices: Array, batch_dims: int) -> tuple[Array, ...]:
    """The index for gathering within the first ``batch_dims`` axes."""
    outer = indices.ndim - 1
    grid = [np.arange(n).reshape((1,) * i + (-1,) + (1,) * (outer - i - 1)) for i, n in enumerate(shape[:batch_dims])]
    return (*grid, *places(indices))


def _gather_nd_rule(g: Array, z: Array, x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    from ..slices import IndexedSlices
    from ..tensor import Tensor, wrap

    if len(x.shape) and not batch_dims and len(indices.shape) == 2 and indices.shape[-1] == 1:
        sizes = np.array(x.shape, np.int32)  # whole rows: TensorFlow keeps them as IndexedSlices
        flat = TABLE["reshape"](indices, shape=(indices.shape[0],))
        return IndexedSlices(g, flat, wrap(sizes) if isinstance(g, Tensor) else sizes)
    return TABLE["scatter_places"](g, indices, shape=tuple(x.shape), batch_dims=batch_dims)


def _scatter_places(g: Array, indices: Array, *, shape: tuple[int, ...], batch_dims: int = 0) -> Array:
    """Adds elements (or slices) into zeros at the places that ``indices`` lists."""
    if g.dtype == object:
        out = np.full(shape, b"", object)
        np.add.at(out, places(indices), g)  # strings are put behind each other
        return out
    out = np.zeros(shape, g.dtype)
    if not indices.shape[-1] and not batch_dims:
        return np.sum(g, axis=tuple(range(indices.ndim - 1)), dtype=g.dtype)
    np.add.at(out, _batched(shape, indices, batch_dims) if batch_dims else places(indices), g)
    return out


def _targets(indices: Array, sizes: tuple[int, ...]) -> tuple[Array, ...]:
    """The NumPy index of places to write to. A graph knows them only here; NumPy would count negative ones from behind."""
    from ..invalid import invalid, shown
    from ..places import outside

    bad = outside(indices, sizes[: indices.shape[-1]]) if np.size(indices) else None
    if bad is not None:
        raise invalid(f"indices{bad[0]} = {bad[1]} does not index into shape {shown(sizes)}")
    return places(indices)


def _scatter_update(t: Array, indices: Array, updates: Array) -> Array:
    out = np.array(t)
    out[_targets(indices, out.shape)] = updates
    return out


def _scatter_nd(indices: Array, updates: Array, *, shape: tuple[int, ...]) -> Array:
    _targets(indices, shape)
    return _scatter_places(updates, indices, shape=shape)


def _scatter_by(function: Function) -> Function:
    def forward(t: Array, indices: Array, updates: Array) -> Array:
        out = np.array(t)
        by: Object = np.floor_divide if function is np.divide and out.dtype.kind in "iu" else function
        by.at(out, _targets(indices, out.shape), updates)
        return out

    return forward


def _zeros_at(g: Array, indices: Array) -> Array:
    """The adjoint with zeros at the listed places, where another value was put."""
    return TABLE["tensor_scatter_update"](g, indices, TABLE["zeros_like"](_pick(g, indices)))


def _pick(g: Array, indices: Array) -> Array:
    return TABLE["gather_nd"](g, indices)


def _extreme_rules(g: Array, z: Array, t: Array, indices: Array, updates: Array) -> tuple[Array, Array, Array]:
    """The winner takes the adjoint; several winners at one place share it evenly, as in TensorFlow."""
    like = lambda x: TABLE["cast"](x, dtype=_dtype(g))  # noqa: E731
    kept, won = like(TABLE["equal"](t, z)), like(TABLE["equal"](updates, _pick(z, indices)))
    winners = TABLE["tensor_scatter_add"](kept, indices, won)
    share = g / winners
    return share * kept, None, _pick(share, indices) * won


def _dtype(x: Array) -> Array:
    from ..elements import dtype_of_any

    return dtype_of_any(x)


def _put(rng: np.random.Generator) -> Example:
    """Inputs of a tensor_scatter for the registry's test: two updates at different places."""
    return (rng.normal(size=4), rng.permutation(4)[:2].reshape(2, 1), rng.normal(size=2)), {}


declare("gather", _gather, [_gather_rule, None], op="GatherV2", keep="y",
        example=lambda rng: ((rng.normal(size=(3, 2)), np.array([2, 0, 2])), {"axis": 0}))  # fmt: skip
declare("scatter_axis", _scatter_axis,
        [lambda g, z, x, i, *, axis, shape, batch_dims=0: TABLE["gather"](g, i, axis=axis, batch_dims=batch_dims),
         None],
        op="GatherGrad", keep="y",
        example=lambda rng: ((rng.normal(size=(2, 2)), np.array([2, 2])), {"axis": 1, "shape": (2, 3)}))  # fmt: skip
declare("scatter_slices", _scatter_slices,
        [lambda g, z, v, i, *, shape: TABLE["gather"](g, i, axis=0), None], op="UnsortedSegmentSum", keep="y",
        example=lambda rng: ((rng.normal(size=(3, 2)), np.array([1, 1, 0])), {"shape": (4, 2)}))  # fmt: skip
declare("gather_nd", _gather_nd, [_gather_nd_rule, None], op="GatherNd", keep="y",
        example=lambda rng: ((rng.normal(size=(2, 3)), np.array([[0, 1], [1, 2], [0, 1]])), {}))  # fmt: skip
declare("scatter_places", _scatter_places,
        [lambda g, z, v, i, *, shape, batch_dims=0: TABLE["gather_nd"](g, i, batch_dims=batch_dims), None],
        op="GatherNdGrad", label="scatter", keep="y",
        example=lambda rng: ((rng.normal(size=3), np.array([[0, 1], [1, 2], [0, 1]])), {"shape": (2, 3)}))  # fmt: skip
declare("scatter_nd", _scatter_nd,
        [None, lambda g, z, i, u, *, shape: _pick(g, i)], op="ScatterNd", keep="x",
        example=lambda rng: ((np.array([[1], [1], [3]]), rng.normal(size=3)), {"shape": (4,)}))  # fmt: skip
declare("tensor_scatter_update", _scatter_update,
        [lambda g, z, t, i, u: _zeros_at(g, i), None, lambda g, z, t, i, u: _pick(g, i)],
        op="TensorScatterUpdate", keep="y", example=_put)  # fmt: skip
declare("tensor_scatter_add", _scatter_by(np.add),
        [lambda g, z, t, i, u: g, None, lambda g, z, t, i, u: _pick(g, i)], op="TensorScatterAdd", keep="y",
        example=_put)  # fmt: skip
declare("tensor_scatter_sub", _scatter_by(np.subtract),
        [lambda g, z, t, i, u: g, None, lambda g, z, t, i, u: -_pick(g, i)], op="TensorScatterSub", keep="y",
        example=_put)  # fmt: skip
declare("tensor_scatter_min", _scatter_by(np.minimum), _extreme_rules, op="TensorScatterMin", keep="all",
        example=_put)  # fmt: skip
declare("tensor_scatter_max", _scatter_by(np.maximum), _extreme_rules, op="TensorScatterMax", keep="all",
        example=_put)  # fmt: skip
# of variables only, which have no gradient
declare("tensor_scatter_mul", _scatter_by(np.multiply), None, op="ResourceScatterMul", example=_put)
declare("tensor_scatter_div", _scatter_by(np.divide), None, op="ResourceScatterDiv", example=_put)


def _slice_update(x: Array, value: Array, *, spec: Index) -> Array:
    """A copy of ``x`` with another value in one slice, into which the value is broadcast."""
    new = np.array(x)
    wanted, given = np.shape(new[spec]), np.asarray(value)
    while given.ndim > len(wanted) and given.shape[0] == 1:
        given = given[0]
    try:
        new[spec] = np.broadcast_to(given, wanted)[()]
    except ValueError:
        from ..invalid import invalid

        sizes = [",".join(map(str, s)) for s in (given.shape, wanted)]
        raise invalid(f"Cannot broadcast input shape [{sizes[0]}] into final shape [{sizes[1]}]",
                      "ResourceStridedSliceAssign") from None  # fmt: skip
    return new


declare("slice_update", _slice_update, [None, None], op="ResourceStridedSliceAssign", label="[…]=", keep="")


def _where(x: Array) -> Array:
    if x.dtype == object:
        x = x != b""
    return np.argwhere(x).astype(np.int64).reshape(-1, x.ndim)


def _first_places(x: Array, out_idx: DType) -> tuple[Array, Array, Array]:
    """The different elements in the order of first appearance, each element's number among them, and the counts."""
    if x.dtype.kind == "f":
        _, first, inverse, count = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
    else:
        _, first, inverse, count = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kind = out_idx.as_numpy_dtype
    return x[first[order]], rank[inverse].astype(kind), count[order].astype(kind)


declare("where", _where, None, op="Where", missing="unregistered", keep="")
declare("unique", lambda x, *, out_idx: _first_places(x, out_idx)[:2], None, missing="unregistered", keep="")
declare("unique_with_counts", lambda x, *, out_idx: _first_places(x, out_idx), None, missing="unregistered", keep="")
