"""Store the state of a thread: its open recording, its tapes, and what ``explain`` remembers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..tensor.variable import ResourceVariable
    from ..types import FirstRunInterface, Object, Returned, Scope
    from .provenance import EscapeLog
    from .record import Record


class ExplainMemory:
    """What a thread remembers for ``explain``.

    Attributes:
        retained_records: Released recordings that are kept without their large arrays
            (``Record.release``).
        is_explaining: Whether ``explain`` is running. Meanwhile, no retained recording is dropped, and the values that
            ``explain`` reads are not logged as escapes.
        escapes: The log of values that left for NumPy or Python (:func:`~.provenance.get_thread_escape_log`), or None
            before the first escape.
        last_none_tape: A weak reference to the last tape that returned a None gradient. Initially, a callable that
            returns None.
    """

    def __init__(self) -> None:
        """Create an empty memory."""
        self.retained_records: deque[Record] = deque()
        self.is_explaining = False
        self.escapes: EscapeLog | None = None
        self.last_none_tape: Object = type(None)


class ThreadState(threading.local):
    """The state of the current thread.

    Attributes:
        record: The recording to which operations append rows, or None if operations are not recorded. The field is set
            while a tape records, while a tape is paused by ``stop_recording()``, and during the first run of a
            function, which needs no tape.
        fixed_site: During a recorded sweep or a replay of a function, the (code, bytecode offset) of the statement to
            which all rows belong. Otherwise, None.
        tapes: The tapes that are recording. The innermost tape comes last.
        read_variables: For each open block that collects variables, a dictionary of the variables that were read in it,
            keyed by id.
        memory: What the thread remembers for ``explain``.
    """

    record: Record | None = None
    fixed_site: tuple[CodeType, int] | None = None
    _scope: Scope = ()

    def __init__(self) -> None:
        """Create the state of a thread. Python calls this once for each thread."""
        self.tapes: list[GradientTape] = []
        self.read_variables: tuple[dict[int, ResourceVariable], ...] = ()
        self.memory = ExplainMemory()

    @property
    def scope(self) -> Scope:
        """The names of the open ``tf.name_scope`` blocks. The open recording stores every change."""
        return self._scope

    @scope.setter
    def scope(self, path: Scope) -> None:
        self._scope = path
        if self.record is not None:
            self.record.scopes = append_to_list_or_tuple(self.record.scopes, (self.record.next, path))


state = ThreadState()


def get_current_first_run() -> FirstRunInterface | None:
    """Return the first run of a ``tf.function`` that this thread is executing, or None."""
    record = state.record
    return None if record is None else record.first_run


def append_to_list_or_tuple(items: Sequence[Returned], item: Returned) -> list[Returned]:
    """Append an item to a list and return the list.

    Empty fields share the tuple (). This function converts the tuple to a list.

    Args:
        items: A list, which is changed in place, or a tuple.
        item: The item to append.

    Returns:
        `items` itself if it is a list, otherwise a new list.
    """
    appended = items if type(items) is list else [*items]
    appended.append(item)
    return appended
