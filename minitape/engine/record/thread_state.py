"""The state of a thread: its open recording, its active tapes, and what it remembers for ``explain``."""

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
    """The memory of a thread, for ``explain``."""

    def __init__(self) -> None:
        self.retained_records: deque[Record] = (
            deque()
        )  # skeletons of released recordings, see kept_arrays.release_record
        self.is_explaining = False  # meanwhile no skeleton is released, and what it reads did not leave
        self.escapes: EscapeLog | None = None  # values that left to NumPy or Python, see provenance.get_thread_escapes
        self.last_none_tape: Object = type(None)  # a weak reference to the tape of which a gradient was None last


class ThreadState(threading.local):
    """The state of this thread: six fields."""

    record: Record | None = None  # to which operations append
    # the statement to which all rows belong while a sweep is recorded or a function replayed: its code and offset
    fixed_site: tuple[CodeType, int] | None = None
    _scope: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.tapes: list[GradientTape] = []  # that record, the innermost last
        self.read_variables: tuple[
            dict[int, ResourceVariable], ...
        ] = ()  # each collects the variables that are read in a block
        self.memory = ExplainMemory()

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the open ``tf.name_scope`` blocks; the open recording notes when they change."""
        return self._scope

    @scope.setter
    def scope(self, path: tuple[str, ...]) -> None:
        self._scope = path
        if self.record is not None:
            self.record.scopes = append_to_list_or_tuple(self.record.scopes, (self.record.next, path))


state = ThreadState()


def get_current_first_run() -> TracedRun | None:
    """Return the first run of a function that this thread is in; None outside of one."""
    record = state.record
    return None if record is None else record.trace


def append_to_list_or_tuple(items: Sequence[Returned], item: Returned) -> list[Returned]:
    """Append an item and return the list. A tuple becomes a list first, so that recordings without items share ()."""
    appended = items if type(items) is list else [*items]
    appended.append(item)
    return appended
