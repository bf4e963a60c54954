"""Running the backward sweep of a tape: written out or repeated where its plan is met often, else walked."""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import Any

from . import plan
from .columns import more
from .frames import user_frame
from .primitives import BATCHES
from .quiet import hush, restore
from .record import Record
from .slices import IndexedSlices
from .state import state
from .sweep import Sweep
from .tensor import EagerTensor, Tensor, bare, wrap


def sweep(tape: Any, seeds: dict[int, Any], ends: Sequence[tuple[int, ...]], recorded: bool) -> list[Any]:
    """The gradients that these seeds (adjoints by row) give sources with the rows ``ends``: tensors, IndexedSlices, None.

    ``recorded`` when an outer tape, or the graph that is being built, is to know how they were computed.
    """
    record = tape._record
    batched = bool(BATCHES) and any(type(s) in BATCHES for s in seeds.values())
    known = plan.of_tape(tape, ends, recorded, batched)
    marks = known.marks
    if marks is not None and not all(map(marks.__getitem__, seeds)):
        seeds = {r: s for r, s in seeds.items() if marks[r]}
    if not seeds or not known.sources:
        return [None] * len(ends)
    if recorded:
        found = _recorded(tape, record, known, seeds)
    else:
        alone = not tape._persistent and (record.tapes == 1 or _last(tape, record))
        found = None if known.visits is None else _written(record, known, seeds, alone)
        if found is None:
            found = _walked(tape, record, known, seeds, False)
    if type(found) is not dict:
        return [_total(found, [r for r in rows if r in known.sources]) for rows in ends]
    gradients = []
    for rows in ends:
        g = found.get(rows[0]) if len(rows) == 1 else _sum([found[r] for r in rows if r in found])
        gradients.append(g if g is None or type(g) is EagerTensor else bare(g))
    return gradients


def _last(tape: Any, record: Record) -> bool:
    """Whether all other tapes of a recording are used up."""
    known = [other for reference, _, _ in record.members if (other := reference()) is not None]
    return len(known) == record.tapes and all(other is tape or other._used for other in known)


def _total(found: Sweep, rows: Sequence[int]) -> Any:
    """What has arrived at the rows of a source, together."""
    parts = [(row, a) for row in rows if (a := found.adjoint(row)) is not None]
    if len(parts) != 1 or type(parts[0][1]) is not IndexedSlices:
        total = _sum([a.dense() if type(a) is IndexedSlices else a for _, a in parts])
    elif type(parts[0][1].values) in BATCHES:
        total = parts[0][1].dense()
    else:
        slices = found.slices_at(parts[0][0])
        return slices if isinstance(slices.values, Tensor) else IndexedSlices(*map(wrap, slices._components()))
    if type(total) in BATCHES:
        return wrap(total.data)
    return total if total is None or isinstance(total, Tensor) else bare(total)


def _sum(parts: list[Any]) -> Any:
    return sum(parts[1:], parts[0]) if parts else None


def _written(record: Record, known: plan.Plan, seeds: dict[int, Any], alone: bool) -> dict[int, Any] | None:
    """What the plan's program finds, by row; None where there is none. Nobody else computes rows meanwhile."""
    with record.lock:
        program = known.program(record, seeds, alone)
        if program is None:
            return None
        run = program
        if alone and program.lean is not None and not record.bulky:
            if program.looked:
                program.looked -= 1
            else:
                record.lean, run = program, program.lean
        before = hush()
        try:
            return run(record, seeds)  # type: ignore[no-any-return]
        except plan.Changed:
            known.unbind(program, record, seeds, alone)
            return _written(record, known, seeds, alone)
        except plan.Unplanned:
            known.walk_only()
            return None
        finally:
            restore(before)


def _walked(tape: Any, record: Any, known: plan.Plan, seeds: dict[int, Any], recorded: bool) -> Sweep:
    kind = Sweep if type(record) is Record else record.sweeper  # a graph's own
    found: Sweep = kind(record, seeds, known.sources, known.marks, recorded=recorded, visits=known.visits)
    before, state.by = state.by, tape
    try:
        found.run()
    finally:
        state.by = before
    return found


def _recorded(tape: Any, record: Any, known: plan.Plan, seeds: dict[int, Any]) -> Any:
    """A sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site, by = state.record, state.site, state.by
    if outer is None:
        return _walked(tape, record, known, seeds, True)
    try:
        if site is None:
            frame = user_frame(_getframe(2))
            state.site = None if frame is None else (frame.f_code, frame.f_lasti)
        outer.by_marks = more(outer.by_marks, (len(outer), outer.member(tape)))
        if outer is not record or state.site is None or not all(map(_fresh, seeds.values())):
            return _walked(tape, record, known, seeds, True)
        start = known.start(record, seeds)
        rows = None if start is None else known.repeated(start, record)
        if rows is not None:
            return rows.write(record, list(seeds.values()))
        from .repeated import Before, Repeated

        before = Before(len(record), len(record.calls), record.done)
        for seed in seeds.values():
            record.enter(seed)  # now, so that the rules meet a row and not a value
        found = _walked(tape, record, known, seeds, True)
        if start is not None:
            known.keep(start, record, before.calls,
                       lambda: Repeated.capture(record, before, list(seeds.values()), known.sources, found.adjoint))  # fmt: skip
        return found
    finally:
        state.site = site
        outer.by_marks = more(outer.by_marks, (len(outer), None if by is None else outer.member(by)))


def _fresh(seed: Any) -> bool:
    """True for a seed that no recording knows yet."""
    return type(seed) is EagerTensor and seed._lane is None and seed._home is None
