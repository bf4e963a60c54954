"""Read the values of rows for a sweep, and add up the shares that a row receives."""

from collections.abc import Iterator
from itertools import compress
from typing import Any

import numpy as np
from numpy import ndarray

from ..record.array_spec import ArraySpec
from ..record.record import Record
from ..record.row_parts import CHUNK, VALUE_COLUMN
from ..table.accelerator import fast
from ..table.primitives.elementwise import LARGE
from ..table.primitives.reduce import unbroadcast
from ..tensor.tensor import EagerTensor, Tensor
from ..types import Adjoint, RowValues

# A row's number, code, a, b and call. The call is None for elementwise operations, which readers check first, so the
# type of the call is Any.
Cells = tuple[int, int, int, int, Any]


def get_values_by_row(record: Record) -> RowValues:
    """Return an object that maps row numbers to values.

    The object is a list, or the recording itself if rows are packed, because a sweep reads few values of a packed
    recording.

    Args:
        record: The recording.
    """
    return record if record.base else record.read_column(VALUE_COLUMN)


def iter_operations_backward(record: Record, first_row: int, last_row: int) -> Iterator[Cells]:
    """Iterate backward over the rows that are not leaves.

    Args:
        record: The recording.
        first_row: The row at which the iteration ends, inclusive.
        last_row: The row at which the iteration starts, inclusive.

    Yields:
        The ``Cells`` of each row that is not a leaf.
    """
    for chunk_end in range(last_row + 1, first_row, -CHUNK):
        chunk_start = max(first_row, chunk_end - CHUNK)
        codes, first_inputs, second_inputs, calls = [
            column[::-1] for column in record.read_columns(chunk_start, chunk_end)[:4]
        ]
        # The code of a leaf is 0, so `compress` skips leaves.
        yield from compress(
            zip(range(chunk_end - 1, chunk_start - 1, -1), codes, first_inputs, second_inputs, calls, strict=True),
            codes,
        )


class TensorValues(dict[int, "Tensor"]):
    """The values of rows as tensors, each created on first use, for a sweep that an outer tape records.

    Attributes:
        record: The recording to sweep over.
        arrays: The values of its rows, as arrays.
    """

    def __init__(self, record: Record, arrays: RowValues):
        """Create an empty dictionary. The tensor of a row is created when the row is first read.

        Args:
            record: The recording to sweep over.
            arrays: The values of its rows, as arrays.
        """
        self.record = record
        self.arrays = arrays

    def __missing__(self, row: int) -> Tensor:
        """Store and return the tensor of a leaf, or a new tensor with the row's value, recording and number.

        If the recording kept only the shape and dtype of the row, the tensor contains zeros. Either no rule reads them,
        or later calls of a function compute the value again. A leaf keeps its own tensor, because the tensor may have
        moved to the recording of a tape that was opened later. If so, the later tape watches it there. A new tensor
        would be a constant, and the gradient of the later tape would be None.
        """
        leaf = self.record.leaves.get(row)
        tensor = leaf.tensor_ref() if leaf is not None and leaf.tensor_ref is not None else None
        if tensor is None:
            value = self.arrays[row]
            tensor = EagerTensor()
            tensor._value = value.zeros if type(value) is ArraySpec else value
            tensor._record = self.record
            tensor._row = row
            tensor._origin = None
        self[row] = tensor
        return tensor


def fit_share_to_input(share: Adjoint, input_value: Adjoint) -> Adjoint:
    """Convert a share to the shape and dtype of its input.

    Args:
        share: An array, a NumPy scalar or a tensor. The shape of the input broadcasts to the shape of the share.
        input_value: The value of the input.

    Returns:
        The share, summed over the axes along which the input was broadcast.
    """
    if share.shape != input_value.shape:
        share = unbroadcast(share, tuple(input_value.shape))
    if share.dtype is not input_value.dtype and isinstance(share, (ndarray, np.generic)):
        share = share.astype(input_value.dtype)  # NumPy computes some half-precision types in float32.
    return share


def add_share_to_adjoint(adjoint: Adjoint, share: Adjoint) -> Adjoint:
    """Return a row's adjoint with another share added.

    Args:
        adjoint: The sum of the shares so far. Large arrays may be overwritten.
        share: The share to add, of the same shape and dtype.
    """
    if type(adjoint) is ndarray and adjoint.size >= LARGE:
        return fast.add_share_to_large_adjoint(adjoint, share)
    return adjoint + share
