"""Compute the gradients of a tape's targets.

A gradient takes three steps. The first finds the rows at which the sweep starts and ends. The second runs the sweep
over the rows between them. The third reads the adjoints at the sources.
"""

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
NO_ADJOINT: AdjointLookup = _NO_ADJOINTS.get  # This is the result of a sweep that has no row to start from.
_get_watched = itemgetter(2)  # The third field of a recording's member is what that tape watches.


def compute_gradients(
    tape: GradientTape, targets: list[TargetOrSource], sources: list[TargetOrSource], output_gradients: list[Adjoint]
) -> list[Result]:
    """Compute the gradient of the sum of the targets with respect to each source.

    The loops handle plain targets and sources without a call for each, because calls take time. Separate functions
    handle all others.

    Args:
        tape: The tape, whose recording has the rows.
        targets: The tensors and variables to differentiate.
        sources: The tensors and variables to differentiate by.
        output_gradients: The adjoint that each target starts with, an array or a tensor; None stands for ones.

    Returns:
        A tensor for each source, in its shape and dtype; None if no path joins it to a target.
    """
    record, outer = tape._record, state.record
    assert record is not None
    is_recorded = outer is not None and (bool(state.tapes) or outer.trace is not None)

    # The sweep starts at the rows of the targets.
    seeds: dict[int, Adjoint] = {}
    for target, output_gradient in zip(targets, output_gradients):  # noqa: B905 - A strict zip is slower.
        if (
            type(target) is EagerTensor
            and target._record is record
            and output_gradient is None
            and not is_recorded
            and type(target._value) in ONE_BY_TYPE
        ):
            row, seed = target._row, ONE_BY_TYPE[type(target._value)]
        else:
            row, seed = _find_row_and_seed(tape, target, output_gradient, is_recorded)
            if seed is None:
                continue
        seeds[row] = seeds[row] + seed if row in seeds else seed

    # It ends at the rows of the sources. A variable has a row for each of its states.
    rows: Sequence[int]
    rows_by_source: list[Sequence[int]] = []
    source_rows: set[int] = set()
    for source in sources:
        if type(source) is EagerTensor and source._record is record:
            rows = (source._row,) if source._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        elif (states := record.variables.get(id(source))) is not None and states[0] is source:
            rows = states[1] if source._state._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        else:
            rows = _find_differentiable_rows(tape, source)
        rows_by_source.append(rows)
        source_rows.update(rows)

    adjoint_of = sweep_to_sources(tape, seeds, source_rows, is_recorded) if seeds else NO_ADJOINT

    # The adjoints at the sources are the gradients.
    gradients: list[Result] = []
    for source, rows in zip(sources, rows_by_source):  # noqa: B905 - A strict zip is slower.
        g = adjoint_of(rows[0]) if len(rows) == 1 else None
        if type(g) in REALS or (type(g) is ndarray and g.shape):  # These lines do what from_array does.
            tensor = EagerTensor()
            tensor._value, tensor._record, tensor._origin = g, None, None
            gradients.append(tensor)
        elif isinstance(g, Tensor):  # A recorded sweep computes with tensors.
            gradients.append(g)
        else:
            gradients.append(_collect_gradient(tape, adjoint_of, source, rows, targets, output_gradients))
    return gradients


def _find_row_and_seed(
    tape: GradientTape, target: TargetOrSource, output_gradient: Adjoint, is_recorded: bool
) -> tuple[int, Adjoint]:
    """Return the row of a target and the adjoint that it starts with.

    Returns:
        The last row of the target and its seed. The seed is None if the target is text, or is not in the recording.
        Integers have a seed, because the rule of their operation decides whether anything passes.
    """
    if type(target) is EagerTensor and target._record is tape._record:
        row = target._row
    elif rows := find_rows_of_value(tape, target):
        row = rows[-1]
    else:
        return -1, None
    if target.dtype.kind == "s":
        return row, None
    return row, build_seed(target, output_gradient, is_recorded)


def _find_differentiable_rows(tape: GradientTape, source: TargetOrSource) -> Sequence[int]:
    """Return the rows of a source in the tape's recording; none for a dtype through which no gradient flows."""
    rows = find_rows_of_value(tape, source)
    return rows if rows and source.dtype.differentiable else ()


def _collect_gradient(
    tape: GradientTape,
    adjoint_of: AdjointLookup,
    source: TargetOrSource,
    rows: Sequence[int],
    targets: list[TargetOrSource],
    output_gradients: list[Adjoint],
) -> Result:
    """Return the sum of the adjoints at the rows of a source.

    Returns:
        A tensor. Without any adjoint at the rows it is the seed of a source that is also a target, else None.
    """
    adjoints = [adjoint for row in rows if (adjoint := adjoint_of(row)) is not None]
    if adjoints:
        gradient = sum(adjoints[1:], adjoints[0])
    else:
        gradient = compute_gradient_if_also_target(tape, source, targets, output_gradients)
    if gradient is None or isinstance(gradient, Tensor):
        return gradient
    return from_array(gradient)


def sweep_to_sources(
    tape: GradientTape, seeds: dict[int, Adjoint], source_rows: set[int], is_recorded: bool
) -> AdjointLookup:
    """Run a sweep from the rows of the targets back to the rows of the sources.

    Args:
        tape: The tape, whose recording has the rows.
        seeds: The adjoints of the targets by row; at least one.
        source_rows: The rows whose adjoints are wanted.
        is_recorded: Whether the sweep itself is recorded, for an outer tape or for a function that is being traced.

    Returns:
        A function that takes a row of ``source_rows`` and returns its adjoint, or None if the row has none.
    """
    record, spans, watched = tape._record, tape.spans, tape.watched
    assert record is not None
    if record.mandatory_calls:
        source_rows = source_rows | _find_mandatory_inputs(record)
    if not source_rows:
        return NO_ADJOINT
    reachable: bytearray | None
    # Whether the sources are all that any tape watches, and everything that depends on them is on this tape.
    asks_everything = (
        watched.keys() == source_rows
        and not (tape.irregular or tape._recording or record.trace)
        and max(seeds) < spans[0][1]
        and (len(record.members) == 1 or all(map(source_rows.issuperset, map(_get_watched, record.members))))
    )
    if not asks_everything:
        reachable = mark_reachable_rows(tape, source_rows)
    elif (
        record.has_calls or record.has_large_arrays or (is_recorded and len(record.members) > 1)
    ):  # The share of a constant takes long to compute in these recordings.
        reachable = bytearray(b"\1") * record.next
        for row in record.untracked:  # The recording has collected these rows when it wrote them.
            reachable[row] = 0
    else:
        reachable = None  # Shares for constants are small here, and cost less than a search for constants.
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
