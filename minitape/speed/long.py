"""The reverse sweep over a long recording of numbers: their adjoints stand in one column, which a compiled loop
fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .kernels import for_rows


def long_sweep(sweep: Any) -> LongSweep | None:
    """What takes the numbers off a sweep's hands; None where the walk in Python is the better way."""
    kernel = for_rows(sweep.record, sweep.high - sweep.low + 1, "backward")
    return None if kernel is None else LongSweep(sweep, kernel)


class LongSweep:
    """The column of adjoints, and for each row whether it matters (bit 0) and whether something has arrived there (bit
    1).
    """

    def __init__(self, sweep: Any, kernel: Any) -> None:
        record = sweep.record
        self.sweep, self.kernel, self.real = sweep, kernel, record.real
        self.values = record.numbers_from(self.real)
        self.column = np.zeros(len(record), self.real)
        reachable = sweep.reachable
        self.reach = np.ones(len(record), np.uint8) if reachable is None else np.frombuffer(reachable, np.uint8).copy()
        for row, adjoint in [*sweep.adjoints.items()]:
            if self.add(row, adjoint):
                del sweep.adjoints[row]

    def cells(self) -> Iterator[Any]:
        """The rows that the loop does not know, calls and arrays. It goes on below each of them."""
        record, low = self.sweep.record, self.sweep.low
        for first, block, _ in reversed(record.blocks):
            end, row = max(first, low), min(first + len(block) - 1, self.sweep.high)
            while row >= end:
                row = self.kernel(block, first, row, end, self.values, self.column, self.reach)
                if row < end:
                    break
                yield row, *record.cell(row)[:3]
                row -= 1

    def add(self, row: int, share: Any) -> bool:
        """Adds a share to the adjoint of a row; False for a row that is no number, whose adjoint stands elsewhere."""
        self.reach[row] |= 2
        if type(self.sweep.record.held(row)) is not self.real:
            return False
        self.column[row] += share
        return True

    def adjoint(self, row: int) -> Any:
        """The adjoint that has arrived at a row, None when none has."""
        if type(self.sweep.record.held(row)) is self.real:
            return self.real(self.column[row]) if self.reach[row] & 2 else None
        return self.sweep.adjoints.get(row)
