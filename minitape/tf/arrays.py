"""Tensors as a whole: their shape, the same elements in another one, tensors joined and taken apart."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import note_used_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor, pack
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .arguments import axis_in, call, integers, is_tensor_like, tensor_of, vector

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Name, ShapeLike, Sizes, Value

newaxis = None


def identity(input: Value, name: Name = None) -> Tensor:
    """A tensor with the same value, as a row of its own. Differentiable.

    >>> import minitape as tf
    >>> x = tf.constant([1.0])
    >>> tf.identity(x) is x
    False
    """
    return call("identity", tensor_of(input))


def stop_gradient(input: Value, name: Name = None) -> Tensor:
    """The value, through which no gradient passes: tapes take it for a constant.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    return call("stop_gradient", tensor_of(input))


# -- shape -----------------------------------------------------------------------------------------


def shape(input: Value, out_type: DTypeLike = None, name: Name = None) -> Tensor:
    """The sizes of the axes as a tensor of one axis, int32 or of type ``out_type``. No gradient passes.

    >>> import minitape as tf
    >>> tf.shape([[1, 2], [3, 4], [5, 6]]).numpy()
    array([3, 2], dtype=int32)
    """
    return call("shape", tensor_of(input), dtype=dtypes.as_dtype(out_type or dtypes.int32))


def size(input: Value, out_type: DTypeLike = None, name: Name = None) -> Tensor:
    """The number of elements as a scalar, int32 or of type ``out_type``. No gradient passes.

    >>> import minitape as tf
    >>> tf.size([[1, 2], [3, 4]]).numpy()
    np.int32(4)
    """
    return call("size", tensor_of(input), dtype=dtypes.as_dtype(out_type or dtypes.int32))


def rank(input: Value, name: Name = None) -> Tensor:
    """The number of axes as an int32 scalar. No gradient passes.

    >>> import minitape as tf
    >>> tf.rank([[1, 2]]).numpy()
    np.int32(2)
    """
    return call("rank", tensor_of(input))


def reshape(tensor: Value, shape: ShapeLike, name: Name = None) -> Tensor:
    """The elements in another shape; one size may be -1: what is left. Differentiable.

    Raises InvalidArgumentError when the numbers of elements differ.

    >>> import minitape as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x, sizes = tensor_of(tensor), integers(shape, "shape")
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise invalid(f"shape must have sizes of 0 and more, and at most one -1, got {list(sizes)}")
    count = math.prod(x._dims)
    if -1 in sizes:
        values, known = [*x._dims], [n for n in sizes if n != -1]
        if not count and 0 in known:  # zeros here and there stand for each other
            values, known = [n for n in values if n], [n for n in known if n]
        rest = math.prod(values) // (math.prod(known) or 1)
        sizes = tuple(rest if n == -1 else n for n in sizes)
    if math.prod(sizes) != count:
        raise invalid(f"A tensor of shape {x.shape} with {count} elements does not fit the shape {list(sizes)}")
    return call("reshape", x, shape=sizes)


def transpose(a: Value, perm: Value = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """The axes in another order, reversed by default; ``conjugate`` also conjugates. Differentiable.

    InvalidArgumentError unless ``perm`` names each axis once.

    >>> import minitape as tf
    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    a = tensor_of(a)
    order = tuple(range(a.ndim))[::-1]
    if perm is not None:
        given = integers(perm, "perm")
        order = tuple(axis_in(p, a.ndim, "perm") for p in given)
        if sorted(order) != [*range(a.ndim)]:
            raise invalid(f"perm must name each of the {a.ndim} axes once, got {list(given)}")
    out: Tensor = call("transpose", a, perm=order)
    return call("conj", out) if conjugate and a.dtype.is_complex else out


def expand_dims(input: Value, axis: Value, name: Name = None) -> Tensor:
    """The tensor with a new axis of size 1 at place ``axis`` (negative: counted from the end). Differentiable.

    InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.expand_dims([1, 2], -1).numpy()
    array([[1],
           [2]], dtype=int32)
    """
    x = tensor_of(input)
    place = axis_in(axis, x.ndim + 1)
    return call("reshape", x, shape=(*x.shape[:place], 1, *x.shape[place:]))


