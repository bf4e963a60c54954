"""Where a value came from, read from the note that hangs on a tensor (:mod:`minitape.engine.recording.evidence`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ..engine.recording.evidence import Note, Place, Stack, stack_of

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.tensor.tensor import Tensor


class ValueOrigin(NamedTuple):
    """Where a value came from; what is noted often are plain tuples of these fields, which :func:`read` reads.

    ``when`` orders origins and exits. ``kind`` is "op" (an operation outside any tape, ``detail`` its primitive),
    "made" (zeros, random numbers, results of a library function), "constant" (``detail`` the exit of the NumPy value it
    was made of, if known), "variable", "assign" or the like (``detail`` a weak reference to the variable), "gradient"
    (``detail`` a weak reference to the source), "value" (the values of ``inputs`` decided about it, as a mask's do;
    ``detail`` the operation), or "row" (a row of a recording that was released).
    """

    when: int
    kind: str
    place: Place
    # what it was computed from: of each a weak reference, then its origin; of a row (recording, row)
    values: tuple = ()
    detail: Any = None  # what the kind says
    depth: int = 0

    @property
    def stack(self) -> Stack:
        """The user's frames, innermost first."""
        return stack_of(self.place)

    @property
    def inputs(self) -> tuple[Ref, ...]:
        """The values it was computed from."""
        return tuple(_ref(*pair) for pair in zip(self.values[::2], self.values[1::2], strict=True))


def read(note: Note) -> ValueOrigin | None:
    """A note of origin as an :class:`ValueOrigin`."""
    return ValueOrigin(*note) if type(note) is tuple else note


def _ref(tensor: ref[Tensor], origin: Note) -> Ref:
    if type(origin) is tuple and len(origin) == 2:
        return Ref(tensor, None, ref(origin[0]), origin[1])
    return Ref(tensor, origin, None, -1)


def origin_of(tensor: Tensor) -> ValueOrigin | None:
    """Where a tensor came from, as far as it is noted on it."""
    return read(tensor._origin)


class Ref(NamedTuple):
    """A value that may be gone: the tensor if it still lives, its own origin, its place in a recording."""

    tensor: Callable[[], Tensor | None]  # weak
    origin: ValueOrigin | None
    record: ref[Record] | None
    row: int
