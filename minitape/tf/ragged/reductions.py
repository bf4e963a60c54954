"""Sums, means, extremes and the like of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.primitives import TABLE
from ...engine.tensor import wrap
from . import checks, elementwise
from .functions import expand_dims
from .parts import is_ragged, nvals, rowids_of, splits_of
from .rows import spans
from .tensor import make

SEGMENT = {
    "reduce_sum": "unsorted_segment_sum",
    "reduce_prod": "unsorted_segment_prod",
    "reduce_min": "unsorted_segment_min",
    "reduce_max": "unsorted_segment_max",
}


def reduce(name: str, rt: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """A reduction over one axis, several, or all."""
    if not is_ragged(rt):
        return elementwise.function(name)(rt, axis, keepdims=keepdims)
    if axis is None:
        total = elementwise.function(name)(rt.flat_values)
        return TABLE["reshape"](total, shape=(1,) * len(rt.shape)) if keepdims else total
    numbers = np.asarray(axis.array if hasattr(axis, "array") else axis)
    if numbers.ndim:
        axes = sorted(checks.axis(a, len(rt.shape)) for a in numbers)
        for a in reversed(axes):
            rt = reduce(name, rt, a, keepdims)
        return rt
    at = checks.axis(numbers.item(), len(rt.shape))
    if at > 1:
        return rt.with_values(reduce(name, rt._values, at - 1, keepdims))
    lengths = np.diff(rt._splits)
    if at == 0:
        ids = np.arange(nvals(rt._values)) - rt._splits[:-1][rowids_of(rt._splits)]
        count = int(lengths.max()) if lengths.size else 0
    else:
        ids, count = rowids_of(rt._splits), len(lengths)
    out = segments(SEGMENT[name], rt._values, ids, count)
    return expand_dims(out, at) if keepdims else out


def segments(name: str, values: Any, ids: Any, count: int) -> Any:
    """Rows with the same number combined; rows that are ragged themselves position by position."""
    if not is_ragged(values):
        return elementwise.function(name)(values, wrap(np.asarray(ids, np.int64)), count)
    lengths = np.diff(values._splits)
    longest = np.zeros(count, values._splits.dtype)
    np.maximum.at(longest, ids, lengths)
    out = splits_of(longest)
    inner = spans(out[:-1][ids], lengths)
    return make(segments(name, values._values, inner, int(out[-1])), out)


def reduce_mean(rt: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum divided by the number of values, which is 0 / 0 for an empty row."""
    ones = elementwise.function("ones_like")(rt.flat_values)
    total, count = (reduce("reduce_sum", v, axis, keepdims) for v in (rt, rt.with_flat_values(ones)))
    if is_ragged(total):
        return total.with_flat_values(elementwise.function("divide")(total.flat_values, count.flat_values))
    return elementwise.function("divide")(total, count)


def reduce_variance(rt: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of the squares minus the square of the mean."""
    if rt.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    mean = reduce_mean(rt, axis, keepdims)
    difference = reduce_mean(rt * rt, axis, keepdims) - mean * mean
    return _maximum_zero(difference)


def _maximum_zero(x: Any) -> Any:
    zero = elementwise.function("maximum")
    return x.with_flat_values(zero(x.flat_values, 0)) if is_ragged(x) else zero(x, 0)


def reduce_bool(reduction: str) -> Any:
    """The version of ``reduce_all`` or ``reduce_any``: a product or sum of 0 and 1."""

    def version(plain: Any, input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
        cast = elementwise.function("cast")
        numbers = input_tensor.with_flat_values(cast(input_tensor.flat_values, dtypes.int32))
        out = reduce(reduction, numbers, axis, bool(keepdims))
        return out.with_flat_values(cast(out.flat_values, dtypes.bool)) if is_ragged(out) else cast(out, dtypes.bool)

    return version


def reduction(function: Any) -> Any:
    """A reduction as a version of the function of ``tf``."""
    return lambda plain, input_tensor, axis=None, keepdims=False, name=None: function(
        input_tensor, axis, bool(keepdims)
    )


def logsumexp(rt: Any, axis: Any, keepdims: bool) -> Any:
    """The logarithm of the sum of exponentials, of which the largest is taken out first: it may be too large."""
    exp, log, where = (elementwise.function(name) for name in ("exp", "log", "where"))
    largest = reduce("reduce_max", rt, axis, True)
    flat = elementwise.function("stop_gradient")(_flat(largest))
    finite = where(elementwise.function("is_finite")(flat), flat, TABLE["zeros_like"](flat))
    shift = largest.with_flat_values(finite) if is_ragged(largest) else finite
    shifted = elementwise.binary("subtract", rt, shift)
    total = reduce("reduce_sum", shifted.with_flat_values(exp(shifted.flat_values)), axis, keepdims)
    sums = log(_flat(total)) + TABLE["reshape"](finite, shape=tuple(_flat(total).shape))
    return total.with_flat_values(sums) if is_ragged(total) else sums


def _flat(x: Any) -> Any:
    return x.flat_values if is_ragged(x) else x


def cumsum(rt: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """The running sum along an axis; along the ragged ones that of the dense tensor with zeros where rows are short."""
    from .convert import from_tensor

    at, plain = checks.axis(axis, len(rt.shape)), elementwise.function("cumsum")
    if at > rt.ragged_rank:
        return rt.with_flat_values(plain(rt.flat_values, at - rt.ragged_rank, exclusive, reverse))
    sums = plain(rt.to_tensor(), at, exclusive, reverse)
    return from_tensor(sums, rt.nested_row_lengths(), None, 1, rt._splits.dtype)


def reduce_std(rt: Any, axis: Any, keepdims: bool) -> Any:
    """The standard deviation."""
    sqrt, out = elementwise.function("sqrt"), reduce_variance(rt, axis, keepdims)
    return out.with_flat_values(sqrt(out.flat_values)) if is_ragged(out) else sqrt(out)
