"""Run and record operations on tensors, after checking their operands."""

from collections.abc import Callable
from sys import _getframe

import numpy as np
from numpy import ndarray

from ..record.provenance import build_origin, find_user_place
from ..record.thread_state import state
from ..table.accelerator import fast
from ..table.float_warnings import ignore_fp_errors
from ..table.primitives import Primitive
from ..table.primitives.elementwise import select_formulas_for_value_kind
from ..types import Array, Attributes, OptionalFrame, Result, Value
from ..values.argument_errors import build_argument_error, build_dtype_error
from .conversion import convert_to_tensor
from .tensor import EagerTensor, Tensor, wrap_array


@fast.replace_by_fast_form
def run_and_record(
    primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Attributes, frame: OptionalFrame = None
) -> Result:
    """Run a primitive on tensors, and record it.

    Args:
        primitive: The operation.
        inputs: The operands, which must all be tensors with values.
        attrs: The attributes of the operation, keyed by the parameter names of its forward function.
        frame: The innermost frame that may belong to the user's statement. None means the caller's frame. A caller
            that already has this frame passes it to shorten the search.

    Returns:
        A tensor, or a tuple of tensors if the forward function returns several arrays.

    Raises:
        TypeError: If an input is not an ``EagerTensor``, such as a TensorFlow 1 placeholder.
    """
    if [*map(type, inputs)].count(EagerTensor) < len(inputs):
        raise TypeError(
            f"{primitive.op} needs tensors with values, but one of these tensors still waits for a session: {inputs}"
        )
    arrays = [t._value for t in inputs]
    forward = primitive.forward
    if primitive.code:
        forward = select_formulas_for_value_kind(primitive.code, find_type_deciding_operand(arrays)).forward
    out = ignore_fp_errors().run(forward, *arrays, **attrs)
    has_several = type(out) is tuple
    tensors = tuple(map(wrap_array, out if has_several else (out,)))
    record_operation(primitive, inputs, attrs, tensors, frame or _getframe(1))
    return tensors if has_several else tensors[0]


def find_type_deciding_operand(arrays: list[Array]) -> Array:
    """Return the operand that determines the result type of an elementwise operation.

    If both operands are arrays, the larger one decides, or the second one if both have the same size. If only one
    operand is an array, this array decides. If both are NumPy scalars, the first operand decides.

    Args:
        arrays: The arrays or scalars of the operands.
    """
    x = arrays[0]
    y = arrays[-1]
    return x if type(y) is not ndarray or (type(x) is ndarray and x.size > y.size) else y


def record_operation(
    primitive: Primitive,
    inputs: tuple[Tensor, ...],
    attrs: Attributes,
    outputs: tuple[EagerTensor, ...],
    frame: OptionalFrame = None,
) -> None:
    """Record an operation that has just computed its outputs.

    If a recording is open, the operation appends its rows there. Otherwise, each output stores its origin for
    ``explain``.

    Args:
        primitive: The operation.
        inputs: The operands.
        attrs: The attributes of the operation.
        outputs: The results.
        frame: The innermost frame that may belong to the user's statement. None means the caller's frame.
    """
    record = state.record
    if record is not None:
        record.write_rows(primitive, inputs, attrs, outputs, frame)
        return
    origin = build_origin("op", inputs, primitive, find_user_place(frame or _getframe(1)))
    for tensor in outputs:
        tensor._origin = origin


# -- operands --------------------------------------------------------------------------------------


def _convert_inputs_and_run(
    tensor: Tensor, primitive: Primitive, inputs: tuple[Value, ...], attrs: Attributes
) -> Result:
    """Run a primitive that was called with tensors.

    This is a tensor method because the table of primitives cannot import this module.

    Args:
        tensor: The first tensor among the inputs.
        primitive: The operation.
        inputs: The operands. Variables, arrays and Python values are converted to tensors with the dtype of `tensor`.
        attrs: The attributes of the operation.

    Returns:
        A tensor, or a tuple of tensors if the primitive has several outputs.
    """
    if set(map(type, inputs)) != {EagerTensor}:
        inputs = tuple([x if isinstance(x, Tensor) else convert_to_tensor(x, tensor.dtype) for x in inputs])
    return run_and_record(primitive, inputs, attrs)


Tensor._convert_inputs_and_run = _convert_inputs_and_run  # type: ignore[attr-defined]


def check_broadcast(op: str, x: Tensor, y: Tensor) -> None:
    """Raise InvalidArgumentError if two shapes do not broadcast.

    Args:
        op: TensorFlow's kernel name for the operation, used in the message.
        x: The first operand.
        y: The second operand.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.
    """
    try:
        np.broadcast_shapes(x.dims, y.dims)
    except ValueError:
        first_shape, second_shape = (str(list(t.dims)).replace(" ", "") for t in (x, y))
        raise build_argument_error(f"Incompatible shapes: {first_shape} vs. {second_shape}", op) from None


def run_checked_binary(primitive: Primitive, x: Tensor, y: Tensor) -> Tensor:
    """Run an elementwise operation on two tensors, after the same checks as in TensorFlow.

    Args:
        primitive: The operation.
        x: The first operand.
        y: The second operand, which broadcasts with the first.

    Returns:
        The result, a tensor.

    Raises:
        InvalidArgumentError: If the dtypes differ, the shapes do not broadcast, or a check in ``OPERAND_CHECKS`` fails.
    """
    if type(x) is EagerTensor and type(y) is EagerTensor:
        dtype = x.dtype
        first_dims = x.dims
        second_dims = y.dims
        if dtype is not y.dtype:
            raise build_dtype_error(primitive.op, dtype.kernel_name, y.dtype)
        # Equal shapes, a bias and a scalar always broadcast, so they need no check.
        if second_dims != first_dims[len(first_dims) - len(second_dims) :] and first_dims:
            check_broadcast(primitive.op, x, y)
        if primitive.op in OPERAND_CHECKS:
            OPERAND_CHECKS[primitive.op](primitive, x, y)
    return run_and_record(primitive, (x, y), {})


def _check_numbers(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    kind = x.dtype.kind
    if kind == "b" or (kind == "s" and primitive.op != "AddV2"):
        raise build_argument_error("Bools and strings are not numbers. Convert them to numbers first", primitive.op)


def _check_ordered(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _check_numbers(primitive, x, y)
    if x.dtype.is_complex:
        raise build_argument_error(
            "Complex numbers have no order. Compare their tf.abs or tf.math.real instead", primitive.op
        )


def _check_zero_division(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _check_ordered(primitive, x, y)
    if x.dtype.is_integer and not np.all(y._value):
        raise build_argument_error("Integer division by zero", primitive.op)


def _check_negative_power(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _check_numbers(primitive, x, y)
    if x.dtype.kind == "u":
        raise build_argument_error("Powers of unsigned integers are not defined. Use tf.cast first", primitive.op)
    if x.dtype.is_integer and np.any(y._value < 0):
        raise build_argument_error("Integers to negative integer powers are not allowed", primitive.op)


# The checks that run before operations, keyed by TensorFlow's kernel name. Other modules add further checks.
OPERAND_CHECKS: dict[str, Callable[[Primitive, Tensor, Tensor], None]] = {
    **dict.fromkeys(["AddV2", "Sub", "Mul"], _check_numbers),
    **dict.fromkeys(["Less", "LessEqual", "Greater", "GreaterEqual"], _check_ordered),
    "FloorDiv": _check_zero_division,
    "FloorMod": _check_zero_division,
    "Pow": _check_negative_power,
}
