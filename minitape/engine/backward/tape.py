"""Define ``tf.GradientTape``, which computes the gradients of recorded operations.

:mod:`minitape.engine.backward.recording_tape` contains the other half of the class, which records and watches.
:mod:`minitape.engine.backward.gradient` computes the gradients.
"""

from __future__ import annotations

from itertools import compress, repeat
from operator import is_
from sys import _getframe
from typing import overload
from weakref import ref

from ..hooks import hooks
from ..record.interrupt_safe import leave_ended_tapes
from ..record.kept_arrays import release_large_arrays
from ..record.provenance import Place, find_user_place, set_gradient_origins
from ..record.row_parts import new_tuple
from ..record.thread_state import append_to_list_or_tuple, state
from ..tensor.tensor import EagerTensor, Tensor
from ..types import (
    AnySource,
    ExplanationResult,
    GradientSource,
    Key,
    OptionalNumber,
    Result,
    Structure,
    TargetOrSource,
    TextList,
    TextsByName,
)
from . import tape_errors
from .gradient import compute_gradients
from .recording_tape import RecordingTape
from .targets_and_sources import (
    NONE,
    PLAIN_SOURCE_TYPES,
    GradientRequest,
    Unconnected,
    convert_output_gradients,
    flatten_targets,
    flatten_with_gradient_carriers,
    pack_gradients_like,
    replace_none_by_zeros,
    should_return_zeros,
)

MAX_REQUESTS = 64  # A tape remembers this many gradient calls, so that a picture can show them.


