"""Convert the arguments of public functions.

Values become tensors, and sizes, axes and positions become integers. In ``minitape/tf`` a *tensor-like value* is
anything that ``tf.convert_to_tensor`` accepts: a tensor, a variable, an array, a number, a string, or nested lists of
them.
"""

from __future__ import annotations

import numpy as np

from ..engine.record.provenance import log_use_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.types import LIST_OR_TUPLE, DTypeLike, Object, Result, ShapeLike, Sizes, Tensors, Value
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.shape import TensorShape

_KIND_NAMES = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "", "b": "bools", "s": "strings"}


def to_tensor(x: Value, default_dtype: DTypeLike = None) -> Tensor:
    """Return a value as a tensor.

    Args:
        x: A tensor-like value. If it is a variable, the tensor is its current value.
        default_dtype: The dtype for Python values and arrays. Tensors and variables keep their dtype.

    Returns:
        ``x`` itself if it is an eager tensor, otherwise a new tensor.

    Raises:
        TypeError: If ``x`` is a TensorFlow 1 graph tensor, which has no value yet, or if a Python value cannot be
            represented in the dtype.
        ValueError: If ``x`` cannot be converted to a tensor.
    """
    if type(x) is EagerTensor:
        return x
    if isinstance(x, Tensor):
        raise TypeError(f"{x} has no value here, because no session has run it")
    if hasattr(x, "_read_and_watch"):
        return x._read_and_watch()
    return convert_to_tensor(x, default_dtype)


def is_tensor_like(x: Value) -> bool:
    """Return whether an object is a tensor or a variable, so that its dtype is fixed.

    Args:
        x: Any object.

    Returns:
        True for tensors and variables, and False for Python values and arrays, which adopt the other operand's dtype.
    """
    return isinstance(x, Tensor) or hasattr(x, "_read_and_watch")


def convert_to_one_dtype(*values: Value) -> Tensors:
    """Convert operands to tensors of a single dtype.

    The first tensor or variable determines the dtype. If all operands are Python values or arrays, the first operand
    determines the dtype. A tensor with a different dtype is returned unchanged, so the operation itself reports the
    error.

    Args:
        *values: Tensor-like values.

    Returns:
        A list with one tensor per value.

    Raises:
        TypeError: If a Python value cannot be represented in the dtype.
    """
    dtype = next((value.dtype for value in values if is_tensor_like(value)), None)
    tensors = []
    for value in values:
        tensor = to_tensor(value, dtype)
        dtype = tensor.dtype if dtype is None else dtype
        tensors.append(tensor)
    return tensors


def convert_with_dtype_hint(x: Value, y: Value) -> Tensors:
    """Convert two operands to tensors, and unify their dtypes if possible.

    The second operand receives the dtype of the first operand if its value allows this.

    Args:
        x: A tensor-like value.
        y: A tensor-like value. A tensor or variable keeps its dtype.

    Returns:
        A list of the two tensors.
    """
    x = to_tensor(x)
    return [x, to_tensor(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)]


def to_tensor_of_dtype_kind(function_name: str, x: Value, kinds: str) -> Tensor:
    """Return a value as a tensor after checking the kind of its dtype.

    Args:
        function_name: The public name for the error message, without "tf.".
        x: A tensor-like value.
        kinds: The allowed values of ``DType.kind``: f for floats, c for complex numbers, i for signed and u for
            unsigned integers, b for bools, s for strings.

    Returns:
        ``x`` itself if it is an eager tensor, otherwise a new tensor.

    Raises:
        InvalidArgumentError: If the dtype is of any other kind.
    """
    tensor = to_tensor(x)
    if tensor.dtype.kind not in kinds:
        kind_names = " or ".join(filter(None, map(_KIND_NAMES.get, kinds)))
        raise build_argument_error(
            f"tf.{function_name} takes {kind_names}, not {tensor.dtype.name}. Convert the input with tf.cast"
        )
    return tensor


