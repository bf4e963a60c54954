"""Tensors joined and taken apart: concat, stack, split, tile, repeat, pad."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ..engine.recording.evidence import note_used_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor, is_array, pack
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from ..engine.values.invalid import invalid, shape_text
from .operands import call, integers, tensor_of


def same_dtype_tensors(values: Any) -> list:
    """The elements of a list as tensors; Python values take the dtype of the first tensor, else of the first value."""
    if isinstance(values, Tensor) or hasattr(values, "_read"):
        whole = tensor_of(values)
        return [whole[i] for i in range(len(whole))]
    values = list(values)
    dtype = next((v.dtype for v in values if isinstance(v, Tensor) or hasattr(v, "_to_tensor")), None)
    tensors = []
    for v in values:
        t = tensor_of(v) if isinstance(v, Tensor) or hasattr(v, "_read") else convert_to_tensor(v, dtype)
        dtype = t.dtype if dtype is None else dtype
        tensors.append(t)
    return tensors


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors of the same rank joined along an axis that they have.

    ``values`` is a list of tensors of one dtype, equal in all other sizes. Differentiable in each of them. Raises
    InvalidArgumentError when ranks, sizes or dtypes do not match.

    >>> import minitape as tf
    >>> tf.concat([[[1, 2]], [[3, 4]]], axis=0).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if type(axis) is not int:
        place = integers(axis, "ConcatV2", "Tidx")
        if len(values) > 1 and place.size != 1:
            raise invalid(
                f"axis tensor should be a scalar integer, but got shape {shape_text(place.shape)}", "ConcatV2"
            )
        axis = int(place.reshape(-1)[0]) if place.size else 0
    if len(values) == 1:
        return call("identity", tensor_of(values[0]))
    tensors = same_dtype_tensors(values)
    if not tensors:
        raise invalid("concat takes one tensor or more", "ConcatV2")
    shapes = [tuple(t.shape) for t in tensors]
    rank = len(shapes[0])
    if not any(t.dtype is not tensors[0].dtype for t in tensors):
        _check_concat(shapes, axis, rank)
    return apply(TABLE["concat"], tuple(tensors), {"axis": axis % max(rank, 1)})


def _check_concat(shapes: list, axis: int, rank: int) -> None:
    if (not rank and axis == 0) or (rank and () in shapes):
        raise invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)", "ConcatV2")
    if not -rank <= axis < rank:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}", "ConcatV2"
        )
    for i, shape in enumerate(shapes):
        pair = f"shape[0] = {shape_text(shapes[0])} vs. shape[{i}] = {shape_text(shape)}"
        if len(shape) != rank:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {pair}", "ConcatV2")
        for d, (m, n) in enumerate(zip(shapes[0], shape, strict=True)):
            if d != axis % rank and m != n and None not in (m, n):
                raise invalid(f"ConcatOp : Dimension {d} in both shapes must be equal: {pair}", "ConcatV2")


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape and dtype joined along a new axis.

    Differentiable in each of them. Raises ValueError for an axis out of range, InvalidArgumentError for unequal shapes.

    >>> import minitape as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if isinstance(values, (int, float, bool, complex, str, bytes)) or getattr(values, "shape", None) == ():
        return convert_to_tensor(values)
    if axis == 0:
        with suppress(TypeError, ValueError):  # of unlike elements: the kernel says what is wrong with them
            return convert_to_tensor(values)
    tensors = same_dtype_tensors(values)
    rank = tensors[0].ndim + 1 if tensors else 1
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return pack(tensors, axis % rank)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """The slices along an axis, as a list. Differentiable; ValueError for an axis out of range.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = tensor_of(value)
    rank = x.ndim
    if not -rank <= axis < rank:
        if num is not None:
            raise invalid(f"axis = {axis} not in [{-rank}, {rank})", "Unpack")
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    if num is None and x.shape[axis] is None:
        raise ValueError(f"Cannot infer argument `num` from shape {x.shape}")
    if num is not None and num != x.shape[axis]:
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {shape_text(x.shape)}", "Unpack")
    if x.shape[axis] == 0:
        return []
    out = call("unstack", x, axis=axis % rank)
    return list(out) if isinstance(out, tuple) else [out]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> Any:
    """A list of parts along an axis: so many equal ones, or parts of the given sizes (one may be -1: the rest), ``num``
    of them.

    Differentiable. Raises InvalidArgumentError when the sizes do not add up.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.split([1, 2, 3], [1, 2])]
    [[1], [2, 3]]
    """
    x, sizes = tensor_of(value), num_or_size_splits
    rank, axis = x.ndim, _split_axis(axis, isinstance(sizes, (int, np.integer)))
    if not -rank <= axis < rank:
        raise invalid(f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}", "Split")
    total = x.shape[axis]
    if sizes <= 0:
        raise invalid(
            f"Value for attr 'num_split' of {sizes} must be at least minimum 1\n\t; NodeDef: {{{{node "
            "Split}}; Op<name=Split; signature=split_dim:int32, value:T -> output:num_split*T; "
            "attr=num_split:int,min=1; attr=T:type>",
            "Split",
        )
    if total % sizes:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {total}) and num_split {sizes}",
            "Split",
        )
    parts = (total // sizes,) * sizes
    out = call("split", x, sizes=parts, axis=axis % rank)
    return list(out) if isinstance(out, tuple) else [out]


def _split_axis(axis: Any, equal: bool) -> int:
    place = axis if isinstance(axis, Tensor) else convert_to_tensor(axis, "int32")
    if place.ndim and equal:
        raise invalid(f"split_dim must be a scalar but has rank {place.ndim}", "Split")
    if place.shape.num_elements() != 1:
        raise invalid("split_dim_tensor must have exactly one element.", "SplitV")
    note_used_as_size(place)
    return int(np.ravel(place.array)[0])


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """The tensor repeated as a whole, ``multiples[i]`` times along axis i. Differentiable.

    InvalidArgumentError unless ``multiples`` has one number, not negative, for each axis.

    >>> import minitape as tf
    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x, counts = tensor_of(input), integers(multiples, "Tile", "Tmultiples", noted=True)
    if counts.ndim != 1:
        raise invalid(f"Expected multiples to be 1-D, but got shape {shape_text(counts.shape)}", "Tile")
    if counts.size != x.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {x.ndim} but got length {counts.size}", "Tile"
        )
    for i, n in enumerate(counts.tolist()):
        if n < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {n}", "Tile")
    return call("tile", x, multiples=tuple(int(n) for n in counts))


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Each element repeated ``repeats`` times (one number, or one for each); without an axis the input is flattened.

    Differentiable in ``input``. Raises ValueError when the counts do not fit the axis.

    >>> import minitape as tf
    >>> tf.repeat([3, 4], [1, 2]).numpy()
    array([3, 4, 4], dtype=int32)
    """
    x = tensor_of(input)
    if axis is None:
        x, axis = call("reshape", x, shape=(-1,)), 0
    if not isinstance(axis, int):
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis} of type {type(axis).__name__}")
    given = convert_to_tensor(repeats, "int32") if is_array(repeats) else tensor_of(repeats)
    if not given.dtype.is_integer:
        raise TypeError(
            "Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
            f"{given} of dtype: {given.dtype}"
        )
    note_used_as_size(given)
    counts = np.asarray(given.array)
    if x.ndim == 0:
        x = call("reshape", x, shape=(1,))
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis={axis} out of bounds: expected {-x.ndim}<=axis<{x.ndim}")
    size = x.shape[axis]
    if counts.ndim > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1")
    if counts.size not in (1, size) and size is not None:
        raise ValueError(f"Dimensions {size} and {counts.size} are not compatible")
    if np.any(counts < 0):
        raise invalid(f"Expected multiples[1] >= 0, but got {int(np.min(counts))}", "Tile")
    times = int(counts.reshape(-1)[0]) if counts.size == 1 else tuple(counts.tolist())
    return call("repeat", x, repeats=times, axis=axis % x.ndim)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Tensor:
    """The tensor with ``paddings[i] = [before, after]`` elements put around it along axis i.

    ``mode`` "CONSTANT" puts ``constant_values`` there, "REFLECT" mirrors without the border, "SYMMETRIC" with it.
    Differentiable in ``tensor``. Raises InvalidArgumentError for paddings that do not fit, ValueError for another mode.

    >>> import minitape as tf
    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy()
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> tf.pad([1, 2, 3], [[2, 0]], "REFLECT").numpy()
    array([3, 2, 1, 2, 3], dtype=int32)
    """
    wanted = mode.upper()
    if wanted not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". Received '
            f"`mode` = {wanted}"
        )
    x, constant = tensor_of(tensor), wanted == "CONSTANT"
    fill = _fill(constant_values, x.dtype) if constant else None
    op = "MirrorPad" if not constant else "Pad" if type(constant_values) is int and constant_values == 0 else "PadV2"
    sizes = _paddings(integers(paddings, op, "Tpaddings", noted=True), x, op)
    if constant:
        return call("pad", x, paddings=sizes, mode=wanted, fill=fill)
    return call("pad", x, paddings=sizes, mode=wanted)


def _fill(value: Any, dtype: Any) -> Any:
    """The constant around a padded tensor, in its dtype; a plain 0 is the zero of every dtype."""
    if type(value) in (int, float) and value == 0:
        return b"" if dtype.kind == "s" else dtype.as_numpy_dtype(0)
    return convert_to_tensor(value, dtype).array


def _paddings(sizes: Any, x: Any, op: str) -> tuple:
    if sizes.ndim != 2 or sizes.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {shape_text(sizes.shape)}", op)
    mirror = op == "MirrorPad"
    if len(sizes) != x.ndim:
        gap = ", " if mirror else " "
        raise invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{shape_text(sizes.shape)}{gap}{shape_text(x.shape)}",
            op,
        )
    for a, b in sizes.tolist():
        if a < 0 or b < 0:
            raise invalid(f"{'p' if mirror else 'P'}addings must be non-negative: {a} {b}", op)
    return tuple((int(a), int(b)) for a, b in sizes)
