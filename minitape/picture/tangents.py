"""The tangents of a recording that a ``ForwardAccumulator`` followed: for each row its derivative in that direction."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ..engine.derivatives.forward import ForwardTape
from ..engine.recording.block import no_tapes
from ..engine.tensor.tensor import new_tensor

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Array, Object

MOST = 2000  # rows: of a longer recording no code reads them


def tangents_of(record: Record, tapes: list[Object]) -> dict[int, Array]:
    """By row the tangents of the last accumulator of a recording that has ended; none where it no longer exists, or
    where values were released.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0, name="x")
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
    ...     with tf.GradientTape() as tape:
    ...         y = x * x
    >>> [row["tangent"]["text"] for row in tf.snapshot(tape)["rows"]]
    ['1.0', '6.0']
    """
    if len(record) > MOST:
        return {}
    found = (tape.owner() for tape in reversed(tapes) if isinstance(tape, ForwardTape))
    accumulator = next(filter(None, found), None)
    if accumulator is None:
        return {}
    known = ((row, record.value(row)) for row in range(len(record)) if record.shape_dtype(row)[1].kind in "fc")
    asked = {row: new_tensor(np.asarray(value)) for row, value in known if value is not None}
    with suppress(Exception), no_tapes(), np.errstate(all="ignore"):  # the picture goes on without them
        return {row: tangent.numpy() for row, tangent in accumulator._push(asked).items()}
    return {}
