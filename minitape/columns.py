"""What the columns of a recording hold (see :mod:`minitape.record`), and how they are packed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from .primitives.elementwise import BY_CODE, FIRST_CODE

LEAF, CALL = 0, 1  # the first column of rows that are no elementwise operations
CHUNK = 16384  # rows per packed block
ARRAY_ROW = 256  # added to the op of packed rows whose values are arrays: kernels hand them over


class Call:
    """One row (or several: one for each output) that is more than a scalar operation."""

    __slots__ = ("row", "primitive", "inputs", "attrs", "outputs", "hot")

    def __init__(self, row: int, primitive: Any, inputs: tuple[int, ...], attrs: dict[str, Any], outputs: int,
                 hot: bool) -> None:  # fmt: skip
        self.row, self.primitive, self.inputs, self.attrs = row, primitive, inputs, attrs
        self.outputs, self.hot = outputs, hot


class Leaf:
    """What a leaf row stands for: a tensor, one state of a variable, or a Python number."""

    __slots__ = ("tensor", "variable", "version", "number", "array", "gone")

    array: np.ndarray  # of a number: it as an array, which NumPy adds to another one faster than a number
    gone: tuple[Any, Any, Any]  # of a released recording: tensor and variable, weak, and the tensor's origin

    def __init__(self, tensor: Any = None, variable: Any = None, version: int = 0, number: float | None = None) -> None:
        self.tensor, self.variable, self.version, self.number = tensor, variable, version, number


@lru_cache(1024, typed=True)
def number_leaf(number: float, real: Any) -> tuple[Leaf, Any]:
    """The leaf and the value of a Python number: the same for all recordings."""
    leaf, value = Leaf(number=number), real(number)
    leaf.array = np.asarray(value)
    return leaf, value


class Event:
    """Something that happened beside the rows: an assign, a value that left to NumPy, a pause. ``row`` is its time."""

    __slots__ = ("kind", "row", "subject", "site")

    def __init__(self, kind: str, row: int, subject: Any, site: tuple[CodeType, int] | None) -> None:
        self.kind, self.row, self.subject, self.site = kind, row, subject, site


def more(items: Sequence[Any], item: Any) -> list[Any]:
    """The same items and one more: lists that few recordings need are made when the first item comes."""
    found = items if type(items) is list else [*items]
    found.append(item)
    return found


_before: list[tuple[Any, Any]] = [(None, None)]  # the numbers that were packed last, and what they became


def packed(numbers: list[int]) -> np.ndarray:
    """Rows as a block of 32-bit integers. Those of a training loop are the same each time: then they are copied."""
    known, block = _before[0]
    if numbers != known:
        raw = struct.pack(f"{len(numbers)}i", *numbers)  # twice as fast as numpy.array
        block = np.frombuffer(raw, np.int32).reshape(-1, 4)
        if len(numbers) < 4 * CHUNK:  # those that fill a block are of a recording too long to care
            _before[0] = numbers.copy(), block
    return block.copy()


def operation_of(record: Any, row: int) -> tuple[Any, tuple[int, ...]]:
    """(primitive, input rows) of the operation that wrote a row; None and no inputs for a leaf."""
    op, a, b, _ = record.cell(row)
    if op >= FIRST_CODE:
        primitive = BY_CODE[op - FIRST_CODE]
        return primitive, (a, b)[: len(primitive.texts) - 1]
    if op == CALL:
        return record.calls[a].primitive, record.calls[a].inputs
    return None, ()
