"""Long runs of scalar rows, walked in one tight loop, so that a search meets only their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE

if TYPE_CHECKING:
    from ..engine.record.record import Record

LONG_RECORD = 20_000  # rows from which on runs of scalar rows are contracted

_RULE_TEXTS: list[tuple[str, ...]] = [()] * FIRST_CODE + [p.texts[1:] for p in BY_CODE]


class ScalarChains:
    """The rows of one long recording as plain lists, and what a run of them is made of."""

    def __init__(self, record: Record, spans: list[tuple[int, int]], excluded_rows: set[int]) -> None:
        self.ops, self.left, self.right, *_ = record.read_columns()
        self.is_recorded = bytearray(len(self.ops))
        for first, last in spans:
            self.is_recorded[first:last] = b"\x01" * (min(last, len(self.ops)) - first)
        self.excluded_rows = excluded_rows

    def is_contractible(self, row: int) -> bool:
        """Whether a row is a scalar operation that the tape recorded, with a rule for each input."""
        op = self.ops[row]
        return op >= FIRST_CODE and bool(self.is_recorded[row]) and "-" not in _RULE_TEXTS[op]

    def map_readers_to_outside_inputs(self, end_row: int) -> dict[int, set[int]]:
        """Map rows of the run that ends in ``end_row`` to the rows outside the run that they read.

        A row outside that several rows read counts for the first of them.
        """
        lowest_readers: dict[int, int] = {}  # what is read from outside the run -> the lowest row that reads it
        seen = bytearray(len(self.ops))
        waiting = [end_row]
        ops, left, right, is_contractible, excluded_rows = (
            self.ops,
            self.left,
            self.right,
            self.is_contractible,
            self.excluded_rows,
        )
        while waiting:
            row = waiting.pop()
            if seen[row]:
                continue
            seen[row] = 1
            is_unary = len(_RULE_TEXTS[ops[row]]) == 1
            for parent in (left[row],) if is_unary else (left[row], right[row]):
                if parent not in excluded_rows and is_contractible(parent):
                    if not seen[parent]:
                        waiting.append(parent)
                elif row < lowest_readers.get(parent, row + 1):
                    lowest_readers[parent] = row
        inputs_by_row: dict[int, set[int]] = {}
        for parent, row in lowest_readers.items():
            inputs_by_row.setdefault(row, set()).add(parent)
        return inputs_by_row
