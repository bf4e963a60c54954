"""Define the rows, escapes and backward passes of a recording, for a tape and for every framework."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

import numpy as np

from ..engine.types import OptionalNumber, OptionalText, RowIterable, RowList, RowSequence, RowSet, TextSequence
from .sites import NOWHERE, CallStack, Site
from .value_summary import to_float_array

OTHER_RECORDING = -1  # The position of a row or the row count of an escape in another recording.
RowKind = Literal["source", "variable", "constant", "operation"]
OptionalArray = np.ndarray | None  # None means that the recording did not keep the elements.


class TapeStateChange(NamedTuple):
    """A change in the state of a tape, such as a pause.

    Attributes:
        kind: The change: "begins", "ends", "pauses", "resumes" or "resets".
        row: The number of rows recorded before the change.
        call_stack: The statements that were running, outermost first.
        tape: The tape.
    """

    kind: str
    row: int
    call_stack: CallStack
    tape: Any


class InputEdge(NamedTuple):
    """An edge from a row to one of the rows it was computed from.

    Attributes:
        input_row: The index of the input's row.
        cause: Why no gradient passes, or "" if one does.
        site: The line of the break, if it differs from the line of the row that reads the input.
        detail: A detail of the break, such as the name of a method.
    """

    input_row: int
    cause: str = ""
    site: Site = NOWHERE
    detail: str = ""


class RowDetails(Protocol):
    """Looks up the details of a row when they are first read. The details are needed for only a few rows."""

    def find_site(self, row: RecordedRow) -> Site:
        """Return the line of the user's program that created a row."""

    def find_call_stack(self, row: RecordedRow) -> CallStack:
        """Return the statements that were running when a row was created, outermost first."""

    def find_value(self, row: RecordedRow) -> Any:
        """Return the value of a row."""

    def find_name(self, row: RecordedRow) -> OptionalText:
        """Return the program's name for a row, or None if it has no name."""

    def find_object(self, row: RecordedRow) -> Any:
        """Return the tensor or variable that a row represents, or None if it no longer exists."""


class RowFacts(TypedDict, total=False):
    """The facts about a row that a bridge may leave out. `RecordedRow` describes them."""

    site: Site
    offset: int
    cause: str
    version: int
    call_id: OptionalNumber
    output: int
    dtype: str
    shape: Sequence[int]
    scope: TextSequence
    cut: OptionalText
    tangent: Any
    extra: Any


