"""Elements in another order along an axis: reverse, reverse_sequence, roll."""

from __future__ import annotations

from typing import Any

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from ..engine.values.invalid import at_run, invalid
from .arrays import identity
from .operands import deferred, integers, tensor_of


@deferred
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
    return apply(TABLE["reverse"], (x,), {"axis": tuple(places)})


@deferred
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
    return apply(TABLE["roll"], (x,), {"shift": tuple(int(s) for s in shifts.reshape(-1)),
                                       "axis": tuple(int(a) % x.ndim for a in axes.reshape(-1))})  # fmt: skip
