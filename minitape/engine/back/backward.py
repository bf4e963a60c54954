"""The gradients of a tape's targets: where a sweep starts, and what has arrived at the sources."""

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any

from ..recording.columns import CONTINUOUS
from ..recording.frames import user_frame
from ..recording.state import appended, state
from ..table.accelerator import fast
from ..table.primitives import BATCHES, PLAIN
from ..tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from . import sweep as plain
from .endpoints import NO_ADJOINT, first_adjoint, no_tensor
from .reach import differentiable, reachable_rows
from .sweep import Sweep
from .target_sources import add_n, as_target, passes

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..types import Adjoint, End, Function, Object, Result
    from .tape import GradientTape

run_sweep = fast.instead(plain.run_sweep)
NOTHING: Any = {}.get, None  # of a sweep that gets nowhere
ARRIVED = PLAIN | {EagerTensor}  # what is a gradient as it is


def gradients_of(
    tape: GradientTape, targets: list[End], sources: list[End], output_gradients: list[Adjoint]
) -> list[Result]:
    """The gradients of targets that start with these adjoints (None: ones) with respect to each source, or None."""
    record = tape._record
    assert record is not None
    recorded = state.record is not None and (bool(state.tapes) or state.record.trace is not None)
    starts, passed = _first_adjoints(tape, targets, output_gradients, recorded)
    ends: list[Sequence[int]] = []
    rows: Sequence[int]
    wanted: set[int] = set()
    for source in sources:
        if type(source) is EagerTensor and source._record is record:
            rows = (source._row,) if source._value.dtype.kind in CONTINUOUS else ()
        elif (known := record.variables.get(id(source))) is not None and known[0] is source:
            rows = known[1] if source._state._value.dtype.kind in CONTINUOUS else ()
        elif not (rows := rows_of(tape, source)) or not source.dtype.differentiable:
            rows = ()
        ends.append(rows)
        wanted.update(rows)
    adjoint, found = sweep(tape, starts, wanted, recorded) if starts else NOTHING
    gradients: list[Result] = []
    for source, rows in zip(sources, ends, strict=True):
        g = adjoint(rows[0]) if len(rows) == 1 else None
        if type(g) not in ARRIVED:
            g = _arrived(adjoint, found, rows)
        if g is None:
            g = as_target(tape, source, targets, output_gradients, rows, starts)
        elif passed:
            g = add_n([*[output_gradients[at] for at in passed if targets[at] is source], g])
        gradients.append(g if g is None or isinstance(g, Tensor) else from_array(g))
    return gradients


def _first_adjoints(
    tape: GradientTape, targets: list[End], output_gradients: list[Adjoint], recorded: bool
) -> tuple[dict[int, Adjoint], list[int]]:
    """The adjoint that each target's row starts with, and the targets whose output gradients no operation receives."""
    record, passed = tape._record, []
    starts: dict[int, Adjoint] = {}
    for at, target in enumerate(targets):
        if type(target) is EagerTensor and target._record is record and target._value.dtype.kind in CONTINUOUS:
            row = target._row
        elif not (rows := rows_of(tape, target)) or target.dtype.kind == "s":
            continue
        else:  # integers pass: the operation that made them says what passes
            row = rows[-1]
        if output_gradients[at] is not None and passes(tape, target, row, output_gradients, at):
            passed += [at] * (output_gradients[at] is not NO_ADJOINT)
            continue
        one = first_adjoint(target, output_gradients[at], recorded)
        starts[row] = starts[row] + one if row in starts else one
    return starts, passed


def rows_of(tape: GradientTape, value: End) -> tuple[int, ...]:
    """The rows that hold a tensor, or the states of a variable, in a recording; TensorFlow's error for others."""
    if type(value) is EagerTensor:
        if (record := tape._record) is None or (row := record.find(value)) is None:
            return ()
        leaf = record.leaf_of.get(id(value), row)  # also where it was used before the tape that made it came here
        return (row,) if leaf == row or record.leaves[leaf].tensor is not value else (leaf, row)
    if not hasattr(value, "_tape_rows"):
        raise no_tensor(value)
    found: tuple[int, ...] = value._tape_rows(tape)
    return found


def sweep(
    tape: GradientTape, starts: dict[int, Adjoint], wanted: set[int], recorded: bool
) -> tuple[Function, Sweep | None]:
    """Brings these starts (adjoints by row) to the rows ``wanted``. Returns what gives the adjoint of a row, and the
    sweep, if any. ``recorded``: an outer tape, or a function that is traced, is to know how they were computed.
    """
    record = tape._record
    assert record is not None
    mandatory = _mandatory_inputs(record) if record.mandatory else None
    if not wanted and not mandatory:
        return NOTHING
    reachable = reachable_rows(tape, wanted | mandatory if mandatory else wanted, max(starts), recorded)
    if reachable is not None and 0 in map(reachable.__getitem__, (*wanted, *starts)):
        wanted = {row for row in wanted if reachable[row]}
        starts = {row: given for row, given in starts.items() if reachable[row]}
        if not starts or not (wanted or mandatory):
            return NOTHING
    given = record, starts, wanted, reachable, recorded, mandatory
    return _record_sweep(tape, *given) if recorded and state.record is not None else run_sweep(*given)


def _record_sweep(tape: GradientTape, *given: Object) -> tuple[Function, Sweep | None]:
    """Runs a sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site, by = state.record, state.site, state.by
    assert outer is not None
    fixed = outer.fixed
    try:
        state.by = tape
        if site is None:
            frame = user_frame(_getframe(1))
            state.site = None if frame is None else (frame.f_code, frame.f_lasti)
        outer.writers = appended(outer.writers, (len(outer), outer.member(tape)))
        outer.pin(state.site)
        return run_sweep(*given)
    finally:
        state.by, state.site, outer.fixed = by, site, fixed
        outer.writers = appended(outer.writers, (len(outer), None if by is None else outer.member(by)))


def _mandatory_inputs(record: Record) -> set[int]:
    """The inputs of calls that TensorFlow asks for their gradient whether they lead to a source or not: functions of
    the user, and operations without a gradient, which are refused.
    """
    return {row for call in record.mandatory for row in call.inputs if differentiable(record, row)}


def _arrived(adjoint: Function, found: Sweep | None, rows: Sequence[int]) -> Result:
    """What has arrived at the rows of a source, together; None for nothing."""
    parts = [(row, g) for row in rows if (g := adjoint(row)) is not None]
    dense = [g for _, g in parts]
    total: Adjoint = sum(dense[1:], dense[0]) if dense else None
    return new_tensor(total.data) if type(total) in BATCHES else total
