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
from ..recording.arrays import free_large_arrays, release
from ..recording.block import InterruptSafeExit, leave_ended
from ..recording.evidence import NOTES, clock, note_gradients, place_of, weak_ref
from ..recording.frames import OWN_FILES, user_frame
from ..recording.logs import warn_not_watchable
from ..recording.record import Record
from ..recording.rows import FLOATS, new_tuple
from ..recording.state import append_item, state
from ..tensor.tensor import EagerTensor, Tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from . import refusals, tape_methods
from .backward import gradients_of
from .endpoints import (
    END_TYPES,
    NONE,
    GradientQuestion,
    Unconnected,
    ends_of,
    output_adjoints,
    pack_like,
    results_of,
    rows_of,
    targets_of,
    wants_zeros,
)

if TYPE_CHECKING:
    from ..recording.evidence import Stack, TapeNote
    from ..types import AnySource, GradientSource, Key, Leaving, Structure

QUESTIONS = 64  # gradients of one tape that a picture can show


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

    _warns = False  # whether all tapes warn of gradients that are None, see minitape.explain.warn
    _record: Record | None = None  # its recording; whether it records now, _recording says
    _start = 0  # the first row of the open span
    member: int | None = None  # its place among the recording's members
    _gives_gradients = True  # False for an accumulator's, beside which alone no other tape watches
    _exit_ref: Callable[[], object] | None = None  # of its block, see InterruptSafeExit
    last: GradientQuestion | None = None  # the last one that was answered
    questions: Sequence[GradientQuestion] = ()  # each of them, where the tape gives several gradients
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
            raise refusals.entered_twice(self)
        if self._used:  # entered again after its one gradient: it begins anew
            self._forget()
        tapes = state.tapes
        if tapes:
            leave_ended()  # tapes that a recursion without end left open
        frame = _getframe(1)
        if OWN_FILES[frame.f_code.co_filename]:
            frame = user_frame(frame) or frame
        record, now_open = self._record, state.record
        if record is None:
            record = Record() if now_open is None else now_open
            record.tape_count += 1
            self._record = record
        elif now_open is not None and record is not now_open:
            raise RuntimeError("This tape belongs to another recording: enter it while no other tape records.")
        if self.member is None:
            record.members.append((ref(self), self.spans, self.watched))
            self.member = len(record.members) - 1
        self._start = now = record.next
        self.notes.append(("enter", now, clock(), ((frame.f_code, frame.f_lasti),)))
        self._recording = True  # from here on the block is left, wherever Ctrl-C comes
        if now_open is None:
            state.record, record.open = record, True
        tapes.append(self)
        record.tape_set = object()
        if self.listeners:
            record.add_listeners(*self.listeners)
        return self

    def _leave(self, *error: object) -> None:
        """Stops recording: with the block, or (without arguments) for a pause or a gradient inside of it. It may be
        called again where it was interrupted.
        """
        record, tapes = self._record, state.tapes
        if record is None:  # never entered
            return
        if error and self._paused:  # the block ends in a pause, whose end Ctrl-C has prevented
            record.pauses, self._paused = record.pauses - 1, False
        if self in tapes:
            tapes.remove(self)
        if tapes and error:
            leave_ended()
        if not (tapes or record.pauses or record.trace) and state.record is record:
            record.open, record.frame, state.record = False, None, None
        record.tape_set = object()
        if self._recording:
            if self.spans:
                self.irregular = True
            self.spans.append((self._start, record.next))
            self._recording = False
            if record.listeners:
                record.notify()
        if error:
            self._exit_ref = None

    __exit__: Leaving = InterruptSafeExit(_leave, attrgetter("_recording"))

    def __del__(self, release: Callable = release) -> None:  # held here: where Python ends, a module's names go first
        try:
            record = self._record
            if record is not None:
                record.tape_count -= 1
                if record.tape_count <= 0 and record.trace is None:
                    release(record)
        except KeyboardInterrupt:  # which Python would drop here: so it is raised anew in a moment
            start_new_thread(interrupt_main, ())

    def __copy__(self) -> GradientTape:
        return self  # a recording is of one tape, and released with it

    def _forget(self) -> None:
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
            frame = user_frame(frame) or frame
        here = ((frame.f_code, frame.f_lasti),)
        record = self._record
        for t in (tensor,) if type(tensor) is EagerTensor else nest.flatten(tensor):
            if len(self.notes) < NOTES:
                row = 0 if record is None else record.next
                self.notes.append(("watch", row, ref(t) if type(t) is EagerTensor else weak_ref(t), here))
            if type(t) is not EagerTensor:
                if hasattr(t, "_watch_on"):  # variables
                    t._watch_on(self)
                    continue
                if not isinstance(t, Tensor):
                    error = ValueError(
                        f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or "
                        "ExtensionType."
                    )
                    raise hooks.why_no_tensor(error, t)
            watchable = t._value.dtype in FLOATS or t.dtype.differentiable
            if not watchable:
                warn_not_watchable(t.dtype)
            watches = self._recording or self._watches()
            assert record is not None
            if watches and watchable:
                self._watch_row(record.row_or_new_leaf(t, None, record.current_site(frame)))

    def _watches(self) -> bool:
        """Whether ``watch`` has an effect now: while any tape of this thread records, as in TensorFlow; AttributeError
        for a tape that was never entered or is used up.
        """
        if self._record is None or self._used:
            raise refusals.watches_nothing(self)
        return self._record is state.record and (self._recording or any(t._gives_gradients for t in state.tapes))

    def _watch_row(self, row: int) -> None:
        """Watches a row from now on; the tape is irregular if that is not the leaf that was written just now."""
        if row in self.watched:
            return
        record: Record = self._record  # type: ignore[assignment]  # in which it has this row
        self.watched[row] = now = record.next
        record.untracked.discard(row)
        if row != now - 1 or not self._recording or row not in record.leaves:
            self.irregular = True

    _rows_of = rows_of
    reset, stop_recording = tape_methods.reset, tape_methods.stop_recording
    watched_variables, explain = tape_methods.watched_variables, tape_methods.explain
    jacobian, batch_jacobian = tape_methods.jacobian, tape_methods.batch_jacobian
    __repr__, __dir__ = tape_methods.describe, tape_methods.names
    _repr_mimebundle_ = tape_methods.picture

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
            leave_ended()
        if self._used or self._recording or self._record is None:
            self._begin_gradient()
        zero = unconnected_gradients is not NONE and wants_zeros(unconnected_gradients)
        targets = [target] if type(target) is EagerTensor else targets_of(target)
        if type(sources) in END_TYPES:
            values = ends = [sources]
        else:
            values, ends = ends_of(sources)
        adjoints = [None] * len(targets)
        if output_gradients is not None:
            adjoints = output_adjoints(output_gradients, len(targets))
        try:
            gradients = gradients_of(self, targets, ends, adjoints)
        except LookupError as error:
            raise hooks.why_refused(error, self, targets, ends)  # noqa: B904 - the same error, with a note
        place = place_of(_getframe(1))
        note_gradients(gradients, targets, ends, place, bool(tapes))
        nones = [*map(is_, gradients, repeat(None))]
        self.last = new_tuple(GradientQuestion, (targets, ends, adjoints, nones, "gradient", ()))
        if True in nones and self._warns:  # one warning, with its reason, for each
            hooks.warn_of(self, targets, [s for s, g in zip(ends, gradients, strict=True) if g is None])
        if (zero and True in nones) or ends is not values:
            gradients = results_of(gradients, ends, values, zero)
        self._end_gradient((place[:2],) if place else ())
        return gradients[0] if type(sources) in END_TYPES else pack_like(sources, values, gradients)

    def _begin_gradient(self) -> None:
        if self._used or self._record is None:  # also of a tape that never recorded, as in TensorFlow
            raise refusals.used_up(self)
        if self._recording:
            if self._persistent:
                refusals.warn_of_gradient_inside()
            else:
                self._leave()

    def _end_gradient(self, stack: Stack) -> None:
        """After a gradient: a tape that is not persistent is used up, and its large arrays are released once no other
        tape can ask.
        """
        record, question = self._record, self.last
        assert record is not None and question is not None
        if record.listeners:
            record.notify()
        if True in question.nones:  # an error that comes of it is to say why
            state.memory.gave_none = ref(self)
        if self._persistent:
            if len(self.questions) < QUESTIONS:  # for pictures
                self.questions = append_item(self.questions, question)
        else:
            self._used = True
            self.notes.append(("gradient", record.next, None, stack))
            if record.large and (record.tape_count == 1 or all(t is None or t._used for t in record.tapes_now())):
                free_large_arrays(record, record.leaves)  # the last tape that could ask was used up
