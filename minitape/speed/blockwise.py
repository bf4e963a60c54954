"""Compile runs of elementwise calls on large arrays and compute each run block by block.

An operation that runs separately makes its own pass over main memory. During a run, all calls process one block of each
array before the next block, so the block remains in the cache. Only results that other calls read are written to
memory. NumPy computes sin, exp and tanh of a block, because it has vectorized code for these functions. If the program
is fused, the other calls become compiled loops.
"""

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np

from ..engine.record.row_parts import NO_ATTRS, Call, Calls
from ..engine.table.generated_code import execute_definitions
from ..engine.types import ArraysByRow, OptionalNumber, RowList, RowsByRow, ShapeAndDtype, Sizes
from .array_blocks import LARGE, create_uninitialized_array, list_block_slices
from .fusion import (
    TOTAL_PRIMITIVES,
    TracedRowsInterface,
    find_common_float_type,
    find_uniform_number,
    format_sum_or_mean_result,
    is_sum_or_mean_of_all_elements,
)

MIN_CALLS = 3  # Compiling shorter runs does not pay off.
BLOCK_SIZE = LARGE - 1  # The number of elements in a block, which must be smaller than a large array.


class BlockTable(NamedTuple):
    """The table of a program that computes one block.

    Attributes:
        shape_dtypes: The shape and dtype of each row. Arrays have the shape (BLOCK_SIZE,).
        constants: The constant scalars, keyed by row.
        calls: Always empty, because the program of a block receives its calls separately.
    """

    shape_dtypes: dict[int, ShapeAndDtype]
    constants: ArraysByRow
    calls: dict[int, Call]


def find_blockwise_kind(traced_rows: TracedRowsInterface, call: Call) -> tuple[Sizes, type] | None:
    """Return the shape and float type of a call on large arrays if it can be part of a run.

    Args:
        traced_rows: The rows of the function.
        call: An elementwise call, or a sum or mean of all elements.

    Returns:
        (shape, float type), which are the same for all calls in a run, or None for any other call.
    """
    is_reduction = call.primitive.name in TOTAL_PRIMITIVES
    shape = traced_rows.shape_dtypes[call.inputs[0] if is_reduction else call.row][0]
    if prod(shape) < LARGE or not (is_reduction or (call.primitive.code and not call.attrs)):
        return None
    arrays = {
        traced_rows.shape_dtypes[row][0] for row in call.inputs if find_broadcast_number_row(traced_rows, row) is None
    }
    float_type = find_common_float_type(traced_rows, call) if arrays in ({shape}, {(), shape}) else None
    if float_type is None or (is_reduction and not is_sum_or_mean_of_all_elements(call, len(shape))):
        return None
    return shape, float_type


def find_broadcast_number_row(traced_rows: TracedRowsInterface, row: int) -> OptionalNumber:
    """Return the row of the scalar that was repeated to fill a large array.

    For a constant with equal elements, the result is the row itself. For an array that was broadcast from a scalar, the
    result is the row of the scalar. For all other arrays, the result is None.

    Args:
        traced_rows: The rows of the first run.
        row: The row of the array.
    """
    if row in traced_rows.constants:
        return row if find_uniform_number(traced_rows.constants[row]) is not None else None
    call = traced_rows.calls.get(row)
    if call is None or call.primitive.name != "broadcast_to":
        return None
    return call.inputs[0] if traced_rows.shape_dtypes[call.inputs[0]][0] == () else None


