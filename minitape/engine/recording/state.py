"""The state of a thread: its open recording, its active tapes, and what it remembers for ``explain``."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..tensor.variable import ResourceVariable
    from ..types import Made, Object, TracedRun
    from .evidence import ValuesLeft
    from .record import Record


class Memory:
    """The memory of a thread, for ``explain``."""

    def __init__(self) -> None:
        self.retained: deque[Record] = deque()  # skeletons of released recordings, see Record.release
        self.explain_runs = False  # meanwhile no skeleton is released, and what it reads did not leave
        self.exits: ValuesLeft | None = None  # values that left to NumPy or Python, see evidence.exits
        self.gave_none: Object = type(None)  # a weak reference to the tape of which a gradient was None last


class State(threading.local):
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
        self.memory = Memory()

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the open ``tf.name_scope`` blocks; the open recording notes when they change."""
        return self._scope

    @scope.setter
    def scope(self, path: tuple[str, ...]) -> None:
        self._scope = path
        if self.record is not None:
            self.record.scopes = append_item(self.record.scopes, (self.record.next, path))


state = State()


def first_run() -> TracedRun | None:
    """The first run of a function that this thread is in."""
    record = state.record
    return None if record is None else record.trace


def append_item(items: Sequence[Made], item: Made) -> list[Made]:
    """Appends an item and returns the list. A tuple becomes a list first, so that recordings without items share ()."""
    found = items if type(items) is list else [*items]
    found.append(item)
    return found
