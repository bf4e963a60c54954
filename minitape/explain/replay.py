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

from ..engine.back.reach import reachable_rows
from ..engine.back.sweep import Sweep
from ..engine.back.tape import GradientTape
from ..engine.recording.block import no_tapes
from ..engine.recording.record import SMALL
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.tensor import new_tensor
from ..recording.rows import BackwardPass
from ..recording.tape import TapeRules
from ..recording.values import ValueSummary

if TYPE_CHECKING:
    from ..engine.types import Array, End

MOST = 20_000  # rows that are swept again at most
EAGERLY = "Call tf.config.run_functions_eagerly(True) before it, and ask again: then the operation has a name."


def starts_of(rules: TapeRules) -> dict[int, Array]:
    """The rows of the targets, with the ones that a sweep begins with."""
    starts: dict[int, Array] = {}
    for target in rules.targets:
        for row in rules.tape._rows_of(target)[-1:] if target.dtype.differentiable else ():
            starts[row] = np.ones(tuple(target.shape), target.dtype.as_numpy_dtype)[()]
    return starts


def swept(
    rules: TapeRules, at: dict[Hashable, int], starts: dict[int, Array], sources: Iterable[End]
) -> BackwardPass | None:
    """The sweep from some rows with their adjoints to the sources, by the rows ``at`` which explain has them; None
    where it cannot be run again.
    """
    record, tape = rules.record, rules.tape
    wanted = {row for source in sources if source.dtype.differentiable for row in tape._rows_of(source)}
    if not starts or not wanted or len(record) > MOST:
        return None
    reachable = reachable_rows(tape, wanted)
    begin = {row: adjoint for row, adjoint in starts.items() if reachable[row]}
    wanted = {row for row in wanted if reachable[row]}
    if not begin or not wanted or not _can_run(rules, reachable, max(starts)):
        return None
    number = {row: at.get((id(record), row), -1) for row in range(len(record))}
    found, sweep = BackwardPass([number[row] for row in starts]), Sweep(record, begin, wanted, reachable)
    for row, adjoint in starts.items():
        found.arrive(number[row], ValueSummary(adjoint))
    before = WARNINGS[OFF]
    try:
        with no_tapes(), redirect_stdout(StringIO()):  # a rule of the program's own may print
            for row in sweep.steps():
                found.arrive(number[row], ValueSummary(sweep.adjoint(row)))
                for given, share, total in sweep.edges:
                    if reachable[given]:
                        product, sum_ = ValueSummary(np.array(share)), ValueSummary(np.array(total))
                        found.arrive(number[given], sum_)
                        found.send(number[row], number[given], 0, product, sum_)
    finally:
        restore_fp_errors(before)
    return found


def _can_run(rules: TapeRules, reachable: bytearray, high: int) -> bool:
    """Whether nothing of Python's would run a second time, and all arrays are there."""
    record = rules.record
    for call in record.calls:
        if call.row <= high and call.primitive.name == "py_function" and reachable[call.row]:
            return False
    return not rules.tape._used or not any(
        record.value(row) is None and math.prod(record.shape_dtype(row)[0]) > SMALL and reachable[row]
        for row in range(high + 1)
    )


def open_call(rules: TapeRules, row: int) -> tuple[GradientTape, list[End], list[End]] | None:
    """The call at a row run again as operations of a tape of its own, with its results and inputs; None where it
    cannot.

    Effects are not run again: what they gave is known.
    """
    record = rules.record
    call = record.call_at(row)
    if call is None or "recording" not in call.attrs:
        return None
    arrays = [record.value(i) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    with no_tapes(), np.errstate(all="ignore"):
        inputs = [new_tensor(array) for array in arrays]
        try:
            with GradientTape(persistent=True) as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                return tape, call.attrs["recording"].again(inputs, call.attrs["saved"]), inputs
        except Exception:  # it ran once; a picture of it is not worth an error
            return None
