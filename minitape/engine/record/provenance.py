"""Provenance, for `explain`: where a value came from when no tape wrote it down, and where it went.

A recording knows every operation under a tape. What it cannot know is noted here, lightly: which operation outside any
tape made a tensor, on which line a constant or a variable's state was made, and which values left to NumPy or Python.
Nothing here keeps a tensor or an array alive: notes hold weak references, and chains of notes are cut at ``DEPTH``.

A note of origin is a plain tuple, which :mod:`minitape.recording.value_origins` reads; it hangs on the tensor's
``_origin``.
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
from .row_parts import new_tuple
from .thread_state import state
from .user_frames import OWN_FILES

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..types import Array, Object, Result, TargetOrSource
    from .record import Record

DEPTH = 40  # an origin remembers this many generations before it
DEPTH_FIELD = 5  # of the fields of an origin: how many generations it remembers
ASSIGNMENT_GENERATIONS = (
    5  # ... of which an assignment counts as so many: a variable's old states would add up, turn by turn
)
MAX_RECENT_ESCAPES = 256  # values that left, remembered per thread
MAX_ESCAPE_SITES = 512  # places at which values left before: of each the last one is remembered as well
_PRUNE_AFTER = 2 * MAX_RECENT_ESCAPES + MAX_ESCAPE_SITES
STACK_DEPTH = 3  # user frames noted of constants and variables
MAX_TAPE_NOTES = 1000  # what one tape remembers of watch calls and the like

Stack = tuple[tuple[CodeType, int], ...]
# code and offset of a statement, then those of the call around it, where there is one
Place: TypeAlias = tuple
Note: TypeAlias = Any  # of origin: an Origin, or a plain tuple of its fields; None
# what, at which row, when or of which tensor (weak), the user's frames
TapeNote: TypeAlias = tuple[str, int, Any, Stack]
clock = count(1).__next__
ref = weakref.ref


def find_place(frame: FrameType) -> Place:
    """Find the user's statement that runs in ``frame`` or around it, and the call around that: what is noted often."""
    while OWN_FILES[(code := frame.f_code).co_filename]:
        caller = frame.f_back
        if caller is None:
            return ()
        frame = caller
    outer = None if code.co_name == "<module>" else frame.f_back
    if outer is None or OWN_FILES[outer.f_code.co_filename]:
        return code, frame.f_lasti
    return code, frame.f_lasti, outer.f_code, outer.f_lasti


def place_to_stack(place: Place) -> Stack:
    """The frames of a place."""
    return tuple(zip(place[::2], place[1::2], strict=True))


class EscapeNote(NamedTuple):
    """A value that left to NumPy or Python: ``method`` is "numpy", "asarray", "float", "int", "text" or the like."""

    clock: int
    method: str
    reference_fields: tuple  # of the value: the fields of a minitape.recording.value_origins.ValueRef
    place: Place
    record: weakref.ref[Record] | None  # the recording that was open
    row_count: int  # how long it was
    result_reference: Any  # what the user got: an array (weak), a NumPy scalar, or None

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return place_to_stack(self.place)

    @property
    def result(self) -> object:
        """The array or scalar that the user got; None if it no longer exists."""
        return self.result_reference() if type(self.result_reference) is weakref.ref else self.result_reference


class EscapeLog:
    """The last values that left on this thread."""

    def __init__(self) -> None:
        self.notes: list[EscapeNote] = []  # oldest first
        self.notes_by_result_id: dict[int, EscapeNote] = {}  # by the id of what the user got

    def prune_notes(self) -> None:
        """Drop notes: of all but the last ``MAX_RECENT_ESCAPES`` only the last of each statement stays."""
        last_note_by_site: dict[Hashable, EscapeNote] = {}
        for note in self.notes[:-MAX_RECENT_ESCAPES]:
            # a code by its id: to hash it would take long
            site = (id(note.place[0]), note.place[1]) if note.place else None
            last_note_by_site.pop(site, None)  # so that the latest are the last
            last_note_by_site[site] = note
        self.notes[:-MAX_RECENT_ESCAPES] = [*last_note_by_site.values()][-MAX_ESCAPE_SITES:]
        self.notes_by_result_id = {id(note.result): note for note in self.notes}

    def find_note_of_result(self, result: object) -> EscapeNote | None:
        """Find the note of the escape by which the user got this very array (or one that it is a view of) or scalar."""
        while result is not None:
            note = self.notes_by_result_id.get(id(result))
            if note is not None and note.result is result:
                return note
            result = getattr(result, "base", None)
        return None


def get_thread_escapes() -> EscapeLog:
    """Return the log of the values that left on this thread, creating it where there is none."""
    log = state.memory.escapes
    if log is None:
        log = state.memory.escapes = EscapeLog()
        THREAD_ESCAPE_LOGS.append(log)
    return log


THREAD_ESCAPE_LOGS: deque[EscapeLog] = deque(maxlen=16)  # of the threads that began last, also of those that have ended


def capture_stack(frame: FrameType | None = None, max_frames: int = STACK_DEPTH) -> Stack:
    """The user's frames from this one (None: the caller's) outwards, without those of minitape and of libraries."""
    if frame is None:
        frame = _getframe(1)
    sites: Stack = ()
    while frame is not None:
        code = frame.f_code
        if not OWN_FILES[code.co_filename]:
            sites += ((code, frame.f_lasti),)
            if len(sites) == max_frames or code.co_name == "<module>":
                break
        frame = frame.f_back
    return sites


