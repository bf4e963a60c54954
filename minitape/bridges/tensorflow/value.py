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

from ...engine.recording.block import block
from ...recording.sites import Site
from ..kept_values import KeptValues

unrecorded = block(record.stop_recording.__wrapped__)  # TensorFlow's, which ends at once where Ctrl-C comes


class TensorFlowValue(KeptValues):
    """A tensor, to be shown on demand. TensorFlow's tensors do not change."""

    __slots__ = ("_left",)

    @property
    def known(self) -> Any:
        """The tensor; also when it is a summary here, while other code has it. Then its shape and dtype (a
        ``tf.TensorSpec``).
        """
        if self.given is not None:
            return self.given
        ref, spec = self._left
        tensor = ref()
        return spec if tensor is None else tensor

    @property
    def is_gone(self) -> bool:
        """Whether the tensor is gone."""
        return isinstance(self.known, tf.TensorSpec)

    def summarize(self) -> None:
        if self.given is not None:  # Ctrl-C may have come after half of this
            self._left = weakref.ref(self.given), tf.TensorSpec(self.given.shape, self.given.dtype)
        super().summarize()

    def array(self) -> np.ndarray | None:
        """Its elements; None for what has none, such as a resource."""
        tensor = self.known
        if isinstance(tensor, tf.IndexedSlices):
            with unrecorded():
                tensor = tf.convert_to_tensor(tensor)
        if isinstance(tensor, tf.TensorSpec) or tensor.dtype in (tf.resource, tf.variant, tf.string):
            return None
        return tensor._numpy()  # not .numpy(): that is where a program's values leave TensorFlow


class TensorFlowExtra:
    """What explain asks about a row of TensorFlow: the row ``of`` a tensor's value or a variable's handle."""

    __slots__ = "of why came op late function at way".split()

    def __init__(self, of: Any, why: str = "", op: str = "") -> None:
        self.of, self.why, self.op = of, why, op
        self.came: Sequence[int] = ()
        self.late = False  # watched after it was used
        self.function: Any = None  # of a call of a tf.function
        self.way: Sequence[Site] = ()  # of what no tape recorded: its line, and the calls that led there
        self.at: int | None = None  # how many rows were there, where that is not the row's own number

    @property
    def asked(self) -> Any:
        """Of what a sweep is asked: the handle, or the tensor (:attr:`TensorFlowValue.known`)."""
        return self.of.known if isinstance(self.of, TensorFlowValue) else self.of


class Tape:
    """What explain asks about a tape. While the program has the tape, ``held`` is what it recorded: a sweep is asked
    for their adjoints.
    """

    __slots__ = ("ref", "held", "_watch_accessed_variables")

    def __init__(self, tape: Any) -> None:
        self.held = held = list[Any]()
        self.ref = weakref.ref(tape, lambda _: held.clear())
        self._watch_accessed_variables = tape._watch_accessed_variables


class VariableValue(NamedTuple):
    """A variable that the program read or changed."""

    handle: Any
    variable: Any


class OptimizerStep(NamedTuple):
    """An optimizer changes variables: where, the identities of their handles, and when there were so many rows."""

    site: Site
    handles: set[int]
    at: int


class Made(NamedTuple):
    """A gradient that a tape gave back: it knows nothing of what it was computed from."""

    targets: list[int]
    way: list[Site]
    before: int


class TracedValue(NamedTuple):
    """A gradient that a tape was asked for while a function was traced."""

    graph: Any
    step: Any
    target: Any
    sources: Any
    before: int  # so many eager backward passes had run
