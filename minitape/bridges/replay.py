"""A recording that was kept as a snapshot, without the framework that made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .recording import MOST, Recording, RecordingEntry

KINDS = ("source", "variable", "constant", "operation")


class _Said:
    """A VALUE of a snapshot in the place of the value that it shows."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def shown(self) -> Any:
        return self._value

    def array(self) -> np.ndarray | None:
        """The elements, where the snapshot has all of them."""
        try:
            return np.asarray(self._value["data"])
        except (KeyError, TypeError, ValueError):
            return None


class Replay(Recording):
    """What a recording's ``snapshot()`` says, as a recording again: ``TapeView`` and ``tf.draw`` take it.

    The snapshot may come from another machine, as JSON, and from a stranger: the files that it names are not read, and
    the texts that it has for them are those of this recording only. It has one backward pass, but not what ``explain``
    needs. Raises ValueError for a version of the format other than 1, for a part of a recording, and for what is no
    snapshot.

    >>> recording = Recording("by hand")
    >>> x = recording.leaf(3.0, name="x")
    >>> y = recording.operation("square", [x], 9.0, label="x²")
    >>> recording.close()
    >>> Replay(recording.snapshot(), "by hand").snapshot()["rows"] == recording.snapshot()["rows"]
    True
    """

    def __init__(self, snapshot: dict, framework: str = "a snapshot") -> None:
        super().__init__(framework)
        try:
            self._read(snapshot)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(
                "This is no snapshot of a recording: something in it is missing, or of another kind."
            ) from error
        self.close()

    def lines_of(self, file: str) -> list[str]:
        """The lines of a file as the snapshot has them. They are not shared: linecache's are what functions are made
        of.
        """
        return self._texts.get(file, "").splitlines(keepends=True)

    def _read(self, snapshot: Mapping[str, Any]) -> None:
        if snapshot.get("version") != 1:
            raise ValueError(f"This snapshot has version {snapshot.get('version')!r}; Replay reads version 1.")
        rows = snapshot["rows"]
        if snapshot["first"] != 0 or snapshot["total"] != len(rows):
            raise ValueError(f"This snapshot has {len(rows)} rows of {snapshot['total']}; Replay needs all of them.")
        if len(rows) > MOST:
            raise ValueError(f"This snapshot has {len(rows)} rows; a recording has at most {MOST}.")
        self.entries = [_entry(row, number) for number, row in enumerate(rows)]
        self.events = [dict(event) for event in snapshot["events"]]
        self._texts = {file: text + "" for file, text in snapshot["sources_text"].items()}
        if snapshot["sweep"] is not None:
            self._read_sweep(snapshot["sweep"])

    def _read_sweep(self, kept: dict) -> None:
        sweep = self.sweep(kept["target"])
        sweep.sources = list(kept["sources"])
        for step in kept["steps"]:
            for arrived in (step, *step.get("others", ())):
                sweep.arrive(arrived["row"], _Said(arrived["adjoint"]))
            for edge in step["edges"]:
                sweep.send(step["row"], edge["input"], edge["port"], _Said(edge["product"]), _Said(edge["sum"]))
        for row, gradient in zip(kept["sources"], kept["gradients"], strict=True):
            if gradient is not None:
                sweep.arrive(row, _Said(gradient))
        ends = [
            *sweep.target,
            *sweep.sources,
            *sweep.adjoints,
            *(row for edges in sweep.edges.values() for row, *_ in edges),
        ]
        if not set(ends) <= set(range(len(self.entries))):
            raise ValueError("This is no snapshot of a recording: its backward pass goes to rows that are not there.")
        for entry in self.entries:  # no zeros are made for them, whose shapes other code chose
            if entry.call in sweep.edges:
                sweep.adjoints.setdefault(entry.row, _Said(None))


def _entry(row: dict, number: int) -> RecordingEntry:
    """The entry that a ROW was made of."""
    texts = [
        row["op"],
        row["label"],
        row["dtype"],
        *row["scope"],
        *(row[name] or "" for name in ("name", "file", "cut", "watched")),
    ]
    numbers = [row["row"], row["call"], row["version"], row["output"], row["line"] or 0, *row["shape"], *row["inputs"]]
    right = all(type(text) is str for text in texts) and all(type(n) is int and n >= 0 for n in numbers)
    if (
        not right
        or row["row"] != number
        or row["call"] > number
        or max(row["inputs"], default=-1) >= number
        or row["kind"] not in KINDS
    ):
        raise ValueError(f"This is no snapshot of a recording: row {number} is none.")
    fields = "row op label kind name version inputs call output dtype shape scope cut watched"
    return RecordingEntry(
        **{field: row[field] for field in fields.split()},
        value=_Said(row["value"]),
        site=(row["file"], row["line"]),
        differentiable=bool(row["tapes"]),
        tangent=_Said(row["tangent"]) if "tangent" in row else None,
    )
