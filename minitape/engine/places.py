"""Places that a function is asked for: refused where they are outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .invalid import at_run, shown

if TYPE_CHECKING:
    from .typed import Array


def check_places(places: Array, size: int, op: str = "GatherV2") -> None:
    """Raises InvalidArgumentError unless all of ``places`` are in [0, size)."""
    wrong = np.flatnonzero((np.asarray(places) < 0) | (np.asarray(places) >= size))
    if wrong.size:
        at = np.unravel_index(wrong[0], np.shape(places))
        where = shown(map(int, at)) if at else ""
        raise at_run(f"indices{where} = {int(np.asarray(places)[at])} is not in [0, {size})", op)


def outside(places: Array, sizes: tuple[int | None, ...]) -> tuple[str, str] | None:
    """The first place in ``places`` (..., depth) outside of ``sizes``: where it stands and what it is, as text."""
    places = np.asarray(places)
    if not places.shape[-1]:
        return None
    wrong = np.any((places < 0) | (places >= np.array(sizes)), axis=-1)
    hits = np.flatnonzero(wrong)
    if not hits.size:
        return None
    at = np.unravel_index(hits[0], wrong.shape)
    return shown(map(int, at)) if at else "", "[" + ", ".join(str(int(i)) for i in places[at]) + "]"
