"""The rows of a recording, as others read them: :mod:`minitape.engine.recording.record` writes them, and says what they
are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .array_spec import ArraySpec
from .rows import CALLS, VALUES, WIDTH, Call, Leaf

if TYPE_CHECKING:
    from ..types import Array, Columns

_first = itemgetter(0)
Span = TypeVar("Span", bound=tuple)  # it begins with its first row


def last_from(spans: Sequence[Span], row: int) -> Span:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]


class RowTable:
    """The rows of a recording, as a sweep, a picture and ``explain`` read them."""

    rows: list[Any]  # six cells of each row, one row after the other, but for those that are packed
    base: int  # how many rows are packed, see minitape.speed.packed: the number of the first that is not
    next: int  # the number of the row that is written next
    segments: list[tuple[int, CodeType, int | None]]  # (first row, the code that ran from there on, its one statement)
    leaves: dict[int, Leaf]
    has_calls: bool

    def __len__(self) -> int:
        return self.next

    def row(self, row: int) -> Sequence[Any]:  # six cells of five types
        """(op, a, b, call, site, value) of a row."""
        return self.rows[WIDTH * row : WIDTH * row + WIDTH]

    def value_or_spec(self, row: int) -> Array:
        """The value of a row: a number, an array, or the spec of one."""
        return self.rows[WIDTH * row + VALUES]

    def __getitem__(self, row: int) -> Array:  # where the values are read as those of a list are
        return self.value_or_spec(row)

    def store(self, row: int, value: Array) -> None:
        """Stores a value for a row: an array that a rule will read, or the spec of an array that no rule reads."""
        self.rows[WIDTH * row + VALUES] = value

    def columns(self, low: int = 0, high: int | None = None) -> Columns:
        """The six columns of the rows from ``low`` to ``high``, as lists; right also while another thread appends."""
        rows = self.rows[WIDTH * low : None if high is None else WIDTH * high]
        return [rows[k::WIDTH] for k in range(WIDTH)]

    def column(self, which: int) -> list:  # numbers, calls, sites or values
        """One of the six columns."""
        return self.columns()[which] if self.base else self.rows[which::WIDTH]

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        op, a, b, _, site, _ = self.row(row)
        return op, a, b, site

    def call_at(self, row: int) -> Any:  # not `Call | None`: readers have looked at `op`
        """The call that a row is an output of; None for a leaf and for an elementwise operation."""
        return self.row(row)[3]

    @property
    def calls(self) -> list[Call]:
        """The calls, each once, in order."""
        return [*dict.fromkeys(filter(None, self.column(CALLS)))] if self.has_calls else []

    def value(self, row: int) -> Array:
        """The value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        found = self.value_or_spec(row)
        return None if type(found) is ArraySpec else found

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the NumPy dtype of a row."""
        found = self.value_or_spec(row)
        return found.shape, found.dtype

    def site_of(self, row: int) -> tuple[CodeType, int] | None:
        """(code, bytecode offset) of the user's statement that wrote ``row``."""
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed = last_from(self.segments, row)
        return code, self.cell(row)[3] if fixed is None else fixed

    def is_number(self, row: int) -> bool:
        """Whether a row is a Python number, of which no program can want a gradient."""
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None
