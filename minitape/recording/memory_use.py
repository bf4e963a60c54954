"""Measure the memory occupied by the values of a recording."""

import numpy as np

from ..engine.record.record import Record
from ..engine.types import RowList

ROW_BYTES = 20  # A row consists of four int32 cells and a float32 value.
MAX_OPEN_ROWS = (
    # The arrays of a longer recording are not counted while it grows, because counting would slow the program down.
    2000
)


def count_kept_bytes_of_row_spans(record: Record, row_spans: list[RowList]) -> int:
    """Return the number of bytes that the given rows occupy: 20 for each row, plus the bytes of their arrays.

    Args:
        record: The recording.
        row_spans: The (first, end) row ranges, excluding `end`.

    >>> import minitape as tf
    >>> x = tf.Variable(tf.zeros([500, 20]))
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tf.snapshot(tape)["tapes"][0]["bytes"]
    40040
    """
    byte_count = ROW_BYTES * sum(end - first for first, end in row_spans)
    if record.has_large_arrays and (not record.is_opened_by_tape or len(record) < MAX_OPEN_ROWS):
        values = (value for first, end in row_spans for value in record.read_columns(first, end)[-1])
        byte_count += sum(value.nbytes for value in values if type(value) is np.ndarray)
    return byte_count
