"""The elements of what was recorded, and what they are: all zero, all finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..engine.types import Adjoint

MAY_BE_UNWRITTEN = np.errstate(invalid="ignore")  # memory that is not written yet may hold any NaN


class ValueSummary:
    """The elements of a value, or of the several of one call.

    >>> ValueSummary(np.zeros(3)).facts(), ValueSummary(np.array([1.0, np.inf])).facts()
    ((True, True), (False, False))
    """

    __slots__ = ("given", "_facts", "__weakref__")

    def __init__(self, given: Adjoint) -> None:
        self.given = given
        self._facts: tuple[bool, bool] | None = None

    def array(self) -> np.ndarray | None:
        """Its elements; None for what has none, or several."""
        return None if isinstance(self.given, (tuple, list, type(None))) else np.asarray(self.given)

    @property
    def is_all_zero(self) -> bool:
        """Whether there are elements, and all of them are known to be zero."""
        return self.facts()[0]

    @property
    def is_all_finite(self) -> bool:
        """Whether no element is known to be NaN or infinite."""
        return self.facts()[1]

    def facts(self) -> tuple[bool, bool]:
        """(there are elements, and all are zero; all are finite)."""
        if self._facts is None:
            several = self.given if isinstance(self.given, (tuple, list)) else ()
            parts = [ValueSummary(part).facts() for part in several] or [facts_of(self.array())]
            self._facts = all(zero for zero, _ in parts), all(finite for _, finite in parts)
        return self._facts


@MAY_BE_UNWRITTEN
def facts_of(array: np.ndarray | None) -> tuple[bool, bool]:
    """(there are elements, and all are zero; all are finite), as far as they are known.

    >>> facts_of(np.zeros(3)), facts_of(None)
    ((True, True), (False, True))
    """
    if array is None or array.dtype.kind not in "biufcV":
        return False, True
    numbers = array if array.dtype.kind == "c" else array.astype(np.float64)
    return bool(numbers.size and not numbers.any()), bool(np.isfinite(numbers).all())


@MAY_BE_UNWRITTEN
def numbers_of(value: ValueSummary | None) -> np.ndarray | None:
    """The elements of a value that a recording keeps; None where they are gone, or are no numbers."""
    array = None if value is None else value.array()
    return None if array is None or array.dtype.kind not in "biufV" else np.asarray(array, np.float64)
