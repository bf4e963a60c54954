"""Events of a recording that are no rows: assignments, watches, pauses, and values that left."""

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
        site = event.site
        line = place_of(*site)[1] if site is not None else None
        if event.kind.startswith("assign"):
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
        elif event.kind in ("numpy", "watch", "watch_ignored", "pause", "resume"):
            happened: EventFields = {"kind": event.kind, "line": line}
            if event.kind in ("numpy", "watch"):
                happened["row"] = event.subject if event.kind == "numpy" else event.subject[1]
            events.append(happened)
    return events
