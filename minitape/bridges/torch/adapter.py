"""PyTorch for a question: the rows that the bridge wrote, and what is known of tensors and parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...explain.fixes.dialects import TORCH
from ...explain.reasons.question import Question, RecordedRow
from ...recording.sites import NOWHERE, Site, last_return
from ..rows import FrameworkAdapter, exits_of, names_here, rows_of
from .words import CLASSES, FUNCTIONS, ZEROS

CAUSES = {"wrapped": "copied"}  # what the recorder calls otherwise


def rows_read(recording: Any) -> list[RecordedRow]:
    """The rows of a recording."""
    return rows_of(recording, lambda entry: entry.extra.ref, CAUSES)


def read(recording: Any, target: Any, source: Any) -> Question:
    """A question about the rows of a recording; of those of a leaf also what its values were made with."""
    rows, own, end = [*rows_read(recording)], recording.log.rows_of(source), recording.row_of(target)
    for row in own:
        rows[row] = replace(rows[row], given=[one._replace(why="") for one in rows[row].given])
    return Question(
        TorchAdapter(recording),
        rows,
        own,
        [] if end is None else [end],
        source,
        target,
        exits_of(recording),
        recording.sweep_from(end),
    )


class TorchAdapter(FrameworkAdapter):
    """What else is known of tensors."""

    functions, unused = FUNCTIONS, "unused"
    zeros, classes, cancels = ZEROS, CLASSES, frozenset[str]()
    dialect = TORCH

    def __init__(self, recording: Any) -> None:
        self.recording, self.log = recording, recording.log

    def names(self) -> Iterable[tuple[str, Any]]:
        """The names of the program, and what they hold."""
        return [pair for pair in names_here() if pair[0].isidentifier()]

    def birth(self, thing: Any) -> tuple[int, list[Site]]:
        """When and where a tensor was made."""
        site = self.log.born.get(thing)
        return 0, [] if site is None else [site]

    def rule(self, row: RecordedRow) -> Site:
        """Where the ``backward()`` of a Function of the program's own returns."""
        return NOWHERE if row.extra.custom is None else last_return(row.extra.custom)
