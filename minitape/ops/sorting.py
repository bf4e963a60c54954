"""Ordering: sort, top_k, searchsorted; segments; counting."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.recording.evidence import with_influences
from ..engine.table.primitives import TABLE, segment, sorting  # noqa: F401 - they fill the table
from ..engine.tensor.opdefs import accept, accept_attr
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid, shape_text
from .operands import call, of_one_dtype, static, tensor_of, with_name


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
    accept("TopKV2", x.dtype, count.dtype)
    index_type = dtypes.as_dtype(index_type)
    accept_attr("TopKV2", "index_type", index_type)
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


def _segments(name: str, sentence: str, result: str) -> Any:
    primitive = TABLE[name]

    def function(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return apply(primitive, (tensor_of(data), tensor_of(segment_ids)), {})

    doc = f"""The {sentence} of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row.

    Row i of the result belongs to id i; ids without rows get {"1" if "product" in sentence else "0"}. Differentiable
    in ``data``. Raises InvalidArgumentError for ids that are not sorted or do not fit.

    >>> import minitape as tf
    >>> print(tf.math.{name}([1.0, 2.0, 4.0], [0, 0, 1]).numpy())
    {result}
    """
    return with_name(function, name, doc, __name__)


segment_sum = _segments("segment_sum", "sum", "[3. 4.]")
segment_mean = _segments("segment_mean", "mean", "[1.5 4. ]")
segment_max = _segments("segment_max", "maximum", "[2. 4.]")
segment_min = _segments("segment_min", "minimum", "[1. 4.]")
segment_prod = _segments("segment_prod", "product", "[2. 4.]")


def _count_of(num_segments: Any, op: str) -> int:
    count = tensor_of(num_segments)
    if count.ndim:
        raise invalid(f"num_segments should be a scalar, not shape {count.shape.as_list()}", op)
    return int(count.array)


def _unsorted(name: str, sentence: str, result: str) -> Any:
    primitive = TABLE[name]

    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        count = _count_of(num_segments, primitive.op)
        return apply(primitive, (tensor_of(data), tensor_of(segment_ids)), {"num_segments": count})

    doc = f"""The {sentence} of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order.

    ``segment_ids`` has the first axes of ``data``; rows with a negative id are left out. Differentiable in ``data``.
    Raises InvalidArgumentError for ids that are too large or do not fit.

    >>> import minitape as tf
    >>> print(tf.math.{name}([1.0, 2.0, 4.0], [1, 0, 1], 2).numpy())
    {result}
    """
    return with_name(function, name, doc, __name__)


unsorted_segment_sum = _unsorted("unsorted_segment_sum", "sum", "[2. 5.]")
unsorted_segment_max = _unsorted("unsorted_segment_max", "maximum (the lowest number if there is none)", "[2. 4.]")
unsorted_segment_min = _unsorted("unsorted_segment_min", "minimum (the largest number if there is none)", "[2. 1.]")
unsorted_segment_prod = _unsorted("unsorted_segment_prod", "product", "[2. 4.]")






def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often each number occurs among non-negative ints, or the sums of its ``weights``.

    The result has as many entries as the largest number plus 1, at least ``minlength`` and at most ``maxlength``. Not
    differentiable: LookupError under a tape that watches the weights. Raises InvalidArgumentError for negative numbers
    and weights of another shape.

    >>> import minitape as tf
    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    x = tensor_of(arr)
    if not x.dtype.is_integer:
        x = call("cast", x, dtype=dtypes.int32)
    if x.array.size and x.array.min() < 0:
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    w = None if weights is None else tensor_of(weights)
    if w is not None and w.shape != x.shape:
        raise invalid(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all "
            f"weights equal to 1. Received {w.shape.as_list()}",
            "DenseBincount",
        )
    size = int(x.array.max()) + 1 if x.array.size else 0
    size = max(size, 0 if minlength is None else int(static(minlength)))
    size = size if maxlength is None else min(size, int(static(maxlength)))
    if w is None:
        w = new_tensor(np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype))
    count = new_tensor(x.dtype.as_numpy_dtype(size))
    return call("bincount", x, count, w, rows=False, binary=False)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """A square matrix that counts, at row i and column j, how often class i was predicted as class j.

    ``weights`` counts each prediction by its weight, cast to ``dtype``. Not differentiable.
    Raises InvalidArgumentError for negative labels, for classes not below ``num_classes`` and for unlike lengths.

    >>> import minitape as tf
    >>> print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy())
    [[1 0]
     [1 1]]
    """
    true, guessed = (call("cast", tensor_of(v), dtype=dtypes.int64).array for v in (labels, predictions))
    for values, what in ((true, "labels"), (guessed, "predictions")):
        if values.size and values.min() < 0:
            raise invalid(f"`{what}` contains negative values.")
    classes = max([int(v.max()) + 1 for v in (true, guessed) if v.size], default=0)
    if num_classes is not None:
        classes = int(static(num_classes))
        for values, what in ((true, "labels"), (guessed, "predictions")):
            if values.size and values.max() >= classes:
                raise invalid(f"`{what}` out of bound")
    if true.shape != guessed.shape:
        raise invalid(
            f"Shapes of all inputs must match: values[0].shape = {shape_text(true.shape)} != values[1].shape = "
            f"{shape_text(guessed.shape)}",
            "Pack",
        )
    wanted = dtypes.as_dtype(dtype).as_numpy_dtype
    out = np.zeros((classes, classes), wanted)
    amounts = np.ones(true.shape, wanted) if weights is None else tensor_of(weights).array.astype(wanted)
    np.add.at(out, (true, guessed), amounts)
    return with_influences(new_tensor(out), (labels, predictions, weights), "ScatterNd")


def _bins(values: Any, value_range: Any, nbins: Any) -> tuple:
    """The values and the bin of each as arrays."""
    x, limits = of_one_dtype(values, value_range)
    accept("HistogramFixedWidth", x.dtype, limits.dtype)
    count = int(static(nbins))
    low, high = limits.array if limits.array.size == 2 else (1, 0)
    if not low < high:
        raise invalid(
            f"value_range should be two numbers with value_range[0] < value_range[1], but got {limits.array}",
            "HistogramFixedWidth",
        )
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'", "HistogramFixedWidth")
    if x.dtype.kind == "f" and np.isnan(x.array).any():
        raise invalid("Histogram values must not contain NaN", "HistogramFixedWidth")
    place = np.floor((x.array.astype(np.float64) - low) / (float(high) - float(low)) * count)
    return x, np.clip(place, 0, count - 1)


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """How many values fall into each of ``nbins`` equal bins of a range; those outside count in the outermost bins.

    Not differentiable: LookupError under a tape. Raises InvalidArgumentError for an empty range or NaN.

    >>> import minitape as tf
    >>> print(tf.histogram_fixed_width([0.0, 1.0, 2.5, 9.0], [0.0, 5.0], nbins=5).numpy())
    [1 1 1 0 1]
    """
    dtype = dtypes.as_dtype(dtype)
    accept_attr("HistogramFixedWidth", "dtype", dtype)
    x, place = _bins(values, value_range, nbins)
    return call("histogram", x, place=place.astype(np.int64), size=int(static(nbins)), dtype=dtype)
