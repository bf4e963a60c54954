"""Contract long chains of scalar rows, so that a search visits only the ends of each chain."""

from ..common.grouping import group_values_by_key
from ..engine.record.record import Record
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.types import Names, RowByRow, RowsByRow, RowSet, Spans

LONG_RECORD = 20_000  # Scalar chains are contracted only in recordings longer than this.

_RULE_TEXTS: list[Names] = [()] * FIRST_CODE + [p.texts[1:] for p in BY_CODE]


class ScalarChains:
    """The rows of a long recording as plain lists, which can be searched quickly.

    Attributes:
        ops: The operation code of each row.
        left: The first input of each row.
        right: The second input of each row.
        is_recorded: For each row, whether the tape recorded it.
        excluded_rows: Rows that are kept out of all chains, because a search looks for them.
    """

    def __init__(self, record: Record, spans: Spans, excluded_rows: RowSet):
        """Read the columns of a recording. The tape recorded only the ranges of rows in `spans`."""
        self.ops, self.left, self.right, *_ = record.read_columns()
        self.is_recorded = bytearray(len(self.ops))
        for first, last in spans:
            self.is_recorded[first:last] = b"\x01" * (min(last, len(self.ops)) - first)
        self.excluded_rows = excluded_rows

    def is_recorded_scalar_with_rule_per_input(self, row: int) -> bool:
        """Return whether a row is a recorded scalar operation that has a rule for each input."""
        op = self.ops[row]
        return op >= FIRST_CODE and bool(self.is_recorded[row]) and "-" not in _RULE_TEXTS[op]

    def map_first_consumers_to_outside_inputs(self, end_row: int) -> RowsByRow:
        """Map the rows of a chain to the rows outside the chain that they read.

        If several rows of the chain read the same row from outside the chain, only the first of them lists it.

        Args:
            end_row: The last row of the chain.

        Returns:
            For each row of the chain, the rows outside the chain that it reads. Chain rows that read no row outside the
            chain are omitted.
        """
        first_consumers: RowByRow = {}  # For each row outside the chain, the lowest row of the chain that reads it.
        seen = bytearray(len(self.ops))
        waiting = [end_row]
        ops, left, right, is_recorded_scalar_with_rule_per_input, excluded_rows = (
            self.ops,
            self.left,
            self.right,
            self.is_recorded_scalar_with_rule_per_input,
            self.excluded_rows,
        )
        while waiting:
            row = waiting.pop()
            if seen[row]:
                continue
            seen[row] = 1
            is_unary = len(_RULE_TEXTS[ops[row]]) == 1
            for parent in (left[row],) if is_unary else (left[row], right[row]):
                if parent not in excluded_rows and is_recorded_scalar_with_rule_per_input(parent):
                    if not seen[parent]:
                        waiting.append(parent)
                elif row < first_consumers.get(parent, row + 1):
                    first_consumers[parent] = row
        return group_values_by_key((row, parent) for parent, row in first_consumers.items())
