"""The inside of a call of ``tf.function``: its rows with the values that this call had, as a snapshot of their own.

A call is one row of a recording. It brings along what it needs to run again as eager operations (a gradient of a
gradient needs that, too): from the inputs that it had, on the ways that it took, with what its effects returned then.
Here it runs so under a tape of its own, and a picture of that tape is the inside. Nothing of the recording changes, and
no Python function of the program runs once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.recording.block import TemporaryAttributes, no_tapes
from ..engine.recording.state import state
from ..engine.tensor.tensor import new_tensor
from .reading import Reader
from .stepping import MOST, stepper_of
from .values import show_value

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.recording.rows import Call
    from ..engine.tensor.tensor import EagerTensor
    from ..engine.types import Array, Structure
    from .fields import Inside, Snapshot

CALLS = 16  # of one recording that a snapshot has the inside of
ROWS = 2_000  # of one inside that are shown
DEEP = 3  # insides of calls inside of calls


def insides_of(
    reader: Reader, target: Structure = None, sources: Structure = None, row: int | None = None, deep: int = DEEP
) -> list[Inside]:
    """The INSIDEs of the first calls of functions that a reader's tape recorded, or of the one at ``row``, with the
    sweep through each.

    >>> import minitape as tf
    >>> @tf.function
    ... def steps(x):
    ...     while x < 10.0:
    ...         x = x * 2.0
    ...     return x
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = steps(x)
    >>> (inside,) = tf.snapshot(tape, y, x)["insides"]
    >>> inside["name"], [row["value"]["text"] for row in inside["snapshot"]["rows"] if row["label"] == "×"]
    ('steps', ['6.0', '12.0'])
    """
    record = reader.record
    if record is None or record.open or deep == 0:
        return []
    rows = [
        call.row
        for call in record.calls
        if row in (None, call.row) and call.primitive.name == "function" and "recording" in call.attrs
    ][:CALLS]
    adjoints = _adjoints(reader, target, sources) if rows else {}
    return [found for at in rows if (found := _inside_of(reader, at, adjoints, deep if row is None else 1)) is not None]


def _inside_of(reader: Reader, row: int, adjoints: dict[int, Array], deep: int) -> Inside | None:
    """The INSIDE of a call, into whose outputs these adjoints come; None where it cannot be run again."""
    record = reader.record
    assert record is not None
    site, call = record.cell(row)[3], record.call_at(row)
    recording = call.attrs["recording"]
    arrays = [reader.held.get(i, record.value(i)) for i in call.inputs]
    if any(array is None for array in arrays):
        return None
    place = reader._around(row).place
    # its rows belong to the statement that called
    at = place and (place[0], site if place[1] is None else place[1])
    with no_tapes(), TemporaryAttributes(state, fixed_site=at), np.errstate(all="ignore"):
        inputs = [new_tensor(array) for array in arrays]
        try:
            with GradientTape() as tape:
                tape.watch([i for i in inputs if i.dtype.differentiable])
                outputs = recording.again(inputs, call.attrs["saved"])[: len(recording.results)]
        except Exception:  # it ran once: what is different now is nothing that a picture should raise
            return None
    if not _same(record, call, outputs):
        return None
    names = {name: value for name, value in zip(_names(reader, call), inputs, strict=True) if name}
    inner = Reader(tape, [{**names, recording.name: tape}])
    shown = inner.read(ROWS)
    inner.name_rows(shown)
    found: Snapshot = inner.frame_of([one.full() for one in shown], 0)
    starts = [(out, new_tensor(adjoints[row + k])) for k, out in enumerate(outputs) if row + k in adjoints]
    wanted = [i for i in inputs if i.dtype.differentiable]
    if starts and wanted and found["total"] == len(shown):
        stepper = stepper_of(
            tape, [out for out, _ in starts], wanted, inner.held, show_value, [adjoint for _, adjoint in starts]
        )
        found["sweep"] = None if stepper is None else stepper.whole()
    found["insides"] = insides_of(inner, deep=deep - 1)
    return {"row": row, "name": recording.name, "snapshot": found}


def _same(record: Record, call: Call, outputs: Sequence[EagerTensor]) -> bool:
    """Whether the call gave now what it gave then."""
    for k, out in enumerate(outputs):
        before = record.value(call.row + k)
        numbers = before is not None and before.dtype.kind in "fciub"
        if numbers and not np.allclose(before, out.array, rtol=1e-4, atol=1e-6, equal_nan=True):
            return False
    return True


def _names(reader: Reader, call: Call) -> list[str]:
    """The names of a call's inputs: of its parameters, then those of the variables and tensors that it reads."""
    parameters = call.attrs["recording"].trace.names
    leaves = reader._known.leaves
    others = [getattr(getattr(leaves.get(row), "variable", None), "name", "") for row in call.inputs[len(parameters) :]]
    return [*parameters, *(name.removesuffix(":0") for name in others)]


def _adjoints(reader: Reader, target: Structure, sources: Structure) -> dict[int, Array]:
    """The adjoints that the last gradient brings to the outputs of functions, by row."""
    stepper = stepper_of(reader.tape, target, sources, reader.held, lambda value: None)
    if stepper is None or stepper.rest > MOST or stepper.take() is None:
        return {}
    return stepper.into_functions
