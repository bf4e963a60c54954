"""A gradient that is there, and wrong: a difference of a column and a row, which broadcasts to a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.primitives.elementwise import BY_CODE, FIRST_CODE
from .words import where

if TYPE_CHECKING:
    from .reasons import Inquiry

MOST = 20_000  # rows that are looked at
_COMPARE = ("subtract", "squared_difference")


def spread(inquiry: Inquiry) -> tuple[str, str]:
    """Says where a column of predictions was compared with a row of labels, and what mends it; empty where none was."""
    if inquiry.spread is None:  # it is the same for all sources
        inquiry.spread = _spread(inquiry)
    return inquiry.spread


def _spread(inquiry: Inquiry) -> tuple[str, str]:
    record = inquiry.record
    if record is None or len(record) > MOST:
        return "", ""
    live = inquiry.live()
    ops, left, right, _, _ = record.columns()
    for row, op in enumerate(ops):
        if op < FIRST_CODE or not live[row] or BY_CODE[op - FIRST_CODE].name not in _COMPARE:
            continue
        shapes = [tuple(record.shape_dtype(r)[0]) for r in (left[row], right[row])]
        if _column_and_row(*shapes) or _column_and_row(*shapes[::-1]):
            return _said(inquiry, row, shapes)
    return "", ""


def _column_and_row(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether these are the shapes (N, 1) and (N,) of as many numbers."""
    return len(second) == 1 and second[0] > 1 and first == (second[0], 1)


def _said(inquiry: Inquiry, row: int, shapes: list[tuple[int, ...]]) -> tuple[str, str]:
    record = inquiry.record
    assert record is not None
    place = inquiry.trace.place(inquiry.trace.of_row(record, row))
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    count = max(shapes[0])
    return (
        f"It may not be the one that you want, though: shapes {shapes[0]} and {shapes[1]} broadcast to ({count}, {count}){at}, so that "
        "each value is compared with all the others.",
        "Give both the same shape: tf.squeeze(predictions, -1), or labels[:, tf.newaxis].",
    )
