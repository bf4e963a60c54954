"""Define the objects that a TensorFlow recording keeps.

A recording keeps tensors for later display, and the facts about rows, tapes and variables that ``explain`` needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from ...engine.record.interrupt_safe import make_interrupt_safe_context_manager
from ...engine.types import OptionalNumber, RowList
from ...recording.recorded_rows import OptionalArray, TapeStateChange
from ...recording.sites import CallStack, Site
from ..kept_values import KeptValue

# On Ctrl-C, this version of TensorFlow's stop_recording() resumes recording immediately.
pause_recording = make_interrupt_safe_context_manager(record.stop_recording.__wrapped__)


class TensorFlowValue(KeptValue):
    """A tensor that can be shown later. TensorFlow tensors do not change, so the tensor is not copied."""

    __slots__ = ("_released_tensor",)

    @property
    def tensor(self) -> Any:
        """Return the tensor if it still exists, even if only a summary is kept here.

        If the tensor no longer exists, return its ``tf.TensorSpec``.
        """
        if self.content is not None:
            return self.content
        reference, spec = self._released_tensor
        tensor = reference()
        return spec if tensor is None else tensor

    @property
    def is_tensor_freed(self) -> bool:
        """Return whether the tensor no longer exists."""
        return isinstance(self.tensor, tf.TensorSpec)

    def reduce_to_summary(self) -> None:
        """Release the tensor, keeping only a weak reference to it and its ``tf.TensorSpec``."""
        if self.content is not None:  # Ctrl-C may have interrupted an earlier release halfway.
            self._released_tensor = ref(self.content), tf.TensorSpec(self.content.shape, self.content.dtype)
        super().reduce_to_summary()

    def to_array(self) -> OptionalArray:
        """Return the tensor's elements, or None if it is a resource without elements or no longer exists."""
        tensor = self.tensor
        if isinstance(tensor, tf.IndexedSlices):
            with pause_recording():
                tensor = tf.convert_to_tensor(tensor)
        if isinstance(tensor, tf.TensorSpec) or tensor.dtype in (tf.resource, tf.variant, tf.string):
            return None
        return tensor._numpy()  # A .numpy() call would be recorded as an escape in the program.


@dataclass(slots=True, eq=False)
class TensorFlowExtra:
    """The facts about a row that only the TensorFlow checks need.

    Attributes:
        value_or_handle: The kept value of a tensor, or the handle of a variable.
        op: TensorFlow's name for the operation, or "" if no operation exists.
        is_watched_late: Whether a tape began to watch the row only after its first use.
        function_call: The ``tf.function`` call, if the row is one of its results.
        call_stack: For a row not recorded by any tape, its line and the calls that led to it.
        row_count: For a returned gradient, the number of rows that existed when it was returned. The value is None for
            all other rows.
    """

    value_or_handle: Any
    op: str = ""
    is_watched_late: bool = False
    function_call: FunctionCall | None = None
    call_stack: CallStack = ()
    row_count: OptionalNumber = None

    def find_object(self) -> Any:
        """Return a row's tensor or, for a variable, its handle. A sweep accepts tensors and handles as sources.

        If the tensor no longer exists, return its ``tf.TensorSpec`` (see :attr:`TensorFlowValue.tensor`).
        """
        if isinstance(self.value_or_handle, TensorFlowValue):
            return self.value_or_handle.tensor
        return self.value_or_handle


class TapeReference:
    """The facts about a tape that ``explain`` needs.

    Attributes:
        tape_ref: A weak reference to the ``tf.GradientTape``.
        kept_tensors: The tensors that the tape may have recorded, kept so that a sweep can compute their adjoints.
            These tensors are released together with the tape.
    """

    __slots__ = ("tape_ref", "kept_tensors", "_watch_accessed_variables")

    def __init__(self, tape: Any):
        """Refer to a tape without keeping it alive."""
        self.kept_tensors = kept_tensors = list[Any]()
        self.tape_ref = ref(tape, lambda _: kept_tensors.clear())
        self._watch_accessed_variables = tape._watch_accessed_variables


