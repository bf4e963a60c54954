"""Rows of large arrays: like all rows they are computed when somebody looks, but nobody holds them longer than needed.

``record.wide`` lists those that are yet to be computed (and arrays that wait for a row that reads them), each with a weak
reference to its tensor. Once a row and all that read it are computed, its array is handed over to the tensor, if that
still lives; the recording keeps it only where a rule of the sweep will read it.
"""

from __future__ import annotations

from typing import Any

from .columns import operation_of


def read_by_rules(record: Any, low: int) -> set[int]:
    """The rows whose values the rules of the rows from ``low`` on read."""
    found: set[int] = set()
    for row in range(low, len(record)):
        primitive, inputs = operation_of(record, row)
        if primitive is None or row in record.cold:
            continue
        found.update([inputs[i] for i in record.read_inputs(primitive, inputs)])
        if primitive.keeps_output:
            found.add(row)
    return found


def last_reads(record: Any) -> dict[int, list[int]]:
    """The rows of large arrays, by the row that is the last to be computed from them."""
    last = {row: max(row, record.done) for row in record.wide}
    for row in range(record.done, len(record)):
        for read in operation_of(record, row)[1]:
            if read in last:
                last[read] = row
    found: dict[int, list[int]] = {}
    for row, at in last.items():
        found.setdefault(at, []).append(row)
    return found


class Handing:
    """Hands large arrays over while the rows of a recording are computed."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.last = last_reads(record)
        self.kept = read_by_rules(record, min(record.wide, default=len(record)))

    def after(self, row: int) -> None:
        """Hands over the arrays that nothing reads after ``row``."""
        for read in self.last.get(row, ()):
            arrays = self.record.arrays
            if not _hand_over(self.record.wide.pop(read), self.record, arrays[read]) and read not in self.kept:
                del arrays[read]


def live(record: Any) -> tuple[int, ...]:
    """The rows whose tensors are still there, or yet to be made."""
    return tuple([row for row, tensor in record.wide.items() if tensor is None or tensor() is not None])


def settle(record: Any, kept: set[int], made: dict[int, Any]) -> None:
    """Hands over all large arrays, once all rows are computed: those that were just ``made``, and those that waited."""
    arrays = record.arrays
    for row, tensor in record.wide.items():
        value = made.get(row, arrays.get(row))
        unmade = value is not None and _hand_over(tensor, record, value)
        if unmade or row in kept:
            arrays[row] = value
        else:
            arrays.pop(row, None)
    record.wide.clear()
    record.held = 0


def _hand_over(reference: Any, record: Any, value: Any) -> bool:
    """Gives a large array to the tensor of its row, where that lives and waits; True when it is yet to be made.

    An array that was only held has a tensor with a value, which may be the row of another recording.
    """
    tensor = None if reference is None else reference()
    if tensor is not None and tensor._lane is not None:
        tensor._value, tensor._home = value, record
        tensor._lane = None  # last: another thread sees either that the tensor has its value, or how to wait for it
    return reference is None
