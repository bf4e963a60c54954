"""Long runs of single numbers, rolled up into the loops that they came from.

A loop in Python leaves the same operations in the recording once for each turn, and so does its gradient. Interpreting
a thousand such rows costs a few nanoseconds each. Here the repeats are found: a stretch whose operations return after a
period, each reading the same row every time or rows a fixed step apart, becomes one compiled loop. The rows are
computed in the same order by the same formulas, so the numbers are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.table.generated_code import replace_operands
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from .fusion import compile_fused_function
from .kernel_source import to_kernel_formula

MAX_PERIOD = 64  # operations of a loop's turn at most
MIN_TURNS = 4  # turns from which on a loop is written
MAX_OPERATIONS = 128  # operations that are written out, in loops and outside them: the time to compile grows with them


class Stretch(NamedTuple):
    """Rows from ``first_row`` on that are ``turns`` times the same ``period`` operations."""

    first_row: int
    period: int
    turns: int


def compile_repeated_rows(rows: np.ndarray, leaf_count: int, float_type: Any) -> Any:
    """Return the compiled function of some rows (code, input, input); the first ``leaf_count`` of them are leaves.

    It takes the array of all values and computes those that are no leaves. None where the rows repeat too little.
    """
    stretches = _split_into_stretches(rows, leaf_count)
    if stretches is None:
        return None
    lines = []
    for stretch in stretches:
        lines += (
            _write_loop_source(rows, stretch)
            if stretch.turns > 1
            else [f"    {_write_row_source(rows, stretch.first_row)}\n"]
        )
    return compile_fused_function(f"def fused(v):\n{''.join(lines)}", float_type, [(len(rows),)])


def _split_into_stretches(rows: np.ndarray, first_row: int) -> list[Stretch] | None:
    """Split the rows from ``first_row`` on into loops and single rows; None if they are too many to be written out."""
    repeats = _RepeatFinder(rows)
    stretches, operation_count, row = [], 0, first_row
    while row < len(rows) and operation_count <= MAX_OPERATIONS:
        longest = max(
            (repeats.find_stretch(row, period) for period in range(1, MAX_PERIOD + 1)),
            key=lambda stretch: stretch.turns * stretch.period,
        )
        stretches.append(longest if longest.turns >= MIN_TURNS else Stretch(row, 1, 1))
        row += stretches[-1].period * stretches[-1].turns
        operation_count += stretches[-1].period
    return stretches if operation_count <= MAX_OPERATIONS else None


class _RepeatFinder:
    """Where a repetition of operations ends: at another operation, or at another step of an input."""

    def __init__(self, rows: np.ndarray) -> None:
        self.row_count, self.operation_breaks, self.step_breaks = len(rows), [], []
        for period in range(1, MAX_PERIOD + 1):
            steps = rows[period:, 1:3] - rows[:-period, 1:3]
            self.operation_breaks.append(np.flatnonzero(rows[period:, 0] != rows[:-period, 0]) + period)
            self.step_breaks.append(np.flatnonzero((steps[period:] != steps[:-period]).any(axis=1)) + 2 * period)

    def find_stretch(self, first_row: int, period: int) -> Stretch:
        """Return the longest stretch of this period that begins at a row."""
        end = self.row_count
        for breaks, start in (
            (self.operation_breaks[period - 1], first_row + period),
            (self.step_breaks[period - 1], first_row + 2 * period),
        ):
            index = np.searchsorted(breaks, start)
            end = min(end, breaks[index]) if index < len(breaks) else end
        return Stretch(first_row, period, int(end - first_row) // period)


def _write_row_source(rows: np.ndarray, row: int) -> str:
    return f"v[{row}] = {_format_row_formula(rows[row, 0], [f'v[{input_row}]' for input_row in rows[row, 1:3]])}"


def _write_loop_source(rows: np.ndarray, stretch: Stretch) -> list[str]:
    """Write the lines of a loop. A turn hands values to the next one in variables; other consumers read memory."""
    first_row, period, turns = stretch
    initial_values: dict[str, str] = {}  # what must be known when the loop begins
    body, carried_values = [], {}
    for offset in range(period):
        operands = []
        for start, step in zip(
            rows[first_row + offset, 1:3],
            rows[first_row + period + offset, 1:3] - rows[first_row + offset, 1:3],
            strict=True,
        ):
            name = _format_loop_operand(stretch, int(start), int(step))
            if name[0] in "cp":
                initial_values[name] = f"v[{start}]"
            if name[0] == "p":
                carried_values[name] = f"t{name[1:]}"
            operands.append(name)
        body += [
            f"t{offset} = {_format_row_formula(rows[first_row + offset, 0], operands)}",
            f"v[{first_row + offset} + {period} * i] = t{offset}",
        ]
    body += [f"{name} = {value}" for name, value in carried_values.items()]
    head = [f"    {name} = {value}\n" for name, value in initial_values.items()]
    return [*head, f"    for i in range({turns}):\n", *[f"        {line}\n" for line in body]]


def _format_loop_operand(stretch: Stretch, start: int, step: int) -> str:
    """Return the name of an input in a loop: this turn's variable, the previous turn's, a constant, or an element."""
    first_row, period, _ = stretch
    if step == period and start >= first_row - period:
        return f"t{start - first_row}" if start >= first_row else f"p{start - first_row + period}"
    if step == 0 and start < first_row:
        return f"c{start}"
    return f"v[{start} + {step} * i]"


def _format_row_formula(code: int, operands: list[str]) -> str:
    return replace_operands(to_kernel_formula(BY_CODE[code - FIRST_CODE].texts[0]), operands)
