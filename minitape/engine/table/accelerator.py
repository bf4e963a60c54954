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
    from ..types import Array, Decorated, Function, NumPyType, Sizes
    from .primitives import Primitive


class Accelerator:
    """The plain form.

    >>> plain = Accelerator()
    >>> plain.accumulate_adjoint(np.ones(2), np.ones(2))
    array([2., 2.])
    """

    def replace_record(self, plain: Decorated) -> Decorated:
        """Return the class of recordings, see :class:`minitape.engine.record.record.Record`."""
        return plain

    def replace_apply(self, plain: Decorated) -> Decorated:
        """Return the function that runs an operation, see :func:`minitape.engine.tensor.operation.apply`."""
        return plain

    def replace_run_sweep(self, plain: Decorated) -> Decorated:
        """Return the function that runs a sweep, see :func:`minitape.engine.backward.sweep.run_sweep`."""
        return plain

    def replace_rows(self, plain: Decorated) -> Decorated:
        """Return the class of the rows of a function, see :class:`minitape.functions.row_program.Rows`."""
        return plain

    def register_function(
        self,
        plain: Function,
        primitive: Primitive,
        name: str,
        reflected: bool = False,
        signature: str = "",
        reads: bool = False,
        inside: bool = False,
    ) -> Function:
        """Return the function in place of ``plain``, an operator or a function of tensors that is a line of the table
        of derivatives; for the options see :func:`minitape.speed.operators.build_operation_function`.
        """
        return plain

    large_size: float = math.inf  # elements from which on an array is large

    def create_buffer(self, shape: Sizes, dtype: NumPyType) -> ndarray:
        """Create an array whose elements are all written next."""
        return np.empty(shape, dtype)

    def accumulate_adjoint(self, total: Array, share: Array) -> Array:
        """Return the sum of two large adjoints, of which the first one is no longer needed."""
        return total + share

    def compile_formula(self, text: str, names: str, plain: Function) -> Function:
        """Return the function ``plain`` of arguments ``names``, which computes this formula, also for large arrays."""
        return plain


fast = Accelerator()


def install_accelerator(accelerator: Accelerator) -> None:
    """Put an accelerator in the place of the plain one; before the engine is imported."""
    global fast
    fast = accelerator


def create_filled_array(shape: Sizes, dtype: NumPyType | np.dtype, number: Array) -> ndarray:
    """Create an array of one number; ``np.full`` and ``np.ones`` take two to four times as long."""
    array = np.empty(shape, dtype)
    array.fill(number)
    return array
