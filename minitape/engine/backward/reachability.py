"""Which rows of a recording matter to a gradient: those on the tape that depend on a source."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..record.row_parts import LEAF
from .row_marks import DEAD_END, ENDS_HERE, propagate_marks_to_consumers

if TYPE_CHECKING:
    from .tape import GradientTape


def mark_rows_on_tape(tape: GradientTape, foreign_rows_out: set[int] | None = None) -> bytearray:
    """Mark each row with 1 when it is on this tape: watched, or written during a span from something on the tape. Rows
    that are watched although the operation that wrote them is not on the tape are put into ``foreign_rows_out``.
    """
    record = tape._record
    assert record is not None
    row_count = record.next
    marks = bytearray(row_count)
    spans = [*tape.spans, (tape._start, row_count)] if tape._recording else tape.spans
    watches = deque(sorted((since, row) for row, since in tape.watched.items()))
    for span_start, span_end in (*spans, (row_count, row_count + 1)):  # at the end what is watched since then
        while watches and watches[0][0] < span_end:
            since, row = watches.popleft()
            if since > span_start:  # rows from there on see the watched row
                propagate_marks_to_consumers(record, marks, span_start, since)
                span_start = since
            if not marks[row]:
                marks[row] = 1
                if foreign_rows_out is not None and record.read_integer_cells(row).op != LEAF:
                    foreign_rows_out.add(row)
        propagate_marks_to_consumers(record, marks, span_start, min(span_end, row_count))
    return marks.replace(bytes([DEAD_END]), b"\1")


def mark_reachable_rows(tape: GradientTape, source_rows: set[int]) -> bytearray:
    """Mark each row, with a mark that is not 0 when it is on the tape and depends on one of the source rows."""
    record = tape._record
    assert record is not None
    foreign_rows: set[int] = set()
    if source_rows <= tape.watched.keys() and not (tape.irregular or tape._recording or record.trace):
        marks, ((start, end),) = None, tape.spans  # watched before their first use: what depends on them is on the tape
    else:
        marks, start, end = mark_rows_on_tape(tape, foreign_rows), 0, record.next
    reachable = bytearray(record.next)
    for row in source_rows:
        reachable[row] = marks is None or marks[row]
    if marks is not None:
        for row in foreign_rows:
            marks[row] = 0  # nothing reaches it through its own operation
    propagate_marks_to_consumers(record, reachable, max(min(source_rows) + 1, start), end, marks)
    for row in foreign_rows & source_rows:
        reachable[row] = ENDS_HERE
    return reachable
