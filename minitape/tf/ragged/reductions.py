"""Sums, means and extremes of ragged tensors."""

from __future__ import annotations

from typing import Any

from ...engine.table.primitives import TABLE
from ...engine.tensor.tensor import wrap
from ...ops import arrays, reductions, sorting
from .rows import coordinates

_SEGMENTS = {
    "reduce_sum": sorting.unsorted_segment_sum,
    "reduce_prod": sorting.unsorted_segment_prod,
    "reduce_min": sorting.unsorted_segment_min,
    "reduce_max": sorting.unsorted_segment_max,
}


def reduce(name: str, rt: Any, axis: Any, keepdims: bool) -> Any:
    """The reduction of this name over one axis or all."""
    if name == "reduce_mean":
        ones = rt.with_values(TABLE["ones_like"](rt.values))
        return reduce("reduce_sum", rt, axis, keepdims) / reduce("reduce_sum", ones, axis, keepdims)
    if name not in _SEGMENTS:
        return rt._to_tensor()
    if axis is None:
        total = getattr(reductions, name)(rt.values)
        return TABLE["reshape"](total, shape=(1,) * len(rt.shape)) if keepdims else total
    at = _axis(axis, len(rt.shape))
    if at > 1:
        return rt.with_values(getattr(reductions, name)(rt.values, at - 1, keepdims))
    rows, within = coordinates(rt._splits)
    ids, count = (rows, len(rt._splits) - 1) if at == 1 else (within, int(within.max(initial=-1)) + 1)
    out = _SEGMENTS[name](rt.values, wrap(ids), count)
    return arrays.expand_dims(out, at) if keepdims else out


def _axis(value: Any, rank: int) -> int:
    """A possibly negative axis counted from the front; ValueError when there is none such, TypeError unless an int."""
    value = value.array if hasattr(value, "array") else value
    if isinstance(value, (str, float)) or not hasattr(value, "__index__"):
        raise TypeError(f"axis must be an int; got {type(value).__name__}")
    number = int(value)
    if not -rank <= number < rank:
        raise ValueError(f"axis={number} out of bounds: expected {-rank}<=axis<{rank}")
    return number % rank
