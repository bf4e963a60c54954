"""Counting: numbers, pairs of classes, values in bins; and what ragged and sparse tensors have to count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine import dtypes
from ..engine.convert import convert_to_tensor
from ..engine.evidence import decided
from ..engine.invalid import invalid, shown
from ..engine.opdefs import accept, accept_attr
from ..engine.operands import call, static, strict, tensor_of, together
from ..engine.primitives import TABLE, sorting  # noqa: F401 - it fills the table
from ..engine.tensor import Tensor, wrap
from .assertions import assert_equal


class Counted(NamedTuple):
    """Values in one row: the values, their weights (or None), the row each was in, and how many rows there were."""

    values: Any
    weights: Any
    rows: Any
    count: int


def composite(values: Any, weights: Any) -> Counted | None:
    """The values and weights of a ragged or sparse tensor; None for dense ones.

    ValueError unless the weights are of the same kind, InvalidArgumentError unless they are at the same places.

    >>> import minitape as tf
    >>> composite(tf.ragged.constant([[5], [], [7, 7]]), None).rows
    array([0, 2, 2])
    """
    if hasattr(values, "row_splits"):
        return _ragged(values, weights, type(values))
    return _sparse(values, weights, type(values)) if hasattr(values, "dense_shape") else None


def _ragged(values: Any, weights: Any, kind: type) -> Counted:
    flat = convert_to_tensor(values.values)
    if weights is not None:
        if not isinstance(weights, kind):
            weights = weights if hasattr(weights, "_components") else convert_to_tensor(weights)
            raise ValueError(f"`weights` must be a RaggedTensor if `values` is a RaggedTensor. Received argument weights="
                             f"{weights} of type: {type(weights).__name__}.")  # fmt: skip
        assert_equal(weights.row_splits, values.row_splits,
                     message="'weights' and 'values' must have the same row splits.")  # fmt: skip
        weights = convert_to_tensor(weights.values)
    lengths = np.diff(np.asarray(values.row_splits.array))
    return Counted(flat, weights, np.repeat(np.arange(len(lengths)), lengths), len(lengths))


def _sparse(values: Any, weights: Any, kind: type) -> Counted:
    if weights is not None:
        if not isinstance(weights, kind):
            raise ValueError("Argument `weights` must be a SparseTensor if `values` is a SparseTensor. Received weights="
                             f"{weights} of type: {type(weights).__name__}")  # fmt: skip
        assert_equal(weights.indices, values.indices,
                     message="'weights' and 'values' must have the same indices.")  # fmt: skip
        weights = weights.values
    return Counted(values.values, weights, np.asarray(values.indices.array)[:, 0], int(values.sizes()[0]))


@strict
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None, axis: Any = None, binary_output: bool = False,
) -> Tensor:  # fmt: skip
    """How often each number occurs among non-negative ints, or the sums of its ``weights``.

    The result has as many entries as the largest number plus 1, at least ``minlength`` and at most ``maxlength``; with
    ``axis=-1`` one row for each row of ``arr``. A ragged or sparse ``arr`` has weights of its own kind. Not
    differentiable: LookupError under a tape that watches the weights.
    Raises InvalidArgumentError for negative numbers and weights of another shape.

    >>> import minitape as tf
    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    parts = composite(arr, weights) if hasattr(arr, "_components") else None
    if parts is not None:
        arr, weights = parts.values, parts.weights
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
    if parts is not None and axis == -1:
        return _bincount_rows(x, w, parts, size, bool(binary_output))
    count = wrap(x.dtype.as_numpy_dtype(size))
    return call("bincount", x, count, w, rows=axis == -1 and x.ndim == 2, binary=bool(binary_output))


def _bincount_rows(x: Any, w: Any, parts: Any, size: int, binary: bool) -> Any:
    """The counts of each row of a ragged or sparse tensor: each row has numbers of its own."""
    kept = np.flatnonzero(np.asarray(x.array) < size)
    numbers = wrap(parts.rows[kept].astype(np.int64) * size + np.asarray(x.array)[kept])
    if w.shape[0]:
        w = TABLE["gather"](w, wrap(kept))
    found = call("bincount", numbers, wrap(np.int64(parts.count * size)), w, rows=False, binary=binary)
    return call("reshape", found, shape=(parts.count, size))


@strict
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None,
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
    true, guessed = _squeezed(true, guessed)
    for values, what in ((true, "labels"), (guessed, "predictions")):
        if values.size and values.min() < 0:
            listed = ", ".join(f"'{v}'" for v in values[:3])
            raise invalid(f"`{what}` contains negative values.\nCondition x >= 0 did not hold element-wise:\nx (shape="
                          f"{values.shape} dtype=int64) =\n[{listed}]")  # fmt: skip
    classes = max([int(v.max()) + 1 for v in (true, guessed) if v.size], default=0)
    if num_classes is not None:
        classes = int(static(num_classes))
        for values, what in ((true, "labels"), (guessed, "predictions")):
            if values.size and values.max() >= classes:
                raise invalid(f"`{what}` out of bound\nCondition x < y did not hold.\nFirst {min(3, values.size)} "
                              f"elements of x:\n{values[:3]}\nFirst 1 elements of y:\n[{classes}]")  # fmt: skip
    if true.shape != guessed.shape:
        raise invalid(f"Shapes of all inputs must match: values[0].shape = {shown(true.shape)} != values[1].shape = "
                      f"{shown(guessed.shape)}", "Pack")  # fmt: skip
    wanted = dtypes.as_dtype(dtype).as_numpy_dtype
    out = np.zeros((classes, classes), wanted)
    amounts = np.ones(true.shape, wanted) if weights is None else tensor_of(weights).array.astype(wanted)
    np.add.at(out, (true, guessed), amounts)
    return decided(wrap(out), (labels, predictions, weights), "ScatterNd")


def _squeezed(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Drops a last axis of size 1 that only one of the two has."""
    if predictions.ndim - labels.ndim == 1 and predictions.shape[-1] == 1:
        predictions = predictions[..., 0]
    elif labels.ndim - predictions.ndim == 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    return labels, predictions


def _bins(values: Any, value_range: Any, nbins: Any) -> tuple[Any, Any]:
    """The values and the bin of each as arrays."""
    x, limits = together(values, value_range)
    accept("HistogramFixedWidth", x.dtype, limits.dtype)
    count = int(static(nbins))
    if limits.shape.as_list() != [2]:
        raise invalid("value_range should be a vector of 2 elements.", "HistogramFixedWidth")
    low, high = limits.array
    if not low < high:
        raise invalid("value_range should satisfy value_range[0] < value_range[1], but got "
                      f"'[{low:g}, {high:g}]'", "HistogramFixedWidth")  # fmt: skip
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'", "HistogramFixedWidth")
    if x.dtype.kind == "f" and np.isnan(x.array).any():
        raise invalid("Histogram values must not contain NaN", "HistogramFixedWidth")
    place = np.floor((x.array.astype(np.float64) - low) / (float(high) - float(low)) * count)
    return x, np.clip(place, 0, count - 1)


@strict
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


@strict
def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """The number of the bin into which each value falls, in the shape of ``values``; not differentiable.

    >>> import minitape as tf
    >>> print(tf.histogram_fixed_width_bins([0.0, 2.5, 9.0], [0.0, 5.0], nbins=5).numpy())
    [0 2 4]
    """
    made = wrap(_bins(values, value_range, nbins)[1].astype(dtypes.as_dtype(dtype).as_numpy_dtype))
    return decided(made, (values,), "HistogramFixedWidth")
