"""What a recording keeps of a framework's objects: values, to be shown on demand, and what was noted of
tensors and variables.

Values are bounded: of the oldest large ones only what a picture shows of them stays.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Generic, TypeVar

from ..picture.fields import Shown
from ..picture.values import ArraySummary, show_value
from ..recording.values import ValueSummary

MOST_BYTES = 64 * 2**20
SMALL = 4096  # elements of an array that is not counted


Said = TypeVar("Said")


class KeptValues(ValueSummary):
    """A value of a framework; a bridge says what its elements are.

    >>> import numpy as np
    >>> KeptValues(np.float32(2.0)).shown(), KeptValues(np.zeros(3)).facts()
    ({'text': '2.0', 'data': 2.0}, (True, True))
    """

    __slots__ = ("_shown",)

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self._shown: Shown | ArraySummary | None = None

    def shown(self) -> Shown | None:
        """The VALUE of a snapshot."""
        if isinstance(self._shown, ArraySummary):
            self._shown = self._shown.shown()
        elif self._shown is None:
            array = self.array()
            self._shown = None if array is None else show_value(array[()])
        return self._shown

    def summarize(self) -> None:
        """Releases the elements: what a picture shows is left."""
        array = self.array() if self._shown is None else None
        if array is not None and array.size > 64 and array.dtype.kind in "iufV":
            self._shown = summary = ArraySummary.of(array)
            self._facts = summary.facts
        else:
            self.shown()
            self.facts()
        self.given = None


class Noted(Generic[Said]):
    """What was noted of objects, as long as they live: by identity, for tensors are compared element by element.

    >>> one, other, lines = KeptValues(1.0), KeptValues(1.0), Noted()
    >>> lines[one] = 3
    >>> lines.get(one, 0), lines.get(other, 0)
    (3, 0)
    """

    def __init__(self) -> None:
        self._said: dict[int, tuple] = {}

    def __setitem__(self, owner: Any, said: Said) -> None:
        self._said[id(owner)] = weakref.ref(owner), said

    def __len__(self) -> int:
        return len(self._said)

    def get(self, owner: Any, otherwise: Any = None) -> Any:
        """What was noted of an object."""
        ref, said = self._said.get(id(owner), (None, None))
        return said if ref is not None and ref() is owner else otherwise

    def setdefault(self, owner: Any, said: Said) -> Said:
        """The same; where nothing was, this is noted."""
        found = self.get(owner)
        if found is None:
            self[owner] = found = said
        return found

    def forget(self, owner: Any) -> None:
        """Nothing is noted of an object any more."""
        self._said.pop(id(owner), None)


class Bound:
    """How many bytes a recording keeps.

    >>> import numpy as np
    >>> bound, values = Bound(most=100), [KeptValues(np.full(5000, k, np.int8)) for k in range(3)]
    >>> for value in values:
    ...     bound.add(value, 5000, 50)
    >>> [value.given is None for value in values], values[0].shown()["stats"]["mean"]
    ([True, True, False], 0.0)
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most or MOST_BYTES
        self._order: list[tuple[Any, int]] = []
        self._bytes = 0

    def add(self, value: Any, count: int, size: int) -> None:
        """One more value, of ``count`` elements and ``size`` bytes; when it is too much, the older half becomes
        summaries.
        """
        if count <= SMALL:
            return
        self._order.append((value, size))
        self._bytes += size
        if self._bytes > self._most:
            half = len(self._order) // 2 + 1
            for old, freed in self._order[:half]:
                old.summarize()
                self._bytes -= freed
            self._order = self._order[half:]
            give_back()


def give_back() -> None:
    """Returns released memory to the system: glibc keeps it where a small object that lives was allocated after it.

    Without this a process grows by hundreds of megabytes of which a recording keeps twenty.
    """
    trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if trim is not None:
        trim(0)
