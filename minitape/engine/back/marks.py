"""Marks of rows that spread to what is computed from them."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..recording.record import CONTINUOUS
from ..recording.rows import CHUNK
from ..table.primitives.elementwise import STOP_CODE

if TYPE_CHECKING:
    from ..recording.record import Record

# A mark of 0 says that a row does not matter, 1 that it does. Two marks say that a row matters, and why it hands
# nothing on to its inputs (bit 1 is free, for minitape.speed.long):
ENDS_HERE = 0b101  # a source whose own operation is not on the tape
DEAD_END = 0b1000  # a result of a dtype through which no gradient flows: nothing computed from it matters


def propagate(record: Record, marks: bytearray, low: int, high: int, gate: bytearray | None = None) -> None:
    """Marks each row in [low, high) that has a marked input (and passes the gate): with 1, or as a dead end."""
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
                        marks[row] = 1 if value.dtype.kind in CONTINUOUS else DEAD_END
                        break


def differentiable(record: Record, row: int) -> bool:
    """True for a row of a dtype through which gradients flow."""
    return record.value_or_spec(row).dtype.kind in CONTINUOUS
