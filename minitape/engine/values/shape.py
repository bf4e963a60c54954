"""``tf.TensorShape``: the static shape of a tensor, whose sizes may be unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Object, ShapeLike


def _parse_size(value: Object) -> int | None:
    """A size as a Python integer, None for an unknown one; TypeError or ValueError for what cannot be a size."""
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError(f"Dimension value must be integer or None, got {value!r}: give sizes, e.g. [1, 10, None].")
    size: int = value.__index__()
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class TensorShape:
    """The shape of a tensor: sizes that are ints or None (unknown); of ``TensorShape(None)`` the rank is unknown too.

    >>> import minitape as tf
    >>> shape = tf.ones([2, 3]).shape
    >>> shape, shape.rank, shape[0], shape == (2, 3), shape.as_list(), shape.num_elements()
    (TensorShape([2, 3]), 2, 2, True, [2, 3], 6)
    >>> some = tf.TensorShape([None, 3])
    >>> some.is_fully_defined()
    False
    >>> some.is_compatible_with([2, 3]), some.is_compatible_with([2, 4])
    (True, False)
    >>> some.concatenate([4])
    TensorShape([None, 3, 4])
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: ShapeLike) -> None:
        if dims is None:
            self._dims: tuple[int | None, ...] | None = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            sizes: Object = dims.numpy().tolist() if hasattr(dims, "numpy") else dims
            is_single = not hasattr(sizes, "__iter__") or getattr(sizes, "ndim", 1) == 0
            self._dims = tuple([_parse_size(size) for size in ([sizes] if is_single else sizes)])

    @classmethod
    def from_sizes(cls, dims: tuple[int | None, ...]) -> TensorShape:
        """A shape from a tuple that is known to be right."""
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """Number of axes, or None when it is unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    def as_list(self) -> list[int | None]:
        """The sizes as a list of ints, None for unknown ones; ValueError when the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The product of the sizes, an int, or None when it is unknown."""
        return None if self._dims is None or None in self._dims else math.prod(self._dims)  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """True when every size is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """True when some shape could be both."""
        sizes, other_sizes = self._dims, to_shape(other)._dims
        if sizes is None or other_sizes is None:
            return True
        return len(sizes) == len(other_sizes) and all(
            None in (a, b) or a == b for a, b in zip(sizes, other_sizes, strict=True)
        )

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """This shape followed by the other; of unknown rank when one of them is."""
        sizes, other_sizes = self._dims, to_shape(other)._dims
        return (
            TensorShape(None) if sizes is None or other_sizes is None else TensorShape.from_sizes(sizes + other_sizes)
        )

    __add__ = concatenate

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return to_shape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self.as_list())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: int | slice) -> Object:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        return TensorShape.from_sizes(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __eq__(self, other: Object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == to_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return f"({self._dims[0]},)" if len(self._dims) == 1 else f"({', '.join(map(str, self._dims))})"


def to_shape(value: ShapeLike) -> TensorShape:
    """``value`` itself if it is a TensorShape, else one made of it."""
    return value if isinstance(value, TensorShape) else TensorShape(value)
