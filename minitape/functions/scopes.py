"""Blocks and questions about where operations go: ``name_scope``, ``init_scope``, ``control_dependencies``, ..."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..engine.recording.block import Elsewhere, InterruptSafeExit
from ..engine.recording.state import state


class name_scope:
    """Names made in the block are prefixed with ``name/``. ValueError for a name that is no string.

    See https://www.tensorflow.org/api_docs/python/tf/name_scope.

    >>> import minitape as tf
    >>> with tf.name_scope("layer"):
    ...     v = tf.Variable(1.0, name="w")
    >>> v.name
    'layer/w:0'
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._exits: list = []

    def __enter__(self) -> str:
        self._exits.append(state.scope)
        parts = tuple(p for p in self._name.split("/") if p)
        if not self._name:
            state.scope = ()
        else:
            state.scope = parts if self._name.endswith("/") else (*state.scope, *parts)
        return "/".join(state.scope) + "/" if state.scope else ""

    def _leave(self, *error: Any) -> None:
        state.scope = self._exits.pop()
        self._held = None

    __exit__: Any = InterruptSafeExit(_leave, lambda block: block._exits)


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
