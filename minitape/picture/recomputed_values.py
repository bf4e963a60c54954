"""Recompute the values that a recording has released, because a picture of a used tape shows them."""

from collections.abc import Iterator
from math import prod

import numpy as np

from ..engine.record.array_spec import ArraySpec
from ..engine.record.record import Record
from ..engine.record.row_parts import CHUNK
from ..engine.table.primitives import TABLE
from ..engine.table.primitives.elementwise import select_formulas_for_value_kind
from ..engine.types import Array, ArraysByRow, Object
from ..recording.graph_nodes import find_operation_and_inputs

MAX_BYTES = 16_000_000  # Above this many bytes, a picture recomputes values only on request.


def iter_values_before(record: Record, end_row: int) -> Iterator[Object]:
    """Yield the values of the rows before ``end_row``, with an ``ArraySpec`` for each released array.

    The rows are read in blocks, because copying all rows would need as much memory as the recording.

    Args:
        record: The recording.
        end_row: The first row to leave out.
    """
    for first in range(0, end_row, CHUNK):
        yield from record.read_columns(first, min(first + CHUNK, end_row))[-1]


def are_released_values_small(record: Record) -> bool:
    """Return whether the released values of a recording have at most MAX_BYTES bytes in total.

    Args:
        record: The recording.
    """
    missing_bytes = sum(
        prod(value.shape) * value.dtype.itemsize
        for value in iter_values_before(record, len(record))
        if type(value) is ArraySpec
    )
    return missing_bytes <= MAX_BYTES


def recompute_released_values(record: Record) -> ArraysByRow:
    """Return the released values of a finished recording, if they can be computed from the kept values.

    Only deterministic operations in the table are rerun, not Python functions or custom gradients. If a rerun computes
    a different value from a kept one, none of the values can be trusted.

    Args:
        record: The recording, which must not be open.

    Returns:
        The values by row, or an empty dict if a recomputed value differs from the kept value.

    >>> import minitape as tf
    >>> x = tf.Variable(tf.ones([80, 80]))
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sin(x * 2.0))
    >>> _ = tape.gradient(y, x)
    >>> {row: value.shape for row, value in recompute_released_values(tape._record).items()}
    {2: (80, 80), 3: (80, 80)}
    """
    values: ArraysByRow = {}
    missing_rows = [row for row in range(len(record)) if record.get_value_or_none(row) is None]
    rows_to_run = sorted({row if (call := record.get_call(row)) is None else call.row for row in missing_rows})
    with np.errstate(all="ignore"):
        for row in rows_to_run:
            inputs = find_operation_and_inputs(record, row)[1]
            arrays = [values.get(input_row, record.get_value_or_none(input_row)) for input_row in inputs]
            for output_number, value in enumerate(rerun_operation(record, row, arrays)):
                kept_value = record.get_value_or_none(row + output_number)
                if kept_value is None:
                    values[row + output_number] = value
                elif not np.array_equal(kept_value, value, equal_nan=kept_value.dtype.kind in "fc"):
                    return {}
    return values


def rerun_operation(record: Record, row: int, input_arrays: list[Array]) -> tuple[Array, ...]:
    """Rerun the operation of a row on other inputs.

    Args:
        record: The recording.
        row: The first row of the operation's call.
        input_arrays: The arrays of the inputs, or None for an unknown array.

    Returns:
        The outputs, or an empty tuple if an input is unknown or the operation is not deterministic or fails.
    """
    primitive, _ = find_operation_and_inputs(record, row)
    if (
        primitive is None
        or primitive.mandatory  # Such an operation may run the program's own Python.
        or TABLE.get(primitive.name) is not primitive
        or primitive.forward is None
        or any(array is None for array in input_arrays)
    ):
        return ()
    call = record.get_call(row)
    if call is None:
        largest = max(input_arrays, key=np.size)
        return (select_formulas_for_value_kind(record.read_integer_cells(row)[0], largest).forward(*input_arrays),)
    try:
        outputs = primitive.forward(*input_arrays, **call.attrs)
    except Exception:  # The original operation raised no error, so a failed rerun is not the program's fault.
        return ()
    return outputs if type(outputs) is tuple else (outputs,)
