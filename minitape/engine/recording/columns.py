"""The rows of a recording, one after the other in a flat list. The columns are

op    0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of an elementwise operation
a, b  the rows of an elementwise operation's inputs (a == b for one input)
call  the :class:`Call` of a call: its primitive, inputs and attributes; None for other rows
site  the bytecode offset of the user's statement, turned into a line only on request
value a number, an array, or the :class:`~minitape.engine.recording.outlines.Outline` of an array that no rule reads
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..table.accelerator import fast
from .block import leave_ended
from .outlines import Outline
from .rows import CHUNK, WIDTH

if TYPE_CHECKING:
    from ..types import Array, Columns
    from .rows import Call

SMALL = 4096  # arrays up to this size are kept for the picture even where no rule reads them
CONTINUOUS = "fcV"  # the kinds of dtypes through which gradients flow; V is bfloat16's
_first = itemgetter(0)
Span = TypeVar("Span", bound=tuple)  # it begins with its first row


def last_from(spans: Sequence[Span], row: int) -> Span:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]


@fast.instead
class ColumnStore:
    """Rows, appended and read by number."""

    open = True
    small = SMALL
    rows: list  # op, a, b, call, site, value of each row

    def __init__(self) -> None:
        self.rows = []

    def __len__(self) -> int:
        return len(self.rows) // WIDTH

    def append(self, op: int, a: int, b: int, call: Call | None, site: int, value: Array = None) -> int:
        """Writes a row and returns its number."""
        row = len(self.rows) // WIDTH
        self.rows += (op, a, b, call, site, value)
        if row % CHUNK == CHUNK - 1:
            leave_ended()
        return row

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        op, a, b, _, site = self.rows[WIDTH * row : WIDTH * row + WIDTH - 1]
        return op, a, b, site

    def call_at(self, row: int) -> Any:  # not `Call | None`: readers have looked at `op`
        """The call that a row is an output of; None for a leaf and for an elementwise operation."""
        return self.rows[WIDTH * row + 3]

    def stored(self, row: int) -> Array:
        """The entry of a row in the column of values: a number, an array, or an outline."""
        return self.rows[WIDTH * row + 5]

    def store(self, row: int, value: Array) -> None:
        """Stores a value for a row: an array that a rule will read, or the outline of an array that no rule reads."""
        self.rows[WIDTH * row + 5] = value

    def columns(self, low: int = 0, high: int | None = None) -> Columns:
        """The six columns of the rows from ``low`` to ``high``, as lists; right also while another thread appends."""
        rows = self.rows[WIDTH * low : None if high is None else WIDTH * high]
        return [rows[k::WIDTH] for k in range(WIDTH)]

    def column(self, which: int) -> list:  # numbers, calls, sites or values
        """One of the six columns."""
        return self.rows[which::WIDTH]

    def clear(self) -> None:
        """Forgets all rows."""
        self.rows = []

    @property
    def calls(self) -> list[Call]:
        """The calls, each once, in order."""
        return [*dict.fromkeys(filter(None, self.column(3)))]

    def value(self, row: int) -> Array:
        """The value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        found = self.stored(row)
        return None if type(found) is Outline else found

    def large_arrays(self) -> dict[int, np.ndarray]:
        """The arrays beyond ``small`` that are held, by row."""
        return {
            row: value
            for row, value in enumerate(self.column(5))
            if type(value) is np.ndarray and value.size > self.small
        }

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the NumPy dtype of a row."""
        found = self.stored(row)
        return found.shape, found.dtype
