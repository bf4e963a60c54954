"""Primitives that move elements around: reshape, transpose, slices, concat, stack, pad, tile, roll."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from ..invalid import at_run
from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Index, NumPyType, Object, Sizes


def axis_slice(g: Array, axis: int, start: int, stop: int) -> Array:
    """The part of ``g`` between two places of one axis."""
    rank = len(g.shape)
    spec = tuple(slice(start, stop) if i == axis % rank else slice(None) for i in range(rank))
    return TABLE["slice"](g, spec=spec)


def _axis_slices(g: Array, inputs: tuple[Array, ...], axis: int) -> list[Array]:
    """The parts of an adjoint of concat, one for each input."""
    parts, start = [], 0
    for x in inputs:
        stop = start + x.shape[axis]
        parts.append(axis_slice(g, axis, start, stop))
        start = stop
    return parts


def _unslice(g: Array, *, shape: tuple[int, ...], spec: Index) -> Array:
    if g.size >= fast.large and len(shape) == len(spec) == 1 and type(spec[0]) is slice and spec[0].step in (None, 1):
        start, stop, _ = spec[0].indices(*shape)
        out = fast.buffer(shape, g.dtype)
        out[:start], out[start:stop], out[stop:] = 0, g, 0
        return out
    out = np.zeros(shape, g.dtype)
    out[spec] = g
    return out


def _slice_rule(g: Array, z: Array, x: Array, *, spec: Index) -> Array:
    unslice = _unslice if type(g) is np.ndarray else TABLE["unslice"]
    return unslice(g, shape=tuple(x.shape), spec=spec)


@cache
def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _transpose_rule(g: Array, z: Array, x: Array, *, perm: Sizes) -> Array:
    back = _inverse(tuple(perm))
    return g.transpose(back) if type(g) is np.ndarray else TABLE["transpose"](g, perm=back)


def _split(x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _tile_rule(g: Array, z: Array, x: Array, *, multiples: tuple[int, ...]) -> Array:
    """Sums the copies: axes (copies, size) in turn, the copies reduced."""
    pairs = tuple(n for pair in zip(multiples, x.shape, strict=True) for n in pair)
    return TABLE["reduce_sum"](TABLE["reshape"](g, shape=pairs), axis=tuple(range(0, len(pairs), 2)), keepdims=False)


def _pad(x: Array, *, paddings: tuple[tuple[int, int], ...], mode: str, fill: Array = 0) -> Array:
    if mode == "CONSTANT":
        out = np.empty([n + a + b for n, (a, b) in zip(x.shape, paddings, strict=True)], x.dtype)
        out[...] = np.asarray(fill, x.dtype) if x.dtype != object else fill or b""
        out[_inner(x.shape, paddings)] = x
        return out
    how: Object = mode.lower()
    return np.pad(x, paddings, mode=how)


def _inner(shape: Sizes, paddings: Array) -> tuple[slice, ...]:
    return tuple(slice(a, a + n) for n, (a, _) in zip(shape, paddings, strict=True))


def _pad_rule(g: Array, z: Array, x: Array, *, paddings: Array, mode: str, fill: Array = 0) -> Array:
    if mode == "CONSTANT":
        return TABLE["slice"](g, spec=_inner(x.shape, paddings))
    return TABLE["mirror_pad_grad"](g, paddings=paddings, mode=mode)


def _mirror_pad_grad(g: Array, *, paddings: Array, mode: str) -> Array:
    """Adds what was mirrored to where it came from."""
    sizes = [n - a - b for n, (a, b) in zip(g.shape, paddings, strict=True)]
    how: Object = mode.lower()
    numbers = np.pad(np.arange(int(np.prod(sizes))).reshape(sizes), paddings, mode=how)
    out = np.zeros(int(np.prod(sizes)), g.dtype)
    np.add.at(out, numbers.reshape(-1), g.reshape(-1))
    return out.reshape(sizes)


def _roll(x: Array, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> Array:
    return np.roll(x, shift, axis)


def _stack_rule(g: Array, z: Array, *xs: Array, axis: int) -> Array:
    parts = TABLE["unstack"](g, axis=axis)
    return parts if isinstance(parts, tuple) else (parts,)


def _repeat(x: Array, *, repeats: Array, axis: int) -> Array:
    return np.repeat(x, repeats, axis)


def _repeat_rule(g: Array, z: Array, x: Array, *, repeats: Array, axis: int) -> Array:
    return TABLE["repeat_sum"](g, repeats=repeats, axis=axis, size=x.shape[axis])


def _repeat_sum(g: Array, *, repeats: Array, axis: int, size: int) -> Array:
    """The adjoint of repeat: the sum of each element's copies."""
    out = np.zeros((size, *np.moveaxis(g, axis, 0).shape[1:]), g.dtype)
    np.add.at(out, np.repeat(np.arange(size), repeats), np.moveaxis(g, axis, 0))
    return np.moveaxis(out, 0, axis)


def _like(rng: np.random.Generator, *shape: int) -> Array:
    return rng.normal(size=shape)


declare("reshape", lambda x, *, shape: x.reshape(shape),
        [lambda g, z, x, *, shape: TABLE["reshape"](g, shape=tuple(x.shape))], op="Reshape", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"shape": (3, 2)}))  # fmt: skip
declare("transpose", lambda x, *, perm: x.transpose(perm),
        [_transpose_rule], op="Transpose", label="T", keep="",
        example=lambda rng: ((_like(rng, 2, 3, 1),), {"perm": (1, 2, 0)}))  # fmt: skip
