"""Runs of elementwise calls on large arrays, computed together block by block.

Each operation alone would walk over main memory. Here a block of every array stays in the cache while all calls of the
run pass over it; only what other calls read is written to memory. The work is NumPy's, whose sin, exp and tanh are
vector code; the formulas are those of the textbook table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.table.code import define, with_operands
from ..engine.table.primitives.formula import ARRAY
from .blocks import LARGE, buffer, slices
from .fuse import CHEAP, TOTALS, is_total, single_number, total

LEAST = 3  # calls from which on a run is worth it


def large_kind(table: Any, call: Any) -> tuple[tuple[int, ...], type] | None:
    """(shape, float type) of a call that can be part of a run; None for others."""
    primitive = call.primitive
    reduces = primitive.name in TOTALS
    if not (reduces or (primitive.code and not call.attrs)):
        return None
    shape, dtype = table.shape_dtypes[call.inputs[0] if reduces else call.row]
    if shape is None or None in shape or int(np.prod(shape)) < LARGE or dtype.char not in "fd":
        return None
    if reduces:
        return (shape, dtype.type) if is_total(call, len(shape)) else None
    same = all(table.shape_dtypes[r][0] in ((), shape) and table.shape_dtypes[r][1] == dtype for r in call.inputs)
    return (shape, dtype.type) if same else None


def slow_shapes(table: Any, calls: Sequence) -> set:
    """The shapes on which functions are computed that compiled loops have no vector code for."""
    kinds = [(c, large_kind(table, c)) for c in calls if c.primitive.code]
    return {kind for call, kind in kinds if kind is not None and call.primitive.name not in CHEAP}


class Blockwise:
    """Writes the function of one run. ``alias`` sees through rows that are others under a second name."""

    def __init__(
        self,
        table: Any,
        calls: Sequence,
        kind: tuple[tuple[int, ...], type],
        constants: dict[int, Any],
        alias: Any,
        readers: dict[int, list[int]],
    ) -> None:
        self.table, self.calls, self.constants, self.alias = table, calls, constants, alias
        self.shape, self.real = kind
        rows = {c.row for c in calls}
        self.outputs = [c.row for c in calls if any(r not in rows for r in readers.get(c.row, ()))]
        self.inputs: list[int] = []
        self.scope: dict[str, Any] = {**ARRAY, "buffer": buffer, "slices": slices, "np": np, "T": self.real}

    def function(self) -> tuple[Callable, list[int], list[int]]:
        """(the function, the rows that it takes, the rows that it returns)."""
        sums = {call.row: call for call in self.calls if call.primitive.name in TOTALS}
        arrays = [row for row in self.outputs if row not in sums]
        last = {self.alias(row): number for number, call in enumerate(self.calls) for row in call.inputs}
        lines, known = [], set()
        for number, call in enumerate(self.calls):
            operands = [f"b{row}" if row in known else self._operand(row) for row in map(self.alias, call.inputs)]
            if call.row in sums:
                lines.append(f"s{call.row} += float(np.add.reduce({operands[0]}))")
                continue
            known.add(call.row)
            lines.append(f"b{call.row} = {with_operands(call.primitive.texts[0], operands)}")
            if call.row in arrays:
                lines.append(f"f{call.row}[part] = b{call.row}")
            lines += [f"b{row} = None" for row in known if last.get(row) == number]
        large = [row for row in self.inputs if self.table.shape_dtypes[row][0]]
        text = [
            f"def blockwise({', '.join(f'v{row}' for row in self.inputs)}):",
            *[f"    f{row} = np.ascontiguousarray(v{row}).reshape(-1)" for row in large],
            *[f"    v{row} = buffer({self.shape!r}, T)\n    f{row} = v{row}.reshape(-1)" for row in arrays],
            *[f"    s{row} = 0.0" for row in sums],
            f"    for part in slices({math.prod(self.shape)}):",
            *[f"        b{row} = f{row}[part]" for row in large],
            *[f"        {line}" for line in lines],
            *[f"    v{row} = {total(f's{row}', call, self.shape)}" for row, call in sums.items()],
            f"    return ({''.join(f'v{row}, ' for row in self.outputs)})\n",
        ]
        return define("\n".join(text), "<formula blockwise>", self.scope)["blockwise"], self.inputs, self.outputs

    def _operand(self, row: int) -> str:
        """A value that is there before the loop: a constant, or an argument."""
        number = single_number(self.constants[row]) if row in self.constants else None
        if number is not None:
            self.scope[f"c{row}"] = self.real(number)
            return f"c{row}"
        if row not in self.inputs:
            self.inputs.append(row)
        return f"b{row}" if self.table.shape_dtypes[row][0] else f"v{row}"
