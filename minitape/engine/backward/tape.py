"""``tf.GradientTape``: when rows are written, and which of them a gradient may use.

Open tapes share one recording. Each tape stores the *spans* of rows during which it was recording, and for each
watched row the row from which on it is watched. A row is on the tape if it was written during a span, and one of its
inputs was watched by then or is on the tape.
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
from ..record.interrupt_safe import InterruptSafeExit, leave_ended_tapes
from ..record.kept_arrays import release_large_arrays, release_record
from ..record.log_warnings import warn_not_watchable
from ..record.pause import Pause
from ..record.provenance import (
    MAX_TAPE_NOTES,
    capture_stack,
    clock,
    find_place,
    note_gradient_origins,
    try_create_weak_ref,
)
from ..record.record import Record
from ..record.row_parts import FLOATS, new_tuple
from ..record.thread_state import append_to_list_or_tuple, state
from ..record.user_frames import OWN_FILES, find_user_frame
from ..tensor.tensor import EagerTensor, Tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from . import tape_errors
from .gradient import compute_gradients
from .row_values import iter_operations_backward
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
    from ..types import (
        AnySource,
        ExitProperty,
        ExplanationResult,
        GradientSource,
        Key,
        Result,
        Structure,
        TargetOrSource,
    )

MAX_REQUESTS = 64  # A picture can show this many gradients of one tape.


class GradientTape:
    """Record operations, so that gradients can be computed afterwards.

    The tape watches trainable variables when they are read inside the ``with`` block, and tensors when they are passed
    to ``watch``. See https://www.tensorflow.org/api_docs/python/tf/GradientTape.

    Args:
        persistent: Whether the tape can compute several gradients. Otherwise it computes one, or one Jacobian.
        watch_accessed_variables: Whether variables are watched when they are read. If False, they are watched only
            after ``watch``.

    Attributes:
        irregular: Whether the tape has several spans, or watches something that it did not watch before its first use.
        last_request: The last call for gradients that was answered; None before the first.
        listeners: Functions without arguments that update live pictures. The recording calls them when it grows.
        member: The position of the tape among the recording's members; None before its first block.
        notes: What happened to the tape, as (event, row, clock or weak reference, the user's frames).
        requests: The calls for gradients of a persistent tape, up to ``MAX_REQUESTS``.
        spans: The closed spans of rows, as (first row, row after the last). The open span starts at ``span_start``.
        variables: The watched variables by id.
        watched: The watched rows, each with the row from which on it is watched.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    _warns_of_none = False  # minitape.explain.warn sets this for all tapes, which then warn of None gradients.
    _record: Record | None = None
    _start = 0
    member: int | None = None
    _gives_gradients = True  # An accumulator's tape sets False. Alone, it does not let a closed tape watch values.
    _exit_ref: Callable[[], object] | None = None  # InterruptSafeExit stores the exit method of the open block here.
    last_request: GradientRequest | None = None
    requests: Sequence[GradientRequest] = ()
    listeners: Sequence[Callable[[], object]] = ()

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        """Create a tape that has not recorded anything yet."""
        self._persistent, self._watch_accessed_variables = persistent, watch_accessed_variables
        self._recording = self._used = self._paused = self.irregular = False
        self.notes: list[TapeNote] = []
        self.spans: list[tuple[int, int]] = []
        self.watched: dict[int, int] = {}
        self.variables: dict[int, ResourceVariable] = {}

    # -- recording ---------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        """Start recording, in the table of rows that is open in this thread or in a new one.

        Returns:
            The tape itself.

        Raises:
            ValueError: The tape records already, or is paused by ``stop_recording``.
            RuntimeError: The tape has rows in another recording than the open one.
        """
        if self._recording or self._paused:
            raise tape_errors.build_reentry_error(self)
        if self._used:  # A tape that is entered again after its one gradient starts from the beginning.
            self._forget_rows()
        tapes = state.tapes
        if tapes:
            leave_ended_tapes()  # An endless recursion may have left tapes open.
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
        self._recording = True  # From here on InterruptSafeExit leaves the block, wherever Ctrl-C arrives.
        if open_record is None:
            state.record, record.is_open = record, True
        tapes.append(self)
        record.tape_set = object()
        if self.listeners:
            record.add_and_notify_listeners(*self.listeners)
        return self

    def _leave(self, *error: object) -> None:
        """Stop recording, and close the open span.

        The method may be called again after Ctrl-C has interrupted it.

        Args:
            *error: The arguments of ``__exit__`` at the end of the block. Without arguments, the block continues after
                the call: it is paused, or computes a gradient.
        """
        record, tapes = self._record, state.tapes
        if record is None:
            return
        if error and self._paused:  # Ctrl-C has prevented the end of a pause inside the block.
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

    def __del__(self, release_record: Callable = release_record) -> None:
        """Release the recording with its last tape.

        Args:
            release_record: The function of that name. The default holds it, because Python clears the names of modules
                at its exit before it deletes the last tapes.
        """
        try:
            record = self._record
            if record is not None:
                record.tape_count -= 1
                if record.tape_count <= 0 and record.trace is None:
                    release_record(record)
        except KeyboardInterrupt:  # Python ignores exceptions in __del__, so a new thread interrupts the program again.
            start_new_thread(interrupt_main, ())

    def __copy__(self) -> GradientTape:
        """Return the tape itself, because the recording counts its tapes and a copy would not be counted."""
        return self

    def _forget_rows(self) -> None:
        self.spans, self.watched, self.variables, self._used, self.irregular = [], {}, {}, False, False

    def watch(self, tensor: Structure) -> None:
        """Watch a tensor, a variable or a structure of them, so that operations on it are recorded from now on.

        Integers and strings cannot be watched. A warning reports them, and nothing is watched.

        Args:
            tensor: A tensor, a variable, or a nested structure of them.

        Raises:
            ValueError: An item is not a tensor and not a variable.
            AttributeError: The tape was never entered, or has computed its one gradient.

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
                if hasattr(t, "_watch_on"):  # Only variables have this method.
                    t._watch_on(self)
                    continue
                if not isinstance(t, Tensor):
                    raise tape_errors.build_not_a_tensor_error(t)
            is_watchable = t._value.dtype in FLOATS or t.dtype.differentiable
            if not is_watchable:
                warn_not_watchable(t.dtype)
            can_watch = self._recording or self._can_watch()
            assert record is not None
            if can_watch and is_watchable:
                self._watch_row(record.find_or_add_row(t, None, record.note_current_site(frame)))

    def _can_watch(self) -> bool:
        """Return whether ``watch`` has an effect now.

        As in TensorFlow, it has one while any gradient tape of this thread records into the same recording.

        Raises:
            AttributeError: The tape was never entered, or has computed its one gradient.
        """
        if self._record is None or self._used:
            raise tape_errors.build_watch_error(self)
        return self._record is state.record and (self._recording or any(tape._gives_gradients for tape in state.tapes))

    def _watch_row(self, row: int) -> None:
        """Watch a row from now on.

        The tape becomes irregular unless the row is a leaf that was written just now, while the tape records.

        Args:
            row: The number of a row in the tape's recording. A row that is watched already stays as it is.
        """
        if row in self.watched:
            return
        record: Record = self._record  # type: ignore[assignment]  # A tape that watches a row has a recording.
        self.watched[row] = now = record.next
        record.untracked.discard(row)
        if row != now - 1 or not self._recording or row not in record.leaves:
            self.irregular = True

    def _has_read_row(self, row: int) -> bool:
        """Return whether an operation since the first block of the tape has read the state of a variable in this row.

        A call of a ``tf.function`` does not count: it reads the variable itself, as in TensorFlow.
        """
        record: Record = self._record  # type: ignore[assignment]  # The recording has this row.
        first_row = self.spans[0][0] if self.spans else self._start
        return any(
            row in (call.inputs if call else (a, b)) and not (call and call.primitive.name == "function")
            for _, _, a, b, call in iter_operations_backward(record, max(first_row, row + 1), record.next - 1)
        )

    def reset(self) -> None:
        """Forget everything recorded so far and continue to record.

        Raises:
            ValueError: The tape is not recording, for example outside its block.

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
        self._start = now = self._record.next
        if len(self.notes) < MAX_TAPE_NOTES:
            self.notes.append(("reset", now, None, capture_stack(max_frames=1)))
        self._forget_rows()
        self._record.tape_set = object()  # Variables are watched again when they are read next.

    def stop_recording(self) -> AbstractContextManager[None]:
        """Return a context manager for a block whose operations are not recorded on this tape.

        Raises:
            RuntimeError: The tape was never entered, or has computed its one gradient, when the block is entered.
            ValueError: The tape is not recording when the block is entered.

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
        """Return the watched variables in the order of their creation.

        >>> import minitape as tf
        >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     y = v * 2.0
        >>> [variable.name for variable in tape.watched_variables()]
        ['v:0']
        """
        return tuple(sorted(self.variables.values(), key=lambda v: v._creation_number))

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
        """Compute the gradient of ``target``, or of the sum of several targets, with respect to ``sources``.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#gradient.

        Args:
            target: A tensor, a variable, or a nested structure of them.
            sources: A tensor, a variable, or a nested structure of them.
            output_gradients: The adjoint that each target starts with, in the order of the targets. None stands for
                ones. An adjoint has the dtype of its target and a shape that broadcasts to the target's shape.
            unconnected_gradients: The result for a source that the target does not depend on: "none" for None, or
                "zero" for zeros.

        Returns:
            A tensor or None for each source, in the structure of ``sources``. Each tensor has the shape and the dtype
            of its source.

        Raises:
            RuntimeError: The tape was never entered, or is not persistent and has computed its gradient.
            TypeError: ``target`` is None.
            ValueError: ``unconnected_gradients`` is another value.
            LookupError: A gradient needs the derivative of an operation for which TensorFlow has none.

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
            raise hooks.add_refusal_reason(error, self, targets, carriers)  # noqa: B904 - It is the same error.
        place = find_place(_getframe(1))
        note_gradient_origins(gradients, targets, carriers, place, bool(tapes))
        nones = [*map(is_, gradients, repeat(None))]
        self.last_request = new_tuple(GradientRequest, (targets, carriers, adjoints, nones, "gradient", ()))
        if True in nones and self._warns_of_none:
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
        """Check that the tape can compute a gradient, and stop recording unless the tape is persistent.

        Raises:
            RuntimeError: The tape was never entered, or has computed its one gradient.
        """
        if self._used or self._record is None:
            raise tape_errors.build_used_up_error(self)
        if self._recording:
            if self._persistent:
                tape_errors.warn_gradient_inside_block()
            else:
                self._leave()

    def _end_gradient(self, call_stack: Stack) -> None:
        """Note that ``last_request`` was answered, and use up a tape that is not persistent.

        The recording releases its large arrays once all its tapes are used up.

        Args:
            call_stack: The user's frames at the call, the innermost first.
        """
        record, request = self._record, self.last_request
        assert record is not None and request is not None
        if record.listeners:
            record.notify_listeners()
        if True in request.is_none:  # The message of an error that the None causes names its reason.
            state.memory.last_none_tape = ref(self)
        if self._persistent:
            if len(self.requests) < MAX_REQUESTS:
                self.requests = append_to_list_or_tuple(self.requests, request)
        else:
            self._used = True
            self.notes.append(("gradient", record.next, None, call_stack))
            if record.has_large_arrays and (
                record.tape_count == 1
                or all(other_tape is None or other_tape._used for other_tape in record.list_tapes_or_none())
            ):
                release_large_arrays(record, record.leaves)

    @overload
    def jacobian(
        self,
        target: Structure,
        sources: GradientSource,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None: ...
    @overload
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Structure: ...
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Structure:
        """Compute the Jacobian of ``target`` with respect to each source, in one sweep.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#jacobian.

        Args:
            target: A tensor or a variable.
            sources: A tensor, a variable, or a nested structure of them.
            unconnected_gradients: "none" or "zero", as for ``gradient``.
            parallel_iterations: Has no effect, but 1 is refused as in TensorFlow.
            experimental_use_pfor: Has no effect, but False requires a persistent tape as in TensorFlow.

        Returns:
            A tensor or None for each source, in the structure of ``sources``. Its shape is
            ``target.shape + source.shape``.

        Raises:
            RuntimeError: The tape was never entered, or is not persistent and has computed its gradient.
            ValueError: ``parallel_iterations`` is too small, or ``unconnected_gradients`` is another value.

        >>> import minitape as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
        """
        from ..derivatives.jacobian import jacobian

        return jacobian(self, target, sources, unconnected_gradients, parallel_iterations, experimental_use_pfor)

    def batch_jacobian(
        self,
        target: TargetOrSource,
        source: TargetOrSource,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Result:
        """Compute the Jacobian of each example of a batch.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#batch_jacobian.

        Args:
            target: A tensor or a variable of rank 2 or more, whose first axis counts the examples.
            source: A tensor or a variable of rank 2 or more, with the same first axis.
            unconnected_gradients: "none" or "zero". Both return zeros if the target does not depend on the source, as
                in TensorFlow.
            parallel_iterations: Has no effect, but 1 is refused as in TensorFlow.
            experimental_use_pfor: Has no effect, but False requires a persistent tape as in TensorFlow.

        Returns:
            A tensor of the shape ``[batch] + target.shape[1:] + source.shape[1:]``.

        Raises:
            RuntimeError: The tape was never entered, or is not persistent and has computed its gradient.
            ValueError: The first axes differ, a rank is below 2, or ``parallel_iterations`` is too small.

        >>> import minitape as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).shape
        TensorShape([2, 2, 2])
        """
        from ..derivatives.jacobian import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients, parallel_iterations, experimental_use_pfor)

    @overload
    def explain(self, target: Structure, sources: GradientSource) -> ExplanationResult: ...
    @overload
    def explain(self, target: Structure, sources: list[AnySource]) -> list[ExplanationResult]: ...
    @overload
    def explain(self, target: Structure, sources: Structure) -> Structure: ...
    def explain(self, target: Structure, sources: Structure) -> Structure:
        """Explain why the gradient of ``target`` with respect to each source is None, or that it is not.

        The method may be called before or after ``gradient``, even on a tape that has computed its one gradient.

        Args:
            target: A tensor, a variable, or a nested structure of them.
            sources: A tensor, a variable, or a nested structure of them.

        Returns:
            One :class:`minitape.explain.Explanation` for each source, in the structure of ``sources``. Its attributes
            are whether it is ``connected``, the ``cause``, the ``line`` and ``filename`` of the statement that broke
            the chain, and a ``message`` and ``fix`` in words.

        >>> import minitape as tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.explain(y, x).cause
        'not_watched'
        """
        return hooks.explain(self, target, sources)

    # -- what pictures and Python read -------------------------------------------------------------

    @property
    def record(self) -> Record | None:
        """The recording that has the tape's rows; None before its first block."""
        return self._record

    @property
    def is_recording(self) -> bool:
        """Whether the tape records now."""
        return self._recording

    @property
    def is_used(self) -> bool:
        """Whether the tape has computed its one gradient."""
        return self._used

    @property
    def is_persistent(self) -> bool:
        """Whether the tape can compute several gradients."""
        return self._persistent

    @property
    def watches_variables(self) -> bool:
        """Whether the tape watches the trainable variables that are read in its block."""
        return self._watch_accessed_variables

    @property
    def span_start(self) -> int:
        """The first row of the open span, or of the last one if none is open."""
        return self._start

    _find_rows_of_value = find_rows_of_value

    def __repr__(self) -> str:
        """Return how many rows the tape has recorded, and how many rows it watches."""
        rows = sum(end - start for start, end in self.spans)
        if self._recording:
            rows += len(self._record or ()) - self._start
        return f"<GradientTape: {rows:,} rows, {len(self.watched):,} watched>"

    def __dir__(self) -> list[str]:
        """Return the names that the Tab key offers, which are TensorFlow's methods and ``explain``."""
        return "watch gradient jacobian batch_jacobian explain watched_variables reset stop_recording".split()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the picture that a notebook shows of the tape, by MIME type.

        Args:
            include: Ignored; IPython passes it.
            exclude: Ignored; IPython passes it.
        """
        figure = hooks.draw(self)
        return {"text/plain": repr(figure).replace("Picture", "GradientTape"), "text/html": figure.html()}
