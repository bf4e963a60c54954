"""The sweep run once more, for itself: where an adjoint became zero, NaN or infinite.

A call of a ``tf.function`` runs again as operations of a tape of its own: which of them is to blame can be asked of
that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.back.marks import propagate
from ..engine.back.reach import reachable_rows
from ..engine.back.sweep import Sweep
from ..engine.back.tape import GradientTape
from ..engine.recording.block import no_tapes
from ..engine.recording.record import SMALL
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.tensor import new_tensor
from ..recording.tape import TapeRules

if TYPE_CHECKING:
    from ..engine.types import Array, End

MOST = 20_000  # rows that are swept again at most
EAGERLY = "Call tf.config.run_functions_eagerly(True) before it, and ask again: then the operation has a name."
_USERS = {"custom_gradient", "py_function"}  # their rules are the user's functions: not run a second time


class ReplayStep(NamedTuple):
    """One row of a sweep: its adjoint, and the shares (input row, array, sum so far) that it handed on."""

    row: int
    adjoint: Array
    shares: list[tuple[int, Array, Array]]


def replay(rules: TapeRules, sources: list[End]) -> Iterator[ReplayStep] | None:
    """The steps of the sweep from the targets to the sources; None when it cannot be run again."""
    record, tape = rules.record, rules.tape
    if len(record) > MOST:
        return None
    wanted = {row for s in sources if s.dtype.differentiable for row in tape._rows_of(s)}
    starts = starts_of(rules)
    if not wanted or not starts:
        return None
    return sweep_of(rules, starts, wanted, reachable_rows(tape, wanted))


def starts_of(rules: TapeRules) -> dict[int, Array]:
    """The rows of the targets, with the ones that a sweep begins with."""
    starts: dict[int, Array] = {}
    for target in rules.targets:
        for row in rules.tape._rows_of(target)[-1:] if target.dtype.differentiable else ():
            starts[row] = np.ones(tuple(target.shape), target.dtype.as_numpy_dtype)[()]
    return starts


def sweep_of(
    rules: TapeRules, starts: dict[int, Array], wanted: set[int], reachable: bytearray | None = None
) -> Iterator[ReplayStep] | None:
    """The steps of a sweep from some rows with their adjoints to others, through the rows of ``reachable`` (None:
    any).
    """
    record, tape, high = rules.record, rules.tape, max(starts)
    for call in record.calls:
        if call.row <= high and call.primitive.name in _USERS and (reachable is None or reachable[call.row]):
            return None
    if tape._used and any(
        record.value(row) is None
        and math.prod(record.shape_dtype(row)[0]) > SMALL
        and (reachable is None or reachable[row])
        for row in range(high + 1)
    ):
        return None  # the arrays are gone
    if reachable is not None:
        wanted = {r for r in wanted if reachable[r]}
        starts = {r: s for r, s in starts.items() if reachable[r]}
    if not wanted or not starts:
        return None
    if reachable is None:  # of the shares only those count that are on the path to a source
        reachable = bytearray(len(record))
        for row in wanted:
            reachable[row] = 1
        propagate(record, reachable, min(wanted) + 1, len(record))
    return _steps(Sweep(record, starts, wanted, reachable), reachable)


def _steps(sweep: Sweep, reachable: bytearray) -> Iterator[ReplayStep]:
    steps = sweep.steps()
    while True:
        before = WARNINGS[OFF]
        try:
            row = next(steps, None)
        finally:
            restore_fp_errors(before)
        if row is None:
            return
        shares = [(r, share, total) for r, share, total in sweep.edges if reachable[r]]
        yield ReplayStep(row, sweep.adjoint(row), shares)


def open_call(rules: TapeRules, row: int) -> tuple[TapeRules, list[End]] | None:
    """The question about the results of the call at a row, inside of it, and its inputs; None where it cannot run
    again.

    Effects are not run again: what they gave is known.
    """
    record = rules.record
    call = record.call_at(row)
    if call is None or "recording" not in call.attrs:
        return None
    arrays: list[Array] = [record.value(i) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    with no_tapes(), np.errstate(all="ignore"):
        inputs = [new_tensor(array) for array in arrays]
        try:
            with GradientTape(persistent=True) as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                outputs = call.attrs["recording"].again(inputs, call.attrs["saved"])
        except Exception:  # it ran once; a picture of it is not worth an error
            return None
    return TapeRules(tape, outputs, inputs), inputs


def swept(
    rules: TapeRules, row: int, adjoint: Array
) -> tuple[TapeRules, list[End], dict[int, Array], Iterator[ReplayStep] | None] | None:
    """The sweep inside of a call, from the adjoints of its results to its inputs, with the question about it, these,
    and what it begins with.
    """
    inside = open_call(rules, row)
    if inside is None:
        return None
    inner, inputs = inside
    adjoints = adjoint if isinstance(adjoint, (tuple, list)) else [adjoint]  # of several results each has its own
    rows = [inner.tape._rows_of(out)[-1:] for out in inner.targets]
    starts = {
        row[0]: g
        for row, g, out in zip(rows, adjoints, inner.targets, strict=False)
        if row and out.dtype.differentiable
    }
    wanted = {row for one in inputs if one.dtype.differentiable for row in inner.tape._rows_of(one)}
    steps = sweep_of(inner, starts, wanted) if starts and wanted else None
    return inner, inputs, starts, steps
