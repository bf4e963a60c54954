"""The gradients of a tape's targets: where a sweep starts, how it runs, and what has arrived at the sources."""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import Any

from .ends import NO_SEED, no_tensor, reads_target, seed_of
from .frames import user_frame
from .primitives import BATCHES
from .reach import breadth_first, differentiable, on_tape, reach
from .record import Record
from .slices import IndexedSlices
from .state import more, state
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
                if on_tape(tape)[rows[-1]]:
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
    return row in record.leaves or not on_tape(tape)[row]


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
            if value._record is record is not None:
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
    if not seeds:
        return [None] * len(ends)
    wanted = {row for rows in ends for row in rows if differentiable(record, row)}
    asked = _asked_anyway(record) if record.calls else None
    if not wanted and not asked:
        return [None] * len(ends)
    marks = reach(tape, wanted | asked if asked else wanted)
    if marks is not None:
        wanted = {row for row in wanted if marks[row]}
        seeds = {row: seed for row, seed in seeds.items() if marks[row]}
        if not seeds or not (wanted or asked):
            return [None] * len(ends)
    kind = Sweep if type(record) is Record else record.sweeper  # a graph's own
    found = (_recorded if recorded else _swept)(tape, kind, record, seeds, wanted, marks, asked)
    gradients = []
    for rows in ends:
        g = found.adjoint(rows[0]) if len(rows) == 1 and rows[0] in wanted else None
        if len(rows) > 1 or type(g) is IndexedSlices or type(g) in BATCHES:
            g = _total(found, [row for row in rows if row in wanted])
        gradients.append(g if g is None or isinstance(g, (Tensor, IndexedSlices)) else bare(g))
    return gradients


def _swept(tape: Any, kind: Any, record: Any, seeds: Any, wanted: set[int], marks: Any, asked: Any, recorded: bool = False) -> Sweep:
    """The sweep, once it was run. Functions of the user (``asked`` anyway) are called in TensorFlow's order."""
    found: Sweep = kind(record, seeds, wanted, marks, recorded=recorded)
    if asked:
        found.low = min(found.low, *asked)
        if found.long is None:
            found.order = breadth_first(record, seeds)
    before, state.by = state.by, tape
    try:
        found.run()
    finally:
        state.by = before
    return found


def _recorded(tape: Any, kind: Any, record: Any, seeds: Any, wanted: set[int], marks: Any, asked: Any) -> Sweep:
    """A sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site, by = state.record, state.site, state.by
    if outer is None:
        return _swept(tape, kind, record, seeds, wanted, marks, asked, True)
    try:
        if site is None:
            frame = user_frame(_getframe(1))
            state.site = None if frame is None else (frame.f_code, frame.f_lasti)
        outer.by_marks = more(outer.by_marks, (len(outer), outer.member(tape)))
        return _swept(tape, kind, record, seeds, wanted, marks, asked, True)
    finally:
        state.site = site
        outer.by_marks = more(outer.by_marks, (len(outer), None if by is None else outer.member(by)))


def _asked_anyway(record: Any) -> set[int]:
    """The inputs of calls whose gradient does more than give shares, which TensorFlow asks whether they lead to a source or not.

    These are functions of the user, and operations without a gradient, which are refused.
    """
    asked = [c for c in record.calls if c.primitive.name == "custom_gradient" or c.primitive.missing == "unregistered"]
    return {row for call in asked for row in call.inputs if differentiable(record, row)}


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
    return wrap(total.data) if type(total) in BATCHES else total


def _sum(parts: list[Any]) -> Any:
    return sum(parts[1:], parts[0]) if parts else None
