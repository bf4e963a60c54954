"""Floating point warnings off, for the time of one operation: tensors hold inf and nan without a word.

    before = WARNINGS[OFF]
    try:
        ...
    finally:
        restore(before)

``numpy.errstate`` does the same in 0.7 us; an operation on a small array takes less than that. NumPy keeps the setting in
a context variable, which is set and reset here directly (0.1 us); where a NumPy does not have it, ``numpy.seterr`` serves.

It is an index, not a call: after a call Python looks whether somebody pressed Ctrl-C, and warnings would stay off when that comes
before the ``try``. After an index it does not look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..typed import Object

OFF: Object
restore: Callable[[Object], object]  # puts the former setting back

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    OFF, change, restore = _make_extobj(all="ignore"), _extobj_contextvar.set, _extobj_contextvar.reset
except ImportError:
    OFF = dict.fromkeys(np.geterr(), "ignore")

    def change(setting: Object) -> Object:
        """Sets NumPy's warnings, and returns how they were."""
        return np.seterr(**setting)

    restore = change


class _Warnings:
    """``WARNINGS[OFF]`` switches warnings off and returns what ``restore`` needs."""

    __slots__ = ()
    __getitem__ = staticmethod(change)


WARNINGS = _Warnings()
