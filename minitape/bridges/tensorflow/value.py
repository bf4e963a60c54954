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
from ...recording.rows import TapeSpan
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
        self.function: FunctionCall | None = None  # of a call of a tf.function
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


class TapeTimes:
    """When the tapes of a block began, ended and paused, and what they were told to watch."""

    def __init__(self) -> None:
        self.known: list[Tape] = []
        self.spans: list[TapeSpan] = []
        self.watches: list[tuple] = []  # (what was watched, by which tape)
        self._open: list[Tape] = []
        self._early: list = []  # what a tape may have recorded that began before the block

    def of(self, tape: Any) -> Tape:
        """What is known of a tape."""
        return next((known for known in reversed(self.known) if known.ref() is tape), None) or Tape(tape)

    def note(self, word: str, tape: Any, row: int, way: list[Site]) -> None:
        """A tape begins, ends, pauses, goes on, or is reset."""
        known = self.of(tape)
        if word == "begins":
            self.known.append(known)
            self._open.append(known)
        elif word == "ends":
            self._open = [other for other in self._open if other is not known]
        self.spans.append(TapeSpan(word, row, way, known))

    def hold(self, tensor: Any) -> None:
        """A tensor lives as long as a tape that records it."""
        for held in [tape.held for tape in self._open] or [self._early]:
            held.append(tensor)

    def forget(self) -> None:
        """The block is over: no sweep is asked for anything more."""
        for held in (self._early, *(tape.held for tape in self.known)):
            held.clear()


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


class FunctionCall:
    """A call of a ``tf.function``: what it takes to run it again."""

    __slots__ = "function given way before graph states".split()

    def __init__(self, function: Any, given: Any, way: Sequence[Site], before: int) -> None:
        self.function, self.given, self.way = function, given, way
        self.before = before  # so many eager backward passes had run
        self.graph: Any = None  # there is none where it raised while it was traced
        self.states: list[tuple[Any, int]] = []  # its variables, and the rows of their values


class TooLong(BaseException):
    """A call that runs again has more rows than a recording takes; programs do not catch it."""


def some(like: Any) -> Any:
    """Numbers of a shape and dtype; of whole numbers, which may be classes, words or a mask, zeros and ones."""
    shape = [] if like.shape.rank is None else [2 if size is None else size for size in like.shape]
    numbers = (
        np.random.default_rng(0).uniform(0.2, 0.8, shape) if like.dtype.is_floating else np.indices(shape).sum(0) % 2
    )
    return tf.constant(numbers, like.dtype)
