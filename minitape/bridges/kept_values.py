"""What a recording keeps of a framework's objects: values, to be shown on demand, and what was noted of
tensors and variables.

Values are bounded: of the oldest large ones only what a picture shows of them stays.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Generic, TypeVar

from ..picture.shown_values import ArraySummary, to_value_fields
from ..picture.snapshot_types import ValueFields
from ..recording.value_summary import ValueSummary

BYTE_LIMIT = 64 * 2**20
SMALL_SIZE = 4096  # elements of an array that is not counted


NotedValue = TypeVar("NotedValue")


class KeptValue(ValueSummary):
    """A value of a framework; a bridge says what its elements are.

    >>> import numpy as np
    >>> KeptValue(np.float32(2.0)).shown(), KeptValue(np.zeros(3)).compute_zero_and_finite_flags()
    ({'text': '2.0', 'data': 2.0}, (True, True))
    """

    __slots__ = ("_summary",)

    def __init__(self, content: Any) -> None:
        super().__init__(content)
        self._summary: ValueFields | ArraySummary | None = None

    def shown(self) -> ValueFields | None:
        """Return the VALUE of a snapshot."""
        if isinstance(self._summary, ArraySummary):
            self._summary = self._summary.shown()
        elif self._summary is None:
            array = self.to_array()
            self._summary = None if array is None else to_value_fields(array[()])
        return self._summary

    def release_array(self) -> None:
        """Release the elements, and keep what a picture shows of them."""
        array = self.to_array() if self._summary is None else None
        if array is not None and array.size > 64 and array.dtype.kind in "iufV":
            self._summary = summary = ArraySummary.summarize_array(array)
            self._facts = summary.facts
        else:
            self.shown()
            self.compute_zero_and_finite_flags()
        self.content = None


class IdentityMap(Generic[NotedValue]):
    """What was noted of objects, as long as they live: by identity, for tensors are compared element by element.

    >>> one, other, lines = KeptValue(1.0), KeptValue(1.0), IdentityMap()
    >>> lines[one] = 3
    >>> lines.get(one, 0), lines.get(other, 0)
    (3, 0)
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple] = {}

    def __setitem__(self, owner: Any, value: NotedValue) -> None:
        self._entries[id(owner)] = weakref.ref(owner), value

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, owner: Any, default: Any = None) -> Any:
        """Return what was noted of an object."""
        ref, value = self._entries.get(id(owner), (None, None))
        return value if ref is not None and ref() is owner else default

    def setdefault(self, owner: Any, default: NotedValue) -> NotedValue:
        """Return what was noted of an object; where nothing was, note ``default``."""
        value = self.get(owner)
        if value is None:
            self[owner] = value = default
        return value

    def discard_owner(self, owner: Any) -> None:
        """Forget what was noted of an object."""
        self._entries.pop(id(owner), None)


class MemoryBudget:
    """How many bytes a recording keeps.

    >>> import numpy as np
    >>> bound, values = MemoryBudget(byte_limit=100), [KeptValue(np.full(5000, k, np.int8)) for k in range(3)]
    >>> for value in values:
    ...     bound.add_value_and_enforce_limit(value, 5000, 50)
    >>> [value.content is None for value in values], values[0].shown()["stats"]["mean"]
    ([True, True, False], 0.0)
    """

    def __init__(self, byte_limit: int = 0) -> None:
        self._byte_limit = byte_limit or BYTE_LIMIT
        self._values_and_sizes: list[tuple[KeptValue, int]] = []
        self._byte_count = 0

    def add_value_and_enforce_limit(self, value: KeptValue, element_count: int, byte_count: int) -> None:
        """Count one more value, of ``element_count`` elements and ``byte_count`` bytes; when it is too much, the older
        half becomes summaries.
        """
        if element_count <= SMALL_SIZE:
            return
        self._values_and_sizes.append((value, byte_count))
        self._byte_count += byte_count
        if self._byte_count > self._byte_limit:
            half_count = len(self._values_and_sizes) // 2 + 1
            for old_value, freed_bytes in self._values_and_sizes[:half_count]:
                old_value.release_array()
                self._byte_count -= freed_bytes
            self._values_and_sizes = self._values_and_sizes[half_count:]
            trim_process_memory()


def trim_process_memory() -> None:
    """Return released memory to the system: glibc keeps it where a small object that lives was allocated after it.

    Without this a process grows by hundreds of megabytes of which a recording keeps twenty.
    """
    malloc_trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
