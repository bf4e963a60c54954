"""Keep a framework's values until they are shown, and map its tensors and variables to facts about them.

The memory for values is limited. When the limit is exceeded, the oldest large arrays are reduced to the summaries that
a picture shows.
"""

import ctypes
from typing import Any
from weakref import ref

from ..engine.types import FactsById
from ..picture.shown_values import ArraySummary, to_value_fields
from ..picture.snapshot_types import OptionalValue, ValueFields
from ..recording.value_summary import ValueSummary

BYTE_LIMIT = 64 * 2**20
SMALL_SIZE = 4096  # Arrays with at most this many elements do not count toward the limit.


class KeptValue(ValueSummary):
    """A framework's value that formats itself for pictures.

    A bridge's subclass overrides ``to_array`` to convert the value into a NumPy array.

    >>> import numpy as np
    >>> KeptValue(np.float32(2.0)).shown(), KeptValue(np.zeros(3)).compute_zero_and_finite_flags()
    ({'text': '2.0', 'data': 2.0}, (True, True))
    """

    __slots__ = ("_summary",)

    def __init__(self, content: Any):
        """Store ``content``, the value as the framework represents it."""
        super().__init__(content)
        self._summary: ValueFields | ArraySummary | None = None

    def shown(self) -> OptionalValue:
        """Return the ``ValueFields`` for a snapshot, or None if the elements are gone. The result is cached."""
        if isinstance(self._summary, ArraySummary):
            self._summary = self._summary.shown()
        elif self._summary is None:
            array = self.to_array()
            self._summary = None if array is None else to_value_fields(array[()])
        return self._summary

    def reduce_to_summary(self) -> None:
        """Release the elements, and keep the text, the statistics and the thumbnail that a picture shows."""
        array = self.to_array() if self._summary is None else None
        if array is not None and array.size > 64 and array.dtype.kind in "iufV":
            self._summary = summary = ArraySummary.summarize_array(array)
            self._facts = summary.facts
        else:
            self.shown()
            self.compute_zero_and_finite_flags()
        self.content = None


class IdentityMap:
    """A map from objects to values. An entry is ignored once its object has been deleted.

    Objects are compared by identity, because ``==`` compares tensors element by element.

    >>> one, other, lines = KeptValue(1.0), KeptValue(1.0), IdentityMap()
    >>> lines[one] = 3
    >>> lines.get(one, 0), lines.get(other, 0)
    (3, 0)
    """

    def __init__(self) -> None:
        """Create an empty map."""
        self._entries: FactsById = {}

    def __setitem__(self, owner: Any, value: Any) -> None:
        """Store the value for an object, with a weak reference to the object."""
        self._entries[id(owner)] = ref(owner), value

    def __len__(self) -> int:
        """Return the number of entries, including entries for deleted objects."""
        return len(self._entries)

    def get(self, owner: Any, default: Any = None) -> Any:
        """Return the value for an object, or ``default`` if none exists."""
        entry = self._entries.get(id(owner))
        return default if entry is None or entry[0]() is not owner else entry[1]

    def setdefault(self, owner: Any, default: Any) -> Any:
        """Return the value for an object. If the object has no value yet, store and return ``default``."""
        value = self.get(owner)
        if value is None:
            self[owner] = value = default
        return value


class MemoryBudget:
    """The limit on the number of bytes that a recording keeps.

    >>> import numpy as np
    >>> bound, values = MemoryBudget(byte_limit=100), [KeptValue(np.full(5000, k, np.int8)) for k in range(3)]
    >>> for value in values:
    ...     bound.add_value_and_enforce_limit(value, 5000, 50)
    >>> [value.content is None for value in values], values[0].shown()["stats"]["mean"]
    ([True, True, False], 0.0)
    """

    def __init__(self, byte_limit: int = 0):
        """Start with no bytes used. A ``byte_limit`` of 0 stands for ``BYTE_LIMIT``."""
        self._byte_limit = byte_limit or BYTE_LIMIT
        self._values_and_sizes: list[tuple[KeptValue, int]] = []
        self._byte_count = 0

    def add_value_and_enforce_limit(self, value: KeptValue, element_count: int, byte_count: int) -> None:
        """Count a value toward the limit, and release the older half of the arrays if the limit is exceeded.

        Args:
            value: The kept value.
            element_count: The number of its elements. Values with at most ``SMALL_SIZE`` elements are not counted.
            byte_count: The number of its bytes.
        """
        if element_count <= SMALL_SIZE:
            return
        self._values_and_sizes.append((value, byte_count))
        self._byte_count += byte_count
        if self._byte_count > self._byte_limit:
            half_count = len(self._values_and_sizes) // 2 + 1
            for old_value, freed_bytes in self._values_and_sizes[:half_count]:
                old_value.reduce_to_summary()
                self._byte_count -= freed_bytes
                _released_bytes[0] += freed_bytes
            self._values_and_sizes = self._values_and_sizes[half_count:]
            if _released_bytes[0] >= MAX_UNTRIMMED_BYTES:
                trim_process_memory()


# Once this many bytes have been released, memory is returned even before the block ends. A thousand steps in one block
# would otherwise take gigabytes.
MAX_UNTRIMMED_BYTES = 512 * 2**20
_released_bytes = [0]  # The number of bytes that recordings have released since memory was last returned.


def trim_process_memory() -> None:
    """Return the memory of released arrays to the operating system, if the C library has ``malloc_trim``.

    A recording calls this function when it ends, and only rarely before then, because each call takes as long as many
    operations.

    Without this call, glibc keeps freed memory if a small object that was allocated later is still alive. A process
    would then grow by hundreds of megabytes although its recording keeps only 20 MB.
    """
    if not _released_bytes[0]:
        return
    _released_bytes[0] = 0
    malloc_trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
