"""Compute the gradients of a tape's targets.

``GradientTape.gradient`` calls :func:`compute_gradients`, which takes three steps. The first step finds the rows at
which the sweep starts (the targets) and ends (the sources). The second step, :func:`sweep_to_sources`, marks the rows
between them that matter, and runs the sweep. The third step reads the adjoints of the sources.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from numpy import ndarray

from ..record.record import DIFFERENTIABLE_KINDS, Record
from ..record.row_parts import FLOAT_TYPES
from ..record.thread_state import state
from ..tensor.tensor import EagerTensor, Tensor, wrap_array
from ..types import OptionalNumber, RowSequence, RowSet
from .nested_sweep import run_recorded_sweep
from .reachability import mark_reachable_rows
from .row_marks import has_differentiable_dtype
from .sweep import run_sweep
from .targets_and_sources import ONE_BY_TYPE, build_seed, compute_gradient_if_also_target, find_rows_in_recording

if TYPE_CHECKING:
    from ..types import Adjoint, AdjointLookup, Adjoints, AdjointsByRow, Result, TargetOrSource, TargetsOrSources
    from .tape import GradientTape

_NO_ADJOINTS: AdjointsByRow = {}
find_no_adjoint: AdjointLookup = _NO_ADJOINTS.get  # This is the result if there is nothing to sweep.
_get_watched = itemgetter(2)  # The third field of an entry in ``Record.tape_entries`` contains the watched rows.


def compute_gradients(
    tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources, output_gradients: Adjoints
) -> list[Result]:
    """Compute the gradient of the sum of the targets with respect to each source.

    Args:
        tape: The tape whose recording contains the rows.
        targets: The tensors and variables to differentiate.
        sources: The tensors and variables to differentiate with respect to.
        output_gradients: The adjoint that each target starts with, an array or a tensor. None means all ones.

    Returns:
        A tensor for each source, with its shape and dtype, or None if no path connects the source to a target.
    """
    record = tape._record
    open_record = state.record
    assert record is not None
    # Under an outer tape, and in the first run of a function, the operations of the sweep must append rows themselves.
    is_recorded = open_record is not None and (bool(state.tapes) or open_record.first_run is not None)

    # The sweep starts at the rows of the targets. Scalars, the most common targets, need no call.
    row: OptionalNumber
    seeds: AdjointsByRow = {}
    for target, output_gradient in zip(targets, output_gradients):  # noqa: B905 - A strict zip is slower.
        seed = None
        if type(target) is EagerTensor and target._record is record:
            row = target._row
            if output_gradient is None and not is_recorded:
                seed = ONE_BY_TYPE.get(type(target._value))
        else:
            row = _find_start_row_of_sweep(tape, target)
        if seed is None and row is not None:
            seed = _build_seed_unless_string(target, output_gradient, is_recorded)
        if seed is not None and row is not None:
            seeds[row] = seeds[row] + seed if row in seeds else seed

    # The sweep ends at the rows of the sources. A variable has a row for each of its states.
    rows: RowSequence
    rows_by_source = []
    source_rows: RowSet = set()
    for source in sources:
        if type(source) is EagerTensor and source._record is record:
            rows = (source._row,) if source._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        elif (entry := record.variables.get(id(source))) is not None and entry[0] is source:
            rows = entry[1] if source._state._value.dtype.kind in DIFFERENTIABLE_KINDS else ()
        else:
            rows = find_differentiable_rows(tape, source)
        rows_by_source.append(rows)
        source_rows.update(rows)

    adjoint_of = sweep_to_sources(tape, record, seeds, source_rows, is_recorded) if seeds else find_no_adjoint

    # The adjoints of the sources are the gradients.
    gradients: list[Result] = []
    for source, rows in zip(sources, rows_by_source):  # noqa: B905 - A strict zip is slower.
        g = adjoint_of(rows[0]) if len(rows) == 1 else None
        # This branch is wrap_array, inlined to save the call.
        if type(g) in FLOAT_TYPES or (type(g) is ndarray and g.shape):
            tensor = EagerTensor()
            tensor._value = g
            tensor._record = None
            tensor._origin = None
            gradients.append(tensor)
        elif isinstance(g, Tensor):  # A recorded sweep computes with tensors.
            gradients.append(g)
        else:
            gradients.append(_sum_adjoints_of_source(tape, adjoint_of, source, rows, targets, output_gradients))
    return gradients


# -- rows at which the sweep starts and ends ---------------------------------------------


def _find_start_row_of_sweep(tape: GradientTape, target: TargetOrSource) -> OptionalNumber:
    """Return the row at which the sweep starts for a target, or None if the target is not in the tape's recording.

    The result is the last row that `find_rows_in_recording` returns. For a variable with watched states, this is the
    row of a watched state.
    """
    rows = find_rows_in_recording(tape, target)
    return rows[-1] if rows else None


def _build_seed_unless_string(target: TargetOrSource, output_gradient: Adjoint, is_recorded: bool) -> Adjoint:
    """Build the adjoint that a target starts with.

    Returns:
        The seed, or None for strings. Integers have seeds, because the rules of their operations decide whether a
        gradient passes.
    """
    # Strings have the kind "O" in NumPy, and "s" in a DType. NumPy's dtype is faster to look up.
    dtype = target._value.dtype if type(target) is EagerTensor else target.dtype
    return None if dtype.kind in "Os" else build_seed(target, output_gradient, is_recorded)


def find_differentiable_rows(tape: GradientTape, source: TargetOrSource) -> RowSequence:
    """Return the rows of a source in the tape's recording, or () if no gradient flows through the source's dtype.

    Args:
        tape: The tape whose recording contains the rows.
        source: A tensor or a variable. For other objects, ``find_rows_in_recording`` raises an error.
    """
    rows = find_rows_in_recording(tape, source)
    return rows if rows and source.dtype.differentiable else ()


# -- the sweep -------------------------------------------------------------------------------------


def sweep_to_sources(
    tape: GradientTape, record: Record, seeds: AdjointsByRow, source_rows: RowSet, is_recorded: bool
) -> AdjointLookup:
    """Run a sweep from the rows of the targets back to the rows of the sources.

    Args:
        tape: The tape that computes the gradient.
        record: The recording of this tape.
        seeds: The adjoints of the targets, keyed by row. There is at least one.
        source_rows: The rows of the sources.
        is_recorded: Whether the sweep itself is recorded, by an outer tape or by the first run of a function.

    Returns:
        A function that takes a row of ``source_rows`` and returns its adjoint, or None if the row has none.
    """
    if record.mandatory_calls:
        source_rows = source_rows | _find_mandatory_inputs(record)
    if not source_rows:
        return find_no_adjoint
    # Which rows matter? There are three cases:
    # 1. Some watched row is not a source, or the tape is too irregular to tell this quickly. Only the rows that depend
    #    on a source matter.
    # 2. Otherwise, only tracked rows matter. They are marked if the shares of untracked rows (the constants) would be
    #    expensive: for calls and large arrays, or if the sweep would append rows for these shares to this recording.
    #    (In that last case, the tape that records the sweep is a second entry of `tape_entries`.)
    # 3. If these shares are cheap, finding the constants would take longer. No row is marked, and all rows matter.
    reachable = None
    if not _is_every_watched_row_a_source(tape, record, seeds, source_rows):
        reachable = mark_reachable_rows(tape, source_rows)
    elif record.has_calls or record.has_large_arrays or (is_recorded and len(record.tape_entries) > 1):
        reachable = _mark_tracked_rows(record)
    if reachable is not None and 0 in map(reachable.__getitem__, (*source_rows, *seeds)):
        source_rows = {row for row in source_rows if reachable[row]}
        seeds = {row: seed for row, seed in seeds.items() if reachable[row]}
        if not seeds or not source_rows:
            return find_no_adjoint
    if is_recorded:
        return run_recorded_sweep(tape, record, seeds, source_rows, reachable)
    return run_sweep(record, seeds, source_rows, reachable, is_recorded=False)


def _is_every_watched_row_a_source(
    tape: GradientTape, record: Record, seeds: AdjointsByRow, source_rows: RowSet
) -> bool:
    """Return whether every row that any tape watches is a source of this gradient, as in most calls.

    For such a call, `mark_reachable_rows` would mark exactly the tracked rows between the sources and the targets, so
    its pass over the rows can be skipped. There are three reasons:

    * The tape is regular, so it has watched each source since the leaf of the source was written. Every row that reads
      the source therefore depends on this watch.
    * The only span of the tape ended after the last target, so every row before the target is on the tape.
    * No tape of the recording watches anything else, so a row that does not depend on a source is untracked.

    The recording of a first run is excluded, because normally all its rows are untracked (``Record.untracked``).
    """
    return (
        tape.watched.keys() == source_rows
        and not (tape.irregular or tape.is_recording or record.first_run)
        and max(seeds) < tape.spans[0][1]
        and (len(record.tape_entries) == 1 or all(map(source_rows.issuperset, map(_get_watched, record.tape_entries))))
    )


def _mark_tracked_rows(record: Record) -> bytearray:
    """Mark the rows that depend on anything that a tape watches.

    Returns:
        A mark for each row of the recording, 0 if the row is untracked, and 1 otherwise.
    """
    marks = bytearray(b"\1") * record.next
    for row in record.untracked:
        marks[row] = 0
    return marks


def _find_mandatory_inputs(record: Record) -> RowSet:
    """Find the input rows of mandatory calls.

    Returns:
        The rows. They are treated as sources, because the rules of these calls must run even if no source is among
        their ancestors.
    """
    return {row for call in record.mandatory_calls for row in call.inputs if has_differentiable_dtype(record, row)}


# -- reading the gradients -------------------------------------------------------------------------


def _sum_adjoints_of_source(
    tape: GradientTape,
    adjoint_of: AdjointLookup,
    source: TargetOrSource,
    rows: RowSequence,
    targets: TargetsOrSources,
    output_gradients: Adjoints,
) -> Result:
    """Add up the adjoints of a source's rows.

    Returns:
        The sum as a tensor. If no row has an adjoint, the result is the source's seed if the source is also a target,
        and None otherwise.
    """
    adjoints = [adjoint for row in rows if (adjoint := adjoint_of(row)) is not None]
    if adjoints:
        gradient = sum(adjoints[1:], adjoints[0])
    else:
        gradient = compute_gradient_if_also_target(tape, source, targets, output_gradients)
    if gradient is None or isinstance(gradient, Tensor):
        return gradient
    return wrap_array(gradient)
