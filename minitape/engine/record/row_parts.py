"""The parts of a recording's rows: codes of operations, leaves, calls and events."""

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

LEAF, CALL = 0, 1  # The `op` cell of a row that is not an elementwise operation.
WIDTH = 6  # The number of columns.
CALL_COLUMN, VALUE_COLUMN = 3, 5  # Only these columns are read alone.
CHUNK = 16384  # Readers of long recordings read this many rows at once.
Subject: TypeAlias = Any  # An event's kind decides its subject: a row, a tensor, a tape, or a variable and its version.
new_call, new_tuple = object.__new__, tuple.__new__  # Bypassing a constructor takes a third of the time.
REALS = frozenset((np.float32, np.float64))  # A compiled sweep accepts only these types of numbers.
FLOATS = frozenset(map(np.dtype, REALS))


class Call:
    """One execution of an operation that is not elementwise. It has one row for each output.

    Attributes:
        row: The row of the first output. The rows of the other outputs follow.
        primitive: The operation.
        inputs: The rows of the inputs.
        attrs: The keyword arguments of the primitive, such as an axis.
        outputs: The number of outputs.
    """

    __slots__ = ("row", "primitive", "inputs", "attrs", "outputs")

    def __init__(
        self, row: int, primitive: Primitive, inputs: tuple[int, ...], attrs: Attributes, outputs: int
    ) -> None:
        """Store the fields. ``Record.write_rows`` bypasses this constructor."""
        self.row, self.primitive, self.inputs, self.attrs, self.outputs = row, primitive, inputs, attrs, outputs


NO_ATTRS: Attributes = {}  # Elementwise operations have no attributes, so they share this dictionary.


class Leaf(NamedTuple):
    """The owner of a leaf row: a tensor, one state of a variable, or a Python number. It keeps no owner alive.

    Attributes:
        tensor_ref: A weak reference to the tensor; None for a Python number.
        variable_ref: A weak reference to the variable whose state the tensor is; None for other leaves.
        version: How often the variable had been assigned.
        number: The Python number; None for other leaves.
        origin: The tensor's note of origin (:mod:`minitape.engine.record.provenance`).
    """

    tensor_ref: weakref.ref[Tensor] | None = None
    variable_ref: weakref.ref[ResourceVariable] | None = None
    version: int = 0
    number: float | None = None
    origin: Note = None

    @property
    def tensor(self) -> Tensor | None:
        """The tensor; None if it no longer exists or the leaf is a Python number."""
        return None if self.tensor_ref is None else self.tensor_ref()

    @property
    def variable(self) -> ResourceVariable | None:
        """The variable whose state this is; None if it no longer exists or the leaf is not a variable's state."""
        return None if self.variable_ref is None else self.variable_ref()


@lru_cache(1024, typed=True)
def get_number_leaf(number: float) -> Leaf:
    """Return the leaf of a Python number. All recordings share it.

    Args:
        number: The number. Equal numbers of different types have different leaves.
    """
    return Leaf(number=number)


class Event(NamedTuple):
    """Something that happened and is not a row: an assignment, an escape or a pause.

    Attributes:
        kind: The kind of event, such as "assign", "numpy" or "pause".
        row: The row that was written next, which is the time of the event.
        subject: The row, tensor, tape, or variable and version that the event concerns; None if nothing applies.
        site: (code, bytecode offset) of the user's statement; None if it is unknown.
    """

    kind: str
    row: int
    subject: Subject
    site: tuple[CodeType, int] | None


def build_elementwise_call(row: int, op: int, a: int, b: int) -> Call:
    """Build the call that a row of an elementwise operation abbreviates.

    Args:
        row: The row number.
        op: The code of the operation.
        a: The row of its first input.
        b: The row of its second input; ignored if the operation has one input.

    Returns:
        A call with one output and no attributes.
    """
    primitive = BY_CODE[op - FIRST_CODE]
    return Call(row, primitive, (a, b)[: len(primitive.texts) - 1], NO_ATTRS, 1)
