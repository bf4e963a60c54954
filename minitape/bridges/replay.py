"""A recording that was kept as a snapshot, without the framework that made it."""

from __future__ import annotations

import linecache
from typing import Any

from .recording import Entry, Recording


class _Said:
    """A VALUE of a snapshot in the place of the value that it shows."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def shown(self) -> Any:
        return self._value


class Replay(Recording):
    """What a recording's ``snapshot()`` says, as a recording again: ``TapeView`` and ``tf.draw`` take it.

    The snapshot may come from another machine, as JSON. It has one backward pass, and the text of the program, but not what
    ``explain`` needs. Raises ValueError for a version of the format other than 1, and for a part of a recording.

    >>> recording = Recording("by hand")
    >>> x = recording.leaf(3.0, name="x")
    >>> y = recording.operation("square", [x], 9.0, label="x²")
    >>> recording.close()
    >>> Replay(recording.snapshot(), "by hand").snapshot()["rows"] == recording.snapshot()["rows"]
    True
    """

    def __init__(self, snapshot: dict[str, Any], framework: str = "a snapshot") -> None:
        super().__init__(framework)
        if snapshot.get("version") != 1:
            raise ValueError(f"This snapshot has version {snapshot.get('version')!r}; Replay reads version 1.")
        if snapshot["first"] != 0 or snapshot["total"] != len(snapshot["rows"]):
            raise ValueError(f"This snapshot has {len(snapshot['rows'])} rows of {snapshot['total']}; Replay needs all of them.")
        self.entries = [_entry(row) for row in snapshot["rows"]]
        self.events = list(snapshot["events"])
        for file, text in snapshot["sources_text"].items():  # so that the picture has the lines of a program that is elsewhere
            linecache.cache.setdefault(file, (len(text), None, text.splitlines(keepends=True), file))
        if snapshot["sweep"] is not None:
            self._read_sweep(snapshot["sweep"])
        self.close()

    def _read_sweep(self, kept: dict[str, Any]) -> None:
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


def _entry(row: dict[str, Any]) -> Entry:
    """The entry that a ROW was made of."""
    value, site = _Said(row["value"]), (row["file"], row["line"])
    entry = Entry(row["row"], row["op"], row["label"], row["kind"], value, site, bool(row["tapes"]))
    for field in ("name", "version", "inputs", "call", "output", "dtype", "scope", "cut", "watched"):
        setattr(entry, field, row[field])
    entry.shape = tuple(row["shape"])
    return entry
