"""List the events in a recording: assignments, and values that escaped from the framework."""

from ..engine.record.record import Record
from ..engine.types import Object
from ..recording.sites import find_site_of_bytecode
from .snapshot_types import EventFields
from .truncation import shorten_name

ESCAPE_KINDS = ("numpy", "asarray", "float", "int", "complex")


def list_escapes_and_assignments(record: Record) -> list[EventFields]:
    """Return the assignments and escapes in a recording, in order, as fields of a snapshot.

    Args:
        record: The recording, which may still be open in another thread.
    """
    events: list[EventFields] = []
    for event in list(record.events):
        line = None if event.site is None else find_site_of_bytecode(*event.site)[1]
        if event.kind in ESCAPE_KINDS:
            events.append({"kind": "numpy", "row": event.subject, "line": line})
        elif event.kind.startswith("assign"):
            variable, version, value = event.subject
            states = dict.get(record.variables, id(variable), (None, []))[1]
            rows = {
                record.leaves[state_row].version: state_row for state_row in list(states) if state_row in record.leaves
            }
            # "row" is the row of the assigned or added value.
            rows_by_field = {"from": rows.get(version), "to": rows.get(version + 1), "row": value}
            known_fields: Object = {name: row for name, row in rows_by_field.items() if row is not None}
            events.append({"kind": "assign", "name": shorten_name(variable.name), "line": line} | known_fields)
    return events
