"""``tf.ragged``: rows of different lengths, which are made, shown and padded, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tensor.convert import constant as dense_constant
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor


class RaggedTensor:
    """``values``, cut into rows of the lengths ``row_lengths()``.

    >>> import minitape as tf
    >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"

    def __init__(self, values: Any, lengths: Any) -> None:
        self.values, self._lengths = convert_to_tensor(values), np.array(lengths, np.int64)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any) -> RaggedTensor:
        """Row ``i`` has ``row_lengths[i]`` values."""
        return cls(values, row_lengths)

    def row_lengths(self) -> Tensor:
        """The lengths of the rows."""
        return new_tensor(self._lengths)

    def to_list(self) -> list:
        """The rows as lists."""
        return [row.tolist() for row in np.split(self.values.array, np.cumsum(self._lengths)[:-1])]

    def to_tensor(self) -> Tensor:
        """The rows, filled up with zeros."""
        wide = max(map(int, self._lengths))
        return dense_constant([row + [0] * (wide - len(row)) for row in self.to_list()], self.values.dtype)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"


def constant(pylist: Any, dtype: Any = None) -> RaggedTensor:
    """A ragged tensor of a list of lists.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    return RaggedTensor(dense_constant([n for row in pylist for n in row], dtype), [len(row) for row in pylist])
