"""Read the rows of a recording.

The docstring of :mod:`minitape.engine.record.record`, which writes the rows, describes their six cells.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from types import CodeType
from typing import Any, NamedTuple, TypeVar

from ..types import Array, Columns, OptionalNumber, ShapeAndDtype
from .array_spec import ArraySpec
from .row_parts import CALL_COLUMN, VALUE_COLUMN, WIDTH, Call, Leaf, new_tuple

_get_first_row = itemgetter(0)
Span = TypeVar("Span", bound=tuple)  # The first field of a span is its first row.


def find_span(spans: Sequence[Span], row: int) -> Span:
    """Find the span that contains a row.

    Args:
        spans: Tuples in ascending order. The first field of each is the first row of a span.
        row: A row number that is not before the first span.

    Returns:
        The last span that begins at the row or before it.
    """
    return spans[bisect_right(spans, row, key=_get_first_row) - 1]


class RowCells(NamedTuple):
    """The integer cells of a row.

    Attributes:
        code: The code of the operation.
        a: The first input row of an elementwise operation.
        b: The second input row, or `a` again if there is only one input.
        offset: The bytecode offset of the user's statement.
    """

    code: int
    a: int
    b: int
    offset: int


class RowTable:
    """The rows of a recording, with the methods that sweeps, pictures and ``explain`` use to read them.

    Attributes:
        rows: The cells of all rows that are not packed, six per row, in one flat list.
        base: The number of packed rows (:mod:`minitape.speed.packed_rows`). The first row in `rows` has this number.
        next: The number of the next row.
        segments: (first row, code, fixed offset) for consecutive rows that were written by the same code object. The
            offset is None unless all these rows belong to one statement.
        leaves: The :class:`~minitape.engine.record.row_parts.Leaf` of each leaf row, keyed by row.
        has_calls: Whether any row is the output of a call.
    """

    rows: list[Any]  # The cells of a row have five different types.
    base: int
    next: int
    segments: list[tuple[int, CodeType, OptionalNumber]]
    leaves: dict[int, Leaf]
    has_calls: bool

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.next

    def read_all_cells(self, row: int) -> Sequence[Any]:  # The cells have five different types.
        """Return the six cells of a row: code, a, b, call, offset and value.

        Args:
            row: The row number.
        """
        return self.rows[WIDTH * row : WIDTH * row + WIDTH]

    def get_value_or_spec(self, row: int) -> Array:
        """Return the value of a row: a scalar, an array, or the :class:`ArraySpec` of an array that was not kept.

        Args:
            row: The row number.
        """
        return self.rows[WIDTH * row + VALUE_COLUMN]

    def __getitem__(self, row: int) -> Array:
        """Return the value or spec of a row, as if the recording were a list of values."""
        return self.get_value_or_spec(row)

    def store_value(self, row: int, value: Array) -> None:
        """Replace the value of a row.

        Args:
            row: The row number.
            value: An array that a rule will read, or the spec of an array that no rule reads.
        """
        self.rows[WIDTH * row + VALUE_COLUMN] = value

    def read_columns(self, low: int = 0, high: OptionalNumber = None) -> Columns:
        """Return the six columns of a range of rows as lists. Another thread may append rows at the same time.

        Args:
            low: The first row.
            high: The row after the last one. None selects all rows from `low` on.

        Returns:
            The columns code, a, b, call, offset and value.
        """
        rows = self.rows[WIDTH * low : None if high is None else WIDTH * high]
        return [rows[k::WIDTH] for k in range(WIDTH)]

    def read_column(self, index: int) -> list:  # The column determines the type of the elements.
        """Return one column of all rows.

        Args:
            index: The position of the column, such as `VALUE_COLUMN`.
        """
        return self.read_columns()[index] if self.base else self.rows[index::WIDTH]

    def read_integer_cells(self, row: int) -> RowCells:
        """Return the integer cells of a row.

        Args:
            row: The row number.
        """
        code, a, b, _, offset, _ = self.read_all_cells(row)
        return new_tuple(RowCells, (code, a, b, offset))

    def get_call(self, row: int) -> Any:  # The type is Any, because `Call | None` would force callers to check again.
        """Return the :class:`Call` that computed a row, or None for a leaf or an elementwise operation.

        Args:
            row: The row number.
        """
        return self.read_all_cells(row)[CALL_COLUMN]

    @property
    def calls(self) -> list[Call]:
        """The calls of the recording, in order. A call with several outputs is listed only once."""
        return [*dict.fromkeys(filter(None, self.read_column(CALL_COLUMN)))] if self.has_calls else []

    def get_value_or_none(self, row: int) -> Array:
        """Return the value of a row, a NumPy scalar or array, or None if the array was released or never kept.

        Args:
            row: The row number.
        """
        value = self.get_value_or_spec(row)
        return None if type(value) is ArraySpec else value

    def get_shape_and_dtype(self, row: int) -> ShapeAndDtype:
        """Return the shape and the NumPy dtype of a row's value, even if the value was not kept.

        Args:
            row: The row number.
        """
        value = self.get_value_or_spec(row)
        return value.shape, value.dtype

    def find_site(self, row: int) -> tuple[CodeType, int] | None:
        """Find the user's statement that wrote a row.

        Args:
            row: The row number.

        Returns:
            (code, bytecode offset), or None if the statement is unknown.
        """
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed_offset = find_span(self.segments, row)
        return code, self.read_integer_cells(row).offset if fixed_offset is None else fixed_offset

    def is_python_number(self, row: int) -> bool:
        """Return whether a row is a Python number. No program can ask for a gradient with respect to such a row.

        Args:
            row: The row number.
        """
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None
