"""Primitives that move elements around: reshape, transpose, slices, gather, concat, stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import TABLE, declare


def _axis_slices(g: Any, inputs: tuple[Any, ...], axis: int) -> list[Any]:
    """The parts of an adjoint of concat, one for each input."""
    parts, start, rank = [], 0, len(inputs[0].shape)
    for x in inputs:
        stop = start + x.shape[axis]
        spec = tuple(slice(start, stop) if i == axis % rank else slice(None) for i in range(rank))
        parts.append(TABLE["slice"](g, spec=spec))
        start = stop
    return parts


def _unslice(g: Any, *, shape: tuple[int, ...], spec: Any) -> Any:
    out = np.zeros(shape, g.dtype)
    out[spec] = g
    return out


def _gather_rule(g: Any, z: Any, x: Any, indices: Any, *, axis: int) -> Any:
    from ..slices import IndexedSlices
    from ..tensor import Tensor, wrap

    if axis == 0:
        sizes = np.array(x.shape, np.int32)
        tail = tuple(x.shape)[1:]
        count = int(np.prod(tuple(indices.shape)))
        values = TABLE["reshape"](g, shape=(count, *tail))
        flat = TABLE["reshape"](indices, shape=(count,))
        return IndexedSlices(values, flat, wrap(sizes) if isinstance(g, Tensor) else sizes)
    return TABLE["scatter_axis"](g, indices, axis=axis, shape=tuple(x.shape))


def _gather(x: Any, indices: Any, *, axis: int = 0) -> Any:
    return np.take(x, indices, axis=axis)


def _scatter_axis(g: Any, indices: Any, *, axis: int, shape: tuple[int, ...]) -> Any:
    """The adjoint of a gather along ``axis``: adds each slice where it came from."""
    k = np.ndim(indices)
    out = np.zeros((shape[axis], *shape[:axis], *shape[axis + 1 :]), g.dtype)
    moved = np.moveaxis(g, range(axis, axis + k), range(k))
    np.add.at(out, indices, moved)
    return np.moveaxis(out, 0, axis)


def _transpose_rule(g: Any, z: Any, x: Any, *, perm: tuple[int, ...]) -> Any:
    return TABLE["transpose"](g, perm=tuple(int(i) for i in np.argsort(perm)))


declare("reshape", lambda x, *, shape: np.reshape(x, shape),
        [lambda g, z, x, *, shape: TABLE["reshape"](g, shape=tuple(x.shape))], op="Reshape", keep="")  # fmt: skip
declare("transpose", lambda x, *, perm: np.transpose(x, perm), [_transpose_rule], op="Transpose", label="T", keep="")
declare("slice", lambda x, *, spec: x[spec],
        [lambda g, z, x, *, spec: TABLE["unslice"](g, shape=tuple(x.shape), spec=spec)],
        op="StridedSlice", label="[…]", keep="")  # fmt: skip
declare("unslice", _unslice, [lambda g, z, x, *, shape, spec: TABLE["slice"](g, spec=spec)],
        op="StridedSliceGrad", label="[…]ᵀ", keep="")  # fmt: skip
declare("concat", lambda *xs, axis: np.concatenate(xs, axis),
        lambda g, z, *xs, axis: _axis_slices(g, xs, axis), op="ConcatV2", keep="")  # fmt: skip
declare("stack", lambda *xs, axis: np.stack(xs, axis),
        lambda g, z, *xs, axis: TABLE["unstack"](g, axis=axis), op="Pack", keep="")  # fmt: skip
declare("unstack", lambda x, *, axis: tuple(np.moveaxis(x, axis, 0)[i] for i in range(x.shape[axis])),
        lambda g, z, x, *, axis: (TABLE["stack"](*(g if isinstance(g, (tuple, list)) else (g,)), axis=axis),),
        op="Unpack", keep="")  # fmt: skip
declare("gather", _gather, [_gather_rule, None], op="GatherV2", keep="y")
declare("scatter_axis", _scatter_axis,
        [lambda g, z, x, i, *, axis, shape: TABLE["gather"](g, i, axis=axis), None], op="GatherGrad", keep="y")  # fmt: skip
declare("scatter_slices", lambda v, i, *, shape: _scatter_axis(v, i, axis=0, shape=shape),
        [lambda g, z, v, i, *, shape: TABLE["gather"](g, i, axis=0), None], op="UnsortedSegmentSum", keep="y")  # fmt: skip
declare("conj", np.conj, [lambda g, z, x: TABLE["conj"](g)], op="Conj", keep="")
