"""Define the elements of the graph in :mod:`value_graph`: value nodes, code locations and breaks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..engine.record.row_parts import LEAF, Call, build_elementwise_call
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.values.dtypes import DType, find_dtype_of_numpy_dtype
from .sites import NOWHERE, CallStack, Site, find_site_of_bytecode

if TYPE_CHECKING:
    from ..engine.record.provenance import Stack
    from ..engine.record.record import Record
    from ..engine.table.primitives import Primitive
    from ..engine.tensor.tensor import Tensor
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import OptionalNumber, RowNumbers
    from .function_bodies import EnclosingCall
    from .value_origins import ValueOrigin


class CodePlace:
    """A location in the user's code.

    Attributes:
        filename: The file of the innermost frame.
        line: The line in that file.
        frames: The user's frames as (code, offset) pairs, innermost first.
    """

    __slots__ = ("filename", "line", "frames")

    def __init__(self, frames: Stack):
        """Create the location of the innermost frame."""
        self.frames = frames
        self.filename, self.line = find_site_of_bytecode(*frames[0])

    @property
    def column(self) -> int:
        """The first column, or -1 if it is unknown."""
        column = self.span[2]
        return -1 if column is None else column

    @property
    def span(self) -> tuple[OptionalNumber, ...]:
        """The first line, last line, first column and last column of the expression that ran, or None if unknown."""
        code, offset = self.frames[0]
        return next(islice(code.co_positions(), offset // 2, None), (None,) * 4)

    def copy_with_line(self, line: int) -> CodePlace:
        """Return a copy of this location with a different line, such as the first line of its statement.

        Args:
            line: The line of the copy.
        """
        place = CodePlace(self.frames)
        place.line = line
        return place


class PlacedSite(Site):
    """A (file, line) pair that also stores the exact code location.

    Attributes:
        place: The code location.
    """

    place: CodePlace


def to_site(place: OptionalPlace) -> Site:
    """Return the (file, line) of a code location, as a pair that also stores the location itself.

    Args:
        place: The code location. For None, the result is `NOWHERE`.
    """
    if place is None:
        return NOWHERE
    site = PlacedSite((place.filename, place.line))
    site.place = place
    return site


def build_call_stack_outermost_first(place: OptionalPlace) -> CallStack:
    """Return the call stack at a code location as statements, outermost first.

    Args:
        place: The code location. For None, the result is empty.
    """
    if place is None:
        return []
    return [to_site(CodePlace(place.frames[depth:])) for depth in reversed(range(len(place.frames)))]


class Break(NamedTuple):
    """The reason why no gradient passes along an edge.

    Attributes:
        cause: One of the causes in `explain.causes.CAUSES`.
        place: The code location of the break, if known.
        detail: A detail, such as the name of an operation or the dtype.
    """

    cause: str
    place: OptionalPlace
    detail: str = ""


# A code location, or None if it is unknown.
OptionalPlace: TypeAlias = "CodePlace | None"
# A break, or None if the gradient passes.
OptionalBreak: TypeAlias = "Break | None"
# An input node, with the break on the edge that leads to it, if any.
NodeAndBreak: TypeAlias = "tuple[ValueNode, OptionalBreak]"
# The edges from a node to its inputs, one after the other.
InputEdges: TypeAlias = "Iterator[NodeAndBreak]"
# The operation, the two operands and the call of a row.
RowCells: TypeAlias = "tuple[int, int, int, Call | None]"


@dataclass(slots=True, eq=False)
class ValueNode:
    """A value in a recording or outside all recordings.

    Attributes:
        key: The key that identifies the node in its graph.
        record: The recording of the row, or None for a value without a row.
        row: The row, or -1 for a value without a row.
        origin: The origin of a leaf or of a value without a row, if known.
        tensor: The tensor, if it still exists.
        variable: The variable, if the value is a variable's state.
        enclosing_call: The call that contains the row, if the row belongs to a tf.function, a loop or a branch.
    """

    key: Hashable
    record: Record | None = None
    row: int = -1
    origin: ValueOrigin | None = None
    tensor: Tensor | None = None
    variable: ResourceVariable | None = None
    enclosing_call: EnclosingCall | None = None
    _edges: list[NodeAndBreak] | None = field(default=None, init=False)
    _cells: RowCells | None = field(default=None, init=False)

    @property
    def operation_operands_and_call(self) -> RowCells:
        """The operation, the two operands and the call of the row, read from the recording only once."""
        if self._cells is None:
            assert self.record is not None  # This runs for each row, so it saves the call of a property.
            op, left, right, call, *_ = self.record.read_all_cells(self.row)
            self._cells = op, left, right, call
        return self._cells

    @property
    def required_recording(self) -> Record:
        """The recording of the row, for code that handles only nodes with a row."""
        assert self.record is not None
        return self.record

    def find_operation(self) -> Primitive | None:
        """Return the operation that computed the row, or None for a leaf and for a value without a row."""
        if self.record is None:
            return None
        op, _, _, call = self.operation_operands_and_call
        if op >= FIRST_CODE:
            return BY_CODE[op - FIRST_CODE]
        return None if call is None else call.primitive

    def find_computation_use_or_creation_place(self) -> OptionalPlace:
        """Return the user's statement that computed the row, or the first statement that used a leaf.

        For a value without a row, return the statement that created it. Return None if the statement is unknown.
        """
        if self.record is not None:
            code_offset = self.record.find_site(self.row)
            return None if code_offset is None else CodePlace((code_offset,))
        return self.find_creation_place()

    def find_creation_place(self) -> OptionalPlace:
        """Return the code location at which a leaf or a value without a row was created, or None if it is unknown."""
        return find_origin_place(self.origin)

    def find_dtype(self) -> DType | None:
        """Return the dtype of the value, or None if it is unknown."""
        if self.tensor is not None:
            return self.tensor.dtype
        if self.record is not None:
            return find_dtype_of_numpy_dtype(self.record.get_shape_and_dtype(self.row)[1])
        return None

    def find_operation_name(self) -> str:
        """Return the name of the operation that computed the row, or "" for a leaf and for a value without a row."""
        primitive = self.find_operation()
        return "" if primitive is None else primitive.name


def find_origin_place(origin: ValueOrigin | None) -> OptionalPlace:
    """Return the code location at which a value was created, or None if it is unknown.

    Args:
        origin: The origin of the value, or None.
    """
    return CodePlace(origin.stack) if origin is not None and origin.place else None


def find_variable_if_origin_is_state(origin: ValueOrigin | None) -> ResourceVariable | None:
    """Return the variable that a state belongs to, or None for other values and for deleted variables.

    Args:
        origin: The origin of the value, or None.
    """
    if origin is None or not is_variable_state(origin) or origin.detail is None:
        return None
    return origin.detail()


def is_variable_state(origin: ValueOrigin | None) -> bool:
    """Return whether an origin describes the state of a variable.

    Args:
        origin: The origin, or None.
    """
    return origin is not None and origin.kind.startswith(("variable", "assign", "scatter"))


def is_leaf(node: ValueNode) -> bool:
    """Return whether a node was not computed by a recorded operation.

    Args:
        node: The node.
    """
    return node.record is None or node.operation_operands_and_call[0] == LEAF


def find_operation_and_inputs(record: Record, row: int) -> tuple[Primitive | None, RowNumbers]:
    """Return the operation that computed a row, and the operation's inputs.

    Args:
        record: The recording.
        row: The row.

    Returns:
        The primitive and the rows of its inputs. For a leaf, (None, ()).
    """
    op, left, right, _ = record.read_integer_cells(row)
    call = record.get_call(row) if op < FIRST_CODE else build_elementwise_call(row, op, left, right)
    return (None, ()) if call is None else (call.primitive, call.inputs)


def iter_operations_from_row(record: Record, start_row: int) -> Iterator[tuple[int, RowNumbers]]:
    """Yield the row and input rows of each operation, from a given row to the end of a recording.

    Args:
        record: The recording.
        start_row: The first row.
    """
    for row in range(start_row, len(record)):
        primitive, inputs = find_operation_and_inputs(record, row)
        if primitive is not None:
            yield row, inputs
