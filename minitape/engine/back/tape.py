"""``tf.GradientTape``: when rows are written, and which of them a gradient may use.

A tape keeps its recording, which open tapes share, the *spans* of rows during which it was recording, and what it
watches since which row. A row is on the tape when it was written during a span and an input of it was watched by then,
or is itself the result of a row on the tape.
"""

from __future__ import annotations

from _thread import interrupt_main, start_new_thread
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import repeat
from operator import attrgetter, is_
from sys import _getframe
from typing import TYPE_CHECKING, overload
from weakref import ref

from ..hooks import hooks
from ..recording.arrays import free, release
from ..recording.block import InterruptSafeExit, leave_ended
from ..recording.evidence import clock, note_gradients, stack, weak, with_first_use
from ..recording.frames import _OWN, user_frame
from ..recording.logs import log_first_n, warn_not_watchable
from ..recording.pause import Pause
from ..recording.record import Record, new_tuple
from ..recording.rows import FLOATS, WIDTH
from ..recording.state import appended, state
from ..tensor.tensor import EagerTensor, Tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from .backward import gradients_of
from .endpoints import (
    NONE,
    GradientQuestion,
    UnconnectedGradients,
    ends_of,
    output_adjoints,
    pack_like,
    targets_of,
    unconnected_zeros,
    wants_zeros,
)
from .tape_methods import TapeMethods

if TYPE_CHECKING:
    from ..recording.evidence import Stack, TapeNote
    from ..types import AnySource, GradientSource, Key, Leaving, Structure

ALONE = {EagerTensor, ResourceVariable}  # sources that are no structure
_NONES = repeat(None)  # one for each gradient, which is compared with it
_WARNS: list[bool] = []  # not empty: every tape warns, see minitape.explain.warn
ASKED = 64  # gradients of one tape that a picture can show
_NEVER = (
    "The tape recorded nothing, as it was never entered: compute inside of its block, with tf.GradientTape() as "
    "tape: ..."
)
NOTES = 1000  # what one tape remembers of watch calls and the like


