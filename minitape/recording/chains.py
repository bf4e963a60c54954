"""Long runs of scalar rows, walked in one tight loop, so that a search meets only their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE

if TYPE_CHECKING:
    from ..engine.recording.record import Record

LONG = 20_000  # rows from which on runs of scalar rows are contracted

_RULES: list[tuple[str, ...]] = [()] * FIRST_CODE + [p.texts[1:] for p in BY_CODE]


class Chains:
    """The rows of one long recording as plain lists, and what a run of them is made of."""

    def __init__(self, record: Record, spans: list[tuple[int, int]], wanted: set[int]) -> None:
        self.op, self.a, self.b, *_ = record.columns()
        self.inside = bytearray(len(self.op))
        for first, last in spans:
            self.inside[first:last] = b"\x01" * (min(last, len(self.op)) - first)
        self.wanted = wanted

    def plain(self, row: int) -> bool:
        """Whether a row is a scalar operation that the tape recorded, with a rule for each input."""
        op = self.op[row]
        return op >= FIRST_CODE and bool(self.inside[row]) and "-" not in _RULES[op]

    def ends(self, start: int) -> dict[int, set[int]]:
        """Where the run that ends in ``start`` comes from: rows that read something else -> what they read."""
        first: dict[int, int] = {}  # what is read from outside the run -> the lowest row that reads it
        seen = bytearray(len(self.op))
        waiting = [start]
        op, left, right, plain, wanted = self.op, self.a, self.b, self.plain, self.wanted
        while waiting:
            row = waiting.pop()
            if seen[row]:
                continue
            seen[row] = 1
            one = len(_RULES[op[row]]) == 1
            for parent in (left[row],) if one else (left[row], right[row]):
                if parent not in wanted and plain(parent):
                    if not seen[parent]:
                        waiting.append(parent)
                elif row < first.get(parent, row + 1):
                    first[parent] = row
        found: dict[int, set[int]] = {}
        for parent, row in first.items():
            found.setdefault(row, set()).add(parent)
        return found
