"""Store where values came from if no tape recorded them, and where they went, for `explain`.

A recording contains every operation under a tape. This module stores what a recording cannot contain:

* the *origin* of a tensor: the operation outside any tape that computed it, or the line that created it,
* the *escapes*: the values that left for NumPy or Python.

Origins and escapes hold weak references, so they do not keep tensors or arrays alive. A chain of origins is cut after
``DEPTH`` generations.

The origin of a tensor is a plain tuple in its ``_origin`` attribute. :mod:`minitape.recording.value_origins` describes
and reads its fields.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..hooks import hooks
from ..types import OptionalFrame
from .row_parts import new_tuple
from .thread_state import state
from .user_frames import OWN_FILES

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..types import Array, Object, Result, TargetOrSource, TargetsOrSources
    from .record import Record

DEPTH = 40  # An origin keeps at most this many generations.
DEPTH_FIELD = 5  # This field of an origin counts its generations.
# An assignment adds this many generations to an origin. Otherwise, a loop would keep many old states of a variable.
ASSIGNMENT_GENERATIONS = 5
MAX_RECENT_ESCAPES = 256  # A thread keeps this many recent escapes.
MAX_ESCAPE_SITES = 512  # It also keeps one older escape for each of this many statements.
_PRUNE_AFTER = 2 * MAX_RECENT_ESCAPES + MAX_ESCAPE_SITES
STACK_DEPTH = 3  # The origin of a constant or a variable contains this many user frames.
MAX_TAPE_EVENTS = 1000  # The history of a tape contains at most this many calls such as watch().

Stack = tuple[tuple[CodeType, int], ...]  # (code, bytecode offset) pairs, innermost first
Place = tuple  # The code and offset of a statement, and then of the caller, if any.
Origin = Any  # A ValueOrigin, a plain tuple of its fields, or None.
TapeEvent = tuple[str, int, Any, Stack]  # (event, row, clock or weak reference, user's frames)
clock = count(1).__next__
ref = weakref.ref


def find_user_place(frame: FrameType) -> Place:
    """Find the user's current statement and its caller.

    Args:
        frame: The frame of the statement, or a frame called from it.

    Returns:
        (code, offset) of the statement, or (code, offset, caller's code, caller's offset) if the caller belongs to the
        user's program. The tuple is empty if no frame belongs to the program. `convert_place_to_stack` converts a place
        to pairs.
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


def convert_place_to_stack(place: Place) -> Stack:
    """Return the (code, offset) pairs of a place, innermost first.

    Args:
        place: A place, as `find_user_place` returns it.
    """
    return tuple(zip(place[::2], place[1::2], strict=True))


class LoggedEscape(NamedTuple):
    """A value that left for NumPy or Python.

    Attributes:
        clock: The time of the escape.
        method: How the value left, such as "numpy", "asarray", "float", "int" or "text".
        reference_fields: The fields of a :class:`minitape.recording.value_origins.ValueRef` that refers to the value.
        place: The user's statement.
        record: A weak reference to the open recording, or None if no tape was open.
        row_count: The number of rows in the recording at that time.
        result_reference: A weak reference to the array that the user received, or the NumPy scalar itself, or None if
            the user received neither.
    """

    clock: int
    method: str
    reference_fields: tuple
    place: Place
    record: weakref.ref[Record] | None
    row_count: int
    result_reference: Any  # A weak reference, a NumPy scalar or None.

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return convert_place_to_stack(self.place)

    @property
    def result(self) -> object:
        """The array or scalar that the user received, or None if it no longer exists."""
        return self.result_reference() if type(self.result_reference) is weakref.ref else self.result_reference


