"""Conversion of the arguments of ``tf``'s functions.

Values become tensors, and sizes, axes and positions become integers. In ``minitape/tf`` a *tensor-like value* is
anything that ``tf.convert_to_tensor`` accepts: a tensor, a variable, an array, a number, a string, or nested lists of
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.record.provenance import note_used_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Object, Result, ShapeLike, Sizes, Value

_KIND_NAMES = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "", "b": "bools", "s": "strings"}


def to_tensor(x: Value, dtype: DTypeLike = None) -> Tensor:
    """Return a value as a tensor.

    Args:
        x: A tensor-like value. A variable gives its current state.
        dtype: The dtype for Python values and arrays. Tensors and variables keep their dtype.

    Returns:
        ``x`` itself if it is an eager tensor, else a tensor with its value.

    Raises:
        TypeError: If ``x`` is a tensor of a TensorFlow 1 graph, which has no value yet, or a Python value does not fit
            the dtype.
        ValueError: If ``x`` cannot be converted to a tensor.
    """
    if type(x) is EagerTensor:
        return x
    if isinstance(x, Tensor):
        raise TypeError(f"{x} waits for a session: it has no value here")
    if hasattr(x, "_read_state"):
        return x._read_state()
    return convert_to_tensor(x, dtype)


def is_tensor_like(x: Value) -> bool:
    """Return True for tensors and variables, whose dtype is settled.

    Args:
        x: Any object.

    Returns:
        False for Python values and arrays, which still take the dtype of another operand.
    """
    return isinstance(x, Tensor) or hasattr(x, "_read_state")


def convert_to_one_dtype(*values: Value) -> list[Tensor]:
    """Convert operands to tensors of one dtype.

    The dtype is the one of the first tensor or variable among the operands. If there are only Python values and arrays,
    the first of them decides. A tensor of another dtype is returned unchanged, and the operation raises an error for
    it.

    Args:
        *values: Tensor-like values.

    Returns:
        A list with one tensor per value.

    Raises:
        TypeError: If a Python value does not fit the dtype.
    """
    dtype = next((value.dtype for value in values if is_tensor_like(value)), None)
    tensors = []
    for value in values:
        tensor = to_tensor(value, dtype)
        dtype = tensor.dtype if dtype is None else dtype
        tensors.append(tensor)
    return tensors


def convert_with_dtype_hint(x: Value, y: Value) -> list[Tensor]:
    """Convert two operands so that the second takes the dtype of the first if its value fits.

    Args:
        x: A tensor-like value.
        y: A tensor-like value. A tensor or variable keeps its dtype.

    Returns:
        A list of the two tensors.
    """
    x = to_tensor(x)
    return [x, to_tensor(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)]


def check_dtype_kind(function_name: str, x: Tensor, kinds: str) -> Tensor:
    """Return a tensor if its dtype is of one of the given kinds.

    Args:
        function_name: The public name for the error message, without "tf.".
        x: The tensor to check.
        kinds: Letters of ``DType.kind``: f for floats, c for complex, i for signed and u for unsigned integers, b for
            bools, s for strings.

    Returns:
        The tensor ``x``.

    Raises:
        InvalidArgumentError: If the dtype is of another kind.
    """
    if x.dtype.kind not in kinds:
        kind_names = " or ".join(filter(None, map(_KIND_NAMES.get, kinds)))
        raise build_argument_error(f"tf.{function_name} takes {kind_names}, not {x.dtype.name}: cast it with tf.cast")
    return x


def apply_primitive(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Apply a primitive of the table to tensors.

    Args:
        name: The primitive's name in ``TABLE``.
        *inputs: The tensors that it computes from.
        **attrs: Its attributes, such as ``axis``.

    Returns:
        The result: a tensor, or a tuple of tensors if the primitive has several results.
    """
    return apply(TABLE[name], inputs, attrs)


# -- sizes, axes, places ---------------------------------------------------------------------------


def to_integers(value: Value, argument: str) -> Sizes:
    """Return the integers that a size, an axis or a position argument holds.

    A tensor is noted as used for a size, because no tape can follow its value from there.

    Args:
        value: A number, a list, a ``TensorShape``, an array or a tensor of at most one axis.
        argument: The argument's name for the error message.

    Returns:
        A tuple of ints. A single number gives a tuple of length 1.

    Raises:
        TypeError: If the elements are not integers.
        InvalidArgumentError: If the value has more than one axis.
        ValueError: If the value cannot be converted, such as a shape with an unknown size.
    """
    if type(value) is int:
        return (value,)
    if isinstance(value, (list, tuple)) and all(type(n) is int for n in value):
        return tuple(value)
    if isinstance(value, TensorShape):
        value = value.as_list()
    tensor = to_tensor(value)
    note_used_as_size(tensor)
    if not tensor.dtype.is_integer and tensor.shape.num_elements():
        raise TypeError(f"{argument} must be an integer or a list of integers, got {value!r}")
    if tensor.ndim > 1:
        raise build_argument_error(f"{argument} must be an integer or a list of integers, got the shape {tensor.shape}")
    return tuple(np.reshape(tensor.array, -1).astype(int).tolist())


def to_integer(value: Value, argument: str) -> int:
    """Return the one integer that an argument holds.

    Args:
        value: A number, or anything else with one element that ``to_integers`` accepts.
        argument: The argument's name for the error message.

    Returns:
        The integer.

    Raises:
        TypeError: If the elements are not integers.
        InvalidArgumentError: If there is not exactly one element.
    """
    numbers = to_integers(value, argument)
    if len(numbers) != 1:
        raise build_argument_error(f"{argument} must be one integer, got {value!r}")
    return numbers[0]


def to_integer_vector(value: Value, argument: str) -> Sizes:
    """Return the integers of an argument that must not be a single number.

    Args:
        value: A list, or anything else with one axis that ``to_integers`` accepts.
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
    """Return the sizes of the axes for a tensor that will be created.

    Args:
        shape: The sizes, in any form that ``to_integers`` accepts.

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
    """Return an axis, counted from the front.

    Args:
        axis: The axis. A negative axis counts from the end.
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
            f"{argument} {axis_index} is not there: the tensor has {rank} axes, from {-rank} to {rank - 1}"
        )
    return axis_index % rank
