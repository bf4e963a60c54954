"""Mark the rows that matter for a gradient: the rows on the tape that depend on a source."""

from collections import deque

from ..record.row_parts import LEAF
from ..types import RowSet
from .recording_tape import RecordingTape
from .row_marks import DEAD_END, ENDS_HERE, has_differentiable_dtype, propagate_marks_to_consumers


def mark_rows_on_tape(tape: RecordingTape, watched_results_out: RowSet | None = None) -> bytearray:
    """Mark the rows that are on a tape.

    A row is on the tape if it is watched, or if it was written during a span and reads a row on the tape. For each
    watched row, `since` (the value in ``tape.watched``) is the row that was the next row when the watch began. The
    watch applies only to rows from `since` on. An earlier row does not depend on the watched row in this sense,
    even if it reads the watched row. The function therefore visits the watches in the order in which they began.
    Before it marks a watched row, it propagates the existing marks up to `since`.

    Args:
        tape: A tape that has a recording.
        watched_results_out: A set to which the function adds the watched results. These are rows that an operation
            computed, but that are on the tape only because they are watched.

    Returns:
        A mark for each row of the recording, 1 if the row is on the tape, and 0 otherwise.
    """
    record = tape._record
    assert record is not None
    row_count = record.next
    marks = bytearray(row_count)
    spans = [*tape.spans, (tape.span_start, row_count)] if tape.is_recording else tape.spans
    watches = deque(sorted((since, row) for row, since in tape.watched.items()))
    # The additional empty span at the end marks rows that were watched after the last row was written.
    for span_start, span_end in (*spans, (row_count, row_count + 1)):
        while watches and watches[0][0] < span_end:
            since, row = watches.popleft()
            if since > span_start:  # Rows before `since` must not inherit the mark of the watched row.
                propagate_marks_to_consumers(record, marks, span_start, since)
                span_start = since
            if not marks[row]:
                marks[row] = 1 if has_differentiable_dtype(record, row) else DEAD_END
                if watched_results_out is not None and record.read_integer_cells(row).code != LEAF:
                    watched_results_out.add(row)
        propagate_marks_to_consumers(record, marks, span_start, min(span_end, row_count))
    return marks.replace(bytes([DEAD_END]), b"\1")


def mark_reachable_rows(tape: RecordingTape, source_rows: RowSet) -> bytearray:
    """Mark the rows on a tape that depend on a source.

    Args:
        tape: A tape that has a recording.
        source_rows: One or more rows of the sources.

    Returns:
        A mark for each row of the recording, 0 if the row does not matter. ``row_marks`` defines the other marks.
    """
    record = tape._record
    assert record is not None
    watched_results: RowSet = set()
    if source_rows <= tape.watched.keys() and not (tape.irregular or tape.is_recording or record.first_run):
        # The sources were watched before their first use, so every row that depends on them is on the tape.
        marks = None
        ((start, end),) = tape.spans
    else:
        marks = mark_rows_on_tape(tape, watched_results)
        start = 0
        end = record.next
    reachable = bytearray(record.next)
    for row in source_rows:
        reachable[row] = marks is None or marks[row]
    if marks is not None:
        for row in watched_results:
            marks[row] = 0  # The row's own operation is not on the tape, so no gradient passes through it.
    propagate_marks_to_consumers(record, reachable, max(min(source_rows) + 1, start), end, marks)
    for row in watched_results & source_rows:
        reachable[row] = ENDS_HERE
    return reachable
