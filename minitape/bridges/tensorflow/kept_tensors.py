"""What a recording of TensorFlow keeps: tensors that are shown later, and what explain asks about rows, tapes and
variables.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from ...engine.record.interrupt_safe import make_interrupt_safe
from ...recording.recorded_rows import TapeStateChange
from ...recording.sites import Site
from ..kept_values import KeptValue

pause_recording = make_interrupt_safe(
    record.stop_recording.__wrapped__
)  # TensorFlow's, which ends at once where Ctrl-C comes


class TensorFlowValue(KeptValue):
    """A tensor, to be shown on demand. TensorFlow's tensors do not change."""

    __slots__ = ("_released_tensor",)

    @property
    def tensor(self) -> Any:
        """Return the tensor, also if only a summary is here and other code has it; else a ``tf.TensorSpec``."""
        if self.content is not None:
            return self.content
        reference, spec = self._released_tensor
        tensor = reference()
        return spec if tensor is None else tensor

    @property
    def is_tensor_freed(self) -> bool:
        """Return whether the tensor is gone."""
        return isinstance(self.tensor, tf.TensorSpec)

    def release_array(self) -> None:
        if self.content is not None:  # Ctrl-C may have come after half of this
            self._released_tensor = weakref.ref(self.content), tf.TensorSpec(self.content.shape, self.content.dtype)
        super().release_array()

    def to_array(self) -> np.ndarray | None:
        """Return its elements; None for what has none, such as a resource."""
        tensor = self.tensor
        if isinstance(tensor, tf.IndexedSlices):
            with pause_recording():
                tensor = tf.convert_to_tensor(tensor)
        if isinstance(tensor, tf.TensorSpec) or tensor.dtype in (tf.resource, tf.variant, tf.string):
            return None
        return tensor._numpy()  # not .numpy(): that is where a program's values leave TensorFlow


class TensorFlowExtra:
    """What explain asks about a row of TensorFlow: the row of a tensor's value or a variable's handle."""

    __slots__ = "value_or_handle cause origin_rows op is_watched_late function_call row_count call_stack".split()

    def __init__(self, value_or_handle: Any, cause: str = "", op: str = "") -> None:
        self.value_or_handle, self.cause, self.op = value_or_handle, cause, op
        self.origin_rows: Sequence[int] = ()
        self.is_watched_late = False  # watched after it was used
        self.function_call: FunctionCall | None = None  # of a call of a tf.function
        self.call_stack: Sequence[Site] = ()  # of what no tape recorded: its line, and the calls that led there
        self.row_count: int | None = None  # how many rows were there, where that is not the row's own number

    @property
    def tensor_or_handle(self) -> Any:
        """Return what a sweep is asked for: the handle, or the tensor (:attr:`TensorFlowValue.tensor`)."""
        return (
            self.value_or_handle.tensor if isinstance(self.value_or_handle, TensorFlowValue) else self.value_or_handle
        )


class TapeReference:
    """What explain asks about a tape. While the program has the tape, ``kept_tensors`` is what it recorded: a sweep is
    asked for their adjoints.
    """

    __slots__ = ("tape_ref", "kept_tensors", "_watch_accessed_variables")

    def __init__(self, tape: Any) -> None:
        self.kept_tensors = kept_tensors = list[Any]()
        self.tape_ref = weakref.ref(tape, lambda _: kept_tensors.clear())
        self._watch_accessed_variables = tape._watch_accessed_variables


class TapeHistory:
    """When the tapes of a block began, ended and paused, and what they were told to watch."""

    def __init__(self) -> None:
        self.tapes: list[TapeReference] = []
        self.state_changes: list[TapeStateChange] = []
        self.explicit_watches: list[tuple] = []  # (what was watched, by which tape)
        self._open_tapes: list[TapeReference] = []
        self._tensors_before_block: list = []  # what a tape may have recorded that began before the block

    def find_or_build_reference(self, tape: Any) -> TapeReference:
        """Return what is known of a tape; of an unknown one a new reference, which is not kept."""
        return next(
            (reference for reference in reversed(self.tapes) if reference.tape_ref() is tape), None
        ) or TapeReference(tape)

    def record_tape_event(self, event: str, tape: Any, row_count: int, call_stack: list[Site]) -> None:
        """Record that a tape begins, ends, pauses, goes on, or is reset."""
        reference = self.find_or_build_reference(tape)
        if event == "begins":
            self.tapes.append(reference)
            self._open_tapes.append(reference)
        elif event == "ends":
            self._open_tapes = [other for other in self._open_tapes if other is not reference]
        self.state_changes.append(TapeStateChange(event, row_count, call_stack, reference))

    def keep_tensor_for_open_tapes(self, tensor: Any) -> None:
        """Keep a tensor alive as long as the open tapes, which may record it."""
        for tensors in [tape.kept_tensors for tape in self._open_tapes] or [self._tensors_before_block]:
            tensors.append(tensor)

    def release_tensors(self) -> None:
        """Release all tensors when the block is over: no sweep is asked for anything more."""
        for tensors in (self._tensors_before_block, *(tape.kept_tensors for tape in self.tapes)):
            tensors.clear()


class OptimizerStep(NamedTuple):
    """An optimizer changes variables: where, the identities of their handles, and when there were so many rows."""

    site: Site
    handle_ids: set[int]
    row_count: int


class ReturnedGradient(NamedTuple):
    """A gradient that a tape gave back: it knows nothing of what it was computed from."""

    target_rows: list[int]
    call_stack: list[Site]
    row_count: int


class FunctionCall:
    """A call of a ``tf.function``: what it takes to run it again."""

    __slots__ = "function arguments call_stack sweep_count graph variable_states".split()

    def __init__(self, function: Any, arguments: Any, call_stack: Sequence[Site], sweep_count: int) -> None:
        self.function, self.arguments, self.call_stack = function, arguments, call_stack
        self.sweep_count = sweep_count  # so many eager backward passes had run
        self.graph: Any = None  # there is none where it raised while it was traced
        self.variable_states: list[tuple[Any, int]] = []  # its variables, and the rows of their values


class RowLimitReached(BaseException):
    """A call that runs again has more rows than a recording takes; programs do not catch it."""


def build_placeholder_tensor(spec: Any) -> Any:
    """Build a tensor of a shape and dtype, with numbers that are made up.

    Whole numbers, which may be classes, words or a mask, are zeros and ones.
    """
    shape = [] if spec.shape.rank is None else [2 if size is None else size for size in spec.shape]
    numbers = (
        np.random.default_rng(0).uniform(0.2, 0.8, shape) if spec.dtype.is_floating else np.indices(shape).sum(0) % 2
    )
    return tf.constant(numbers, spec.dtype)
