"""What a question about tapes reads of a recording, be it minitape's own tape or TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .rows import BackwardPass, RowExit
from .sites import Site


class TapeSpan(NamedTuple):
    """What happened to a tape."""

    word: str  # it "begins", "ends", "pauses", "goes on" or "resets",
    at: int  # at which row,
    way: Sequence[Site]  # and on which line, with the calls that led there
    tape: Any


class RecordedRun(Protocol):
    """The rows of what ran, inputs first and in the order of time, and what left and went back."""

    @property
    def entries(self) -> Sequence: ...  # each a RecordedRow
    @property
    def left(self) -> Sequence[RowExit]: ...
    @property
    def sweeps(self) -> Sequence[BackwardPass]: ...


class TapeLog(Protocol):
    """What is known beside the rows. A tape whose edges lead through variables and time has no spans and stores."""

    @property
    def tapes(self) -> Sequence: ...
    @property
    def spans(self) -> Sequence[TapeSpan]: ...
    @property
    def watches(self) -> Sequence[tuple[Callable[[], Any], Any]]: ...  # (what was watched, by which tape)
    @property
    def stores(self) -> Sequence[tuple[int, int | None, Site, int]]: ...  # (variable, the row stored, where, when)
    @property
    def variables(self) -> Mapping[int, Any]: ...  # by the identity of the handle

    def rows_of(self, value: Any) -> Sequence[int]:
        """All rows that stand for a tensor or a variable, in order."""
