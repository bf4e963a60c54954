"""Moving rows around: the one thing that indexing, concat, tile, reverse and their kin have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.tensor import wrap
from .parts import is_ragged, nvals, splits_of
from .tensor import make


def take_rows(x: Any, rows: Any) -> Any:
    """The rows of a tensor or ragged tensor with these numbers, in this order.

    >>> import minitape as tf
    >>> take_rows(tf.ragged.constant([[1, 2], [3]]), np.array([1, 0, 1]))
    <tf.RaggedTensor [[3], [1, 2], [3]]>
    """
    rows = np.asarray(rows, np.int64)
    if not is_ragged(x):
        return apply(TABLE["gather"], (x, wrap(rows)), {"axis": 0})
    lengths = np.diff(x._splits)[rows]
    return make(take_rows(x._values, spans(x._splits[rows], lengths)), splits_of(lengths), x._uniform)


def spans(starts: Any, lengths: Any) -> Any:
    """The numbers from each start on, as many as its length says.

    >>> spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)


def take_within(x: Any, pick: Any) -> Any:
    """In each row of a ragged tensor the elements that ``pick(length)`` names, a list of numbers for a length."""
    chosen, lengths = [], []
    for start, length in zip(x._splits[:-1].tolist(), np.diff(x._splits).tolist(), strict=True):
        found = np.asarray(pick(length), np.int64)
        chosen.append(found + start)
        lengths.append(len(found))
    index = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
    return make(take_rows(x._values, index), splits_of(np.array(lengths, x._splits.dtype)))


def cut(x: Any, start: int, stop: int) -> Any:
    """The rows from ``start`` up to ``stop``, as a slice (whose gradient is dense)."""
    if is_ragged(x):
        splits = x._splits[start : stop + 1]
        return make(cut(x._values, int(splits[0]), int(splits[-1])), splits - splits[0], x._uniform)
    if start == 0 and stop == nvals(x):
        return x
    return x[start:stop]


def as_ragged(x: Any, ragged_rank: int, dtype: Any = np.int64) -> Any:
    """A tensor as a ragged one of this many (equal) ragged axes; a ragged one with more of them."""
    if ragged_rank == 0:
        return x
    if is_ragged(x):
        return make(as_ragged(x._values, ragged_rank - 1, dtype), x._splits, x._uniform)
    count, length = int(x.shape[0]), int(x.shape[1])
    inner = TABLE["reshape"](x, shape=(count * length, *x.shape[2:]))
    return make(as_ragged(inner, ragged_rank - 1, dtype), np.arange(count + 1, dtype=dtype) * length, length)


def common(tensors: list[Any]) -> list[Any]:
    """All with as many ragged axes, and splits of one type, as the most ragged of them has."""
    rank = max(t.ragged_rank if is_ragged(t) else 0 for t in tensors)
    dtype = next(t._splits.dtype for t in tensors if is_ragged(t))
    return [as_ragged(t, rank, dtype) for t in tensors]
