"""Recordings of many rows: packed into blocks of 32-bit integers and arrays of values, 16 bytes and the value for each
row.
"""

from __future__ import annotations

import struct
from _thread import get_ident
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.recording.block import leave_ended
from ..engine.recording.rows import CHUNK, REALS, WIDTH
from ..engine.recording.state import append_item
from ..engine.table.primitives.elementwise import FIRST_CODE

ARRAY_ROW = 256  # added to the op of packed elementwise rows whose values are no numbers: kernels hand them over


def Record(plain: Any) -> Any:
    """The fast form of :class:`minitape.engine.recording.record.Record`."""
    from ..engine.recording.row_table import last_from

    class Packed(plain):
        """Rows of which all but the last are packed."""

        blocks: Sequence[tuple[int, np.ndarray, Any, dict[int, Any]]]  # first row, int32 rows x 4, values, calls by row

        def pack(self) -> bool:
            """Moves the rows since the last block into a block; numbers of one type become an array.

            False, and nothing moved, where another thread continues to record.
            """
            if self.open and get_ident() != self.thread:
                return False
            leave_ended()
            cells = self.rows.copy()
            if not cells:
                return True
            values: Any = cells[5::WIDTH]  # a list, or an array of numbers
            calls = {at: call for at, call in enumerate(cells[3::WIDTH], self.base) if call} if self.has_calls else {}
            del cells[5::WIDTH]
            del cells[3 :: WIDTH - 1]
            block = np.frombuffer(bytearray(struct.pack(f"{len(cells)}i", *cells)), np.int32).reshape(-1, WIDTH - 2)
            kinds = set(map(type, values)) if np.ndarray in self.kinds else self.kinds
            if len(kinds) == 1 and kinds <= REALS:
                values = np.fromiter(values, next(iter(kinds)), len(values))
            else:
                arrays = [type(value) not in REALS for value in values]
                block[arrays & (block[:, 0] >= FIRST_CODE), 0] += ARRAY_ROW
            self.blocks = append_item(self.blocks, (self.base, block, values, calls))
            self.rows.clear()  # in this order, so that a picture that reads from another thread sees no row twice
            self.base += len(block)
            self.full = self.next + CHUNK
            return True

        @property
        def real(self) -> Any:
            """The one type of the numbers in the column of values, which a compiled sweep takes; None where there are
            two.
            """
            reals = self.kinds & REALS
            return next(iter(reals)) if len(reals) == 1 else None

        def numbers_from(self, real: Any) -> np.ndarray:
            """The packed column of values as an array; rows that are no numbers hold NaN there."""
            parts = [
                values
                if type(values) is np.ndarray
                else np.array([value if type(value) is real else np.nan for value in values], real)
                for _, _, values, _ in self.blocks
            ]
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        def row(self, row: int) -> Sequence[Any]:
            if row >= self.base:
                return super().row(row - self.base)
            first, block, values, calls = last_from(self.blocks, row)
            op, a, b, site = block[row - first].tolist()
            return op & (ARRAY_ROW - 1), a, b, calls.get(row), site, values[row - first]

        def value_or_spec(self, row: int) -> Any:
            if row >= self.base:
                return self.rows[WIDTH * (row - self.base) + 5]
            first, _, values, _ = last_from(self.blocks, row)
            return values[row - first]

        def store(self, row: int, value: Any) -> None:
            if row >= self.base:
                super().store(row - self.base, value)
            else:
                first, _, values, _ = last_from(self.blocks, row)
                values[row - first] = value

        def columns(self, low: int = 0, high: int | None = None) -> Any:
            while True:
                base, blocks = self.base, self.blocks
                late = super().columns(max(low - base, 0), None if high is None else max(high - base, 0))
                if self.base == base:
                    break
            if low >= base:
                return late
            found: Any = [[] for _ in range(WIDTH)]
            stop = base if high is None else min(base, high)
            for first, block, values, calls in list(blocks):
                start, end = max(first, low), min(first + len(block), stop)
                if start < end:
                    part = slice(start - first, end - first)
                    ops, left, right, sites = block[part].T.tolist()
                    cells = [op & (ARRAY_ROW - 1) for op in ops], left, right, map(calls.get, range(start, end)), sites
                    for known, more in zip(found, (*cells, values[part]), strict=True):
                        known.extend(more)
            return [early + more for early, more in zip(found, late, strict=True)]

    return Packed