class RecordedRow:
    """One row of a recording: a leaf, or a result of an operation. Tapes and bridges use the same class.

    Attributes:
        index: The index of the row in its recording.
        op: The framework's name for the operation, or "leaf" for a leaf of a framework.
        kind: "source", "variable" or "constant" for a leaf, or "operation" for a result.
        inputs: The rows that the row was computed from, in the order of the operation's arguments. For a leaf, the rows
            whose values were used to create it.
        label: The text inside the row's node in a picture.
        tracked: Whether a gradient can continue from the row.
        cause: Why no gradient passes from the inputs to the row, or "" if one does.
        version: The number of earlier states of the same leaf.
        call_id: The number of the call's first row, which identifies a call with several results.
        output: The index of this row among the results of the call.
        dtype: The name of the value's dtype, or "" if it is unknown.
        shape: The shape of the value.
        scope: The names of the modules or functions in which the row was computed, outermost first.
        cut: The kind of break that a picture shows, such as "stop_gradient", or None for a row without a break.
        watched: Why a gradient for the leaf is computed, such as "requires_grad", or None for other rows.
        offset: The bytecode instruction that ran the operation, or 0 if it is unknown. It tells apart the operations of
            one line.
        tangent: The tangent, in the same form as ``value``, if the framework also ran in forward mode.
        position: The number of the row in the current recording, or `OTHER_RECORDING`.
        clock: The time at which the row was created, if it belongs to another recording.
        details: Looks up the site, call stack, value and name if they are not stored in the row.
        extra: Further framework-specific facts about the row.
    """

    def __init__(
        self,
        index: int,
        op: str,
        kind: RowKind,
        *,
        inputs: RowSequence = (),
        label: str = "",
        value: Any = None,
        site: Site = NOWHERE,
        offset: int = 0,
        tracked: bool = True,
        cause: str = "",
        name: OptionalText = None,
        version: int = 0,
        call_id: OptionalNumber = None,
        output: int = 0,
        dtype: str = "",
        shape: Sequence[int] = (),
        scope: TextSequence = (),
        cut: OptionalText = None,
        watched: OptionalText = None,
        tangent: Any = None,
        position: OptionalNumber = None,
        clock: int = 0,
        details: RowDetails | None = None,
        extra: Any = None,
    ):
        """Store the facts about a row. The class docstring describes them.

        ``value`` is a number, an array, or an object with a ``shown()`` method, such as a ``KeptValue``.
        """
        self.index, self.op, self.kind, self.inputs, self.label = index, op, kind, inputs, label
        self.tracked = tracked
        self.cause = cause
        self.version = version
        self.call_id = index if call_id is None else call_id
        self.output = output
        self.dtype = dtype
        self.shape = shape
        self.scope = scope
        self.cut = cut
        self.watched = watched
        self.tangent = tangent
        self.position = index if position is None else position
        self.offset = offset
        self.clock = clock
        self.details = details
        self.extra = extra
        if details is None:
            self.site = site
            self.value = value
            self.name = name

    @cached_property
    def edges(self) -> list[InputEdge]:
        """The edges to the rows that the row was computed from."""
        return [InputEdge(row, self.cause) for row in self.inputs]

    @property
    def inputs_if_operation(self) -> RowSequence:
        """The rows that an operation read, or an empty list for a leaf."""
        return self.inputs if self.kind == "operation" else ()

    @cached_property
    def site(self) -> Site:
        """The line of the user's program that created the row."""
        return NOWHERE if self.details is None else self.details.find_site(self)

    @cached_property
    def call_stack(self) -> CallStack:
        """The statements that were running when the row was created, outermost first."""
        return [self.site] if self.details is None else self.details.find_call_stack(self)

    @cached_property
    def value(self) -> Any:
        """The value, in one of the forms that ``to_float_array`` accepts."""
        return None if self.details is None else self.details.find_value(self)

    @cached_property
    def name(self) -> OptionalText:
        """The program's name for the value, or None if it has no name."""
        return None if self.details is None else self.details.find_name(self)

    def find_object(self) -> Any:
        """Return the tensor or variable that the row represents, or None if it no longer exists or was not kept."""
        if self.details is not None:
            return self.details.find_object(self)
        return None if self.extra is None else self.extra.find_object()

    def mark_as_tracked(self) -> None:
        """Mark the row as tracked, because a later event showed that a gradient passes through it."""
        self.tracked = True
        self.cut = None
        self.cause = ""
        self.__dict__.pop("edges", None)

    def copy_with_edges(self, edges: list[InputEdge]) -> RecordedRow:
        """Return a copy with new edges, for a question in which different edges count as breaks.

        Args:
            edges: The edges of the copy.
        """
        row = copy(self)
        row.edges, row.inputs = edges, [edge.input_row for edge in edges]
        return row

    def add_edge(self, edge: InputEdge) -> None:
        """Add an edge to a copy of a row.

        Args:
            edge: The edge, which is added after all others.
        """
        self.edges = [*self.edges, edge]
        self.inputs = [*self.inputs, edge.input_row]

    @property
    def array(self) -> OptionalArray:
        """The elements of the row, if the recording kept them."""
        return to_float_array(self.value)

    def was_created_after(self, escape: Escape) -> bool:
        """Return whether the row was created after a value left the framework.

        Args:
            escape: The value that left the framework.
        """
        if self.position != OTHER_RECORDING:
            return self.position >= escape.row_count
        return not self.clock or self.clock > escape.clock  # A row without a clock may have been created at any time.


class Escape(NamedTuple):
    """A value that left the framework, for example through ``.item()``, ``.numpy()`` or ``float()``.

    Attributes:
        row: The row whose value left the framework.
        method: The method by which the value left the framework.
        site: The line on which the value left the framework.
        row_count: The number of rows recorded before the escape, or `OTHER_RECORDING`.
        clock: The time of the escape, if it belongs to another recording.
    """

    row: int
    method: str
    site: Site
    row_count: int
    clock: int = 0

    @property
    def is_condition(self) -> bool:
        """Whether the program tested the truth of the value to decide which code runs."""
        return self.method in ("bool", "__bool__")


class AdjointShare(NamedTuple):
    """The share of an adjoint that an operation sent to one of its inputs.

    Attributes:
        row: The row of the input.
        port: The index of the input among the operation's inputs.
        product: The adjoint of the operation times the derivative with respect to this input.
        total: The sum of all shares that have arrived at the row so far, including this one.
    """

    row: int
    port: int
    product: Any
    total: Any


