"""Compute the tangents of a recording made under a ``ForwardAccumulator``."""

from contextlib import suppress

import numpy as np

from ..engine.derivatives.forward_mode import ForwardTape
from ..engine.record.interrupt_safe import suspend_recording
from ..engine.record.record import Record
from ..engine.tensor.tensor import wrap_array_with_origin
from ..engine.types import ArraysByRow, Object

MAX_ROWS = 2000  # Pictures of longer recordings show no tangents.


def compute_last_accumulator_tangents(record: Record, tapes: list[Object]) -> ArraysByRow:
    """Return the tangent of each row, which is its derivative in the direction of the last accumulator.

    Args:
        record: The recording, which must not be open.
        tapes: The tapes of the recording, in the order of entry.

    Returns:
        The tangents by row, or an empty dict if no accumulator was open, if it no longer exists, or if values were
        released.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0, name="x")
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
    ...     with tf.GradientTape() as tape:
    ...         y = x * x
    >>> [row["tangent"]["text"] for row in tf.snapshot(tape)["rows"]]
    ['1.0', '6.0']
    """
    if len(record) > MAX_ROWS:
        return {}
    accumulators = (tape.owner() for tape in reversed(tapes) if isinstance(tape, ForwardTape))
    accumulator = next(filter(None, accumulators), None)
    if accumulator is None:
        return {}
    tensors_by_row = {
        row: wrap_array_with_origin(np.asarray(value))
        for row in range(len(record))
        if record.get_shape_and_dtype(row)[1].kind in "fc" and (value := record.get_value_or_none(row)) is not None
    }
    # A failure, for instance because of a released value, must not prevent the picture.
    with suppress(Exception), suspend_recording(), np.errstate(all="ignore"):
        return {row: tangent.numpy() for row, tangent in accumulator._compute_tangents_by_row(tensors_by_row).items()}
    return {}
