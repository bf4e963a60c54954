"""The sweep run once more, for itself: where an adjoint became zero, NaN or infinite.

A call of a ``tf.function`` runs again as operations of a tape of its own: which of them is to blame can be asked of
that.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from ..engine.backward.reachability import mark_reachable_rows
from ..engine.backward.sweep import Sweep
from ..engine.backward.tape import GradientTape
from ..engine.record.interrupt_safe import suspend_recording
from ..engine.record.record import MAX_SMALL_SIZE
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.tensor import create_tensor
from ..recording.recorded_rows import BackwardPass
from ..recording.tape_reachability import TapeRules
from ..recording.value_summary import ValueSummary

if TYPE_CHECKING:
    from ..engine.types import Array, TargetOrSource

MAX_ROWS = 20_000  # rows that are swept again at most
RUN_EAGERLY_FIX = "Call tf.config.run_functions_eagerly(True) before it, and ask again: then the operation has a name."


def build_unit_seeds(rules: TapeRules) -> dict[int, Array]:
    """Build the adjoints that a sweep begins with: ones, by the row of a target."""
    seeds: dict[int, Array] = {}
    for target in rules.targets:
        for row in rules.tape._find_rows_of_value(target)[-1:] if target.dtype.differentiable else ():
            seeds[row] = np.ones(tuple(target.shape), target.dtype.as_numpy_dtype)[()]
    return seeds


def replay_sweep(
    rules: TapeRules, row_of_node: dict[Hashable, int], seeds: dict[int, Array], sources: Iterable[TargetOrSource]
) -> BackwardPass | None:
    """Run the sweep from some seeds to the sources again; None where it cannot be run again.

    The rows of the result are those of explain, which ``row_of_node`` has.
    """
    record, tape = rules.record, rules.tape
    wanted = {row for source in sources if source.dtype.differentiable for row in tape._find_rows_of_value(source)}
    if not seeds or not wanted or len(record) > MAX_ROWS:
        return None
    reachable = mark_reachable_rows(tape, wanted)
    reachable_seeds = {row: adjoint for row, adjoint in seeds.items() if reachable[row]}
    wanted = {row for row in wanted if reachable[row]}
    if not reachable_seeds or not wanted or not _can_replay_sweep(rules, reachable, max(seeds)):
        return None
    index_of_row = {row: row_of_node.get((id(record), row), -1) for row in range(len(record))}
    backward_pass, sweep = (
        BackwardPass([index_of_row[row] for row in seeds]),
        Sweep(record, reachable_seeds, wanted, reachable),
    )
    for row, adjoint in seeds.items():
        backward_pass.arrive(index_of_row[row], ValueSummary(adjoint))
    float_warnings = WARNINGS[OFF]
    try:
        with suspend_recording(), redirect_stdout(StringIO()):  # a rule of the program's own may print
            for row in sweep.iter_steps():
                backward_pass.arrive(index_of_row[row], ValueSummary(sweep.get_adjoint(row)))
                for input_row, share, total in sweep.edges:
                    if reachable[input_row]:
                        share_summary, total_summary = ValueSummary(np.array(share)), ValueSummary(np.array(total))
                        backward_pass.arrive(index_of_row[input_row], total_summary)
                        backward_pass.send(index_of_row[row], index_of_row[input_row], 0, share_summary, total_summary)
    finally:
        restore_fp_errors(float_warnings)
    return backward_pass


def _can_replay_sweep(rules: TapeRules, reachable: bytearray, last_row: int) -> bool:
    """Whether nothing of Python's would run a second time, and all arrays are there."""
    record = rules.record
    for call in record.calls:
        if call.row <= last_row and call.primitive.name == "py_function" and reachable[call.row]:
            return False
    return not rules.tape._used or not any(
        record.get_value_or_none(row) is None
        and math.prod(record.get_shape_and_dtype(row)[0]) > MAX_SMALL_SIZE
        and reachable[row]
        for row in range(last_row + 1)
    )


def replay_call_on_new_tape(
    rules: TapeRules, row: int
) -> tuple[GradientTape, list[TargetOrSource], list[TargetOrSource]] | None:
    """Run the call at a row again on a tape of its own, and return that, the results and the inputs; None where it
    cannot be run again.

    Effects are not run again: what they gave is known.
    """
    record = rules.record
    call = record.get_call(row)
    if call is None or "recording" not in call.attrs:
        return None
    arrays = [record.get_value_or_none(i) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    with suspend_recording(), np.errstate(all="ignore"):
        inputs = [create_tensor(array) for array in arrays]
        try:
            with GradientTape(persistent=True) as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                return tape, call.attrs["recording"].replay_rows(inputs, call.attrs["saved"]), inputs
        except Exception:  # it ran once; a picture of it is not worth an error
            return None
