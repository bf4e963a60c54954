"""The values of rows as a sweep reads them, and the shares and sums that it adds up beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import ndarray

from ..record.array_spec import ArraySpec
from ..record.row_parts import CHUNK, VALUE_COLUMN
from ..table.accelerator import fast
from ..table.primitives.elementwise import LARGE
from ..table.primitives.reduce import unbroadcast
from ..tensor.tensor import EagerTensor

if TYPE_CHECKING:
    from ..record.record import Record
    from ..tensor.tensor import Tensor
    from ..types import Adjoint, RowValues


# of a row: its number, op, a, b and call (None for an elementwise operation: who reads it has looked at op)
Cells: TypeAlias = tuple[int, int, int, int, Any]


def get_row_values(record: Record) -> RowValues:
    """Return the values of the rows: a list, or, where rows are packed, the recording, as few are read then."""
    return record if record.base else record.read_column(VALUE_COLUMN)


def iter_operations_backward(record: Record, first_row: int, last_row: int) -> Iterator[Cells]:
    """Iterate from ``last_row`` down to ``first_row``, both included, over the rows that are not leaves (``op`` 0)."""
    for chunk_end in range(last_row + 1, first_row, -CHUNK):
        chunk_start = max(first_row, chunk_end - CHUNK)
        ops, first_inputs, second_inputs, calls = [
            column[::-1] for column in record.read_columns(chunk_start, chunk_end)[:4]
        ]
        yield from compress(
            zip(range(chunk_end - 1, chunk_start - 1, -1), ops, first_inputs, second_inputs, calls, strict=True), ops
        )


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


def fit_share_to_input(share: Adjoint, input_value: Adjoint) -> Adjoint:
    """Return a share in the shape and dtype of the input that it belongs to."""
    if share.shape != input_value.shape:
        share = unbroadcast(share, tuple(input_value.shape))
    if share.dtype is not input_value.dtype and isinstance(share, (ndarray, np.generic)):
        share = share.astype(input_value.dtype)  # NumPy computes some of the half types in float32
    return share


def add_share_to_adjoint(adjoint: Adjoint, share: Adjoint) -> Adjoint:
    """Return the sum of the adjoint at a row and a share that arrives now; a large adjoint may be overwritten."""
    if type(adjoint) is ndarray and adjoint.size >= LARGE:
        return fast.accumulate_adjoint(adjoint, share)
    return adjoint + share
