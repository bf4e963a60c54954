"""``tf.keras.ops``: elements at certain places, and elements in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from .common import axis_of, convert, flat


def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """The elements, or the slices along an axis, at these places.

    ``x`` is a tensor of any shape and dtype, ``indices`` one of integers; negative ones count from the end. Without
    ``axis`` places are counted through all elements. The shape of ``indices`` stands in the result where the axis was.
    Differentiable in ``x``. Raises InvalidArgumentError for a place that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.take([[1, 2], [3, 4]], [0, -1], axis=1).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x, axis = flat(convert(x), axis)
    indices = convert(indices)
    size = tf.cast(tf.shape(x)[axis], indices.dtype)
    return tf.gather(x, tf.where(indices < 0, indices + size, indices), axis=axis)


def take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """For each place in ``indices`` the element of ``x`` on the same line along an axis.

    ``x`` is a tensor of any dtype, ``indices`` one of integers with as many axes, whose sizes broadcast to those of ``x``
    but for ``axis``; negative places count from the end. Without ``axis`` both count through all elements of ``x``.
    Differentiable in ``x``. Raises ValueError for another number of axes.

    >>> import minitape as tf
    >>> tf.keras.ops.take_along_axis([[1, 2], [3, 4]], [[1], [-2]], axis=1).numpy()
    array([[2],
           [3]], dtype=int32)
    """
    x, indices = convert(x), convert(indices)
    if axis is None:
        if len(indices.shape) != 1:
            raise ValueError(f"`indices` must be 1D if axis=None. Received: indices.shape={tuple(indices.shape)}")
        return take_along_axis(tf.reshape(x, [-1]), indices, 0)
    rank = len(x.shape)
    if rank != len(indices.shape):
        raise ValueError(
            f"The rank of `x` and `indices` must match. Received: x.shape={tuple(x.shape)}, "
            f"indices.shape={tuple(indices.shape)}"
        )
    axis = axis_of(axis, rank)
    sizes, places = tf.shape(x), tf.shape(indices)
    on_axis = tf.range(rank) == axis
    common = tf.maximum(sizes, places)
    indices = tf.broadcast_to(indices, tf.where(on_axis, places, common))
    x = tf.broadcast_to(x, tf.where(on_axis, sizes, common))
    order = [i for i in range(rank) if i != axis] + [axis]
    x, indices = tf.transpose(x, order), tf.transpose(indices, order)
    length = tf.cast(tf.shape(x)[-1], indices.dtype)
    found = tf.gather(x, tf.where(indices < 0, indices + length, indices), axis=-1, batch_dims=rank - 1)
    return tf.transpose(found, [order.index(i) for i in range(rank)])


def nonzero(x: Any) -> Any:
    """The places of the elements that are not 0, as a list of vectors of int32, one for each axis.

    ``x`` is a tensor of numbers or bools of any shape but (). Not differentiable.

    >>> import minitape as tf
    >>> [v.numpy() for v in tf.keras.ops.nonzero([[0, 5], [6, 0]])]
    [array([0, 1], dtype=int32), array([1, 0], dtype=int32)]
    """
    return tf.unstack(convert(tf.where(convert(x, "bool")), "int32"), axis=1)


def tril(x: Any, k: int = 0) -> Tensor:
    """What stands on a diagonal and below, with zeros above.

    ``x`` is a tensor of numbers of shape (..., rows, columns); ``k`` counts diagonals upwards from the main one. The
    result has its shape and dtype. Differentiable. Raises InvalidArgumentError for fewer than two axes.

    >>> import minitape as tf
    >>> tf.keras.ops.tril([[1, 2], [3, 4]]).numpy()
    array([[1, 0],
           [3, 4]], dtype=int32)
    """
    return _triangle(convert(x), k, below=True)


