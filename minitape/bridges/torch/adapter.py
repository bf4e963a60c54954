"""Adapt a PyTorch recording to the checks: its rows, and what is known of tensors and parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...explain.fixes.dialects import TORCH
from ...explain.reasons.question import Creation, Question, RecordedRow
from ...recording.sites import NOWHERE, Site, last_return
from ..rows import FrameworkAdapter, convert_entries, list_program_names, read_escapes
from .words import CLASSES, FUNCTIONS, ZEROS

CAUSE_ALIASES = {"wrapped": "copied"}  # what the recorder calls otherwise


def read_rows(recording: Any) -> list[RecordedRow]:
    """Return the rows of a recording."""
    return convert_entries(recording, lambda entry: entry.extra.ref, CAUSE_ALIASES)


def build_question(recording: Any, target: Any, source: Any) -> Question:
    """Return a question about a recording.

    The values of a leaf may come from other rows. Those edges do not count as broken for the source itself.
    """
    rows, source_rows = list(read_rows(recording)), recording.log.rows_of(source)
    for row in source_rows:
        rows[row] = replace(rows[row], edges=[edge._replace(cause="") for edge in rows[row].edges])
    target_row = recording.row_of(target)
    return Question(
        adapter=TorchAdapter(recording),
        rows=rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=read_escapes(recording),
        sweep=recording.sweep_from(target_row),
    )


class TorchAdapter(FrameworkAdapter):
    """What the checks need to know of PyTorch's tensors."""

    functions, unused_cause = FUNCTIONS, "unused"
    zero_mechanisms, class_loss_ops, cancelling_scopes = ZEROS, CLASSES, frozenset[str]()
    dialect = TORCH

    def __init__(self, recording: Any) -> None:
        self.recording, self.log = recording, recording.log

    def names(self) -> Iterable[tuple[str, Any]]:
        """Return the names of the program that asks, and what they hold."""
        return [pair for pair in list_program_names() if pair[0].isidentifier()]

    def find_creation(self, thing: Any) -> Creation:
        """Return where a tensor was created. PyTorch's recorder keeps no time."""
        site = self.log.born.get(thing)
        return Creation(0, [] if site is None else [site])

    def find_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line on which the ``backward()`` of the program's own Function returns."""
        return NOWHERE if row.extra.custom is None else last_return(row.extra.custom)
