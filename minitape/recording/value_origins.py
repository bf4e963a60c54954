"""Read the origin that a tensor stores (:mod:`minitape.engine.record.provenance`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from typing import Any, NamedTuple
from weakref import ref

from ..engine.record.provenance import Origin, Place, Stack, convert_place_to_stack
from ..engine.record.record import Record
from ..engine.tensor.tensor import Tensor


class ValueOrigin(NamedTuple):
    """The operation or event that produced a value.

    To save time, the engine stores these fields in plain tuples, and :func:`to_value_origin` converts them.

    The kinds are:

    * "op": an operation outside any tape. `detail` is its primitive.
    * "made": zeros, random numbers, or results of a library function.
    * "constant": a value from NumPy. `detail` is the escape of that value, if it is known.
    * "variable", "assign" and similar kinds: the state of a variable. `detail` is a weak reference to the variable.
    * "gradient": the result of a gradient call. `detail` is a weak reference to the source.
    * "value": a value determined by the values of `inputs`, such as a mask. `detail` is the name of the operation.
    * "row": a row of a recording that was released.

    Attributes:
        clock: The time of the operation or event. Origins and escapes are ordered by their times.
        kind: The kind of origin.
        place: The user's frames in packed form.
        packed_inputs: For each input of the computation, a weak reference to the tensor, and the tensor's origin. For a
            row, a (recording, row) pair takes the place of the origin.
        detail: A kind-specific detail.
        depth: The length of the chain of earlier origins.
    """

    clock: int
    kind: str
    place: Place
    packed_inputs: tuple = ()
    detail: Any = None
    depth: int = 0

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return convert_place_to_stack(self.place)

    @property
    def inputs(self) -> tuple[ValueRef, ...]:
        """The values from which this value was computed."""
        return tuple(starmap(_build_value_ref, zip(self.packed_inputs[::2], self.packed_inputs[1::2], strict=True)))


def to_value_origin(origin: Origin) -> ValueOrigin | None:
    """Return an origin as a :class:`ValueOrigin`. None is returned unchanged.

    Args:
        origin: A ValueOrigin, a plain tuple of its fields, or None.
    """
    return ValueOrigin(*origin) if type(origin) is tuple else origin


def _build_value_ref(tensor_ref: ref[Tensor], origin: Origin) -> ValueRef:
    if type(origin) is tuple and len(origin) == 2:
        return ValueRef(tensor_ref, None, ref(origin[0]), origin[1])
    return ValueRef(tensor_ref, origin, None, -1)


def find_origin(tensor: Tensor) -> ValueOrigin | None:
    """Return the origin that a tensor stores, or None if it has none.

    Args:
        tensor: The tensor.
    """
    return to_value_origin(tensor._origin)


class ValueRef(NamedTuple):
    """A reference to a value that may no longer exist.

    Attributes:
        tensor: A weak reference to the tensor.
        origin: The origin of the value, or None if it is a row of a recording.
        record: A weak reference to the recording, or None if the value is not a row.
        row: The row in that recording, or -1 for other values.
    """

    tensor: Callable[[], Tensor | None]
    origin: ValueOrigin | None
    record: ref[Record] | None
    row: int
