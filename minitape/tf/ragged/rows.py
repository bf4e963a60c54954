"""How values are cut into rows: row splits, and the numbers that follow from them, as NumPy arrays; rows picked by
number, operators (done on the values, once the operands have the same rows) and reductions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.recording.evidence import note_used_as_size
from ...engine.table.primitives import TABLE
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.operation import apply
from ...engine.tensor.tensor import Tensor, new_tensor
from ...engine.values import dtypes
from ...engine.values.errors import InvalidArgumentError
from ...engine.values.invalid import invalid
from ...ops import arrays, reductions, sorting


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
    note_used_as_size(tensor)
    array = getattr(tensor, "array", None)
    if array is None:
        raise ValueError(
            f"minitape cuts a ragged tensor at {name} that it knows while it traces a function; {tensor} is "
            "known only when the graph runs."
        )
    return np.asarray(array)


def check_splits(splits: Any, total: int | None) -> None:
    """Splits begin at zero, never fall, and end at the number of values, where that is known."""
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty.")
    if splits[0] != 0 or (np.diff(splits) < 0).any() or total not in (None, splits[-1]):
        raise invalid(
            "Arguments do not form a valid RaggedTensor: row splits begin at 0, never fall, and end at the number of "
            f"values{'' if total is None else f' ({total})'}, got {splits.tolist()}"
        )


def splits_of(lengths: Any) -> Any:
    """Row splits from row lengths.

    >>> splits_of(np.array([2, 0, 1]))
    array([0, 2, 2, 3])
    """
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


def coordinates(splits: Any) -> tuple:
    """For each value the number of its row, and its place in the row.

    >>> coordinates(np.array([0, 2, 3]))
    (array([0, 0, 1]), array([0, 1, 0]))
    """
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    return rows, np.arange(len(rows)) - splits[:-1][rows]


def take(values: Any, numbers: Any) -> Any:
    """The values with these numbers, in this order."""
    return apply(TABLE["gather"], (values, new_tensor(np.asarray(numbers, np.int64))), {"axis": 0})


def pick(rt: Any, keys: tuple) -> Any:
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


def _slice_in_rows(rt: Any, rows: Any, keys: tuple) -> Any:
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


_BINARY = "add sub mul truediv floordiv mod pow".split()
_COMPARING = "lt le gt ge".split()


def install_operators(kind: type) -> None:
    """Gives the class of ragged tensors its operators."""
    for name in (*_BINARY, *_COMPARING):
        _install(kind, name, getattr(operator, f"__{name}__"))
    for name in ("neg", "abs"):
        function = getattr(operator, f"__{name}__")
        setattr(kind, f"__{name}__", lambda self, function=function: self.with_values(function(self.values)))
    setattr(kind, "__eq__", _comparison(operator.eq, False))  # noqa: B010 - a class statement would drop the hash
    setattr(kind, "__ne__", _comparison(operator.ne, True))  # noqa: B010


def _install(kind: type, name: str, function: Callable[[Any, Any], Any]) -> None:
    setattr(kind, f"__{name}__", lambda self, other: combine(function, self, other))
    if name in _BINARY:
        setattr(kind, f"__r{name}__", lambda self, other: combine(function, other, self))


def _comparison(function: Callable[[Any, Any], Any], otherwise: bool) -> Any:
    """``==`` and ``!=``: False (True) for what cannot be compared."""

    def compared(self: Any, other: Any) -> Any:
        try:
            return otherwise if other is None else combine(function, self, other)
        except InvalidArgumentError:
            return otherwise

    return compared


def combine(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A function of two operands, of which one or both are ragged. InvalidArgumentError when their rows differ."""
    ragged = x if is_ragged(x) else y
    a, b = (_counterpart(v, ragged) for v in (x, y))
    return ragged.with_values(function(a, b))


def _counterpart(value: Any, like: Any) -> Any:
    """What is next to the values of ``like`` in the operand ``value``."""
    if is_ragged(value):
        if not np.array_equal(like._splits, value._splits):
            raise _unlike_rows(like._splits, value._splits)
        return value.values
    known = isinstance(value, Tensor) or hasattr(value, "_read")
    dense = convert_to_tensor(value) if known else convert_to_tensor(value, dtype_hint=like.dtype)
    if len(dense.shape) < len(like.values.shape):  # it fits the dense axes inside
        return dense
    return _spread(dense, like)


def _spread(dense: Any, like: Any) -> Any:
    """The elements of a dense tensor at the places of the values; axes of size 1 count for all places."""
    rank = len(like.shape)
    if len(dense.shape) > rank or None in dense.shape.as_list():
        raise ValueError(
            f"minitape does not broadcast a tensor of shape {dense.shape} and a ragged one of shape {like.shape}"
        )
    height, width, *inner = [1] * (rank - len(dense.shape)) + dense.shape.as_list()
    splits = like._splits
    equal = np.arange(height + 1) * width
    if height not in (1, len(splits) - 1) or (width != 1 and not np.array_equal(equal, splits)):
        raise _unlike_rows(equal, splits)
    rows, within = coordinates(splits)
    number = (rows if height != 1 else 0 * rows) * width + (within if width != 1 else 0)
    return take(TABLE["reshape"](dense, shape=(height * width, *inner)), number)


def _unlike_rows(a: Any, b: Any) -> Exception:
    return invalid(f"The operands have rows of different lengths: {np.diff(a).tolist()} and {np.diff(b).tolist()}.")


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
    out = _SEGMENTS[name](rt.values, new_tensor(ids), count)
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
