"""``tf.keras.ops``: the same elements in another shape or order, joined, cut and repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from .common import alike, axis_of, convert


def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape of ``x``.

    ``x`` is a tensor of any shape and dtype, or what can become one; the zeros have its dtype or ``dtype``. Not
    differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.zeros_like([[1.5, 2.5]]).numpy()
    array([[0., 0.]], dtype=float32)
    """
    return tf.zeros_like(convert(x), dtype)


def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Ones in the shape of ``x``.

    ``x`` is a tensor of any shape and dtype, or what can become one; the ones have its dtype or ``dtype``. Not
    differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.ones_like([[1.5, 2.5]], dtype="int32").numpy()
    array([[1, 1]], dtype=int32)
    """
    return tf.ones_like(convert(x), dtype)


def size(x: Any) -> Tensor:
    """The number of elements, as a tensor of int32.

    ``x`` is a tensor of any shape and dtype, or what can become one. Not differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.size([[1, 2, 3], [4, 5, 6]]).numpy()
    np.int32(6)
    """
    return tf.size(convert(x))


def reshape(x: Any, newshape: Any) -> Tensor:
    """The elements in another shape, in the same order.

    ``x`` is a tensor of any shape and dtype; one size of ``newshape`` may be -1 and is then what fits. Differentiable.
    Raises InvalidArgumentError for a shape of another number of elements.

    >>> import minitape as tf
    >>> tf.keras.ops.reshape([1, 2, 3, 4], (2, -1)).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return tf.reshape(convert(x), newshape)


