"""Events of a recording that are no rows: assignments, and values that left the framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recording.sites import place_of
from .short import short_name

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Object
    from .fields import EventFields


EXITS = ("numpy", "asarray", "float", "int", "complex")


def events_of(record: Record) -> list[EventFields]:
    """The events of a snapshot."""
    events: list[EventFields] = []
    for event in list(record.events):
        line = None if event.site is None else place_of(*event.site)[1]
        if event.kind in EXITS:
            events.append({"kind": "numpy", "row": event.subject, "line": line})
        elif event.kind.startswith("assign"):
            variable, version, value = event.subject
            states = dict.get(record.variables, id(variable), (None, []))[1]
            rows = {record.leaves[r].version: r for r in list(states) if r in record.leaves}
            # in "row" the value, or what was added
            known = {"from": rows.get(version), "to": rows.get(version + 1), "row": value}
            ends: Object = {name: row for name, row in known.items() if row is not None}
            events.append({"kind": "assign", "name": short_name(variable.name), "line": line} | ends)
    return events
