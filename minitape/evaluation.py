"""Computing the rows of a recording: one by one, or in a compiled kernel where they are many.

Rows are written without their values. Somebody who looks at one calls :meth:`minitape.record.Record.evaluate`, which
computes all rows up to it here, under the recording's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernels
from .columns import ARRAY_ROW
from .primitives.elementwise import BY_CODE, FIRST_CODE, scalar_table
from .quiet import hush, restore
from .wide import Handing


def _reserve(record: Any, n: int) -> None:
    values = record.values
    if type(values) is list:
        values.extend([None] * (n - len(values)))
    elif n > len(values):
        grown = np.empty(max(n, len(values) + (len(values) >> 2)), record.real)
        grown[: record.done] = values[: record.done]
        record.values = grown


def pending(record: Any, n: int) -> None:
    """Computes the rows below ``n`` that are still being collected."""
    part = record.pending[(record.done - record.base) << 2 : (n - record.base) << 2]
    _rows(record, n, part[::4], part[1::4], part[2::4])


def _rows(record: Any, n: int, ops: list[int], left: list[int], right: list[int]) -> None:
    """Computes the rows from ``done`` to ``n``, which have these columns."""
    _reserve(record, n)
    values, table = record.values, scalar_table(record.real or np.float32)
    known, meta, late = record.known, record.meta, record.late
    handing = Handing(record) if record.wide else None
    row, before = record.done, hush()
    try:
        for row, op, a, b in zip(range(record.done, n), ops, left, right, strict=True):
            if op >= FIRST_CODE:
                if row in meta:
                    _array(record, row, op, a, b)
                else:
                    values[row] = table[op].forward(None, None, values[a], values[b])
            elif row in late:
                _late(record, row)
            elif row in known:
                values[row] = known[row]
            if handing is not None:
                handing.after(row)
        row = n
    finally:
        restore(before)
        _computed(record, row)


def _computed(record: Any, n: int) -> None:
    """Notes that rows below ``n`` have their values; a picture that reads meanwhile finds each in one place or both."""
    record.done = n
    for row in [r for r in list(record.known) if r < n]:
        del record.known[row]


def fill(record: Any, values: dict[int, Any]) -> None:
    """Notes the values of all rows that are yet to be computed: numbers by row; the arrays are there."""
    n = len(record)
    _reserve(record, n)
    for row, value in values.items():
        record.values[row] = value
    _computed(record, n)


def _late(record: Any, row: int) -> None:
    """Runs the call that was put off."""
    arrays, values, call = record.arrays, record.values, record.calls[record.cell(row)[1]]
    out = call.primitive.forward(*[arrays[r] if r in arrays else values[r] for r in call.inputs], **call.attrs)
    if row in record.meta:
        arrays[row] = out
    else:
        values[row] = out[()]


def _array(record: Any, row: int, op: int, a: int, b: int) -> None:
    arrays, values = record.arrays, record.values
    x = arrays[a] if a in arrays else values[a]
    y = arrays[b] if b in arrays else values[b]
    primitive = BY_CODE[op - FIRST_CODE]
    if row in record.wide:
        arrays[row] = primitive.forward(*(x, y)[: len(primitive.texts) - 1])
    else:
        arrays[row] = primitive.plain[0](None, None, x, y)


def blocks(record: Any, n: int) -> None:
    """Computes the rows below ``n`` in packed blocks: in the kernel, but for arrays; without numba one by one."""
    forward = kernels.kernel(record.real, "forward")
    long_values(record)
    if forward is None:
        for first, block in record.blocks:
            if first < n and first + len(block) > record.done:
                ops, left, right = block[record.done - first : n - first, :3].T
                _rows(record, min(n, first + len(block)), (ops & (ARRAY_ROW - 1)).tolist(), left.tolist(), right.tolist())
        return
    _reserve(record, n)
    for row, value in list(record.known.items()):
        if row < n:
            record.values[row] = value
    stops = iter([*record.late, n])
    stop = next(stops)
    handing = Handing(record) if record.wide else None
    for first, block in record.blocks:
        row, high = max(first, record.done), min(first + len(block), n)
        while row < high:
            row = forward(block, first, row, min(stop, high), record.values)
            if row < high:  # an array, or a call that was put off: computed here
                before = hush()
                if row in record.late:
                    _late(record, row)
                    stop = next(stops)
                else:
                    _array(record, row, *record.cell(row)[:3])
                restore(before)
                if handing is not None:
                    handing.after(row)
                row += 1
    _computed(record, n)


def long_values(record: Any) -> Any:
    """Turns the values into an array for the kernels; rows that are no scalars hold nan there."""
    if type(record.values) is list:
        values = np.full(max(len(record.values), 1), np.nan, record.real or np.float32)
        for row, value in enumerate(record.values):
            if value is not None:
                values[row] = value
        record.values = values
    return record.values
