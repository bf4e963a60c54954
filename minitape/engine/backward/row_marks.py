"""Define row marks, and propagate them from each row to the rows computed from it."""

from itertools import compress

from ..record.record import DIFFERENTIABLE_KINDS, Record
from ..record.row_parts import CHUNK
from ..table.primitives.elementwise import STOP_CODE

# A row with mark 0 does not matter, and a row with mark 1 does. Bit 1 is reserved for minitape.speed.long_sweep.
# Rows with one of the next two marks matter, but send nothing to their inputs.
# Bit 2 is set only in ENDS_HERE, to distinguish it from mark 1.
ENDS_HERE = 0b101  # The row is a source, but the operation that computed it is not on the tape.
DEAD_END = 0b1000  # Rows computed from this row do not matter, because no gradient flows through its dtype.


def propagate_marks_to_consumers(
    record: Record, marks: bytearray, first_row: int, end_row: int, allowed_rows: bytearray | None = None
) -> None:
    """Mark each row that has a marked input.

    The mark is 1, or ``DEAD_END`` for a call if no gradient flows through the dtype of its result. Leaves and results
    of ``stop_gradient`` receive no mark.

    Args:
        record: The recording.
        marks: The marks, keyed by row. The function adds new marks.
        first_row: The first row that may receive a mark.
        end_row: The row after the last row that may receive a mark.
        allowed_rows: For each row, whether it may receive a mark. None allows all rows.
    """
    for chunk_start in range(first_row, end_row, CHUNK):
        rows = range(chunk_start, min(chunk_start + CHUNK, end_row))
        codes, first_inputs, second_inputs, calls, _, values = record.read_columns(chunk_start, rows.stop)
        cells = zip(rows, codes, first_inputs, second_inputs, calls, values, strict=True)
        for row, code, a, b, call, value in compress(cells, codes):  # The code of a leaf is 0, so this skips leaves.
            if allowed_rows is not None and not allowed_rows[row]:
                continue
            if not call:
                # An elementwise row has the same float dtype as its inputs, so the inputs cannot be dead ends.
                if (marks[a] or marks[b]) and code != STOP_CODE:
                    marks[row] = 1
            elif call.primitive.code != STOP_CODE:
                for i in call.inputs:
                    if marks[i] & 1:
                        marks[row] = 1 if value.dtype.kind in DIFFERENTIABLE_KINDS else DEAD_END
                        break


def has_differentiable_dtype(record: Record, row: int) -> bool:
    """Return whether gradients flow through a row, because its dtype is floating or complex.

    Args:
        record: The recording.
        row: The row number.
    """
    return record.get_value_or_spec(row).dtype.kind in DIFFERENTIABLE_KINDS
