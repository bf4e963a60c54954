"""The rows of a recording, what left it, and what went back through it: explain reads these of a tape and of every
framework.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from .sites import NOWHERE, Site
from .values import ValueSummary


class RecordedRow(Protocol):
    """A row of a recording: a leaf, or a result of an operation."""

    row: int
    op: str
    kind: str  # operation, variable, source or constant
    name: str | None
    label: str  # as people write it
    inputs: list[int]
    differentiable: bool
    call: int  # the first row of its call, where one has several results
    dtype: str

    @property
    def why(self) -> str: ...  # why no gradient passes; empty where one does, and where none was to pass
    @property
    def came(self) -> Sequence[int]: ...  # the rows with whose values a leaf was made
    @property
    def scope(self) -> Sequence[str]: ...  # the functions and layers in which it ran
    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def site(self) -> Site: ...  # where it is
    @property
    def value(self) -> ValueSummary | None: ...  # its elements, where they are kept


class RowExit(NamedTuple):
    """A value left the framework: by ``.item()``, ``.numpy()``, ``float()`` and the like."""

    row: int
    how: str
    site: Site
    before: int  # rows that were there


class BackwardPass:
    """One backward pass as the framework ran it."""

    def __init__(self, target: Sequence[int] = ()) -> None:
        self.target = list(target)
        self.asked = ""  # by which function of the framework
        self.tape: Any = None  # and which tape, where the framework has tapes
        self.site: Site = NOWHERE  # and on which line
        self.way: list[Site] = []  # with the calls that led there
        self.at = 0  # when there were so many rows
        self.gave: list[tuple[Any, bool]] = []  # to each source that it was asked for, whether a gradient
        self.sources: list[int] = []  # what was asked for; nothing: the leaves at which it arrives
        self.adjoints: dict[int, Any] = {}  # by row
        # by call: (input, port, product, sum), as they came
        self.edges: dict[int, list[tuple[int, int, Any, Any]]] = {}

    def arrive(self, row: int, adjoint: Any) -> None:
        """The complete adjoint of a row."""
        self.adjoints[row] = adjoint

    def send(self, call: int, row: int, port: int, product: Any, total: Any) -> None:
        """What an operation adds to the adjoint of its input ``row``, and the adjoint after it."""
        self.edges.setdefault(call, []).append((row, port, product, total))
