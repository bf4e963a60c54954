"""The parts of the graph of :mod:`trace`: values, the places of statements, and breaks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.recording.rows import LEAF, call_of
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.values.dtypes import dtype_of_numpy
from .sites import NOWHERE, Site, place_of

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.table.primitives import Primitive
    from ..engine.tensor.tensor import Tensor
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Array, Object
    from ..engine.values.dtypes import DType
    from .bodies import Caller
    from .origins import ValueOrigin


class CodePlace:
    """A line of the user's code; ``frames`` are the user's frames around it, innermost first."""

    __slots__ = ("filename", "line", "frames")

    def __init__(self, frames: tuple[tuple[CodeType, int], ...]) -> None:
        self.frames = frames
        self.filename, self.line = place_of(*frames[0])

    @property
    def column(self) -> int:
        """The column, -1 when it is not known."""
        return -1 if (column := self.span[2]) is None else column

    @property
    def span(self) -> tuple[int | None, ...]:
        """The first and last line, the first and last column of what ran; of what is not known None."""
        code, offset = self.frames[0]
        return next(islice(code.co_positions(), offset // 2, None), (None,) * 4)

    def at(self, line: int) -> CodePlace:
        """This place with the first line of its statement."""
        place = CodePlace(self.frames)
        place.line = line
        return place

    def outer(self) -> Iterator[tuple[str, int]]:
        """(file, line) of each frame, innermost first."""
        for frame in self.frames:
            yield place_of(*frame)


class PlacedSite(tuple[str | None, int | None]):
    """File and line, with the place that they are of."""

    place: CodePlace


def placed(place: CodePlace | None) -> Site:
    """The file and line of a place; nowhere without one."""
    if place is None:
        return NOWHERE
    site = PlacedSite((place.filename, place.line))
    site.place = place
    return site


def way_of(place: CodePlace | None) -> list[Site]:
    """The statement at a place, and the calls that led there, the outermost first."""
    return [] if place is None else [placed(CodePlace(place.frames[at:])) for at in reversed(range(len(place.frames)))]


class Break(NamedTuple):
    """Why no gradient passes an edge: the cause, where, and what is there (an operation's name, a variable ...)."""

    cause: str
    place: CodePlace | None
    what: str = ""


class TapeNode:
    """A value: a row of a recording, or what is known of one outside of it."""

    __slots__ = ("key", "record", "row", "origin", "tensor", "variable", "caller", "_edges")

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
        self.caller: Caller | None = None  # of a row inside a tf.function, a loop or a branch
        self._edges: list[tuple[TapeNode, Break | None]] | None = None

    def place(self) -> CodePlace | None:
        """The user's statement that made a value (of a leaf: where it was first used)."""
        if self.record is not None:
            found = self.record.site_of(self.row)
            return None if found is None else CodePlace((found,))
        return self.birth()

    def birth(self) -> CodePlace | None:
        """Where a leaf, or a value outside of recordings, was made."""
        return place_of_origin(self.origin)

    def dtype(self) -> DType | None:
        """The dtype of a value, None where it is unknown."""
        if self.tensor is not None:
            return self.tensor.dtype
        if self.record is not None:
            return dtype_of_numpy(self.record.shape_dtype(self.row)[1])
        return None

    def label(self) -> str:
        """The name of the operation behind a row, empty for anything else."""
        if self.record is None:
            return ""
        op = self.record.cell(self.row)[0]
        if op >= FIRST_CODE:
            return BY_CODE[op - FIRST_CODE].name
        call = self.record.call_at(self.row)
        return "" if call is None else call.primitive.name

    def is_number(self) -> bool:
        """True when a node is a Python number that was written in the program: one row for all its uses."""
        return self.record is not None and self.caller is None and self.record.is_number(self.row)


def place_of_origin(origin: ValueOrigin | None) -> CodePlace | None:
    """Where something was made, where that is known."""
    return CodePlace(origin.stack) if origin is not None and origin.stack else None


def state_of(origin: ValueOrigin | None) -> ResourceVariable | None:
    """The variable whose state a value was, if it was one's."""
    return origin.detail() if origin is not None and is_state(origin) and origin.detail is not None else None


def array_of(value: Object) -> Array:
    """The value that an array, tensor or variable holds now; None for anything else."""
    value = getattr(value, "_state", value)
    return value if isinstance(value, np.ndarray) else getattr(value, "array", None)


def is_state(origin: ValueOrigin | None) -> bool:
    """Whether an origin is the state of a variable."""
    return origin is not None and origin.kind.startswith(("variable", "assign", "scatter"))


def is_leaf(node: TapeNode) -> bool:
    """Whether a node is no result of a recorded operation."""
    return node.record is None or node.record.cell(node.row)[0] == LEAF


def operation_of(record: Record, row: int) -> tuple[Primitive | None, tuple[int, ...]]:
    """(primitive, input rows) of the operation that wrote a row; None and no inputs for a leaf."""
    op, a, b, _ = record.cell(row)
    call = record.call_at(row) if op < FIRST_CODE else call_of(row, op, a, b)
    return (None, ()) if call is None else (call.primitive, call.inputs)


def operations(record: Record, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(row, input rows) of each operation from a row on."""
    for row in range(start, len(record)):
        primitive, inputs = operation_of(record, row)
        if primitive is not None:
            yield row, inputs
