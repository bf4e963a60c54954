"""The arguments of the functions of ``tf``: values become tensors; sizes, axes and places become integers."""

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
    """``x`` as a tensor; ``dtype`` is that of a Python value or array, tensors keep their own."""
    if type(x) is EagerTensor:
        return x
    if isinstance(x, Tensor):
        raise TypeError(f"{x} waits for a session: it has no value here")
    if hasattr(x, "_read_state"):
        return x._read_state()
    return convert_to_tensor(x, dtype)


def is_tensor_like(x: Value) -> bool:
    """True for tensors and variables, whose dtype is settled."""
    return isinstance(x, Tensor) or hasattr(x, "_read_state")


def convert_to_one_dtype(*values: Value) -> list[Tensor]:
    """The operands as tensors of one dtype: that of the first tensor among them, else that of the first value.

    A tensor of another dtype is left as it is (the operation refuses it). TypeError for a Python value that does not
    fit.
    """
    dtype = next((value.dtype for value in values if is_tensor_like(value)), None)
    tensors = []
    for value in values:
        tensor = to_tensor(value, dtype)
        dtype = tensor.dtype if dtype is None else dtype
        tensors.append(tensor)
    return tensors


def convert_with_dtype_hint(x: Value, y: Value) -> list[Tensor]:
    """Two operands of which the second takes the dtype of the first where it can, else its own."""
    x = to_tensor(x)
    return [x, to_tensor(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)]


def check_dtype_kind(function_name: str, x: Tensor, kinds: str) -> Tensor:
    """The tensor, where its dtype is of one of these kinds (see ``DType.kind``); else InvalidArgumentError."""
    if x.dtype.kind not in kinds:
        kind_names = " or ".join(filter(None, map(_KIND_NAMES.get, kinds)))
        raise build_argument_error(f"tf.{function_name} takes {kind_names}, not {x.dtype.name}: cast it with tf.cast")
    return x


def apply_primitive(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Applies the primitive ``name`` of the table to tensors."""
    return apply(TABLE[name], inputs, attrs)


# -- sizes, axes, places ---------------------------------------------------------------------------


def to_integers(value: Value, argument: str) -> Sizes:
    """Integers given as a number, a list, a TensorShape, an array or a tensor; TypeError for anything else."""
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
    """One integer, given in any of these ways."""
    numbers = to_integers(value, argument)
    if len(numbers) != 1:
        raise build_argument_error(f"{argument} must be one integer, got {value!r}")
    return numbers[0]


def to_integer_vector(value: Value, argument: str) -> Sizes:
    """Integers given in any of these ways but as a single number: InvalidArgumentError for that."""
    if getattr(value, "ndim", type(value) is not int) == 0:
        raise build_argument_error(f"{argument} must be a list, such as [{value}]")
    return to_integers(value, argument)


def to_sizes(shape: ShapeLike) -> Sizes:
    """The shape of a tensor that is made; InvalidArgumentError for a negative size."""
    sizes = to_integers(shape, "shape")
    if min(sizes, default=0) < 0:
        raise build_argument_error(f"shape must not have a negative size, got {list(sizes)}")
    return sizes


def normalize_axis(axis: Value, rank: int, argument: str = "axis") -> int:
    """An axis of a tensor with so many of them, counted from the front; InvalidArgumentError where it has none such."""
    axis_index = to_integer(axis, argument)
    if not -rank <= axis_index < rank:
        raise build_argument_error(
            f"{argument} {axis_index} is not there: the tensor has {rank} axes, from {-rank} to {rank - 1}"
        )
    return axis_index % rank
