"""Slices, zeros and ranges whose sizes, or whose indices, only a run of the graph knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.values.dtypes import int32
from ..engine.values.shape import TensorShape
from ..ops.filling import numbers_of_range as numbers
from .primitive import GraphPrimitive

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Value























def size_of(tensor: Value) -> Any:
    """The size of the first axis, as an int32 tensor."""
    return TABLE["shape"](tensor, dtype=int32)[0]




def range_row(start: Value, limit: Value, delta: Value, dtype: DTypeLike) -> Any:
    """``tf.range`` with ends that only a run knows."""
    return state.graph.apply(RANGE, (start, limit, delta), {"dtype": dtype})[0]






def _range(start: Value, limit: Value, delta: Value, *, dtype: DTypeLike) -> tuple:
    return (numbers(start, limit, delta, dtype),)


RANGE = GraphPrimitive("range", "Range", lambda t, a: [(TensorShape([None]), a["dtype"])], forward=_range, rules=None)
