"""Define the building blocks of a recording, such as calls, leaves and events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np

from ..table.primitives.elementwise import BY_CODE, FIRST_CODE

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Attributes, OptionalFloat, RowNumbers
    from .provenance import Origin

LEAF, CALL = 0, 1  # The codes of rows that are not elementwise operations.
WIDTH = 6  # The number of columns.
CALL_COLUMN, VALUE_COLUMN = 3, 5  # The only columns that are read separately.
CHUNK = 16384  # Code that reads long recordings reads this many rows at a time.
# Depending on the kind of event, this is a row, a tensor, a tape, or a variable with its version.
Subject = Any
# Creating objects with these functions takes only a third as long as calling a constructor.
new_call = object.__new__
new_tuple = tuple.__new__
FLOAT_TYPES = frozenset((np.float32, np.float64))  # The scalar types that the fast forms and compiled sweeps handle.
FLOAT_DTYPES = frozenset(map(np.dtype, FLOAT_TYPES))  # The corresponding dtypes.


class Call:
    """One execution of an operation, with its input rows and attributes. Each output has a row.

    ``write_rows`` stores a call only for operations that are not elementwise. For all others, `build_elementwise_call`
    builds it from the cells when a reader needs it.

    Attributes:
        row: The row of the first output. The rows of the other outputs follow.
        primitive: The operation.
        inputs: The rows of the inputs.
        attrs: The keyword arguments for the primitive, such as an axis.
        outputs: The number of outputs.
    """

    __slots__ = ("row", "primitive", "inputs", "attrs", "outputs")

    def __init__(self, row: int, primitive: Primitive, inputs: RowNumbers, attrs: Attributes, outputs: int):
        """Set all attributes. ``Record.write_rows`` bypasses this constructor.

        Args:
            row: The row of the first output.
            primitive: The operation.
            inputs: The rows of the inputs.
            attrs: The keyword arguments for the primitive.
            outputs: The number of outputs.
        """
        self.row, self.primitive, self.inputs, self.attrs, self.outputs = row, primitive, inputs, attrs, outputs

    @property
    def has_tuple_output(self) -> bool:
        """Whether the operation returns a tuple of results, even if there is only one."""
        return self.outputs > 1 or self.primitive.has_tuple_output


# Calls in the order in which the program made them.
Calls: TypeAlias = Sequence[Call]


NO_ATTRS: Attributes = {}  # Elementwise operations have no attributes, so they share this dictionary.


class Leaf(NamedTuple):
    """The owner of a leaf row: a tensor, a variable's state, or a Python number. The leaf does not keep it alive.

    Attributes:
        tensor_ref: A weak reference to the tensor, or None for a Python number.
        variable_ref: A weak reference to the variable, if the tensor is its state, otherwise None.
        version: The number of assignments to the variable before this state.
        number: The Python number, or None for all other leaves.
        origin: Where the tensor came from (:mod:`minitape.engine.record.provenance`).
    """

    tensor_ref: ref[Tensor] | None = None
    variable_ref: ref[ResourceVariable] | None = None
    version: int = 0
    number: OptionalFloat = None
    origin: Origin = None

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, or None if it no longer exists or the leaf is a Python number."""
        return None if self.tensor_ref is None else self.tensor_ref()

    @property
    def variable(self) -> ResourceVariable | None:
        """The variable, or None if it no longer exists or the leaf is not the state of a variable."""
        return None if self.variable_ref is None else self.variable_ref()


@lru_cache(1024, typed=True)
def get_number_leaf(number: float) -> Leaf:
    """Return the leaf for a Python number. All recordings share it.

    Args:
        number: The number. Equal numbers of different types have different leaves.
    """
    return Leaf(number=number)


class Event(NamedTuple):
    """An assignment, an escape or a pause. Events do not have rows.

    Attributes:
        kind: The kind of event, such as "assign", "numpy" or "pause".
        row: The number of the next row at that time, as a time stamp.
        subject: The row, tensor, tape, or variable and version that the event concerns. May be None.
        site: (code, bytecode offset) of the user's statement, or None if it is unknown.
    """

    kind: str
    row: int
    subject: Subject
    site: tuple[CodeType, int] | None


def build_elementwise_call(row: int, code: int, a: int, b: int) -> Call:
    """Build a ``Call`` for an elementwise operation.

    The cells of such an operation contain everything that a ``Call`` would, so its row does not store one.

    Args:
        row: The row number.
        code: The code of the operation.
        a: The row of the first input.
        b: The row of the second input. Ignored if the operation has one input.

    Returns:
        A call with one output and no attributes.
    """
    primitive = BY_CODE[code - FIRST_CODE]
    inputs = (a, b) if primitive.is_binary else (a,)
    return Call(row, primitive, inputs, NO_ATTRS, 1)
