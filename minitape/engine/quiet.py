"""Floating point warnings off, for the time of one operation: tensors hold inf and nan without a word.

``numpy.errstate`` does the same in 0.7 us; an operation on a small array takes less than that. NumPy keeps the setting in
a context variable, which is set and reset here directly (0.1 us); where a NumPy does not have it, ``numpy.seterr`` serves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .typed import Object

hush: Callable[[], object]  # switches warnings off and returns what ``restore`` needs
restore: Callable[[Object], object]

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    hush = partial(_extobj_contextvar.set, _make_extobj(all="ignore"))
    restore = _extobj_contextvar.reset
except ImportError:
    hush = partial(np.seterr, all="ignore")

    def restore(before: Object) -> None:
        """Puts the former setting back."""
        np.seterr(**before)
