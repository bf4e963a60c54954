"""Marks of rows that spread to what is computed from them."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..recording.record import CONTINUOUS
from ..recording.rows import CHUNK
from ..table.primitives.elementwise import STOP_CODE

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..recording.rows import Call


def propagate(record: Record, marks: bytearray, low: int, high: int, gate: bytearray | None = None) -> None:
    """Marks each row in [low, high) that has a marked input (and passes the gate)."""
    for first in range(low, high, CHUNK):
        rows = range(first, min(first + CHUNK, high))
        ops, left, right, calls, _, _ = record.columns(first, rows.stop)
        for row, op, a, b, call in compress(zip(rows, ops, left, right, calls, strict=True), ops):  # without leaves
            if (gate is None or gate[row]) and (
                depends(record, marks, call) if call else (marks[a] or marks[b]) and op != STOP_CODE
            ):
                marks[row] = 1


def depends(record: Record, marks: bytearray, call: Call) -> bool:
    """True when an input of the call is marked and of a dtype through which gradients flow."""
    for row in call.inputs if call.primitive.code != STOP_CODE else ():
        if marks[row] and record.stored(row).dtype.kind in CONTINUOUS:
            return True
    return False


def differentiable(record: Record, row: int) -> bool:
    """True for a row of a dtype through which gradients flow."""
    return record.stored(row).dtype.kind in CONTINUOUS
