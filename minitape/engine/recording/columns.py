"""The columns of a recording: rows in one flat list, and packed into blocks of 32-bit integers when they are many.

The columns are

    op    0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of an elementwise operation
    a, b  the rows of an elementwise operation's inputs (a == b for one input); of a call its number and which output
    site  the bytecode offset of the user's statement, turned into a line only when somebody asks
    value a number, an array, or the :class:`Outline` of an array that no rule reads
"""

from __future__ import annotations

import struct
from _thread import get_ident
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..table.primitives.elementwise import FIRST_CODE
from .block import leave_ended
from .rows import ARRAY_ROW, FULL, REALS, WIDTH, Outline
from .state import more

if TYPE_CHECKING:
    from ..types import Array, Columns, Function

SMALL = 4096  # arrays up to this size are kept for the picture even where no rule reads them
CONTINUOUS = "fcV"  # the kinds of dtypes through which gradients flow; V is bfloat16's
_first = itemgetter(0)
Span = TypeVar("Span", bound=tuple[Any, ...])  # it begins with its first row


class ColumnStore:
    """Rows, appended and read by number."""

    blocks: Sequence[tuple[int, np.ndarray, Array]] = ()  # (first row, int32 rows x 4, values)
    base = 0  # number of packed rows
    open = True
    small = SMALL
    large = False  # whether operations gave arrays beyond it
    # of each recording; minitape.engine.recording.record.Record begins them
    rows: list[Any]  # op, a, b, site, value of the rows since the last block
    put: Function  # adds to them
    arrays: set[int]  # rows that hold an array beyond ``small``
    discrete: set[int]  # rows of a dtype through which no gradient flows
    kinds: set[type]  # the types in the column of values: operators make no other numbers from them
    thread: int

    def __len__(self) -> int:
        return self.base + len(self.rows) // WIDTH

    def append(self, op: int, a: int, b: int, site: int, value: Array = None) -> int:
        """Writes a row and returns its number."""
        if len(self.rows) >= FULL:
            self.pack()
        row = self.base + len(self.rows) // WIDTH
        if value is not None and value.dtype.kind not in CONTINUOUS:
            self.discrete.add(row)
        self.kinds.add(type(value))
        self.put((op, a, b, site, value))
        return row

    def pack(self) -> bool:
        """Moves the rows since the last block into a block of 32-bit integers; numbers of one type become an array.

        False, and nothing moved, where another thread goes on recording.
        """
        if self.open and get_ident() != self.thread:
            return False
        leave_ended()
        cells = self.rows.copy()
        values: Array = self.rows[WIDTH - 1 :: WIDTH]  # a list, or an array of numbers
        if not cells:
            return True
        del cells[WIDTH - 1 :: WIDTH]
        block = np.frombuffer(bytearray(struct.pack(f"{len(cells)}i", *cells)), np.int32).reshape(-1, WIDTH - 1)
        kinds = set(map(type, values)) if np.ndarray in self.kinds else self.kinds
        if len(kinds) == 1 and kinds <= REALS:
            values = np.fromiter(values, next(iter(kinds)), len(values))
        else:
            arrays = [type(value) not in REALS for value in values]
            block[arrays & (block[:, 0] >= FIRST_CODE), 0] += ARRAY_ROW
        self.blocks = more(self.blocks, (self.base, block, values))
        self.rows.clear()  # in this order, so that a picture that reads from another thread sees no row twice
        self.base += len(block)
        return True

    @property
    def real(self) -> type[np.floating] | None:
        """The one type of the numbers in the column of values, which a compiled sweep takes; None where there are
        two.
        """
        reals = self.kinds & REALS
        return next(iter(reals)) if len(reals) == 1 else None

    def numbers_from(self, real: type[np.floating] | None) -> np.ndarray:
        """The packed column of values as an array; rows that are no numbers hold NaN there."""
        parts = [
            values
            if type(values) is np.ndarray
            else np.array([value if type(value) is real else np.nan for value in values], real)
            for _, _, values in self.blocks
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        if row >= self.base:
            at = WIDTH * (row - self.base)
            return tuple(self.rows[at : at + WIDTH - 1])
        first, block, _ = last_from(self.blocks, row)
        op, a, b, site = block[row - first].tolist()
        return op & (ARRAY_ROW - 1), a, b, site

    def held(self, row: int) -> Array:
        """What stands in the column of values: a number, an array, or an outline."""
        if row >= self.base:
            return self.rows[WIDTH * (row - self.base) + WIDTH - 1]
        first, _, values = last_from(self.blocks, row)
        return values[row - first]

    def value(self, row: int) -> Array:
        """The value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        found = self.held(row)
        return None if type(found) is Outline else found

    def hold(self, row: int, value: Array) -> None:
        """Puts a value into the column: an array that a rule will read, or the outline of one that none does."""
        if row >= self.base:
            self.rows[WIDTH * (row - self.base) + WIDTH - 1] = value
        else:
            first, _, values = last_from(self.blocks, row)
            values[row - first] = value
        if type(value) is Outline:
            self.arrays.discard(row)
        else:
            self.arrays.add(row)

    def large_arrays(self) -> dict[int, np.ndarray]:
        """The arrays beyond ``small`` that are held, by row."""
        return {row: self.held(row) for row in sorted(self.arrays)}

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the NumPy dtype of a row."""
        found = self.held(row)
        return found.shape, found.dtype

    def columns(self, low: int = 0, high: int | None = None) -> Columns:
        """The five columns of the rows from ``low`` to ``high``, as lists; right also while another thread appends."""
        while True:
            base, blocks = self.base, self.blocks
            rows = self.rows[WIDTH * max(low - base, 0) : None if high is None else WIDTH * max(high - base, 0)]
            if self.base == base:
                break
        stop = base if high is None else min(base, high)
        columns: Columns = [rows[0::WIDTH], rows[1::WIDTH], rows[2::WIDTH], rows[3::WIDTH], rows[4::WIDTH]]
        if low >= base:
            return columns
        packed: Columns = [[], [], [], [], []]
        for first, block, values in list(blocks):
            start, end = max(first, low), min(first + len(block), stop)
            if start < end:
                part = slice(start - first, end - first)
                packed[0] += (block[part, 0] & (ARRAY_ROW - 1)).tolist()
                for column, numbers in zip(packed[1:], block[part, 1:].T, strict=False):
                    column += numbers.tolist()
                packed[-1].extend(values[part])
        return [early + late for early, late in zip(packed, columns, strict=True)]


def last_from(spans: Sequence[Span], row: int) -> Span:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]
