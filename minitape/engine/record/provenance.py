"""Provenance for `explain`, which is where a value came from that no tape recorded, and where it went.

A recording contains every operation under a tape. This module notes what a recording cannot contain:

* the operation outside any tape that computed a tensor,
* the line that created a constant or a variable's state,
* the values that left for NumPy or Python (escapes).

No note keeps a tensor or an array alive, because notes hold weak references. Chains of notes are cut at ``DEPTH``.

The note of a tensor's origin is a plain tuple in its ``_origin`` attribute. :mod:`minitape.recording.value_origins`
describes and reads its fields.
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

DEPTH = 40  # The number of generations that an origin keeps.
DEPTH_FIELD = 5  # The field of an origin that counts its generations.
# An assignment counts as this many generations, because a loop would otherwise keep many old states of a variable.
ASSIGNMENT_GENERATIONS = 5
MAX_RECENT_ESCAPES = 256  # A thread keeps the notes of this many escapes.
MAX_ESCAPE_SITES = 512  # It also keeps the last older escape of this many statements.
_PRUNE_AFTER = 2 * MAX_RECENT_ESCAPES + MAX_ESCAPE_SITES
STACK_DEPTH = 3  # The number of user frames in the note of a constant or a variable.
MAX_TAPE_NOTES = 1000  # A tape keeps this many notes about calls of watch() and the like.

Stack = tuple[tuple[CodeType, int], ...]  # (code, bytecode offset) pairs, innermost first
Place: TypeAlias = (
    tuple  # A statement's code and offset, followed by the caller's code and offset if there is a caller.
)
Note: TypeAlias = Any  # A note of origin is a ValueOrigin, a plain tuple of its fields, or None.
TapeNote: TypeAlias = tuple[str, int, Any, Stack]  # (event, row, clock or weak reference, user's frames)
clock = count(1).__next__
ref = weakref.ref


def find_place(frame: FrameType) -> Place:
    """Find the user's statement that runs now, and the call that it is in.

    Args:
        frame: The frame of the statement, or a frame that the statement called.

    Returns:
        (code, offset) of the statement, or (code, offset, code of the caller, its offset) if the caller belongs to the
        user's program. Empty if no frame does. `place_to_stack` converts it to pairs.
    """
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
    """Return a place's (code, offset) pairs, innermost first.

    Args:
        place: A place, as `find_place` returns it.
    """
    return tuple(zip(place[::2], place[1::2], strict=True))


class EscapeNote(NamedTuple):
    """A value that left for NumPy or Python.

    Attributes:
        clock: The time of the escape.
        method: The way it left, such as "numpy", "asarray", "float", "int" or "text".
        reference_fields: The fields of a :class:`minitape.recording.value_origins.ValueRef` to the value.
        place: The user's statement.
        record: A weak reference to the recording that was open; None if no tape was open.
        row_count: The number of rows that the recording had.
        result_reference: The object that the user received. An array is a weak reference, a NumPy scalar is itself.
            None if the user received neither.
    """

    clock: int
    method: str
    reference_fields: tuple
    place: Place
    record: weakref.ref[Record] | None
    row_count: int
    result_reference: Any  # It is a weak reference to an array, a NumPy scalar, or None.

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return place_to_stack(self.place)

    @property
    def result(self) -> object:
        """The array or scalar that the user received; None if it no longer exists."""
        return self.result_reference() if type(self.result_reference) is weakref.ref else self.result_reference


class EscapeLog:
    """The last values that left for NumPy or Python on one thread.

    Attributes:
        notes: The notes of these escapes, oldest first.
        notes_by_result_id: The same notes, by the id of the object that the user received.
    """

    def __init__(self) -> None:
        """Begin an empty log."""
        self.notes: list[EscapeNote] = []
        self.notes_by_result_id: dict[int, EscapeNote] = {}

    def prune_notes(self) -> None:
        """Keep the newest ``MAX_RECENT_ESCAPES`` notes. Of older ones, keep only the latest per statement."""
        last_note_by_site: dict[Hashable, EscapeNote] = {}
        for note in self.notes[:-MAX_RECENT_ESCAPES]:
            # The key has the id of the code, because hashing a code object is slow.
            site = (id(note.place[0]), note.place[1]) if note.place else None
            last_note_by_site.pop(site, None)  # A key that is inserted again moves to the end.
            last_note_by_site[site] = note
        self.notes[:-MAX_RECENT_ESCAPES] = [*last_note_by_site.values()][-MAX_ESCAPE_SITES:]
        self.notes_by_result_id = {id(note.result): note for note in self.notes}

    def find_note_of_result(self, result: object) -> EscapeNote | None:
        """Find the escape by which the user received an object.

        Args:
            result: An array, a view of an array, or a NumPy scalar. It is compared by identity.

        Returns:
            The note of the escape; None if the object did not come from a tensor of this thread.
        """
        while result is not None:
            note = self.notes_by_result_id.get(id(result))
            if note is not None and note.result is result:
                return note
            result = getattr(result, "base", None)
        return None


def get_thread_escapes() -> EscapeLog:
    """Return the log of this thread's escapes. The first call creates it."""
    log = state.memory.escapes
    if log is None:
        log = state.memory.escapes = EscapeLog()
        THREAD_ESCAPE_LOGS.append(log)
    return log


