"""Read a recording from a snapshot without importing the framework that ran the program."""

from typing import Any

import numpy as np

from ..engine.types import JsonObject, TextList
from ..recording.value_summary import ValueSummary
from .recording import ROW_LIMIT, RecordedRow, Recording

ROW_KINDS = ("source", "variable", "constant", "operation")
# These fields have the same names in a snapshot and in a recorded row.
SHARED_NAMES = "label name version inputs output dtype shape scope cut watched".split()


class _SnapshotValue(ValueSummary):
    """A value that was read from the ``ValueFields`` of a snapshot."""

    __slots__ = ()

    def shown(self) -> Any:
        """Return the ``ValueFields`` of the snapshot."""
        return self.content

    def to_array(self) -> np.ndarray | None:
        """Return the elements, or None if the snapshot does not contain all of them."""
        try:
            return np.asarray(self.content["data"])
        except (KeyError, TypeError, ValueError):
            return None


class Replay(Recording):
    """A recording read from a dictionary returned by ``snapshot()``.

    ``TapeView`` and ``tf.draw`` accept a Replay in place of a tape. The snapshot may be JSON from another machine or
    from a stranger. The files named in the snapshot are never read. The texts of these files come from the snapshot
    itself, and only this recording uses them. A Replay has at most one backward pass, and it lacks the facts that
    ``explain`` needs.

    >>> recording = Recording("by hand")
    >>> x = recording.add_leaf(3.0, name="x")
    >>> y = recording.add_operation("square", [x], 9.0, label="x²")
    >>> recording.close()
    >>> Replay(recording.snapshot(), "by hand").snapshot()["rows"] == recording.snapshot()["rows"]
    True
    """

    def __init__(self, snapshot: dict, framework: str = "a snapshot"):
        """Read a snapshot.

        Args:
            snapshot: A complete snapshot of a recording, in version 1 of the format.
            framework: The name of the framework that ran the program.

        Raises:
            ValueError: If the snapshot has a different version, is missing rows, or is not valid.
        """
        super().__init__(framework)
        try:
            self._read_snapshot(snapshot)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(
                "This is not a snapshot of a recording: a part of it is missing or has the wrong type."
            ) from error
        self.close()

    def read_source_lines(self, file: str) -> TextList:
        """Return the lines of a file as stored in the snapshot.

        The lines are not added to ``linecache``, because other code creates functions from the lines stored there.
        """
        return self._texts.get(file, "").splitlines(keepends=True)

    def _read_snapshot(self, snapshot: JsonObject) -> None:
        """Read the rows, events, source texts and backward pass, or raise ValueError if they are invalid."""
        if snapshot.get("version") != 1:
            raise ValueError(f"This snapshot has version {snapshot.get('version')!r}, but Replay reads only version 1.")
        rows = snapshot["rows"]
        if snapshot["first"] != 0 or snapshot["total"] != len(rows):
            raise ValueError(
                f"This snapshot has {len(rows)} rows of {snapshot['total']}, but Replay needs all of them."
            )
        if len(rows) > ROW_LIMIT:
            raise ValueError(f"This snapshot has {len(rows)} rows, but a recording has at most {ROW_LIMIT}.")
        self.rows = [_parse_and_validate_row_fields(row, number) for number, row in enumerate(rows)]
        self.events = [dict(event) for event in snapshot["events"]]
        # Adding "" raises a TypeError if a text is not a string.
        self._texts = {file: text + "" for file, text in snapshot["sources_text"].items()}
        if snapshot["sweep"] is not None:
            self._read_sweep(snapshot["sweep"])

    def _read_sweep(self, sweep_fields: dict) -> None:
        """Read a backward pass. If a call sent shares, each of its results gets an adjoint, which may be unknown."""
        sweep = self.add_backward_pass(sweep_fields["target"])
        sweep.sources = list(sweep_fields["sources"])
        for step in sweep_fields["steps"]:
            for adjoint_fields in (step, *step.get("others", ())):
                sweep.set_adjoint(adjoint_fields["row"], _SnapshotValue(adjoint_fields["adjoint"]))
            for edge in step["edges"]:
                sweep.send(
                    step["row"],
                    edge["input"],
                    edge["port"],
                    _SnapshotValue(edge["product"]),
                    _SnapshotValue(edge["sum"]),
                )
        for row, gradient in zip(sweep_fields["sources"], sweep_fields["gradients"], strict=True):
            if gradient is not None:
                sweep.set_adjoint(row, _SnapshotValue(gradient))
        swept_rows = [
            *sweep.target,
            *sweep.sources,
            *sweep.adjoints,
            *(row for edges in sweep.edges.values() for row, *_ in edges),
        ]
        if not set(swept_rows) <= set(range(len(self.rows))):
            raise ValueError("This is not a snapshot of a recording: its backward pass refers to missing rows.")
        # Otherwise, pictures would allocate an array of zeros whose shape an untrusted snapshot determines.
        for recorded_row in self.rows:
            if recorded_row.call_id in sweep.edges:
                sweep.adjoints.setdefault(recorded_row.index, _SnapshotValue(None))


def _parse_and_validate_row_fields(row_fields: dict, row_number: int) -> RecordedRow:
    """Return the row described by ``RowFields``, or raise ValueError if the fields are invalid."""
    texts = [
        row_fields["op"],
        row_fields["label"],
        row_fields["dtype"],
        *row_fields["scope"],
        *(row_fields[name] or "" for name in ("name", "file", "cut", "watched")),
    ]
    numbers = [
        row_fields["row"],
        row_fields["call"],
        row_fields["version"],
        row_fields["output"],
        row_fields["line"] or 0,
        *row_fields["shape"],
        *row_fields["inputs"],
    ]
    is_valid = all(type(text) is str for text in texts) and all(
        type(integer) is int and integer >= 0 for integer in numbers
    )
    if (
        not is_valid
        or row_fields["row"] != row_number
        or row_fields["call"] > row_number
        or max(row_fields["inputs"], default=-1) >= row_number
        or row_fields["kind"] not in ROW_KINDS
    ):
        raise ValueError(f"This is not a snapshot of a recording: row {row_number} is not a row.")
    return RecordedRow(
        row_fields["row"],
        row_fields["op"],
        row_fields["kind"],
        value=_SnapshotValue(row_fields["value"]),
        site=(row_fields["file"], row_fields["line"]),
        offset=row_fields["site"],
        tracked=bool(row_fields["tapes"]),
        call_id=row_fields["call"],
        tangent=_SnapshotValue(row_fields["tangent"]) if "tangent" in row_fields else None,
        **{name: row_fields[name] for name in SHARED_NAMES},
    )