def build_origin(
    kind: str, inputs: Iterable[Tensor] = (), detail: object = None, place: Place | None = None, generations: int = 1
) -> Note:
    """Build the origin of a value that is made right now, by the statement at this place or, without it, that runs now.

    It is ``generations`` generations younger than the youngest of its inputs whose origin is not too long ago to be
    remembered. ``detail`` is the primitive of an "op", or what another ``kind`` says.
    """
    values: tuple[Object, ...] = ()
    depth = 0
    for tensor in inputs:
        origin = tensor._origin
        if tensor._record is not None:
            origin = (tensor._record, tensor._row)
        elif origin is not None and (age := origin[DEPTH_FIELD] + generations) > depth:
            if age > DEPTH:
                origin = None
            else:
                depth = age
        values += (ref(tensor), origin)
    return clock(), kind, sum(capture_stack(), ()) if place is None else place, values, detail, depth


def _get_state_tensor(value: TargetOrSource) -> TargetOrSource:
    """Return the tensor itself, or the state of a variable."""
    return getattr(value, "_state", value)


def note_gradient_origins(
    gradients: list[Result],
    targets: list[TargetOrSource],
    sources: list[TargetOrSource],
    place: Place,
    is_recorded: bool,
) -> None:
    """Note on gradients what they came from, whose they are and the user's statement; not where rows say it."""
    if is_recorded:
        return
    target = targets[0] if len(targets) == 1 else None
    if target is not None and (record := getattr(target, "_record", None)) is not None:
        time, inputs, depth = clock(), (ref(target), (record, target._row)), 0
    else:
        time, _, _, inputs, _, depth = build_origin("gradient", map(_get_state_tensor, targets), place=place)
    for g, source in zip(gradients, sources):  # noqa: B905 - slow
        if g is not None:
            g._origin = time, "gradient", place, inputs, ref(source), depth


def note_used_as_size(tensor: Object) -> None:
    """Note that a tensor's value was read as a size, an axis or an index."""
    if hasattr(tensor, "_origin"):
        note_escape(tensor, "index")


def note_inputs_of_unrecorded_result(result: Result, inputs: Sequence[TargetOrSource], op: str) -> Result:
    """Note that the values of ``inputs`` decided about a result that no row leads to; return the result."""
    noted_inputs = [t for t in map(_get_state_tensor, inputs) if hasattr(t, "_origin")]
    if noted_inputs and hasattr(result, "_origin"):
        result._origin = build_origin("value", noted_inputs, op)
    return result


def note_escape(tensor: Tensor, method: str, result: Array = None) -> None:
    """Note that a tensor's value leaves to where no tape can follow it; what ``explain`` reads did not leave."""
    if tensor._record is not None and tensor._record.trace is not None:
        tensor._record.trace.refuse_or_guard_value(tensor, method)
    memory = state.memory
    if memory.is_explaining:
        return
    tensor_record, record, log = tensor._record, state.record, memory.escapes or get_thread_escapes()
    origin, result_reference = tensor._origin, ref(result) if type(result) is np.ndarray else result
    reference_fields = (
        (ref(tensor), origin, None, -1)
        if tensor_record is None
        else (ref(tensor), origin, ref(tensor_record), tensor._row)
    )
    time, place = clock(), find_place(_getframe(2))
    if record is None:
        note = new_tuple(EscapeNote, (time, method, reference_fields, place, None, 0, result_reference))
    else:
        note = new_tuple(
            EscapeNote, (time, method, reference_fields, place, ref(record), record.next, result_reference)
        )
        record.note_event(method, record.find_row(tensor))
    log.notes.append(note)
    if result is not None:
        log.notes_by_result_id[id(result)] = note
    if len(log.notes) > _PRUNE_AFTER:
        log.prune_notes()


def build_origin_in_released_record(tensor: Tensor, old_record: Record) -> Note:
    """Build the origin of a tensor that leaves a released recording for another one: its row there."""
    site = old_record.find_site(tensor._row)
    return clock(), "row", site or (), (_get_nothing, (old_record, tensor._row)), None, 0


def _get_nothing() -> None:
    """A weak reference to nothing."""


_creation_stacks: weakref.WeakKeyDictionary[object, Stack] = weakref.WeakKeyDictionary()


def note_creation_stack(created_object: object) -> None:
    """Note where a layer or a module is created: the user's statement around its constructors, and the calls around
    that.
    """
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        code = frame.f_code
        if not OWN_FILES[code.co_filename] and not _is_constructor_of(frame, created_object):
            break
        frame = frame.f_back
    if frame is not None:
        _creation_stacks[created_object] = capture_stack(frame)


def _is_constructor_of(frame: FrameType, created_object: object) -> bool:
    """Return whether a frame is a constructor of this very object."""
    code = frame.f_code
    return (
        code.co_name == "__init__"
        and bool(code.co_varnames)
        and frame.f_locals.get(code.co_varnames[0]) is created_object
    )


def find_creation_stack(created_object: object) -> Stack:
    """Find where a layer or a module was created; empty when it is not known."""
    try:
        return _creation_stacks.get(created_object, ())
    except TypeError:
        return ()


def try_create_weak_ref(value: object) -> weakref.ref[Object] | None:
    """Return a weak reference to what may be anything; None where there can be none."""
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def add_first_use_note(
    error: Exception, description: str, tape_notes: list[TapeNote], event_kind: str, fix: str = ""
) -> Exception:
    """Add a note to an error, and return it: on which line something happened to the tape before, and how to fix it.

    Its message stays TensorFlow's.
    """
    for event, _, _, frames in tape_notes:
        if event == event_kind and frames:
            code, offset = frames[0]
            line = next((line for start, end, line in code.co_lines() if start <= offset < end), None)
            error.add_note(f"{description} first in {hooks.format_place(code.co_filename, line)}.{fix}")
            break
    return error
