"""Sweep backward over a long recording of scalars with a compiled loop.

The loop reads the packed rows and adds the shares to a column of adjoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..engine.backward.sweep import Sweep
from ..engine.table.accelerator import create_filled_array

if TYPE_CHECKING:
    from ..engine.types import Adjoint, AdjointsByRow, Function, RowSet
    from .packed_rows import PackedRecord


class LongSweep(Sweep):
    """A sweep that stores the adjoints of scalars in one array, for a compiled kernel to fill.

    The adjoints of all other rows are in ``adjoints``, as in every sweep.

    Attributes:
        record: The packed recording.
        kernel: The compiled function ``backward`` from :mod:`minitape.speed.kernel_source`.
        number_type: The type of all scalars in the recording, np.float32 or np.float64.
        number_column: The values of all rows, as an array of this dtype with shape (rows,). Rows without a scalar
            contain NaN.
        adjoint_column: The adjoints of all rows, of the same dtype and shape.
        reach_flags: A uint8 for each row. Bit 0 is set if the row matters, and bit 1 if the row has received an
            adjoint.
    """

    record: PackedRecord

    def __init__(
        self,
        kernel: Function,
        record: PackedRecord,
        seeds: AdjointsByRow,
        sources: RowSet,
        reachable: bytearray | None,
    ):
        """Create the columns and enter the seeds.

        Args:
            kernel: The compiled function for the recording's scalars.
            record: The recording, whose rows are packed.
            seeds: The adjoints of the targets, keyed by row.
            sources: The rows whose adjoints are kept.
            reachable: For each row, whether a source is reachable through the row, or None if all rows matter.
        """
        super().__init__(record, seeds, sources, reachable)
        number_type = record.number_type
        assert number_type is not None  # Without a number type, there would be no kernel for the sweep.
        self.kernel = kernel
        self.number_type = number_type
        self.number_column = record.build_number_column(number_type)
        # The column is initialized with -0.0.
        # The sum of -0.0 and a share has the sign of the share, even if the share is zero.
        self.adjoint_column = create_filled_array(self.number_column.shape, self.number_column.dtype, -0.0)
        self.reach_flags = (
            np.ones(len(record), np.uint8) if reachable is None else np.frombuffer(reachable, np.uint8).copy()
        )
        for row, adjoint in [*self.adjoints.items()]:
            if self._try_adding_to_column(row, adjoint):
                del self.adjoints[row]

    def iter_cells_backward(self) -> Iterator:
        """Run the kernel and yield the cells of the rows that it cannot handle: calls and arrays.

        When the iteration continues, the kernel resumes after the yielded row.
        """
        record = self.record
        first_row = self.first_row
        for block_start, block, _, calls in reversed(record.blocks):
            block_end = max(block_start, first_row)
            row = min(block_start + len(block) - 1, self.last_row)
            while row >= block_end:
                row = self.kernel(
                    block, block_start, row, block_end, self.number_column, self.adjoint_column, self.reach_flags
                )
                if row < block_end:
                    break
                yield row, *record.read_integer_cells(row)[:3], calls.get(row)
                row -= 1

    def _try_adding_to_column(self, row: int, share: Adjoint) -> bool:
        """Add a share to the column of adjoints if possible, and return whether it was added.

        The share must be a scalar of the column's type.
        """
        self.reach_flags[row] |= 2
        if type(self.record.get_value_or_spec(row)) is not self.number_type:
            return False
        self.adjoint_column[row] += share
        return True

    def add_share(self, row: int, share: Adjoint) -> Adjoint:
        """Add a share to the adjoint of a row. For scalars, the adjoint is in the column.

        Args:
            row: The row that receives the share.
            share: The number or array to add.

        Returns:
            The sum so far.
        """
        return self.get_adjoint(row) if self._try_adding_to_column(row, share) else super().add_share(row, share)

    def get_adjoint(self, row: int) -> Adjoint:
        """Return the adjoint of a row.

        Args:
            row: The row number.

        Returns:
            The scalar or array, or None if the row has not received a share.
        """
        if type(self.record.get_value_or_spec(row)) is self.number_type:
            return self.number_type(self.adjoint_column[row]) if self.reach_flags[row] & 2 else None
        return self.adjoints.get(row)