def apply_primitive(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Apply a primitive from the table to tensors.

    Args:
        name: The primitive's name in ``TABLE``.
        *inputs: The input tensors.
        **attrs: The attributes of the operation, such as ``axis``.

    Returns:
        A tensor, or a tuple of tensors if the primitive has several results.
    """
    return run_and_record(TABLE[name], inputs, attrs)


# -- sizes, axes and positions ---------------------------------------------------------------------


def to_integers(value: Value, argument: str) -> Sizes:
    """Convert a size, axis or position argument to integers.

    If the argument is a tensor, its use as a size is logged, because tapes cannot track what a program does with a
    size.

    Args:
        value: A number, a list, a ``TensorShape``, or an array or tensor with at most one axis.
        argument: The argument's name for the error message.

    Returns:
        A tuple of ints. For a scalar, the tuple has length 1.

    Raises:
        TypeError: If the elements are not integers.
        InvalidArgumentError: If the value has more than one axis.
        ValueError: If the value cannot be converted, for example because a shape has an unknown size.
    """
    if type(value) is int:
        return (value,)
    if isinstance(value, LIST_OR_TUPLE) and all(type(n) is int for n in value):
        return tuple(value)
    if isinstance(value, TensorShape):
        value = value.as_list()
    tensor = to_tensor(value)
    log_use_as_size(tensor)
    if not tensor.dtype.is_integer and tensor.shape.num_elements():
        raise TypeError(f"{argument} must be an integer or a list of integers, got {value!r}")
    if tensor.ndim > 1:
        raise build_argument_error(f"{argument} must be an integer or a list of integers, got the shape {tensor.shape}")
    return tuple(np.reshape(tensor.array, -1).astype(int).tolist())


def to_integer(value: Value, argument: str) -> int:
    """Convert an argument to a single integer.

    Args:
        value: A number, or any other value with one element that ``to_integers`` accepts.
        argument: The argument's name for the error message.

    Returns:
        The integer.

    Raises:
        TypeError: If the elements are not integers.
        InvalidArgumentError: If the value does not contain exactly one element.
    """
    numbers = to_integers(value, argument)
    if len(numbers) != 1:
        raise build_argument_error(f"{argument} must be one integer, got {value!r}")
    return numbers[0]


def to_integer_vector(value: Value, argument: str) -> Sizes:
    """Convert a non-scalar argument to integers.

    Args:
        value: A list, or any other one-dimensional value that ``to_integers`` accepts.
        argument: The argument's name for the error message.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: If the elements are not integers.
        InvalidArgumentError: If the value is a scalar or has more than one axis.
    """
    if getattr(value, "ndim", type(value) is not int) == 0:
        raise build_argument_error(f"{argument} must be a list, such as [{value}]")
    return to_integers(value, argument)


def to_sizes(shape: ShapeLike) -> Sizes:
    """Convert the shape of a new tensor to a tuple of ints.

    Args:
        shape: The shape, in any form that ``to_integers`` accepts.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: If a size is not an integer.
        InvalidArgumentError: If a size is negative.
    """
    sizes = to_integers(shape, "shape")
    if min(sizes, default=0) < 0:
        raise build_argument_error(f"shape must not have a negative size, got {list(sizes)}")
    return sizes


def normalize_axis(axis: Value, rank: int, argument: str = "axis") -> int:
    """Convert a possibly negative axis to its index from the front.

    Args:
        axis: The axis. Negative values count from the end.
        rank: The number of axes of the tensor.
        argument: The argument's name for the error message.

    Returns:
        An int from 0 to ``rank - 1``.

    Raises:
        TypeError: If the axis is not an integer.
        InvalidArgumentError: If the tensor has no such axis.
    """
    axis_index = to_integer(axis, argument)
    if not -rank <= axis_index < rank:
        raise build_argument_error(
            f"{argument} {axis_index} does not exist: the tensor has {rank} axes, numbered from {-rank} to {rank - 1}"
        )
    return axis_index % rank
