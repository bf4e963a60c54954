"""How much memory a recording holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .recording import Entry, Recording


def held(recording: Recording) -> int:
    """The bytes of values and adjoints that are kept as they were; what became a summary counts nothing."""
    entries = recording.entries
    kept = {id(entry.value): (entry.value, entry) for entry in entries}
    for sweep in recording.sweeps:
        kept |= {id(value): (value, entries[row]) for row, value in sweep.adjoints.items()}
        kept |= {id(value): (value, entries[row]) for edges in sweep.edges.values() for row, _, *values in edges for value in values}
    return sum(size_of(entry) for value, entry in kept.values() if getattr(value, "given", value) is not None)


def size_of(entry: Entry) -> int:
    """The bytes of a row's value.

    >>> from .recording import Recording
    >>> recording = Recording("by hand")
    >>> row = recording.leaf(0.0, dtype="float64", shape=(3, 2))
    >>> size_of(recording.entries[row])
    48
    """
    try:
        return int(np.prod(entry.shape)) * np.dtype(entry.dtype or "float32").itemsize
    except TypeError:  # a dtype that NumPy does not know
        return int(np.prod(entry.shape)) * 4


def as_size(count: int) -> str:
    """Bytes as a person says them.

    >>> as_size(72), as_size(3_100_000)
    ('72 bytes', '3.1 MB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
