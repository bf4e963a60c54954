"""Values that left a recording, and backward passes: explain reads these of a tape and of every framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .sites import NOWHERE, Site


class TapeStateChange(NamedTuple):
    """A change in a tape's life, such as a pause, and when it was."""

    kind: str  # it "begins", "ends", "pauses", "goes on" or "resets",
    row: int  # at which row,
    call_stack: Sequence[Site]  # and on which line, with the calls that led there
    tape: Any


class RowEscape(NamedTuple):
    """A value left the framework: by ``.item()``, ``.numpy()``, ``float()`` and the like."""

    row: int
    method: str
    site: Site
    row_count: int  # rows that were there


class AdjointShare(NamedTuple):
    """What an operation sent to one of its inputs during a backward pass.

    Attributes:
        row: The row of the input.
        port: The number of the input among those of the operation.
        product: The adjoint of the operation, times the derivative by this input.
        total: The sum of all shares that have arrived at the row so far, with this one.
    """

    row: int
    port: int
    product: Any
    total: Any


class BackwardPass:
    """One backward pass as the framework ran it."""

    def __init__(self, target: Sequence[int] = ()) -> None:
        self.target = list(target)
        self.function_name = ""  # by which function of the framework
        self.tape: Any = None  # and which tape, where the framework has tapes
        self.site: Site = NOWHERE  # and on which line
        self.call_stack: list[Site] = []  # with the calls that led there
        self.row_count = 0  # when there were so many rows
        self.source_results: list[tuple[Any, bool]] = []  # to each source that it was asked for, whether a gradient
        self.sources: list[int] = []  # what was asked for; nothing: the leaves at which it arrives
        self.adjoints: dict[int, Any] = {}  # by row
        self.edges: dict[int, list[AdjointShare]] = {}  # By call, in the order in which they were sent.

    def arrive(self, row: int, adjoint: Any) -> None:
        """Record the complete adjoint of a row."""
        self.adjoints[row] = adjoint

    def send(self, call: int, row: int, port: int, product: Any, total: Any) -> None:
        """Record the share that an operation adds to the adjoint of its input ``row``, and the adjoint after it."""
        self.edges.setdefault(call, []).append(AdjointShare(row, port, product, total))
