"""A call of a ``tf.function`` once more, as operations of a tape of its own: which of them is to blame can be asked of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.block import During
from ..engine.custom import no_tapes
from ..engine.rows import CALL
from ..engine.state import state
from ..engine.tape import GradientTape
from ..engine.tensor import wrap

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
    with no_tapes(), During(state, own_lines=True), np.errstate(all="ignore"):
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
