"""Run the sweep of a gradient call that is itself recorded: by an outer tape, or in the first run of a function.

Such a sweep computes with tensors. Its operations therefore append rows that can be differentiated again.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

from ..record.record import Record, SweepBoundary
from ..record.row_parts import new_tuple
from ..record.thread_state import append_to_list_or_tuple, state
from ..record.user_frames import find_user_frame
from .sweep import run_sweep

if TYPE_CHECKING:
    from ..types import AdjointLookup, AdjointsByRow, RowSet
    from .tape import GradientTape


def run_recorded_sweep(
    tape: GradientTape,
    record: Record,
    seeds: AdjointsByRow,
    source_rows: RowSet,
    reachable: bytearray | None,
) -> AdjointLookup:
    """Run a sweep whose operations append rows to the open recording.

    The open recording is usually also the recording of the tape. The ``sweep_boundaries`` of the open recording store
    where the new rows begin and end. The picture reads them, and draws these rows in a lower tier with the name of
    the tape.

    All new rows get the site of the statement that requested the gradient. ``state.fixed_site`` contains the code and
    the bytecode offset of this statement. ``Record.find_current_offset`` opens a segment with both, and the offset is
    then in ``Record.fixed_offset``, so that ``write_rows`` does not look for a frame.

    Args:
        tape: The tape that computes the gradient.
        record: The recording of this tape, over which the sweep runs.
        seeds: The adjoints of the targets, keyed by row.
        source_rows: The rows of the sources.
        reachable: A mark for each row (0 if the row does not matter), or None if all rows matter.

    Returns:
        A function that takes a row and returns its adjoint, or None if the row has none.
    """
    open_record = state.record
    assert open_record is not None
    outer_site = state.fixed_site
    outer_offset = open_record.fixed_offset
    outer_index = open_record.sweep_boundaries[-1].entry_index if open_record.sweep_boundaries else None
    try:
        # The picture shows that a block of rows begins here.
        entry_index = tape.entry_index if record is open_record else None
        block = new_tuple(SweepBoundary, (open_record.next, entry_index, [*seeds], [*source_rows], [*tape.spans]))
        open_record.sweep_boundaries = append_to_list_or_tuple(open_record.sweep_boundaries, block)
        # In messages, all rows of the block belong to the statement that requested the gradient.
        if outer_site is None:
            frame = find_user_frame(_getframe(1))
            state.fixed_site = None if frame is None else (frame.f_code, frame.f_lasti)
        if open_record.is_opened_by_tape and state.fixed_site is not None:
            open_record.fixed_offset = open_record.find_current_offset()
        return run_sweep(record, seeds, source_rows, reachable, is_recorded=True)
    finally:
        state.fixed_site = outer_site
        open_record.fixed_offset = outer_offset
        outer_block = new_tuple(SweepBoundary, (open_record.next, outer_index, (), (), ()))
        open_record.sweep_boundaries = append_to_list_or_tuple(open_record.sweep_boundaries, outer_block)