def compile_blockwise_run(
    traced_rows: TracedRowsInterface,
    calls: Calls,
    kind: tuple[Sizes, type],
    find_alias: Callable,
    consumers: RowsByRow,
    build_writer: Callable,
) -> tuple[Callable, RowList, RowList]:
    """Compile a run of calls into a single function that works block by block.

    Args:
        traced_rows: The rows of the function.
        calls: The calls of the run, in order.
        kind: The shape and float type of the run's arrays (:func:`find_blockwise_kind`).
        find_alias: A function that takes a row and returns the row that contains its value.
        consumers: For each row, the rows that read it.
        build_writer: A function that builds the ``ProgramWriter`` of one block from (table, calls, constants,
            fetch_rows, feed_rows).

    Returns:
        (function, inputs, outputs). The function takes the values of the rows in ``inputs`` and returns a tuple with
        the values of the rows in ``outputs``.
    """
    shape, float_type = kind
    rows = {c.row for c in calls}
    outputs = [c.row for c in calls if any(consumer not in rows for consumer in consumers.get(c.row, ()))]
    totals = {c.row: (c, find_alias(c.inputs[0])) for c in calls if c.primitive.name in TOTAL_PRIMITIVES}
    arrays = [row for row in outputs if row not in totals]

    def find_block_row(row: int) -> int:
        number_row = find_broadcast_number_row(traced_rows, row)  # The result is None for rows of the run.
        return find_alias(row if number_row is None else number_row)

    steps = [
        Call(c.row, c.primitive, (*map(find_block_row, c.inputs),), NO_ATTRS, 1) for c in calls if c.row not in totals
    ]
    read_rows = dict.fromkeys(row for step in steps for row in step.inputs if row not in rows)
    fixed_numbers = {
        row: float_type(np.ravel(traced_rows.constants[row])[0])
        for row in read_rows
        if row in traced_rows.constants and find_broadcast_number_row(traced_rows, row) == row
    }
    large_inputs = [row for row in read_rows if row not in fixed_numbers and traced_rows.shape_dtypes[row][0] == shape]
    inputs = [*large_inputs, *(row for row in read_rows if row not in fixed_numbers and row not in large_inputs)]
    block = ((BLOCK_SIZE,), np.dtype(float_type))
    number = ((), np.dtype(float_type))
    shape_dtypes: dict[int, ShapeAndDtype] = dict.fromkeys(read_rows, number)
    shape_dtypes |= dict.fromkeys((*large_inputs, *rows), block)
    block_table = BlockTable(shape_dtypes, fixed_numbers, {})
    computed_rows = [*dict.fromkeys([*arrays, *(row for _, row in totals.values())])]
    program = build_writer(block_table, steps, fixed_numbers, computed_rows, inputs).write_program()
    source = _write_run_source(shape, inputs, large_inputs, arrays, totals, computed_rows, outputs)
    scope = {
        "buffer": create_uninitialized_array,
        "slices": list_block_slices,
        "np": np,
        "T": float_type,
        "program": program,
    }
    return execute_definitions(source, "<formula blockwise>", scope)["blockwise"], inputs, outputs


def _write_run_source(
    shape: Sizes,
    inputs: RowList,
    large_inputs: RowList,
    arrays: RowList,
    totals: dict[int, tuple[Call, int]],
    computed_rows: RowList,
    outputs: RowList,
) -> str:
    """Return the source of the function that computes a run block by block.

    In the source, ``v`` is the value of a row, ``f`` its flat array, ``b`` one block of it, and ``s`` a running sum.

    Args:
        shape: The shape of the run's large arrays.
        inputs: The rows whose values the function takes.
        large_inputs: The inputs that are large arrays. The other inputs are scalars.
        arrays: The large arrays that the function returns.
        totals: For each sum or mean, its call and the row of the array over which it is computed.
        computed_rows: The rows that the program of one block returns.
        outputs: The rows whose values the function returns: arrays and totals.
    """
    program_arguments = [f"f{row}[part]" if row in large_inputs else f"v{row}" for row in inputs]
    lines = [
        f"def blockwise({', '.join(f'v{row}' for row in inputs)}):",
        *[f"    f{row} = np.ascontiguousarray(v{row}).reshape(-1)" for row in large_inputs],
        *[f"    v{row} = buffer({shape!r}, T)\n    f{row} = v{row}.reshape(-1)" for row in arrays],
        *[f"    s{row} = 0.0" for row in totals],
        f"    for part in slices({prod(shape)}, {BLOCK_SIZE}):",
        f"        {''.join(f'b{row}, ' for row in computed_rows)} = program({', '.join(program_arguments)})",
        *[f"        f{row}[part] = b{row}" for row in arrays],
        *[f"        s{row} += float(np.add.reduce(b{source}))" for row, (_, source) in totals.items()],
        *[f"    v{row} = {format_sum_or_mean_result(f's{row}', call, shape)}" for row, (call, _) in totals.items()],
        f"    return ({''.join(f'v{row}, ' for row in outputs)})\n",
    ]
    return "\n".join(lines)
