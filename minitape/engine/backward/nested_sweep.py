"""Run the sweep of a gradient call inside another tape.

Such a sweep computes with tensors. Its operations therefore append rows, which the outer tape can differentiate.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

from ..record.record import GradientRows
from ..record.row_parts import new_tuple
from ..record.thread_state import append_to_list_or_tuple, state
from ..record.user_frames import find_user_frame
from .sweep import run_sweep

if TYPE_CHECKING:
    from ..record.record import Record
    from ..types import Adjoint, AdjointLookup, Object
    from .tape import GradientTape


def run_recorded_sweep(
    tape: GradientTape, record: Record, seeds: dict[int, Adjoint], source_rows: set[int], *sweep_options: Object
) -> AdjointLookup:
    """Run a sweep whose operations are recorded.

    All rows of the sweep get the site of the statement that requested the gradient. The outer recording's
    ``gradient_rows`` store where these rows begin and end.

    Args:
        tape: The tape that computes the gradient.
        record: The recording to sweep over.
        seeds: The adjoints of the targets, keyed by row.
        source_rows: The rows of the sources.
        *sweep_options: The remaining arguments of ``run_sweep``.

    Returns:
        A function that takes a row and returns its adjoint, or None if the row has none.
    """
    outer, site = state.record, state.fixed_site
    assert outer is not None
    outer_site = outer.fixed_site
    previous_member = outer.gradient_rows[-1].member if outer.gradient_rows else None
    try:
        if site is None:
            frame = find_user_frame(_getframe(1))
            state.fixed_site = None if frame is None else (frame.f_code, frame.f_lasti)
        member = tape.member if tape.record is outer else None
        gradient_rows = new_tuple(GradientRows, (outer.next, member, [*seeds], [*source_rows], [*tape.spans]))
        outer.gradient_rows = append_to_list_or_tuple(outer.gradient_rows, gradient_rows)
        if outer.is_open and state.fixed_site is not None:
            outer.fixed_site = outer.note_current_site()
        return run_sweep(record, seeds, source_rows, *sweep_options)
    finally:
        state.fixed_site, outer.fixed_site = site, outer_site
        outer.gradient_rows = append_to_list_or_tuple(
            outer.gradient_rows, new_tuple(GradientRows, (outer.next, previous_member, (), (), ()))
        )
