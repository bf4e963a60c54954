"""Build snapshots, the dictionaries from which pictures are drawn.

Pictures read nothing but a snapshot. ``snapshot(tape)`` returns a dictionary that JSON can represent, in version 1 of
the format. ``snapshot_types`` declares and documents its fields. The program ``tests/repository/make_schema.py``
generates ``docs/snapshot.md`` from that file.
"""

import sys
from typing import Any

from ..engine.backward.tape import GradientTape
from ..engine.types import Structure
from ..recording.variable_names import use_namespaces_for_names
from .alarms import build_alarm_and_break_fields
from .picture_rows import PictureRows
from .reader_base import Reader, collect_namespaces
from .snapshot_types import Snapshot
from .source import PictureSource, get_picture_source


def snapshot(
    tape: GradientTape, target: Structure = None, sources: Structure = None, *, since: int = 0, most: int = 100_000
) -> Snapshot:
    """Return the rows of ``tape`` and the backward sweep from ``target`` to ``sources``, as a dictionary for pictures.

    The call does not use up the tape.

    Args:
        tape: A ``tf.GradientTape``, a ``tf.autodiff.ForwardAccumulator``, or the recording of another framework.
        target: The target of the sweep, or None for the tape's last ``gradient`` call.
        sources: The sources of the sweep, in any nested structure.
        since: The number of the first row to return.
        most: The maximum number of rows to return. ``snapshot["total"]`` is the total number of rows in the recording.

    Returns:
        The snapshot, which JSON can represent. ``snapshot["sweep"]`` is None if ``target`` is None and there was no
        ``gradient`` call. docs/snapshot.md documents all fields.

    Raises:
        TypeError: If ``tape`` is not a GradientTape.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> s = tf.snapshot(tape, y, x)
    >>> [(row["row"], row["label"], row["inputs"], row["value"]["text"]) for row in s["rows"]]
    [(0, 'x', [], '3.0'), (1, '×', [0, 0], '9.0')]
    >>> [edge["sum"]["text"] for edge in s["sweep"]["steps"][0]["edges"]]
    ['3.0', '6.0']
    """
    recording = get_picture_source(tape, "snapshot() takes")
    reader = recording.build_reader(collect_namespaces(sys._getframe(1)))
    reader.recompute_into_kept_arrays()
    rows = reader.read_new_rows(since + most)
    result = build_snapshot(recording, target, sources, reader, rows, since)
    return result | {"insides": reader.list_function_insides(target, sources)}


def build_rows_and_sweep(tape: GradientTape, names: dict[str, object]) -> Snapshot:
    """Build a snapshot with the rows and the sweep of a tape's last gradient call, which two tapes are compared by.

    A row that only other tapes recorded is a ghost if it ran in the block of this tape, and is left out otherwise.

    Args:
        tape: The tape.
        names: The Python names of the program that the tape recorded.
    """
    recording = get_picture_source(tape, "a comparison takes")
    reader: Any = recording.build_reader([names])  # A tape's reader also lists its tapes.
    reader.recompute_into_kept_arrays()
    snapshot = build_snapshot(recording, None, None, reader, reader.read_new_rows(100_000), has_results=False)
    tape_number = reader.tapes.index(tape)
    rows = []
    for row in snapshot["rows"]:
        if tape_number in row["tapes"] or not row["tapes"]:
            rows.append(row)
        elif tape.spans[0][0] <= row["row"] < tape.spans[-1][1]:
            rows.append(row | {"status": "ghost"})
    return snapshot | {"rows": rows}


def build_snapshot(
    recording: PictureSource,
    target: Structure,
    sources: Structure,
    reader: Reader,
    rows: PictureRows,
    since: int = 0,
    has_results: bool = True,
) -> Snapshot:
    """Build the snapshot of the rows that a reader has read.

    Args:
        recording: The recording of the rows.
        target: The target of the sweep, or None for the last gradient call.
        sources: The sources of the sweep.
        reader: The reader that has read the rows.
        rows: The rows, to which Python names and late watches are added.
        since: The index of the first of ``rows`` to include in the snapshot.
        has_results: Whether the snapshot has results, alarms and breaks, which take longest to find.

    Returns:
        The snapshot with names, sweep and results. It has alarms and breaks only if it contains all rows.
    """
    reader.update_names_and_leaf_states(rows)
    if len(rows) == reader.row_count:
        reader.update_rows_after_recording(rows)
    result = reader.build_snapshot_without_sweep([row.to_row_fields() for row in rows[since:]], since)
    stepper = recording.build_stepper(target, sources, reader.kept_arrays)
    result["sweep"] = None if stepper is None else stepper.build_sweep_fields()
    if not has_results:
        return result
    result["results"] = recording.list_results_of_gradient_calls(target, sources, reader.kept_arrays, reader.namespaces)
    if len(result["rows"]) != result["total"]:
        return result
    with use_namespaces_for_names(reader.namespaces):
        return result | build_alarm_and_break_fields(recording, result, None if target is None else (target, sources))
