"""Define the tensor operators, such as ``a + b``, ``2 * a`` and ``a < b``.

Each operator first converts its other operand to a tensor, and then runs a primitive with
:func:`minitape.engine.tensor.operation.run_checked_binary`, which checks both operands. :mod:`minitape.speed.operators`
generates faster code for arithmetic on floats of the same dtype.
"""

from sys import _getframe

import numpy as np

from ..table.accelerator import fast
from ..table.primitives import TABLE, Primitive, special  # noqa: F401 - special fills the table
from ..types import Function, FunctionsByName, Result, Value
from ..values import dtypes
from ..values.argument_errors import build_argument_error
from ..values.errors import InvalidArgumentError
from .checked_operators import CHECKED_OPERATORS
from .conversion import cast_tensor, convert_operand_to_dtype, convert_to_tensor
from .numbers import convert_number_operand
from .operation import run_and_record, run_checked_binary
from .tensor import EagerTensor, Tensor, wrap_array_with_origin

# The names of the primitives, keyed by Python's name for the operator.
ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "pow",
    "floordiv": "floordiv",
    "mod": "mod",
}
_CHECKED = {"matmul": "matmul", "and": "logical_and", "or": "logical_or", "xor": "logical_xor"}
_COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def _convert_other_operand(a: Tensor, b: Value, strict: bool = True) -> Result:
    """Convert the other operand of an operator to a tensor.

    Args:
        a: The tensor whose operator runs.
        b: The other operand.
        strict: See :func:`~minitape.engine.tensor.conversion.convert_operand_to_dtype`.

    Returns:
        A tensor, or NotImplemented for a graph tensor, which has separate operators.
    """
    kind = type(b)
    if kind is float or kind is int:
        b = convert_number_operand(a, b)
    if isinstance(b, Tensor):
        return b if type(b) is EagerTensor else NotImplemented
    if hasattr(b, "_read_and_watch"):
        current: Tensor = b._read_and_watch()
        return current
    return convert_operand_to_dtype(b, a.dtype, strict)


def _multiply_as_ints_to_bool(primitive: Primitive, a: Value, b: Value) -> Result:
    """Multiply two operands as int32 and cast the product to bool. TensorFlow does the same if an operand is a bool."""
    if isinstance(b, Tensor) and type(b) is not EagerTensor:
        return NotImplemented
    x, y = (cast_tensor(convert_to_tensor(operand), dtypes.int32) for operand in (a, b))
    return cast_tensor(run_checked_binary(primitive, x, y), dtypes.bool)


def _build_operator_pair(name: str, primitive: Primitive) -> tuple[Function, Function]:
    """Build an operator and its reflected operator, such as ``__mul__`` and ``__rmul__``.

    Python calls the first function for ``a * b`` if ``a`` is a tensor. If only the right operand is a tensor, Python
    calls the second function. For example, ``2.0 * a`` becomes ``a.__rmul__(2.0)``.

    Args:
        name: Python's name for the operator, such as "mul".
        primitive: The primitive that the operator runs.

    Returns:
        Both functions. Their second parameter accepts any type.
    """
    run_operator = CHECKED_OPERATORS.get(name, run_checked_binary)
    strict = name not in ("add", "truediv", "matmul")
    multiplies = name == "mul"

    def apply_direct(a: Tensor, b: Value) -> Result:
        # NumPy's dtype character for booleans is "?".
        if multiplies and "?" in (a._value.dtype.char, b._value.dtype.char if type(b) is EagerTensor else ""):
            return _multiply_as_ints_to_bool(primitive, a, b)
        if type(b) is not EagerTensor:
            try:
                b = _convert_other_operand(a, b, strict)
            except (TypeError, ValueError):
                # The class of the operand may define the reflected operator.
                if hasattr(b, f"__r{name}__") and not isinstance(b, (int, float, np.ndarray, np.generic)):
                    return NotImplemented
                raise
            if b is NotImplemented:
                return b
        return run_operator(primitive, a, b)

    def apply_reflected(a: Tensor, b: Value) -> Result:
        if type(b) is float or type(b) is int:
            b = convert_number_operand(a, b)
        b = b if isinstance(b, Tensor) else convert_to_tensor(b, a.dtype)
        if multiplies and a._value.dtype.char == "?":
            return _multiply_as_ints_to_bool(primitive, b, a)
        return run_operator(primitive, b, a)

    return apply_direct, apply_reflected


def _build_comparison(primitive: Primitive) -> Function:
    return lambda a, b: run_checked_binary(primitive, a, _convert_other_operand(a, b))


def _build_equality(primitive: Primitive, result_if_unlike: bool) -> Function:
    """Build ``==`` or ``!=``.

    If the other operand is None or the shapes do not broadcast, the operator returns ``result_if_unlike``.
    """

    def compare_equal(a: Tensor, b: Value) -> Result:
        if b is None:
            return result_if_unlike
        try:
            return run_checked_binary(primitive, a, _convert_other_operand(a, b))
        except InvalidArgumentError as error:
            if "Incompatible shapes" in str(error):
                return wrap_array_with_origin(np.bool_(result_if_unlike))
            raise

    return compare_equal


def _build_unary(names: dict[str, str]) -> Function:
    """Build a unary operator from the names of its primitives, keyed by the kind of NumPy's dtype."""

    def apply_unary(a: Tensor) -> Result:
        kind = a._value.dtype.kind
        if kind not in names:
            raise build_argument_error(
                f"This operator is not defined for {a.dtype.name}. Convert the tensor to another dtype first"
            )
        return run_and_record(TABLE[names[kind]], (a,), {}, _getframe(1))

    return apply_unary


def install_operators() -> None:
    """Add the operators to ``EagerTensor``. All primitives must have been declared beforehand."""
    operators_by_name: FunctionsByName = {
        "neg": fast.get_fast_operation_function(
            _build_unary(dict.fromkeys("ifc", "negative")), TABLE["negative"], "__neg__"
        ),
        "abs": _build_unary({"i": "abs", "f": "abs", "c": "complex_abs"}),
        "invert": _build_unary({"i": "bitwise_not", "u": "bitwise_not", "b": "logical_not"}),
        "eq": _build_equality(TABLE["equal"], False),
        "ne": _build_equality(TABLE["not_equal"], True),
    }
    for name, primitive in _COMPARISONS.items():
        operators_by_name[name] = _build_comparison(TABLE[primitive])
    for name, primitive in (ARITHMETIC | _CHECKED).items():
        table_line = TABLE[primitive]
        for label, general in zip((name, f"r{name}"), _build_operator_pair(name, table_line), strict=True):
            operators_by_name[label] = general
            if name in ARITHMETIC:
                operators_by_name[label] = fast.get_fast_operation_function(
                    general, table_line, f"__{label}__", reflected=label != name
                )
                operators_by_name[label].__doc__ = f"{table_line.texts[0]}, elementwise."
    for name, operator in operators_by_name.items():
        operator.__name__ = operator.__qualname__ = f"__{name}__"
        setattr(EagerTensor, operator.__name__, operator)