class GradientTape(TapeMethods):
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

    _record: Record | None = None
    _start = 0  # the first row of the open span
    number: int | None = None  # among the recording's members
    # of its block, which Ctrl-C may interrupt anywhere, see InterruptSafeExit
    _held: Callable[[], object] | None = None
    _entered = False  # whether it is still to be left
    _paused = _within = False  # _within: entered again in its own pause
    late = False  # whether something was watched after its first use, or outside of the block
    last: GradientQuestion | None = None  # the last one that was answered
    questions: Sequence[GradientQuestion] = ()  # each of them, where the tape gives several gradients
    watchers: Sequence[Callable[[], object]] = ()  # live pictures of this tape, told by the recording

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watch_accessed_variables = persistent, watch_accessed_variables
        self._recording = self._used = False
        self.notes: list[TapeNote] = []  # (what, at which row, a weak reference, the user's frames)
        self.spans: list[tuple[int, int]] = []  # closed spans of rows; the open one starts at _start
        self.watched: dict[int, int] = {}  # row -> from which row on it is watched
        self.variables: dict[int, ResourceVariable] = {}  # watched variables by id

    backward = True  # whether it is for gradients; an accumulator's is not

    # -- recording ---------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise with_first_use(
                ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape."),
                "The tape was entered",
                self.notes,
                "enter",
            )
        if self._used:  # entered again after its one gradient: it begins anew
            self._forget()
        if state.tapes:
            leave_ended()  # tapes that a recursion without end left open
        record, frame = state.record, _getframe(1)
        if _OWN[frame.f_code.co_filename]:
            frame = user_frame(frame) or frame
        self._entered = True  # from here on the block is left, also where Ctrl-C comes before it begins
        if self._record is None:
            new = Record() if record is None else record
            new.tapes += 1
            self._record = record = state.record = new
        elif record is None:
            state.record = record = self._record
            record.open = True
        elif record is not self._record:
            self._entered = False
            raise RuntimeError("This tape belongs to another recording: enter it while no other tape records.")
        if self.number is None:
            record.members.append((ref(self), self.spans, self.watched))
            self.number = len(record.members) - 1
        self._within = self._paused
        self._start = now = record.base + len(record.rows) // WIDTH
        self.notes.append(("enter", now, clock(), ((frame.f_code, frame.f_lasti),)))
        self._recording = True
        state.tapes.append(self)
        record.token = object()
        if self.watchers:
            record.tell(*self.watchers)
        return self

    def _leave(self, *error: object) -> None:
        """Stops recording: with the block, or (without arguments) for a pause or a gradient inside of it. It may be
        called again where it was interrupted.
        """
        record, tapes = self._record, state.tapes
        if record is None:  # interrupted before it began
            self._entered, self._held = False, None
            return
        if self._paused and not self._within and error:  # Ctrl-C came between the end of a pause and what it does then
            record.paused, self._paused = record.paused - 1, False
        if self in tapes:
            tapes.remove(self)
        if tapes and error:
            leave_ended()
        if not tapes and not record.paused and state.record is record and record.trace is None:
            record.open, record.frame, state.record = False, None, None
        record.token = object()
        if self._recording:
            self.spans.append((self._start, record.base + len(record.rows) // WIDTH))
            self._recording = False
            if record.watchers:
                record.notify()
        if error:
            self._within, self._entered, self._held = False, self._paused, None

    __exit__: Leaving = InterruptSafeExit(_leave, attrgetter("_entered"))

    def __del__(self) -> None:
        try:
            record = self._record
            if record is not None:
                if self._recording and self in state.tapes:
                    state.tapes.remove(self)
                record.tapes = tapes = record.tapes - 1
                if tapes <= 0 and record.trace is None:
                    release(record)
        except KeyboardInterrupt:  # which Python would drop here: so it is raised anew in a moment
            start_new_thread(interrupt_main, ())

    def __copy__(self) -> GradientTape:
        return self  # a recording is of one tape, and released with it

    def reset(self) -> None:
        """Forgets everything recorded so far and continues to record; ValueError outside the block.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        ...     tape.reset()
        ...     z = x + y
        >>> print(tape.gradient(z, x))
        tf.Tensor(1.0, shape=(), dtype=float32)
        """
        if not self._recording:
            raise ValueError("Tape is not recording.")
        assert self._record is not None
        self._start = now = len(self._record)
        if len(self.notes) < NOTES:
            self.notes.append(("reset", now, None, stack(most=1)))
        self._forget()
        self._record.token = object()  # variables are watched anew when they are read

    def _forget(self) -> None:
        self.spans, self.watched, self.variables, self._used, self.late = [], {}, {}, False, False

    def stop_recording(self) -> AbstractContextManager[None]:
        """Operations in this block are not recorded on this tape.

        Raises RuntimeError for a tape that has not recorded yet, ValueError for one that is not recording now.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     with tape.stop_recording():
        ...         y = x * x
        ...     z = x + y
        >>> print(tape.gradient(z, x))
        tf.Tensor(1.0, shape=(), dtype=float32)
        """
        return Pause(self)

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
        if _OWN[frame.f_code.co_filename]:
            frame = user_frame(frame) or frame
        frames = ((frame.f_code, frame.f_lasti),)
        for t in (tensor,) if type(tensor) is EagerTensor else nest.flatten(tensor):
            record = self._record  # another one, perhaps, once a tensor was watched
            if len(self.notes) < NOTES:
                row = 0 if record is None else record.base + len(record.rows) // WIDTH
                self.notes.append(("watch", row, ref(t) if type(t) is EagerTensor else weak(t), frames))
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
            if t._value.dtype not in FLOATS and not t.dtype.differentiable:
                warn_not_watchable(t.dtype)
                self._watches()
                continue
            watches = self._recording or self._watches()
            assert record is not None
            if self._recording and record.trace is None:
                record.row_or_new_leaf(t, None, record.current_site(frame), (self,))
            elif watches:
                self._watch_row(record.row_or_new_leaf(t, None, record.current_site(frame)))
            else:
                record.note("watch_ignored", t)

    def _watches(self) -> bool:
        """Whether ``watch`` has an effect now: while any tape of this thread records, as in TensorFlow; AttributeError
        for a tape that was never entered or is used up.
        """
        if self._record is None or self._used:
            error = AttributeError("'NoneType' object has no attribute '_tape'")
            error.add_note(
                _NEVER
                if self._record is None
                else "The tape was used up by its gradient: watch inside of its with block."
            )
            raise error
        return self._record is state.record and (self in state.tapes or any(t.backward for t in state.tapes))

    def _watch_row(self, row: int) -> None:
        if row not in self.watched:
            record = self._record
            assert record is not None
            self.watched[row] = now = len(record)
            record.untracked.discard(row)
            if row != now - 1:
                record.note("watch", (self, row))
            if row != now - 1 or not self._recording or row not in record.leaves:
                self.late = True

    def watched_variables(self) -> tuple[ResourceVariable, ...]:
        """The variables that are watched, in the order of their creation.

        >>> import minitape as tf
        >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     y = v * 2.0
        >>> [variable.name for variable in tape.watched_variables()]
        ['v:0']
        """
        return tuple(sorted(self.variables.values(), key=lambda v: v._number))

    def __repr__(self) -> str:
        open_rows = len(self._record or ()) - self._start if self._recording else 0
        rows = sum(end - start for start, end in self.spans) + open_rows
        return f"<GradientTape: {rows:,} rows, {len(self.watched):,} watched>"

    # -- gradients ---------------------------------------------------------------------------------

    @overload
    def gradient(
        self,
        target: Structure,
        sources: GradientSource,
        output_gradients: Structure = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Tensor | None: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: list[AnySource],
        output_gradients: Structure = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> list[Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: dict[Key, AnySource],
        output_gradients: Structure = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> dict[Key, Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: Structure,
        sources: Structure,
        output_gradients: Structure = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Structure: ...
    def gradient(
        self,
        target: Structure,
        sources: Structure,
        output_gradients: Structure = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
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
        if state.tapes:
            leave_ended()
        if self._used or self._recording or self._record is None:
            self._begin()
        zero = unconnected_gradients is not NONE and wants_zeros(unconnected_gradients)
        targets = [target] if type(target) is EagerTensor else targets_of(target)
        if type(sources) in ALONE:
            given = flat = [sources]
        else:
            given, flat = ends_of(sources)
        adjoints = [None] * len(targets)
        if output_gradients is not None:
            adjoints = output_adjoints(output_gradients, len(targets))
        try:
            gradients = gradients_of(self, targets, flat, adjoints)
        except LookupError as error:
            raise hooks.why_refused(error, self, targets, flat)  # noqa: B904 - the same error, with a note
        frames = note_gradients(gradients, targets, flat, bool(state.tapes))
        nones = [*map(is_, gradients, _NONES)]
        self.last = new_tuple(GradientQuestion, (targets, flat, adjoints, nones, "gradient", ()))
        if True in nones:
            if _WARNS:  # one warning, with its reason, for each
                hooks.warn_of(self, targets, [s for s, g in zip(flat, gradients, strict=True) if g is None])
            if zero:
                gradients = [unconnected_zeros(s) if g is None else g for g, s in zip(gradients, flat, strict=True)]
        if flat is not given:
            gradients = [
                g if f is s or g is None else s._like_gradient(g)
                for g, f, s in zip(gradients, flat, given, strict=True)
            ]
        self._end(frames)
        return gradients[0] if type(sources) in ALONE else pack_like(sources, given, gradients)

    def _begin(self) -> None:
        if self._used or self._record is None:  # also of a tape that never recorded, as in TensorFlow
            error = RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
            if self._record is None:
                error.add_note(_NEVER)
            raise with_first_use(
                error,
                "The tape was used up",
                self.notes,
                "gradient",
                " For several, use GradientTape(persistent=True).",
            )
        if self._recording:
            if not self._persistent:
                self._leave()
            else:
                log_first_n(
                    "gradient_inside_context",
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context (it causes the gradient ops to be recorded on the "
                    "tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside the "
                    "context if you actually want to trace the gradient in order to compute higher order derivatives.",
                )

    def _end(self, frames: Stack) -> None:
        """After a gradient: a tape that is not persistent is used up, and its large arrays are released."""
        record, question = self._record, self.last
        assert record is not None and question is not None
        if record.watchers:
            record.notify()
        if True in question.nones or not question.nones:
            hooks.watch_errors()
        if self._persistent:
            if len(self.questions) < ASKED:  # for pictures
                self.questions = appended(self.questions, question)
        else:
            self._used = True
            self.notes.append(("gradient", record.base + len(record.rows) // WIDTH, None, frames))
            if record.large and (record.tapes == 1 or all(t is None or t._used for t in record.tapes_now())):
                free(record)