class EscapeLog:
    """The most recent escapes of one thread: values that left for NumPy or Python.

    Attributes:
        escapes: The escapes, oldest first.
        escapes_by_result_id: The same escapes, by the id of the array or scalar that the user received.
    """

    def __init__(self) -> None:
        """Create an empty log."""
        self.escapes: list[LoggedEscape] = []
        self.escapes_by_result_id: dict[int, LoggedEscape] = {}

    def prune_escapes(self) -> None:
        """Keep the newest ``MAX_RECENT_ESCAPES`` escapes, and the latest older escape of each statement."""
        last_escape_by_site: dict[Hashable, LoggedEscape] = {}
        for escape in self.escapes[:-MAX_RECENT_ESCAPES]:
            # The key contains the id of the code object, because hashing a code object is slow.
            site = (id(escape.place[0]), escape.place[1]) if escape.place else None
            last_escape_by_site.pop(site, None)  # Inserting a key again moves it to the end.
            last_escape_by_site[site] = escape
        older_escapes = list(last_escape_by_site.values())
        self.escapes[:-MAX_RECENT_ESCAPES] = older_escapes[-MAX_ESCAPE_SITES:]
        self.escapes_by_result_id = {id(escape.result): escape for escape in self.escapes}

    def find_escape_of_result(self, result: object) -> LoggedEscape | None:
        """Find the escape that passed an array or scalar to the user.

        Args:
            result: An array, a view of an array, or a NumPy scalar. Objects are compared by identity.

        Returns:
            The escape, or None if the object did not come from a tensor of this thread.
        """
        while result is not None:
            escape = self.escapes_by_result_id.get(id(result))
            if escape is not None and escape.result is result:
                return escape
            result = getattr(result, "base", None)
        return None


def get_thread_escape_log() -> EscapeLog:
    """Return the escape log of this thread. The first call creates it."""
    log = state.memory.escapes
    if log is None:
        log = state.memory.escapes = EscapeLog()
        THREAD_ESCAPE_LOGS.append(log)
    return log


# The logs of the newest threads, including threads that have ended.
THREAD_ESCAPE_LOGS: deque[EscapeLog] = deque(maxlen=16)


def capture_user_stack(frame: OptionalFrame = None, max_frames: int = STACK_DEPTH) -> Stack:
    """Return the user's frames, without frames of minitape and of libraries.

    Args:
        frame: The innermost frame. None means the caller's frame.
        max_frames: The largest number of frames to return.

    Returns:
        (code, bytecode offset) pairs, innermost first. The search ends at the frame of a module.
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
) -> Origin:
    """Build the origin of a new value.

    Each origin stores its number of generations. Once this number reaches ``DEPTH``, the origins of later values no
    longer refer to the origin.

    Args:
        kind: The kind of origin, such as "op" or "constant" (:class:`minitape.recording.value_origins.ValueOrigin`).
        inputs: The tensors from which the value was computed.
        detail: The primitive if the kind is "op", and otherwise a detail that depends on the kind.
        place: The user's statement. If None, the current frames are stored.
        generations: The number of generations to add to the largest count among the inputs.

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
                origin = None  # The chain of origins ends here.
            else:
                depth = age
        values += (ref(tensor), origin)
    return clock(), kind, sum(capture_user_stack(), ()) if place is None else place, values, detail, depth


def get_state_tensor(value: TargetOrSource) -> TargetOrSource:
    """Return the state of a variable. A tensor is returned unchanged.

    Args:
        value: A tensor or a variable.
    """
    return getattr(value, "_state", value)


def set_gradient_origins(
    gradients: list[Result],
    targets: TargetsOrSources,
    sources: TargetsOrSources,
    place: Place,
) -> None:
    """Store the origin of each gradient.

    This is only needed if no tape recorded the sweep. Otherwise, the rows of the sweep show where the gradients came
    from.

    Args:
        gradients: The gradients, with None for unconnected sources.
        targets: The targets of the gradient call.
        sources: The source of each gradient.
        place: The user's statement.
    """
    target = targets[0] if len(targets) == 1 else None
    if target is not None and (record := getattr(target, "_record", None)) is not None:
        time = clock()
        inputs = (ref(target), (record, target._row))
        depth = 0
    else:
        time, _, _, inputs, _, depth = build_origin("gradient", map(get_state_tensor, targets), place=place)
    for g, source in zip(gradients, sources):  # noqa: B905 - A strict zip is slower.
        if g is not None:
            g._origin = time, "gradient", place, inputs, ref(source), depth


def log_use_as_size(tensor: Object) -> None:
    """Log that a tensor's value was read as a size, an axis or an index.

    Args:
        tensor: The object that was read. If it is not a tensor, nothing is logged.
    """
    if hasattr(tensor, "_origin"):
        log_escape(tensor, "index")


def set_origin_of_range(result: Result, bounds: Sequence[TargetOrSource]) -> Result:
    """Store which values determined the result of ``tf.range``, which has no row.

    Args:
        result: The result. If it is not a tensor, nothing is stored.
        bounds: The tensors and variables whose values determined the result.

    Returns:
        The result.
    """
    input_tensors = [t for t in map(get_state_tensor, bounds) if hasattr(t, "_origin")]
    if input_tensors and hasattr(result, "_origin"):
        result._origin = build_origin("value", input_tensors, "Range")
    return result


