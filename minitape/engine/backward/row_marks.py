"""Marks of rows, which spread from each row to the rows that are computed from it."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..record.record import DIFFERENTIABLE_KINDS
from ..record.row_parts import CHUNK
from ..table.primitives.elementwise import STOP_CODE

if TYPE_CHECKING:
    from ..record.record import Record

# A row with the mark 0 does not matter, and a row with the mark 1 does. Rows with the next two marks matter, but send
# nothing to their inputs. Bit 1 is free, because minitape.speed.long_sweep uses it.
ENDS_HERE = 0b101  # The row is a source, but its own operation is not on the tape.
DEAD_END = 0b1000  # No gradient flows through the dtype of the row, so nothing that is computed from it matters.


def propagate_marks_to_consumers(
    record: Record, marks: bytearray, first_row: int, end_row: int, allowed_rows: bytearray | None = None
) -> None:
    """Mark each row that has a marked input.

    A row gets the mark 1. A call gets ``DEAD_END`` instead if no gradient flows through the dtype of its result.
    Leaves and results of ``stop_gradient`` get no mark.

    Args:
        record: The recording.
        marks: The marks by row, which the function changes.
        first_row: The first row that may get a mark.
        end_row: The row after the last one that may get a mark.
        allowed_rows: Marks by row; only rows with a mark that is not 0 may get one. None allows all rows.
    """
    for chunk_start in range(first_row, end_row, CHUNK):
        rows = range(chunk_start, min(chunk_start + CHUNK, end_row))
        ops, first_inputs, second_inputs, calls, _, values = record.read_columns(chunk_start, rows.stop)
        cells = zip(rows, ops, first_inputs, second_inputs, calls, values, strict=True)
        for row, op, a, b, call, value in compress(cells, ops):  # The `op` of a leaf is 0, so leaves are skipped.
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
    """Return whether gradients flow through the dtype of a row, which floats and complex numbers allow.

    Args:
        record: The recording.
        row: The number of a row.
    """
    return record.get_value_or_spec(row).dtype.kind in DIFFERENTIABLE_KINDS
