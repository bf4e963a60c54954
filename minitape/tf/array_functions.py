"""Define functions that return a tensor's shape, and functions that reshape, join, split and repeat tensors.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf).
"""

from __future__ import annotations

from contextlib import suppress
from math import prod

import numpy as np

from ..engine.record.provenance import log_use_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.conversion import convert_to_tensor, stack_tensors
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import Tensor
from ..engine.types import LIST_OR_TUPLE, DTypeLike, GraphName, OptionalNumber, ShapeLike, Sizes, Tensors, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.dtypes import as_dtype
from .arguments import (
    apply_primitive,
    convert_to_one_dtype,
    is_tensor_like,
    normalize_axis,
    to_integer_vector,
    to_integers,
    to_tensor,
)

newaxis = None


def identity(input: Value, name: GraphName = None) -> Tensor:
    """Return a new tensor with the same value.

    The tape records the copy as a separate row. This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/identity.

    Args:
        input: A tensor-like value.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> x = tf.constant([1.0])
    >>> tf.identity(x) is x
    False
    """
    return apply_primitive("identity", to_tensor(input))


def stop_gradient(input: Value, name: GraphName = None) -> Tensor:
    """Return a value as a constant so that no gradient passes through it.

    See https://www.tensorflow.org/api_docs/python/tf/stop_gradient.

    Args:
        input: A tensor-like value.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape, dtype and value. Tapes treat it as a constant.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    return apply_primitive("stop_gradient", to_tensor(input))


# -- shapes ----------------------------------------------------------------------------------------


def shape(input: Value, out_type: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Return the shape of a tensor as an integer tensor.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/shape.

    Args:
        input: A tensor-like value.
        out_type: The dtype of the result, int32 by default.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A vector with one element for each axis of ``input``.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> tf.shape([[1, 2], [3, 4], [5, 6]]).numpy()
    array([3, 2], dtype=int32)
    """
    return apply_primitive("shape", to_tensor(input), dtype=as_dtype(out_type or dtypes.int32))


