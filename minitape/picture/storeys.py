"""The two storeys of a second derivative: below which row each one is drawn that a tape's gradient wrote on an outer
tape, and which adjoint it is.

The sweep runs once more, for itself, and says at each step what it computes; the row that it wrote then is the one of
the same operation with the same inputs.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..engine.back.reach import propagate
from ..engine.back.sweep import Sweep
from ..engine.back.tape import GradientTape
from ..engine.recording.block import no_tapes
from ..engine.tensor.tensor import new_tensor
from ..recording.nodes import operation_of
from .expressions import Expressions, circled

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..engine.recording.record import Record
    from ..engine.types import Object
    from .fields import Fields
    from .rows import PictureRow

MOST = 2000  # rows of a recording: in a longer one no code looks
WORK = 1_000_000  # numbers that one gradient computed
NAMES = 9  # letters of what a derivative is of and by: a node has room for them


def written_rows(record: Record, rows: list[PictureRow]) -> list[Fields]:
    """Parts of the rows that gradients wrote: the row that each is drawn ``below``, and the name of a whole adjoint
    that the program has not named.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0, name="x")
    >>> with tf.GradientTape() as outer:
    ...     with tf.GradientTape() as inner:
    ...         y = tf.sin(x * x)
    ...     dy = inner.gradient(y, x)
    >>> [(row["label"], row["name"], row["below"]) for row in tf.snapshot(outer)["rows"][3:6]]
    [('const', '∂y/∂y', 2), ('cos', None, 2), ('×', '∂y/∂(x × x)', 1)]
    """
    found: list[Fields] = []
    end = len(record)
    if not record.writers or end > MOST:
        return found
    expressions = Expressions(row.full() for row in rows)
    for first, member, targets, sources, spans in reversed(record.writers):
        if member is not None and sum(prod(record.shape_dtype(row)[0]) for row in range(first, end)) <= WORK:
            with suppress(Exception):  # it ran once: what is different now is nothing that a picture should raise
                found += _matched(record, range(first, end), spans, targets, sources, expressions)
        end = first
    return found


def _matched(
    record: Record,
    rows: range,
    spans: Collection[tuple[int, int]],
    targets: Collection[int],
    sources: Collection[int],
    expressions: Expressions,
) -> list[Fields]:
    """The parts of the rows of one gradient."""

    def key(row: int) -> int | None:
        """An input; None for a number of a rule."""
        leaf = record.leaves.get(row)
        return None if leaf is not None and (row in rows or leaf.number is not None) else row

    written: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row in reversed(rows):
        primitive, inputs = operation_of(record, row)
        written[primitive, *map(key, inputs)].append(row)
    reachable = bytearray(row in sources for row in range(rows.start))
    for first, end in spans:
        propagate(record, reachable, max(first, min(sources) + 1), min(end, rows.start))
    below: dict[int, int] = {}  # of the rows that the sweep writes now
    with no_tapes(), np.errstate(all="ignore"), GradientTape() as now:
        adjoints = {row: new_tensor(np.ones(*record.shape_dtype(row))[()]) for row in targets}
        sweep = Sweep(record, adjoints, set(sources), reachable, recorded=True)
        for step in sweep.steps():
            again: Object = now._record
            new = range(len(below), len(again))
            below |= dict.fromkeys(new, step)
            made = [row for row in new if operation_of(again, row)[0] is not None]
            for to, share, total in sweep.edges:
                adjoints[to] = total
                below |= {again.find(one): to for one in (share, total) if again.find(one) in made}
    values: Object = sweep.values  # tensors by row
    read = {id(value): row for row, value in values.items()}
    same = {row: read[id(leaf.tensor)] for row, leaf in again.leaves.items() if id(leaf.tensor) in read}
    for row in range(len(again)):
        primitive, inputs = operation_of(again, row)
        if primitive is not None:
            same[row] = written[primitive, *(key(same[i]) if i in same else None for i in inputs)].pop()
            same = dict(zip(inputs, operation_of(record, same[row])[1], strict=True)) | same
    parts: dict[int, Fields] = {same[row]: {"row": same[row], "below": to} for row, to in below.items() if row in same}
    for by, value in reversed(adjoints.items()):
        row = same.get(again.find(value), -1)
        if row in parts and row in rows and not expressions.rows[row]["name"]:
            of, name = (expressions.called(one, circled(one)).removesuffix(":0") for one in (max(targets), by))
            name = name if len(of + name) <= NAMES else circled(by)
            parts[row]["name"] = f"∂{of if len(of + name) <= NAMES else circled(max(targets))}/∂{name}"
    return [part for row, part in parts.items() if row in rows]
