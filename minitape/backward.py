"""Running the backward sweep of a tape: written out or repeated where its plan is met often, else walked."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from . import plan
from .frames import user_frame
from .primitives import _BATCH
from .quiet import hush, restore
from .record import Record, state
from .sweep import Sweep
from .tensor import EagerTensor


class Swept:
    """The adjoints that a written or repeated sweep has found."""

    __slots__ = ("adjoint",)

    def __init__(self, adjoints: dict[int, Any]) -> None:
        self.adjoint: Callable[[int], Any] = adjoints.get


def sweep(tape: Any, seeds: dict[int, Any], sources: set[int], recorded: bool) -> Any:
    """The finished sweep from these seeds (adjoints by row); None when no target depends on a source.

    ``adjoint(row)`` of what is returned is what has arrived at a source. ``recorded`` when an outer tape, or the graph
    that is being built, is to know how the gradients were computed.
    """
    record = tape._record
    batched = bool(_BATCH) and any(type(s) in _BATCH for s in seeds.values())
    known = plan.of_tape(tape, sources, recorded, batched)
    marks = known.marks
    if marks is not None:
        sources = {r for r in sources if marks[r]}
        seeds = {r: s for r, s in seeds.items() if marks[r]}
        if not seeds:
            return None
    if recorded:
        return _recorded(tape, record, known, seeds, sources)
    alone = record.tapes == 1 and not tape._persistent
    found = None if known.visits is None else _written(record, known, seeds, sources, alone)
    return _walked(tape, record, known, seeds, sources, False) if found is None else found


def _written(record: Record, known: plan.Plan, seeds: Any, sources: set[int], alone: bool) -> Swept | None:
    """The sweep as its plan's program does it; None where there is none. Nobody else computes rows meanwhile."""
    with record.lock:
        program = known.program(record, seeds, sources, alone)
        if program is None:
            return None
        before = hush()
        try:
            return Swept(program(record, seeds))
        except plan.Unplanned:
            known.walk_only()
            return None
        finally:
            restore(before)


def _walked(tape: Any, record: Any, known: plan.Plan, seeds: Any, sources: set[int], recorded: bool) -> Sweep:
    kind = Sweep if type(record) is Record else record.sweeper  # a graph's own
    found: Sweep = kind(record, seeds, sources, known.marks, recorded=recorded, visits=known.visits)
    before, state.by = state.by, tape
    try:
        found.run()
    finally:
        state.by = before
    return found


def _recorded(tape: Any, record: Any, known: plan.Plan, seeds: dict[int, Any], sources: set[int]) -> Any:
    """A sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site, by = state.record, state.site, state.by
    if outer is None:
        return _walked(tape, record, known, seeds, sources, True)
    if site is None:
        frame = user_frame(_getframe(2))
        state.site = None if frame is None else (frame.f_code, frame.f_lasti)
    outer.by_marks.append((len(outer), outer.member(tape)))
    try:
        if outer is not record or state.site is None or not all(map(_fresh, seeds.values())):
            return _walked(tape, record, known, seeds, sources, True)
        start = known.start(record, seeds)
        rows = None if start is None else known.repeated(start)
        if rows is not None:
            return Swept(rows.write(record, list(seeds.values())))
        from .repeated import Before, Repeated

        before = Before(len(record), len(record.calls), record.done)
        for seed in seeds.values():
            record.enter(seed)  # now, so that the rules meet a row and not a value
        found = _walked(tape, record, known, seeds, sources, True)
        if start is not None:
            known.keep(start, lambda: Repeated.capture(record, before, list(seeds.values()), sources, found.adjoint))
        return found
    finally:
        state.site = site
        outer.by_marks.append((len(outer), None if by is None else outer.member(by)))


def _fresh(seed: Any) -> bool:
    """True for a seed that no recording knows yet."""
    return type(seed) is EagerTensor and seed._lane is None and seed._home is None
