"""Define the recording half of ``tf.GradientTape``, which determines the rows that a tape follows.

All open tapes write into one shared recording. For this recording, each tape stores the *spans* of rows during which
the tape was recording. It also stores the *watched* rows, each with the row number at which the watch began. A row is
on the tape if it was written during a span, and if one of its inputs was already watched or is itself on the tape.
:mod:`minitape.engine.backward.reachability` finds these rows when a gradient needs them.
"""

from __future__ import annotations

from _thread import interrupt_main, start_new_thread
from collections.abc import Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from sys import _getframe
from typing import TYPE_CHECKING, Self
from weakref import ref

from ..record.interrupt_safe import InterruptSafeExit, leave_ended_tapes
from ..record.log_warnings import warn_not_watchable
from ..record.pause import Pause
from ..record.provenance import MAX_TAPE_EVENTS, TapeEvent, capture_user_stack, clock, try_create_weak_ref
from ..record.record import Record
from ..record.row_parts import FLOAT_DTYPES
from ..record.thread_state import state
from ..record.user_frames import OWN_FILES, find_user_frame
from ..tensor.tensor import EagerTensor, Tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from . import tape_errors
from .row_values import iter_operations_backward

if TYPE_CHECKING:
    from ..types import Action, ExitProperty, Object, OptionalNumber, RowByRow, Spans, Structure
    from .targets_and_sources import GradientRequest


