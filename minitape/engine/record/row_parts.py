"""The parts of a recording's rows: codes of operations, leaves, calls, events."""

from __future__ import annotations

import weakref
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..table.primitives.elementwise import BY_CODE, FIRST_CODE

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Attributes
    from .provenance import Note

LEAF, CALL = 0, 1  # the first column of rows that are no elementwise operations
WIDTH = 6  # columns
CALL_COLUMN, VALUE_COLUMN = 3, 5  # those that are read alone
CHUNK = 16384  # rows that readers of long recordings take at once
Subject: TypeAlias = Any  # of an event, which its kind says: a row, a tensor, a variable and its version, a tape
new_call, new_tuple = object.__new__, tuple.__new__  # without a constructor's frame: at a third of the price
REALS = frozenset((np.float32, np.float64))  # the numbers that a compiled sweep takes
FLOATS = frozenset(map(np.dtype, REALS))


class Call:
    """One row (or several: one for each output) that is more than an elementwise operation."""

    __slots__ = ("row", "primitive", "inputs", "attrs", "outputs")

    def __init__(
        self, row: int, primitive: Primitive, inputs: tuple[int, ...], attrs: Attributes, outputs: int
    ) -> None:
        self.row, self.primitive, self.inputs, self.attrs, self.outputs = row, primitive, inputs, attrs, outputs


NO_ATTRS: Attributes = {}  # the attributes of elementwise operations


class Leaf(NamedTuple):
    """The owner of a leaf row: a tensor, one state of a variable, or a Python number. It keeps neither alive."""

    tensor_ref: weakref.ref[Tensor] | None = None
    variable_ref: weakref.ref[ResourceVariable] | None = None
    version: int = 0  # of the variable
    number: float | None = None
    origin: Note = None  # the tensor's

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, while it is alive."""
        return None if self.tensor_ref is None else self.tensor_ref()

    @property
    def variable(self) -> ResourceVariable | None:
        """The variable whose state it is, while it is alive."""
        return None if self.variable_ref is None else self.variable_ref()


@lru_cache(1024, typed=True)
def get_number_leaf(number: float) -> Leaf:
    """Return the leaf of a Python number: the same for all recordings."""
    return Leaf(number=number)


class Event(NamedTuple):
    """An event that is no row: an assignment, an escape, a pause. ``row`` is its time."""

    kind: str
    row: int
    subject: Subject
    site: tuple[CodeType, int] | None


def build_elementwise_call(row: int, op: int, a: int, b: int) -> Call:
    """Build the call that a row of an elementwise operation stands for."""
    primitive = BY_CODE[op - FIRST_CODE]
    return Call(row, primitive, (a, b)[: len(primitive.texts) - 1], NO_ATTRS, 1)
