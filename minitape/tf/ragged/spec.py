"""``tf.RaggedTensorSpec``: the type of ragged tensors."""

from __future__ import annotations

from typing import Any, NoReturn

from ...engine.values import dtypes
from ...engine.values.shape import TensorShape


class RaggedTensorSpec:
    """The type of ragged tensors of one ragged axis: shape and dtype.

    >>> import minitape as tf
    >>> tf.RaggedTensorSpec([2, None], tf.int32)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, ragged_rank: int = 1, row_splits_dtype: Any = dtypes.int64) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._ragged_rank, self._row_splits_dtype = ragged_rank, dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        if ragged_rank != 1:
            raise ValueError("A ragged tensor of minitape has rows of numbers, no rows of rows.")

    shape = property(lambda self: self._shape, doc="The sizes; None for ragged or unknown ones.")
    dtype = property(lambda self: self._dtype, doc="The type of the values.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The type of the splits.")

    def is_compatible_with(self, value: Any) -> bool:
        """True when the ragged tensor is of this type.

        >>> import minitape as tf
        >>> tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
        True
        """
        return bool(self._dtype == value.dtype and self._shape.is_compatible_with(value.shape))

    def _made_of(self, parts: Any) -> NoReturn:
        raise ValueError(f"minitape has no ragged tensor in a graph whose rows only a run knows, as the result {self!r} of "
                         "py_function. Call it outside of tf.function, or return values and row_splits.")  # fmt: skip

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._row_splits_dtype!r})"
