"""Runs of elementwise calls on large arrays, computed together block by block.

Each operation alone would walk over main memory. Here a block of every array stays in the cache while all calls of the
run pass over it; only what other calls read is written to memory. On a block NumPy computes sin, exp and tanh, for
which it has vector code; what lies between them becomes compiled loops where the program is fused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..engine.recording.rows import NO_ATTRS, Call
from ..engine.table.code import define
from .blocks import LARGE, buffer, slices
from .fuse import TOTALS, float_type, is_total, single_number, total

LEAST = 3  # calls from which on a run is worth it
BLOCK = LARGE - 1  # elements of a block, which is no large array itself


def large_kind(table: Any, call: Any) -> tuple[tuple[int, ...], type] | None:
    """(shape, float type) of a call that can be part of a run; None for others."""
    reduces = call.primitive.name in TOTALS
    shape = table.shape_dtypes[call.inputs[0] if reduces else call.row][0]
    if math.prod(shape) < LARGE or not (reduces or (call.primitive.code and not call.attrs)):
        return None
    arrays = {table.shape_dtypes[row][0] for row in call.inputs if number_in(table, row) is None}
    real = float_type(table, call) if arrays in ({shape}, {(), shape}) else None
    return None if real is None or (reduces and not is_total(call, len(shape))) else (shape, real)


def number_in(table: Any, row: int) -> int | None:
    """The row of the single number that a large array is everywhere: itself, or what it was made of."""
    if row in table.folded:
        return row if single_number(table.folded[row]) is not None else None
    call = table.calls.get(row)
    spread = call is not None and call.primitive.name == "broadcast_to"
    return call.inputs[0] if spread and table.shape_dtypes[call.inputs[0]][0] == () else None


def blockwise(
    table: Any,
    calls: Sequence,
    kind: tuple[tuple[int, ...], type],
    alias: Callable,
    readers: dict[int, list[int]],
    write: Callable,
) -> tuple[Callable, list[int], list[int]]:
    """(the function of a run, the rows that it takes, the rows that it returns). ``alias`` sees through rows that are
    others under a second name; ``write`` gives a writer of the program for a block.
    """
    (shape, real), rows = kind, {c.row for c in calls}
    outputs = [c.row for c in calls if any(r not in rows for r in readers.get(c.row, ()))]
    sums = {c.row: (c, alias(c.inputs[0])) for c in calls if c.primitive.name in TOTALS}
    arrays = [row for row in outputs if row not in sums]

    def of_block(row: int) -> int:
        number = None if row in rows else number_in(table, row)
        return alias(row) if number is None else alias(number)

    steps = [Call(c.row, c.primitive, (*map(of_block, c.inputs),), NO_ATTRS, 1) for c in calls if c.row not in sums]
    read = dict.fromkeys(row for step in steps for row in step.inputs if row not in rows)
    fixed = {r: real(np.ravel(table.folded[r])[0]) for r in read if r in table.folded and number_in(table, r) == r}
    large = [row for row in read if row not in fixed and table.shape_dtypes[row][0] == shape]
    inputs = [*large, *(row for row in read if row not in fixed and row not in large)]
    shapes = {row: ((BLOCK,) if row in rows or row in large else (), np.dtype(real)) for row in (*read, *rows)}
    block = SimpleNamespace(shape_dtypes=shapes, folded=fixed)
    made = [*dict.fromkeys([*arrays, *(row for _, row in sums.values())])]
    program = write(block, steps, fixed, made, inputs).write()
    parts = [f"f{row}[part]" if row in large else f"v{row}" for row in inputs]
    text = [
        f"def blockwise({', '.join(f'v{row}' for row in inputs)}):",
        *[f"    f{row} = np.ascontiguousarray(v{row}).reshape(-1)" for row in large],
        *[f"    v{row} = buffer({shape!r}, T)\n    f{row} = v{row}.reshape(-1)" for row in arrays],
        *[f"    s{row} = 0.0" for row in sums],
        f"    for part in slices({math.prod(shape)}, {BLOCK}):",
        f"        {''.join(f'b{row}, ' for row in made)} = program({', '.join(parts)})",
        *[f"        f{row}[part] = b{row}" for row in arrays],
        *[f"        s{row} += float(np.add.reduce(b{source}))" for row, (_, source) in sums.items()],
        *[f"    v{row} = {total(f's{row}', call, shape)}" for row, (call, _) in sums.items()],
        f"    return ({''.join(f'v{row}, ' for row in outputs)})\n",
    ]
    scope = {"buffer": buffer, "slices": slices, "np": np, "T": real, "program": program}
    return define("\n".join(text), "<formula blockwise>", scope)["blockwise"], inputs, outputs
