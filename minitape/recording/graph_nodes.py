"""The parts of the graph of :mod:`value_graph`: values, the places of statements, and breaks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.record.row_parts import LEAF, build_elementwise_call
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.values.dtypes import find_dtype_of_numpy
from .sites import NOWHERE, Site, find_site_of_bytecode

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.table.primitives import Primitive
    from ..engine.tensor.tensor import Tensor
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Array, Object
    from ..engine.values.dtypes import DType
    from .function_bodies import EnclosingCall
    from .value_origins import ValueOrigin


class CodePlace:
    """A line of the user's code; ``frames`` are the user's frames around it, innermost first."""

    __slots__ = ("filename", "line", "frames")

    def __init__(self, frames: tuple[tuple[CodeType, int], ...]) -> None:
        self.frames = frames
        self.filename, self.line = find_site_of_bytecode(*frames[0])

    @property
    def column(self) -> int:
        """The column, -1 when it is not known."""
        return -1 if (column := self.span[2]) is None else column

    @property
    def span(self) -> tuple[int | None, ...]:
        """The first and last line, the first and last column of what ran; of what is not known None."""
        code, offset = self.frames[0]
        return next(islice(code.co_positions(), offset // 2, None), (None,) * 4)

    def copy_with_line(self, line: int) -> CodePlace:
        """Return a copy of this place with another line, such as the first of its statement."""
        place = CodePlace(self.frames)
        place.line = line
        return place

    def iter_frame_sites(self) -> Iterator[tuple[str, int]]:
        """Yield (file, line) of each frame, the innermost first."""
        for frame in self.frames:
            yield find_site_of_bytecode(*frame)


class PlacedSite(tuple[str | None, int | None]):
    """File and line, with the place that they are of."""

    place: CodePlace


def to_site(place: CodePlace | None) -> Site:
    """The file and line of a place; nowhere without one."""
    if place is None:
        return NOWHERE
    site = PlacedSite((place.filename, place.line))
    site.place = place
    return site


def build_call_stack(place: CodePlace | None) -> list[Site]:
    """The statement at a place, and the calls that led there, the outermost first."""
    return (
        []
        if place is None
        else [to_site(CodePlace(place.frames[depth:])) for depth in reversed(range(len(place.frames)))]
    )


class Break(NamedTuple):
    """Why no gradient passes an edge: the cause, where, and what is there (an operation's name, a variable ...)."""

    cause: str
    place: CodePlace | None
    detail: str = ""


class ValueNode:
    """A value: a row of a recording, or what is known of one outside of it."""

    __slots__ = ("key", "record", "row", "origin", "tensor", "variable", "enclosing_call", "_edges")

    def __init__(
        self,
        key: Hashable,
        record: Record | None = None,
        row: int = -1,
        origin: ValueOrigin | None = None,
        tensor: Tensor | None = None,
        variable: ResourceVariable | None = None,
    ) -> None:
        self.key, self.record, self.row, self.origin = key, record, row, origin
        self.tensor, self.variable = tensor, variable
        self.enclosing_call: EnclosingCall | None = None  # of a row inside a tf.function, a loop or a branch
        self._edges: list[tuple[ValueNode, Break | None]] | None = None

    def find_recorded_place(self) -> CodePlace | None:
        """Find the user's statement that wrote the row; of a leaf the first that used it.

        A value without a row has the statement that created it.
        """
        if self.record is not None:
            code_offset = self.record.find_site(self.row)
            return None if code_offset is None else CodePlace((code_offset,))
        return self.find_creation_place()

    def find_creation_place(self) -> CodePlace | None:
        """Where a leaf, or a value outside of recordings, was made."""
        return find_origin_place(self.origin)

    def find_dtype(self) -> DType | None:
        """The dtype of a value, None where it is unknown."""
        if self.tensor is not None:
            return self.tensor.dtype
        if self.record is not None:
            return find_dtype_of_numpy(self.record.get_shape_and_dtype(self.row)[1])
        return None

    def find_operation_name(self) -> str:
        """Find the name of the operation that computed a row; empty for anything else."""
        if self.record is None:
            return ""
        op = self.record.read_integer_cells(self.row)[0]
        if op >= FIRST_CODE:
            return BY_CODE[op - FIRST_CODE].name
        call = self.record.get_call(self.row)
        return "" if call is None else call.primitive.name

    def is_literal_number(self) -> bool:
        """Return whether a node is a Python number that was written in the program: one row for all its uses."""
        return self.record is not None and self.enclosing_call is None and self.record.is_python_number(self.row)


def find_origin_place(origin: ValueOrigin | None) -> CodePlace | None:
    """Where something was made, where that is known."""
    return CodePlace(origin.stack) if origin is not None and origin.stack else None


def find_variable_of_origin(origin: ValueOrigin | None) -> ResourceVariable | None:
    """The variable whose state a value was, if it was one's."""
    return origin.detail() if origin is not None and is_variable_state(origin) and origin.detail is not None else None


def find_current_array(value: Object) -> Array:
    """Find the array that an array, tensor or variable holds now; None for anything else."""
    value = getattr(value, "_state", value)
    return value if isinstance(value, np.ndarray) else getattr(value, "array", None)


def is_variable_state(origin: ValueOrigin | None) -> bool:
    """Whether an origin is the state of a variable."""
    return origin is not None and origin.kind.startswith(("variable", "assign", "scatter"))


def is_leaf(node: ValueNode) -> bool:
    """Whether a node is no result of a recorded operation."""
    return node.record is None or node.record.read_integer_cells(node.row)[0] == LEAF


def find_operation_and_inputs(record: Record, row: int) -> tuple[Primitive | None, tuple[int, ...]]:
    """Find (primitive, input rows) of the operation that wrote a row; None and no inputs for a leaf."""
    op, left, right, _ = record.read_integer_cells(row)
    call = record.get_call(row) if op < FIRST_CODE else build_elementwise_call(row, op, left, right)
    return (None, ()) if call is None else (call.primitive, call.inputs)


def iter_operations_from_row(record: Record, start_row: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (row, input rows) of each operation from a row on."""
    for row in range(start_row, len(record)):
        primitive, inputs = find_operation_and_inputs(record, row)
        if primitive is not None:
            yield row, inputs
