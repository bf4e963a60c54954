"""Elements put at listed places: scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.above import above
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from ..engine.values.invalid import invalid, outside, shown
from ..engine.values.shape import TensorShape
from .opdefs import accept_attr
from .operands import deferred, named, static, tensor_of, together


@deferred
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of ``shape`` with ``updates`` added at the places that the last axis of ``indices`` lists.

    Places that occur several times add up. Differentiable in ``updates``. Raises InvalidArgumentError for a place
    outside or for shapes that do not match.

    >>> import minitape as tf
    >>> tf.scatter_nd([[1], [1], [3]], [10, 1, 5], [4]).numpy()
    array([ 0, 11,  0,  5], dtype=int32)
    """
    places, values = tensor_of(indices), tensor_of(updates)
    accept_attr("ScatterNd", "Tindices", places.dtype)
    if state.graph is not None and (found := _scatter_later(places, values, shape)) is not None:
        return found
    sizes = tuple(int(n) for n in np.asarray(static(shape)).reshape(-1))
    _check_scatter(places, values, sizes)
    return apply(TABLE["scatter_nd"], (places, values), {"shape": sizes})


def _scatter_later(places: Any, values: Any, shape: Any) -> Any:
    """``scatter_nd`` in a graph that knows a rank or the shape only when it runs; None where it knows them."""
    from .introspection import get_static_value

    wanted = tensor_of(shape)
    value = get_static_value(wanted)
    if value is not None and None not in (places.shape.rank, values.shape.rank):
        return None
    count = wanted.shape.num_elements()
    made = TensorShape(value if value is not None else None if count is None else [None] * count)
    return above.later(lambda *given: [scatter_nd(*given)], [places, values, wanted], [(made, values.dtype)], name="ScatterNd")[0]


def _check_scatter(places: Any, values: Any, sizes: tuple[int, ...]) -> None:
    if values.ndim == 0:
        raise invalid(f"Updates shape must have rank at least one. Found:{shown(values.shape)}", "ScatterNd")
    op, outer, depth = "ScatterNd", tuple(places.shape)[:-1], places.shape[-1] if places.ndim else 0
    if tuple(values.shape)[: len(outer)] != outer:
        raise invalid(f"Dimensions [0,{len(outer)}) of indices[shape={shown(places.shape)}] must match dimensions "
                      f"[0,{len(outer)}) of updates[shape={shown(values.shape)}]", op)  # fmt: skip
    if depth > len(sizes) or tuple(values.shape)[len(outer) :] != sizes[depth:]:
        raise invalid(f"Dimensions [{depth},{len(sizes)}) of input[shape={shown(sizes)}] must match dimensions "
                      f"[{len(outer)},{values.ndim}) of updates[shape={shown(values.shape)}]", op)  # fmt: skip
    if 0 in sizes and 0 not in tuple(places.shape) + tuple(values.shape):
        raise invalid(f"Indices and updates specified for empty output.  indices shape: {shown(places.shape)}", op)
    bad = outside(places.array, sizes[:depth]) if state.graph is None else None
    if bad is not None:
        raise invalid(f"indices{bad[0]} = {bad[1]} does not index into shape {shown(sizes)}", op)


def _tensor_scatter(name: str, primitive: str, what: str, example: str) -> Any:
    op = TABLE[primitive].op

    def function(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        x, values = together(tensor, updates)
        places = tensor_of(indices)
        accept_attr(op, "Tindices", places.dtype)
        outer, depth = tuple(places.shape)[:-1], places.shape[-1] if places.ndim else 0
        if values.ndim == 0:
            raise invalid(f"Updates shape must have rank at least one. Found:{shown(values.shape)}", op)
        if tuple(values.shape)[: len(outer)] != outer:
            raise invalid("Outer dimensions of indices and update must match. Indices shape: "
                          f"{shown(places.shape)}, updates shape:{shown(values.shape)}", op)  # fmt: skip
        if values.ndim - len(outer) != x.ndim - depth:
            raise invalid("Inner dimensions of output shape must match inner dimensions of updates shape. Output: "
                          f"{shown(x.shape)} updates: {shown(values.shape)}", op)  # fmt: skip
        if tuple(values.shape)[len(outer) :] != tuple(x.shape)[depth:]:
            raise invalid(f"The inner {x.ndim - depth} dimensions of output.shape={shown(x.shape)} must match the inner "
                          f"{values.ndim - len(outer)} dimensions of updates.shape={shown(values.shape)}", op)  # fmt: skip
        bad = outside(places.array, tuple(x.shape)[:depth]) if state.graph is None else None
        if bad is not None:
            raise invalid(f"indices{bad[0]} = {bad[1]} does not index into shape {shown(x.shape)}", op)
        return apply(TABLE[primitive], (x, places, values), {})

    call, _, result = example.partition(" -> ")
    doc = f"""A copy of ``tensor`` with {what} at the places that the last axis of ``indices`` lists.

    Differentiable in ``tensor`` and ``updates``. Raises InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.{name}({call}).numpy()
    array({result}, dtype=int32)
    """
    return deferred(named(function, name, doc, __name__))


tensor_scatter_nd_update = _tensor_scatter(
    "tensor_scatter_nd_update", "tensor_scatter_update", "``updates``", "[1, 2, 3], [[0], [2]], [10, 30] -> [10,  2, 30]"
)
tensor_scatter_nd_add = _tensor_scatter(
    "tensor_scatter_nd_add", "tensor_scatter_add", "``updates`` added (places may repeat)",
    "[1, 2, 3], [[0], [0]], [10, 20] -> [31,  2,  3]",
)  # fmt: skip
tensor_scatter_nd_sub = _tensor_scatter(
    "tensor_scatter_nd_sub", "tensor_scatter_sub", "``updates`` subtracted", "[1, 2, 3], [[1]], [2] -> [1, 0, 3]"
)
tensor_scatter_nd_min = _tensor_scatter(
    "tensor_scatter_nd_min", "tensor_scatter_min", "the smaller of element and update",
    "[1, 2, 3], [[0], [2]], [5, 0] -> [1, 2, 0]",
)  # fmt: skip
tensor_scatter_nd_max = _tensor_scatter(
    "tensor_scatter_nd_max", "tensor_scatter_max", "the larger of element and update",
    "[1, 2, 3], [[0], [2]], [5, 0] -> [5, 2, 3]",
)  # fmt: skip
