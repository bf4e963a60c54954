"""Define recordings that store their rows in packed blocks.

A block contains 32-bit integers and an array of values. Each row takes up 16 bytes plus the memory for its value.
"""

from __future__ import annotations

import struct
from _thread import get_ident
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from ..engine.record.interrupt_safe import leave_ended_tapes
from ..engine.record.row_parts import CHUNK, FLOAT_TYPES, WIDTH
from ..engine.record.row_table import find_span
from ..engine.record.thread_state import append_to_list_or_tuple
from ..engine.table.primitives.elementwise import FIRST_CODE

if TYPE_CHECKING:
    from ..engine.record.record import Record as PlainRecord
    from ..engine.types import Array, Columns, NumPyType, OptionalNumber
else:
    PlainRecord = object  # The plain class does not exist yet when this module is imported.

# This is added to the code of a packed elementwise row whose value is not a scalar. Kernels stop at such rows.
ARRAY_ROW = 256

# (first row, cells, values, calls) of a block (see :class:`PackedRecord`). The values are a list or an array, so their
# type is Any.
Block = tuple[int, ndarray, Any, dict[int, Any]]


def _pack_values(values: list, kinds: set[type], block: ndarray) -> Any:  # The result is a list or an array.
    """Return values as an array if they are scalars of the same type, or as the same list otherwise.

    In the second case, elementwise rows whose value is not a scalar are marked with ``ARRAY_ROW``.

    Args:
        values: The values of the rows.
        kinds: The types of all values in the recording.
        block: The integer cells of the rows, of shape (rows, 4).
    """
    if ndarray in kinds:
        kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= FLOAT_TYPES:
        return np.fromiter(values, next(iter(kinds)), len(values))
    arrays = [type(value) not in FLOAT_TYPES for value in values]
    block[arrays & (block[:, 0] >= FIRST_CODE), 0] += ARRAY_ROW
    return values


def _convert_to_numbers(values: Sequence, number_type: NumPyType) -> ndarray:
    """Return the values of a block as an array, with NaN for values that are not scalars of this type."""
    if type(values) is ndarray:
        return values
    return np.array([value if type(value) is number_type else np.nan for value in values], number_type)


def _read_packed_columns(blocks: Sequence[Block], first_row: int, end_row: int) -> Columns:
    """Return the six columns of the packed rows in a range.

    Args:
        blocks: The packed blocks. Another thread may append further blocks at the same time.
        first_row: The first row.
        end_row: The row after the last one.
    """
    columns: Columns = [[] for _ in range(WIDTH)]
    for block_start, block, values, calls in list(blocks):
        start = max(block_start, first_row)
        end = min(block_start + len(block), end_row)
        if start < end:
            block_part = slice(start - block_start, end - block_start)
            codes, first_inputs, second_inputs, offsets = block[block_part].T.tolist()
            codes = [code & (ARRAY_ROW - 1) for code in codes]
            packed_calls = map(calls.get, range(start, end))
            cells = (codes, first_inputs, second_inputs, packed_calls, offsets, values[block_part])
            for column, extension in zip(columns, cells, strict=True):
                column.extend(extension)
    return columns


