"""The snapshot: what a picture reads of a recording. Pictures read this and nothing else of the engine.

``snapshot(tape)`` returns a dictionary that JSON can represent, version 1 of the format. ``snapshot_types`` has its
types and says what each field means; ``docs/snapshot.md`` is written from there, by
``tests/repository/make_schema.py``. Where the docstrings of pictures say ROW, VALUE, SWEEP, STEP, RESULT or INSIDE,
they mean ``RowFields``, ``ValueFields``, ``SweepFields``, ``StepFields``, ``ResultFields`` and ``InsideFields``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .alarms import build_alarms_and_breaks
from .reader import collect_namespaces
from .source import get_picture_source

if TYPE_CHECKING:
    from ..engine.backward.tape import GradientTape
    from ..engine.types import Structure
    from .picture_rows import PictureRow
    from .reader import Reader
    from .snapshot_types import Snapshot
    from .source import PictureSource


def snapshot(
    tape: GradientTape, target: Structure = None, sources: Structure = None, *, since: int = 0, most: int = 100_000
) -> Snapshot:
    """Return what a picture shows of ``tape``: its rows, and the backward sweep from ``target`` to ``sources``.

    Without a target the sweep is that of the tape's last ``gradient`` call, None when there was none. ``since`` leaves
    out the rows before that number; after ``most`` rows it ends, and ``snapshot["total"]`` says how many there are. The
    tape is not used up. Raises TypeError when ``tape`` is no GradientTape.

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


def build_snapshot(
    recording: PictureSource,
    target: Structure,
    sources: Structure,
    reader: Reader,
    rows: list[PictureRow],
    since: int = 0,
) -> Snapshot:
    """Return the snapshot of rows that were read, with names, the sweep, and what is wrong if all rows are there."""
    reader.update_names_and_leaf_states(rows)
    if len(rows) == reader.row_count:
        reader.update_rows_after_recording(rows)
    result = reader.build_snapshot_without_sweep([row.to_row_fields() for row in rows[since:]], since)
    stepper = recording.build_stepper(target, sources, reader.kept_arrays)
    result["sweep"] = None if stepper is None else stepper.build_sweep_fields()
    result["results"] = recording.list_gradient_results(target, sources, reader.kept_arrays, reader.namespaces)
    is_complete = len(result["rows"]) == result["total"]
    return (
        result | build_alarms_and_breaks(recording, result, None if target is None else (target, sources))
        if is_complete
        else result
    )