class TapeHistory:
    """Records when the tapes in a block began, paused and ended, and which values were passed to ``watch``.

    Attributes:
        tapes: The tapes that began in the block, in order.
        state_changes: The state-change events of all tapes, in order.
        explicit_watches: For each ``tape.watch`` call, a weak reference to the value, and the tape.
    """

    def __init__(self) -> None:
        """Start with empty lists of tapes and events."""
        self.tapes: list[TapeReference] = []
        self.state_changes: list[TapeStateChange] = []
        self.explicit_watches: list[tuple] = []
        self._open_tapes: list[TapeReference] = []
        self._tensors_before_block: list = []  # A tape that began before the block may have recorded these tensors.

    def find_stored_or_build_unstored_reference(self, tape: Any) -> TapeReference:
        """Return the stored reference to a tape. For an unknown tape, return a new reference without storing it.

        Args:
            tape: The ``tf.GradientTape``.
        """
        for reference in reversed(self.tapes):
            if reference.tape_ref() is tape:
                return reference
        return TapeReference(tape)

    def record_tape_event(self, event: str, tape: Any, row_count: int, call_stack: CallStack) -> None:
        """Record a tape event.

        Args:
            event: "begins", "ends", "pauses", "resumes" or "resets".
            tape: The ``tf.GradientTape``.
            row_count: The number of existing rows.
            call_stack: The statements that are running, outermost first.
        """
        reference = self.find_stored_or_build_unstored_reference(tape)
        if event == "begins":
            self.tapes.append(reference)
            self._open_tapes.append(reference)
        elif event == "ends":
            self._open_tapes = [other for other in self._open_tapes if other is not reference]
        self.state_changes.append(TapeStateChange(event, row_count, call_stack, reference))

    def keep_tensor_for_open_tapes(self, tensor: Any) -> None:
        """Keep a tensor alive as long as an open tape may record it."""
        for tensors in [tape.kept_tensors for tape in self._open_tapes] or [self._tensors_before_block]:
            tensors.append(tensor)

    def release_kept_tensors(self) -> None:
        """Release all tensors at the end of the block, after which no sweep computes adjoints."""
        for tensors in (self._tensors_before_block, *(tape.kept_tensors for tape in self.tapes)):
            tensors.clear()


class OptimizerStep(NamedTuple):
    """An optimizer step that changes variables.

    Attributes:
        site: The line of the step.
        handle_ids: The handle identities of the changed variables.
        row_count: The number of rows before the step.
        new_class: The name of the optimizer's class if this is its first step, otherwise "".
    """

    site: Site
    handle_ids: set[int]
    row_count: int
    new_class: str


class ReturnedGradient(NamedTuple):
    """A gradient that a tape returned without a connection to the values from which it was computed.

    Attributes:
        target_rows: The targets' rows.
        call_stack: The statements that were running, outermost first.
        row_count: The number of existing rows.
        source_id: The identity of the tensor or handle that the gradient belongs to.
    """

    target_rows: RowList
    call_stack: CallStack
    row_count: int
    source_id: int


@dataclass(slots=True, eq=False)
class FunctionCall:
    """A ``tf.function`` call, with everything needed to repeat it.

    Attributes:
        function: The ``tf.function``, or None if the program called a graph directly.
        arguments: The positional and keyword arguments, with kept values in place of tensors.
        call_stack: The statements that were running, outermost first.
        sweep_count: The number of eager backward passes before the call.
        graph: The graph that ran, or None if tracing raised an error.
        variable_states: The graph's variables, each with the row of its state before the call.
    """

    function: Any
    arguments: Any
    call_stack: CallStack
    sweep_count: int
    graph: Any = None
    variable_states: list[tuple[Any, int]] = field(default_factory=list)


class RowLimitReached(BaseException):
    """Raised if a repeated call exceeds the row limit of its recording.

    This class derives from `BaseException` so that programs do not catch it.
    """


def build_tensor_of_placeholder_values(spec: Any) -> Any:
    """Build a tensor of a given shape and dtype, filled with placeholder values.

    Integer tensors contain zeros and ones, because integers may stand for classes, words or a mask. Float tensors
    contain values between 0.2 and 0.8.

    Args:
        spec: An object with a shape and a dtype, such as a ``tf.TensorSpec``. An unknown dimension gets the size 2.
    """
    shape = [] if spec.shape.rank is None else [2 if size is None else size for size in spec.shape]
    if spec.dtype.is_floating:
        return tf.constant(np.random.default_rng(0).uniform(0.2, 0.8, shape), spec.dtype)
    return tf.constant(np.indices(shape).sum(0) % 2, spec.dtype)
