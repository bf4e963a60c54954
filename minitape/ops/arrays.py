"""Tensors as a whole: their shape, and the same elements in another one or in another order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.hooks import hooks
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from ..engine.values.shape import TensorShape
from .operands import axes_of, call, integers, quick, tensor_of

newaxis = None


@quick()
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same value, as a row of its own. Differentiable.

    It has the shape and dtype of ``input``, which may also be ragged or IndexedSlices.

    >>> import minitape as tf
    >>> x = tf.constant([1.0])
    >>> tf.identity(x) is x
    False
    """
    return call("identity", tensor_of(input))


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient passes.

    It has the shape and dtype of ``input``: tapes take it for a constant.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    return call("stop_gradient", input._peek() if hasattr(input, "_peek") else tensor_of(input))


# -- shape -----------------------------------------------------------------------------------------


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The sizes of the axes as a 1-d tensor (int32 unless ``out_type`` says otherwise). No gradient passes.

    >>> import minitape as tf
    >>> tf.shape([[1, 2], [3, 4], [5, 6]]).numpy()
    array([3, 2], dtype=int32)
    """
    dtype = dtypes.as_dtype(out_type or dtypes.int32)
    return call("shape", tensor_of(input), dtype=dtype)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements, as a scalar tensor.

    It is int32 unless ``out_type`` says otherwise. No gradient passes.

    >>> import minitape as tf
    >>> tf.size([[1, 2], [3, 4]]).numpy()
    np.int32(4)
    """
    return call("size", tensor_of(input), dtype=dtypes.as_dtype(out_type or dtypes.int32))


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes, as a scalar tensor.

    It is int32. No gradient passes.

    >>> import minitape as tf
    >>> tf.rank([[1, 2]]).numpy()
    np.int32(2)
    """
    return call("rank", tensor_of(input))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1: what is left. Differentiable.

    Raises InvalidArgumentError when the numbers of elements differ.

    >>> import minitape as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x = tensor_of(tensor)
    if type(shape) in (list, tuple) and {*map(type, shape)} == {int}:
        sizes = list(shape)
    else:
        sizes = [*map(int, integers(shape, "Reshape", "Tshape", noted=True).reshape(-1))]
    dims: Any = x._dims if type(x) is EagerTensor else x.shape.as_list() if x.shape.is_fully_defined() else None
    if dims is not None:
        sizes = _reshape_sizes(dims, sizes)
    return call("reshape", x, shape=tuple(sizes))


def _reshape_sizes(dims: Sequence[int], sizes: list[int]) -> list[int]:
    """The sizes with what is left in the place of -1; InvalidArgumentError when they do not fit the old ones."""
    count = math.prod(dims)
    unknown, product = None, 1
    for i, n in enumerate(sizes):
        if n == -1:
            if unknown is not None:
                raise invalid(f"Only one input size may be -1, not both {unknown} and {i}", "Reshape")
            unknown = i
        elif n < 0:
            raise invalid(f"Size {i} must be non-negative, not {n}", "Reshape")
        else:
            product *= n
    if unknown is None:
        if product != count:
            raise invalid(
                f"Input to reshape is a tensor with {count} values, but the requested shape has {product}", "Reshape"
            )
        return sizes
    values, empty = count, False
    if product == 0:  # zeros here and there stand for each other
        product = math.prod(n for n in sizes if n not in (-1, 0))
        values, empty = math.prod(n for n in dims if n), 0 in dims
    if values % product and not empty:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple "
            f"of {product}",
            "Reshape",
        )
    if count and 0 in sizes:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has 0", "Reshape")
    return [values // product if n == -1 else n for n in sizes]


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """The axes in another order, reversed by default; ``conjugate`` also conjugates. Differentiable.

    InvalidArgumentError unless ``perm`` names each axis once.

    >>> import minitape as tf
    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    a = tensor_of(a)
    if perm is None:
        order = tuple(range(a.ndim))[::-1]
    out = call("transpose", a, perm=order)
    return call("conj", out) if conjugate and a.dtype.is_complex else out


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """A new axis of size 1 at place ``axis`` (negative: counted from the end). Differentiable.

    InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.expand_dims([1, 2], -1).numpy()
    array([[1],
           [2]], dtype=int32)
    """
    x = tensor_of(input)
    if type(axis) is not int:
        axis = integers(axis, "ExpandDims", "Tdim")
        if np.size(axis) != 1:
            raise invalid("'dim' must be a tensor with a single value", "ExpandDims")
        axis = int(np.reshape(axis, ())[()])
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {x.ndim} dimensions.", "ExpandDims")
    place = axis if axis >= 0 else axis + x.ndim + 1
    sizes = list(x.shape)
    if sizes.count(None) > 1:  # a graph's tensor, of which too little is known for a reshape
        return call("slice", x, spec=(*[slice(None)] * place, None))
    sizes.insert(place, 1)
    return call("reshape", x, shape=_unknown_as_rest(sizes))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Without its axes of size 1, or without those listed. Differentiable.

    Raises InvalidArgumentError for an axis of another size.

    >>> import minitape as tf
    >>> tf.squeeze([[[1], [2]]]).numpy()
    array([1, 2], dtype=int32)
    """
    x = tensor_of(input)
    axes = axes_of(axis)
    for a in axes or ():
        if not -x.ndim <= a < x.ndim:
            raise invalid(f"Tried to squeeze dim index {a} for tensor with {x.ndim} dimensions.", "Squeeze")
        if x.shape[a] not in (1, None):
            raise invalid(f"Can not squeeze dim[{a % x.ndim}], expected a dimension of 1, got {x.shape[a]}", "Squeeze")
    if not axes and not x.shape.is_fully_defined():
        return new_tensor(x.array)  # never in eager mode; in a graph asking for the value puts the call off
    if any(x.shape[a] is None for a in axes or ()):  # only a run can say whether it is 1
        left = [n for i, n in enumerate(x.shape) if i not in {a % x.ndim for a in axes or ()}]
        return hooks.add_effect(lambda t: [squeeze(t, axes)], [x], [(TensorShape(left), x.dtype)], name="Squeeze")[0]
    drop = {a % x.ndim for a in axes} if axes else {i for i, n in enumerate(x.shape) if n == 1}
    if list(x.shape).count(None) > 1:
        return call("slice", x, spec=tuple(0 if i in drop else slice(None) for i in range(x.ndim)))
    return call("reshape", x, shape=_unknown_as_rest([n for i, n in enumerate(x.shape) if i not in drop]))


def _unknown_as_rest(sizes: list) -> tuple[int, ...]:
    return tuple(-1 if n is None else n for n in sizes)


# -- broadcasting ----------------------------------------------------------------------------------
