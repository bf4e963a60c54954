"""Primitives that move elements around: reshape, transpose, slices, concat, stack, pad, tile, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from . import TABLE, declare

if TYPE_CHECKING:
    from ...types import Array, Index, Sizes

    Paddings = Sequence[tuple[int, int]]


def constant_for(g: Array, array: ndarray) -> Array:
    """A constant of a rule: an array as the adjoint is, or a tensor where the sweep works on tensors."""
    from ...tensor.tensor import Tensor, new_tensor

    return new_tensor(array) if isinstance(g, Tensor) else array


def _axis_slices(g: Array, inputs: tuple[Array, ...], axis: int) -> list[Array]:
    """The parts of an adjoint of concat, one for each input."""
    parts, start, before = [], 0, (slice(None),) * (axis % len(g.shape))
    for x in inputs:
        parts.append(TABLE["slice"](g, spec=(*before, slice(start, start := start + x.shape[axis]))))
    return parts


def _unslice(g: Array, *, shape: Sizes, spec: Index) -> Array:
    out = np.zeros(shape, g.dtype)
    out[spec] = g
    return out


def _slice_rule(g: Array, z: Array, x: Array, *, spec: Index) -> Array:
    unslice = _unslice if type(g) is ndarray else TABLE["unslice"]
    return unslice(g, shape=tuple(x.shape), spec=spec)


@cache
def inverse(perm: Sizes) -> Sizes:
    """The permutation of axes that undoes this one."""
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _transpose_rule(g: Array, z: Array, x: Array, *, perm: Sizes) -> Array:
    back = inverse(tuple(perm))
    return g.transpose(back) if type(g) is ndarray else TABLE["transpose"](g, perm=back)


def _tile_rule(g: Array, z: Array, x: Array, *, multiples: Sizes) -> Array:
    """Sums the copies: axes (copies, size) in turn, the copies reduced."""
    pairs = tuple(n for pair in zip(multiples, x.shape, strict=True) for n in pair)
    return TABLE["reduce_sum"](TABLE["reshape"](g, shape=pairs), axis=tuple(range(0, len(pairs), 2)), keepdims=False)


def _repeat_rule(g: Array, z: Array, x: Array, *, repeats: Array, axis: int) -> Array:
    shape = tuple(x.shape)
    origins = np.repeat(np.arange(shape[axis]), repeats)
    return TABLE["scatter_axis"](g, constant_for(g, origins), axis=axis % len(shape), shape=shape)


def _pad(x: Array, *, paddings: Paddings, fill: Array = 0) -> Array:
    shape = [n + a + b for n, (a, b) in zip(x.shape, paddings, strict=True)]
    out = np.full(shape, fill or b"" if x.dtype == object else fill, x.dtype)
    out[_inner(x.shape, paddings)] = x
    return out


def _inner(shape: Sizes, paddings: Paddings) -> tuple[slice, ...]:
    return tuple(slice(a, a + n) for n, (a, _) in zip(shape, paddings, strict=True))


def _pad_rule(g: Array, z: Array, x: Array, *, paddings: Paddings, fill: Array = 0) -> Array:
    return TABLE["slice"](g, spec=_inner(x.shape, paddings))


def _list(g: Array) -> Sequence[Array]:
    """The adjoints of the outputs as a list; a single output's adjoint comes without one."""
    return g if isinstance(g, (tuple, list)) else (g,)


def _outputs(arrays: Sequence[Array]) -> Array:
    """Several outputs as a tuple; a single one comes without one."""
    return tuple(arrays) if len(arrays) > 1 else arrays[0]


declare("reshape", lambda x, *, shape: x.reshape(shape),
        [lambda g, z, x, *, shape: TABLE["reshape"](g, shape=tuple(x.shape))], op="Reshape", keep="")  # fmt: skip
declare("transpose", lambda x, *, perm: x.transpose(perm), [_transpose_rule], op="Transpose", label="T", keep="")
declare("slice", lambda x, *, spec: x[spec], [_slice_rule], op="StridedSlice", label="[…]", keep="")
declare("unslice", _unslice, [lambda g, z, x, *, shape, spec: TABLE["slice"](g, spec=spec)],
        op="StridedSliceGrad", label="[…]ᵀ", keep="")  # fmt: skip
declare("concat", lambda *xs, axis: np.concatenate(xs, axis),
        lambda g, z, *xs, axis: _axis_slices(g, xs, axis), op="ConcatV2", keep="")  # fmt: skip
declare("stack", lambda *xs, axis: np.stack(xs, axis),
        lambda g, z, *xs, axis: _list(TABLE["unstack"](g, axis=axis)), op="Pack", keep="")  # fmt: skip
declare("unstack", lambda x, *, axis: _outputs(np.moveaxis(x, axis, 0)),
        lambda g, z, x, *, axis: (TABLE["stack"](*_list(g), axis=axis),), op="Unpack", keep="")  # fmt: skip
declare("split", lambda x, *, sizes, axis: _outputs(np.split(x, np.cumsum(sizes)[:-1], axis)),
        lambda g, z, x, *, sizes, axis: (TABLE["concat"](*_list(g), axis=axis),), op="Split", keep="")  # fmt: skip
declare("tile", lambda x, *, multiples: np.tile(x, multiples), [_tile_rule], op="Tile", keep="")
declare("repeat", lambda x, *, repeats, axis: np.repeat(x, repeats, axis), [_repeat_rule], op="Repeat", keep="")
declare("pad", _pad, [_pad_rule], op="PadV2", keep="")
declare("conj", np.conj, [lambda g, z, x: TABLE["conj"](g)], op="Conj", keep="")


def conjugate(x: Array) -> Array:
    """The complex conjugate; real arrays and tensors as they are."""
    return TABLE["conj"](x) if x.dtype.kind == "c" else x


def _one_hot(x: Array, *, depth: int, on: Array, off: Array, axis: int) -> Array:
    places = np.expand_dims(x, axis)
    rank, at = np.ndim(x) + 1, axis % (np.ndim(x) + 1)
    numbers = np.arange(depth).reshape([-1 if i == at else 1 for i in range(rank)])
    return np.where(places == numbers, on, off)


declare("one_hot", _one_hot, [None], op="OneHot", keep="")


declare("shape", lambda x, *, dtype: np.array(np.shape(x), dtype.as_numpy_dtype), [None], op="Shape", keep="")
declare("size", lambda x, *, dtype: dtype.as_numpy_dtype(np.size(x)), [None], op="Size", keep="")
declare("rank", lambda x: np.int32(np.ndim(x)), [None], op="Rank", keep="")
