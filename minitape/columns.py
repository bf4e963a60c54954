"""What a row says: how the columns of the table are read (see :mod:`minitape.record`)."""

from __future__ import annotations

from typing import Any

from .primitives.elementwise import BY_CODE, FIRST_CODE

LEAF, CALL = 0, 1  # the first column of rows that are no elementwise operations


def operation_of(record: Any, row: int) -> tuple[Any, tuple[int, ...]]:
    """(primitive, input rows) of the operation that wrote a row; None and no inputs for a leaf."""
    op, a, b, _ = record.cell(row)
    if op >= FIRST_CODE:
        primitive = BY_CODE[op - FIRST_CODE]
        return primitive, (a, b)[: len(primitive.texts) - 1]
    if op == CALL:
        return record.calls[a].primitive, record.calls[a].inputs
    return None, ()
