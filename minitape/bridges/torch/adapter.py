"""Adapt a PyTorch recording to the checks: its rows, and the facts about tensors and parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from ...explain.fixes.dialects import TORCH
from ...explain.reasons.question import Creation, Question
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import NOWHERE, Site, find_last_return_site
from ..framework_adapter import FrameworkAdapter, list_named_program_objects
from .operation_families import CLASS_LOSS_OPS, ZERO_MECHANISMS
from .row_log import get_extra

if TYPE_CHECKING:
    from .recording import TorchRecording


def build_question(recording: TorchRecording, target: Any, source: Any) -> Question:
    """Return a question about a recording.

    The values of a leaf may come from other rows. Those edges do not count as broken for the source itself.

    Args:
        recording: The recording of the program.
        target: The target tensor, the number of a row, or None without a target.
        source: The source tensor.
    """
    rows, source_rows = list(recording.rows), recording.log.list_rows(source)
    for row in source_rows:
        rows[row] = rows[row].copy_with_edges([edge._replace(cause="") for edge in rows[row].edges])
    target_row = recording.find_row(target)
    return Question(
        adapter=TorchAdapter(recording),
        rows=rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=recording.escapes,
        sweep=recording.find_last_sweep_from_or_through(target_row),
    )


def get_torch_adapter(question: Question) -> TorchAdapter:
    """Return the adapter of a question about PyTorch, with its type."""
    return cast("TorchAdapter", question.adapter)


class TorchAdapter(FrameworkAdapter):
    """The facts about PyTorch's tensors that the checks need.

    Attributes:
        recording: The recording of the program.
        log: The log that wrote the recording's rows.
    """

    framework, unused_cause = "torch", "unused"
    zero_mechanisms, class_loss_ops, cancelling_scopes = ZERO_MECHANISMS, CLASS_LOSS_OPS, frozenset[str]()
    dialect = TORCH

    def __init__(self, recording: TorchRecording) -> None:
        """Adapt ``recording``."""
        self.recording, self.log = recording, recording.log

    def list_names_and_values(self) -> Iterable[tuple[str, Any]]:
        """Return (name, object) for each variable of the program that called ``explain``.

        Names that are not identifiers are left out.
        """
        return [named_object for named_object in list_named_program_objects() if named_object[0].isidentifier()]

    def find_creation(self, tensor: Any) -> Creation:
        """Return where a tensor was created. The time is always 0, because PyTorch's recorder keeps no time."""
        site = self.log.creations.get(tensor)
        return Creation(0, [] if site is None else [site])

    def find_last_return_of_rule(self, row: RecordedRow) -> Site:
        """Return the line of the last ``return`` in the ``backward()`` of a custom autograd Function.

        Returns NOWHERE if another operation computed the row.
        """
        custom_rule = get_extra(row).custom_rule
        return NOWHERE if custom_rule is None else find_last_return_site(custom_rule)
