"""``tf.experimental.RowPartition``: how values are cut into rows, as a value of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.elements import dtype_of
from ...engine.tensor import wrap
from . import checks
from .parts import rowids_of, splits_of


class RowPartition:
    """How values are cut into rows; made by ``from_row_splits`` and its siblings, as ragged tensors are.

    The numbers are int64 or int32 (``dtype``). With ``validate`` they are checked: InvalidArgumentError for numbers
    that cut no values. The constructor is private (ValueError).

    >>> import minitape as tf
    >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    >>> rows
    tf.RowPartition(row_splits=[0 2 2 3])
    >>> rows.value_rowids().numpy(), rows.nrows().numpy()
    (array([0, 0, 2]), np.int64(3))
    >>> rows.row_splits().numpy(), rows.row_lengths().numpy(), rows.nvals().numpy()
    (array([0, 2, 2, 3]), array([2, 0, 1]), np.int64(3))
    >>> rows.row_starts().numpy(), rows.row_limits().numpy(), rows.offsets_in_rows().numpy()
    (array([0, 2, 2]), array([2, 2, 3]), array([0, 1, 0]))
    >>> print(rows.uniform_row_length())
    None
    """

    __slots__ = ("_splits", "_uniform")
    _splits: np.ndarray
    _uniform: int | None

    def __init__(self, row_splits: Any, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "RowPartition constructor is private; please use one of the factory methods instead (e.g., "
            "RowPartition.from_row_lengths())"
        )

    # -- making -------------------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, row_splits: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Row ``i`` goes from ``row_splits[i]`` to ``row_splits[i + 1]``.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_row_splits([0, 2, 2, 3]).row_lengths().numpy()
        array([2, 0, 1])
        """
        splits = _numbers(row_splits, "row_splits", dtype)
        if validate:
            checks.splits(splits)
        return partition(splits)

    @classmethod
    def from_row_lengths(cls, row_lengths: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Row ``i`` has ``row_lengths[i]`` values.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
        tf.RowPartition(row_splits=[0 2 2 3])
        """
        lengths = _numbers(row_lengths, "row_lengths", dtype)
        if validate:
            checks.not_negative(lengths, "Arguments to from_row_lengths do not form a valid RowPartition")
        return partition(splits_of(lengths))

    @classmethod
    def from_row_starts(cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Row ``i`` begins at ``row_starts[i]`` and ends where the next begins, the last at ``nvals``.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_row_starts([0, 2, 2], nvals=3)
        tf.RowPartition(row_splits=[0 2 2 3])
        """
        starts, total = _numbers(row_starts, "row_starts", dtype), int(nvals)
        if validate:
            checks.starts(starts, total)
        return partition(np.append(starts, np.array(total, starts.dtype)))

    @classmethod
    def from_row_limits(cls, row_limits: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Row ``i`` ends before ``row_limits[i]``, and begins where the one before ends.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_row_limits([2, 2, 3])
        tf.RowPartition(row_splits=[0 2 2 3])
        """
        limits = _numbers(row_limits, "row_limits", dtype)
        splits = np.append(np.zeros(1, limits.dtype), limits)
        if validate:
            checks.not_negative(np.diff(limits), "Arguments to from_row_limits do not form a valid RaggedTensor")
            checks.not_negative(limits[:1], "Arguments to from_row_limits do not form a valid RaggedTensor")
        return partition(splits)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Value ``i`` belongs to row ``value_rowids[i]``; ValueError for a number of rows below the last one's.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
        tf.RowPartition(row_splits=[0 2 2 3 3])
        """
        rowids = _numbers(value_rowids, "value_rowids", dtype)
        last = int(rowids[-1]) if rowids.size else -1
        count = last + 1 if nrows is None else int(nrows)
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if last >= count:
            raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}")
        if validate:
            checks.not_negative(np.diff(rowids), "Arguments to from_value_rowids do not form a valid RowPartition")
            checks.not_negative(rowids[:1], "Arguments to from_value_rowids do not form a valid RowPartition")
        return partition(splits_of(np.bincount(rowids, minlength=count).astype(rowids.dtype)))

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: Any, nvals: Any = None, nrows: Any = None, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Rows of one length; ValueError when it does not go into ``nvals``, or for neither ``nvals`` nor ``nrows``.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_uniform_row_length(2, nvals=6).row_splits().numpy()
        array([0, 2, 4, 6])
        """
        kind = _kind(uniform_row_length if dtype is None else None, dtype)
        length = int(convert_to_tensor(uniform_row_length, dtypes.as_dtype(kind)).array)
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        if length < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        count = int(nrows) if nrows is not None else int(nvals) // length if length else 0
        if validate and nvals is not None and count * length != int(nvals):
            raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={int(nvals)}")
        return partition(np.arange(count + 1, dtype=kind) * kind(length), length)

    # -- what it is ---------------------------------------------------------------------------------------------------

    dtype = property(lambda self: dtype_of(self._splits), doc="The type of the numbers, int64 or int32.")
    static_nrows = property(lambda self: len(self._splits) - 1, doc="The number of rows as an int.")
    static_uniform_row_length = property(lambda self: self._uniform, doc="The one length of all rows, or None.")

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same rows, with numbers of another type; ValueError unless it is int32 or int64.

        >>> import minitape as tf
        >>> tf.experimental.RowPartition.from_row_lengths([2, 0, 1]).with_dtype(tf.int32).row_splits()
        <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 2, 2, 3], dtype=int32)>
        """
        return partition(self._splits.astype(_kind(None, dtype)), self._uniform)

    def is_uniform(self) -> bool:
        """Whether it was made of rows of one length.

        >>> import minitape as tf
        >>> rows = tf.experimental.RowPartition.from_uniform_row_length(2, nrows=3)
        >>> rows.is_uniform(), rows.uniform_row_length().numpy()
        (True, np.int64(2))
        """
        return self._uniform is not None

    def uniform_row_length(self) -> Any:
        """The one length of all rows, or None."""
        return None if self._uniform is None else wrap(self._splits.dtype.type(self._uniform))

    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return wrap(self._splits)

    def row_lengths(self) -> Any:
        """The lengths of the rows."""
        return wrap(np.diff(self._splits))

    def row_starts(self) -> Any:
        """Where each row begins."""
        return wrap(self._splits[:-1])

    def row_limits(self) -> Any:
        """Where each row ends."""
        return wrap(self._splits[1:])

    def value_rowids(self) -> Any:
        """To which row each value belongs."""
        return wrap(rowids_of(self._splits))

    def offsets_in_rows(self) -> Any:
        """At which place in its row each value stands."""
        starts = np.repeat(self._splits[:-1], np.diff(self._splits))
        return wrap(np.arange(len(starts), dtype=self._splits.dtype) - starts)

    def nrows(self) -> Any:
        """The number of rows."""
        return wrap(self._splits.dtype.type(len(self._splits) - 1))

    def nvals(self) -> Any:
        """The number of values."""
        return wrap(self._splits[-1])

    def __repr__(self) -> str:
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        return f"tf.RowPartition(row_splits={self._splits})"


def partition(splits: Any, uniform: int | None = None) -> RowPartition:
    """A partition of row splits that are known to be valid."""
    made = RowPartition.__new__(RowPartition)
    made._splits, made._uniform = splits, uniform
    return made


def _kind(value: Any, dtype: Any) -> Any:
    """int32 or int64 as a NumPy type: what is asked for, else that of the value, else int64."""
    wanted = getattr(value, "dtype", dtypes.int64) if dtype is None else dtypes.as_dtype(dtype)
    if wanted not in (dtypes.int32, dtypes.int64):
        raise ValueError("dtype must be int32 or int64")
    return dtypes.as_dtype(wanted).as_numpy_dtype


def _numbers(value: Any, name: str, dtype: Any) -> Any:
    """Numbers of one axis as an array; ValueError for another shape or type."""
    given = np.asarray(value.array if hasattr(value, "array") else value)
    if given.size and given.dtype.kind not in "iu":
        raise ValueError(f"{name} must have dtype int32 or int64")
    if dtype is None:
        return checks.partition(value, name)
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    return checks.partition(value, name).astype(wanted.as_numpy_dtype)
