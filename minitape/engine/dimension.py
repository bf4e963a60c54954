"""One size of a shape in the style of TensorFlow 1 (``tf.compat.v1.Dimension``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from .typed import Operators

if TYPE_CHECKING:
    from .shape import TensorShape
    from .typed import Function, Object


def size_of(value: Object) -> int | None:
    """A size as a Python integer, None for an unknown one; TypeError or ValueError for what cannot be a size.

    >>> size_of(3), size_of(Dimension(None))
    (3, None)
    """
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
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


class Dimension(Operators):
    """One size of a shape; ``value`` is an int, or None for an unknown one.

    Arithmetic with an unknown size is unknown, and a comparison with one is None. Raises TypeError for what is no whole
    number, ValueError for a negative one. See https://www.tensorflow.org/api_docs/python/tf/compat/v1/Dimension.

    >>> Dimension(6) // 4 + 1, Dimension(6) * None
    (Dimension(2), Dimension(None))
    >>> Dimension(6) > 5, Dimension(None) > 5
    (True, None)
    """

    __slots__ = ("value",)

    def __init__(self, value: Object) -> None:
        self.value = size_of(value)

    def __index__(self) -> int | None:
        return self.value  # Python words the error for None

    def __int__(self) -> int | None:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __reduce__(self) -> tuple[object, ...]:
        return Dimension, (self.value,)

    def is_compatible_with(self, other: Object) -> bool:
        """True when the two sizes may be the same.

        >>> Dimension(3).is_compatible_with(None)
        True
        """
        number = size_of(other)
        return self.value is None or number is None or self.value == number

    def assert_is_compatible_with(self, other: Object) -> None:
        """Raises ValueError unless the two sizes may be the same.

        >>> import minitape as tf
        >>> Dimension(3).assert_is_compatible_with(4)
        Traceback (most recent call last):
            ...
        ValueError: Dimensions 3 and 4 are not compatible
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Object) -> Dimension:
        """The known one of two sizes; ValueError when they contradict each other.

        >>> Dimension(None).merge_with(3)
        Dimension(3)
        """
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self.value is None else Dimension(self.value)

    def __truediv__(self, other: object) -> Dimension:
        raise TypeError(_WHOLE.format("Dimension", type(other).__name__))

    def __rtruediv__(self, other: object) -> Dimension:
        raise TypeError(_WHOLE.format(type(other).__name__, "Dimension"))


def dimension_value(dimension: Object) -> Object:
    """The number in a size of TensorFlow 1; anything else, such as a size of TensorFlow 2, stays what it is.

    >>> dimension_value(Dimension(3)), dimension_value(3), dimension_value(None)
    (3, 3, None)
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """One size of a shape, as TensorFlow 1 has it; an unknown one when the rank is unknown.

    IndexError when the shape has no such axis.

    >>> import minitape as tf
    >>> tf.compat.dimension_at_index(tf.TensorShape([2, 3]), 1)
    Dimension(3)
    """
    return Dimension(None if shape.rank is None else shape.as_list()[index])


_WHOLE = "unsupported operand type(s) for /: '{}' and '{}', please use // instead"


def _with_known(function: Callable[[int, int], int | bool], make: Callable[[Object], object], swapped: bool) -> Function:
    """A binary operator that is unknown where one of its sizes is."""

    def apply(self: Dimension, other: object) -> object:
        try:
            number = size_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or number is None:
            return make(None)
        return make(function(number, self.value) if swapped else function(self.value, number))

    return apply


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _function = getattr(operator, _name)
    setattr(Dimension, f"__{_name}__", _with_known(_function, Dimension, False))
    setattr(Dimension, f"__r{_name}__", _with_known(_function, Dimension, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _with_known(getattr(operator, _name), lambda found: found, False))
