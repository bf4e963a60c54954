"""Define the interface between the engine and its accelerator, the object `fast`.

The engine asks ``fast`` for every function or class that may have a faster form. An :class:`Accelerator` returns the
plain forms. If the package :mod:`minitape.speed` exists, ``minitape/__init__.py`` installs its accelerator, which
returns faster forms. The results are the same with and without it.
"""

from math import inf

import numpy as np
from numpy import ndarray

from ..types import Array, Decorated, Function, NumPyType, Sizes
from .primitives import Primitive


class Accelerator:
    """The plain accelerator, which does not replace anything. :mod:`minitape.speed` overrides its methods.

    >>> plain = Accelerator()
    >>> plain.add_share_to_large_adjoint(np.ones(2), np.ones(2))
    array([2., 2.])

    Attributes:
        large_size: Arrays with at least this many elements are considered large.
    """

    def replace_by_fast_form(self, plain: Decorated) -> Decorated:
        """Return the function or class to use in place of a plain one. By default, this is `plain` itself.

        :class:`minitape.engine.record.record.Record`, :func:`minitape.engine.tensor.operation.run_and_record`,
        :func:`minitape.engine.backward.sweep.run_sweep`, :class:`minitape.functions.row_program.RowEvaluator` and
        :func:`minitape.tf.keras.update_variables` are decorated with this method.

        Args:
            plain: The plain function or class.
        """
        return plain

    def get_fast_operation_function(
        self,
        plain: Function,
        primitive: Primitive,
        name: str,
        reflected: bool = False,
        signature: str = "",
        reads: bool = False,
        inside: bool = False,
    ) -> Function:
        """Return the function to use for an operator, or for a public function that runs a line of the table.

        The plain accelerator returns ``plain`` and ignores all other arguments.

        Args:
            plain: The function that handles all cases.
            primitive: The primitive that the function runs.
            name: The name of the function, such as "__mul__".
            reflected: Whether the operands are swapped.
            signature: The parameters, if the function has others besides its operands.
            reads: Whether the function is an operator of ``tf.Variable``. The fast form then starts by reading
                the variable's state.
            inside: Whether the rules of a recorded sweep call the function. The fast form then takes the site of its
                row from ``Record.fixed_offset`` instead of searching for the user's frame.
        """
        return plain

    large_size: float = inf

    def create_uninitialized_array(self, shape: Sizes, dtype: NumPyType) -> ndarray:
        """Create an array with arbitrary elements. The caller will overwrite the elements.

        Args:
            shape: The sizes of the axes.
            dtype: The type of the elements.
        """
        return np.empty(shape, dtype)

    def add_share_to_large_adjoint(self, total: Array, share: Array) -> Array:
        """Return the sum of two large adjoints.

        Args:
            total: The first adjoint. The caller no longer needs it, so its memory may be reused for the sum.
            share: The second adjoint, of the same shape.
        """
        return total + share

    def compile_formula_for_large_arrays(self, text: str, names: str, plain: Function) -> Function:
        """Return the function to use for a formula on large arrays.

        Args:
            text: The formula.
            names: The variables that the formula may contain, one letter each, such as "gzxy".
            plain: The plain function for the formula, with these parameters.
        """
        return plain


fast = Accelerator()


def install_accelerator(accelerator: Accelerator) -> None:
    """Replace the plain accelerator. This must happen before the rest of the engine is imported.

    Args:
        accelerator: The new value of `fast`.
    """
    global fast
    fast = accelerator


def create_filled_array(shape: Sizes, dtype: NumPyType | np.dtype, fill_value: Array) -> ndarray:
    """Create an array whose elements are all equal, two to four times as fast as ``np.full`` and ``np.ones``.

    Args:
        shape: The sizes of its axes.
        dtype: The type of its elements.
        fill_value: The value of all elements, a Python number or a NumPy scalar.
    """
    array = np.empty(shape, dtype)
    array.fill(fill_value)
    return array
