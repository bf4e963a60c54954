"""Declare primitives that rearrange elements, such as reshape, transpose, slices and concat."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy import ndarray

from ...types import LIST_OR_TUPLE, Array, Index, NumberPair, Sizes
from . import TABLE, declare

Paddings = Sequence[NumberPair]


def create_constant_like_adjoint(g: Array, array: ndarray) -> Array:
    """Convert a constant in a rule to the type of the adjoint.

    Args:
        g: The adjoint, which is a tensor in a recorded sweep.
        array: The constant.

    Returns:
        The array itself, or a tensor with its elements.
    """
    from ...tensor.tensor import Tensor, wrap_array_with_origin

    return wrap_array_with_origin(array) if isinstance(g, Tensor) else array


def _split_concat_adjoint(g: Array, inputs: tuple[Array, ...], axis: int) -> list[Array]:
    """Split the adjoint of concat into a share for each input."""
    slices = []
    start = 0
    leading_slices = (slice(None),) * (axis % len(g.shape))
    for x in inputs:
        slices.append(TABLE["slice"](g, spec=(*leading_slices, slice(start, start := start + x.shape[axis]))))
    return slices


def _compute_unslice(g: Array, *, shape: Sizes, spec: Index) -> Array:
    padded = np.zeros(shape, g.dtype)
    padded[spec] = g
    return padded


def _apply_slice_rule(g: Array, z: Array, x: Array, *, spec: Index) -> Array:
    unslice = _compute_unslice if type(g) is ndarray else TABLE["unslice"]
    return unslice(g, shape=tuple(x.shape), spec=spec)


@cache
def invert_permutation(perm: Sizes) -> Sizes:
    """Return the permutation of axes that undoes another permutation.

    Args:
        perm: The position, in the old array, of each axis of the new array.
    """
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _apply_transpose_rule(g: Array, z: Array, x: Array, *, perm: Sizes) -> Array:
    inverse_perm = invert_permutation(tuple(perm))
    return g.transpose(inverse_perm) if type(g) is ndarray else TABLE["transpose"](g, perm=inverse_perm)


def _apply_tile_rule(g: Array, z: Array, x: Array, *, multiples: Sizes) -> Array:
    """Sum the adjoint over the copies, after splitting each axis into two axes with the sizes (copies, size)."""
    copies_and_sizes = tuple(size for pair in zip(multiples, x.shape, strict=True) for size in pair)
    return TABLE["reduce_sum"](
        TABLE["reshape"](g, shape=copies_and_sizes), axis=tuple(range(0, len(copies_and_sizes), 2)), keepdims=False
    )


def _apply_repeat_rule(g: Array, z: Array, x: Array, *, repeats: Array, axis: int) -> Array:
    shape = tuple(x.shape)
    source_indices = np.repeat(np.arange(shape[axis]), repeats)
    return TABLE["scatter_axis"](
        g, create_constant_like_adjoint(g, source_indices), axis=axis % len(shape), shape=shape
    )


def _compute_pad(x: Array, *, paddings: Paddings, fill: Array = 0) -> Array:
    shape = [size + before + after for size, (before, after) in zip(x.shape, paddings, strict=True)]
    padded = np.full(shape, fill or b"" if x.dtype == object else fill, x.dtype)
    padded[_select_unpadded(x.shape, paddings)] = x
    return padded


def _select_unpadded(shape: Sizes, paddings: Paddings) -> tuple[slice, ...]:
    return tuple(slice(before, before + n) for n, (before, _) in zip(shape, paddings, strict=True))


def _list_adjoints(g: Array) -> Sequence[Array]:
    """Return the adjoints of all outputs as a sequence, wrapping the adjoint of a single output."""
    return g if isinstance(g, LIST_OR_TUPLE) else (g,)


def _pack_outputs(arrays: Sequence[Array]) -> Array:
    """Return several outputs as a tuple, or a single output by itself."""
    return tuple(arrays) if len(arrays) > 1 else arrays[0]


declare("reshape", lambda x, *, shape: x.reshape(shape),
        [lambda g, z, x, *, shape: TABLE["reshape"](g, shape=tuple(x.shape))], keep="")  # fmt: skip
declare("transpose", lambda x, *, perm: x.transpose(perm), [_apply_transpose_rule], label="T", keep="")
declare("slice", lambda x, *, spec: x[spec], [_apply_slice_rule], op="StridedSlice", label="[…]", keep="")
declare("unslice", _compute_unslice, [lambda g, z, x, *, shape, spec: TABLE["slice"](g, spec=spec)],
        op="StridedSliceGrad", label="[…]ᵀ", keep="")  # fmt: skip
declare("concat", lambda *xs, axis: np.concatenate(xs, axis),
        lambda g, z, *xs, axis: _split_concat_adjoint(g, xs, axis), op="ConcatV2", keep="")  # fmt: skip
declare("stack", lambda *xs, axis: np.stack(xs, axis),
        lambda g, z, *xs, axis: _list_adjoints(TABLE["unstack"](g, axis=axis)), op="Pack", keep="")  # fmt: skip
declare("unstack", lambda x, *, axis: _pack_outputs(np.moveaxis(x, axis, 0)),
        lambda g, z, x, *, axis: (TABLE["stack"](*_list_adjoints(g), axis=axis),), op="Unpack", keep="")  # fmt: skip
declare("split", lambda x, *, sizes, axis: _pack_outputs(np.split(x, np.cumsum(sizes)[:-1], axis)),
        lambda g, z, x, *, sizes, axis: (TABLE["concat"](*_list_adjoints(g), axis=axis),),
        keep="")  # fmt: skip
declare("tile", lambda x, *, multiples: np.tile(x, multiples), [_apply_tile_rule], keep="")
declare("repeat", lambda x, *, repeats, axis: np.repeat(x, repeats, axis), [_apply_repeat_rule], keep="")
declare("pad", _compute_pad,
        [lambda g, z, x, *, paddings, fill=0: TABLE["slice"](g, spec=_select_unpadded(x.shape, paddings))],
        op="PadV2", keep="")  # fmt: skip
declare("conj", np.conj, [lambda g, z, x: TABLE["conj"](g)], keep="")


def conjugate(x: Array) -> Array:
    """Return the complex conjugate.

    Args:
        x: An array or a tensor. Real values are returned unchanged.
    """
    return TABLE["conj"](x) if x.dtype.kind == "c" else x


def _compute_one_hot(x: Array, *, depth: int, on: Array, off: Array, axis: int) -> Array:
    class_indices = np.expand_dims(x, axis)
    rank = np.ndim(x) + 1
    class_axis = axis % rank
    class_numbers = np.arange(depth).reshape([-1 if i == class_axis else 1 for i in range(rank)])
    return np.where(class_indices == class_numbers, on, off)


declare("one_hot", _compute_one_hot, [None], keep="")


declare("shape", lambda x, *, dtype: np.array(np.shape(x), dtype.as_numpy_dtype), [None], keep="")
declare("size", lambda x, *, dtype: dtype.as_numpy_dtype(np.size(x)), [None], keep="")
declare("rank", lambda x: np.int32(np.ndim(x)), [None], keep="")
