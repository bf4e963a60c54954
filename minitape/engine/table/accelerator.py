"""The interface between the engine and its accelerator, which is one object, `fast`.

The engine calls ``fast`` for everything that may have a faster form. An :class:`Accelerator` returns the plain forms.
If the folder :mod:`minitape.speed` exists, ``minitape/__init__.py`` installs a faster accelerator from it. All results
are the same with and without it.
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
    """The plain accelerator, which replaces nothing. :mod:`minitape.speed` overrides its methods.

    >>> plain = Accelerator()
    >>> plain.accumulate_adjoint(np.ones(2), np.ones(2))
    array([2., 2.])

    Attributes:
        large_size: The number of elements from which on an array counts as large.
    """

    def replace_record(self, plain: Decorated) -> Decorated:
        """Return the class of recordings, such as :class:`minitape.engine.record.record.Record`.

        Args:
            plain: The plain class.
        """
        return plain

    def replace_apply(self, plain: Decorated) -> Decorated:
        """Return the function that runs an operation, such as :func:`minitape.engine.tensor.operation.apply`.

        Args:
            plain: The plain function.
        """
        return plain

    def replace_run_sweep(self, plain: Decorated) -> Decorated:
        """Return the function that runs a sweep, such as :func:`minitape.engine.backward.sweep.run_sweep`.

        Args:
            plain: The plain function.
        """
        return plain

    def replace_rows(self, plain: Decorated) -> Decorated:
        """Return the class of the rows of a function, such as :class:`minitape.functions.row_program.Rows`.

        Args:
            plain: The plain class.
        """
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
        """Return the function to use for an operator, or for a function of tensors, of the table of derivatives.

        The plain accelerator ignores all options. :func:`minitape.speed.operators.build_operation_function` uses them.

        Args:
            plain: The function that handles all cases.
            primitive: The line of the table.
            name: The name of the function, such as "__mul__".
            reflected: Whether the operands are exchanged.
            signature: The parameters, if they are not just the operands.
            reads: Whether the first operand is a variable, whose state is read.
            inside: Whether a rule of a recorded sweep calls the function.
        """
        return plain

    large_size: float = math.inf

    def create_buffer(self, shape: Sizes, dtype: NumPyType) -> ndarray:
        """Create an array with arbitrary elements, which the caller overwrites.

        Args:
            shape: The sizes of its axes.
            dtype: The type of its elements.
        """
        return np.empty(shape, dtype)

    def accumulate_adjoint(self, total: Array, share: Array) -> Array:
        """Return the sum of two large adjoints.

        Args:
            total: The first adjoint. The caller does not need it any more, so its memory may be used for the sum.
            share: The second adjoint, of the same shape.
        """
        return total + share

    def compile_formula(self, text: str, names: str, plain: Function) -> Function:
        """Return a function that computes a formula for arrays of any size.

        Args:
            text: The formula.
            names: The variables that it may contain, one letter each, such as "gzxy".
            plain: The plain function of the formula, with these parameters.
        """
        return plain


fast = Accelerator()


def install_accelerator(accelerator: Accelerator) -> None:
    """Replace the plain accelerator. The rest of the engine must not be imported before.

    Args:
        accelerator: The accelerator that `fast` becomes.
    """
    global fast
    fast = accelerator


def create_filled_array(shape: Sizes, dtype: NumPyType | np.dtype, number: Array) -> ndarray:
    """Create an array whose elements are all equal, two to four times as fast as ``np.full`` and ``np.ones``.

    Args:
        shape: The sizes of its axes.
        dtype: The type of its elements.
        number: The value of each element.
    """
    array = np.empty(shape, dtype)
    array.fill(number)
    return array
