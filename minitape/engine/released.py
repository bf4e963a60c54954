"""What is left of a recording that no tape asks any more.

All values go. The skeletons of the last few short recordings stay, for `explain`: which operation a tensor came from
that outlived its tape.
"""

from __future__ import annotations

import weakref
from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .record import SMALL
from .rows import WIDTH, outline
from .state import state

if TYPE_CHECKING:
    from .record import Record
    from .typed import Array

RETAINED = 8  # skeletons that a thread keeps
SKELETON = 4096  # rows of one at most
FEW = 256  # rows of one that keeps its small arrays

# in the place of what a released recording held: nobody may add to it
_GONE: Any = MappingProxyType({})  # of dictionaries
_NOTHING: Any = ()  # of lists
_NO_ROWS: Any = frozenset()  # of sets


def release(record: Record) -> None:
    """No tape is left to ask: values go, and so does everything else of recordings that are long or old."""
    record.numbers = record.variables = record.leaf_of = _GONE
    record.events, record.frame = (), None
    if record.base or len(record.rows) > WIDTH * SKELETON:
        _forget(record)
        return
    large = record.large
    for row, leaf in record.leaves.items():
        tensor, variable = leaf.tensor, leaf.variable
        if tensor is not None and leaf.number is None:
            owner = None if variable is None else weakref.ref(variable)
            leaf.gone, leaf.tensor, leaf.variable = (weakref.ref(tensor), owner, tensor._origin), None, None
            if tensor._value.size > SMALL:
                record.hold(row, outline(tensor._value.shape, tensor._value.dtype))
    if large or len(record.rows) > WIDTH * FEW:
        record.rows[WIDTH - 1 :: WIDTH] = [_outlined(value) for value in record.rows[WIDTH - 1 :: WIDTH]]
    for call in record.calls:
        call.attrs = _GONE
    retained = state.retained
    if retained is None:
        retained = state.retained = deque()
    retained.append(record)
    while len(retained) > RETAINED and not state.looking:
        _forget(retained.popleft())


def _forget(record: Record) -> None:
    record.blocks = record.rows = record.calls = record.asked = record.segments = _NOTHING
    record.base, record.leaves, record.cold = 0, _GONE, _NO_ROWS


def _outlined(value: Array) -> Array:
    return outline(value.shape, value.dtype) if type(value) is np.ndarray else value
