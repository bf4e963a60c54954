"""Elements picked out of tensors, and put at listed places: gather, masks, where, unique, scatter."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..engine.recording.evidence import origin_of_new
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import CHECKS, apply
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import check_inside, check_places, invalid, outside, shape_text
from ..engine.values.shape import TensorShape
from .operands import call, integers, of_one_dtype, same_shape_and_dtype, static, tensor_of, with_name


def _gather_axis(axis: Any) -> int:
    place = integers(axis, "GatherV2", "Taxis")
    if place.ndim:
        raise invalid("axis must be scalar", "GatherV2")
    return int(place)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of ``params`` at ``indices`` along an axis; with ``batch_dims``, separately for each batch element.

    ``indices`` is an int32 or int64 tensor of any shape. Differentiable in ``params``: along axis 0 the gradient is a
    ``tf.IndexedSlices``. Raises InvalidArgumentError for an index out of range, whatever ``validate_indices`` says.

    >>> import minitape as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    x, places = tensor_of(params), tensor_of(indices)
    batch_dims = 0 if batch_dims is None else int(static(batch_dims))
    axis = batch_dims if axis is None else _gather_axis(axis)
    batch_dims = batch_dims if axis else 0  # along the first axis TensorFlow does not look at it
    rank = x.ndim
    if not rank:
        raise invalid("params must be at least 1 dimensional", "GatherV2")
    if not -rank <= axis < rank:
        raise invalid(f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}", "GatherV2")
    if axis == -1 and rank == 1 and not batch_dims and state.graph is None:  # the gradient is dense, unlike axis 0's
        row = call("reshape", x, shape=(1, *x.shape))
        return call("slice", gather(row, places, axis=1), spec=(0,))
    axis %= rank
    batch_dims = batch_dims + places.ndim if batch_dims < 0 else batch_dims
    if batch_dims > axis:
        raise invalid(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})", "GatherV2")
    for i in range(batch_dims):
        if not x.shape[i : i + 1].is_compatible_with(places.shape[i : i + 1]):
            raise invalid(
                f"params.shape[{i}]: {x.shape[i]} should be equal to indices.shape[{i}]: {places.shape[i]}", "GatherV2"
            )
    if isinstance(places, Tensor) and state.graph is None:
        check_gather(x, places._value, axis)
    return apply(TABLE["gather"], (x, places), {"axis": axis} | ({"batch_dims": batch_dims} if batch_dims else {}))


def check_gather(x: Any, places: Any, axis: int = 0, **attrs: Any) -> None:
    """Raises InvalidArgumentError for an index outside of an axis."""
    check_places(places, x.shape[axis])


CHECKS["GatherV2"] = lambda _, x, places, **attrs: check_gather(x, places._value, **attrs)
CHECKS["GatherNd"] = lambda _, x, places, **attrs: check_gather_nd(x, places._value, **attrs)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Tensor:
    """The elements or slices of ``params`` at the places that the last axis of ``indices`` lists.

    Differentiable in ``params``. Raises InvalidArgumentError for a place outside of ``params``.

    >>> import minitape as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x, places = tensor_of(params), tensor_of(indices)
    batch_dims = int(static(batch_dims))
    if places.ndim and batch_dims >= places.ndim:
        raise ValueError(f"Argument `batch_dims` = {batch_dims} must be less than rank(`indices`) = {places.ndim}")
    shape = tuple(x.shape)[batch_dims:]
    if places.ndim == 0:
        raise invalid("indices must be at least a vector", "GatherNd")
    if x.ndim == 0:
        raise invalid("params must be at least a vector", "GatherNd")
    depth = places.shape[-1]
    if depth > len(shape):
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {len(shape)}", "GatherNd"
        )
    if state.graph is None:
        check_gather_nd(x, places._value, batch_dims)
    return apply(TABLE["gather_nd"], (x, places), {"batch_dims": batch_dims} if batch_dims else {})