def transpose(x: Any, axes: Any = None) -> Tensor:
    """The axes in another order, the reverse one by default.

    ``x`` is a tensor of any shape and dtype; ``axes`` names each of its axes once. Differentiable. Raises
    InvalidArgumentError when they are too few, too many or not all different.

    >>> import minitape as tf
    >>> tf.keras.ops.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    return tf.transpose(convert(x), axes)


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged.

    ``x`` is a tensor of any shape and dtype. Differentiable. Raises ValueError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.swapaxes(tf.zeros((1, 2, 3)), 0, 2).shape
    TensorShape([3, 2, 1])
    """
    x = convert(x)
    order = list(range(len(x.shape)))
    axis1, axis2 = axis_of(axis1, len(order)), axis_of(axis2, len(order))
    order[axis1], order[axis2] = axis2, axis1
    return tf.transpose(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places; the others keep their order.

    ``x`` is a tensor of any shape and dtype, ``source`` and ``destination`` are an axis or sequences of equally many.
    Differentiable. Raises ValueError for sequences of unequal lengths.

    >>> import minitape as tf
    >>> tf.keras.ops.moveaxis(tf.zeros((1, 2, 3)), 0, -1).shape
    TensorShape([2, 3, 1])
    """
    x = convert(x)
    count = len(x.shape)
    source, destination = ([axis_of(v, count) for v in np.atleast_1d(axes).tolist()] for axes in (source, destination))
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements, but received "
            f"`source={source}` and `destination={destination}`."
        )
    order = [axis for axis in range(count) if axis not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return tf.transpose(x, order)


def expand_dims(x: Any, axis: Any) -> Tensor:
    """One or several new axes of size 1.

    ``x`` is a tensor of any shape and dtype; ``axis`` says where they stand in the result. Differentiable. Raises
    ValueError for a place that the result does not have.

    >>> import minitape as tf
    >>> tf.keras.ops.expand_dims([1, 2], 1).numpy()
    array([[1],
           [2]], dtype=int32)
    """
    x = convert(x)
    axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    for at in sorted(axis_of(a, len(x.shape) + len(axes)) for a in axes):
        x = tf.expand_dims(x, at)
    return x


def squeeze(x: Any, axis: Any = None) -> Tensor:
    """Without axes of size 1: those named, or all.

    ``x`` is a tensor of any shape and dtype. Differentiable. Raises ValueError for a named axis of another size.

    >>> import minitape as tf
    >>> tf.keras.ops.squeeze([[[1, 2]]], axis=0).numpy()
    array([[1, 2]], dtype=int32)
    """
    x = convert(x)
    for at in () if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,):
        if x.shape[at] != 1:
            raise ValueError(f"Cannot squeeze axis={at}, because the dimension is not 1.")
    return tf.squeeze(x, axis)


def ravel(x: Any) -> Tensor:
    """All elements along one axis.

    ``x`` is a tensor of any shape and dtype, the result a vector of its dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.ravel([[1, 2], [3, 4]]).numpy()
    array([1, 2, 3, 4], dtype=int32)
    """
    return tf.reshape(convert(x), [-1])


def broadcast_to(x: Any, shape: Any) -> Tensor:
    """``x`` repeated along axes of size 1 until it has this shape.

    ``x`` is a tensor of any dtype. Differentiable: the gradient is summed over what was repeated. Raises
    InvalidArgumentError for a shape to which it does not broadcast.

    >>> import minitape as tf
    >>> tf.keras.ops.broadcast_to([1, 2], (2, 2)).numpy()
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    return tf.broadcast_to(convert(x), shape)


def concatenate(xs: Any, axis: int = 0) -> Tensor:
    """Tensors joined along an axis that they have.

    ``xs`` is a sequence of tensors of shapes that differ in that axis only; the result has the dtype that holds all of
    theirs. Differentiable in each. Raises InvalidArgumentError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.concatenate([tf.constant([[1, 2]]), tf.constant([[3, 4]])], axis=1).numpy()
    array([[1, 2, 3, 4]], dtype=int32)
    """
    return tf.concat(alike(*xs), axis)


def hstack(xs: Any) -> Tensor:
    """Tensors joined side by side: along the second axis, vectors along their only one.

    ``xs`` is a sequence of tensors of shapes that differ in that axis only; the result has the dtype that holds all of
    theirs. Differentiable in each. Raises InvalidArgumentError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.hstack([tf.constant([[1], [2]]), tf.constant([[3], [4]])]).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    tensors = alike(*xs)
    return tf.concat(tensors, 0 if len(tensors[0].shape) == 1 else 1)


def vstack(xs: Any) -> Tensor:
    """Tensors joined one below the other: along the first axis, vectors end to end.

    ``xs`` is a sequence of tensors of shapes that differ in that axis only; the result has the dtype that holds all of
    theirs. Differentiable in each. Raises InvalidArgumentError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.vstack([tf.constant([[1, 2]]), tf.constant([[3, 4]])]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return tf.concat(alike(*xs), 0)


def stack(x: Any, axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis.

    ``x`` is a sequence of tensors; the result has the dtype that holds all of theirs. Differentiable in each. Raises
    InvalidArgumentError for tensors of different shapes.

    >>> import minitape as tf
    >>> tf.keras.ops.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return tf.stack(alike(*x), axis)


def unstack(x: Any, num: int | None = None, axis: int = 0) -> Any:
    """The slices along an axis, as a list of tensors without that axis.

    ``x`` is a tensor of any shape but (), and of any dtype; ``num`` says how many there are when that is not known.
    Differentiable. Raises InvalidArgumentError for a ``num`` that does not fit.

    >>> import minitape as tf
    >>> [v.numpy() for v in tf.keras.ops.unstack([[1, 2], [3, 4]])]
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
    return tf.unstack(convert(x), num, axis)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """The pieces along an axis: so many of one size, or cut before these places.

    ``x`` is a tensor of any shape but (), and of any dtype; the pieces are a list. Differentiable. Raises
    InvalidArgumentError for a size that is not a multiple of the number of pieces.

    >>> import minitape as tf
    >>> [v.numpy() for v in tf.keras.ops.split(tf.constant([1, 2, 3, 4]), [1])]
    [array([1], dtype=int32), array([2, 3, 4], dtype=int32)]
    """
    x = convert(x)
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    ends = [0, *indices_or_sections, x.shape[axis]]
    return tf.split(x, list(np.diff(ends)), axis)


def tile(x: Any, repeats: Any) -> Tensor:
    """Copies of the whole tensor side by side.

    ``x`` is a tensor of any shape and dtype; ``repeats`` is a number for the last axis, or one for each of the last axes.
    Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.tile([1, 2], 2).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x = convert(x)
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    x = tf.reshape(x, [1] * (len(repeats) - len(x.shape)) + list(x.shape))
    return tf.tile(x, [1] * (len(x.shape) - len(repeats)) + repeats)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times in a row.

    ``x`` is a tensor of any shape and dtype; ``repeats`` is a number, or one for each element of the axis. Without
    ``axis`` the result is a vector. Differentiable. Raises ValueError for too few or too many numbers.

    >>> import minitape as tf
    >>> tf.keras.ops.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2], dtype=int32)
    """
    return tf.repeat(convert(x), repeats, axis)


def flip(x: Any, axis: Any = None) -> Tensor:
    """The order of an axis, of several or of all turned around.

    ``x`` is a tensor of any shape and dtype. Differentiable. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.flip([[1, 2], [3, 4]], axis=1).numpy()
    array([[2, 1],
           [4, 3]], dtype=int32)
    """
    x = convert(x)
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


def roll(x: Any, shift: Any, axis: Any = None) -> Tensor:
    """The elements moved on by ``shift`` places, the last ones to the beginning.

    ``x`` is a tensor of any shape and dtype; without ``axis`` all elements count as one row. Differentiable. Raises
    InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.roll([1, 2, 3, 4], 1).numpy()
    array([4, 1, 2, 3], dtype=int32)
    """
    x = convert(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), x.shape)
    return tf.roll(x, shift, axis)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Tensor:
    """``x`` with a border: of one value, or mirrored at the edge (``"reflect"``, ``"symmetric"``).

    ``x`` is a tensor of any shape and dtype; ``pad_width`` is a number, a pair (before, after), or a pair for each axis.
    The border is 0 without ``constant_values``. Differentiable. Raises ValueError for another mode, and for
    ``constant_values`` where the border is mirrored.

    >>> import minitape as tf
    >>> tf.keras.ops.pad([1, 2], (1, 2), constant_values=9).numpy()
    array([9, 1, 2, 9, 9], dtype=int32)
    """
    x = convert(x)
    if constant_values is not None and mode != "constant":
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. "
            f"Received: mode={mode}, constant_values={constant_values}"
        )
    widths = np.broadcast_to(pad_width, (len(x.shape), 2)).tolist()
    return tf.pad(x, widths, mode.upper(), 0 if constant_values is None else constant_values)


def meshgrid(*x: Any, indexing: str = "xy") -> Any:
    """The coordinates of all points of a grid, one tensor for each vector.

    The vectors have any dtype; each result has as many axes as there are vectors, of their sizes, the first two
    exchanged unless ``indexing`` is "ij". Differentiable. Raises ValueError for another ``indexing``.

    >>> import minitape as tf
    >>> [v.numpy().tolist() for v in tf.keras.ops.meshgrid([1, 2, 3], [4, 5])]
    [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]]
    """
    return tf.meshgrid(*[convert(v) for v in x], indexing=indexing)
