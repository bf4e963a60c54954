"""Lanes: where a recording keeps the rows of arrays of one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .record import Record

_OF_LANES: dict[type, dict[tuple[int, ...], Any]] = {np.float32: {}, np.float64: {}}  # the same by shape
_NONE: dict[int, Any] = {}
_SPECS: dict[tuple[tuple[int, ...], Any], tuple[tuple[int, ...], Any]] = {}


def spec(shape: tuple[int, ...], dtype: Any) -> tuple[tuple[int, ...], Any]:
    """(shape, dtype) as one and the same tuple each time, so that recordings of one structure can be told by identity.

    None is ever forgotten: plans are kept under their identities.
    """
    key = (shape, dtype)
    return _SPECS.setdefault(key, key)


class Lane:
    """Where small arrays of one shape are recorded: to them what the recording is to its scalar rows.

    An elementwise operation on arrays of one lane is a row of four integers, computed when somebody looks, as an
    operation on scalars is. A lane outlives its recording only for tensors that are still held.
    """

    __slots__ = ("home", "shape", "dtype", "spec", "real", "constants", "kept", "was")

    def __init__(self, home: Record, shape: tuple[int, ...], real: type) -> None:
        self.home: Record | None = home
        known = _OF_LANES[real]
        self.spec = known.get(shape) or known.setdefault(shape, spec(shape, np.dtype(real)))
        self.shape, self.dtype = self.spec
        self.real = real
        self.constants = home.constants
        self.kept: dict[int, Any] = _NONE  # values of its rows, once the recording is released
        self.was: Any = None  # weak, from then on: the recording, for who asks where a value came from

    frame = None  # that of its recording counts: see minitape.operators.write
    tapes = property(lambda self: 0 if self.home is None else self.home.tapes)
    leaves = property(lambda self: {} if self.home is None else self.home.leaves)
    calls = property(lambda self: [] if self.home is None else self.home.calls)

    def append(self, op: int, a: int, b: int, site: int) -> int:
        """Writes a row of this lane and returns its number."""
        home: Record = self.home
        row = home.append(op, a, b, site)
        home.meta[row] = self.spec
        return row

    def value(self, row: int) -> Any:
        """The array of a row."""
        return self.kept[row] if self.home is None else self.home.value(row)


class Wide(Lane):
    """The rows of large arrays of one shape: computed when somebody looks, and held only as long as somebody needs them.

    Each has a tensor that has to be told of its value, so operators take their time for them.
    """

    __slots__ = ()

    def awaits(self, row: int) -> None:
        """Notes a row that was written: it is computed later, and its tensor is yet to be made."""
        home: Record = self.home
        home.wide[row], home.bulky = None, True
