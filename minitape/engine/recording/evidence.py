"""Evidence for `explain`: where a value came from when no tape wrote it down, and where it went.

A recording knows every operation under a tape. What it cannot know is noted here, lightly: which operation outside any
tape made a tensor, on which line a constant or a variable's state was made, and which values left to NumPy or Python.
Nothing here keeps a tensor or an array alive: notes hold weak references, and chains of notes are cut at ``DEPTH``.

A note of origin is a plain tuple, which :mod:`minitape.recording.origins` reads; it hangs on the tensor's ``_origin``.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..hooks import hooks
from .frames import OWN_FILES
from .rows import new_tuple
from .state import state

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..types import Array, End, Object, Result
    from .record import Record

DEPTH = 40  # an origin remembers this many generations before it
ASSIGNED = 5  # ... of which an assignment counts as so many: a variable's old states would add up, turn by turn
EXITS = 256  # values that left, remembered per thread
SITES = 512  # places at which values left before: of each the last one is remembered as well
_ENOUGH = 2 * EXITS + SITES
STACK = 3  # user frames noted of constants and variables
NOTES = 1000  # what one tape remembers of watch calls and the like

Stack = tuple[tuple[CodeType, int], ...]
# code and offset of a statement, then those of the call around it, where there is one
Place: TypeAlias = tuple
Note: TypeAlias = Any  # of origin: an Origin, or a plain tuple of its fields; None
# what, at which row, when or of which tensor (weak), the user's frames
TapeNote: TypeAlias = tuple[str, int, Any, Stack]
clock = count(1).__next__
ref = weakref.ref


def place_of(frame: FrameType) -> Place:
    """The user's statement that runs in ``frame`` or around it, and the call around that: what is noted often."""
    while OWN_FILES[(code := frame.f_code).co_filename]:
        around = frame.f_back
        if around is None:
            return ()
        frame = around
    outer = None if code.co_name == "<module>" else frame.f_back
    if outer is None or OWN_FILES[outer.f_code.co_filename]:
        return code, frame.f_lasti
    return code, frame.f_lasti, outer.f_code, outer.f_lasti


def stack_of(place: Place) -> Stack:
    """The frames of a place."""
    return tuple(zip(place[::2], place[1::2], strict=True))


class ValueLeft(NamedTuple):
    """A value that left to NumPy or Python: ``how`` is "numpy", "asarray", "float", "int", "text" or the like."""

    when: int
    how: str
    known: tuple  # of the value: the fields of a minitape.recording.origins.Ref
    place: Place
    record: weakref.ref[Record] | None  # the recording that was open
    row: int  # how long it was
    out: Any  # what the user got: an array (weak), a NumPy scalar, or None

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return stack_of(self.place)

    @property
    def given(self) -> object:
        """The array or scalar that the user got; None if it no longer exists."""
        return self.out() if type(self.out) is weakref.ref else self.out


class ValuesLeft:
    """The last values that left on this thread."""

    def __init__(self) -> None:
        self.notes: list[ValueLeft] = []  # oldest first
        self.arrays: dict[int, ValueLeft] = {}  # by the id of what the user got

    def thin(self) -> None:
        """Of all but the last ``EXITS`` only the last of each statement stays."""
        last: dict[Hashable, ValueLeft] = {}
        for note in self.notes[:-EXITS]:
            # a code by its id: to hash it would take long
            statement = (id(note.place[0]), note.place[1]) if note.place else None
            last.pop(statement, None)  # so that the latest are the last
            last[statement] = note
        self.notes[:-EXITS] = [*last.values()][-SITES:]
        self.arrays = {id(note.given): note for note in self.notes}

    def of(self, value: object) -> ValueLeft | None:
        """The exit through which this very array (or one that it is a view of) or scalar came."""
        while value is not None:
            note = self.arrays.get(id(value))
            if note is not None and note.given is value:
                return note
            value = getattr(value, "base", None)
        return None


def exits() -> ValuesLeft:
    """The values that left on this thread."""
    found = state.memory.exits
    if found is None:
        found = state.memory.exits = ValuesLeft()
        THREADS.append(found)
    return found


THREADS: deque[ValuesLeft] = deque(maxlen=16)  # of the threads that began last, also of those that have ended


def stack(frame: FrameType | None = None, most: int = STACK) -> Stack:
    """The user's frames from this one (None: the caller's) outwards, without those of minitape and of libraries."""
    if frame is None:
        frame = _getframe(1)
    sites: Stack = ()
    while frame is not None:
        code = frame.f_code
        if not OWN_FILES[code.co_filename]:
            sites += ((code, frame.f_lasti),)
            if len(sites) == most or code.co_name == "<module>":
                break
        frame = frame.f_back
    return sites


