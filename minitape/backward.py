"""The gradients of a tape's targets: where a sweep starts, how it runs, and what has arrived at the sources.

It is written out or repeated where its plan is met often, else walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import Any

from . import plan
from .columns import more
from .ends import NO_SEED, no_tensor, reads_target, seed_of
from .frames import user_frame
from .primitives import BATCHES
from .quiet import hush, restore
from .record import Record
from .slices import IndexedSlices
from .state import state
from .sweep import Sweep
from .tensor import EagerTensor, Tensor, bare, wrap


def gradients_of(tape: Any, targets: list[Any], sources: list[Any], seeds: list[Any]) -> list[Any]:
    """The gradients of targets that start with these adjoints (None: ones) with respect to each source; None for some."""
    heads, ends = rows_of(tape, targets), rows_of(tape, sources)
    starts: dict[int, Any] = {}
    passed: list[int] = []  # the targets whose output gradients no operation receives
    recorded = bool(state.tapes) or state.graph is not None
    for at, rows in enumerate(heads):
        target = targets[at]
        if rows and target.dtype.kind != "s":  # also integers: the operation that made them says what passes
            if seeds[at] is NO_SEED:
                if plan.on_tape(tape)[rows[-1]]:
                    raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) "
                                     "to a Tensor.")  # fmt: skip
                seeds[at] = None
            if seeds[at] is not None and _passes(tape, target, rows[-1], seeds[at]):
                passed.append(at)
                continue
            row, one = rows[-1], seed_of(target, seeds[at], recorded)
            starts[row] = starts[row] + one if row in starts else one
    found = sweep(tape, starts, ends, recorded)
    for at, g in enumerate(found):
        if g is None:
            found[at] = _same(tape, sources[at], targets, seeds)
        elif passed:
            parts = [seeds[i] for i in passed if targets[i] is sources[at]]
            found[at] = _add_n([*parts, g]) if parts else g
    return found


def _passes(tape: Any, target: Any, row: int, seed: Any) -> bool:
    """Whether an output gradient unlike its target meets no operation that minds, so that it is the gradient."""
    record = tape._record
    if type(record) is not Record or not isinstance(seed, Tensor):
        return False
    if seed.dtype is target.dtype and seed.shape == target.shape:
        return False
    return row in record.leaves or not plan.on_tape(tape)[row]


def _same(tape: Any, source: Any, targets: list[Any], seeds: list[Any]) -> Any:
    """A source that no row knows has a gradient only where it is itself a target."""
    if source.dtype.kind == "s":
        return None
    parts: list[Any] = []
    for target, seed in zip(targets, seeds, strict=True):
        seed = None if seed is NO_SEED else seed
        if target is source or getattr(target, "_base", target) is getattr(source, "_base", source):
            if seed is not None and not isinstance(seed, Tensor):
                return wrap(seed.data) if reads_target(tape, target) else None  # a Jacobian's
            parts.append(seed_of(target, None, True) if seed is None else seed)
    return _add_n(parts) if parts else None


def _add_n(gradients: list[Any]) -> Any:
    """The sum of gradients; InvalidArgumentError for unlike dtypes or shapes."""
    from .ops.clipping import add_n

    return gradients[0] if len(gradients) == 1 else add_n(gradients)


def rows_of(tape: Any, values: list[Any]) -> list[tuple[int, ...]]:
    """The rows that hold these tensors, or the states of these variables, in a tape's recording.

    Raises what TensorFlow raises for anything else.
    """
    record = tape._record
    found: list[tuple[int, ...]] = []
    for value in values:
        if type(value) is EagerTensor:
            lane = value._lane
            if lane is not None and (lane is record or lane.home is record is not None):
                found.append((value._row,))
                continue
            row = None if record is None else record.find(value)
            found.append(() if row is None else (row,))
        elif hasattr(value, "_tape_rows"):
            found.append(value._tape_rows(tape))
        else:
            raise no_tensor(values)
    return found


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
    if not seeds or not (known.sources or known.low is not None):
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
            return run(record, seeds)
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
    if known.low is not None:
        found.low = min(found.low, known.low)
        if known.visits is None and found.long is None:  # functions of the user: they are called in TensorFlow's order
            found.visits = [*found._planned(plan.breadth_first(record, seeds))]
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