THREAD_ESCAPE_LOGS: deque[EscapeLog] = deque(maxlen=16)  # The newest threads, including threads that have ended.


def capture_stack(frame: FrameType | None = None, max_frames: int = STACK_DEPTH) -> Stack:
    """Return the user's frames, without the frames of minitape and of libraries.

    Args:
        frame: The innermost frame; None for the caller's frame.
        max_frames: The largest number of frames to return.

    Returns:
        (code, bytecode offset) pairs, innermost first. The module that runs is the last.
    """
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
    """Build the note of origin of a value that is created now.

    An origin counts its generations, and is dropped from the notes of later values after ``DEPTH`` of them.

    Args:
        kind: The kind of origin, such as "op" or "constant" (:class:`minitape.recording.value_origins.ValueOrigin`).
        inputs: The tensors from which the value was computed.
        detail: The primitive of an "op", or the detail that belongs to another kind.
        place: The user's statement; None to store the frames that run now.
        generations: How many generations to add to the inputs' largest count.

    Returns:
        The fields of a `ValueOrigin`, as a plain tuple.
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
    """Return the state of a variable; return a tensor itself."""
    return getattr(value, "_state", value)


def note_gradient_origins(
    gradients: list[Result],
    targets: list[TargetOrSource],
    sources: list[TargetOrSource],
    place: Place,
    is_recorded: bool,
) -> None:
    """Note the origin of gradients on the tensors themselves.

    Args:
        gradients: The gradients; None for an unconnected source.
        targets: The targets of the gradient call.
        sources: The source of each gradient.
        place: The user's statement.
        is_recorded: Whether an outer tape recorded the sweep. If so, rows contain the origin and nothing is noted.
    """
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
    """Note that a tensor's value was read as a size, an axis or an index.

    Args:
        tensor: The object that was read. Nothing is noted unless it is a tensor.
    """
    if hasattr(tensor, "_origin"):
        note_escape(tensor, "index")


def note_inputs_of_unrecorded_result(result: Result, inputs: Sequence[TargetOrSource], op: str) -> Result:
    """Note which values determined a result that has no row.

    Args:
        result: The result. Nothing is noted unless it is a tensor.
        inputs: The tensors and variables whose values determined it, such as a mask.
        op: The name of the operation.

    Returns:
        The result.
    """
    noted_inputs = [t for t in map(_get_state_tensor, inputs) if hasattr(t, "_origin")]
    if noted_inputs and hasattr(result, "_origin"):
        result._origin = build_origin("value", noted_inputs, op)
    return result


def note_escape(tensor: Tensor, method: str, result: Array = None) -> None:
    """Note that a tensor's value leaves for NumPy or Python, where no tape can follow it.

    Values that ``explain`` reads do not count. In the first run of a ``tf.function``, the trace refuses the escape or
    guards the value.

    Args:
        tensor: The tensor.
        method: The way it leaves, such as "numpy" or "float".
        result: The array or scalar that the user receives; None if the user receives neither.
    """
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
    """Build the note of origin of a tensor that moves from a released recording to another one.

    Args:
        tensor: The tensor, which still refers to its old row.
        old_record: The released recording.

    Returns:
        The fields of a `ValueOrigin` of the kind "row".
    """
    site = old_record.find_site(tensor._row)
    return clock(), "row", site or (), (_get_nothing, (old_record, tensor._row)), None, 0


def _get_nothing() -> None:
    """Return None, like a weak reference whose object no longer exists."""


_creation_stacks: weakref.WeakKeyDictionary[object, Stack] = weakref.WeakKeyDictionary()


def note_creation_stack(created_object: object) -> None:
    """Note where a layer or a module is created.

    The note contains the user's statement around all constructors of the object, and the calls around that statement.

    Args:
        created_object: The layer or module, in its constructor.
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
    """Return whether a frame executes a constructor of this object."""
    code = frame.f_code
    return (
        code.co_name == "__init__"
        and bool(code.co_varnames)
        and frame.f_locals.get(code.co_varnames[0]) is created_object
    )


def find_creation_stack(created_object: object) -> Stack:
    """Find where a layer or a module was created.

    Args:
        created_object: The layer or module.

    Returns:
        The user's frames, innermost first; empty if they are unknown.
    """
    try:
        return _creation_stacks.get(created_object, ())
    except TypeError:
        return ()


def try_create_weak_ref(value: object) -> weakref.ref[Object] | None:
    """Return a weak reference to an object; None if its type does not support weak references.

    Args:
        value: Any object.
    """
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def add_first_use_note(
    error: Exception, description: str, tape_notes: list[TapeNote], event_kind: str, fix: str = ""
) -> Exception:
    """Add a note to an error about an earlier event of the tape. The message of the error stays TensorFlow's.

    Args:
        error: The error.
        description: What happened before. The note continues it with "first in" and the place.
        tape_notes: The notes of the tape.
        event_kind: The kind of event to look for. The first such note with a user's frame supplies the place.
        fix: A sentence on how to fix the error.

    Returns:
        `error` itself.
    """
    for event, _, _, frames in tape_notes:
        if event == event_kind and frames:
            code, offset = frames[0]
            line = next((line for start, end, line in code.co_lines() if start <= offset < end), None)
            error.add_note(f"{description} first in {hooks.format_place(code.co_filename, line)}.{fix}")
            break
    return error
