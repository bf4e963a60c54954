"""The order in which TensorFlow goes back over operations. It shows where slices are put behind each other, and where
functions of the user are called.

Our own sweep goes by row numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..recording.rows import operation_of
from ..table.primitives import TABLE
from ..tensor.slices import IndexedSlices
from ..tensor.tensor import new_tensor

if TYPE_CHECKING:
    from ..recording.record import Record
    from .sweep import Sweep


def breadth_first(record: Record, targets: Iterable[int]) -> list[int]:
    """The rows behind the targets in TensorFlow's order: each after all that read it, first come, first served.

    Of a call it is the first row.
    """
    inputs: dict[int, list[int]] = {}
    readers: dict[int, int] = {}
    heads = [_first_row(record, t) for t in targets][::-1]
    stack = list(heads)
    while stack:
        row = stack.pop()
        if row not in inputs:
            inputs[row] = found = [_first_row(record, i) for i in operation_of(record, row)[1]]
            for i in found:
                readers[i] = readers.get(i, 0) + 1
            stack += found
    queue = [h for h in heads if not readers.get(h)]
    for row in queue:
        for i in inputs[row]:
            readers[i] -= 1
            if not readers[i]:
                queue.append(i)
    return queue


def _first_row(record: Record, row: int) -> int:
    call = record.call_at(row)
    return row if call is None else call.row


def slices_in_order(sweep: Sweep, row: int) -> IndexedSlices:
    """The slices that arrived at ``row``; those of several calls in the order in which TensorFlow meets the calls."""
    slices, arrived = sweep.adjoints[row], sweep.slices.get(row, ())
    if len(arrived) < 2:
        return slices
    place: dict[int, list[int]] = {}
    first = 0
    for call, count in arrived:
        place.setdefault(call, []).extend(range(first, first + count))
        first += count
    order = np.array([i for call in breadth_first(sweep.record, sweep.starts) for i in place.get(call, ())])
    if sweep.recorded:
        places = new_tensor(order)
        values, indices = (TABLE["gather"](part, places, axis=0) for part in (slices.values, slices.indices))
    else:
        values, indices = slices.values[order], slices.indices[order]
    return IndexedSlices(values, indices, slices.dense_shape)
