"""Adapt a PyTorch recording, including its tensors and parameters, for use by the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import OptionalFunction
from ...explain.fixes.dialects import TORCH
from ...explain.reasons.question import Creation, Question
from ...recording.access_paths import NamesAndValues
from ...recording.recorded_rows import RecordedRow
from ..framework_adapter import FrameworkAdapter, list_all_named_program_objects
from .operation_families import CLASS_LOSS_OPS, ZERO_MECHANISMS
from .row_log import get_extra

if TYPE_CHECKING:
    from .recording import TorchRecording


def build_question(recording: TorchRecording, target: Any, source: Any) -> TorchQuestion:
    """Return a question about a recording.

    A leaf may take its values from other rows. The edges from those rows do not count as breaks if the leaf is the
    source.

    Args:
        recording: The program's recording.
        target: The target tensor or row number, or None if no target exists.
        source: The source tensor.
    """
    source_rows = recording.log.list_rows(source)
    rows_with_edges = [row for row in source_rows if recording.rows[row].edges]
    # Copying all rows for each parameter of a large model would take seconds.
    rows = list(recording.rows) if rows_with_edges else recording.rows
    for row in rows_with_edges:
        rows[row] = rows[row].copy_with_edges([edge._replace(cause="") for edge in rows[row].edges])
    target_row = recording.find_row(target)
    return TorchQuestion(
        adapter=TorchAdapter(recording),
        rows=rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=recording.escapes,
        sweep=recording.find_last_sweep_from_or_else_through(target_row),
        shared_rows=recording.rows,
    )


class TorchAdapter(FrameworkAdapter):
    """The facts about PyTorch tensors that the checks need.

    Attributes:
        recording: The program's recording.
        log: The log that wrote the recording's rows.
    """

    framework = "torch"
    unused_cause = "unused"
    zero_mechanisms = ZERO_MECHANISMS
    class_loss_ops = CLASS_LOSS_OPS
    cancelling_scopes = frozenset[str]()
    dialect = TORCH

    def __init__(self, recording: TorchRecording):
        """Adapt ``recording``."""
        self.recording = recording
        self.sweeps = recording.sweeps
        self.log = recording.log

    def list_program_variable_names_and_values(self) -> NamesAndValues:
        """Return a (name, object) pair for each variable of the program that called ``explain``.

        Names that are not valid identifiers are omitted.
        """
        return [named_object for named_object in list_all_named_program_objects() if named_object[0].isidentifier()]

    def find_creation(self, tensor: Any) -> Creation:
        """Return where a tensor was created. The time is 0, because the PyTorch bridge does not record times."""
        site = self.log.creations.get(tensor)
        return Creation(0, [] if site is None else [site])

    def find_custom_rule(self, row: RecordedRow) -> OptionalFunction:
        """Return the ``backward()`` of a custom autograd Function, or None if the row belongs to another operation."""
        return get_extra(row).custom_rule


class TorchQuestion(Question):
    """A question about a PyTorch recording.

    Attributes:
        adapter: The adapter for PyTorch.
    """

    adapter: TorchAdapter