def log_escape(tensor: Tensor, method: str, result: Array = None) -> None:
    """Log that a tensor's value leaves for NumPy or Python, where no tape can follow.

    Reads by ``explain`` itself are not logged. In the first run of a ``tf.function``, reading a value that may differ
    in later calls raises an error or writes a guard.

    Args:
        tensor: The tensor.
        method: How the value leaves the tape, such as "numpy" or "float".
        result: The array or scalar that the user receives, or None if the user receives neither.
    """
    if tensor._record is not None and tensor._record.first_run is not None:
        tensor._record.first_run.refuse_or_guard_value(tensor, method)
    memory = state.memory
    if memory.is_explaining:
        return
    tensor_record = tensor._record
    record = state.record
    log = memory.escapes or get_thread_escape_log()
    origin = tensor._origin
    result_reference = ref(result) if type(result) is np.ndarray else result
    reference_fields = (
        (ref(tensor), origin, None, -1)
        if tensor_record is None
        else (ref(tensor), origin, ref(tensor_record), tensor._row)
    )
    time = clock()
    place = find_user_place(_getframe(2))
    record_ref, row_count = (None, 0) if record is None else (ref(record), record.next)
    escape = new_tuple(LoggedEscape, (time, method, reference_fields, place, record_ref, row_count, result_reference))
    if record is not None:
        record.append_event(method, record.find_row(tensor))
    log.escapes.append(escape)
    if result is not None:
        log.escapes_by_result_id[id(result)] = escape
    if len(log.escapes) > _PRUNE_AFTER:
        log.prune_escapes()


def build_origin_in_released_record(tensor: Tensor, old_record: Record) -> Origin:
    """Build the origin of a tensor that moves from a released recording to a new recording.

    Args:
        tensor: The tensor, which still refers to its old row.
        old_record: The released recording.

    Returns:
        The fields of a `ValueOrigin` with the kind "row".
    """
    site = old_record.find_site(tensor._row)
    return clock(), "row", site or (), (_get_nothing, (old_record, tensor._row)), None, 0


def _get_nothing() -> None:
    """Return None, like a weak reference whose object no longer exists."""


_creation_stacks: weakref.WeakKeyDictionary[object, Stack] = weakref.WeakKeyDictionary()


def store_creation_stack(created_object: object) -> None:
    """Store where a layer or module is created.

    The stored stack contains the user's statement that calls the outermost constructor, and the callers of that
    statement.

    Args:
        created_object: The layer or module whose constructor is running.
    """
    frame: OptionalFrame = _getframe(2)
    while frame is not None:
        code = frame.f_code
        if not OWN_FILES[code.co_filename] and not _is_constructor_of(frame, created_object):
            break
        frame = frame.f_back
    if frame is not None:
        _creation_stacks[created_object] = capture_user_stack(frame)


def _is_constructor_of(frame: FrameType, created_object: object) -> bool:
    """Return whether a frame executes an object's constructor."""
    code = frame.f_code
    return (
        code.co_name == "__init__"
        and bool(code.co_varnames)
        and frame.f_locals.get(code.co_varnames[0]) is created_object
    )


def find_creation_stack(created_object: object) -> Stack:
    """Find where a layer or module was created.

    Args:
        created_object: The layer or module.

    Returns:
        The user's frames, innermost first. The tuple is empty if they are unknown.
    """
    try:
        return _creation_stacks.get(created_object, ())
    except TypeError:
        return ()


def try_create_weak_ref(value: object) -> weakref.ref[Object] | None:
    """Return a weak reference to an object, or None if its type does not support weak references.

    Args:
        value: Any object.
    """
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def add_note_about_tape_event(error: Exception, note: str, tape_history: list[TapeEvent], event_kind: str) -> Exception:
    """Add a note about an earlier tape event to an error. The message of the error remains TensorFlow's.

    Args:
        error: The error.
        note: The English text of the note, in which ``{place}`` stands for the line of the event.
        tape_history: The history of the tape.
        event_kind: The kind of event to find. The first event of this kind that has a user frame provides the place.

    Returns:
        `error` itself.
    """
    from ...common.translation import say

    for event, _, _, frames in tape_history:
        if event == event_kind and frames:
            place = hooks.format_place(*hooks.find_site_of_bytecode(*frames[0]))
            error.add_note(say(note, "explain", place=place))
            break
    return error
