"""The reverse sweep over a long recording of numbers: their adjoints are in one column, which a compiled loop
fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.backward.sweep import Sweep
from ..engine.table.accelerator import create_filled_array
from .kernels import find_kernel_and_pack_rows

if TYPE_CHECKING:
    from .packed_rows import PackedRecord


def build_long_sweep(record: PackedRecord, seeds: Any, sources: set[int], reachable: Any) -> LongSweep | None:
    """Return a sweep with a compiled loop; None where the sweep in Python is faster."""
    kernel = find_kernel_and_pack_rows(record, max(seeds) - min(sources) + 1)
    return None if kernel is None else LongSweep(kernel, record, seeds, sources, reachable)


class LongSweep(Sweep):
    """The column of adjoints, and for each row whether it matters (bit 0) and whether something has arrived there (bit
    1).
    """

    record: PackedRecord

    def __init__(self, kernel: Any, record: PackedRecord, seeds: Any, sources: set[int], reachable: Any) -> None:
        super().__init__(record, seeds, sources, reachable)
        self.kernel, self.number_type = kernel, record.number_type
        self.number_column = record.build_number_column(self.number_type)
        # -0.0 + share is the share, to the sign of a zero
        self.adjoint_column = create_filled_array(self.number_column.shape, self.number_column.dtype, -0.0)
        self.reach_flags = (
            np.ones(len(record), np.uint8) if reachable is None else np.frombuffer(reachable, np.uint8).copy()
        )
        for row, adjoint in [*self.adjoints.items()]:
            if self._try_adding_to_column(row, adjoint):
                del self.adjoints[row]

    def iter_cells_backward(self) -> Iterator:
        """Yield the rows that the loop does not know, calls and arrays. It continues below each of them."""
        record, first_row = self.record, self.first_row
        for block_start, block, _, calls in reversed(record.blocks):
            block_end, row = max(block_start, first_row), min(block_start + len(block) - 1, self.last_row)
            while row >= block_end:
                row = self.kernel(
                    block, block_start, row, block_end, self.number_column, self.adjoint_column, self.reach_flags
                )
                if row < block_end:
                    break
                yield row, *record.read_integer_cells(row)[:3], calls.get(row)
                row -= 1

    def _try_adding_to_column(self, row: int, share: Any) -> bool:
        """Add a share to the adjoint of a row and return True; False if the row is no number of this column."""
        self.reach_flags[row] |= 2
        if type(self.record.get_value_or_spec(row)) is not self.number_type:
            return False
        self.adjoint_column[row] += share
        return True

    def add_share(self, row: int, share: Any) -> Any:
        return self.get_adjoint(row) if self._try_adding_to_column(row, share) else super().add_share(row, share)

    def get_adjoint(self, row: int) -> Any:
        """Return the adjoint of a row, None where it has none."""
        if type(self.record.get_value_or_spec(row)) is self.number_type:
            return self.number_type(self.adjoint_column[row]) if self.reach_flags[row] & 2 else None
        return self.adjoints.get(row)