def squeeze(input: Value, axis: Value = None, name: Name = None) -> Tensor:
    """The tensor without its axes of size 1, or without those listed. Differentiable.

    Raises InvalidArgumentError for an axis of another size.

    >>> import minitape as tf
    >>> tf.squeeze([[[1], [2]]]).numpy()
    array([1, 2], dtype=int32)
    """
    x = tensor_of(input)
    axes = {axis_in(a, x.ndim) for a in integers([] if axis is None else axis, "axis")}
    for a in axes:
        if x.shape[a] != 1:
            raise invalid(f"tf.squeeze drops axes of size 1, and axis {a} of a tensor of shape {x.shape} is none")
    axes = axes or {i for i, n in enumerate(x._dims) if n == 1}
    return call("reshape", x, shape=tuple(n for i, n in enumerate(x._dims) if i not in axes))


# -- joined ----------------------------------------------------------------------------------------


def _of_one_dtype(values: Value, function: str) -> list[Tensor]:
    """The elements of a list as tensors; Python values take the dtype of the first tensor, else of the first value."""
    if is_tensor_like(values):
        whole = tensor_of(values)
        return [whole[i] for i in range(len(whole))]
    values = list(values)
    dtype = next((v.dtype for v in values if is_tensor_like(v)), None)
    tensors: list[Tensor] = []
    for v in values:
        tensors.append(tensor_of(v, dtype))
        dtype = dtype or tensors[0].dtype
    if any(t.dtype != dtype for t in tensors):
        raise invalid(f"tf.{function} takes tensors of one dtype, got {', '.join(t.dtype.name for t in tensors)}")
    return tensors


def _axis(axis: int, rank: int) -> int:
    """An axis, counted from the front, of the functions that refuse others with a ValueError."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is not there: there are {rank} axes, from {-rank} to {rank - 1}")
    return axis % rank


def concat(values: Value, axis: Value, name: str = "concat") -> Tensor:
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
    if len(values) == 1:
        convert_to_tensor(axis, dtypes.int32, name="concat_dim")  # it refuses a second tensor in the axis's place
        return call("identity", tensor_of(values[0]))
    tensors = _of_one_dtype(values, "concat")
    if not tensors:
        raise invalid("tf.concat takes one tensor or more, got none")
    shapes = [t._dims for t in tensors]
    if () in shapes:
        raise invalid("tf.concat joins tensors along an axis that they have, and scalars have none: use tf.stack")
    place = axis_in(axis, len(shapes[0]))
    if len({(len(s), s[:place], s[place + 1 :]) for s in shapes}) > 1:
        raise invalid(f"tf.concat along axis {place} takes tensors that are equal in all other sizes, got {shapes}")
    return apply(TABLE["concat"], tuple(tensors), {"axis": place})


def stack(values: Value, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape and dtype joined along a new axis. Differentiable in each of them.

    Raises ValueError for an axis out of range, InvalidArgumentError for unequal shapes or dtypes.

    >>> import minitape as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if isinstance(values, (int, float, bool, complex, str, bytes)) or getattr(values, "shape", None) == ():
        return convert_to_tensor(values)
    if axis == 0 and not is_tensor_like(values):
        with suppress(TypeError, ValueError):  # of unlike elements: below is said what is wrong with them
            return convert_to_tensor(values)
    tensors = _of_one_dtype(values, "stack")
    if not tensors:
        raise ValueError("tf.stack takes one tensor or more, got none")
    return pack(tensors, _axis(axis, tensors[0].ndim + 1))


def meshgrid(*args: Value, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """The coordinates of a grid: for n vectors, n tensors with n axes.

    ``indexing`` "xy" swaps the first two axes, "ij" keeps them. Differentiable. Raises ValueError for another indexing.

    >>> import minitape as tf
    >>> x, y = tf.meshgrid([1, 2], [3, 4, 5])
    >>> x.shape, y.numpy()[:, 0]
    (TensorShape([3, 2]), array([3, 4, 5], dtype=int32))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', got {indexing!r}")
    vectors = [call("reshape", tensor_of(a), shape=(-1,)) for a in args]
    n = len(vectors)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else [*range(n)]
    sizes = tuple(vectors[order.index(k)].shape[0] for k in range(n))
    columns = [
        call("reshape", v, shape=tuple(-1 if order[i] == k else 1 for k in range(n))) for i, v in enumerate(vectors)
    ]
    return [call("broadcast_to", column, shape=sizes) for column in columns]


# -- taken apart -----------------------------------------------------------------------------------


