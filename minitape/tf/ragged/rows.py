"""How values are cut into rows: row splits, and the numbers that follow from them, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.recording.evidence import planned
from ...engine.table.primitives import TABLE
from ...engine.tensor.operation import apply
from ...engine.tensor.tensor import wrap
from ...engine.values import dtypes
from ...engine.values.invalid import invalid
from ...ops.convert import convert_to_tensor


def is_ragged(value: Any) -> bool:
    """True for a ragged tensor."""
    return hasattr(value, "row_splits")


def partition(value: Any, name: str) -> Any:
    """Row splits or row lengths as an int32 or int64 array of one axis."""
    known = hasattr(value, "dtype") or hasattr(value, "_read")
    tensor = convert_to_tensor(value) if known else convert_to_tensor(value, dtypes.int64)
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"Shape {tensor.shape} must have rank 1")
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    planned(tensor)
    array = getattr(tensor, "array", None)
    if array is None:
        raise ValueError(f"minitape cuts a ragged tensor at {name} that it knows while it traces a function; {tensor} is "
                         "known only when the graph runs.")  # fmt: skip
    return np.asarray(array)


def check_splits(splits: Any, total: int | None) -> None:
    """Splits begin at zero, never fall, and end at the number of values, where that is known."""
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty.")
    if splits[0] != 0 or (np.diff(splits) < 0).any() or total not in (None, splits[-1]):
        raise invalid("Arguments do not form a valid RaggedTensor: row splits begin at 0, never fall, and end at the number of "
                      f"values{'' if total is None else f' ({total})'}, got {splits.tolist()}")  # fmt: skip


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
        return _slice_in_rows(rt, rows, inner or (slice(None),))
    number, count = _number(key), len(rt._splits) - 1
    if number >= count:
        raise IndexError(f"Row key {number} out of bounds")
    if number < -count:
        rt.row_splits[:-1][number]  # raises what TensorFlow raises
    row = rt.values[int(rt._splits[:-1][number]) : int(rt._splits[1:][number])]
    return row[inner] if inner else row


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
        raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                        f"tensors are valid indices, got {key!r}")  # fmt: skip
    return int(key)
