"""Marks of rows that spread to what is computed from them."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..record.record import DIFFERENTIABLE_KINDS
from ..record.row_parts import CHUNK
from ..table.primitives.elementwise import STOP_CODE

if TYPE_CHECKING:
    from ..record.record import Record

# A mark of 0 says that a row does not matter, 1 that it does. Two marks say that a row matters, and why it hands
# nothing on to its inputs (bit 1 is free, for minitape.speed.long_sweep):
ENDS_HERE = 0b101  # a source whose own operation is not on the tape
DEAD_END = 0b1000  # a result of a dtype through which no gradient flows: nothing computed from it matters


def propagate_marks_to_consumers(
    record: Record, marks: bytearray, first_row: int, end_row: int, allowed_rows: bytearray | None = None
) -> None:
    """Mark each row in [low, high) that has a marked input (and is marked in ``allowed_rows``): with 1, or as a dead
    end.
    """
    for chunk_start in range(first_row, end_row, CHUNK):
        rows = range(chunk_start, min(chunk_start + CHUNK, end_row))
        ops, first_inputs, second_inputs, calls, _, values = record.read_columns(chunk_start, rows.stop)
        cells = zip(rows, ops, first_inputs, second_inputs, calls, values, strict=True)
        for row, op, a, b, call, value in compress(cells, ops):  # without leaves
            if allowed_rows is not None and not allowed_rows[row]:
                continue
            if not call:
                if (marks[a] or marks[b]) and op != STOP_CODE:
                    marks[row] = 1
            elif call.primitive.code != STOP_CODE:
                for i in call.inputs:
                    if marks[i] & 1:
                        marks[row] = 1 if value.dtype.kind in DIFFERENTIABLE_KINDS else DEAD_END
                        break


def has_differentiable_dtype(record: Record, row: int) -> bool:
    """Return True for a row of a dtype through which gradients flow."""
    return record.get_value_or_spec(row).dtype.kind in DIFFERENTIABLE_KINDS
