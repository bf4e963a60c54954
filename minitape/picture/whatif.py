"""What if a leaf had another value: the rows that depend on it, and the sweep through them, computed again.

A picture without a kernel does that for single numbers by itself (``widgets/frontend/src/whatif.ts``); here are arrays.
As there, branches and loops go the way that was recorded, and no Python function runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.rows import LEAF, REALS
from ..recording.nodes import operation_of
from .replay import MANY, is_sure, run_row
from .stepping import stepper_of
from .values import show_value

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Array, Structure
    from .fields import Imagined
    from .reading import Reader

WORK = 20_000_000  # numbers that are computed for a curve


def what_if(
    reader: Reader,
    leaves: Mapping[int, float],
    points: Sequence[float] = (),
    target: Structure = None,
    sources: Structure = None,
) -> Imagined | None:
    """The rows and the sweep of a recording, were the numbers of some leaves these; and the target for ``points`` of
    the last one.

    None where that cannot be known: a leaf is no floating-point number, or what depends on it cannot be run again.

    >>> import minitape as tf
    >>> from minitape.picture.reading import Reader
    >>> s, w = tf.Variable(2.0), tf.Variable([1.0, -3.0])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(w * s)
    >>> _ = tape.gradient(y, s)
    >>> reader = Reader(tape)
    >>> _ = reader.read()
    >>> found = what_if(reader, {1: 10.0}, [0.0, 1.0])
    >>> {row: one["text"] for row, one in found["values"]}, found["points"]
    ({1: '10.0', 2: '[ 10. -30.]', 3: '-20.0'}, [0.0, -2.0])
    """
    record = reader.record
    if record is None or record.open or not leaves or len(record) > MANY:
        return None
    if not all(_is_number(record, row) for row in leaves):
        return None
    given: dict[int, Array] = {row: type(record.value(row))(value) for row, value in leaves.items()}
    order = _dependent(record, given)
    with np.errstate(all="ignore"):
        moved = None if order is None else _recomputed_values(record, order, dict(given), reader.held)
        if order is None or moved is None:
            return None
        stepper = stepper_of(reader.tape, target, sources, reader.held | moved, show_value)
        sweep = None if stepper is None else stepper.whole()
        at = stepper.head["target"][-1:] if stepper is not None else []
        curve = _curve(record, order, given, points, reader.held, at[0]) if at and at[0] in moved else []
    return {"values": [(i, show_value(one)) for i, one in moved.items()], "sweep": sweep, "points": curve}


def _is_number(record: Record, row: int) -> bool:
    return 0 <= row < len(record) and record.cell(row)[0] == LEAF and type(record.value(row)) in REALS


def _dependent(record: Record, leaves: Iterable[int]) -> list[int] | None:
    """The first rows of the operations that depend on these, in order; None where one of them cannot be run again."""
    reached, order = set(leaves), []
    for row in range(min(reached) + 1, len(record)):
        op, call = record.cell(row)[0], record.call_at(row)
        if op == LEAF or (call is not None and call.row != row):
            continue
        primitive, inputs = operation_of(record, row)
        if reached.isdisjoint(inputs):
            continue
        if primitive is None or not is_sure(primitive):
            return None
        order.append(row)
        reached.update(range(row, row + (1 if call is None else call.outputs)))
    return order


def _recomputed_values(
    record: Record, order: list[int], found: dict[int, Array], held: dict[int, Array]
) -> dict[int, Array] | None:
    """Computes these rows in order and adds them to ``found``; None if one cannot be computed."""
    for row in order:
        arrays = [found.get(i, held.get(i, record.value(i))) for i in operation_of(record, row)[1]]
        outputs = run_row(record, row, arrays)
        if not outputs:
            return None
        for k, one in enumerate(outputs):
            shape, dtype = record.shape_dtype(row + k)
            if one.shape != tuple(shape) or one.dtype != dtype:  # the program would have gone another way
                return None
            found[row + k] = one
    return found


def _curve(
    record: Record,
    order: list[int],
    leaves: dict[int, Array],
    points: Sequence[float],
    held: dict[int, Array],
    target: int,
) -> list[float | None]:
    """The target's number for each of these values of the last leaf; none where it is an array, or where that takes
    long.
    """
    last, number = next(reversed(leaves.items()))
    upto = [row for row in order if row <= target]
    work = len(points) * sum(1 + int(np.prod(record.shape_dtype(row)[0])) for row in upto)
    if record.shape_dtype(target)[0] or work > WORK:
        return []
    found: list[float | None] = []
    for point in points:
        values = _recomputed_values(record, upto, leaves | {last: type(number)(point)}, held)
        y = float("nan") if values is None else float(values[target])
        found.append(y if np.isfinite(y) else None)
    return found
