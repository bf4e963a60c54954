"""Define ``tf.TensorShape``, the static shape of a tensor, which may contain unknown sizes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..types import Object, OptionalNumber, ShapeLike


def _parse_size(value: Object) -> OptionalNumber:
    """Convert a size to an int, or to None if it is unknown.

    Raises:
        TypeError: If the size is neither an integer nor None.
        ValueError: If the size is negative.
    """
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError(f"Dimension value must be integer or None, got {value!r}. Pass sizes, e.g. [1, 10, None].")
    size: int = value.__index__()
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class TensorShape:
    """The shape of a tensor. Each size is an int, or None if it is unknown.

    The rank of ``TensorShape(None)`` is unknown. See
    https://www.tensorflow.org/api_docs/python/tf/TensorShape.

    Attributes:
        _dims: The sizes as a tuple, or None if the rank is unknown.

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

    def __init__(self, dims: ShapeLike):
        """Create a shape.

        Args:
            dims: The sizes, a single size, a tensor of sizes, another shape, or None for an unknown rank.

        Raises:
            TypeError: If a size is neither an integer nor None.
            ValueError: If a size is negative.
        """
        if dims is None:
            self._dims: tuple[OptionalNumber, ...] | None = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            sizes: Object = dims.numpy().tolist() if hasattr(dims, "numpy") else dims
            is_single = not hasattr(sizes, "__iter__") or getattr(sizes, "ndim", 1) == 0
            self._dims = tuple([_parse_size(size) for size in ([sizes] if is_single else sizes)])

    @classmethod
    def from_sizes(cls, dims: tuple[OptionalNumber, ...]) -> TensorShape:
        """Create a shape from a tuple of sizes, without checks.

        Args:
            dims: The sizes, each a non-negative int or None.

        Returns:
            The shape.
        """
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> OptionalNumber:
        """The number of axes, or None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    def as_list(self) -> list[OptionalNumber]:
        """Return the sizes as a list. Unknown sizes are None.

        Raises:
            ValueError: If the rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> OptionalNumber:
        """Return the product of the sizes, or None if it is unknown."""
        return None if self._dims is None or None in self._dims else prod(self._dims)  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Return whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Return whether both shapes could describe the same tensor.

        Args:
            other: A shape, or its sizes.
        """
        sizes = self._dims
        other_sizes = to_shape(other)._dims
        if sizes is None or other_sizes is None:
            return True
        return len(sizes) == len(other_sizes) and all(
            None in (a, b) or a == b for a, b in zip(sizes, other_sizes, strict=True)
        )

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """Return this shape followed by another shape. If either rank is unknown, the resulting rank is unknown.

        Args:
            other: A shape, or its sizes.
        """
        sizes = self._dims
        other_sizes = to_shape(other)._dims
        if sizes is None or other_sizes is None:
            return TensorShape(None)
        return TensorShape.from_sizes(sizes + other_sizes)

    __add__ = concatenate

    def __radd__(self, other: ShapeLike) -> TensorShape:
        """Return the sizes on the left of ``+``, followed by this shape."""
        return to_shape(other).concatenate(self)

    def __len__(self) -> int:
        """Return the number of axes, or raise ValueError if it is unknown."""
        return len(self.as_list())

    def __bool__(self) -> bool:
        """Return whether the rank is known, as in TensorFlow."""
        return self._dims is not None

    def __iter__(self) -> Iterator[OptionalNumber]:
        """Iterate over the sizes, or raise ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: int | slice) -> Object:
        """Return the size of an axis or, for a slice, the shape of the selected axes."""
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        return TensorShape.from_sizes(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __eq__(self, other: Object) -> bool:
        """Return whether ``other`` is a shape or a sequence with the same known and unknown sizes."""
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == to_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        """Return a hash of the sizes."""
        return hash(self._dims)

    def __repr__(self) -> str:
        """Return the representation in TensorFlow's format, such as ``TensorShape([2, None])``."""
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)})"

    def __str__(self) -> str:
        """Return the sizes as a tuple, such as ``(2, None)``."""
        return "<unknown>" if self._dims is None else str(self._dims)


def to_shape(value: ShapeLike) -> TensorShape:
    """Return a TensorShape unchanged, or convert sizes to a TensorShape.

    Args:
        value: A TensorShape, or the sizes of the axes.
    """
    return value if isinstance(value, TensorShape) else TensorShape(value)
