"""The gradients of a tape's targets: where a sweep starts, which rows it needs, and what has arrived at the sources."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from numpy import ndarray

from ..recording.record import CONTINUOUS
from ..recording.rows import REALS
from ..recording.state import state
from ..tensor.tensor import EagerTensor, Tensor, from_array
from .endpoints import ONE, adjoint_as_target, first_adjoint, rows_of
from .marks import differentiable
from .nested_sweep import record_sweep
from .reach import reachable_rows
from .sweep import run_sweep

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..types import Adjoint, AdjointOf, End, Result
    from .tape import GradientTape

_NONE_ARRIVED: dict[int, Adjoint] = {}
NO_ADJOINT: AdjointOf = _NONE_ARRIVED.get  # what a sweep returns that starts nowhere
_WATCHED = itemgetter(2)  # of a member of a recording


def gradients_of(
    tape: GradientTape, targets: list[End], sources: list[End], output_gradients: list[Adjoint]
) -> list[Result]:
    """The gradients of targets that start with these adjoints (None: ones) with respect to each source, or None."""
    record, outer = tape._record, state.record
    assert record is not None
    recorded = outer is not None and (bool(state.tapes) or outer.trace is not None)
    # where the sweep starts
    starts: dict[int, Adjoint] = {}
    rows: Sequence[int]
    for target, given in zip(targets, output_gradients):  # noqa: B905 - slow
        if type(target) is EagerTensor and target._record is record:
            row = target._row
        elif rows := rows_of(tape, target):
            row = rows[-1]
        else:
            continue
        if (
            given is None and not recorded and type(target) is EagerTensor and type(target._value) in ONE
        ):  # the usual case
            first = ONE[type(target._value)]
        elif target.dtype.kind == "s":
            continue
        else:  # integers, too: the rule of what made them says whether anything passes
            first = first_adjoint(target, given, recorded)
        starts[row] = starts[row] + first if row in starts else first
    # where it ends: a variable has a row for each of its states
    rows_by_source: list[Sequence[int]] = []
    source_rows: set[int] = set()
    for source in sources:
        if type(source) is EagerTensor and source._record is record:
            rows = (source._row,) if source._value.dtype.kind in CONTINUOUS else ()
        elif (known := record.variables.get(id(source))) is not None and known[0] is source:
            rows = known[1] if source._state._value.dtype.kind in CONTINUOUS else ()
        elif not (rows := rows_of(tape, source)) or not source.dtype.differentiable:
            rows = ()
        rows_by_source.append(rows)
        source_rows.update(rows)
    adjoint_of = sweep_to_sources(tape, starts, source_rows, recorded) if starts else NO_ADJOINT
    # what has arrived there
    gradients: list[Result] = []
    for source, rows in zip(sources, rows_by_source):  # noqa: B905 - slow
        g = adjoint_of(rows[0]) if len(rows) == 1 else None
        if type(g) in REALS or (type(g) is ndarray and g.shape):  # as from_array does it, without a call
            made = EagerTensor()
            made._value, made._record, made._origin = g, None, None
            gradients.append(made)
            continue
        if g is None:
            parts = [g for row in rows if (g := adjoint_of(row)) is not None]
            g = sum(parts[1:], parts[0]) if parts else adjoint_as_target(source, targets, output_gradients)
        gradients.append(g if g is None or isinstance(g, Tensor) else from_array(g))
    return gradients


def sweep_to_sources(tape: GradientTape, starts: dict[int, Adjoint], sources: set[int], recorded: bool) -> AdjointOf:
    """Sweeps back from ``starts`` (adjoints by row) to the rows of the sources, and returns a function that gives the
    adjoint of a row. ``recorded``: the sweep itself is written down, for an outer tape or a function that is traced.
    """
    record, spans, watched = tape._record, tape.spans, tape.watched
    assert record is not None
    if record.mandatory:
        sources = sources | _mandatory_inputs(record)
    if not sources:
        return NO_ADJOINT
    reachable: bytearray | None
    all_is_asked = (  # all that any tape watches, and all that depends on it is on this tape
        watched.keys() == sources
        and not (tape.irregular or tape._recording or record.trace)
        and max(starts) < spans[0][1]
        and (len(record.members) == 1 or all(map(sources.issuperset, map(_WATCHED, record.members))))
    )
    if not all_is_asked:
        reachable = reachable_rows(tape, sources)
    elif record.has_calls or record.large or (recorded and len(record.members) > 1):  # a share for a constant is dear
        reachable = bytearray(b"\1") * record.next
        for row in record.untracked:  # noted when they were written
            reachable[row] = 0
    else:
        reachable = None  # numbers and small arrays: shares for constants cost less than to find them
    if reachable is not None and 0 in map(reachable.__getitem__, (*sources, *starts)):
        sources = {row for row in sources if reachable[row]}
        starts = {row: given for row, given in starts.items() if reachable[row]}
        if not starts or not sources:
            return NO_ADJOINT
    question = record, starts, sources, reachable, recorded
    return record_sweep(tape, *question) if recorded else run_sweep(*question)


def _mandatory_inputs(record: Record) -> set[int]:
    """The inputs of calls of mandatory primitives."""
    return {row for call in record.mandatory for row in call.inputs if differentiable(record, row)}
