"""What stays of a recording that no tape can ask any more: values for tensors that are still held, a skeleton for `explain`.

Most recordings end without anybody having looked at all their rows. So the last few small ones of a thread stay as they
are but for their leaves, which are let go of; once newer ones take their place, nearly all are known to nobody, and are
gone. Only what tensors still refer to is computed then. A recording with large arrays is settled at once.
"""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict, deque
from itertools import compress, repeat
from operator import is_
from sys import getrefcount, is_finalizing
from typing import Any

from .state import state

GRAVES, BONES = 8, 512  # skeletons of a thread: how many, and how many calls or leaves of one at most
ARRAYS, LENT = 256, 2**18  # one keeps up to so many small arrays, and so many bytes of arrays that were given

# A tape may die while the garbage collector runs, which may be in the middle of any allocation of the interpreter. Its
# recording is not released there: that computes values, which switches NumPy's warnings off, which changes a context
# variable; and when the collector was started by such a change, the interpreter crashes (seen on Python 3.11).
_phases = OrderedDict.fromkeys(("start", "stop"))  # of the collector; the last one is where it is
gc.callbacks.append(_phases.move_to_end)  # no function of ours: it would meet a Ctrl-C, and Python drops it there
orphans: list[Any] = []  # recordings to release when the next tape is entered


def release(record: Any) -> None:
    """No tape is left to ask for a gradient: lets go of what nobody can ask for any more."""
    if next(reversed(_phases)) == "start":
        orphans.append(record)
        return
    if record.lasting or is_finalizing():  # at the end of the process nothing more is computed
        return
    record.leaf_of.clear()
    if record.numbers or record.variables or record.events:
        record.numbers.clear()
        record.variables.clear()
        record.events = ()
    _bury(record)
    if record.bulky or record.wide or record.lent > LENT or len(record.meta) > ARRAYS:
        _settle(record)
    if record.wide_lanes:
        record.wide_lanes.clear()  # they refer to the recording, which would wait for the garbage collector


def _bury(record: Any) -> None:
    """Keeps the skeleton of a recording as long as it is among the last few of this thread."""
    rows = record.base + (len(record.pending) >> 2)
    if rows > 8 * BONES or len(record.calls) > BONES or len(record.leaves) > BONES:
        _forget(record)
        return
    if record.laden:
        for call in record.calls:
            if call.primitive.shape is None:  # else they are small, and the call may be another recording's, too
                call.attrs = {}
    for leaf in record.leaves.values():
        tensor, variable = leaf.tensor, leaf.variable
        if tensor is not None:
            if tensor._home is record:
                tensor._lane = None  # it has its value
            owner = None if variable is None else weakref.ref(variable)
            leaf.gone, leaf.tensor, leaf.variable = (weakref.ref(tensor), owner, tensor._made), None, None
    graves = state.graves
    if graves is None:
        graves = state.graves = deque()
    graves.append(record)
    if len(graves) > GRAVES:
        references = next(map(getrefcount, graves)) - _ALONE  # without a variable, which would count as well
        oldest = graves.popleft()
        if not _rid(oldest, references):
            _forget(oldest)


def _rid(record: Any, references: int) -> bool:
    """Lets a recording go to which nothing refers but its own lanes, and to these no tensor; else False."""
    if references != len(record.lanes) or (references and max(_references(record.lanes)) != _UNHELD):
        return False
    for lane in record.lanes.values():
        lane.home = None
    return True


def _forget(record: Any) -> None:
    """Lets go of the skeleton, too: only the values of rows stay, for tensors that are still held."""
    if record.lanes:
        for leaf in record.leaves.values():
            if leaf.tensor is not None and leaf.tensor._home is record:
                leaf.tensor._lane = None  # it has its value
    _settle(record)
    for column in (record.calls, record.leaves, record.segments, record.meta, record.cold):
        column.clear()


def _settle(record: Any) -> None:
    """Computes what is yet to be computed, and leaves each lane the values of its rows, for tensors that are still held."""
    if record.late or record.wide or record.lanes:
        if record.done < len(record):
            record.evaluate()
        counts, meta, arrays = _references(record.lanes), record.meta, record.arrays
        for lane in record.lanes.values():
            if counts.pop() > _UNHELD:
                lane.kept = dict(compress(arrays.items(), map(is_, map(meta.get, arrays), repeat(lane.spec))))
                lane.was = weakref.ref(record)
            lane.home = None
        record.lanes = {}
    record.arrays.clear()


def _references(lanes: dict[Any, Any]) -> list[int]:
    """How often each of the lanes is referred to, the last one first."""
    return list(map(getrefcount, reversed(lanes.values())))  # without a variable: a debugger may look into those


(_UNHELD,) = _references({None: object()})  # what is counted for a lane that no tensor refers to
_ALONE = next(map(getrefcount, deque([object()])))  # ... and for a recording that nothing refers to but the deque
