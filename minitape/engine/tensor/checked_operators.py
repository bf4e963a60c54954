"""Define the operators that first check the dtypes or shapes of their operands, such as division."""

from sys import _getframe

from ..hooks import hooks
from ..table.primitives import TABLE, Primitive
from ..types import FunctionsByName, Value
from ..values import dtypes
from ..values.argument_errors import build_argument_error
from .operation import run_and_record, run_checked_binary
from .tensor import EagerTensor, Tensor


def promote_quotient_operands(a: Tensor, b: Tensor, op: str = "__truediv__") -> tuple[Tensor, Tensor]:
    """Convert the operands of ``/`` to the dtype of the quotient.

    Integers are divided as floats. The quotient of 8-bit and 16-bit integers is float32, and the quotient of larger
    integers is float64.

    Args:
        a: The dividend.
        b: The divisor.
        op: The name of the function or operator, used in the error message.

    Returns:
        Both operands, cast if they are integers, otherwise unchanged.

    Raises:
        TypeError: If the dtypes differ or are not numeric.
    """
    if a.dtype is not b.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {a.dtype!r} != {b.dtype!r}.")
    if a.dtype.is_integer:
        float_dtype = dtypes.float32 if a.dtype.size <= 2 else dtypes.float64
        cast = TABLE["cast"]
        return cast(a, dtype=float_dtype), cast(b, dtype=float_dtype)
    if a.dtype.kind in "bs":
        raise TypeError(f"Invalid dtype {a.dtype!r} in {op}: expected numbers.")
    return a, b


def _divide_tensors(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    return run_checked_binary(primitive, *promote_quotient_operands(a, b))


def is_multipliable_matrix_pair(a: Value, b: Value) -> bool:
    """Return whether two operands are matrices that can be multiplied without further checks.

    Args:
        a: The first operand, of any type.
        b: The second operand, of any type.

    Returns:
        True if both are tensors of the same native dtype of numbers, of shapes (n, k) and (k, m).
    """
    if type(a) is not EagerTensor or type(b) is not EagerTensor:
        return False
    x = a._value
    y = b._value
    return x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] and x.dtype is y.dtype and x.dtype.kind in "fci"


def _multiply_matrices(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    return (
        run_and_record(primitive, (a, b), {}, _getframe(2)) if is_multipliable_matrix_pair(a, b) else hooks.matmul(a, b)
    )


def _apply_logical_or_bitwise(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    """Combine bools logically, or integers bit by bit.

    Raises:
        InvalidArgumentError: If the operands have any other dtype.
    """
    if a.dtype.kind not in "biu":
        raise build_argument_error(f"&, | and ^ take bools or integers, not {a.dtype.name}. For a power, write x ** 2")
    return run_checked_binary(
        primitive if a.dtype.kind == "b" else TABLE[primitive.name.replace("logical", "bitwise")], a, b
    )


# The functions that replace `run_checked_binary`, keyed by Python's name for the operator.
CHECKED_OPERATORS: FunctionsByName = {
    "truediv": _divide_tensors,
    "matmul": _multiply_matrices,
    "and": _apply_logical_or_bitwise,
    "or": _apply_logical_or_bitwise,
    "xor": _apply_logical_or_bitwise,
}
