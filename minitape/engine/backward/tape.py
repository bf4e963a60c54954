"""``tf.GradientTape``: when rows are written, and which of them a gradient may use.

A tape keeps its recording, which open tapes share, the *spans* of rows during which it was recording, and what it
watches since which row. A row is on the tape when it was written during a span and an input of it was watched by then,
or is itself the result of a row on the tape.
"""

from __future__ import annotations

from _thread import interrupt_main, start_new_thread
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import attrgetter, is_
from sys import _getframe
from typing import TYPE_CHECKING, overload
from weakref import ref

from ..hooks import hooks
from ..record.interrupt_safe import InterruptSafeExit, leave_ended_tapes
from ..record.kept_arrays import release_large_arrays, release_record
from ..record.log_warnings import warn_not_watchable
from ..record.provenance import MAX_TAPE_NOTES, clock, find_place, note_gradient_origins, try_create_weak_ref
from ..record.record import Record
from ..record.row_parts import FLOATS, new_tuple
from ..record.thread_state import append_to_list_or_tuple, state
from ..record.user_frames import OWN_FILES, find_user_frame
from ..tensor.tensor import EagerTensor, Tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from . import tape_errors, tape_methods
from .gradient import compute_gradients
from .targets_and_sources import (
    NONE,
    PLAIN_SOURCE_TYPES,
    GradientRequest,
    Unconnected,
    convert_gradients_for_user,
    convert_output_gradients,
    find_rows_of_value,
    flatten_targets,
    flatten_with_gradient_carriers,
    pack_gradients_like,
    should_return_zeros,
)

if TYPE_CHECKING:
    from ..record.provenance import Stack, TapeNote
    from ..types import AnySource, ExitProperty, GradientSource, Key, Structure

MAX_REQUESTS = 64  # gradients of one tape that a picture can show


