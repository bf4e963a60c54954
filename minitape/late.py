"""Operations that are put off: their row is written at once, and computed when somebody looks or a sweep needs it.

An elementwise operation on numbers or small arrays of one shape is put off by the operators themselves
(:mod:`minitape.operators`). Here are all others whose result has a shape that follows from those of the inputs: products,
reductions, slices, what broadcasts, and everything on large arrays. Large arrays are put off only where a tape watches:
what nobody will differentiate is computed at once, and its inputs can go.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from . import record as recording
from .columns import CALL, Call
from .lane import Lane, Wide
from .record import Record
from .state import state

HELD = 2**26  # bytes of arrays that one recording holds for rows that were put off


def put_off(record: Record, primitive: Any, inputs: tuple[Any, ...], attrs: dict[str, Any],
            shape: tuple[int, ...] | None = None) -> tuple[Record | Lane, int] | None:  # fmt: skip
    """Writes the row of an operation and returns the lane of its result, and the row.

    None, and nothing written, for one that must run now: its shape is not known before, its dtype is not that of the
    recording, or it is one on large arrays that no tape watches.
    """
    real = record.real or record.settled(inputs[0].array.dtype.type)
    rows: list[Any] = []
    shapes: list[tuple[int, ...]] = []
    large = False
    for t in inputs:
        lane = t._lane
        if lane is record or (lane is not None and lane.home is record):
            large = large or type(lane) is Wide
            shapes.append(lane.shape)
            rows.append(t._row)
            continue
        value = t._value if lane is None else t.array
        if real is None or value.dtype.type is not real:
            return None
        large = large or value.size > recording.FAST
        shapes.append(value.shape)
        rows.append(None)
    if shape is None:
        shape = primitive.shape(*shapes, **attrs)
    home: Any = record if shape == () else record.lane_for(shape)
    if home is None:
        return None
    site = record.here(4)  # the user's frame is at least so far up
    if None in rows:
        rows = [record.enter(t, site=site) if row is None else row for t, row in zip(inputs, rows, strict=True)]
    hot = bool(state.tapes) and not record.cold.issuperset(rows)
    wide = type(home) is Wide
    if wide or large:
        if not hot:
            return None
        if wide or not _only_leaves(record, rows):
            plain = bool(primitive.code) and {*shapes} <= {shape, ()}  # a row of four integers
            return home, _wide(record, primitive, inputs, attrs, tuple(rows), home, plain, site)
    row = _call(record, primitive, tuple(rows), attrs, hot, site)
    if not hot:
        record.cold.add(row)
    if home is not record:
        record.meta[row] = home.spec
    return home, row


def _only_leaves(record: Record, rows: Sequence[int]) -> bool:
    """Whether all these rows are leaves or numbers, so that no large array is to be held for what reads them."""
    for row in rows:  # noqa: SIM110 - all() takes a generator, at three times the price
        if row not in record.leaves and row in record.meta:
            return False
    return True


def _call(record: Record, primitive: Any, rows: tuple[int, ...], attrs: dict[str, Any], hot: bool, site: int) -> int:
    row = record.append(CALL, len(record.calls), 0, site)
    record.calls.append(Call(row, primitive, rows, attrs, 1, hot))
    record.late[row] = None
    return row


def _wide(record: Record, primitive: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], rows: tuple[int, ...],
          home: Any, plain: bool, site: int) -> int:  # fmt: skip
    """The row of an operation in which large arrays take part: they are held until it is computed."""
    with record.lock:  # nobody computes rows now
        for row, tensor in zip(rows, inputs, strict=True):
            if tensor._lane is None and row in record.meta and row not in record.arrays:
                _hold(record, row, tensor)
        if plain and home is not record:
            row = home.append(primitive.code, rows[0], rows[-1], site)
        else:
            row = _call(record, primitive, rows, attrs, True, site)
            if home is not record:
                record.meta[row] = home.spec
        if type(home) is Wide:
            home.awaits(row)
    if record.held > HELD:
        record.evaluate()
    return row


def _hold(record: Record, row: int, tensor: Any) -> None:
    """Keeps an array that nobody kept, because a row that is computed later reads it."""
    record.arrays[row] = tensor.array
    record.wide[row] = weakref.ref(tensor)
    record.held += tensor.array.nbytes
    record.bulky = True
