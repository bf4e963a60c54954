"""Blocks and questions about where operations go: ``name_scope``, ``init_scope``, ``control_dependencies``, ..."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..engine.recording.block import Elsewhere
from ..engine.recording.state import state


def init_scope() -> AbstractContextManager[None]:
    """Lifts the block out of functions that are being traced: what it does happens once. No tape records it.

    See https://www.tensorflow.org/api_docs/python/tf/init_scope.
    """
    return Elsewhere(record=None, tapes=[], by=None)


def executing_eagerly() -> bool:
    """True where tensors tell their values: outside of functions that are being traced.

    >>> import minitape as tf
    >>> tf.executing_eagerly(), bool(tf.function(lambda: tf.executing_eagerly())())
    (True, False)
    """
    return state.record is None or not state.record.traces


def control_dependencies(control_inputs: Any) -> AbstractContextManager:
    """Operations of the block run after ``control_inputs``: everything runs in its order anyway.

    >>> import minitape as tf
    >>> with tf.control_dependencies([]):
    ...     x = tf.constant(1.0)
    """
    for control in [control_inputs] if callable(control_inputs) else control_inputs or []:
        if callable(control):
            control()
    return nullcontext()


def no_op(name: str | None = None) -> None:
    """An operation that does nothing."""
