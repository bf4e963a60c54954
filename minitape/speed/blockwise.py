"""Runs of elementwise calls on large arrays, computed together block by block.

Each operation alone would walk over main memory. Here a block of every array stays in the cache while all calls of the
run pass over it; only what other calls read is written to memory. On a block NumPy computes sin, exp and tanh, for
which it has vector code; what lies between them becomes compiled loops where the program is fused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.record.row_parts import NO_ATTRS, Call
from ..engine.table.generated_code import execute_definitions
from .array_blocks import LARGE, create_buffer, list_block_slices
from .fusion import (
    TOTAL_PRIMITIVES,
    find_common_float_type,
    find_uniform_number,
    format_total,
    is_total_of_all_elements,
)

if TYPE_CHECKING:
    from .fusion import ProgramTable

MIN_CALLS = 3  # calls from which on a run is worth it
BLOCK_SIZE = LARGE - 1  # elements of a block, which is no large array itself


class BlockTable(NamedTuple):
    """The table of the program for one block, which has no calls of others."""

    shape_dtypes: dict[int, tuple[tuple[int, ...], np.dtype]]
    constants: dict[int, Any]
    calls: dict[int, Call]


def find_blockwise_kind(table: ProgramTable, call: Call) -> tuple[tuple[int, ...], type] | None:
    """Return (shape, float type) of a call on large arrays that can be part of a run; None for others."""
    is_reduction = call.primitive.name in TOTAL_PRIMITIVES
    shape = table.shape_dtypes[call.inputs[0] if is_reduction else call.row][0]
    if math.prod(shape) < LARGE or not (is_reduction or (call.primitive.code and not call.attrs)):
        return None
    arrays = {table.shape_dtypes[row][0] for row in call.inputs if find_broadcast_number_row(table, row) is None}
    float_type = find_common_float_type(table, call) if arrays in ({shape}, {(), shape}) else None
    return (
        None
        if float_type is None or (is_reduction and not is_total_of_all_elements(call, len(shape)))
        else (shape, float_type)
    )


def find_broadcast_number_row(table: ProgramTable, row: int) -> int | None:
    """Return the row of the single number that fills a large array: the constant itself, or what was broadcast to it.

    None for other arrays.
    """
    if row in table.constants:
        return row if find_uniform_number(table.constants[row]) is not None else None
    call = table.calls.get(row)
    if call is None or call.primitive.name != "broadcast_to":
        return None
    return call.inputs[0] if table.shape_dtypes[call.inputs[0]][0] == () else None


def compile_blockwise_run(
    table: ProgramTable,
    calls: Sequence[Call],
    kind: tuple[tuple[int, ...], type],
    find_alias: Callable,
    consumers: dict[int, list[int]],
    build_writer: Callable,
) -> tuple[Callable, list[int], list[int]]:
    """Return (the function of a run, the rows that it takes, the rows that it returns). ``find_alias`` returns the row
    of which a row is only a second name; ``build_writer`` builds the writer of the program for a block.
    """
    (shape, float_type), rows = kind, {c.row for c in calls}
    outputs = [c.row for c in calls if any(consumer not in rows for consumer in consumers.get(c.row, ()))]
    totals = {c.row: (c, find_alias(c.inputs[0])) for c in calls if c.primitive.name in TOTAL_PRIMITIVES}
    arrays = [row for row in outputs if row not in totals]

    def find_block_row(row: int) -> int:
        number_row = None if row in rows else find_broadcast_number_row(table, row)
        return find_alias(row) if number_row is None else find_alias(number_row)

    steps = [
        Call(c.row, c.primitive, (*map(find_block_row, c.inputs),), NO_ATTRS, 1) for c in calls if c.row not in totals
    ]
    read_rows = dict.fromkeys(row for step in steps for row in step.inputs if row not in rows)
    fixed_numbers = {
        consumer: float_type(np.ravel(table.constants[consumer])[0])
        for consumer in read_rows
        if consumer in table.constants and find_broadcast_number_row(table, consumer) == consumer
    }
    large_inputs = [row for row in read_rows if row not in fixed_numbers and table.shape_dtypes[row][0] == shape]
    inputs = [*large_inputs, *(row for row in read_rows if row not in fixed_numbers and row not in large_inputs)]
    shapes: dict[int, tuple[tuple[int, ...], np.dtype]] = {
        row: ((BLOCK_SIZE,) if row in rows or row in large_inputs else (), np.dtype(float_type))
        for row in (*read_rows, *rows)
    }
    block_table = BlockTable(shapes, fixed_numbers, {})
    computed_rows = [*dict.fromkeys([*arrays, *(row for _, row in totals.values())])]
    program = build_writer(block_table, steps, fixed_numbers, computed_rows, inputs).write_program()
    program_arguments = [f"f{row}[part]" if row in large_inputs else f"v{row}" for row in inputs]
    text = [
        f"def blockwise({', '.join(f'v{row}' for row in inputs)}):",
        *[f"    f{row} = np.ascontiguousarray(v{row}).reshape(-1)" for row in large_inputs],
        *[f"    v{row} = buffer({shape!r}, T)\n    f{row} = v{row}.reshape(-1)" for row in arrays],
        *[f"    s{row} = 0.0" for row in totals],
        f"    for part in slices({math.prod(shape)}, {BLOCK_SIZE}):",
        f"        {''.join(f'b{row}, ' for row in computed_rows)} = program({', '.join(program_arguments)})",
        *[f"        f{row}[part] = b{row}" for row in arrays],
        *[f"        s{row} += float(np.add.reduce(b{source}))" for row, (_, source) in totals.items()],
        *[f"    v{row} = {format_total(f's{row}', call, shape)}" for row, (call, _) in totals.items()],
        f"    return ({''.join(f'v{row}, ' for row in outputs)})\n",
    ]
    scope = {"buffer": create_buffer, "slices": list_block_slices, "np": np, "T": float_type, "program": program}
    return execute_definitions("\n".join(text), "<formula blockwise>", scope)["blockwise"], inputs, outputs
