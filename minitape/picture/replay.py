"""Values that a recording released, computed again from its leaves: a picture of a used tape needs them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.array_spec import ArraySpec
from ..engine.recording.rows import CHUNK
from ..engine.table.primitives import TABLE
from ..engine.table.primitives.elementwise import form_of
from ..recording.nodes import operation_of

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Array, Object

SMALL = 16_000_000  # bytes that a picture computes again without being asked


def values_of(record: Record, end: int) -> Iterator[Object]:
    """The values of the first rows, block by block: all at once would take the room of another recording."""
    for first in range(0, end, CHUNK):
        yield from record.columns(first, min(first + CHUNK, end))[-1]


def is_small(record: Record) -> bool:
    """Whether computing the missing values again is cheap."""
    missing = (one for one in values_of(record, len(record)) if type(one) is ArraySpec)
    return sum(math.prod(one.shape) * one.dtype.itemsize for one in missing) <= SMALL


def recomputed(record: Record) -> dict[int, Array]:
    """The missing values by row of a recording that has ended, as far as they follow from what is held.

    Only operations that always give the same are run again: no Python functions, no custom gradients. A value that is
    held and comes out in another way shows that something else is at work: then there are none.

    >>> import minitape as tf
    >>> x = tf.Variable(tf.ones([80, 80]))
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sin(x * 2.0))
    >>> _ = tape.gradient(y, x)
    >>> {row: value.shape for row, value in recomputed(tape._record).items()}
    {2: (80, 80), 3: (80, 80)}
    """
    found: dict[int, Array] = {}
    missing = [row for row in range(len(record)) if record.value(row) is None]
    wanted = sorted({row if (call := record.call_at(row)) is None else call.row for row in missing})
    with np.errstate(all="ignore"):
        for row in wanted:
            inputs = operation_of(record, row)[1]
            arrays = [record.value(i) if record.value(i) is not None else found.get(i) for i in inputs]
            for k, value in enumerate(run_row(record, row, arrays)):
                held = record.value(row + k)
                if held is None:
                    found[row + k] = value
                elif not np.array_equal(held, value, equal_nan=held.dtype.kind in "fc"):
                    return {}
    return found


def run_row(record: Record, row: int, arrays: list[Array]) -> tuple[Array, ...]:
    """The outputs of the operation at a row for these inputs; none where it cannot be run again."""
    primitive, _ = operation_of(record, row)
    sure = primitive is not None and not primitive.mandatory and TABLE.get(primitive.name) is primitive
    if primitive is None or not sure or primitive.forward is None or any(a is None for a in arrays):
        return ()  # a Python function, or one with effects
    call = record.call_at(row)
    if call is None:
        like = max(arrays, key=np.size)
        return (form_of(record.cell(row)[0], like).forward(*arrays),)
    try:
        out: Array = primitive.forward(*arrays, **call.attrs)
    except Exception:  # it ran once: what is different now is nothing that a picture should raise
        return ()
    return out if type(out) is tuple else (out,)
