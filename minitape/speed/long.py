"""The reverse sweep over a long recording of numbers: their adjoints are in one column, which a compiled loop
fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.back.sweep import Sweep
from ..engine.table.accelerator import full
from .kernels import for_rows


def long_sweep(record: Any, starts: Any, sources: set[int], reachable: Any) -> LongSweep | None:
    """A sweep with a compiled loop; None where the walk in Python is the better way."""
    kernel = for_rows(record, max(starts) - min(sources) + 1)
    return None if kernel is None else LongSweep(kernel, record, starts, sources, reachable)


class LongSweep(Sweep):
    """The column of adjoints, and for each row whether it matters (bit 0) and whether something has arrived there (bit
    1).
    """

    record: Any  # packed

    def __init__(self, kernel: Any, record: Any, starts: Any, sources: set[int], reachable: Any) -> None:
        super().__init__(record, starts, sources, reachable)
        self.kernel, self.real = kernel, record.real
        self.numbers = record.numbers_from(self.real)
        # -0.0 + share is the share, to the sign of a zero
        self.column = full(self.numbers.shape, self.numbers.dtype, -0.0)
        self.reach = np.ones(len(record), np.uint8) if reachable is None else np.frombuffer(reachable, np.uint8).copy()
        for row, adjoint in [*self.adjoints.items()]:
            if self._add_share(row, adjoint):
                del self.adjoints[row]

    def cells(self) -> Iterator:
        """The rows that the loop does not know, calls and arrays. It continues below each of them."""
        record, low = self.record, self.low
        for first, block, _, calls in reversed(record.blocks):
            end, row = max(first, low), min(first + len(block) - 1, self.high)
            while row >= end:
                row = self.kernel(block, first, row, end, self.numbers, self.column, self.reach)
                if row < end:
                    break
                yield row, *record.cell(row)[:3], calls.get(row)
                row -= 1

    def _add_share(self, row: int, share: Any) -> bool:
        """Adds a share to the adjoint of a row and returns True; False if the row is no number of this column."""
        self.reach[row] |= 2
        if type(self.record.value_or_spec(row)) is not self.real:
            return False
        self.column[row] += share
        return True

    def add(self, row: int, share: Any) -> Any:
        return self.adjoint(row) if self._add_share(row, share) else super().add(row, share)

    def adjoint(self, row: int) -> Any:
        """The adjoint that has arrived at a row, None when none has."""
        if type(self.record.value_or_spec(row)) is self.real:
            return self.real(self.column[row]) if self.reach[row] & 2 else None
        return self.adjoints.get(row)
