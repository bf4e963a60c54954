"""Which rows of a recording matter to a gradient: those on the tape that depend on a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recording.rows import LEAF
from .marks import propagate

if TYPE_CHECKING:
    from ..recording.record import Record
    from .tape import GradientTape

# a mark of a reachable row beside 1: a source whose own operation is not on the tape hands nothing on
ENDS_HERE = 0b101


def on_tape(tape: GradientTape, foreign: set[int] | None = None) -> bytearray:
    """For each row, 1 when it is on this tape: watched, or written during a span from something on the tape. Rows that
    are watched although the operation that wrote them is not on the tape are put into ``foreign``.
    """
    record = tape._record
    assert record is not None
    n = len(record)
    on = bytearray(n)
    spans = [*tape.spans, (tape._start, n)] if tape._recording else tape.spans
    starts = sorted((since, row) for row, since in tape.watched.items())
    at = 0
    for first, last in spans:
        while at < len(starts) and starts[at][0] < last:  # rows from `since` on see the watched row
            since, row = starts[at]
            if since > first:
                propagate(record, on, first, since)
                first = since
            _see(record, on, row, foreign)
            at += 1
        propagate(record, on, first, last)
    for _, row in starts[at:]:
        _see(record, on, row, foreign)
    return on


def _see(record: Record, on: bytearray, row: int, foreign: set[int] | None) -> None:
    if not on[row]:
        on[row] = 1
        if foreign is not None and record.cell(row)[0] != LEAF:
            foreign.add(row)


def reachable_rows(tape: GradientTape, sources: set[int]) -> bytearray:
    """For each row, 1 when it is on the tape and depends on one of the source rows."""
    record, foreign, on = tape._record, set[int](), None
    assert record is not None
    # watched before their first use: all that depends on them is on the tape
    at_once = sources <= tape.watched.keys() and len(tape.spans) == 1
    start, end = 0, len(record)
    if at_once and not (tape.late or tape._recording or record.trace is not None):
        start, end = tape.spans[0]
    else:
        on = on_tape(tape, foreign)
    reachable = bytearray(len(record))
    for row in sources:
        reachable[row] = on is None or on[row]
    if on is not None:
        for row in foreign:
            on[row] = 0  # nothing reaches it through its own operation
    propagate(record, reachable, max(min(sources) + 1, start), end, on)
    for row in foreign & sources:
        reachable[row] = ENDS_HERE
    return reachable
