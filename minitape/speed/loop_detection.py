"""Find loops in long runs of scalar operations and compile them.

A Python loop records the same operations in every iteration, and so does its gradient. This module finds such
repetitions and compiles them into loops again. A *stretch* is a run of rows whose operations repeat after a *period*.
In every iteration, an operation must read the same row, or rows that are a fixed step apart. The compiled loop computes
the same formulas in the same order, so the results are identical.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..engine.table.generated_code import replace_operands
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.types import NumPyType, OptionalFunction, TextList
from .fusion import compile_fused_function
from .kernel_source import to_kernel_formula

MAX_PERIOD = 64  # A loop has at most this many operations per iteration.
MIN_TURNS = 4  # A loop is written only if there are at least this many iterations.
MAX_OPERATIONS = 128  # The source has at most this many operations, because the compilation time grows with them.


class Stretch(NamedTuple):
    """A run of rows that repeat the same operations.

    Attributes:
        first_row: The first row of the stretch.
        period: The number of operations in each iteration.
        turns: The number of iterations.
    """

    first_row: int
    period: int
    turns: int


def compile_repeated_rows(rows: ndarray, leaf_count: int, float_type: NumPyType) -> OptionalFunction:
    """Compile a function that computes scalar rows if their operations repeat often enough.

    Args:
        rows: An integer array with a row (code, input, input, ...) for each scalar.
        leaf_count: The number of leaves, which are the first rows.
        float_type: The scalar type, np.float32 or np.float64.

    Returns:
        A function that takes an array of shape (rows,) with the values of the leaves and fills in all other values.
        None if there are too few repetitions, or if numba cannot compile the function.
    """
    stretches = _split_into_loops_and_single_rows(rows, leaf_count)
    if stretches is None:
        return None
    lines = []
    for stretch in stretches:
        if stretch.turns > 1:
            lines += _write_loop_source(rows, stretch)
        else:
            lines.append(f"    {_write_row_source(rows, stretch.first_row)}\n")
    return compile_fused_function(f"def fused(v):\n{''.join(lines)}", float_type, [(len(rows),)])


def _split_into_loops_and_single_rows(rows: ndarray, first_row: int) -> list[Stretch] | None:
    """Split the rows from ``first_row`` on into loops and single rows. Return None if too many operations remain."""
    repeats = _RepeatFinder(rows)
    stretches = []
    operation_count = 0
    row = first_row
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
    """A search for the end of a repetition: a different operation, or a different step between two iterations.

    Attributes:
        row_count: The number of rows.
        operation_breaks: For each period, starting from 1, the rows whose operation differs from the operation one
            period earlier.
        step_breaks: For each period, starting from 1, the rows whose inputs have moved by a different step than in the
            previous iteration.
    """

    def __init__(self, rows: ndarray):
        """Find for each period the rows at which the repetition breaks."""
        self.row_count = len(rows)
        self.operation_breaks = []
        self.step_breaks = []
        for period in range(1, MAX_PERIOD + 1):
            steps = rows[period:, 1:3] - rows[:-period, 1:3]
            self.operation_breaks.append(np.flatnonzero(rows[period:, 0] != rows[:-period, 0]) + period)
            self.step_breaks.append(np.flatnonzero((steps[period:] != steps[:-period]).any(axis=1)) + 2 * period)

    def find_stretch(self, first_row: int, period: int) -> Stretch:
        """Return the longest stretch with this period that begins at the given row."""
        end = self.row_count
        for breaks, start in (
            (self.operation_breaks[period - 1], first_row + period),
            (self.step_breaks[period - 1], first_row + 2 * period),
        ):
            index = np.searchsorted(breaks, start)
            end = min(end, breaks[index]) if index < len(breaks) else end
        return Stretch(first_row, period, int(end - first_row) // period)


def _write_row_source(rows: ndarray, row: int) -> str:
    return f"v[{row}] = {_format_row_formula(rows[row, 0], [f'v[{input_row}]' for input_row in rows[row, 1:3]])}"


def _write_loop_source(rows: ndarray, stretch: Stretch) -> TextList:
    """Return the lines of a loop.

    Each iteration passes values to the next one through variables. All other values are read from the array.
    """
    first_row, period, turns = stretch
    initial_values = {}
    body = []
    carried_values = {}
    for offset in range(period):
        operands = []
        row = first_row + offset
        inputs = rows[row, 1:3]
        for start, step in zip(inputs, rows[row + period, 1:3] - inputs, strict=True):
            name = _format_loop_operand(stretch, int(start), int(step))
            if name[0] in "cp":
                initial_values[name] = f"v[{start}]"
            if name[0] == "p":
                carried_values[name] = f"t{name[1:]}"
            operands.append(name)
        body += [
            f"t{offset} = {_format_row_formula(rows[row, 0], operands)}",
            f"v[{row} + {period} * i] = t{offset}",
        ]
    body += [f"{name} = {value}" for name, value in carried_values.items()]
    head = [f"    {name} = {value}\n" for name, value in initial_values.items()]
    return [*head, f"    for i in range({turns}):\n", *[f"        {line}\n" for line in body]]


def _format_loop_operand(stretch: Stretch, start: int, step: int) -> str:
    """Return the expression that reads an input inside a loop.

    The operand is a variable from this iteration ("t3") or from the previous iteration ("p3"), a constant ("c3"), or an
    element of the value array.

    Args:
        stretch: The stretch that becomes the loop.
        start: The row of the input in the first iteration.
        step: The distance to the input's row in the next iteration.
    """
    first_row, period, _ = stretch
    if step == period and start >= first_row - period:
        return f"t{start - first_row}" if start >= first_row else f"p{start - first_row + period}"
    if step == 0 and start < first_row:
        return f"c{start}"
    return f"v[{start} + {step} * i]"


def _format_row_formula(code: int, operands: TextList) -> str:
    return replace_operands(to_kernel_formula(BY_CODE[code - FIRST_CODE].texts[0]), operands)
