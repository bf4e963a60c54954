"""A recording moves into another: a tape is entered again while tapes of another recording are open."""

from __future__ import annotations

from .columns import CALL, Call, Leaf, more
from .evaluation import fill
from .primitives.elementwise import FIRST_CODE
from .record import Record


def adopt(record: Record, old: Record) -> list[int]:
    """Copies the rows of another recording, values and all, behind those of ``record``; returns their numbers there.

    A leaf whose tensor has a row there is that row. Raises RuntimeError, and copies nothing, when the numbers of one are
    float32 and those of the other float64.
    """
    if record.real is None:
        record.real = old.real
    if old.real is not record.real and any(old.cell(row)[0] >= FIRST_CODE for row in range(len(old))):
        raise RuntimeError(
            "A tape with float64 scalars can not be entered again inside one with float32 scalars, or the "
            "other way round. Open the inner tape first, or convert the scalars with tf.cast."
        )
    old.evaluate()
    record.evaluate()
    shift = len(record)
    rows = [_row_in(record, old.leaves.get(row), row + shift) for row in range(len(old))]
    for row in range(len(old)):
        op, a, b, site = old.cell(row)
        if row in old.meta:
            record.meta[row + shift] = old.meta[row]
        if op >= FIRST_CODE:
            a, b = rows[a], rows[b]
        elif op == CALL:
            a += len(record.calls)
        record.append(op, a, b, site)
    for call in old.calls:
        moved = Call(call.row + shift, call.primitive, tuple(rows[r] for r in call.inputs), call.attrs,
                     call.outputs, call.hot)  # fmt: skip
        record.calls.append(moved)
    for row, leaf in old.leaves.items():
        record.leaves[row + shift] = leaf
        if leaf.tensor is not None and rows[row] == row + shift:
            record.leaf_of[id(leaf.tensor)] = row + shift
    for key, (variable, states) in old.variables.items():
        kept = record.variables.setdefault(key, (variable, []))[1]
        kept += [rows[r] for r in states if rows[r] not in kept]
    record.arrays.update({rows[row]: a for row, a in old.arrays.items()})
    record.cold -= {here for row, here in enumerate(rows) if row not in old.cold}
    record.cold.update(row + shift for row in old.cold)
    record.bulky, record.laden = record.bulky or old.bulky, record.laden or old.laden
    record.adopted = more(record.adopted, (old, shift))
    fill(record, {row + shift: old.value(row) for row in range(len(old)) if row not in old.meta})
    return rows


def _row_in(record: Record, leaf: Leaf | None, row: int) -> int:
    """The row of a leaf's tensor where the recording has one, else ``row``."""
    found = None if leaf is None or leaf.tensor is None else record.find(leaf.tensor)
    return row if found is None else found
