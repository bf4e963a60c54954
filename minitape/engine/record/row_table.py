"""The rows of a recording, as others read them: :mod:`minitape.engine.record.record` writes them, and says what they
are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .array_spec import ArraySpec
from .row_parts import CALL_COLUMN, VALUE_COLUMN, WIDTH, Call, Leaf, new_tuple

if TYPE_CHECKING:
    from ..types import Array, Columns

_get_first_row = itemgetter(0)
Span = TypeVar("Span", bound=tuple)  # it begins with its first row


def find_span(spans: Sequence[Span], row: int) -> Span:
    """Find the span with this row among spans that begin with their first row, in order."""
    return spans[bisect_right(spans, row, key=_get_first_row) - 1]


class RowCells(NamedTuple):
    """The cells of a row that are integers."""

    op: int
    a: int
    b: int
    site: int


class RowTable:
    """The rows of a recording, as a sweep, a picture and ``explain`` read them."""

    rows: list[Any]  # six cells of each row, one row after the other, but for those that are packed
    base: int  # how many rows are packed, see minitape.speed.packed_rows: the number of the first that is not
    next: int  # the number of the row that is written next
    segments: list[tuple[int, CodeType, int | None]]  # (first row, the code that ran from there on, its one statement)
    leaves: dict[int, Leaf]
    has_calls: bool

    def __len__(self) -> int:
        return self.next

    def read_all_cells(self, row: int) -> Sequence[Any]:  # six cells of five types
        """Return (op, a, b, call, site, value) of a row."""
        return self.rows[WIDTH * row : WIDTH * row + WIDTH]

    def get_value_or_spec(self, row: int) -> Array:
        """Return the value of a row: a number, an array, or the spec of one."""
        return self.rows[WIDTH * row + VALUE_COLUMN]

    def __getitem__(self, row: int) -> Array:  # where the values are read as those of a list are
        return self.get_value_or_spec(row)

    def store_value(self, row: int, value: Array) -> None:
        """Store a value for a row: an array that a rule will read, or the spec of an array that no rule reads."""
        self.rows[WIDTH * row + VALUE_COLUMN] = value

    def read_columns(self, low: int = 0, high: int | None = None) -> Columns:
        """Return the six columns of the rows from ``low`` to before ``high``, as lists; right also while another thread
        appends.
        """
        rows = self.rows[WIDTH * low : None if high is None else WIDTH * high]
        return [rows[k::WIDTH] for k in range(WIDTH)]

    def read_column(self, index: int) -> list:  # numbers, calls, sites or values
        """Return one of the six columns."""
        return self.read_columns()[index] if self.base else self.rows[index::WIDTH]

    def read_integer_cells(self, row: int) -> RowCells:
        """Return (op, a, b, site) of a row."""
        op, a, b, _, site, _ = self.read_all_cells(row)
        return new_tuple(RowCells, (op, a, b, site))

    def get_call(self, row: int) -> Any:  # not `Call | None`: readers have looked at `op`
        """Return the call that a row is an output of; None for a leaf and for an elementwise operation."""
        return self.read_all_cells(row)[CALL_COLUMN]

    @property
    def calls(self) -> list[Call]:
        """The calls, each once, in order."""
        return [*dict.fromkeys(filter(None, self.read_column(CALL_COLUMN)))] if self.has_calls else []

    def get_value_or_none(self, row: int) -> Array:
        """Return the value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        value = self.get_value_or_spec(row)
        return None if type(value) is ArraySpec else value

    def get_shape_and_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """Return the shape and the NumPy dtype of a row."""
        value = self.get_value_or_spec(row)
        return value.shape, value.dtype

    def find_site(self, row: int) -> tuple[CodeType, int] | None:
        """Return (code, bytecode offset) of the user's statement that wrote a row; None where it is not known."""
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed_offset = find_span(self.segments, row)
        return code, self.read_integer_cells(row).site if fixed_offset is None else fixed_offset

    def is_python_number(self, row: int) -> bool:
        """Return whether a row is a Python number, of which no program can want a gradient."""
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None
