"""Two recordings become one: a tape is entered again, or watches, while tapes of another recording are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..table.primitives.elementwise import FIRST_CODE
from .rows import CALL, Call, Leaf
from .state import more, state

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from .record import Record


def merge(tape: GradientTape, record: Record) -> None:
    """Moves a tape and its rows into the recording that is open."""
    old = tape._record
    assert old is not None
    shift = len(record)
    rows = _copy_rows(record, old)
    for other in state.tapes:  # those that are recording here did not see what has come
        if other._record is record:
            other.spans.append((other._start, shift))
            other._start = len(record)
    tape.spans = [(a + shift, b + shift) for a, b in tape.spans]
    tape.watched = {rows[row]: since + shift for row, since in tape.watched.items()}
    old.tapes -= 1
    record.tapes += 1
    tape._record, tape.number, tape.late = record, None, True


def _copy_rows(record: Record, old: Record) -> list[int]:
    """Copies the rows of ``old`` behind those of ``record``; returns their numbers there.

    A leaf whose tensor has a row there already is that row.
    """
    shift = len(record)
    rows = [_row_of(record, old.leaves.get(row), row + shift) for row in range(len(old))]
    for row in range(len(old)):
        op, a, b, site = old.cell(row)
        if op >= FIRST_CODE:
            a, b = rows[a], rows[b]
        elif op == CALL:
            a += len(record.calls)
        found = old.site(row)
        if found is not None:
            record.segment(found[0], None)
            site = found[1]
        record.append(op, a, b, site, old.held(row))
    record.frame = None
    for call in old.calls:
        inputs = tuple([rows[r] for r in call.inputs])
        record.calls.append(moved := Call(call.row + shift, call.primitive, inputs, call.attrs, call.outputs))
        if call in old.asked:
            record.asked = more(record.asked, moved)
    for row, leaf in old.leaves.items():
        record.leaves[row + shift] = leaf
        if (tensor := leaf.tensor) is not None and rows[row] == row + shift:
            record.leaf_of[id(tensor)] = row + shift
    for key, (variable, states) in old.variables.items():
        kept = record.variables.setdefault(key, (variable, []))[1]
        kept += [rows[r] for r in states if rows[r] not in kept]
    record.untracked -= {here for row, here in enumerate(rows) if row not in old.untracked}
    record.untracked.update(row + shift for row in old.untracked)
    record.large = record.large or old.large
    record.arrays.update(row + shift for row in old.arrays)
    record.merged = more(record.merged, (old, shift))
    return rows


def _row_of(record: Record, leaf: Leaf | None, row: int) -> int:
    """The row of a leaf's tensor where the recording has one, else ``row``."""
    found = None if leaf is None or leaf.tensor is None else record.find(leaf.tensor)
    return row if found is None else found