class BackwardPass:
    """A backward pass that the framework ran.

    Attributes:
        target: The rows of the target.
        function_name: The name of the framework function that ran the pass.
        tape: The tape that ran the pass, if the framework has tapes.
        site: The line on which the pass was started.
        call_stack: The statements that were running when the pass was started, outermost first.
        row_count: The number of rows recorded before the pass.
        keeps_graph: Whether the program asked the framework to keep the graph for a later pass.
        source_results: The sources passed to the function, each paired with whether it received a gradient.
        sources: The rows of the sources, or an empty list if the gradient is computed for all leaves that the pass
            reaches.
        adjoints: The adjoint of each row that the pass reached.
        edges: The shares that each call sent to its inputs, in the order of the pass.
    """

    def __init__(self, target: RowSequence = ()):
        """Create a pass that begins at the given rows and has no adjoints yet."""
        self.target = list(target)
        self.function_name = ""
        self.tape: Any = None
        self.site = NOWHERE
        self.call_stack: CallStack = []
        self.row_count = 0
        self.keeps_graph = False
        self.source_results: list[tuple[Any, bool]] = []
        self.sources: RowList = []
        self.adjoints: dict[int, Any] = {}
        self.edges: dict[int, list[AdjointShare]] = {}

    def set_adjoint(self, row: int, adjoint: Any) -> None:
        """Record the complete adjoint of a row.

        Args:
            row: The row.
            adjoint: The adjoint, which replaces any earlier adjoint of the row.
        """
        self.adjoints[row] = adjoint

    def send(self, call: int, input_row: int, port: int, product: Any, sum_so_far: Any) -> None:
        """Record a share that an operation sent to one of its inputs.

        Args:
            call: The call of the operation.
            input_row: The row of the input.
            port: The index of the input among the operation's inputs.
            product: The share.
            sum_so_far: The sum of all shares that have arrived at `input_row` so far, including this one.
        """
        self.edges.setdefault(call, []).append(AdjointShare(input_row, port, product, sum_so_far))

    def replace_last_totals_by_adjoints(self) -> None:
        """Use the adjoint of each row as the total of its last share, because the shares then sum to the adjoint."""
        last_places = {
            share.row: (shares, index) for shares in self.edges.values() for index, share in enumerate(shares)
        }
        for row, (shares, index) in last_places.items():
            shares[index] = shares[index]._replace(total=self.adjoints[row])


# Values that left the framework, and rows, in the order of the program.
Escapes: TypeAlias = Sequence[Escape]
RecordedRowList: TypeAlias = list[RecordedRow]
# A backward pass, if the program ran one that fits.
OptionalBackwardPass: TypeAlias = BackwardPass | None


def collect_rows_and_ancestors(
    rows: Sequence[RecordedRow],
    start_rows: RowIterable,
    follows_edge: Callable[[int, InputEdge], bool] | None = None,
    open_only: bool = False,
    repaired_rows: Container[int] = (),
) -> RowSet:
    """Return the given rows and all rows that they were computed from.

    Args:
        rows: All rows of the recording.
        start_rows: The rows to start from.
        follows_edge: Returns whether to follow an edge of a row. None means that every edge is followed.
        open_only: Whether to follow only edges that pass gradients.
        repaired_rows: Rows whose breaks are treated as repaired, so that gradients pass through.
    """
    ancestors = RowSet()
    waiting = list(start_rows)
    while waiting:
        row = waiting.pop()
        if row not in ancestors:
            ancestors.add(row)
            skips_breaks = open_only and row not in repaired_rows
            waiting += [
                edge.input_row
                for edge in rows[row].edges
                if not (skips_breaks and edge.cause) and (follows_edge is None or follows_edge(row, edge))
            ]
    return ancestors


def collect_rows_and_connected_ancestors(
    rows: Sequence[RecordedRow], start_rows: RowIterable, stop_rows: Container[int] = ()
) -> RowSet:
    """Return the given rows and the rows that they were computed from through edges that pass gradients.

    Args:
        rows: All rows of the recording.
        start_rows: The rows to start from.
        stop_rows: The rows at which the search stops. These rows are returned, but their ancestors are not.
    """
    return collect_rows_and_ancestors(
        rows, start_rows, lambda row, edge: rows[edge.input_row].tracked and row not in stop_rows, open_only=True
    )
