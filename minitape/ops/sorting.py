"""Ordering: sort, top_k, searchsorted; segments; counting."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.table.primitives import sorting  # noqa: F401 - they fill the table
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .operands import call, tensor_of


class TopKV2(NamedTuple):
    """What ``top_k`` returns."""

    values: Any
    indices: Any


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The k largest elements along the last axis and their positions (int32): a pair ``values, indices``.

    Equal elements come in the order of their positions. ``values`` is differentiable. Raises InvalidArgumentError when
    there are fewer than k elements.

    >>> import minitape as tf
    >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
    >>> print(values.numpy(), indices.numpy())
    [5. 3.] [1 2]
    """
    x, count = tensor_of(input), tensor_of(k, None)
    index_type = dtypes.as_dtype(index_type)
    if count.ndim:
        raise invalid(f"k must be scalar, got shape {count.shape.as_list()}", "TopKV2")
    return TopKV2(*call("top_k", x, k=int(count.array), sorted=bool(sorted), index_type=index_type))


def _ordered(values: Any, axis: Any, direction: Any, which: int) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    place = tensor_of(axis)
    if place.ndim:
        raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    x, at = tensor_of(values), int(place.array)
    if direction == "DESCENDING":
        return _descending(x, at, which)
    if x.dtype.kind == "u":
        most = new_tensor(x.dtype.as_numpy_dtype(x.dtype.max))
        out = _descending(most - x, at, which)
        return out if which else most - out
    if x.dtype.is_integer:
        out = _descending(-x - 1, at, which)
        return out if which else -out - 1
    out = _descending(-x, at, which)
    return out if which else -out


def _descending(x: Any, axis: int, which: int) -> Any:
    rank = x.ndim
    if not -rank <= axis < rank:
        raise invalid(f"slice index {axis} of dimension 0 out of bounds.", "StridedSlice")
    axis %= rank
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    moved = x if axis == rank - 1 else call("transpose", x, perm=tuple(order))
    out = top_k(moved, moved.shape[-1])[which]
    return out if axis == rank - 1 else call("transpose", out, perm=tuple(order))


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The elements in order along an axis; ``direction`` is "ASCENDING" or "DESCENDING". Differentiable.

    Same shape and dtype. Raises ValueError for another direction, InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.sort([3, 1, 2]).numpy())
    [1 2 3]
    """
    return _ordered(values, axis, direction, 0)


def argsort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The positions (int32) that put the elements in order along an axis. Not differentiable.

    Equal elements keep their order, with ``stable`` or without.

    >>> import minitape as tf
    >>> print(tf.argsort([30, 10, 20]).numpy())
    [1 2 0]
    """
    return _ordered(values, axis, direction, 1)


# -- segments --------------------------------------------------------------------------------------