def unstack(value: Value, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices along an axis, ``num`` of them, as a list. Differentiable; ValueError for an axis out of range.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = tensor_of(value)
    axis = _axis(axis, x.ndim)
    count = x.shape[axis]
    if num not in (None, count):
        raise invalid(f"num must be the size of axis {axis}, which is {count}, got {num}")
    return _as_list(call("unstack", x, axis=axis)) if count else []


def _as_list(parts: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    """The parts that an operation gives, of which there may be one."""
    return list(parts) if isinstance(parts, tuple) else [parts]


def split(
    value: Value, num_or_size_splits: Value, axis: Value = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """The parts along an axis: so many equal ones, or parts of the given sizes (one may be -1: the rest), ``num`` of
    them.

    Differentiable. Raises InvalidArgumentError when the sizes do not add up.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.split([1, 2, 3], [1, 2])]
    [[1], [2, 3]]
    """
    x = tensor_of(value)
    place = axis_in(axis, x.ndim)
    total = x.shape[place]
    if isinstance(num_or_size_splits, (int, np.integer)):
        count = int(num_or_size_splits)
        if count < 1 or total % count:
            raise invalid(f"tf.split cannot cut {total} elements along axis {place} into {count} equal parts")
        sizes: Sizes = (total // count,) * count
    else:
        if not np.ndim(num_or_size_splits):
            raise ValueError("num_or_size_splits must be a Python number or a list of sizes, got a scalar tensor")
        sizes = integers(num_or_size_splits, "num_or_size_splits")
        if num not in (None, len(sizes)):
            raise invalid(f"num must be the number of parts, which is {len(sizes)}, got {num}")
        rest = total - sum(n for n in sizes if n >= 0)
        if sizes.count(-1) > 1 or min(sizes, default=0) < -1 or rest < 0 or (rest and -1 not in sizes):
            raise invalid(f"The sizes {list(sizes)} do not add up to the {total} elements along axis {place}")
        sizes = tuple(rest if n == -1 else n for n in sizes)
    return _as_list(call("split", x, sizes=sizes, axis=place))


# -- made larger -----------------------------------------------------------------------------------


def tile(input: Value, multiples: Value, name: Name = None) -> Tensor:
    """The tensor repeated as a whole, ``multiples[i]`` times along axis i. Differentiable.

    InvalidArgumentError unless ``multiples`` has one number, not negative, for each axis.

    >>> import minitape as tf
    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x, counts = tensor_of(input), vector(multiples, "multiples")
    if len(counts) != x.ndim or min(counts, default=0) < 0:
        raise invalid(f"multiples must have a number of 0 or more for each of {x.ndim} axes, got {list(counts)}")
    return call("tile", x, multiples=counts)


def repeat(input: Value, repeats: Value, axis: int | None = None, name: Name = None) -> Tensor:
    """Each element repeated ``repeats`` times (one number, or one for each); without an axis the input is flattened.

    Differentiable in ``input``. Raises ValueError when the counts do not fit the axis.

    >>> import minitape as tf
    >>> tf.repeat([3, 4], [1, 2]).numpy()
    array([3, 4, 4], dtype=int32)
    """
    x = tensor_of(input)
    if axis is None or not x.ndim:
        x, axis = call("reshape", x, shape=(-1,)), axis or 0
    axis = _axis(axis, x.ndim)
    counts, size = integers(repeats, "repeats"), x.shape[axis]
    if len(counts) not in (1, size):
        raise ValueError(f"repeats must be one number or one for each of {size} elements, got {list(counts)}")
    if min(counts, default=0) < 0:
        raise invalid(f"repeats must not be negative, got {list(counts)}")
    return call("repeat", x, repeats=counts[0] if len(counts) == 1 else counts, axis=axis)


def pad(
    tensor: Value, paddings: Value, mode: str = "CONSTANT", constant_values: Value = 0, name: Name = None
) -> Tensor:
    """The tensor with ``paddings[i] = [before, after]`` elements put around it along axis i.

    They are ``constant_values``: the one ``mode`` is "CONSTANT". Differentiable in ``tensor``. Raises
    InvalidArgumentError for paddings that do not fit, ValueError for another mode.

    >>> import minitape as tf
    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy()
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    """
    x, given = tensor_of(tensor), tensor_of(paddings)
    if mode.upper() != "CONSTANT":
        raise ValueError(f"minitape pads with constants only: mode must be 'CONSTANT', got {mode!r}")
    note_used_as_size(given)
    sizes = np.asarray(given.array)
    if sizes.shape != (x.ndim, 2) or not given.dtype.is_integer or (sizes < 0).any():
        raise invalid(f"paddings must be a pair of numbers of 0 or more for each of {x.ndim} axes, got {paddings}")
    zero = type(constant_values) in (int, float) and constant_values == 0
    fill = b"" if zero and x.dtype.kind == "s" else convert_to_tensor(constant_values, x.dtype).array
    return call("pad", x, paddings=tuple((int(a), int(b)) for a, b in sizes), fill=fill)
