"""``rt[...]``: rows by number, slices of rows and inside rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.tensor import Tensor
from .parts import is_ragged
from .rows import cut, take_rows, take_within
from .tensor import make


def getitem(rt: Any, keys: list[Any]) -> Any:
    """The piece that the keys name, one key for each axis."""
    if not keys:
        return rt
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return getitem(rt, _expanded(keys, rt.shape.rank))
    if key is None:
        found = getitem(rt, inner)
        rows = len(found._splits) - 1 if is_ragged(found) else found.row_splits
        return make(found, np.array([0, rows], found._splits.dtype), rows)
    if isinstance(key, slice):
        return _inner(_rows(rt, key), inner)
    number = _number(key)
    count = len(rt._splits) - 1
    if number >= count:
        raise IndexError(f"Row key {number} out of bounds")
    if number < -count:
        rt.row_splits[:-1][number]  # raises what TensorFlow raises
    number %= count
    row = cut(rt._values, int(rt._splits[number]), int(rt._splits[number + 1]))
    return row[tuple(inner)] if inner else row


def _rows(rt: Any, key: slice) -> Any:
    """Several rows."""
    start, stop, step = (None if v is None else _number(v) for v in (key.start, key.stop, key.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    count = len(rt._splits) - 1
    first, last, stride = slice(start, stop, step).indices(count)
    if stride == 1:
        return rt if (first, last) == (0, count) else cut(rt, first, max(first, last))
    return take_rows(rt, np.arange(first, last, stride))


def _inner(rt: Any, keys: list[Any]) -> Any:
    """What the keys behind the first name, inside each row."""
    if not keys:
        return rt
    key = keys[0]
    if key is Ellipsis:
        return _inner(rt, _expanded(keys, rt.shape.rank - 1))
    if key is None:
        inner = _inner(rt, keys[1:])
        count = len(inner._splits) - 1
        return make(inner, np.arange(count + 1, dtype=inner._splits.dtype), 1)
    if not isinstance(key, slice):
        if rt._uniform is None:
            _number(key)
            raise ValueError("Cannot index into an inner ragged dimension.")
        number = _number(key)
        if not -rt._uniform <= number < rt._uniform:
            rt.row_splits[:-1][rt._splits.size + number]  # raises what TensorFlow raises
        picked = take_rows(rt._values, rt._splits[:-1] + number % rt._uniform)
        return picked[(slice(None), *keys[1:])] if len(keys) > 1 else picked
    start, stop, step = (None if v is None else _number(v) for v in (key.start, key.stop, key.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if (start, stop, step) != (None, None, None):
        span = slice(start, stop, step)
        uniform = None if rt._uniform is None else len(range(*span.indices(rt._uniform)))
        rt = take_within(rt, lambda length: np.arange(*span.indices(length)))
        rt._uniform = uniform
    if len(keys) == 1:
        return rt
    values = rt._values
    if is_ragged(values):
        return make(_inner(values, keys[1:]), rt._splits, rt._uniform)
    return make(values[(slice(None), *keys[1:])], rt._splits, rt._uniform)


def _number(key: Any) -> int:
    if isinstance(key, (bool, float, str)) or not (hasattr(key, "__index__") or isinstance(key, Tensor)):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
            f"tensors are valid indices, got {key!r}"
        )
    return int(key)


def _expanded(keys: list[Any], rank: int) -> list[Any]:
    """An ellipsis in front as so many full slices."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > rank:
        raise IndexError("Too many indices for RaggedTensor")
    return [slice(None)] * (rank - used) + keys[1:]
