"""Two recordings become one: a tape is entered again, or watches, while tapes of another recording are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..table.primitives.elementwise import FIRST_CODE
from .rows import Call, Leaf, Subject
from .state import appended, state

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from .record import Record


def merge(tape: GradientTape, record: Record) -> None:
    """Moves a tape, with those of the same recording, and its rows into the recording that is open."""
    old = tape._record
    assert old is not None
    shift = len(record)
    rows = _copy_rows(record, old)
    for other in state.tapes:  # those that are recording here did not see what has come
        if other._record is record:
            other.spans.append((other._start, shift))
            other._start = len(record)
    for row, leaf in record.leaves.items():  # who watched a tensor that was used here watches it where it is now
        if row < shift and (tensor := leaf.tensor) is not None and (here := record.find(tensor) or row) != row:
            for _, _, watched in record.members:
                if row in watched:
                    watched[here] = len(record)
    for moved in [tape, *(member[0]() for member in old.members)]:
        if moved is not None and moved._record is old and not moved._recording:
            moved.spans = [(a + shift, b + shift) for a, b in moved.spans]
            moved.watched = {rows[row]: since + shift for row, since in moved.watched.items()}
            moved.notes = [(what, row + shift, when, frames) for what, row, when, frames in moved.notes]
            record.tapes += 1
            moved._record, moved.number, moved.late = record, None, True


def _copy_rows(record: Record, old: Record) -> list[int]:
    """Copies the rows of ``old`` behind those of ``record``; returns their numbers there.

    A leaf whose tensor has a row there already is that row.
    """
    shift, end = len(record), len(record) + len(old)
    rows = [_row_of(record, old.leaves.get(row), row + shift) for row in range(len(old))]
    if old.scopes or record.scopes:
        record.scopes = [
            *record.scopes,
            (shift, ()),
            *((row + shift, path) for row, path in old.scopes),
            (end, state.scope),
        ]
    calls: dict[Call, Call] = {}
    for row in range(len(old)):
        op, a, b, site = old.cell(row)
        if op >= FIRST_CODE:
            a, b = rows[a], rows[b]
        found = old.site_of(row)
        if found is not None:
            record.begin_segment(found[0], None)
            site = found[1]
        call = old.call_at(row)
        if call is not None and call not in calls:
            calls[call] = Call(
                call.row + shift, call.primitive, tuple([rows[r] for r in call.inputs]), call.attrs, call.outputs
            )
            if call in old.mandatory:
                record.mandatory = appended(record.mandatory, calls[call])
        record.append(op, a, b, None if call is None else calls[call], site, old.stored(row))
    record.frame = None
    for row, leaf in old.leaves.items():
        record.leaves[row + shift] = leaf
        if (tensor := leaf.tensor) is not None and rows[row] == row + shift:
            record.leaf_of[id(tensor)] = row + shift
    for key, (variable, states) in old.variables.items():
        kept = record.variables.setdefault(key, (variable, []))[1]
        kept += [rows[r] for r in states if rows[r] not in kept]
    record.events = [
        *record.events,
        *(e._replace(row=e.row + shift, subject=_with_row(e.subject, rows)) for e in old.events),
    ]
    record.untracked -= {here for row, here in enumerate(rows) if row not in old.untracked}
    record.untracked.update(row + shift for row in old.untracked)
    record.large = record.large or old.large
    record.called = record.called or old.called
    record.merged = [*record.merged, (old, shift), *((inner, moved + shift) for inner, moved in old.merged)]
    return rows


def _with_row(subject: Subject, rows: list[int]) -> Subject:
    """What an event is about, with the number that its row has now."""
    if type(subject) is tuple:
        return (*subject[:-1], _with_row(subject[-1], rows))
    return rows[subject] if type(subject) is int else subject


def _row_of(record: Record, leaf: Leaf | None, row: int) -> int:
    """The row of a leaf's tensor where the recording has one, else ``row``."""
    found = None if leaf is None or leaf.tensor is None else record.find(leaf.tensor)
    return row if found is None else found
