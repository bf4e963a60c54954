"""The order in which TensorFlow goes back over operations. It shows where slices are put behind each other, and where
functions of the user are called.

Our own sweep goes by row numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..recording.rows import operation_of

if TYPE_CHECKING:
    from ..recording.record import Record


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
