"""Events of a recording that are no rows: assignments, and values that left the framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recording.sites import place_of
from .short import short_name

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from .fields import EventFields


def events_of(record: Record) -> list[EventFields]:
    """The events of a snapshot."""
    events: list[EventFields] = []
    for event in list(record.events):
        line = None if event.site is None else place_of(*event.site)[1]
        if event.kind == "numpy":
            events.append({"kind": "numpy", "row": event.subject, "line": line})
        elif event.kind.startswith("assign"):
            variable, version, value = event.subject
            states = dict.get(record.variables, id(variable), (None, []))[1]
            rows = {record.leaves[r].version: r for r in list(states) if r in record.leaves}
            before, after = rows.get(version), rows.get(version + 1)
            assigned: EventFields = {"kind": "assign", "name": short_name(variable.name), "line": line}
            if before is not None:
                assigned["from"] = before
            if after is not None:
                assigned["to"] = after
            if value is not None:  # the value, or what was added
                assigned["row"] = value
            events.append(assigned)
    return events
