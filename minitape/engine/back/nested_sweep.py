"""A gradient inside another tape: its sweep writes rows, through which that tape can go back."""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

from ..recording.frames import user_frame
from ..recording.record import GradientRows
from ..recording.rows import new_tuple
from ..recording.state import append_item, state
from .sweep import run_sweep

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..types import Adjoint, AdjointOf, Object
    from .tape import GradientTape


def record_sweep(
    tape: GradientTape, record: Record, starts: dict[int, Adjoint], sources: set[int], *how: Object
) -> AdjointOf:
    """Runs a sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site = state.record, state.fixed_site
    assert outer is not None
    fixed, before = outer.fixed_site, outer.writers[-1].member if outer.writers else None
    try:
        if site is None:
            frame = user_frame(_getframe(1))
            state.fixed_site = None if frame is None else (frame.f_code, frame.f_lasti)
        member = tape.member if tape._record is outer else None
        writer = new_tuple(GradientRows, (outer.next, member, [*starts], [*sources], [*tape.spans]))
        outer.writers = append_item(outer.writers, writer)
        if outer.open and state.fixed_site is not None:
            outer.fixed_site = outer.current_site()
        return run_sweep(record, starts, sources, *how)
    finally:
        state.fixed_site, outer.fixed_site = site, fixed
        outer.writers = append_item(outer.writers, new_tuple(GradientRows, (outer.next, before, (), (), ())))
