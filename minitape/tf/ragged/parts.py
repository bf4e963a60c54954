"""What a ragged tensor is made of: its values, the splits of its axes, and the numbers that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.operands import placed
from ...engine.shape import TensorShape
from ...engine.tensor import wrap
from ...ops.picking import gather as take
from . import checks


class Parts:
    """The part of a ragged tensor that says how it is cut.

    Subclasses have ``_values`` (a tensor, or again one with parts), ``_cuts`` (the row splits: a NumPy array, or a
    tensor of a graph whose run alone knows them) and ``_uniform`` (the length of all rows, or None).
    """

    __slots__ = ()

    _values: Any
    _cuts: Any
    _uniform: int | None
    with_values: Any

    @property
    def _splits(self) -> Any:
        """The row splits as an array; AttributeError where only a run of the graph knows them."""
        return self._cuts if type(self._cuts) is np.ndarray else self._cuts.array

    @property
    def values(self) -> Any:
        """All rows one after the other."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The innermost values, a tensor."""
        inner = self._values
        while is_ragged(inner):
            inner = inner._values
        return inner

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self.flat_values.dtype

    @property
    def ragged_rank(self) -> int:
        """How many axes are cut at splits."""
        return 1 + (self._values.ragged_rank if is_ragged(self._values) else 0)

    @property
    def shape(self) -> TensorShape:
        """The sizes; None for ragged axes."""
        inner = self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        return TensorShape.of((count_of(self), self._uniform, *inner.as_list()[1:]))

    def get_shape(self) -> TensorShape:
        """The same as ``shape``.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).get_shape()
        TensorShape([2, None])
        """
        return self.shape

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end: one number more than there are rows."""
        return wrap(self._cuts) if type(self._cuts) is np.ndarray else self._cuts

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows where they were made equal, else None."""
        return None if self._uniform is None else wrap(np.array(self._uniform, self.row_splits.dtype.as_numpy_dtype))

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged axes, the outermost first."""
        inner = self._values.nested_row_splits if is_ragged(self._values) else ()
        return (self.row_splits, *inner)

    @placed
    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """The number of rows, a scalar of the type of the splits or of ``out_type``.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).nrows().numpy()
        np.int64(3)
        """
        return wrap(self._integer(out_type)(nvals(self)))

    @placed
    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows (of an inner axis: again ragged).

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy()
        array([2, 0, 1])
        >>> tf.ragged.constant([[[1], [2, 3]], [[4]]]).row_lengths(axis=2)
        <tf.RaggedTensor [[1, 2], [1]]>
        """
        if axis == 0:
            return self.nrows()
        if axis < 0 or axis > 1:
            axis = checks.axis(axis, self.shape.rank)
        if axis == 1:
            return wrap(np.diff(self._splits))
        if is_ragged(self._values):
            return self.with_values(self._values.row_lengths(axis - 1))
        size = self._values.shape.as_list()[axis - 1]
        sizes = np.full(tuple(self._values.shape)[: axis - 1], size, self._splits.dtype)
        return self.with_values(wrap(sizes))

    @placed
    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """The row lengths of all ragged axes, the outermost first.

        >>> import minitape as tf
        >>> [lengths.numpy() for lengths in tf.ragged.constant([[[1], [2, 3]], [[4]]]).nested_row_lengths()]
        [array([2, 1]), array([1, 2, 1])]
        """
        return tuple(wrap(np.diff(s)) for s in all_splits(self))

    @placed
    def row_starts(self, name: str | None = None) -> Any:
        """Where the rows begin.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).row_starts().numpy()
        array([0, 2, 2])
        """
        return wrap(self._splits[:-1])

    @placed
    def row_limits(self, name: str | None = None) -> Any:
        """Where the rows end.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).row_limits().numpy()
        array([2, 2, 3])
        """
        return wrap(self._splits[1:])

    @placed
    def value_rowids(self, name: str | None = None) -> Any:
        """To which row each value belongs.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).value_rowids().numpy()
        array([0, 0, 2])
        """
        return wrap(rowids_of(self._splits))

    @placed
    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """The row numbers of all ragged axes, the outermost first.

        >>> import minitape as tf
        >>> [rows.numpy() for rows in tf.ragged.constant([[[1], [2, 3]], [[4]]]).nested_value_rowids()]
        [array([0, 0, 1]), array([0, 1, 1, 2])]
        """
        return tuple(wrap(rowids_of(s)) for s in all_splits(self))

    @placed
    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """The sizes of the smallest dense tensor that holds all rows.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).bounding_shape().numpy()
        array([3, 2])
        """
        sizes = wrap(np.array(bounds(self), self._integer(out_type)))
        return sizes if axis is None else take(sizes, axis)

    def _integer(self, out_type: Any) -> Any:
        """The NumPy type of sizes: that of the splits, or the one asked for."""
        return (self.row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)).as_numpy_dtype


def is_ragged(value: Any) -> bool:
    """True for a ragged tensor."""
    return isinstance(value, Parts)


def nvals(values: Any) -> int:
    """The number of rows of a tensor or ragged tensor; TypeError where only a run of the graph knows it."""
    return int(count_of(values))


def count_of(values: Any) -> Any:
    """The number of rows of a tensor or ragged tensor, None where only a run of the graph knows it."""
    if not is_ragged(values):
        return values.shape[0] if values.shape.rank else None
    (size,) = TensorShape(values._cuts.shape).with_rank(1)
    return size and size - 1


def splits_of(lengths: Any) -> Any:
    """Row splits from row lengths.

    >>> splits_of(np.array([2, 0, 1]))
    array([0, 2, 2, 3])
    """
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


def rowids_of(splits: Any) -> Any:
    """Row numbers from row splits.

    >>> rowids_of(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


def all_splits(rt: Any) -> list[Any]:
    """The row splits of all ragged axes, the outermost first."""
    found = []
    while is_ragged(rt):
        found.append(rt._splits)
        rt = rt._values
    return found


def bounds(rt: Any) -> list[int]:
    """The largest size of each axis."""
    found = [len(rt._splits) - 1]
    for splits in all_splits(rt):
        lengths = np.diff(splits)
        found.append(int(lengths.max()) if lengths.size else 0)
    return found + [int(n) for n in rt.flat_values.shape[1:]]
