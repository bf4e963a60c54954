"""Arrays that do not change, to be shown when somebody asks. What is kept is bounded: of the oldest large ones only what a
picture shows of them stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..explain.values import facts_of
from ..picture.fields import Shown
from ..picture.values import show_value

MOST_BYTES = 64 * 2**20
SMALL = 4096  # elements of an array that is not counted


class Kept:
    """A value of a framework; a bridge says what its elements are.

    >>> Kept(np.float32(2.0)).shown(), Kept(np.zeros(3)).facts()
    ({'text': '2.0', 'data': 2.0}, (True, True))
    """

    __slots__ = ("tensor", "_shown", "_facts")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self._shown: Shown | None = None
        self._facts: tuple[bool, bool] | None = None

    def array(self) -> np.ndarray | None:
        """Its elements; None for what has none."""
        return None if self.tensor is None else np.asarray(self.tensor)

    def shown(self) -> Shown | None:
        """The VALUE of a snapshot."""
        if self._shown is None:
            array = self.array()
            self._shown = None if array is None else show_value(array[()])
        return self._shown

    def facts(self) -> tuple[bool, bool]:
        """(there are elements, and all are zero; all are finite)."""
        if self._facts is None:
            self._facts = facts_of(self.array())
        return self._facts

    def summarize(self) -> None:
        """Lets go of the elements: what a picture shows is left."""
        self.shown()
        self.facts()
        self.tensor = None


class Bound:
    """How many bytes a recording keeps.

    >>> bound, values = Bound(most=100), [Kept(np.full(5000, k, np.int8)) for k in range(3)]
    >>> for value in values:
    ...     bound.add(value, 5000, 50)
    >>> [value.tensor is None for value in values], values[0].shown()["stats"]["mean"]
    ([True, True, False], 0.0)
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._order: list[tuple[Any, int]] = []
        self._bytes = 0

    def add(self, value: Any, count: int, size: int) -> None:
        """One more value, of ``count`` elements and ``size`` bytes; when it is too much, the older half becomes summaries."""
        if count <= SMALL:
            return
        self._order.append((value, size))
        self._bytes += size
        if self._bytes > (MOST_BYTES if self._most is None else self._most):
            half = len(self._order) // 2 + 1
            for old, freed in self._order[:half]:
                old.summarize()
                self._bytes -= freed
            self._order = self._order[half:]
