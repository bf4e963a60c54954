"""Escapes and backward passes, as explain reads them from a tape and from every framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .sites import NOWHERE, Site


class TapeStateChange(NamedTuple):
    """A change in the state of a tape, such as a pause.

    Attributes:
        kind: The change: "begins", "ends", "pauses", "resumes" or "resets".
        row: The number of rows that were recorded before.
        call_stack: The statements that ran, the outermost first.
        tape: The tape.
    """

    kind: str
    row: int
    call_stack: Sequence[Site]
    tape: Any


class RowEscape(NamedTuple):
    """A value that left the framework, such as by ``.item()``, ``.numpy()`` or ``float()``.

    Attributes:
        row: The row whose value left.
        method: How it left.
        site: The line on which it left.
        row_count: The number of rows that were recorded before.
    """

    row: int
    method: str
    site: Site
    row_count: int


class AdjointShare(NamedTuple):
    """The share of an adjoint that an operation sent to one of its inputs.

    Attributes:
        row: The row of the input.
        port: The number of the input among the operation's inputs.
        product: The adjoint of the operation times the derivative by this input.
        total: The sum of all shares that have arrived at the row so far, including this one.
    """

    row: int
    port: int
    product: Any
    total: Any


class BackwardPass:
    """One backward pass as the framework ran it.

    Attributes:
        target: The rows of the target.
        function_name: The framework's function that ran the pass.
        tape: The tape that ran the pass, if the framework has tapes.
        site: The line on which the pass was started.
        call_stack: The statements that ran when it was started, the outermost first.
        row_count: The number of rows that were recorded before the pass.
        source_results: The sources that were passed to the function, each with whether it received a gradient.
        sources: The rows of those sources. Empty if the gradient is for all leaves that the pass reaches.
        adjoints: The adjoint of each row that the pass reached.
        edges: The shares that each call sent to its inputs, in the order of the pass.
    """

    def __init__(self, target: Sequence[int] = ()) -> None:
        """Create a pass without adjoints that begins at some rows."""
        self.target = list(target)
        self.function_name = ""
        self.tape: Any = None
        self.site: Site = NOWHERE
        self.call_stack: list[Site] = []
        self.row_count = 0
        self.source_results: list[tuple[Any, bool]] = []
        self.sources: list[int] = []
        self.adjoints: dict[int, Any] = {}
        self.edges: dict[int, list[AdjointShare]] = {}

    def arrive(self, row: int, adjoint: Any) -> None:
        """Record the complete adjoint of a row.

        Args:
            row: The row.
            adjoint: The adjoint. It replaces an earlier adjoint of the row.
        """
        self.adjoints[row] = adjoint

    def send(self, call: int, row: int, port: int, product: Any, total: Any) -> None:
        """Record a share that an operation sent to one of its inputs.

        Args:
            call: The call of the operation.
            row: The row of the input.
            port: The number of the input among the operation's inputs.
            product: The share.
            total: The sum of all shares that have arrived at `row` so far, including this one.
        """
        self.edges.setdefault(call, []).append(AdjointShare(row, port, product, total))
