"""Marks of rows that spread to what is computed from them."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..recording.record import CONTINUOUS
from ..recording.rows import CHUNK
from ..table.primitives.elementwise import STOP_CODE

if TYPE_CHECKING:
    from ..recording.record import Record


def propagate(record: Record, marks: bytearray, low: int, high: int, gate: bytearray | None = None) -> None:
    """Marks each row in [low, high) that has a marked input (and passes the gate): with 1, or with 8 where its dtype
    is one through which no gradient flows on.
    """
    for first in range(low, high, CHUNK):
        rows = range(first, min(first + CHUNK, high))
        ops, left, right, calls, _, values = record.columns(first, rows.stop)
        cells = zip(rows, ops, left, right, calls, values, strict=True)
        for row, op, a, b, call, value in compress(cells, ops):  # without leaves
            if gate is not None and not gate[row]:
                continue
            if not call:
                if (marks[a] or marks[b]) and op != STOP_CODE:
                    marks[row] = 1
            elif call.primitive.code != STOP_CODE:
                for i in call.inputs:
                    if marks[i] & 1:
                        marks[row] = 1 if value.dtype.kind in CONTINUOUS else 8
                        break


def differentiable(record: Record, row: int) -> bool:
    """True for a row of a dtype through which gradients flow."""
    return record.stored(row).dtype.kind in CONTINUOUS
