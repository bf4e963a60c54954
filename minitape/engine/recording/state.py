"""What a thread is doing: its open recording and its active tapes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..tensor.variable import ResourceVariable
    from ..types import Made, Object
    from .evidence import ValuesLeft
    from .record import Record


class State(threading.local):
    """What this thread is doing: its open recording and its active tapes."""

    record: Record | None = None
    graph = None  # asked by the functions of ``tf`` until they know none
    by: GradientTape | None = None  # the tape whose sweep is writing rows, None for the user's own
    # to which all rows belong while a sweep is recorded or a function replayed
    site: tuple[CodeType, int] | None = None
    _scope: tuple[str, ...] = ()
    retained: deque[Record] | None = None  # skeletons of released recordings, see minitape.engine.recording.release
    looking = False  # explain looks: no skeleton is released meanwhile, and what it reads did not leave
    exits: ValuesLeft | None = None  # values that left to NumPy or Python, see minitape.engine.recording.evidence
    # the user's, while one statement of theirs runs, see evidence.one_statement
    frames: tuple[tuple[CodeType, int], ...] | None = None
    # a step that TensorFlow compiles; `compiled.stop(tensor, how)` is called before a value leaves a tensor
    compiled: Object = None
    trying = False  # a function runs on stand-ins of its arguments: it may not change a variable
    within = False  # a picture looks into a call of a function, see minitape.functions.recording
    scratch = False  # a layer runs on zeros for the shapes of its outputs: assignments come to nothing
    token: object = None  # another object whenever the active tapes change: tells variables to be watched anew

    def __init__(self) -> None:
        self.tapes: list[GradientTape] = []
        self.readers: tuple[dict[int, ResourceVariable], ...] = ()  # who wants to know which variables are read

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the open ``tf.name_scope`` blocks; the open recording notes when they change."""
        return self._scope

    @scope.setter
    def scope(self, path: tuple[str, ...]) -> None:
        self._scope = path
        if self.record is not None:
            self.record.scopes = appended(self.record.scopes, (len(self.record), path))


state = State()


def appended(items: Sequence[Made], item: Made) -> list[Made]:
    """Appends an item and returns the list. A tuple becomes a list first, so that recordings without items share ()."""
    found = items if type(items) is list else [*items]
    found.append(item)
    return found
