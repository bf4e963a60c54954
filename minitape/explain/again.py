"""A call of a ``tf.function`` once more, as operations of a tape of its own: which of them is to blame can be asked of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.recording.block import During, no_tapes
from ..engine.recording.rows import CALL
from ..engine.recording.state import state
from ..engine.tensor.tensor import wrap
from .replay import Step, sweep_of

if TYPE_CHECKING:
    from ..engine.typed import Array, End
    from .reasons import Inquiry

DEEP = 3  # calls inside of calls that are looked into


def opened(inquiry: Inquiry, row: int) -> tuple[Inquiry, list[End]] | None:
    """The question about the results of the call at a row, inside of it, and its inputs; None where it cannot run again.

    Effects are not run again: what they gave is known.
    """
    record = inquiry.record
    op, number, _, _ = (0, 0, 0, 0) if record is None else record.cell(row)
    if record is None or op != CALL or inquiry.depth >= DEEP or "taped" not in record.calls[number].attrs:
        return None
    call = record.calls[number]
    arrays: list[Array] = [record.value(i) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    with no_tapes(), During(state, within=True), np.errstate(all="ignore"):
        inputs = [wrap(array) for array in arrays]
        try:
            with GradientTape(persistent=True) as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                outputs = call.attrs["taped"].replayed(inputs, call.attrs["saved"])
        except Exception:  # it ran once; a picture of it is not worth an error
            return None
    inner = type(inquiry)(tape, outputs, inputs)
    inner.depth = inquiry.depth + 1
    return inner, inputs


def swept(inquiry: Inquiry, row: int, adjoint: Array) -> tuple[Inquiry, list[End], dict[int, Array], Iterator[Step]] | None:
    """The sweep inside of a call, from the adjoints of its results to its inputs, with the question about it, these, and what it begins with."""
    inside = opened(inquiry, row)
    if inside is None:
        return None
    inner, inputs = inside
    adjoints = several(adjoint)
    rows = [inner.tape._rows_of(out)[-1:] for out in inner.targets]
    seeds = {row[0]: g for row, g, out in zip(rows, adjoints, inner.targets, strict=False) if row and out.dtype.differentiable}
    wanted = {row for one in inputs if one.dtype.differentiable for row in inner.tape._rows_of(one)}
    steps = sweep_of(inner, seeds, wanted) if seeds and wanted else None
    return inner, inputs, seeds, iter(()) if steps is None else steps


def several(adjoint: Array) -> list[Array]:
    """The adjoint of each result of a call."""
    return list(adjoint) if isinstance(adjoint, (tuple, list)) else [adjoint]
