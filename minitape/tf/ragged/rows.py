"""How values are cut into rows: row splits, and the numbers that follow from them, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.tensor import wrap


def is_ragged(value: Any) -> bool:
    """True for a ragged tensor."""
    return hasattr(value, "row_splits")


def splits_of(lengths: Any) -> Any:
    """Row splits from row lengths.

    >>> splits_of(np.array([2, 0, 1]))
    array([0, 2, 2, 3])
    """
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


def coordinates(splits: Any) -> tuple[Any, Any]:
    """For each value the number of its row, and its place in the row.

    >>> coordinates(np.array([0, 2, 3]))
    (array([0, 0, 1]), array([0, 1, 0]))
    """
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    return rows, np.arange(len(rows)) - splits[:-1][rows]


def take(values: Any, numbers: Any) -> Any:
    """The values with these numbers, in this order."""
    return apply(TABLE["gather"], (values, wrap(np.asarray(numbers, np.int64))), {"axis": 0})


def pick(rt: Any, keys: tuple[Any, ...]) -> Any:
    """``rt[keys]``: a row by its number and what is in it, or several rows and the same slice of each."""
    key, inner = keys[0], keys[1:]
    if isinstance(key, slice):
        rows = np.arange(len(rt._splits) - 1)[_slice(key)]
        return _slice_in_rows(rt, rows, inner) if inner else _rows(rt, rows)
    number, count = _number(key), len(rt._splits) - 1
    if number >= count:
        raise IndexError(f"Row key {number} out of bounds")
    if number < -count:
        rt.row_splits[:-1][number]  # raises what TensorFlow raises
    row = rt.values[int(rt._splits[:-1][number]) : int(rt._splits[1:][number])]
    return row[inner] if inner else row


def _rows(rt: Any, rows: Any) -> Any:
    """The rows with these numbers; where they follow each other as a slice of the values, whose gradient is dense."""
    if not len(rows) or np.array_equal(rows, np.arange(rows[0], rows[-1] + 1)):
        first, last = (rows[0], rows[-1] + 1) if len(rows) else (0, 0)
        splits = rt._splits[first : last + 1]
        return rt._cut(rt.values[int(splits[0]) : int(splits[-1])], splits - splits[0])
    return _slice_in_rows(rt, rows, (slice(None),))


def _slice_in_rows(rt: Any, rows: Any, keys: tuple[Any, ...]) -> Any:
    """The part of these rows that the first key names, and what the others name of their elements."""
    if not isinstance(keys[0], slice):
        _number(keys[0])
        raise ValueError("Cannot index into an inner ragged dimension.")
    span = _slice(keys[0])
    chosen = [np.arange(rt._splits[row], rt._splits[row + 1])[span] for row in rows]
    values = take(rt.values, np.concatenate([np.zeros(0, np.int64), *chosen]))
    if keys[1:]:
        values = values[(slice(None), *keys[1:])]
    return rt._cut(values, splits_of(np.array([len(found) for found in chosen], rt._splits.dtype)))


def _slice(key: slice) -> slice:
    return slice(*(None if v is None else _number(v) for v in (key.start, key.stop, key.step)))


def _number(key: Any) -> int:
    if key is None or key is Ellipsis:
        raise ValueError(f"minitape picks from a ragged tensor by numbers and slices only, got {key}")
    if isinstance(key, (bool, float, str)) or not hasattr(key, "__index__"):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
            f"tensors are valid indices, got {key!r}"
        )
    return int(key)
