"""``tf.compat.v1.ragged.RaggedTensorValue``: what a session gives for a ragged tensor."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


class RaggedTensorValue:
    """What a ragged tensor is made of as NumPy arrays: ``values`` (or a RaggedTensorValue) and ``row_splits``.

    >>> import minitape as tf
    >>> tf.compat.v1.ragged.constant_value([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        splits = isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.dtype in (np.int64, np.int32)
        if not splits or row_splits.ndim != 1:
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self.values, self.row_splits = values, row_splits

    @property
    def dtype(self) -> Any:
        """The type of the elements, of NumPy."""
        return self.values.dtype

    @property
    def flat_values(self) -> Any:
        """The elements of all rows, one after the other."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Where rows begin, from the outermost axis to the innermost."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of the axes, None for a ragged one."""
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """Nested Python lists."""
        flat = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        return [flat[start:end] for start, end in itertools.pairwise(self.row_splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"
