"""What is left of a recording that no tape asks any more.

All values go. The skeletons of the last few short recordings stay, for `explain`: which operation a tensor came from
that outlived its tape.
"""

from __future__ import annotations

from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .outlines import outline
from .rows import WIDTH
from .state import state

if TYPE_CHECKING:
    from ..types import Array
    from .record import Record

RETAINED = 8  # skeletons that a thread keeps
SKELETON = 4096  # rows of one at most
FEW = 256  # rows of one that keeps its small arrays

# in place of what a released recording held: nothing may be added
_GONE: Any = MappingProxyType({})  # of dictionaries
_NOTHING: Any = ()  # of lists
_NO_ROWS: Any = frozenset()  # of sets


def release(record: Record) -> None:
    """No tape is left to ask: values go, and so does everything else of recordings that are long or old."""
    record.numbers = record.variables = record.leaf_of = _GONE
    record.events, record.frame = (), None
    if len(record) > SKELETON:
        _forget(record)
        return
    cells = record.rows
    if len(cells) > WIDTH * FEW:
        cells[WIDTH - 1 :: WIDTH] = map(_outline, cells[WIDTH - 1 :: WIDTH])
    elif record.large:
        for row, value in record.large_arrays().items():
            record.store(row, _outline(value))
    for call in record.calls if record.called else ():
        call.attrs = _GONE
    retained = state.retained
    if retained is None:
        retained = state.retained = deque()
    retained.append(record)
    while len(retained) > RETAINED and not state.looking:
        _forget(retained.popleft())


def _forget(record: Record) -> None:
    record.clear()
    record.mandatory = record.segments = _NOTHING
    record.leaves, record.untracked = _GONE, _NO_ROWS


def _outline(value: Array) -> Array:
    return outline(value.shape, value.dtype) if type(value) is np.ndarray else value
