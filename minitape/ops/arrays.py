"""Tensors as a whole: their shape, and the same elements in another one or in another order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..engine.hooks import hooks
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.opdefs import accept_attr
from ..engine.tensor.operation import apply
from ..engine.tensor.slices import IndexedSlices
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import at_run, invalid, shape_text
from ..engine.values.shape import TensorShape, as_shape
from .operands import axes_of, call, fill_sizes, integers, postpone, quick, tensor_of

newaxis = None


@quick()
@postpone
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same value, as a row of its own. Differentiable.

    It has the shape and dtype of ``input``, which may also be ragged or IndexedSlices.

    >>> import minitape as tf
    >>> x = tf.constant([1.0])
    >>> tf.identity(x) is x
    False
    """
    if isinstance(input, IndexedSlices):
        return IndexedSlices(*[identity(c) for c in input._components()])
    return call("identity", tensor_of(input))


def identity_n(input: Any, name: str | None = None) -> list:
    """Each tensor of a list again, as the results of one operation. Differentiable.

    What one of the results depends on, all do: gradients with respect to the other tensors are zeros, not None.

    >>> import minitape as tf
    >>> [t.numpy() for t in tf.identity_n([1, 2.5])]
    [np.int32(1), np.float32(2.5)]
    """
    tensors = [tensor_of(x) for x in input]
    return list(apply(TABLE["identity_n"], tuple(tensors), {})) if len(tensors) > 1 else [identity(x) for x in tensors]


@postpone
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
    if hasattr(input, "_composite"):
        return input.with_values(stop_gradient(input.values))
    return call("stop_gradient", input._peek() if hasattr(input, "_peek") else tensor_of(input))


# -- shape -----------------------------------------------------------------------------------------


@postpone
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The sizes of the axes as a 1-d tensor (int32 unless ``out_type`` says otherwise). No gradient passes.

    >>> import minitape as tf
    >>> tf.shape([[1, 2], [3, 4], [5, 6]]).numpy()
    array([3, 2], dtype=int32)
    """
    dtype = dtypes.as_dtype(out_type or dtypes.int32)
    accept_attr("Shape", "out_type", dtype)
    return call("shape", tensor_of(input), dtype=dtype)


@postpone
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements, as a scalar tensor.

    It is int32 unless ``out_type`` says otherwise. No gradient passes.

    >>> import minitape as tf
    >>> tf.size([[1, 2], [3, 4]]).numpy()
    np.int32(4)
    """
    return call("size", tensor_of(input), dtype=dtypes.as_dtype(out_type or dtypes.int32))


@postpone
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes, as a scalar tensor.

    It is int32. No gradient passes.

    >>> import minitape as tf
    >>> tf.rank([[1, 2]]).numpy()
    np.int32(2)
    """
    return call("rank", tensor_of(input))


@postpone
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
        sizes = _given_sizes(shape)
    dims: Any = x._dims if type(x) is EagerTensor else x.shape.as_list() if x.shape.is_fully_defined() else None
    if dims is not None:
        sizes = _reshape_sizes(dims, sizes)
    return call("reshape", x, shape=tuple(sizes))


def _given_sizes(shape: Any) -> list[int]:
    """A shape that is more than a list of integers."""
    if isinstance(shape, (list, tuple, TensorShape)) and any(n is None for n in shape):
        convert_to_tensor(list(shape))  # raises
    listed = isinstance(shape, (list, tuple))  # with tensors in it
    given = integers(tensor_of(shape) if isinstance(shape, TensorShape) else shape, "Reshape", "Tshape", noted=listed)
    if given.ndim > 1:
        raise invalid(f"sizes input must be 1-D, not {shape_text(given.shape)}", "Reshape")
    return given.reshape(-1).tolist()


def _reshape_sizes(dims: Sequence[int], sizes: list[int]) -> list[int]:
    """The sizes with what is left in the place of -1; InvalidArgumentError when they do not fit the old ones."""
    count = math.prod(dims)
    unknown, product = None, 1
    for i, n in enumerate(sizes):
        if n == -1:
            if unknown is not None:
                raise at_run(f"Only one input size may be -1, not both {unknown} and {i}", "Reshape")
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


@postpone
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
    else:
        order = _order(integers(perm, "Transpose", "Tperm"), a.ndim)
    out = call("transpose", a, perm=order)
    return call("conj", out) if conjugate and a.dtype.is_complex else out


def _order(perm: Any, n: int) -> tuple[int, ...]:
    if perm.ndim != 1:
        raise invalid(f"perm must be rank 1, got shape {shape_text(perm.shape)}", "Transpose")
    if perm.size != n:
        raise invalid(
            f"transpose expects a vector of size {n}. But input(1) is a vector of size {perm.size}", "Transpose"
        )
    order = [int(p) for p in perm]
    for p in order:
        if not -n <= p < n:
            raise invalid(f"{p} is out of range [0 .. {n})", "Transpose")
    order = [p % n for p in order]
    for i in range(n):
        if i not in order:
            raise invalid(f"{i} is missing from {{{','.join(map(str, perm))}}}.", "Transpose")
    return tuple(order)


@postpone
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


@postpone
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


@postpone
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """The tensor repeated along new axes and axes of size 1 until it has ``shape``. Differentiable.

    InvalidArgumentError for a shape to which it cannot be broadcast.

    >>> import minitape as tf
    >>> tf.broadcast_to([1, 2], [2, 2]).numpy()
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    x = tensor_of(input)
    given = tensor_of(shape) if isinstance(shape, TensorShape) else shape
    given = integers(given, "BroadcastTo", "Tidx")
    if given.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {shape_text(given.shape)}", "BroadcastTo")
    sizes = fill_sizes(given.tolist(), "BroadcastTo")
    if x.ndim > len(sizes):
        raise invalid(
            f"Rank of input ({x.ndim}) must be no greater than rank of output shape ({len(sizes)}).", "BroadcastTo"
        )
    pairs = list(zip(reversed(list(x.shape)), reversed(sizes), strict=False))
    if any(m not in (n, 1, None) for m, n in pairs):
        raise invalid(f"Incompatible shapes: {shape_text(x.shape)} vs. {shape_text(sizes)}", "BroadcastTo")
    return call("broadcast_to", x, shape=tuple(sizes))