class GradientTape:
    """Records operations, so that gradients can be computed afterwards.

    Trainable variables are watched when they are read inside the ``with`` block; tensors with ``watch``. A tape gives
    one gradient unless it is ``persistent``. With ``watch_accessed_variables=False`` variables are watched only by
    ``watch``. See https://www.tensorflow.org/api_docs/python/tf/GradientTape.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    _warns_of_none = False  # whether all tapes warn of gradients that are None, see minitape.explain.warn
    _record: Record | None = None  # its recording; whether it records now, _recording says
    _start = 0  # the first row of the open span
    member: int | None = None  # its place among the recording's members
    _gives_gradients = True  # False for an accumulator's, beside which alone no other tape watches
    _exit_ref: Callable[[], object] | None = None  # of its block, see InterruptSafeExit
    last_request: GradientRequest | None = None  # the last one that was answered
    requests: Sequence[GradientRequest] = ()  # each of them, where the tape gives several gradients
    listeners: Sequence[Callable[[], object]] = ()  # live pictures of this tape, told by the recording

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watch_accessed_variables = persistent, watch_accessed_variables
        # whether it records now, gave its one gradient, is in a block of stop_recording(), and whether it has several
        # spans, or watches something since later than its first use
        self._recording = self._used = self._paused = self.irregular = False
        self.notes: list[TapeNote] = []  # (what, at which row, a weak reference, the user's frames)
        self.spans: list[tuple[int, int]] = []  # closed spans of rows; the open one starts at _start
        self.watched: dict[int, int] = {}  # row -> from which row on it is watched
        self.variables: dict[int, ResourceVariable] = {}  # watched variables by id

    # -- recording ---------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._recording or self._paused:
            raise tape_errors.build_reentry_error(self)
        if self._used:  # entered again after its one gradient: it begins anew
            self._forget_rows()
        tapes = state.tapes
        if tapes:
            leave_ended_tapes()  # tapes that a recursion without end left open
        frame = _getframe(1)
        if OWN_FILES[frame.f_code.co_filename]:
            frame = find_user_frame(frame) or frame
        record, open_record = self._record, state.record
        if record is None:
            record = Record() if open_record is None else open_record
            record.tape_count += 1
            self._record = record
        elif open_record is not None and record is not open_record:
            raise RuntimeError("This tape belongs to another recording: enter it while no other tape records.")
        if self.member is None:
            record.members.append((ref(self), self.spans, self.watched))
            self.member = len(record.members) - 1
        self._start = now = record.next
        self.notes.append(("enter", now, clock(), ((frame.f_code, frame.f_lasti),)))
        self._recording = True  # from here on the block is left, wherever Ctrl-C comes
        if open_record is None:
            state.record, record.is_open = record, True
        tapes.append(self)
        record.tape_set = object()
        if self.listeners:
            record.add_and_notify_listeners(*self.listeners)
        return self

    def _leave(self, *error: object) -> None:
        """Stop recording: with the block, or (without arguments) for a pause or a gradient inside of it. It may be
        called again where it was interrupted.
        """
        record, tapes = self._record, state.tapes
        if record is None:  # never entered
            return
        if error and self._paused:  # the block ends in a pause, whose end Ctrl-C has prevented
            record.pause_count, self._paused = record.pause_count - 1, False
        if self in tapes:
            tapes.remove(self)
        if tapes and error:
            leave_ended_tapes()
        if not (tapes or record.pause_count or record.trace) and state.record is record:
            record.is_open, record.frame, state.record = False, None, None
        record.tape_set = object()
        if self._recording:
            if self.spans:
                self.irregular = True
            self.spans.append((self._start, record.next))
            self._recording = False
            if record.listeners:
                record.notify_listeners()
        if error:
            self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, attrgetter("_recording"))

    def __del__(
        self, release_record: Callable = release_record
    ) -> None:  # held here: where Python ends, a module's names go first
        try:
            record = self._record
            if record is not None:
                record.tape_count -= 1
                if record.tape_count <= 0 and record.trace is None:
                    release_record(record)
        except KeyboardInterrupt:  # which Python would drop here: so it is raised anew in a moment
            start_new_thread(interrupt_main, ())

    def __copy__(self) -> GradientTape:
        return self  # a recording is of one tape, and released with it

    def _forget_rows(self) -> None:
        self.spans, self.watched, self.variables, self._used, self.irregular = [], {}, {}, False, False

    def watch(self, tensor: Structure) -> None:
        """Watches a tensor, a variable or a structure of them: from now on operations on it are recorded.

        Raises ValueError for anything that is no tensor. Integers and strings cannot be watched: a warning says so.

        >>> import minitape as tf
        >>> x, c = tf.constant(3.0), tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = c * x
        >>> [None if g is None else float(g) for g in tape.gradient(y, [x, c])]
        [2.0, None]
        """
        frame = _getframe(1)
        if OWN_FILES[frame.f_code.co_filename]:
            frame = find_user_frame(frame) or frame
        stack = ((frame.f_code, frame.f_lasti),)
        record = self._record
        for t in (tensor,) if type(tensor) is EagerTensor else nest.flatten(tensor):
            if len(self.notes) < MAX_TAPE_NOTES:
                row = 0 if record is None else record.next
                self.notes.append(("watch", row, ref(t) if type(t) is EagerTensor else try_create_weak_ref(t), stack))
            if type(t) is not EagerTensor:
                if hasattr(t, "_watch_on"):  # variables
                    t._watch_on(self)
                    continue
                if not isinstance(t, Tensor):
                    error = ValueError(
                        f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or "
                        "ExtensionType."
                    )
                    raise hooks.add_non_tensor_note(error, t)
            is_watchable = t._value.dtype in FLOATS or t.dtype.differentiable
            if not is_watchable:
                warn_not_watchable(t.dtype)
            can_watch = self._recording or self._can_watch()
            assert record is not None
            if can_watch and is_watchable:
                self._watch_row(record.find_or_add_row(t, None, record.note_current_site(frame)))

    def _can_watch(self) -> bool:
        """Return whether ``watch`` has an effect now: while any tape of this thread records, as in TensorFlow;
        AttributeError for a tape that was never entered or is used up.
        """
        if self._record is None or self._used:
            raise tape_errors.build_watch_error(self)
        return self._record is state.record and (self._recording or any(tape._gives_gradients for tape in state.tapes))

    def _watch_row(self, row: int) -> None:
        """Watch a row from now on; the tape is irregular if that is not the leaf that was written just now."""
        if row in self.watched:
            return
        record: Record = self._record  # type: ignore[assignment]  # in which it has this row
        self.watched[row] = now = record.next
        record.untracked.discard(row)
        if row != now - 1 or not self._recording or row not in record.leaves:
            self.irregular = True

    # -- what pictures read ------------------------------------------------------------------------

    @property
    def record(self) -> Record | None:
        """The recording that has its rows; None before its first block."""
        return self._record

    @property
    def is_recording(self) -> bool:
        """Whether it records now."""
        return self._recording

    @property
    def is_used(self) -> bool:
        """Whether it gave its one gradient."""
        return self._used

    @property
    def is_persistent(self) -> bool:
        """Whether it gives several gradients."""
        return self._persistent

    @property
    def watches_variables(self) -> bool:
        """Whether it watches the trainable variables that are read in its block."""
        return self._watch_accessed_variables

    @property
    def span_start(self) -> int:
        """The first row of the open span; that of the last one, if none is open."""
        return self._start

    _find_rows_of_value = find_rows_of_value
    reset, stop_recording = tape_methods.reset, tape_methods.stop_recording
    watched_variables, explain = tape_methods.watched_variables, tape_methods.explain
    jacobian, batch_jacobian = tape_methods.jacobian, tape_methods.batch_jacobian
    __repr__, __dir__ = tape_methods.describe_tape, tape_methods.list_method_names
    _repr_mimebundle_ = tape_methods.build_picture_bundle

    # -- gradients ---------------------------------------------------------------------------------

    @overload
    def gradient(
        self,
        target: Structure,
        sources: GradientSource,
        output_gradients: Structure = None,
        unconnected_gradients: Unconnected = NONE,
    ) -> Tensor | None: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: list[AnySource],
        output_gradients: Structure = None,
        unconnected_gradients: Unconnected = NONE,
    ) -> list[Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: dict[Key, AnySource],
        output_gradients: Structure = None,
        unconnected_gradients: Unconnected = NONE,
    ) -> dict[Key, Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: Structure,
        output_gradients: Structure = None,
        unconnected_gradients: Unconnected = NONE,
    ) -> Structure: ...
    def gradient(
        self,
        target: Structure,
        sources: Structure,
        output_gradients: Structure = None,
        unconnected_gradients: Unconnected = NONE,
    ) -> Structure:
        """The gradient of ``target`` (or of the sum of several) with respect to ``sources``.

        Returns a tensor (or None where nothing connects them) for each source, in the structure of
        ``sources``. Each has the shape and the dtype of its source. ``output_gradients`` weighs the targets, and
        ``unconnected_gradients="zero"`` asks for zeros instead of None. Raises RuntimeError on the second call for a
        tape that is not persistent. See https://www.tensorflow.org/api_docs/python/tf/GradientTape#gradient.

        >>> import minitape as tf
        >>> x, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x * w
        >>> {name: g.numpy().tolist() for name, g in tape.gradient(y, {"x": x, "w": w}).items()}
        {'x': [6.0, 12.0], 'w': 5.0}
        """
        tapes = state.tapes
        if tapes:
            leave_ended_tapes()
        if self._used or self._recording or self._record is None:
            self._begin_gradient()
        returns_zeros = unconnected_gradients is not NONE and should_return_zeros(unconnected_gradients)
        targets = [target] if type(target) is EagerTensor else flatten_targets(target)
        if type(sources) in PLAIN_SOURCE_TYPES:
            values = carriers = [sources]
        else:
            values, carriers = flatten_with_gradient_carriers(sources)
        adjoints = [None] * len(targets)
        if output_gradients is not None:
            adjoints = convert_output_gradients(output_gradients, len(targets))
        try:
            gradients = compute_gradients(self, targets, carriers, adjoints)
        except LookupError as error:
            raise hooks.add_refusal_reason(error, self, targets, carriers)  # noqa: B904 - the same error, with a note
        place = find_place(_getframe(1))
        note_gradient_origins(gradients, targets, carriers, place, bool(tapes))
        nones = [*map(is_, gradients, repeat(None))]
        self.last_request = new_tuple(GradientRequest, (targets, carriers, adjoints, nones, "gradient", ()))
        if True in nones and self._warns_of_none:  # one warning, with its reason, for each
            hooks.warn_about_none(
                self,
                targets,
                [source for source, gradient in zip(carriers, gradients, strict=True) if gradient is None],
            )
        if (returns_zeros and True in nones) or carriers is not values:
            gradients = convert_gradients_for_user(gradients, carriers, values, returns_zeros)
        self._end_gradient((place[:2],) if place else ())
        return gradients[0] if type(sources) in PLAIN_SOURCE_TYPES else pack_gradients_like(sources, values, gradients)

    def _begin_gradient(self) -> None:
        if self._used or self._record is None:  # also of a tape that never recorded, as in TensorFlow
            raise tape_errors.build_used_up_error(self)
        if self._recording:
            if self._persistent:
                tape_errors.warn_gradient_inside_block()
            else:
                self._leave()

    def _end_gradient(self, call_stack: Stack) -> None:
        """Finish a gradient: a tape that is not persistent is used up, and its large arrays are released once no other
        tape can ask.
        """
        record, request = self._record, self.last_request
        assert record is not None and request is not None
        if record.listeners:
            record.notify_listeners()
        if True in request.is_none:  # an error that comes of it is to say why
            state.memory.last_none_tape = ref(self)
        if self._persistent:
            if len(self.requests) < MAX_REQUESTS:  # for pictures
                self.requests = append_to_list_or_tuple(self.requests, request)
        else:
            self._used = True
            self.notes.append(("gradient", record.next, None, call_stack))
            if record.has_large_arrays and (
                record.tape_count == 1
                or all(other_tape is None or other_tape._used for other_tape in record.list_tapes_or_none())
            ):
                release_large_arrays(record, record.leaves)  # the last tape that could ask was used up
