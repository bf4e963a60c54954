"""The state of a thread, which is its open recording, its active tapes and its notes for ``explain``."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..tensor.variable import ResourceVariable
    from ..types import Object, Returned, TracedRun
    from .provenance import EscapeLog
    from .record import Record


class ExplainMemory:
    """The notes of a thread for ``explain``.

    Attributes:
        retained_records: The skeletons of released recordings (:func:`~.kept_arrays.release_record`).
        is_explaining: Whether ``explain`` is running. Meanwhile no skeleton is released, and the values that it reads
            do not count as escapes.
        escapes: The log of values that left for NumPy or Python (:func:`~.provenance.get_thread_escapes`); None before
            the first.
        last_none_tape: A weak reference to the tape whose gradient was None last. Before the first, it is a callable
            that returns None.
    """

    def __init__(self) -> None:
        """Begin without notes."""
        self.retained_records: deque[Record] = deque()
        self.is_explaining = False
        self.escapes: EscapeLog | None = None
        self.last_none_tape: Object = type(None)


class ThreadState(threading.local):
    """The state of the thread that reads it.

    Attributes:
        record: The recording to which operations append; None if no tape is open.
        fixed_site: (code, bytecode offset) of the statement to which all rows belong while a sweep is recorded or a
            function is replayed; None at other times.
        tapes: The tapes that record, the innermost last.
        read_variables: A dictionary for each open block that collects the variables read in it, by their ids.
        memory: The notes for ``explain``.
    """

    record: Record | None = None
    fixed_site: tuple[CodeType, int] | None = None
    _scope: tuple[str, ...] = ()

    def __init__(self) -> None:
        """Begin without tapes. Python calls this once for each thread."""
        self.tapes: list[GradientTape] = []
        self.read_variables: tuple[dict[int, ResourceVariable], ...] = ()
        self.memory = ExplainMemory()

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the open ``tf.name_scope`` blocks. The open recording stores each change."""
        return self._scope

    @scope.setter
    def scope(self, path: tuple[str, ...]) -> None:
        self._scope = path
        if self.record is not None:
            self.record.scopes = append_to_list_or_tuple(self.record.scopes, (self.record.next, path))


state = ThreadState()


def get_current_first_run() -> TracedRun | None:
    """Return the first run of a ``tf.function`` that this thread is executing; None if there is not any."""
    record = state.record
    return None if record is None else record.trace


def append_to_list_or_tuple(items: Sequence[Returned], item: Returned) -> list[Returned]:
    """Append an item to a list and return the list. A tuple becomes a list first, so that empty fields can share ().

    Args:
        items: A list, which is changed in place, or a tuple.
        item: The new last item.

    Returns:
        `items` itself if it is a list; otherwise a new list.
    """
    appended = items if type(items) is list else [*items]
    appended.append(item)
    return appended