def triu(x: Any, k: int = 0) -> Tensor:
    """What stands on a diagonal and above, with zeros below.

    ``x`` is a tensor of numbers of shape (..., rows, columns); ``k`` counts diagonals upwards from the main one. The
    result has its shape and dtype. Differentiable. Raises InvalidArgumentError for fewer than two axes.

    >>> import minitape as tf
    >>> tf.keras.ops.triu([[1, 2], [3, 4]], k=1).numpy()
    array([[0, 2],
           [0, 0]], dtype=int32)
    """
    return _triangle(convert(x), k - 1, below=False)


def _triangle(x: Any, k: int, below: bool) -> Any:
    if len(x.shape) < 2:
        return tf.linalg.band_part(x, -1, 0)  # which says what is wrong
    kept = np.tri(x.shape[-2], x.shape[-1], k, dtype=bool) == below
    return tf.where(kept, x, tf.zeros_like(x))


def diag(x: Any, k: int = 0) -> Tensor:
    """The matrix with this diagonal and zeros elsewhere, or the diagonal of a matrix.

    ``x`` is a vector or a matrix of numbers; ``k`` counts diagonals upwards from the main one. Differentiable. Raises
    ValueError for another number of axes.

    >>> import minitape as tf
    >>> tf.keras.ops.diag([1, 2]).numpy(), tf.keras.ops.diag([[1, 2], [3, 4]]).numpy()
    (array([[1, 0],
           [0, 2]], dtype=int32), array([1, 4], dtype=int32))
    """
    x = convert(x)
    if len(x.shape) not in (1, 2):
        raise ValueError(f"`x` must be 1d or 2d. Received: x.shape={tuple(x.shape)}")
    return (tf.linalg.diag if len(x.shape) == 1 else tf.linalg.diag_part)(x, k=k)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of the matrices that two axes hold; it stands along the last axis.

    ``x`` is a tensor of two axes or more and of any dtype; ``offset`` counts diagonals upwards from the main one.
    Differentiable. Raises ValueError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.diagonal(tf.constant([[1, 2], [3, 4]]), offset=1).numpy()
    array([2], dtype=int32)
    """
    return tf.linalg.diag_part(_matrices(convert(x), axis1, axis2), k=offset)


def _matrices(x: Any, axis1: int, axis2: int) -> Any:
    """``x`` with these two axes last; ValueError for an axis that is not there."""
    count = len(x.shape)
    last = [axis_of(axis1, count), axis_of(axis2, count)]
    return tf.transpose(x, [axis for axis in range(count) if axis not in last] + last)


def slice(inputs: Any, start_indices: Any, shape: Any) -> Tensor:
    """The block of this shape that begins at these places, one for each axis.

    ``inputs`` is a tensor of any shape and dtype. Differentiable. Raises InvalidArgumentError for a block that reaches
    beyond it.

    >>> import minitape as tf
    >>> tf.keras.ops.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2]).numpy()
    array([[2, 3],
           [5, 6]], dtype=int32)
    """
    return tf.slice(convert(inputs), start_indices, shape)


def scatter(indices: Any, values: Any, shape: Any) -> Tensor:
    """Zeros of this shape with the values added at these places.

    ``indices`` is a tensor of integers of shape (..., depth), where depth axes of the result are named; ``values`` has
    one number (or slice) for each. The result has the dtype of ``values``. Differentiable in ``values``. Raises
    InvalidArgumentError for a place that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.scatter([[0], [2], [2]], [5, 7, 1], [4]).numpy()
    array([5, 0, 8, 0], dtype=int32)
    """
    return tf.scatter_nd(indices, convert(values), shape)


UPDATES = {None: "update", "add": "add", "max": "max", "min": "min"}


def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Tensor:
    """A copy with other values at these places.

    ``inputs`` is a tensor of any shape and dtype, ``indices`` one of integers of shape (..., depth), ``updates`` has one
    number (or slice) for each. ``reduction`` "add", "max", "min" or "mul" combines the old with the new. Differentiable
    in ``inputs`` and ``updates``, except with "mul". Raises ValueError for another ``reduction`` and
    InvalidArgumentError for a place that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.scatter_update([1, 2, 3], [[1]], [9]).numpy()
    array([1, 9, 3], dtype=int32)
    >>> tf.keras.ops.scatter_update([1, 2, 3], [[1]], [9], reduction="add").numpy()
    array([ 1, 11,  3], dtype=int32)
    """
    inputs = convert(inputs)
    updates = convert(updates, inputs.dtype.name)
    if reduction == "mul":
        factors = tf.tensor_scatter_nd_update(tf.ones_like(inputs), indices, updates)
        return inputs * factors
    if reduction not in UPDATES:
        raise ValueError(f"Invalid reduction: {reduction}. Supported values are: None, 'add', 'max', 'min', 'mul'.")
    return getattr(tf, f"tensor_scatter_nd_{UPDATES[reduction]}")(inputs, indices, updates)


def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The differences of neighbours along an axis, taken ``n`` times.

    ``a`` is a tensor of numbers of any shape but (); the axis gets shorter by ``n``. Differentiable. Raises
    ValueError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.diff([1, 4, 9, 16]).numpy(), tf.keras.ops.diff([1, 4, 9, 16], n=2).numpy()
    (array([3, 5, 7], dtype=int32), array([2, 2], dtype=int32))
    """
    a = convert(a)
    axis = axis_of(axis, len(a.shape))
    first = [0] * len(a.shape)
    second = [int(i == axis) for i in range(len(a.shape))]
    for _ in range(n):
        sizes = [size - step for size, step in zip(a.shape, second, strict=True)]
        a = tf.slice(a, second, sizes) - tf.slice(a, first, sizes)
    return a


