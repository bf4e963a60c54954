"""Sums and extremes over axes of sparse tensors, and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid, shown
from ...engine.operands import placed, spelled, worded
from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.tensor import Tensor, wrap
from ...ops.counting import composite
from .primitives import pick, put, sparse
from .tensor import SparseTensor, sparse_input


def _reduced(st: Any, axis: Any, keepdims: bool, op: str) -> tuple[Any, tuple[int, ...]]:
    """Where each element goes in the reduced tensor, and its shape."""
    sizes = st.sizes()
    rank = len(sizes)
    axes = (
        list(range(rank))
        if axis is None
        else [int(a) for a in np.atleast_1d(np.asarray(axis.array if isinstance(axis, Tensor) else axis))]
    )
    for a in axes:
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension {a}, for input with {rank} dimensions.", op)
    gone = {a % rank for a in axes}
    flat = np.zeros(len(st.indices.array), np.int64)
    for i, n in enumerate(sizes):
        if i not in gone:
            flat = flat * n + st.indices.array[:, i]
    shape = (
        tuple(1 if i in gone else n for i, n in enumerate(sizes))
        if keepdims
        else tuple(n for i, n in enumerate(sizes) if i not in gone)
    )
    return flat, shape


@spelled("sparse_reduce_sum_v2", placed)
def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False, name: str | None = None
) -> Any:
    """The sum over the axes (all by default), dense unless ``output_is_sparse``. Differentiable.

    With ``keepdims`` the axes stay, with size 1. InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.sparse.reduce_sum(tf.sparse.from_dense([[1, 2], [0, 3]]), axis=0).numpy()
    array([1, 5], dtype=int32)
    """
    st = sparse_input(sp_input)
    flat, shape = _reduced(st, axis, bool(keepdims), "SparseReduceSum")
    total = TABLE["reshape"](put(st.values, flat, int(np.prod(shape))), shape=shape)
    return _as_sparse(total, flat, shape) if output_is_sparse else total


@spelled("sparse_reduce_max_v2", placed)
def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False, name: str | None = None
) -> Any:
    """The largest of the elements that are there, 0 where there is none. Has no gradient (LookupError).

    The arguments and other errors are those of ``tf.sparse.reduce_sum``.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.reduce_max(s, axis=1).numpy())
    [1. 2.]
    """
    st = sparse_input(sp_input)
    flat, shape = _reduced(st, axis, bool(keepdims), "SparseReduceMax")
    found = apply(TABLE["sparse_max"], (st.values,), {"index": flat, "size": int(np.prod(shape))})
    out = TABLE["reshape"](found, shape=shape)
    return _as_sparse(out, flat, shape) if output_is_sparse else out


def _as_sparse(dense: Any, flat: Any, shape: Any) -> SparseTensor:
    there = np.unique(flat)
    values = pick(TABLE["reshape"](dense, shape=(int(np.prod(shape)),)), there)
    index = np.stack(np.unravel_index(there, shape), 1) if shape else np.zeros((len(there), 0))
    return sparse(index, values, shape)


@worded
def bincount(
    values: Any,
    weights: Any = None,
    axis: int = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs (or the sum of its weights), as a sparse tensor.

    ``values`` are whole numbers from 0; those from ``maxlength`` on do not count. All are counted together, or with
    ``axis=-1`` each row of a matrix (also of a sparse one) for itself. The result has ``maxlength`` places along
    its last axis, without one as many as the largest number needs and at least ``minlength``, and the dtype of ``values``, or of ``weights``; with ``binary_output`` it says 1 for each number
    that occurs.
    InvalidArgumentError for negative numbers, ValueError for another ``axis``.

    >>> import minitape as tf
    >>> print(tf.sparse.bincount([1, 1, 3]).indices.numpy().tolist())
    [[1], [3]]
    """
    if axis not in (0, -1, None):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if weights is not None and not hasattr(weights, "_components"):
        weights = convert_to_tensor(weights)
    parts = composite(values, weights)
    scattered = parts is not None
    if parts is not None:
        values, weights = parts.values, parts.weights
    array = np.asarray(convert_to_tensor(values).array)
    if (array < 0).any():
        raise invalid("Input values must all be non-negative", "DenseCountSparseOutput")
    by_row = axis == -1 and (scattered or array.ndim == 2)
    if not by_row:
        number, count = np.zeros(array.size, np.int64), 1
    elif parts is not None:
        number, count = parts.rows, parts.count
    else:
        number, count = np.repeat(np.arange(len(array)), array.shape[1]), len(array)
    if weights is not None and (weights := convert_to_tensor(weights)).shape != array.shape:
        raise invalid(f"Weights and data must have the same shape. Weight shape: {shown(weights.shape)}; data shape: "
                      f"{shown(array.shape)}", "DenseCountSparseOutput")  # fmt: skip
    flat_values = array.reshape(-1)
    counted = np.ones(flat_values.shape, bool) if maxlength is None else flat_values < maxlength
    rows, chosen = number[counted], flat_values[counted]
    there, ways = np.unique(np.stack([rows, chosen], 1), axis=0, return_inverse=True)
    size = int(maxlength) if maxlength is not None else max(int(flat_values.max(initial=0)) + 1, int(minlength or 0))
    if binary_output:
        counts: Any = wrap(np.ones(len(there), array.dtype))
    elif weights is None:
        counts = wrap(np.bincount(ways.reshape(-1), minlength=len(there)).astype(array.dtype))
    else:
        flat = TABLE["reshape"](convert_to_tensor(weights), shape=(-1,))
        counts = put(pick(flat, np.flatnonzero(counted)), ways.reshape(-1), len(there))
    if by_row:
        return sparse(there, counts, (count, size))
    return sparse(there[:, 1:], counts, (size,))
