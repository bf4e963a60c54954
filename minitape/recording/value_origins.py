"""Where a value came from, read from the note that hangs on a tensor (:mod:`minitape.engine.record.provenance`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ..engine.record.provenance import Note, Place, Stack, place_to_stack

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.tensor.tensor import Tensor


class ValueOrigin(NamedTuple):
    """Where a value came from; what is noted often are plain tuples of these fields, which
    :func:`convert_note_to_origin` reads.

    ``clock`` orders origins and escapes. ``kind`` is "op" (an operation outside any tape, ``detail`` its primitive),
    "made" (zeros, random numbers, results of a library function), "constant" (``detail`` the escape of the NumPy value
    it was made of, if known), "variable", "assign" or the like (``detail`` a weak reference to the variable),
    "gradient" (``detail`` a weak reference to the source), "value" (the values of ``inputs`` decided about it, as a
    mask's do; ``detail`` the operation), or "row" (a row of a recording that was released).
    """

    clock: int
    kind: str
    place: Place
    # what it was computed from: of each a weak reference, then its origin; of a row (recording, row)
    packed_inputs: tuple = ()
    detail: Any = None  # what the kind says
    depth: int = 0

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return place_to_stack(self.place)

    @property
    def inputs(self) -> tuple[ValueRef, ...]:
        """The values it was computed from."""
        return tuple(
            _build_value_ref(*pair) for pair in zip(self.packed_inputs[::2], self.packed_inputs[1::2], strict=True)
        )


def convert_note_to_origin(note: Note) -> ValueOrigin | None:
    """Convert a note of origin, which may be a plain tuple, to a :class:`ValueOrigin`."""
    return ValueOrigin(*note) if type(note) is tuple else note


def _build_value_ref(tensor_ref: ref[Tensor], origin_note: Note) -> ValueRef:
    if type(origin_note) is tuple and len(origin_note) == 2:
        return ValueRef(tensor_ref, None, ref(origin_note[0]), origin_note[1])
    return ValueRef(tensor_ref, origin_note, None, -1)


def find_origin(tensor: Tensor) -> ValueOrigin | None:
    """Where a tensor came from, as far as it is noted on it."""
    return convert_note_to_origin(tensor._origin)


class ValueRef(NamedTuple):
    """A value that may be gone: the tensor if it still lives, its own origin, its place in a recording."""

    tensor: Callable[[], Tensor | None]  # weak
    origin: ValueOrigin | None
    record: ref[Record] | None
    row: int
