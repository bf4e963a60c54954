"""``tf.TensorShape``: the static shape of a tensor, whose sizes may be unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .class_names import PrintName

if TYPE_CHECKING:
    from ..types import Object, ShapeLike


def _sizes_of(numbers: Object) -> tuple[int | None, ...]:
    """The sizes of a number, an array, a tensor, an iterable; TypeError for what cannot be a shape."""
    if hasattr(numbers, "numpy"):
        numbers = numbers.numpy().tolist()
    if not hasattr(numbers, "__iter__") or getattr(numbers, "ndim", 1) == 0:
        return (_size(numbers),)
    sizes = list(numbers)
    odd = next((d for d in sizes if d is not None and not hasattr(d, "__index__")), None)
    if odd is not None:
        raise TypeError(
            f"Failed to convert '{numbers!r}' to a shape: '{odd!r}'could not be converted to a dimension. A shape "
            "should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
        )
    return tuple(_size(d) for d in sizes)


def _size(value: Object) -> int | None:
    """A size as a Python integer, None for an unknown one; TypeError or ValueError for what cannot be a size."""
    if value is None:
        return None
    try:
        size: int = value.__index__()
    except AttributeError:
        raise TypeError(
            f"Dimension value must be integer or None or have an __index__ method, got value '{value!r}' "
            f"with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class TensorShape(metaclass=PrintName):
    """The shape of a tensor: sizes that are ints or None (unknown); of ``TensorShape(None)`` the rank is unknown too.

    >>> import minitape as tf
    >>> shape = tf.ones([2, 3]).shape
    >>> shape, shape.rank, shape[0], shape == (2, 3), shape.as_list(), shape.num_elements()
    (TensorShape([2, 3]), 2, 2, True, [2, 3], 6)
    >>> some = tf.TensorShape([None, 3])
    >>> some.is_fully_defined(), shape.is_subtype_of(some)
    (False, True)
    >>> some.is_compatible_with([2, 3]), some.is_compatible_with([2, 4])
    (True, False)
    >>> some.merge_with([2, None]), some.concatenate([4])
    (TensorShape([2, 3]), TensorShape([None, 3, 4]))
    >>> some.with_rank(2), shape.most_specific_compatible_shape([5, 3])
    (TensorShape([None, 3]), TensorShape([None, 3]))
    >>> some.with_rank_at_least(1).assert_has_rank(2)
    >>> some.assert_is_compatible_with([2, 4])
    Traceback (most recent call last):
        ...
    ValueError: Shapes (None, 3) and [2, 4] are incompatible
    """

    __slots__ = ("_dims",)
    _module = "tensorflow.python.framework.tensor_shape"

    def __init__(self, dims: ShapeLike) -> None:
        if dims is None:
            self._dims: tuple[int | None, ...] | None = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (tuple, list)):
            self._dims = tuple(_size(d) for d in dims)
        else:
            self._dims = _sizes_of(dims)

    @classmethod
    def of(cls, dims: tuple[int | None, ...]) -> TensorShape:
        """A shape from a tuple that is known to be right."""
        made = cls.__new__(cls)
        made._dims = dims
        return made

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
        ours, theirs = self._dims, as_shape(other)._dims
        if ours is None or theirs is None:
            return True
        return len(ours) == len(theirs) and all(None in (a, b) or a == b for a, b in zip(ours, theirs, strict=True))

    def is_subtype_of(self, other: ShapeLike) -> bool:
        """True when every tensor of this shape has the other shape too."""
        ours, theirs = self._dims, as_shape(other)._dims
        if ours is None or theirs is None:
            return theirs is None
        return len(ours) == len(theirs) and all(b in (None, a) for a, b in zip(ours, theirs, strict=True))

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raises ValueError unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError unless the rank is ``rank`` or unknown."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with the rank ``rank``; ValueError when another rank is known."""
        self.assert_has_rank(rank)
        return self.merge_with([None] * rank)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, given that it has at least ``rank`` axes; ValueError when it has fewer."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """What both shapes know together; ValueError when they contradict."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape.of(tuple([b if a is None else a for a, b in zip(self._dims, other._dims, strict=True)]))

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """The narrowest shape that admits both."""
        ours, theirs = self._dims, as_shape(other)._dims
        if ours is None or theirs is None or len(ours) != len(theirs):
            return TensorShape(None)
        return TensorShape.of(tuple([a if a == b else None for a, b in zip(ours, theirs, strict=True)]))

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """This shape followed by the other; of unknown rank when one of them is."""
        ours, theirs = self._dims, as_shape(other)._dims
        return TensorShape(None) if ours is None or theirs is None else TensorShape.of(ours + theirs)

    def __add__(self, other: ShapeLike) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: int | slice) -> Object:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        return TensorShape.of(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[object, ...]:
        return TensorShape, (None if self._dims is None else list(self._dims),)

    def __repr__(self) -> str:
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return f"({self._dims[0]},)" if len(self._dims) == 1 else f"({', '.join(map(str, self._dims))})"


def as_shape(value: ShapeLike) -> TensorShape:
    """``value`` itself if it is a TensorShape, else one made of it."""
    return value if isinstance(value, TensorShape) else TensorShape(value)