def check_gather_nd(x: Any, places: Any, batch_dims: int = 0) -> None:
    """Raises InvalidArgumentError for a place outside."""
    bad = outside(places, tuple(x.shape)[batch_dims:][: places.shape[-1]])
    if bad is not None:
        raise invalid(
            f"indices{bad[0]} = {bad[1]} does not index into param shape {shape_text(x.shape)}, node name: GatherNd",
            "GatherNd",
        )


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or slices) of ``tensor`` where ``mask`` is true, in order.

    The mask covers the axes from ``axis`` on. Differentiable in ``tensor``. Raises ValueError when shapes do not match.

    >>> import minitape as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask = tensor_of(tensor), tensor_of(mask)
    axis = 0 if axis is None else int(static(axis))
    if mask.ndim is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, "
            "but shape=None is not."
        )
    if mask.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    covered = TensorShape(tuple(x.shape)[axis : axis + mask.ndim])
    if not covered.is_compatible_with(mask.shape):
        raise ValueError(f"Shapes {covered} and {mask.shape} are incompatible")
    axis %= max(x.ndim, 1)
    sizes = tuple(x.shape)
    flat = call(
        "reshape", x, shape=(*sizes[:axis], -1 if x.array.size else mask.array.size, *sizes[axis + mask.ndim :])
    )
    places = new_tensor(np.flatnonzero(mask.array).astype(np.int64))
    places._origin = origin_of_new("value", (mask,), "boolean_mask")
    return call("gather", flat, places, axis=axis)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """With ``x`` and ``y``: elements of ``x`` where the condition holds, else of ``y``; all three broadcast.

    Differentiable in ``x`` and ``y``. Alone: the int64 places of the true (or non-zero) elements, one row for each.
    Raises ValueError when only one of x and y is given, InvalidArgumentError for shapes that do not broadcast.

    >>> import minitape as tf
    >>> tf.where([True, False], [1, 2], [10, 20]).numpy()
    array([ 1, 20], dtype=int32)
    >>> tf.where([0, 3, 4]).numpy().tolist()
    [[1], [2]]
    """
    if x is None and y is None:
        condition = tensor_of(condition)
        if condition.shape.rank == 0:
            raise invalid("WhereOp : Unhandled input dimensions: 0", "Where")
        return call("where", condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if type(condition) is type(x) is type(y) is EagerTensor and same_shape_and_dtype(x, y):
        chosen = condition._value
        if chosen.shape == x._value.shape and chosen.dtype.kind == "b":
            return call("select", condition, x, y)
    if not isinstance(condition, Tensor) or isinstance(x, (list, tuple)) or isinstance(y, (list, tuple)):
        condition = convert_to_tensor(condition, dtypes.bool)
    x, y = of_one_dtype(x, y)
    sizes = {s for s in (_known(t.shape) for t in (condition, x, y)) if s}
    try:
        if len(sizes) > 1:
            np.broadcast_shapes(*sizes)
    except ValueError:
        raise invalid(
            f"condition {shape_text(condition.shape)}, then {shape_text(x.shape)}, and else {shape_text(y.shape)} "
            "must be "
            "broadcastable",
            "SelectV2",
        ) from None
    return call("select", condition, x, y)


def _known(shape: Any) -> tuple[int, ...]:
    return tuple(1 if n is None else n for n in (shape if shape.rank is not None else ()))


Unique = collections.namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The different elements of a vector in the order of their first appearance, and each element's place among them.

    Not differentiable: LookupError when a gradient is asked for.

    >>> import minitape as tf
    >>> y, idx = tf.unique([5, 3, 5])
    >>> y.numpy(), idx.numpy()
    (array([5, 3], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    x = _vector(x, "Unique")
    return Unique(*call("unique", x, out_idx=dtypes.as_dtype(out_idx)))


def _vector(x: Any, op: str) -> Any:
    x = tensor_of(x)
    if x.ndim != 1:
        raise invalid("unique expects a 1D vector.", op)
    return x


def _tensor_scatter(name: str, primitive: str, what: str, example: str) -> Any:
    op = TABLE[primitive].op

    def function(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        x, values = of_one_dtype(tensor, updates)
        places = tensor_of(indices)
        outer, depth = tuple(places.shape)[:-1], places.shape[-1] if places.ndim else 0
        if values.ndim == 0:
            raise invalid(f"Updates shape must have rank at least one. Found:{shape_text(values.shape)}", op)
        if tuple(values.shape)[: len(outer)] != outer:
            raise invalid(
                "Outer dimensions of indices and update must match. Indices shape: "
                f"{shape_text(places.shape)}, updates shape:{shape_text(values.shape)}",
                op,
            )
        if values.ndim - len(outer) != x.ndim - depth:
            raise invalid(
                "Inner dimensions of output shape must match inner dimensions of updates shape. Output: "
                f"{shape_text(x.shape)} updates: {shape_text(values.shape)}",
                op,
            )
        if tuple(values.shape)[len(outer) :] != tuple(x.shape)[depth:]:
            raise invalid(
                f"The inner {x.ndim - depth} dimensions of output.shape={shape_text(x.shape)} must match the inner "
                f"{values.ndim - len(outer)} dimensions of updates.shape={shape_text(values.shape)}",
                op,
            )
        if state.graph is None:
            check_inside(places.array, x.array.shape, op)
        return call(primitive, x, places, values)

    shown, _, result = example.partition(" -> ")
    doc = f"""A copy of ``tensor`` with {what} at the places that the last axis of ``indices`` lists.

    Differentiable in ``tensor`` and ``updates``. Raises InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.{name}({shown}).numpy()
    array({result}, dtype=int32)
    """
    return with_name(function, name, doc, __name__)


tensor_scatter_nd_update = _tensor_scatter(
    "tensor_scatter_nd_update",
    "tensor_scatter_update",
    "``updates``",
    "[1, 2, 3], [[0], [2]], [10, 30] -> [10,  2, 30]",
)
tensor_scatter_nd_add = _tensor_scatter(
    "tensor_scatter_nd_add",
    "tensor_scatter_add",
    "``updates`` added (places may repeat)",
    "[1, 2, 3], [[0], [0]], [10, 20] -> [31,  2,  3]",
)
tensor_scatter_nd_sub = _tensor_scatter(
    "tensor_scatter_nd_sub", "tensor_scatter_sub", "``updates`` subtracted", "[1, 2, 3], [[1]], [2] -> [1, 0, 3]"
)
tensor_scatter_nd_min = _tensor_scatter(
    "tensor_scatter_nd_min",
    "tensor_scatter_min",
    "the smaller of element and update",
    "[1, 2, 3], [[0], [2]], [5, 0] -> [1, 2, 0]",
)
tensor_scatter_nd_max = _tensor_scatter(
    "tensor_scatter_nd_max",
    "tensor_scatter_max",
    "the larger of element and update",
    "[1, 2, 3], [[0], [2]], [5, 0] -> [5, 2, 3]",
)
