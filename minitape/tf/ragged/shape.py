"""``DynamicRaggedShape``: the shape of a ragged tensor as a value of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.tensor import wrap
from .. import dispatch
from .partition import RowPartition, partition
from .parts import is_ragged, splits_of
from .tensor import make


class DynamicRaggedShape:
    """The shape of a (possibly ragged) tensor: what ``tf.shape`` gives for one.

    >>> import minitape as tf
    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    __slots__ = ("_partitions", "_inner", "_dtype")

    def __init__(self, row_partitions: Any, inner_shape: Any, dtype: Any = None) -> None:
        self._partitions = [(p._splits, p._uniform) if isinstance(p, RowPartition) else p for p in row_partitions]
        self._inner = [int(n) for n in (inner_shape.array if hasattr(inner_shape, "array") else inner_shape)]
        self._dtype = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)

    @classmethod
    def from_tensor(cls, value: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a tensor or ragged tensor.

        >>> import minitape as tf
        >>> tf.experimental.DynamicRaggedShape.from_tensor(tf.ragged.constant([[1, 2], [3]]))
        <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
        """
        parts = []
        inner = value
        while is_ragged(inner):
            parts.append((inner._splits, inner._uniform))
            inner = inner._values
        return cls(parts, [int(n) for n in inner.shape], dtype)

    @classmethod
    def from_lengths(cls, lengths: Any, num_row_partitions: int | None = None, dtype: Any = None) -> DynamicRaggedShape:
        """The shape with these sizes; a tuple gives the lengths of the rows of a ragged axis.

        >>> import minitape as tf
        >>> shape = tf.experimental.DynamicRaggedShape.from_lengths([2, (2, 1)])
        >>> tf.ones(shape)
        <tf.RaggedTensor [[1.0, 1.0], [1.0]]>
        """
        lengths = list(lengths)
        ragged = [i for i, n in enumerate(lengths) if isinstance(n, (list, tuple))]
        count = max(ragged, default=0) if num_row_partitions is None else num_row_partitions
        rows, parts = int(lengths[0]), []
        for n in lengths[1 : count + 1]:
            uniform = None if isinstance(n, (list, tuple)) else int(n)
            each = np.array(n, np.int64) if uniform is None else np.full(rows, uniform, np.int64)
            parts.append((splits_of(each), uniform))
            rows = int(each.sum())
        return cls(parts, [rows, *lengths[count + 1 :]], dtype)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._partitions) + len(self._inner)

    @property
    def num_row_partitions(self) -> int:
        """How many axes are cut at splits."""
        return len(self._partitions)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of the ragged axes."""
        return tuple(partition(s, u) for s, u in self._partitions)

    @property
    def inner_shape(self) -> Any:
        """The shape of the flat values."""
        return wrap(np.array(self._inner, self._dtype.as_numpy_dtype))

    @property
    def dtype(self) -> Any:
        """The type of its numbers."""
        return self._dtype

    def static_lengths(self) -> list[Any]:
        """The sizes; a tuple for a ragged axis.

        >>> import minitape as tf
        >>> tf.shape(tf.ragged.constant([[1, 2], [3]])).static_lengths()
        [2, (2, 1)]
        """
        if not self._partitions:
            return list(self._inner)
        out: list[Any] = [len(self._partitions[0][0]) - 1]
        for splits, uniform in self._partitions:
            out.append(uniform if uniform is not None else tuple(np.diff(splits).tolist()))
        return out + self._inner[1:]

    def is_uniform(self, axis: int) -> bool:
        """True when all rows of an axis have the same length.

        >>> import minitape as tf
        >>> shape = tf.shape(tf.ragged.constant([[1, 2], [3]]))
        >>> shape.is_uniform(0), shape.is_uniform(1)
        (True, False)
        """
        return not isinstance(self.static_lengths()[axis], tuple)

    def flat_shape(self) -> tuple[int, ...]:
        """The shape of the flat values as ints."""
        return tuple(self._inner)

    def fill(self, flat_values: Any) -> Any:
        """A tensor or ragged tensor of this shape with these flat values."""
        for splits, uniform in reversed(self._partitions):
            flat_values = make(flat_values, splits, uniform)
        return flat_values

    def __getitem__(self, index: Any) -> Any:
        lengths = self.static_lengths()
        if isinstance(index, slice):
            start, stop, step = index.indices(self.rank)
            if start != 0 or step != 1:
                raise ValueError("minitape slices a DynamicRaggedShape from its beginning only, in steps of 1.")
            return DynamicRaggedShape.from_lengths(lengths[:stop])
        if not -self.rank <= index < self.rank:
            raise IndexError(f"Index {index} is out of bounds")
        found = lengths[index]
        if isinstance(found, tuple):
            raise ValueError(f"Index {index % self.rank} is not uniform")
        return wrap(np.array(found, np.int32 if self._dtype == dtypes.int32 else np.int64))

    def __len__(self) -> int:
        return self.rank

    def __repr__(self) -> str:
        text = ", ".join(map(_length_text, self.static_lengths()))
        return f"<DynamicRaggedShape lengths=[{text}] num_row_partitions={self.num_row_partitions}>"


def _length_text(length: Any) -> str:
    """A size, or the sizes of the rows, of which ten are shown."""
    if not isinstance(length, tuple):
        return str(length)
    parts = [*map(str, length[:10]), *(["..."] if len(length) > 10 else [])]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _reshape(plain: Any, tensor: Any, shape: DynamicRaggedShape, name: str | None = None) -> Any:
    values = tensor.flat_values if is_ragged(tensor) else tensor
    return shape.fill(plain(values, shape.flat_shape()))


def _filled(plain: Any, shape: DynamicRaggedShape, *args: Any, **kwargs: Any) -> Any:
    return shape.fill(plain(shape.flat_shape(), *args, **kwargs))


dispatch.install(DynamicRaggedShape, {"reshape": _reshape, "zeros": _filled, "ones": _filled, "fill": _filled})
