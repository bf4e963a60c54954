"""Rerun a sweep to find where an adjoint became zero, NaN or infinite.

A ``tf.function`` call is rerun as individual operations on a separate tape, so that an operation inside the function
can be blamed.
"""

from collections.abc import Hashable, Iterable
from contextlib import redirect_stdout
from io import StringIO
from math import prod

import numpy as np

from ..engine.backward.gradient import find_differentiable_rows
from ..engine.backward.reachability import mark_reachable_rows
from ..engine.backward.sweep import Sweep
from ..engine.backward.tape import GradientTape
from ..engine.record.interrupt_safe import suspend_recording
from ..engine.record.record import MAX_SMALL_SIZE
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.tensor import wrap_array_with_origin
from ..engine.types import ArraysByRow, TargetOrSource, TargetsOrSources
from ..recording.recorded_rows import BackwardPass, OptionalBackwardPass
from ..recording.tape_reachability import TapeReachability
from ..recording.value_summary import ValueSummary

MAX_ROWS = 20_000  # Sweeps are not repeated for recordings with more rows than this.


def build_unit_seeds(reachability: TapeReachability) -> ArraysByRow:
    """Return the initial adjoints of a sweep: arrays of ones for the rows of differentiable targets.

    Args:
        reachability: The tape's rows, and which of them can be reached by adjoints.
    """
    return {
        row: np.ones(tuple(target.shape), target.dtype.as_numpy_dtype)[()]
        for target in reachability.targets
        for row in find_differentiable_rows(reachability.tape, target)[-1:]
    }


def replay_sweep(
    reachability: TapeReachability,
    row_of_node: dict[Hashable, int],
    seeds: ArraysByRow,
    sources: Iterable[TargetOrSource],
) -> OptionalBackwardPass:
    """Repeat the sweep from the given seeds to the sources.

    Args:
        reachability: The tape's rows, and which of them can be reached by adjoints.
        row_of_node: The row in `Question.rows` for each node key. The result uses these rows.
        seeds: The initial adjoint of each target, keyed by the target's row.
        sources: The sources of the gradient.

    Returns:
        The adjoints and shares of the sweep, or None if no source is reachable, or if the recording has more than
        `MAX_ROWS` rows. The result is also None if some of the arrays no longer exist, or if the user's Python code
        would have to run again.
    """
    record = reachability.record
    tape = reachability.tape
    wanted = {row for source in sources for row in find_differentiable_rows(tape, source)}
    if not seeds or not wanted or len(record) > MAX_ROWS:
        return None
    reachable = mark_reachable_rows(tape, wanted)
    reachable_seeds = {row: adjoint for row, adjoint in seeds.items() if reachable[row]}
    wanted = {row for row in wanted if reachable[row]}
    if not reachable_seeds or not wanted or not _can_replay_sweep(reachability, reachable, max(seeds)):
        return None
    index_of_row = {row: row_of_node.get((id(record), row), -1) for row in range(len(record))}
    backward_pass = BackwardPass([index_of_row[row] for row in seeds])
    sweep = Sweep(record, reachable_seeds, wanted, reachable)
    for row, adjoint in seeds.items():
        backward_pass.set_adjoint(index_of_row[row], ValueSummary(adjoint))
    float_warnings = WARNINGS[OFF]
    try:
        with suspend_recording(), redirect_stdout(StringIO()):  # The program's gradient functions may print output.
            for row in sweep.iter_steps():
                backward_pass.set_adjoint(index_of_row[row], ValueSummary(sweep.get_adjoint(row)))
                for port, input_row, share, total in sweep.edges:
                    if reachable[input_row]:
                        share_summary, total_summary = ValueSummary(np.array(share)), ValueSummary(np.array(total))
                        backward_pass.set_adjoint(index_of_row[input_row], total_summary)
                        backward_pass.send(
                            index_of_row[row], index_of_row[input_row], port, share_summary, total_summary
                        )
    finally:
        restore_fp_errors(float_warnings)
    return backward_pass


def _can_replay_sweep(reachability: TapeReachability, reachable: bytearray, last_row: int) -> bool:
    """Return whether the sweep runs none of the user's py_functions and all the arrays that it reads still exist."""
    record = reachability.record
    for call in record.calls:
        if call.row <= last_row and call.primitive.name == "py_function" and reachable[call.row]:
            return False
    return not reachability.tape.is_used or not any(
        record.get_value_or_none(row) is None
        and prod(record.get_shape_and_dtype(row)[0]) > MAX_SMALL_SIZE
        and reachable[row]
        for row in range(last_row + 1)
    )


def replay_function_call_on_new_tape(
    reachability: TapeReachability, row: int
) -> tuple[GradientTape, TargetsOrSources, TargetsOrSources] | None:
    """Rerun a ``tf.function`` call on a separate tape.

    Side effects are not repeated, because their results are stored with the call.

    Args:
        reachability: The rows of the original tape, and which of them can be reached by adjoints.
        row: The row of the call.

    Returns:
        The tape, the results and the inputs, or None if the row is not such a call or the call cannot be repeated.
    """
    record = reachability.record
    call = record.get_call(row)
    if call is None or "concrete_function" not in call.attrs:
        return None
    arrays = [record.get_value_or_none(i) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    with suspend_recording(), np.errstate(all="ignore"):
        inputs = [wrap_array_with_origin(array) for array in arrays]
        try:
            with GradientTape(persistent=True) as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                return tape, call.attrs["concrete_function"].replay_rows(inputs, call.attrs["saved"]), inputs
        except Exception:  # The original call raised no error, and an explanation must not raise one.
            return None