class PackedRecord(PlainRecord):
    """A recording that packs all rows except the most recent ones.

    Attributes:
        blocks: The packed blocks, in order. Each block is (first row, cells, values, calls). ``cells`` is an int32
            array of shape (rows, 4) with the columns code, a, b and offset. ``values`` is a list, or an array if all
            values are scalars of the same type. ``calls`` maps row numbers to ``Call`` objects.
    """

    blocks: Sequence[Block]

    def pack_rows(self) -> bool:
        """Move the rows that were added since the last block into a new block.

        Returns:
            Whether rows were packed. False if another thread may be writing rows.
        """
        if self.is_opened_by_tape and get_ident() != self.thread:
            return False
        leave_ended_tapes()
        cells = self.rows.copy()
        if not cells:
            return True
        values = cells[5::WIDTH]
        calls = {row: call for row, call in enumerate(cells[3::WIDTH], self.base) if call} if self.has_calls else {}
        del cells[5::WIDTH]
        del cells[3 :: WIDTH - 1]
        block = np.frombuffer(bytearray(struct.pack(f"{len(cells)}i", *cells)), np.int32).reshape(-1, WIDTH - 2)
        values = _pack_values(values, self.kinds, block)
        self.blocks = append_to_list_or_tuple(self.blocks, (self.base, block, values, calls))
        self.rows.clear()  # The order matters, because a picture in another thread must never see a row twice.
        self.base += len(block)
        self.pack_limit = self.next + CHUNK
        return True

    @property
    def number_type(self) -> NumPyType | None:
        """The type of all scalars in the recording, or None if there are two types or there are no scalars.

        A compiled sweep needs scalars of a single type.
        """
        number_types = self.kinds & FLOAT_TYPES
        return next(iter(number_types)) if len(number_types) == 1 else None

    def build_number_column(self, number_type: NumPyType) -> ndarray:
        """Return the packed values as an array.

        Args:
            number_type: The dtype of the array.

        Returns:
            An array of shape (packed rows,), with NaN for values that are not scalars of this type.
        """
        columns = [_convert_to_numbers(values, number_type) for _, _, values, _ in self.blocks]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    def read_all_cells(self, row: int) -> Sequence[Any]:
        """Read the six cells of a row.

        Args:
            row: The number of the row, which may be packed.

        Returns:
            (code, a, b, call, offset, value).
        """
        if row >= self.base:
            return super().read_all_cells(row - self.base)
        block_start, block, values, calls = find_span(self.blocks, row)
        code, a, b, offset = block[row - block_start].tolist()
        return code & (ARRAY_ROW - 1), a, b, calls.get(row), offset, values[row - block_start]

    def get_value_or_spec(self, row: int) -> Array:
        """Return the value of a row: a scalar, an array, or the spec of an array that no rule reads.

        Args:
            row: The number of the row, which may be packed.
        """
        if row >= self.base:
            return self.rows[WIDTH * (row - self.base) + 5]
        block_start, _, values, _ = find_span(self.blocks, row)
        return values[row - block_start]

    def store_value(self, row: int, value: Array) -> None:
        """Replace the value of a row.

        Args:
            row: The number of the row, which may be packed.
            value: An array that a rule will read, or the spec of an array that no rule reads.
        """
        if row >= self.base:
            super().store_value(row - self.base, value)
        else:
            block_start, _, values, _ = find_span(self.blocks, row)
            values[row - block_start] = value

    def read_columns(self, low: int = 0, high: OptionalNumber = None) -> Columns:
        """Read the columns for a range of rows.

        The result is consistent even while another thread appends or packs rows.

        Args:
            low: The first row.
            high: The row after the last one. None selects all rows from `low` on.

        Returns:
            Six lists: code, a, b, call, offset and value.
        """
        while True:
            base = self.base
            blocks = self.blocks
            unpacked_columns = super().read_columns(max(low - base, 0), None if high is None else max(high - base, 0))
            if self.base == base:
                break
        if low >= base:
            return unpacked_columns
        packed_columns = _read_packed_columns(blocks, low, base if high is None else min(base, high))
        return [
            packed_column + extension for packed_column, extension in zip(packed_columns, unpacked_columns, strict=True)
        ]


def build_fast_form(plain: type[PlainRecord]) -> type[PlainRecord]:
    """Build the fast form of :class:`minitape.engine.record.record.Record`.

    Args:
        plain: The class to extend.

    Returns:
        A subclass that packs its rows into a block whenever ``CHUNK`` rows have been written.
    """

    class Packed(PackedRecord, plain):  # type: ignore[valid-type, misc]
        """The plain class, extended with methods that pack rows and read packed rows."""

    return Packed
