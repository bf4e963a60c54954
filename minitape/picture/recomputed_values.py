"""Values that a recording released, computed again from its leaves: a picture of a used tape needs them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..engine.record.array_spec import ArraySpec
from ..engine.record.row_parts import CHUNK
from ..engine.table.primitives import TABLE
from ..engine.table.primitives.elementwise import select_form_for_kind
from ..recording.graph_nodes import find_operation_and_inputs

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.types import Array, Object

MAX_BYTES = 16_000_000  # bytes that a picture computes again without being asked


def iter_values_before(record: Record, end_row: int) -> Iterator[Object]:
    """Yield the values of the first rows, block by block: all at once would take the room of another recording."""
    for first in range(0, end_row, CHUNK):
        yield from record.read_columns(first, min(first + CHUNK, end_row))[-1]


def are_released_values_small(record: Record) -> bool:
    """Return whether all values that the recording released are small together."""
    missing = (value for value in iter_values_before(record, len(record)) if type(value) is ArraySpec)
    return sum(math.prod(value.shape) * value.dtype.itemsize for value in missing) <= MAX_BYTES


def recompute_released_values(record: Record) -> dict[int, Array]:
    """Return the missing values by row of a recording that has ended, as far as they follow from what is held.

    Only operations that always give the same are run again: no Python functions, no custom gradients. A value that is
    held and comes out in another way shows that something else is at work: then there are none.

    >>> import minitape as tf
    >>> x = tf.Variable(tf.ones([80, 80]))
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sin(x * 2.0))
    >>> _ = tape.gradient(y, x)
    >>> {row: value.shape for row, value in recompute_released_values(tape._record).items()}
    {2: (80, 80), 3: (80, 80)}
    """
    values: dict[int, Array] = {}
    missing_rows = [row for row in range(len(record)) if record.get_value_or_none(row) is None]
    rows_to_run = sorted({row if (call := record.get_call(row)) is None else call.row for row in missing_rows})
    with np.errstate(all="ignore"):
        for row in rows_to_run:
            inputs = find_operation_and_inputs(record, row)[1]
            arrays = [
                record.get_value_or_none(input_row)
                if record.get_value_or_none(input_row) is not None
                else values.get(input_row)
                for input_row in inputs
            ]
            for output_number, value in enumerate(rerun_operation(record, row, arrays)):
                kept_value = record.get_value_or_none(row + output_number)
                if kept_value is None:
                    values[row + output_number] = value
                elif not np.array_equal(kept_value, value, equal_nan=kept_value.dtype.kind in "fc"):
                    return {}
    return values


def rerun_operation(record: Record, row: int, input_arrays: list[Array]) -> tuple[Array, ...]:
    """Return the outputs of the operation at a row for these inputs; none where it cannot be run again."""
    primitive, _ = find_operation_and_inputs(record, row)
    is_deterministic = primitive is not None and not primitive.mandatory and TABLE.get(primitive.name) is primitive
    if (
        primitive is None
        or not is_deterministic
        or primitive.forward is None
        or any(array is None for array in input_arrays)
    ):
        return ()  # a Python function, or one with effects
    call = record.get_call(row)
    if call is None:
        largest = max(input_arrays, key=np.size)
        return (select_form_for_kind(record.read_integer_cells(row)[0], largest).forward(*input_arrays),)
    try:
        outputs: Array = primitive.forward(*input_arrays, **call.attrs)
    except Exception:  # it ran once: what is different now is nothing that a picture should raise
        return ()
    return outputs if type(outputs) is tuple else (outputs,)
