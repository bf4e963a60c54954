"""Counting: numbers, pairs of classes, values in bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.recording.evidence import decided
from ..engine.table.primitives import TABLE, sorting  # noqa: F401 - it fills the table
from ..engine.tensor.tensor import Tensor, wrap
from ..engine.values import dtypes
from ..engine.values.invalid import invalid, shown
from .opdefs import accept, accept_attr
from .operands import call, deferred, static, tensor_of, together


@deferred
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None
) -> Tensor:  # fmt: skip
    """How often each number occurs among non-negative ints, or the sums of its ``weights``.

    The result has as many entries as the largest number plus 1, at least ``minlength`` and at most ``maxlength``.
    Not differentiable: LookupError under a tape that watches the weights. Raises InvalidArgumentError for negative numbers and weights of another shape.

    >>> import minitape as tf
    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    x = tensor_of(arr)
    if not x.dtype.is_integer:
        x = TABLE["cast"](x, dtype=dtypes.int32)
    if x.array.size and x.array.min() < 0:
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    w = None if weights is None else tensor_of(weights)
    if w is not None and w.shape != x.shape:
        raise invalid("`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all "
                      f"weights equal to 1. Received {w.shape.as_list()}", "DenseBincount")  # fmt: skip
    size = int(x.array.max()) + 1 if x.array.size else 0
    size = max(size, 0 if minlength is None else int(static(minlength)))
    size = size if maxlength is None else min(size, int(static(maxlength)))
    if w is None:
        w = wrap(np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype))
    count = wrap(x.dtype.as_numpy_dtype(size))
    return call("bincount", x, count, w, rows=False, binary=False)


@deferred
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None
) -> Tensor:  # fmt: skip
    """A square matrix that counts, at row i and column j, how often class i was predicted as class j.

    ``weights`` counts each prediction by its weight, cast to ``dtype``. Not differentiable.
    Raises InvalidArgumentError for negative labels, for classes not below ``num_classes`` and for unlike lengths.

    >>> import minitape as tf
    >>> print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy())
    [[1 0]
     [1 1]]
    """
    true, guessed = (TABLE["cast"](tensor_of(v), dtype=dtypes.int64).array for v in (labels, predictions))
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
        raise invalid(f"Shapes of all inputs must match: values[0].shape = {shown(true.shape)} != values[1].shape = "
                      f"{shown(guessed.shape)}", "Pack")  # fmt: skip
    wanted = dtypes.as_dtype(dtype).as_numpy_dtype
    out = np.zeros((classes, classes), wanted)
    amounts = np.ones(true.shape, wanted) if weights is None else tensor_of(weights).array.astype(wanted)
    np.add.at(out, (true, guessed), amounts)
    return decided(wrap(out), (labels, predictions, weights), "ScatterNd")


def _bins(values: Any, value_range: Any, nbins: Any) -> tuple[Any, Any]:
    """The values and the bin of each as arrays."""
    x, limits = together(values, value_range)
    accept("HistogramFixedWidth", x.dtype, limits.dtype)
    count = int(static(nbins))
    low, high = limits.array if limits.array.size == 2 else (1, 0)
    if not low < high:
        raise invalid(f"value_range should be two numbers with value_range[0] < value_range[1], but got {limits.array}",
                      "HistogramFixedWidth")  # fmt: skip
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'", "HistogramFixedWidth")
    if x.dtype.kind == "f" and np.isnan(x.array).any():
        raise invalid("Histogram values must not contain NaN", "HistogramFixedWidth")
    place = np.floor((x.array.astype(np.float64) - low) / (float(high) - float(low)) * count)
    return x, np.clip(place, 0, count - 1)


@deferred
def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
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
