"""Long runs of single numbers, rolled up into the loops that they came from.

A loop in Python leaves the same operations in the recording once for each turn, and so does its gradient. Interpreting
a thousand such rows costs a few nanoseconds each. Here the repeats are found: a stretch whose operations return after a
period, each reading the same row every time or rows a fixed step apart, becomes one compiled loop. The rows are
computed in the same order by the same formulas, so the numbers are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.table.code import with_operands
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from .fuse import compiled
from .text import kernel_text

PERIOD = 64  # operations of a loop's turn at most
TURNS = 4  # turns from which on a loop is written
MOST = 128  # operations that are written out, in loops and outside them: the time to compile grows with them


class Stretch(NamedTuple):
    """Rows from ``first`` on that are ``turns`` times the same ``period`` operations."""

    first: int
    period: int
    turns: int


def rolled(rows: np.ndarray, leaves: int, real: Any) -> Any:
    """The compiled function of some rows (code, input, input); the first ``leaves`` of them are given values.

    It takes the array of all values and computes those that are not given. None where the rows repeat too little.
    """
    stretches = _stretches(rows, leaves)
    if stretches is None:
        return None
    lines = []
    for stretch in stretches:
        lines += _loop(rows, stretch) if stretch.turns > 1 else [f"    {_row(rows, stretch.first)}\n"]
    return compiled(f"def fused(v):\n{''.join(lines)}", real, [(len(rows),)])


def _stretches(rows: np.ndarray, first: int) -> list[Stretch] | None:
    """The rows from ``first`` on as loops and single rows; None when they are too many to be written out."""
    repeats = _Repeats(rows)
    found, written, at = [], 0, first
    while at < len(rows) and written <= MOST:
        best = max((repeats.from_(at, p) for p in range(1, PERIOD + 1)), key=lambda s: s.turns * s.period)
        found.append(best if best.turns >= TURNS else Stretch(at, 1, 1))
        at += found[-1].period * found[-1].turns
        written += found[-1].period
    return found if written <= MOST else None


class _Repeats:
    """Where operations stop to return after a period: with another operation, or with another step of an input."""

    def __init__(self, rows: np.ndarray) -> None:
        self.count, self.others, self.jumps = len(rows), [], []
        for p in range(1, PERIOD + 1):
            steps = rows[p:, 1:3] - rows[:-p, 1:3]
            self.others.append(np.flatnonzero(rows[p:, 0] != rows[:-p, 0]) + p)
            self.jumps.append(np.flatnonzero((steps[p:] != steps[:-p]).any(axis=1)) + 2 * p)

    def from_(self, at: int, period: int) -> Stretch:
        """The longest stretch of this period that begins at a row."""
        end = self.count
        for stops, start in ((self.others[period - 1], at + period), (self.jumps[period - 1], at + 2 * period)):
            number = np.searchsorted(stops, start)
            end = min(end, stops[number]) if number < len(stops) else end
        return Stretch(at, period, int(end - at) // period)


def _row(rows: np.ndarray, at: int) -> str:
    return f"v[{at}] = {_formula(rows[at, 0], [f'v[{a}]' for a in rows[at, 1:3]])}"


def _loop(rows: np.ndarray, stretch: Stretch) -> list[str]:
    """The lines of a loop. Its turns hand values on in variables; memory is for the readers further away."""
    first, period, turns = stretch
    before: dict[str, str] = {}  # what must be known when the loop begins
    body, after = [], {}
    for k in range(period):
        operands = []
        for start, step in zip(rows[first + k, 1:3], rows[first + period + k, 1:3] - rows[first + k, 1:3], strict=True):
            name = _operand(stretch, int(start), int(step))
            if name[0] in "cp":
                before[name] = f"v[{start}]"
            if name[0] == "p":
                after[name] = f"t{name[1:]}"
            operands.append(name)
        body += [f"t{k} = {_formula(rows[first + k, 0], operands)}", f"v[{first + k} + {period} * i] = t{k}"]
    body += [f"{name} = {value}" for name, value in after.items()]
    head = [f"    {name} = {value}\n" for name, value in before.items()]
    return [*head, f"    for i in range({turns}):\n", *[f"        {line}\n" for line in body]]


def _operand(stretch: Stretch, start: int, step: int) -> str:
    """An input of a row in a loop: this turn's variable, the previous turn's, a constant, or an element."""
    first, period, _ = stretch
    if step == period and start >= first - period:
        return f"t{start - first}" if start >= first else f"p{start - first + period}"
    if step == 0 and start < first:
        return f"c{start}"
    return f"v[{start} + {step} * i]"


def _formula(code: int, operands: list[str]) -> str:
    return with_operands(kernel_text(BY_CODE[code - FIRST_CODE].texts[0]), operands)
