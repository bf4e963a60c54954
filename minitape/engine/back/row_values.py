"""The values of rows as a sweep reads them, and the shares and sums that it adds up beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import ndarray

from ..recording.array_spec import ArraySpec
from ..recording.rows import CHUNK, VALUES
from ..table.accelerator import fast
from ..table.primitives.elementwise import LARGE
from ..table.primitives.reduce import unbroadcast
from ..tensor.tensor import EagerTensor

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..tensor.tensor import Tensor
    from ..types import Adjoint, RowValues


# of a row: its number, op, a, b and call (None for an elementwise operation: who reads it has looked at op)
Cells: TypeAlias = tuple[int, int, int, int, Any]


def values_of_rows(record: Record) -> RowValues:
    """The values of the rows: a list, or, where rows are packed, the recording, as few are read then."""
    return record if record.base else record.column(VALUES)


def operations(record: Record, low: int, high: int) -> Iterator[Cells]:
    """The rows from ``high`` down to ``low`` that are no leaves: their ``op`` is 0."""
    for end in range(high + 1, low, -CHUNK):
        first = max(low, end - CHUNK)
        ops, left, right, calls = [column[::-1] for column in record.columns(first, end)[:4]]
        yield from compress(zip(range(end - 1, first - 1, -1), ops, left, right, calls, strict=True), ops)


class TensorValues(dict[int, "Tensor"]):
    """The values of rows as tensors of an outer tape, each created at its first use."""

    def __init__(self, record: Record, arrays: RowValues) -> None:
        self.record, self.arrays = record, arrays

    def __missing__(self, row: int) -> Tensor:
        """The tensor of a leaf, or one with the same value in the same place."""
        leaf = self.record.leaves.get(row)
        tensor = leaf.tensor_ref() if leaf is not None and leaf.tensor_ref is not None else None
        if tensor is None:
            value = self.arrays[row]
            tensor = EagerTensor()
            tensor._value = value.zeros if type(value) is ArraySpec else value
            tensor._record, tensor._row, tensor._origin = self.record, row, None
        self[row] = tensor
        return tensor


def match_input(share: Adjoint, value: Adjoint) -> Adjoint:
    """A share in the shape and dtype of the value that it belongs to."""
    if share.shape != value.shape:
        share = unbroadcast(share, tuple(value.shape))
    if share.dtype is not value.dtype and isinstance(share, (ndarray, np.generic)):
        share = share.astype(value.dtype)  # NumPy computes some of the half types in float32
    return share


def add_adjoints(total: Adjoint, share: Adjoint) -> Adjoint:
    """The sum of the adjoint at a row and a share that arrives now."""
    if type(total) is ndarray and total.size >= LARGE:
        return fast.accumulate(total, share)
    return total + share
