"""Summarize recorded values: their elements, and whether all of them are zero or finite."""

import numpy as np
from numpy import float64, ndarray

from ..engine.types import LIST_OR_TUPLE, Adjoint

IGNORE_INVALID = np.errstate(invalid="ignore")  # Uninitialized memory may contain a signaling NaN.


class ValueSummary:
    """The elements of one value, or of all results of one call.

    Attributes:
        content: An array or number, a list of arrays for the results of a call, or None if the value no longer exists.

    >>> ValueSummary(np.zeros(3)).compute_zero_and_finite_flags()
    (True, True)
    >>> ValueSummary(np.array([1.0, np.inf])).compute_zero_and_finite_flags()
    (False, False)
    """

    __slots__ = ("content", "_facts", "__weakref__")

    def __init__(self, content: Adjoint):
        """Create a summary that examines the elements only on demand."""
        self.content = content
        self._facts: tuple[bool, bool] | None = None

    def to_array(self) -> ndarray | None:
        """Return the elements as one array, or None if the value no longer exists or consists of several arrays."""
        return None if isinstance(self.content, (tuple, list, type(None))) else np.asarray(self.content)

    @property
    def is_all_zero(self) -> bool:
        """Whether there are elements and all of them are known to be zero."""
        return self.compute_zero_and_finite_flags()[0]

    @property
    def is_all_finite(self) -> bool:
        """Whether no element is known to be nonfinite."""
        return self.compute_zero_and_finite_flags()[1]

    def compute_zero_and_finite_flags(self) -> tuple[bool, bool]:
        """Return (`is_all_zero`, `is_all_finite`). The result is cached."""
        if self._facts is None:
            contents = self.content if isinstance(self.content, LIST_OR_TUPLE) else ()
            facts = [ValueSummary(content).compute_zero_and_finite_flags() for content in contents] or [
                compute_is_all_zero_and_all_finite(self.to_array())
            ]
            self._facts = all(is_zero for is_zero, _ in facts), all(is_finite for _, is_finite in facts)
        return self._facts


@IGNORE_INVALID
def compute_is_all_zero_and_all_finite(array: ndarray | None) -> tuple[bool, bool]:
    """Return whether all elements of an array are zero, and whether all are finite.

    Args:
        array: The array, or None if the elements are unknown.

    Returns:
        Two truth values. The first one is False if the array has no elements. For unknown or non-numeric elements, the
        result is (False, True).

    >>> compute_is_all_zero_and_all_finite(np.zeros(3)), compute_is_all_zero_and_all_finite(None)
    ((True, True), (False, True))
    """
    if array is None or array.dtype.kind not in "biufcV":
        return False, True
    numbers = array if array.dtype.kind == "c" else array.astype(float64)
    return bool(numbers.size and not numbers.any()), bool(np.isfinite(numbers).all())


@IGNORE_INVALID
def to_float_array(value: ValueSummary | None) -> ndarray | None:
    """Return the elements of a value as float64.

    Args:
        value: The value, or None.

    Returns:
        An array of the value's shape, or None if the elements no longer exist or are not real numbers.
    """
    array = None if value is None else value.to_array()
    return None if array is None or array.dtype.kind not in "biufV" else np.asarray(array, float64)