class RecordingTape:
    """A tape that records and watches. ``GradientTape`` adds the methods that compute gradients.

    A tape that is not persistent is *used up* once it has computed its only gradient or Jacobian.

    Args:
        persistent: Whether the tape can compute several gradients. Otherwise, it computes one gradient or one Jacobian.
        watch_accessed_variables: Whether the tape watches trainable variables when they are read. If False, it watches
            only values that are passed to ``watch``.

    Attributes:
        is_recording: Whether the tape is recording.
        is_used: Whether the tape is used up, because it has computed its only gradient.
        is_persistent: Whether the tape can compute several gradients.
        span_start: The first row of the open span, or of the last span if no span is open.
        irregular: Whether the tape has several spans, or began to watch a row that an operation may already have read.
            Only a leaf in the last row, watched while the tape is recording, cannot have been read.
        last_request: The last gradient call that returned, or None before the first such call.
        listeners: Functions without arguments that refresh live pictures. The recording calls them when it grows.
        entry_index: The tape's position in ``Record.tape_entries``, or None before its first block. Recorded sweeps
            store it in ``Record.sweep_boundaries``, so that the picture can name the tape.
        history: What happened to the tape, as tuples (event, row, clock or weak reference, user frames).
        requests: The gradient calls of a persistent tape, up to ``MAX_REQUESTS``.
        spans: The closed spans of rows, as pairs (first row, row after the last). The open span starts at `span_start`.
        variables: The watched variables, keyed by id.
        watched: For each watched row, the row number at which the watch began.
    """

    _record: Record | None = None
    span_start = 0
    entry_index: OptionalNumber = None
    # This is False for the tape of an accumulator. While only such tapes record, tapes outside their own blocks cannot
    # watch values.
    _gives_gradients = True
    _exit_ref: Action | None = None  # InterruptSafeExit stores the exit method of the open block here.
    last_request: GradientRequest | None = None
    requests: Sequence[GradientRequest] = ()
    listeners: Sequence[Action] = ()

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        """Create a tape that has not recorded anything yet.

        Args:
            persistent: Whether the tape can compute several gradients.
            watch_accessed_variables: Whether the tape watches trainable variables when they are read.
        """
        self.is_persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self.is_recording = self.is_used = self._is_paused = self.irregular = False
        self.history: list[TapeEvent] = []
        self.spans: Spans = []
        self.watched: RowByRow = {}
        self.variables: dict[int, ResourceVariable] = {}

    def __enter__(self) -> Self:
        """Start recording. If this thread has no open recording, a new one is created.

        Returns:
            The tape itself.

        Raises:
            ValueError: If the tape is already recording, or is paused by ``stop_recording``.
            RuntimeError: If the tape has rows in a different recording than the open recording.
        """
        if self.is_recording or self._is_paused:
            raise tape_errors.build_reentry_error(self)
        if self.is_used:  # A used-up tape starts from the beginning if it is entered again.
            self._forget_rows()
        tapes = state.tapes
        if tapes:
            leave_ended_tapes()  # An infinite recursion may have left tapes open.
        frame = _getframe(1)
        if OWN_FILES[frame.f_code.co_filename]:
            frame = find_user_frame(frame) or frame
        record = self._record
        open_record = state.record
        if record is None:
            record = Record() if open_record is None else open_record
            record.tape_count += 1
            self._record = record
        elif open_record is not None and record is not open_record:
            raise RuntimeError(
                "This tape belongs to a different recording. Enter the tape while no other tape is recording."
            )
        if self.entry_index is None:
            # Every RecordingTape is a GradientTape, but a base class cannot name its subclass as the type of `self`.
            record.tape_entries.append((ref(self), self.spans, self.watched))  # type: ignore[arg-type]
            self.entry_index = len(record.tape_entries) - 1
        self.span_start = now = record.next
        self.history.append(("enter", now, clock(), ((frame.f_code, frame.f_lasti),)))
        self.is_recording = True  # From now on, InterruptSafeExit ends the block correctly wherever Ctrl-C arrives.
        if open_record is None:
            state.record, record.is_opened_by_tape = record, True
        tapes.append(self)  # type: ignore[arg-type]
        record.tape_set = object()
        if self.listeners:
            record.add_and_notify_listeners(*self.listeners)
        return self

    def _leave(self, *exit_arguments: object) -> None:
        """Stop recording, and close the open span.

        If Ctrl-C interrupts this method, it may be called again.

        Args:
            *exit_arguments: The arguments of ``__exit__`` at the end of the block, which are three Nones if no error
                ended it. Empty if the block has not ended and the tape is only pausing or computing a gradient.
        """
        ends_block = bool(exit_arguments)
        record = self._record
        tapes = state.tapes
        if record is None:
            return
        if ends_block and self._is_paused:  # This happens if Ctrl-C interrupted the end of a pause inside the block.
            record.pause_count, self._is_paused = record.pause_count - 1, False  # Ctrl-C cannot interrupt this line.
        if self in tapes:
            tapes.remove(self)
        if tapes and ends_block:
            leave_ended_tapes()
        if not (tapes or record.pause_count or record.first_run) and state.record is record:
            record.is_opened_by_tape, record.frame, state.record = False, None, None
        record.tape_set = object()
        if self.is_recording:
            if self.spans:
                self.irregular = True
            self.spans.append((self.span_start, record.next))
            self.is_recording = False
            if record.listeners:
                record.notify_listeners()
        if ends_block:
            self._exit_ref = None

    # This is `_leave`, which also runs if Ctrl-C arrives just before the call.
    __exit__: ExitProperty = InterruptSafeExit(_leave, attrgetter("is_recording"))

    def _begin_pause(self) -> None:
        """Stop recording, but keep the recording open, because other tapes may share it.

        Raises:
            RuntimeError: If the tape has not been entered, or is used up.
            ValueError: If the tape is not recording.
        """
        record = self._record
        if record is None or self.is_used:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if not self.is_recording:
            raise ValueError("Tape is not recording.")
        # As long as `pause_count` is not 0, the recording stays open.
        record.pause_count, self._is_paused = record.pause_count + 1, True  # Ctrl-C cannot interrupt this line.
        self._leave()
        record.append_event("pause", self)

    def _end_pause(self) -> None:
        """Start recording again, unless the tape's own block ended during the pause.

        If Ctrl-C interrupts this method, it may be called again.
        """
        if not self._is_paused:
            return
        record: Record = self._record  # type: ignore[assignment]  # A paused tape has a recording.
        if self.is_used:  # If a gradient during the pause used the tape up, the tape starts again.
            self._forget_rows()
        if self not in state.tapes:
            state.tapes.append(self)  # type: ignore[arg-type]  # Every RecordingTape is a GradientTape.
        if not self.is_recording:
            self.span_start, self.is_recording = record.next, True
        record.tape_set = object()
        record.pause_count, self._is_paused = record.pause_count - 1, False
        record.append_event("resume", self)

    def __del__(self) -> None:
        """Release the recording when its last tape is deleted."""
        try:
            record = self._record
            if record is not None:
                record.tape_count -= 1
                if record.tape_count <= 0 and record.first_run is None:
                    record.release()
        except KeyboardInterrupt:
            # Python ignores exceptions in __del__, so another thread interrupts the program again.
            start_new_thread(interrupt_main, ())

    def __copy__(self) -> Self:
        """Return the tape itself, because the recording would not count a copy among its tapes."""
        return self

    def _forget_rows(self) -> None:
        self.spans, self.watched, self.variables, self.is_used, self.irregular = [], {}, {}, False, False

    def watch(self, tensor: Structure) -> None:
        """Watch a tensor, a variable or a nested structure of them from now on.

        The tape records operations on watched values, so that gradients with respect to them can be computed. Integers
        and strings cannot be watched. The tape logs a warning and ignores them.

        Args:
            tensor: A tensor, a variable, or a nested structure of them.

        Raises:
            ValueError: If an item is neither a tensor nor a variable.
            AttributeError: If the tape was never entered or is already used up.

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
            # First, log the call of this method for `explain`.
            if len(self.history) < MAX_TAPE_EVENTS:
                row = 0 if record is None else record.next
                event = "watch in pause" if self._is_paused else "watch"
                self.history.append((event, row, ref(t) if type(t) is EagerTensor else try_create_weak_ref(t), stack))
            # Then watch the variable, or the row of the tensor.
            if type(t) is not EagerTensor and self._watch_if_variable(t):
                continue
            is_watchable = t._value.dtype in FLOAT_DTYPES or t.dtype.differentiable
            if not is_watchable:
                warn_not_watchable(t.dtype)
            can_watch = self.is_recording or self._can_watch_or_raise()
            assert record is not None
            if can_watch and is_watchable:
                self._watch_row(record.find_or_add_row(t, None, record.find_current_offset(frame)))

    def _watch_if_variable(self, value: Object) -> bool:
        """Watch a variable.

        Args:
            value: Any object.

        Returns:
            Whether the object is a variable. If not, the object is a tensor, and the caller has to watch the tensor.

        Raises:
            ValueError: If the object is neither a tensor nor a variable.
        """
        if hasattr(value, "_watch_on"):  # Only variables have this method.
            value._watch_on(self)
            return True
        if not isinstance(value, Tensor):
            raise tape_errors.build_not_a_tensor_error(value)
        return False

    def _can_watch_or_raise(self) -> bool:
        """Return whether ``watch`` currently has an effect.

        As in TensorFlow, a watch has an effect while any gradient tape of this thread is recording into the same
        recording.

        Raises:
            AttributeError: If the tape was never entered, or is used up.
        """
        if self._record is None or self.is_used:
            raise tape_errors.build_watch_error(self)
        return self._record is state.record and (
            self.is_recording or any(tape._gives_gradients for tape in state.tapes)
        )

    def _watch_row(self, row: int) -> None:
        """Watch a row from now on. The tape becomes `irregular` if an operation may already have read the row.

        Args:
            row: The number of a row in the tape's recording. If the row is already watched, nothing changes.
        """
        if row in self.watched:
            return
        record: Record = self._record  # type: ignore[assignment]  # A tape that watches a row has a recording.
        self.watched[row] = now = record.next
        record.untracked.discard(row)
        if row != now - 1 or not self.is_recording or row not in record.leaves:
            self.irregular = True

    def _has_operation_read_state(self, row: int) -> bool:
        """Return whether any operation has read the state of a variable since the tape's first block began.

        Calls of a ``tf.function`` are ignored, because they read the variable itself, as in TensorFlow.

        Args:
            row: The row of the state.
        """
        record: Record = self._record  # type: ignore[assignment]  # The row is in the tape's recording.
        first_row = self.spans[0][0] if self.spans else self.span_start
        return any(
            row in (call.inputs if call else (a, b)) and not (call and call.primitive.name == "function")
            for _, _, a, b, call in iter_operations_backward(record, max(first_row, row + 1), record.next - 1)
        )

    def reset(self) -> None:
        """Forget everything recorded so far, and continue recording.

        Raises:
            ValueError: If the tape is not recording, for example outside its block.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        ...     tape.reset()
        ...     z = x + y
        >>> print(tape.gradient(z, x))
        tf.Tensor(1.0, shape=(), dtype=float32)
        """
        if not self.is_recording:
            raise ValueError("Tape is not recording.")
        assert self._record is not None
        self.span_start = now = self._record.next
        if len(self.history) < MAX_TAPE_EVENTS:
            self.history.append(("reset", now, None, capture_user_stack(max_frames=1)))
        self._forget_rows()
        self._record.tape_set = object()  # Variables are watched again when they are next read.

    def stop_recording(self) -> AbstractContextManager[None]:
        """Return a context manager that pauses this tape, so that operations in the block are not recorded.

        Raises:
            RuntimeError: If the tape was never entered or is used up when the block is entered.
            ValueError: If the tape is not recording when the block is entered.

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

    def watched_variables(self) -> tuple[ResourceVariable, ...]:
        """Return the watched variables in order of creation.

        >>> import minitape as tf
        >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     y = v * 2.0
        >>> [variable.name for variable in tape.watched_variables()]
        ['v:0']
        """
        return tuple(sorted(self.variables.values(), key=lambda v: v._creation_number))

    # -- attributes for pictures and `explain` -----------------------------------------------------

    @property
    def record(self) -> Record | None:
        """The recording that contains the tape's rows, or None before the first block."""
        return self._record

    @property
    def watches_variables(self) -> bool:
        """Whether the tape automatically watches the trainable variables that are read in its block."""
        return self._watch_accessed_variables
