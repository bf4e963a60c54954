"""Provide faster versions of engine functions. Without this folder, minitape produces the same results more slowly.

Recording operations:

* ``operators`` generates operators and functions from the table of derivatives.
* ``operation`` runs all other operations.
* ``packed_rows`` stores the rows of long recordings compactly.

Backward sweeps:

* ``fast_sweeps`` sweeps over scalars, arrays and calls.
* ``long_sweep`` sweeps over long tapes of scalars with compiled ``kernels``. ``kernel_source`` writes the source that
  numba compiles.
* ``array_blocks`` computes functions of large arrays block by block and reuses memory.

Rows of a ``tf.function``:

* ``compiled_rows`` compiles them into one Python function.
* ``fusion`` and ``loop_detection`` compile frequently computed rows into loops with numba.
* ``blockwise`` computes several operations on large arrays together, with NumPy and compiled loops.

Training: ``variable_updates`` updates all variables of an optimizer's step together.

Compiling: ``compilation``, ``machine_code`` and ``code_cache`` compile each function once and store its machine code.
"""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from ..engine.table.accelerator import Accelerator
from ..engine.table.primitives import Primitive
from ..engine.types import Attributes, Function
from . import array_blocks

# Maps each plain function or class to the module whose function ``build_fast_form`` builds the fast form.
_FAST_MODULES = {
    "Record": "packed_rows",
    "run_and_record": "operation",
    "run_sweep": "fast_sweeps",
    "RowEvaluator": "compiled_rows",
    "update_variables": "variable_updates",
}


class FormPair(NamedTuple):
    """One of the engine's functions or classes and its replacement.

    Attributes:
        plain: The engine's function or class.
        fast: The fast form, which returns the same results.
    """

    plain: Any
    fast: Any


class FastFunction(NamedTuple):
    """The plain and fast forms of an operator or function from the table of derivatives.

    Attributes:
        primitive: The primitive that the function computes.
        plain: The engine's function.
        fast: The generated function.
        options: The keyword arguments of :func:`minitape.speed.operators.build_operation_function`.
    """

    primitive: Any
    plain: Any
    fast: Any
    options: Attributes


class Speed(Accelerator):
    """The accelerator that installs the fast forms in the engine.

    Attributes:
        large_size: Arrays with at least this many elements are considered large.
        create_uninitialized_array: See :func:`minitape.speed.array_blocks.create_uninitialized_array`.
        add_share_to_large_adjoint: See :func:`minitape.speed.array_blocks.add_share_to_large_adjoint`.
        compile_formula_for_large_arrays: See :func:`minitape.speed.array_blocks.compile_formula_for_large_arrays`.
        pairs: The replaced functions and classes, keyed by name.
        functions: The generated functions, in the order in which they were built.
    """

    large_size = array_blocks.LARGE
    create_uninitialized_array = staticmethod(array_blocks.create_uninitialized_array)
    add_share_to_large_adjoint = staticmethod(array_blocks.add_share_to_large_adjoint)
    compile_formula_for_large_arrays = staticmethod(array_blocks.compile_formula_for_large_arrays)

    def __init__(self) -> None:
        """Create an accelerator that has not replaced anything yet."""
        self.pairs: dict[str, FormPair] = {}
        self.functions: list[FastFunction] = []

    def replace_by_fast_form(self, plain: Any) -> Any:
        """Build the fast form of one of the engine's functions or classes.

        The function ``build_fast_form`` in one of this package's modules builds the fast form.

        Args:
            plain: The function or class to replace. Its name must be in ``_FAST_MODULES``.

        Returns:
            The fast form. Both forms are also stored in ``pairs``.
        """
        name = plain.__name__
        fast_form = _import_speed_module(_FAST_MODULES[name]).build_fast_form(plain)
        self.pairs[name] = FormPair(plain, fast_form)
        return fast_form

    def get_fast_operation_function(
        self,
        plain: Any,
        primitive: Primitive,
        name: str,
        reflected: bool = False,
        signature: str = "",
        reads: bool = False,
        inside: bool = False,
    ) -> Function:
        """Generate the fast form of an operator or function from the table of derivatives.

        Args:
            plain: The engine's function, which handles all unusual operands.
            primitive: The primitive that the function computes.
            name: The name of the generated function.
            reflected: Whether the operands are swapped, as in ``__rsub__``.
            signature: The parameters of the generated function, such as "x, y, name=None".
            reads: Whether the function is an operator of ``tf.Variable``, whose first operand is a variable.
            inside: Whether the rules of a recorded sweep call the function. If so, its rows have the sweep's fixed
                site.

        Returns:
            The generated function (:func:`minitape.speed.operators.build_operation_function`).
        """
        options = {"reflected": reflected, "signature": signature, "reads": reads, "inside": inside}
        fast_function = _import_speed_module("operators").build_operation_function(plain, primitive, name, **options)
        self.functions.append(FastFunction(primitive, plain, fast_function, options))
        return fast_function


@cache
def _import_speed_module(module_name: str) -> ModuleType:
    """Import one of this package's modules on first use."""
    return import_module(f"{__name__}.{module_name}")