class GradientTape(RecordingTape):
    """Record operations in order to compute their gradients later.

    The tape watches trainable variables when they are read inside the ``with`` block, and tensors when they are passed
    to ``watch``. See https://www.tensorflow.org/api_docs/python/tf/GradientTape.

    Args:
        persistent: Whether the tape can compute several gradients. Otherwise, it computes one gradient or one Jacobian.
        watch_accessed_variables: Whether the tape watches trainable variables when they are read. If False, it watches
            only values that are passed to ``watch``.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    _warns_of_none = False  # minitape.explain.warn sets this for all tapes, which then warn about None gradients.

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
        """Compute the gradient of a target, or of the sum of several targets, with respect to the sources.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#gradient.

        Args:
            target: A tensor, a variable, or a nested structure of them.
            sources: A tensor, a variable, or a nested structure of them.
            output_gradients: The adjoint that each target starts with, in the order of the targets. None means
                all ones. Each adjoint has the dtype of its target and a shape that broadcasts to the target's shape.
            unconnected_gradients: The gradient of a source that the target does not depend on: "none" for None, or
                "zero" for zeros.

        Returns:
            A tensor or None for each source, in the structure of ``sources``. Each tensor has the shape and dtype of
            its source.

        Raises:
            RuntimeError: If the tape was never entered or is already used up.
            TypeError: If ``target`` is None.
            ValueError: If ``unconnected_gradients`` is neither "none" nor "zero".
            LookupError: If a gradient needs the derivative of an operation that has no registered gradient in
                TensorFlow.

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
        if self.is_used or self.is_recording or self._record is None:
            self._begin_gradient()
        returns_zeros = unconnected_gradients is not NONE and should_return_zeros(unconnected_gradients)
        targets = [target] if type(target) is EagerTensor else flatten_targets(target)
        is_single = type(sources) in PLAIN_SOURCE_TYPES
        if is_single:
            values = carriers = [sources]
        else:
            values, carriers = flatten_with_gradient_carriers(sources)
        adjoints = [None] * len(targets)
        if output_gradients is not None:
            adjoints = convert_output_gradients(output_gradients, len(targets))
        try:
            gradients = compute_gradients(self, targets, carriers, adjoints)
        except LookupError as error:
            raise hooks.add_unregistered_op_note(error, self, targets, carriers)  # noqa: B904 - It is the same error.
        place = find_user_place(_getframe(1))
        if not tapes:  # Otherwise, the rows of the outer tape show where the gradients came from.
            set_gradient_origins(gradients, targets, carriers, place)
        nones = [*map(is_, gradients, repeat(None))]
        if returns_zeros:
            gradients = replace_none_by_zeros(gradients, carriers)
        results = gradients if returns_zeros else ()
        self.last_request = new_tuple(GradientRequest, (targets, carriers, adjoints, nones, "gradient", results))
        self._end_gradient(place)
        return gradients[0] if is_single else pack_gradients_like(sources, values, gradients)

    def _begin_gradient(self) -> None:
        """Check that the tape can compute a gradient, and stop recording unless the tape is persistent.

        Raises:
            RuntimeError: If the tape was never entered, or is used up.
        """
        if self.is_used or self._record is None:
            raise tape_errors.build_used_up_error(self)
        if self.is_recording:
            if self.is_persistent:
                tape_errors.warn_gradient_inside_block()
            else:
                self._leave()

    def _end_gradient(self, place: Place) -> None:
        """Finish the gradient call in ``last_request``. A tape that is not persistent is then used up.

        Once all tapes of the recording are used up, the recording releases its large arrays.

        Args:
            place: The user's statement that called the method.
        """
        record = self._record
        request = self.last_request
        assert record is not None and request is not None
        if record.listeners:
            record.notify_listeners()
        if True in request.is_none:
            # If the None later causes an error, a note on the error can explain the None.
            state.memory.last_none_tape = ref(self)
            if self._warns_of_none and request.method == "gradient":
                hooks.warn_once_per_reason_for_none(
                    self, request.targets, [*compress(request.sources, request.is_none)]
                )
        if self.is_persistent:
            if len(self.requests) < MAX_REQUESTS:
                self.requests = append_to_list_or_tuple(self.requests, request)
        else:
            self.is_used = True
            self.history.append(("gradient", record.next, None, (place[:2],) if place else ()))
            if record.has_large_arrays and (
                record.tape_count == 1
                or all(other_tape is None or other_tape.is_used for other_tape in record.list_tapes_or_none_if_gone())
            ):
                release_large_arrays(record, record.leaves)

    @overload
    def jacobian(
        self,
        target: Structure,
        sources: GradientSource,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: OptionalNumber = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None: ...
    @overload
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: OptionalNumber = None,
        experimental_use_pfor: bool = True,
    ) -> Structure: ...
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: Unconnected = NONE,
        parallel_iterations: OptionalNumber = None,
        experimental_use_pfor: bool = True,
    ) -> Structure:
        """Compute the Jacobian of ``target`` with respect to each source, in one sweep.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#jacobian.

        Args:
            target: A tensor or a variable.
            sources: A tensor, a variable, or a nested structure of them.
            unconnected_gradients: "none" or "zero", as for ``gradient``.
            parallel_iterations: Has no effect, except that 1 raises an error, as in TensorFlow.
            experimental_use_pfor: Has no effect, except that False requires a persistent tape, as in TensorFlow.

        Returns:
            A tensor of shape ``target.shape + source.shape`` or None for each source, in the structure of ``sources``.

        Raises:
            RuntimeError: If the tape was never entered, or is used up.
            ValueError: If ``parallel_iterations`` is too small, or ``unconnected_gradients`` is not "none" or "zero".

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
        parallel_iterations: OptionalNumber = None,
        experimental_use_pfor: bool = True,
    ) -> Result:
        """Compute the Jacobian of each example in a batch.

        See https://www.tensorflow.org/api_docs/python/tf/GradientTape#batch_jacobian.

        Args:
            target: A tensor or a variable of rank 2 or more. Its first axis is the batch axis.
            source: A tensor or a variable of rank 2 or more, with the same batch axis.
            unconnected_gradients: "none" or "zero". As in TensorFlow, both return zeros if the target does not depend
                on the source.
            parallel_iterations: Has no effect, except that 1 raises an error, as in TensorFlow.
            experimental_use_pfor: Has no effect, except that False requires a persistent tape, as in TensorFlow.

        Returns:
            A tensor of shape ``[batch] + target.shape[1:] + source.shape[1:]``.

        Raises:
            RuntimeError: If the tape was never entered, or is used up.
            ValueError: If the batch axes differ, a rank is below 2, or ``parallel_iterations`` is too small.

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
        """Explain for each source why its gradient is None, or report that it is connected.

        The method may be called before or after ``gradient``, even on a tape that is already used up.

        Args:
            target: A tensor, a variable, or a nested structure of them.
            sources: A tensor, a variable, or a nested structure of them.

        Returns:
            A :class:`minitape.explain.Explanation` for each source, in the structure of ``sources``. Its ``connected``
            attribute is true if there is a gradient. Otherwise, ``cause`` names the reason, ``line`` and ``filename``
            locate the statement that broke the chain, and ``message`` and ``fix`` explain it in words.

        >>> import minitape as tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.explain(y, x).cause
        'not_watched'
        """
        return hooks.explain(self, target, sources)

    # -- text and pictures of a tape ---------------------------------------------------------------

    def __repr__(self) -> str:
        """Return the number of rows that the tape has recorded, and the number of rows that it watches."""
        rows = sum(end - start for start, end in self.spans)
        if self.is_recording:
            rows += len(self._record or ()) - self.span_start
        return f"<GradientTape: {rows:,} rows, {len(self.watched):,} watched>"

    def __dir__(self) -> TextList:
        """Return the names for tab completion: TensorFlow's methods and ``explain``."""
        return "watch gradient jacobian batch_jacobian explain watched_variables reset stop_recording".split()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> TextsByName:
        """Return the picture that notebooks show for the tape, by MIME type.

        Args:
            include: Ignored. IPython passes it.
            exclude: Ignored. IPython passes it.
        """
        figure = hooks.draw(self)
        return {"text/plain": repr(figure).replace("Picture", "GradientTape"), "text/html": figure.html()}