declare("slice", lambda x, *, spec: x[spec],
        [_slice_rule],
        op="StridedSlice", label="[…]", keep="",
        example=lambda rng: ((_like(rng, 3, 4),), {"spec": (slice(None, None, -2), None, 1)}))  # fmt: skip
declare("unslice", _unslice, [lambda g, z, x, *, shape, spec: TABLE["slice"](g, spec=spec)],
        op="StridedSliceGrad", label="[…]ᵀ", keep="",
        example=lambda rng: ((_like(rng, 2),), {"shape": (4,), "spec": (slice(1, 3),)}))  # fmt: skip
declare("identity_n", lambda *xs: xs, lambda g, z, *xs: list(g), op="IdentityN", keep="",
        example=lambda rng: ((_like(rng, 2), _like(rng, 3)), {}))  # fmt: skip
declare("concat", lambda *xs, axis: np.concatenate(xs, axis),
        lambda g, z, *xs, axis: _axis_slices(g, xs, axis), op="ConcatV2", keep="",
        example=lambda rng: ((_like(rng, 2, 3), _like(rng, 2, 1)), {"axis": 1}))  # fmt: skip
declare("stack", lambda *xs, axis: np.stack(xs, axis), _stack_rule, op="Pack", keep="",
        example=lambda rng: ((_like(rng, 2, 3), _like(rng, 2, 3)), {"axis": 1}))  # fmt: skip
declare("unstack", lambda x, *, axis: tuple(np.moveaxis(x, axis, 0)),
        lambda g, z, x, *, axis: (TABLE["stack"](*(g if isinstance(g, (tuple, list)) else (g,)), axis=axis),),
        op="Unpack", keep="", example=lambda rng: ((_like(rng, 2, 3),), {"axis": 1}))  # fmt: skip
declare("split", _split,
        lambda g, z, x, *, sizes, axis: (TABLE["concat"](*(g if isinstance(g, (tuple, list)) else (g,)), axis=axis),),
        op="Split", keep="", example=lambda rng: ((_like(rng, 2, 3),), {"sizes": (1, 2), "axis": 1}))  # fmt: skip
declare("tile", lambda x, *, multiples: np.tile(x, multiples), [_tile_rule], op="Tile", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"multiples": (2, 3)}))  # fmt: skip
declare("repeat", _repeat, [_repeat_rule], op="Repeat", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"repeats": (1, 0, 2), "axis": 1}))  # fmt: skip
declare("repeat_sum", _repeat_sum,
        [lambda g, z, x, *, repeats, axis, size: TABLE["repeat"](g, repeats=repeats, axis=axis)],
        op="RepeatGrad", label="repeatᵀ", keep="",
        example=lambda rng: ((_like(rng, 4),), {"repeats": (1, 3), "axis": 0, "size": 2}))  # fmt: skip
declare("pad", _pad, [_pad_rule], op="PadV2", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"paddings": ((1, 0), (2, 1)), "mode": "SYMMETRIC"}))  # fmt: skip
declare("mirror_pad_grad", _mirror_pad_grad,
        [lambda g, z, x, *, paddings, mode: TABLE["pad"](g, paddings=paddings, mode=mode)],
        op="MirrorPadGrad", label="padᵀ", keep="",
        example=lambda rng: ((_like(rng, 5),), {"paddings": ((1, 1),), "mode": "REFLECT"}))  # fmt: skip
declare("reverse", lambda x, *, axis: np.flip(x, axis) if axis else x,
        [lambda g, z, x, *, axis: TABLE["reverse"](g, axis=axis)], op="ReverseV2", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"axis": (1,)}))  # fmt: skip
declare("roll", _roll,
        [lambda g, z, x, *, shift, axis: TABLE["roll"](g, shift=tuple(-s for s in shift), axis=axis)],
        op="Roll", keep="",
        example=lambda rng: ((_like(rng, 2, 3),), {"shift": (1, -1), "axis": (0, 1)}))  # fmt: skip
declare("conj", np.conj, [lambda g, z, x: TABLE["conj"](g)], op="Conj", keep="")


def _one_hot(x: Array, *, depth: int, on: Array, off: Array, axis: int) -> Array:
    places = np.expand_dims(x, axis)
    rank, at = np.ndim(x) + 1, axis % (np.ndim(x) + 1)
    numbers = np.arange(depth).reshape([-1 if i == at else 1 for i in range(rank)])
    return np.where(places == numbers, on, off)


declare("one_hot", _one_hot, [None], op="OneHot", keep="")


def _shape(x: Array, *, dtype: NumPyType) -> Array:
    shape = np.shape(x)
    if max(shape, default=0) >= MOST_INT32 and dtype.size == 4:
        axis = next(axis for axis, n in enumerate(shape) if n >= MOST_INT32)
        raise at_run(f"Shape output type is 32-bit  but dim {axis} is {shape[axis]}", "Shape")
    return np.array(shape, dtype.as_numpy_dtype)


def _size(x: Array, *, dtype: NumPyType) -> Array:
    if np.size(x) >= MOST_INT32 and dtype.size == 4:  # tf.size of an eager tensor would go round to a negative number in TensorFlow
        raise at_run("Number of elements was larger than representable by 32-bit output type", "Size")
    return dtype.as_numpy_dtype(np.size(x))


MOST_INT32 = 2**31
declare("shape", _shape, [None], op="Shape", keep="")
declare("size", _size, [None], op="Size", keep="")
declare("rank", lambda x: np.int32(np.ndim(x)), [None], op="Rank", keep="")
