"""The accelerator of the engine, behind one object, `fast`; without it all answers stay the same.

The engine asks ``fast`` for the few things below. An :class:`Accelerator` does nothing clever; :mod:`minitape.speed`,
where that folder is there, puts its own in the place (see ``minitape/__init__.py``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from ..types import Array, Function, NumPyType, Object, Sizes


class Accelerator:
    """The plain form.

    >>> plain = Accelerator()
    >>> plain.accumulate(np.ones(2), np.ones(2))
    array([2., 2.])
    """

    def record(self, plain: Object) -> Object:
        """The class of recordings, see :class:`minitape.engine.recording.record.Record`."""
        return plain

    def apply(self, plain: Object) -> Object:
        """The function that runs an operation, see :func:`minitape.engine.tensor.operation.apply`."""
        return plain

    def run_sweep(self, plain: Object) -> Object:
        """The function that runs a sweep, see :func:`minitape.engine.back.sweep.run_sweep`."""
        return plain

    def rows(self, plain: Object) -> Object:
        """The class of the rows of a function, see :class:`minitape.functions.program.Rows`."""
        return plain

    def function(self, plain: Function, primitive: Object, name: str, **how: Object) -> Function:
        """The function in place of ``plain``, an operator or a function of tensors that is a line of the table of
        derivatives.
        """
        return plain

    large: float = math.inf  # elements from which on an array is large

    def buffer(self, shape: Sizes, dtype: NumPyType) -> ndarray:
        """An array whose elements are all written next."""
        return np.empty(shape, dtype)

    def accumulate(self, total: Array, share: Array) -> Array:
        """The sum of two large adjoints, of which the first one is no longer needed."""
        return total + share

    def by_formula(self, text: str, names: str, plain: Function) -> Function:
        """The function ``plain`` of arguments ``names``, which computes this formula, also for large arrays."""
        return plain


fast = Accelerator()


def install(accelerator: Accelerator) -> None:
    """Puts an accelerator in the place of the plain one; before the engine is imported."""
    global fast
    fast = accelerator


def full(shape: Sizes, dtype: NumPyType | np.dtype, number: Array) -> ndarray:
    """An array of one number; ``np.full`` and ``np.ones`` take two to four times as long."""
    out = np.empty(shape, dtype)
    out.fill(number)
    return out