@postpone
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape to which two shapes broadcast; ValueError when they do not.

    >>> import minitape as tf
    >>> tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([1, 4]))
    TensorShape([3, 4])
    """
    x, y = shape_x, shape_y
    if x.ndims is None or y.ndims is None:
        return TensorShape(None)
    pairs = list(zip_longest(x.as_list()[::-1], y.as_list()[::-1], fillvalue=1))
    if any(m != n and 1 not in (m, n) and None not in (m, n) for m, n in pairs):
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
            f"pair they are either equal or one of them is 1. Received: {x} and {y}."
        )
    return TensorShape([m if n in (1, m, None) and m != 1 else n for m, n in reversed(pairs)])


@postpone
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The same for shapes given as tensors; InvalidArgumentError when they do not broadcast.

    >>> import minitape as tf
    >>> tf.broadcast_dynamic_shape([3, 1], [1, 4]).numpy()
    array([3, 4], dtype=int32)
    """
    x, y = tensor_of(shape_x), tensor_of(shape_y)
    try:
        sizes = np.broadcast_shapes(tuple(x.array.tolist()), tuple(y.array.tolist()))
    except ValueError:
        raise invalid(
            "Incompatible shapes: " + " vs. ".join(shape_text(s.array.tolist()) for s in (x, y)), "BroadcastArgs"
        ) from None
    return new_tensor(np.array(sizes, x.array.dtype))


@postpone
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """The tensor itself, if it has the shape; sizes of None fit anything. Differentiable.

    Raises InvalidArgumentError otherwise.

    >>> import minitape as tf
    >>> tf.ensure_shape([1, 2], [None]).numpy()
    array([1, 2], dtype=int32)
    """
    x, wanted = tensor_of(x), as_shape(shape)
    if not wanted.is_compatible_with(x.shape):
        raise invalid(
            f"Shape of tensor input {shape_text(x.shape)} is not compatible with expected shape {shape_text(wanted)}.",
            "EnsureShape",
        )
    if state.graph is not None and not x.shape.is_subtype_of(wanted):  # only a run can say
        both = x.shape.merge_with(wanted)
        return hooks.add_effect(lambda t: [ensure_shape(t, wanted)], [x], [(both, x.dtype)], name="EnsureShape")[0]
    return call("identity", x)


@postpone
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The order of the elements reversed along each of the axes in a list. Differentiable.

    The result has the shape and dtype of the tensor. InvalidArgumentError for an axis that is not there or comes twice.

    >>> import minitape as tf
    >>> tf.reverse([1, 2, 3], [0]).numpy()
    array([3, 2, 1], dtype=int32)
    """
    x, axes = tensor_of(tensor), integers(axis, "ReverseV2", "Tidx")
    if state.graph is None and (x.ndim == 0 or x.shape.num_elements() == 0):
        return identity(x)
    if axes.ndim != 1:
        raise invalid(f"'dims' must be 1-dimension, not {axes.ndim}", "ReverseV2")
    places: list[int] = []
    for i, a in enumerate(axes.tolist()):
        if not -x.ndim <= a < x.ndim:
            raise invalid(f"'axis'[{i}] = {a} is out of valid range [0, {x.ndim - 1}", "ReverseV2")
        if a % x.ndim in places:
            raise invalid(f"axis {a % x.ndim} specified more than once.", "ReverseV2")
        places.append(a % x.ndim)
    return call("reverse", x, axis=tuple(places))


@postpone
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """The elements moved on by ``shift`` places along an axis (or several); what leaves at the end enters at the front.

    Differentiable.

    >>> import minitape as tf
    >>> tf.roll([1, 2, 3, 4], 1, 0).numpy()
    array([4, 1, 2, 3], dtype=int32)
    """
    x, shifts, axes = tensor_of(input), integers(shift, "Roll", "Tshift"), integers(axis, "Roll", "Taxis")
    if x.ndim == 0:
        raise invalid("input must be 1-D or higher", "Roll")
    if shifts.shape != axes.shape:
        raise invalid("shift and axis must have the same size", "Roll")
    for a in axes.reshape(-1):
        if not -x.ndim <= a < x.ndim:
            raise at_run(f"axis {a} is out of range", "Roll")
    return call(
        "roll",
        x,
        shift=tuple(int(s) for s in shifts.reshape(-1)),
        axis=tuple(int(a) % x.ndim for a in axes.reshape(-1)),
    )