def sort(x: Any, axis: int | None = -1) -> Tensor:
    """The elements in order along an axis, the smallest first.

    ``x`` is a tensor of numbers of any shape but (); None sorts all elements as a vector. Differentiable. Raises
    InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.sort([[3, 1, 2]]).numpy()
    array([[1, 2, 3]], dtype=int32)
    """
    x, axis = flat(convert(x), axis)
    return convert(tf.sort(_ordered(x), axis=axis), x.dtype.name)


def argsort(x: Any, axis: int | None = -1) -> Tensor:
    """The places of the elements in order, of equal ones the first first.

    ``x`` is a tensor of numbers of any shape but (); None counts places through all axes. The result is int32. The
    gradient is 0. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.argsort([30, 10, 20]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    x, axis = flat(convert(x), axis)
    return tf.argsort(_ordered(x), axis=axis)


def _ordered(x: Any) -> Any:
    """``x``, bools as integers, which can be sorted."""
    return convert(x, "int8") if x.dtype.name == "bool" else x


def top_k(x: Any, k: int, sorted: bool = True) -> Any:
    """The ``k`` largest elements of the last axis, and where they are.

    ``x`` is a tensor of numbers of any shape but (); the result is a pair ``(values, indices)`` of its dtype and int32.
    Differentiable in the values. Raises InvalidArgumentError for an axis shorter than ``k``.

    >>> import minitape as tf
    >>> values, indices = tf.keras.ops.top_k([1, 3, 2], 2)
    >>> values.numpy(), indices.numpy()
    (array([3, 2], dtype=int32), array([1, 2], dtype=int32))
    """
    return tf.math.top_k(convert(x), k, sorted)


def in_top_k(targets: Any, predictions: Any, k: int) -> Tensor:
    """Whether the target of each row is among its ``k`` largest predictions.

    ``targets`` is a vector of integers, ``predictions`` a matrix of floats with a row for each. The result is a vector
    of bools. Not differentiable. Raises InvalidArgumentError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], k=1).numpy()
    array([ True, False])
    """
    return tf.math.in_top_k(targets, predictions, k)
