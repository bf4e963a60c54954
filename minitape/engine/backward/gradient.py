"""The gradients of a tape's targets: where a sweep starts, which rows it needs, and what has arrived at the sources."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from numpy import ndarray

from ..record.record import DIFFERENTIABLE_KINDS
from ..record.row_parts import REALS
from ..record.thread_state import state
from ..tensor.tensor import EagerTensor, Tensor, from_array
from .nested_sweep import run_recorded_sweep
from .reachability import mark_reachable_rows
from .row_marks import has_differentiable_dtype
from .sweep import run_sweep
from .targets_and_sources import ONE_BY_TYPE, build_seed, compute_gradient_if_also_target, find_rows_of_value

if TYPE_CHECKING:
    from ..record.record import Record
    from ..types import Adjoint, AdjointLookup, Result, TargetOrSource
    from .tape import GradientTape

_NO_ADJOINTS: dict[int, Adjoint] = {}
NO_ADJOINT: AdjointLookup = _NO_ADJOINTS.get  # what a sweep returns that starts nowhere
_get_watched = itemgetter(2)  # of a member of a recording


def compute_gradients(
    tape: GradientTape, targets: list[TargetOrSource], sources: list[TargetOrSource], output_gradients: list[Adjoint]
) -> list[Result]:
    """Compute the gradient by each source, None where no path leads there.

    ``output_gradients`` are the adjoints that the targets start with; None stands for ones.
    """
    record, outer = tape._record, state.record
    assert record is not None
    is_recorded = outer is not None and (bool(state.tapes) or outer.trace is not None)
    # where the sweep starts
    seeds: dict[int, Adjoint] = {}
    rows: Sequence[int]
    for target, output_gradient in zip(targets, output_gradients):  # noqa: B905 - slow
        if type(target) is EagerTensor and target._record is record:
            row = target._row
        elif rows := find_rows_of_value(tape, target):
            row = rows[-1]
        else:
            continue
        if (
            output_gradient is None
            and not is_recorded
            and type(target) is EagerTensor
            and type(target._value) in ONE_BY_TYPE
        ):  # the usual case
            seed = ONE_BY_TYPE[type(target._value)]
        elif target.dtype.kind == "s":
            continue
        else:  # integers, too: the rule of what made them says whether anything passes
            seed = build_seed(target, output_gradient, is_recorded)
        seeds[row] = seeds[row] + seed if row in seeds else seed
    # where it ends: a variable has a row for each of its states
    rows_by_source: list[Sequence[int]] = []
    source_rows: set[int] = set()
    for source in sources:
        if type(source) is EagerTensor and source._record is record:
            rows = (source._row,) if source._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        elif (states := record.variables.get(id(source))) is not None and states[0] is source:
            rows = states[1] if source._state._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        elif not (rows := find_rows_of_value(tape, source)) or not source.dtype.differentiable:
            rows = ()
        rows_by_source.append(rows)
        source_rows.update(rows)
    adjoint_of = sweep_to_sources(tape, seeds, source_rows, is_recorded) if seeds else NO_ADJOINT
    # what has arrived there
    gradients: list[Result] = []
    for source, rows in zip(sources, rows_by_source):  # noqa: B905 - slow
        g = adjoint_of(rows[0]) if len(rows) == 1 else None
        if type(g) in REALS or (type(g) is ndarray and g.shape):  # as from_array does it, without a call
            tensor = EagerTensor()
            tensor._value, tensor._record, tensor._origin = g, None, None
            gradients.append(tensor)
            continue
        if g is None:
            state_gradients = [g for row in rows if (g := adjoint_of(row)) is not None]
            g = (
                sum(state_gradients[1:], state_gradients[0])
                if state_gradients
                else compute_gradient_if_also_target(source, targets, output_gradients)
            )
        gradients.append(g if g is None or isinstance(g, Tensor) else from_array(g))
    return gradients


def sweep_to_sources(
    tape: GradientTape, seeds: dict[int, Adjoint], source_rows: set[int], is_recorded: bool
) -> AdjointLookup:
    """Sweep back from ``seeds`` (adjoints by row) to the rows of the sources, and return a function that gives the
    adjoint of a row. ``is_recorded``: the sweep itself is written down, for an outer tape or a function that is traced.
    """
    record, spans, watched = tape._record, tape.spans, tape.watched
    assert record is not None
    if record.mandatory_calls:
        source_rows = source_rows | _find_mandatory_inputs(record)
    if not source_rows:
        return NO_ADJOINT
    reachable: bytearray | None
    asks_everything = (  # all that any tape watches, and all that depends on it is on this tape
        watched.keys() == source_rows
        and not (tape.irregular or tape._recording or record.trace)
        and max(seeds) < spans[0][1]
        and (len(record.members) == 1 or all(map(source_rows.issuperset, map(_get_watched, record.members))))
    )
    if not asks_everything:
        reachable = mark_reachable_rows(tape, source_rows)
    elif (
        record.has_calls or record.has_large_arrays or (is_recorded and len(record.members) > 1)
    ):  # a share for a constant is dear
        reachable = bytearray(b"\1") * record.next
        for row in record.untracked:  # noted when they were written
            reachable[row] = 0
    else:
        reachable = None  # numbers and small arrays: shares for constants cost less than to find them
    if reachable is not None and 0 in map(reachable.__getitem__, (*source_rows, *seeds)):
        source_rows = {row for row in source_rows if reachable[row]}
        seeds = {row: seed for row, seed in seeds.items() if reachable[row]}
        if not seeds or not source_rows:
            return NO_ADJOINT
    sweep_arguments = record, seeds, source_rows, reachable, is_recorded
    return run_recorded_sweep(tape, *sweep_arguments) if is_recorded else run_sweep(*sweep_arguments)


def _find_mandatory_inputs(record: Record) -> set[int]:
    """Find the rows of the inputs of calls of mandatory primitives."""
    return {row for call in record.mandatory_calls for row in call.inputs if has_differentiable_dtype(record, row)}
