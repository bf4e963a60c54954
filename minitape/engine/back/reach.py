"""Which rows of a recording matter to a gradient: those on the tape that depend on a source."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..recording.rows import LEAF
from .marks import DEAD_END, ENDS_HERE, propagate

if TYPE_CHECKING:
    from .tape import GradientTape


def on_tape(tape: GradientTape, foreign: set[int] | None = None) -> bytearray:
    """For each row, 1 when it is on this tape: watched, or written during a span from something on the tape. Rows that
    are watched although the operation that wrote them is not on the tape are put into ``foreign``.
    """
    record = tape._record
    assert record is not None
    n = record.next
    on = bytearray(n)
    spans = [*tape.spans, (tape._start, n)] if tape._recording else tape.spans
    watches = deque(sorted((since, row) for row, since in tape.watched.items()))
    for first, last in (*spans, (n, n + 1)):  # at the end what is watched since then
        while watches and watches[0][0] < last:
            since, row = watches.popleft()
            if since > first:  # rows from there on see the watched row
                propagate(record, on, first, since)
                first = since
            if not on[row]:
                on[row] = 1
                if foreign is not None and record.cell(row)[0] != LEAF:
                    foreign.add(row)
        propagate(record, on, first, min(last, n))
    return on.replace(bytes([DEAD_END]), b"\1")


def reachable_rows(tape: GradientTape, sources: set[int]) -> bytearray:
    """For each row, a mark that is not 0 when it is on the tape and depends on one of the source rows."""
    record = tape._record
    assert record is not None
    foreign: set[int] = set()
    if sources <= tape.watched.keys() and not (tape.irregular or tape._recording or record.trace):
        on, ((start, end),) = None, tape.spans  # watched before their first use: what depends on them is on the tape
    else:
        on, start, end = on_tape(tape, foreign), 0, record.next
    reachable = bytearray(record.next)
    for row in sources:
        reachable[row] = on is None or on[row]
    if on is not None:
        for row in foreign:
            on[row] = 0  # nothing reaches it through its own operation
    propagate(record, reachable, max(min(sources) + 1, start), end, on)
    for row in foreign & sources:
        reachable[row] = ENDS_HERE
    return reachable
