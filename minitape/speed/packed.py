"""Recordings of many rows: packed into blocks of 32-bit integers and arrays of values, 16 bytes and the value for each
row.
"""

from __future__ import annotations

import struct
from _thread import get_ident
from collections.abc import Iterable, Sequence
from itertools import chain, compress, repeat
from operator import is_
from typing import Any

import numpy as np

from ..engine.recording.block import leave_ended
from ..engine.recording.rows import CHUNK, REALS, WIDTH
from ..engine.recording.state import appended
from ..engine.table.primitives.elementwise import FIRST_CODE

FULL = WIDTH * CHUNK
ARRAY_ROW = 256  # added to the op of packed elementwise rows whose values are no numbers: kernels hand them over


def ColumnStore(plain: Any) -> Any:
    """The fast form of :class:`minitape.engine.recording.columns.ColumnStore`."""
    from ..engine.recording.columns import last_from

    class Packed(plain):
        """Rows of which all but the last are packed."""

        # (first row, int32 rows x 4, values, calls by row)
        blocks: Sequence[tuple[int, np.ndarray, Any, dict[int, Any]]] = ()

        def __init__(self) -> None:
            self.rows: list = []
            self.base, self.thread = 0, get_ident()  # base: packed rows
            self.kinds: set = set()  # types of values
            self.put = self.rows.extend

        def __len__(self) -> int:
            return self.base + len(self.rows) // WIDTH

        def append(self, op: int, a: int, b: int, call: Any, site: int, value: Any = None) -> int:
            if (place := len(self.rows)) >= FULL and self.pack():
                place = 0
            if (kind := type(value)) not in self.kinds:
                self.kinds.add(kind)
            self.put((op, a, b, call, site, value))
            return self.base + place // WIDTH

        def column(self, which: int) -> list:
            return self.columns()[which] if self.base else self.rows[which::WIDTH]

        def large_arrays(self) -> dict[int, np.ndarray]:
            values = self.column(5)
            arrays = compress(enumerate(values), map(is_, map(type, values), repeat(np.ndarray)))
            return {row: value for row, value in arrays if value.size > self.small}

        def clear(self) -> None:
            self.rows, self.blocks, self.base = [], (), 0

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
            calls = (
                {row: call for row, call in enumerate(cells[3::WIDTH], self.base) if call is not None}
                if self.called
                else {}
            )
            del cells[5::WIDTH]
            del cells[3 :: WIDTH - 1]
            block = np.frombuffer(bytearray(struct.pack(f"{len(cells)}i", *cells)), np.int32).reshape(-1, WIDTH - 2)
            kinds = set(map(type, values)) if np.ndarray in self.kinds else self.kinds
            if len(kinds) == 1 and kinds <= REALS:
                values = np.fromiter(values, next(iter(kinds)), len(values))
            else:
                arrays = [type(value) not in REALS for value in values]
                block[arrays & (block[:, 0] >= FIRST_CODE), 0] += ARRAY_ROW
            self.blocks = appended(self.blocks, (self.base, block, values, calls))
            self.rows.clear()  # in this order, so that a picture that reads from another thread sees no row twice
            self.base += len(block)
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

        def cell(self, row: int) -> tuple[int, int, int, int]:
            if row >= self.base:
                return super().cell(row - self.base)
            first, block, _, _ = last_from(self.blocks, row)
            op, a, b, site = block[row - first].tolist()
            return op & (ARRAY_ROW - 1), a, b, site

        def call_at(self, row: int) -> Any:
            return super().call_at(row - self.base) if row >= self.base else last_from(self.blocks, row)[3].get(row)

        def stored(self, row: int) -> Any:
            if row >= self.base:
                return self.rows[WIDTH * (row - self.base) + 5]
            first, _, values, _ = last_from(self.blocks, row)
            return values[row - first]

        def store(self, row: int, value: Any) -> None:
            if row >= self.base:
                self.rows[WIDTH * (row - self.base) + 5] = value
            else:
                first, _, values, _ = last_from(self.blocks, row)
                values[row - first] = value

        def columns(self, low: int = 0, high: int | None = None) -> Any:
            while True:
                base, blocks = self.base, self.blocks
                columns = super().columns(max(low - base, 0), None if high is None else max(high - base, 0))
                if self.base == base:
                    break
            if low >= base:
                return columns
            stop = base if high is None else min(base, high)
            packed: Any = [[], [], [], [], [], []]
            for first, block, values, calls in list(blocks):
                start, end = max(first, low), min(first + len(block), stop)
                if start < end:
                    part = slice(start - first, end - first)
                    packed[0] += (block[part, 0] & (ARRAY_ROW - 1)).tolist()
                    for at, numbers in zip((1, 2, 4), block[part, 1:].T, strict=True):
                        packed[at] += numbers.tolist()
                    packed[3] += map(calls.get, range(start, end)) if calls else [None] * (end - start)
                    packed[5].extend(values[part])
            return [early + late for early, late in zip(packed, columns, strict=True)]

    return Packed


class LongColumn:
    """The column of values of a long recording, of which few are read."""

    def __init__(self, record: Any) -> None:
        self.record = record

    def __getitem__(self, row: int) -> Any:
        return self.record.stored(row)


def column(plain: Any) -> Any:
    """The fast form of :func:`minitape.engine.back.values.column`."""
    return lambda record: LongColumn(record) if record.base else record.rows[5::WIDTH]


def operations(plain: Any) -> Any:
    """The fast form of :func:`minitape.engine.back.values.operations`."""

    def run(record: Any, low: int, high: int) -> Iterable:
        if record.base:
            return chain.from_iterable(_chunk(record, low, end) for end in range(high + 1, low, -CHUNK))
        rows, at = record.rows, WIDTH * high
        ops, left, right = rows[at::-WIDTH], rows[at + 1 :: -WIDTH], rows[at + 2 :: -WIDTH]
        cells = zip(range(high, low - 1, -1), ops, left, right, rows[at + 3 :: -WIDTH])  # noqa: B905 - down to low
        return compress(cells, ops)

    return run


def _chunk(record: Any, low: int, end: int) -> Iterable:
    """Those before ``end`` in a recording that is packed, at most ``CHUNK`` of them."""
    first = max(low, end - CHUNK)
    ops, left, right, calls, _, _ = record.columns(first, end)
    return compress(
        zip(range(end - 1, first - 1, -1), ops[::-1], left[::-1], right[::-1], calls[::-1], strict=True), ops[::-1]
    )


def propagate(plain: Any) -> Any:
    """The fast form of :func:`minitape.engine.back.reach.propagate`."""
    from ..engine.back import reach
    from .kernels import for_rows

    def run(record: Any, marks: bytearray, low: int, high: int, gate: bytearray | None = None) -> None:
        kernel = for_rows(record, high - low, "spread") if high - low > LONG else None
        if kernel is None:
            plain(record, marks, low, high, gate)
            return
        view = np.frombuffer(marks, np.uint8)
        through = np.ones(len(marks), np.uint8) if gate is None else np.frombuffer(gate, np.uint8)
        for first, block, _, calls in record.blocks:
            row, last = max(first, low), min(first + len(block), high)
            while row < last:
                row = kernel(block, first, row, last, view, through)
                if row < last:  # a call: the kernel hands it over
                    if through[row] and reach.depends(record, marks, calls[row]):
                        marks[row] = 1
                    row += 1

    return run


LONG = 512  # rows from which on a compiled loop is requested