def size(input: Value, out_type: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Return the number of elements as a scalar.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/size.

    Args:
        input: A tensor-like value.
        out_type: The dtype of the result, int32 by default.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A scalar of dtype ``out_type``.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> tf.size([[1, 2], [3, 4]]).numpy()
    np.int32(4)
    """
    return apply_primitive("size", to_tensor(input), dtype=as_dtype(out_type or dtypes.int32))


def rank(input: Value, name: GraphName = None) -> Tensor:
    """Return the number of axes as an int32 scalar.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/rank.

    Args:
        input: A tensor-like value.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A scalar int32 tensor.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> tf.rank([[1, 2]]).numpy()
    np.int32(2)
    """
    return apply_primitive("rank", to_tensor(input))


def reshape(tensor: Value, shape: ShapeLike, name: GraphName = None) -> Tensor:
    """Give a tensor a new shape without changing the order of its elements.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/reshape.

    Args:
        tensor: A tensor-like value.
        shape: The new shape. One size may be -1, in which case minitape computes it from the number of elements.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the given shape, with the same dtype and elements.

    Raises:
        InvalidArgumentError: If the number of elements would change, or a size other than a single -1 is negative.

    >>> import minitape as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x = to_tensor(tensor)
    sizes = to_integers(shape, "shape")
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise build_argument_error(f"shape must contain sizes of at least 0 and at most one -1, got {list(sizes)}")
    count = prod(x.dims)
    if -1 in sizes:
        own_sizes = [*x.dims]
        known_sizes = [n for n in sizes if n != -1]
        if not count and 0 in known_sizes:
            # Both shapes contain a zero, so only the other sizes determine the missing size.
            own_sizes = [n for n in own_sizes if n]
            known_sizes = [n for n in known_sizes if n]
        missing_size = prod(own_sizes) // (prod(known_sizes) or 1)
        sizes = tuple(missing_size if n == -1 else n for n in sizes)
    if prod(sizes) != count:
        raise build_argument_error(
            f"A tensor of shape {x.shape} with {count} elements does not fit the shape {list(sizes)}"
        )
    return apply_primitive("reshape", x, shape=sizes)


def transpose(a: Value, perm: Value = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """Permute the axes of a tensor.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/transpose.

    Args:
        a: A tensor-like value.
        perm: The axes of ``a`` in their new order. By default, the order is reversed.
        conjugate: Whether to also conjugate complex elements.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype. Axis i of its shape is axis ``perm[i]`` of ``a``.

    Raises:
        InvalidArgumentError: If ``perm`` does not list each axis exactly once.

    >>> import minitape as tf
    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    a = to_tensor(a)
    order = tuple(range(a.ndim))[::-1]
    if perm is not None:
        axes = to_integers(perm, "perm")
        order = tuple(normalize_axis(entry, a.ndim, "perm") for entry in axes)
        if sorted(order) != [*range(a.ndim)]:
            raise build_argument_error(f"perm must name each of the {a.ndim} axes once, got {list(axes)}")
    result: Tensor = apply_primitive("transpose", a, perm=order)
    return apply_primitive("conj", result) if conjugate and a.dtype.is_complex else result


def expand_dims(input: Value, axis: Value, name: GraphName = None) -> Tensor:
    """Insert a new axis of size 1.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/expand_dims.

    Args:
        input: A tensor-like value.
        axis: The position of the new axis in the result. Negative positions count from the end.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the same elements and dtype, and with an additional axis of size 1.

    Raises:
        InvalidArgumentError: If the position is out of range.

    >>> import minitape as tf
    >>> tf.expand_dims([1, 2], -1).numpy()
    array([[1],
           [2]], dtype=int32)
    """
    x = to_tensor(input)
    axis_index = normalize_axis(axis, x.ndim + 1)
    return apply_primitive("reshape", x, shape=(*x.shape[:axis_index], 1, *x.shape[axis_index:]))


def squeeze(input: Value, axis: Value = None, name: GraphName = None) -> Tensor:
    """Remove axes of size 1.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/squeeze.

    Args:
        input: A tensor-like value.
        axis: The axis or axes to remove. By default, all axes of size 1 are removed.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the same elements and dtype, but without these axes.

    Raises:
        InvalidArgumentError: If an axis in ``axis`` does not have size 1 or does not exist.

    >>> import minitape as tf
    >>> tf.squeeze([[[1], [2]]]).numpy()
    array([1, 2], dtype=int32)
    """
    x = to_tensor(input)
    axes = {normalize_axis(entry, x.ndim) for entry in to_integers([] if axis is None else axis, "axis")}
    for entry in axes:
        if x.shape[entry] != 1:
            raise build_argument_error(
                f"tf.squeeze removes only axes of size 1, but axis {entry} of a tensor of shape {x.shape} has a "
                "different size"
            )
    axes = axes or {i for i, n in enumerate(x.dims) if n == 1}
    return apply_primitive("reshape", x, shape=tuple(n for i, n in enumerate(x.dims) if i not in axes))


# -- joining tensors -------------------------------------------------------------------------------


def _convert_list_to_one_dtype(values: Value, function_name: str) -> Tensors:
    """Convert a list to tensors that share a dtype.

    Args:
        values: A list of tensor-like values, or a tensor to split along its first axis.
        function_name: The public name for the error message, without "tf.".

    Returns:
        A list of tensors. Python values take the dtype of the first tensor. Without a tensor, the first value
        determines the dtype.

    Raises:
        InvalidArgumentError: If the tensors have different dtypes.
    """
    if is_tensor_like(values):
        tensor = to_tensor(values)
        return [tensor[i] for i in range(len(tensor))]
    tensors = convert_to_one_dtype(*values)
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise build_argument_error(
            f"tf.{function_name} takes tensors of the same dtype, got "
            f"{', '.join(tensor.dtype.name for tensor in tensors)}"
        )
    return tensors


def _normalize_axis(axis: int, rank: int) -> int:
    """Convert a possibly negative axis to its index from the front.

    Raises:
        ValueError: If the axis does not exist. (In the same case, ``normalize_axis`` raises InvalidArgumentError.)
    """
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} does not exist: there are {rank} axes, numbered from {-rank} to {rank - 1}")
    return axis % rank


def concat(values: Value, axis: Value, name: str = "concat") -> Tensor:
    """Join tensors along an existing axis.

    This function is differentiable with respect to each tensor.

    See https://www.tensorflow.org/api_docs/python/tf/concat.

    Args:
        values: A list of tensor-like values that share a dtype and a rank. Their sizes must be equal along all other
            axes.
        axis: The axis along which to join.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype and rank. Its size along ``axis`` is the sum of the tensors' sizes.

    Raises:
        InvalidArgumentError: If the ranks, sizes or dtypes do not match, the list is empty, or the tensors are scalars.

    >>> import minitape as tf
    >>> tf.concat([[[1, 2]], [[3, 4]]], axis=0).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if not isinstance(values, LIST_OR_TUPLE):
        values = [values]
    if len(values) == 1:
        # Raise an error if the caller passed a second tensor as the axis.
        convert_to_tensor(axis, dtypes.int32, name="concat_dim")
        return apply_primitive("identity", to_tensor(values[0]))
    tensors = _convert_list_to_one_dtype(values, "concat")
    if not tensors:
        raise build_argument_error("tf.concat takes at least one tensor, got none")
    shapes = [tensor.dims for tensor in tensors]
    if () in shapes:
        raise build_argument_error(
            "tf.concat joins tensors along an existing axis, but scalars have no axes. Use tf.stack"
        )
    axis_index = normalize_axis(axis, len(shapes[0]))
    if len({(len(sizes), sizes[:axis_index], sizes[axis_index + 1 :]) for sizes in shapes}) > 1:
        raise build_argument_error(
            f"tf.concat along axis {axis_index} takes tensors with equal sizes along all other axes, got {shapes}"
        )
    return run_and_record(TABLE["concat"], tuple(tensors), {"axis": axis_index})


def stack(values: Value, axis: int = 0, name: str = "stack") -> Tensor:
    """Join tensors along a new axis.

    This function is differentiable with respect to each tensor.

    See https://www.tensorflow.org/api_docs/python/tf/stack.

    Args:
        values: A list of tensor-like values that share a shape and a dtype.
        axis: The position of the new axis in the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype with an additional axis, whose size is the number of tensors.

    Raises:
        ValueError: If the axis is out of range, or the list is empty and the axis is not 0.
        InvalidArgumentError: If the shapes or dtypes differ.

    >>> import minitape as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if isinstance(values, (int, float, bool, complex, str, bytes)) or getattr(values, "shape", None) == ():
        return convert_to_tensor(values)
    if axis == 0 and not is_tensor_like(values):
        with suppress(TypeError, ValueError):  # If the elements do not match, the code below raises a clearer error.
            return convert_to_tensor(values)
    tensors = _convert_list_to_one_dtype(values, "stack")
    if not tensors:
        raise ValueError("tf.stack takes at least one tensor, got none")
    return stack_tensors(tensors, _normalize_axis(axis, tensors[0].ndim + 1))


def meshgrid(*args: Value, indexing: str = "xy", name: str = "meshgrid") -> Tensors:
    """Return the coordinates of all points in a grid.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/meshgrid.

    Args:
        *args: One vector of coordinates for each of the n axes. Tensors of other shapes are flattened.
        indexing: "xy" swaps the first two axes of the results, and "ij" keeps their order.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A list of n tensors with n axes each. Tensor k holds coordinate k of every grid point.

    Raises:
        ValueError: If ``indexing`` is neither "xy" nor "ij".

    >>> import minitape as tf
    >>> x, y = tf.meshgrid([1, 2], [3, 4, 5])
    >>> x.shape, y.numpy()[:, 0]
    (TensorShape([3, 2]), array([3, 4, 5], dtype=int32))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', got {indexing!r}")
    vectors = [apply_primitive("reshape", to_tensor(vector_value), shape=(-1,)) for vector_value in args]
    n = len(vectors)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else [*range(n)]
    sizes = tuple(vectors[order.index(k)].shape[0] for k in range(n))
    columns = [
        apply_primitive("reshape", v, shape=tuple(-1 if order[i] == k else 1 for k in range(n)))
        for i, v in enumerate(vectors)
    ]
    return [apply_primitive("broadcast_to", column, shape=sizes) for column in columns]


# -- splitting tensors -----------------------------------------------------------------------------


def unstack(value: Value, num: OptionalNumber = None, axis: int = 0, name: str = "unstack") -> Tensors:
    """Split a tensor into its slices along an axis.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/unstack.

    Args:
        value: A tensor-like value.
        num: The expected number of slices.
        axis: The axis to remove.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A list of tensors of the same dtype, without this axis.

    Raises:
        ValueError: If the axis is out of range.
        InvalidArgumentError: If ``num`` differs from the size of the axis.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = to_tensor(value)
    axis = _normalize_axis(axis, x.ndim)
    count = x.shape[axis]
    if num not in (None, count):
        raise build_argument_error(f"num must be the size of axis {axis}, which is {count}, got {num}")
    return _to_tensor_list(apply_primitive("unstack", x, axis=axis)) if count else []


def _to_tensor_list(results: Tensor | tuple[Tensor, ...]) -> Tensors:
    """Return the results of an operation as a list, even if the operation has only one result."""
    return list(results) if isinstance(results, tuple) else [results]


def split(
    value: Value, num_or_size_splits: Value, axis: Value = 0, num: OptionalNumber = None, name: str = "split"
) -> Tensors:
    """Split a tensor into parts along an axis.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/split.

    Args:
        value: A tensor-like value.
        num_or_size_splits: The number of equal parts, or a list of sizes. One size may be -1, in which case that part
            receives the remaining elements.
        axis: The axis to split.
        num: The expected number of parts if ``num_or_size_splits`` is a list.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A list of tensors with the dtype and rank of ``value``.

    Raises:
        InvalidArgumentError: If the sizes do not add up, the axis cannot be split into equal parts, or ``num`` is
            wrong.
        ValueError: If ``num_or_size_splits`` is a scalar tensor.

    >>> import minitape as tf
    >>> [t.numpy().tolist() for t in tf.split([1, 2, 3], [1, 2])]
    [[1], [2, 3]]
    """
    x = to_tensor(value)
    axis_index = normalize_axis(axis, x.ndim)
    total = x.shape[axis_index]
    if isinstance(num_or_size_splits, (int, np.integer)):
        count = int(num_or_size_splits)
        if count < 1 or total % count:
            raise build_argument_error(
                f"tf.split cannot cut {total} elements along axis {axis_index} into {count} equal parts"
            )
        sizes: Sizes = (total // count,) * count
    else:
        if not np.ndim(num_or_size_splits):
            raise ValueError("num_or_size_splits must be a Python number or a list of sizes, got a scalar tensor")
        sizes = to_integers(num_or_size_splits, "num_or_size_splits")
        if num not in (None, len(sizes)):
            raise build_argument_error(f"num must be the number of parts, which is {len(sizes)}, got {num}")
        remainder = total - sum(n for n in sizes if n >= 0)
        if sizes.count(-1) > 1 or min(sizes, default=0) < -1 or remainder < 0 or (remainder and -1 not in sizes):
            raise build_argument_error(
                f"The sizes {list(sizes)} do not add up to the {total} elements along axis {axis_index}"
            )
        sizes = tuple(remainder if n == -1 else n for n in sizes)
    return _to_tensor_list(apply_primitive("split", x, sizes=sizes, axis=axis_index))


# -- repeating and padding -------------------------------------------------------------------------


def tile(input: Value, multiples: Value, name: GraphName = None) -> Tensor:
    """Repeat a whole tensor along its axes.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/tile.

    Args:
        input: A tensor-like value.
        multiples: A list with the number of repetitions along each axis.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype. Its size along axis i is ``multiples[i]`` times the size of ``input`` along axis i.

    Raises:
        InvalidArgumentError: If ``multiples`` does not have one number per axis, or contains a negative number.

    >>> import minitape as tf
    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    counts = to_integer_vector(multiples, "multiples")
    if len(counts) != x.ndim or min(counts, default=0) < 0:
        raise build_argument_error(
            f"multiples must contain one number of at least 0 for each of the {x.ndim} axes, got {list(counts)}"
        )
    return apply_primitive("tile", x, multiples=counts)


def repeat(input: Value, repeats: Value, axis: OptionalNumber = None, name: GraphName = None) -> Tensor:
    """Repeat each element of a tensor along an axis.

    This function is differentiable with respect to ``input``.

    See https://www.tensorflow.org/api_docs/python/tf/repeat.

    Args:
        input: A tensor-like value.
        repeats: The number of repetitions, either a scalar or one number for each position along the axis.
        axis: The axis. By default, the input is flattened first.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype. Its size along the axis is the total number of repetitions.

    Raises:
        ValueError: If the length of ``repeats`` does not match the axis, or the axis does not exist.
        InvalidArgumentError: If a number of repetitions is negative.

    >>> import minitape as tf
    >>> tf.repeat([3, 4], [1, 2]).numpy()
    array([3, 4, 4], dtype=int32)
    """
    x = to_tensor(input)
    if axis is None or not x.ndim:
        x = apply_primitive("reshape", x, shape=(-1,))
        axis = axis or 0
    axis = _normalize_axis(axis, x.ndim)
    counts = to_integers(repeats, "repeats")
    size = x.shape[axis]
    if len(counts) not in (1, size):
        raise ValueError(
            f"repeats must be one number, or one number for each of the {size} elements, got {list(counts)}"
        )
    if min(counts, default=0) < 0:
        raise build_argument_error(f"repeats must not be negative, got {list(counts)}")
    return apply_primitive("repeat", x, repeats=counts[0] if len(counts) == 1 else counts, axis=axis)


def pad(
    tensor: Value, paddings: Value, mode: str = "CONSTANT", constant_values: Value = 0, name: GraphName = None
) -> Tensor:
    """Pad a tensor with a constant.

    This function is differentiable with respect to ``tensor``.

    See https://www.tensorflow.org/api_docs/python/tf/pad.

    Args:
        tensor: A tensor-like value.
        paddings: Integers of shape (rank, 2): ``paddings[i] = [before, after]`` elements are added along axis i.
        mode: "CONSTANT", the only mode that minitape supports.
        constant_values: The value of the added elements.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype, larger by ``before + after`` along each axis.

    Raises:
        InvalidArgumentError: If the shape of ``paddings`` does not match the tensor, or a padding is negative.
        ValueError: If ``mode`` is not "CONSTANT".

    >>> import minitape as tf
    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy()
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    """
    x = to_tensor(tensor)
    padding_tensor = to_tensor(paddings)
    if mode.upper() != "CONSTANT":
        raise ValueError(f"minitape pads with constants only: mode must be 'CONSTANT', got {mode!r}")
    log_use_as_size(padding_tensor)
    sizes = np.asarray(padding_tensor.array)
    if sizes.shape != (x.ndim, 2) or not padding_tensor.dtype.is_integer or (sizes < 0).any():
        raise build_argument_error(
            f"paddings must contain a pair of numbers of at least 0 for each of the {x.ndim} axes, got {paddings}"
        )
    is_zero = type(constant_values) in (int, float) and constant_values == 0
    zero = {"s": b"", "b": False}.get(x.dtype.kind, constant_values)
    fill_value = convert_to_tensor(zero if is_zero else constant_values, x.dtype).array
    return apply_primitive("pad", x, paddings=tuple((int(a), int(b)) for a, b in sizes), fill=fill_value)
