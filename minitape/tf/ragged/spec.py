"""``tf.RaggedTensorSpec``: the type of ragged tensors."""

from __future__ import annotations

from typing import Any

from ...engine import dtypes
from ...engine.shape import TensorShape


class RaggedTensorSpec:
    """The type of ragged tensors: shape, dtype, and how many axes are ragged.

    >>> import minitape as tf
    >>> tf.RaggedTensorSpec([2, None], tf.int32)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        elif not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    shape = property(lambda self: self._shape, doc="The sizes; None for ragged or unknown ones.")
    dtype = property(lambda self: self._dtype, doc="The type of the values.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="How many axes are cut at splits.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The type of the splits.")

    value_type: Any = None  # the class of values of this type: RaggedTensor sets it

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The type of a ragged tensor.

        >>> import minitape as tf
        >>> tf.RaggedTensorSpec.from_value(tf.ragged.constant([[1, 2], [3]]))
        RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
        """
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def _made_of(self, parts: list[Any]) -> Any:
        """The ragged tensor of a graph that a run makes of these components."""
        made, *splits = parts
        if self.shape.rank is not None:
            made.set_shape([None, *self.shape[self.ragged_rank + 1 :]])
        for cuts in reversed(splits):
            cuts.set_shape([None])
            made = self.value_type.from_row_splits(made, cuts, validate=False)
        return made

    def is_compatible_with(self, value: Any) -> bool:
        """True when the ragged tensor (or type) is of this type.

        >>> import minitape as tf
        >>> tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
        True
        """
        other = value if isinstance(value, RaggedTensorSpec) else RaggedTensorSpec.from_value(value)
        return (
            self._dtype == other._dtype
            and self._ragged_rank == other._ragged_rank
            and self._shape.is_compatible_with(other._shape)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._row_splits_dtype!r})"