def origin_of_new(
    kind: str, inputs: Iterable[Tensor] = (), detail: object = None, place: Place | None = None, step: int = 1
) -> Note:
    """The origin of a value that is made right now, by the statement at this place or, without it, that runs now.

    It is ``step`` generations younger than the youngest of its inputs whose origin is not too long ago to be
    remembered. ``detail`` is the primitive of an "op", or what another ``kind`` says.
    """
    values: tuple[Object, ...] = ()
    depth = 0
    for tensor in inputs:
        origin = tensor._origin
        if tensor._record is not None:
            origin = (tensor._record, tensor._row)
        elif origin is not None and (age := origin[5] + step) > depth:
            if age > DEPTH:
                origin = None
            else:
                depth = age
        values += (ref(tensor), origin)
    return clock(), kind, sum(stack(), ()) if place is None else place, values, detail, depth


def _state_of(value: End) -> End:
    """The tensor itself, or that of a variable."""
    return getattr(value, "_state", value)


def note_gradients(
    gradients: list[Result], targets: list[End], sources: list[End], place: Place, recorded: bool
) -> None:
    """Notes on gradients what they came from, whose they are and the user's statement; not where rows say it."""
    if recorded:
        return
    target = targets[0] if len(targets) == 1 else None
    if target is not None and (known := getattr(target, "_record", None)) is not None:
        when, values, depth = clock(), (ref(target), (known, target._row)), 0
    else:
        when, _, _, values, _, depth = origin_of_new("gradient", map(_state_of, targets), place=place)
    for g, source in zip(gradients, sources):  # noqa: B905 - slow
        if g is not None:
            g._origin = when, "gradient", place, values, ref(source), depth


def note_used_as_size(tensor: Object) -> None:
    """Notes that a tensor's value was read as a size, an axis or an index."""
    if hasattr(tensor, "_origin"):
        note_exit(tensor, "index")


def with_influences(value: Result, inputs: Sequence[End], op: str) -> Result:
    """Notes that the values of ``inputs`` decided about a result that no row leads to; returns the result."""
    known = [t for t in map(_state_of, inputs) if hasattr(t, "_origin")]
    if known and hasattr(value, "_origin"):
        value._origin = origin_of_new("value", known, op)
    return value


def note_exit(tensor: Tensor, how: str, array: Array = None) -> None:
    """Notes that a tensor's value leaves to where no tape can follow it; what ``explain`` reads did not leave."""
    if tensor._record is not None and tensor._record.trace is not None:
        tensor._record.trace.refuse(tensor, how)
    memory = state.memory
    if memory.explain_runs:
        return
    own, record, left = tensor._record, state.record, memory.exits or exits()
    origin, out = tensor._origin, ref(array) if type(array) is np.ndarray else array
    known = (ref(tensor), origin, None, -1) if own is None else (ref(tensor), origin, ref(own), tensor._row)
    when, place = clock(), place_of(_getframe(2))
    if record is None:
        note = new_tuple(ValueLeft, (when, how, known, place, None, 0, out))
    else:
        note = new_tuple(ValueLeft, (when, how, known, place, ref(record), record.next, out))
        record.note_event(how, record.find(tensor))
    left.notes.append(note)
    if array is not None:
        left.arrays[id(array)] = note
    if len(left.notes) > _ENOUGH:
        left.thin()


def origin_of_row(tensor: Tensor, old: Record) -> Note:
    """The origin of a tensor that leaves a released recording for another one: its row there."""
    site = old.site_of(tensor._row)
    return clock(), "row", site or (), (_nothing, (old, tensor._row)), None, 0


def _nothing() -> None:
    """A weak reference to nothing."""


_births: weakref.WeakKeyDictionary[object, Stack] = weakref.WeakKeyDictionary()


def note_creation(thing: object) -> None:
    """Notes where a layer or a module is made: the user's statement around its constructors, and the calls around
    that.
    """
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        code = frame.f_code
        if not OWN_FILES[code.co_filename] and not _constructs(frame, thing):
            break
        frame = frame.f_back
    if frame is not None:
        _births[thing] = stack(frame)


def _constructs(frame: FrameType, thing: object) -> bool:
    """Whether a frame is a constructor of this very object."""
    code = frame.f_code
    return code.co_name == "__init__" and bool(code.co_varnames) and frame.f_locals.get(code.co_varnames[0]) is thing


def creation_of(thing: object) -> Stack:
    """Where a layer or a module was made; empty when it is not known."""
    try:
        return _births.get(thing, ())
    except TypeError:
        return ()


def weak_ref(value: object) -> weakref.ref[Object] | None:
    """A reference to what may be anything; None where there can be none."""
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def with_first_use(error: Exception, what: str, notes: list[TapeNote], kind: str, fix: str = "") -> Exception:
    """The error with a note of the line on which something happened to the tape before, and how to fix it.

    Its message stays TensorFlow's.
    """
    for noted, _, _, frames in notes:
        if noted == kind and frames:
            code, at = frames[0]
            line = next((line for start, end, line in code.co_lines() if start <= at < end), None)
            error.add_note(f"{what} first in {hooks.where(code.co_filename, line)}.{fix}")
            break
    return error
