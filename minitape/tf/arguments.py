"""The arguments of the functions of ``tf``: values become tensors; sizes, axes and places become integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import note_used_as_size
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values.invalid import invalid
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Object, Result, ShapeLike, Sizes, Value

_KINDS = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "", "b": "bools", "s": "strings"}


def tensor_of(x: Value, dtype: DTypeLike = None) -> Tensor:
    """``x`` as a tensor; ``dtype`` is that of a Python value or array, tensors keep their own."""
    if type(x) is EagerTensor:
        return x
    if isinstance(x, Tensor):
        raise TypeError(f"{x} waits for a session: it has no value here")
    if hasattr(x, "_read"):
        return x._read()
    return convert_to_tensor(x, dtype)


def is_tensor_like(x: Value) -> bool:
    """True for tensors and variables, whose dtype is settled."""
    return isinstance(x, Tensor) or hasattr(x, "_read")


def of_one_dtype(*values: Value) -> list[Tensor]:
    """The operands as tensors of one dtype: that of the first tensor among them, else that of the first value.

    A tensor of another dtype is left as it is (the operation refuses it). TypeError for a Python value that does not
    fit.
    """
    dtype = next((v.dtype for v in values if is_tensor_like(v)), None)
    out = []
    for v in values:
        tensor = tensor_of(v, dtype)
        dtype = tensor.dtype if dtype is None else dtype
        out.append(tensor)
    return out


def with_dtype_hint(x: Value, y: Value) -> list[Tensor]:
    """Two operands of which the second takes the dtype of the first where it can, else its own."""
    x = tensor_of(x)
    return [x, tensor_of(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)]


def check_kind(function: str, x: Tensor, kinds: str) -> Tensor:
    """The tensor, where its dtype is of one of these kinds (see ``DType.kind``); else InvalidArgumentError."""
    if x.dtype.kind not in kinds:
        wanted = " or ".join(filter(None, map(_KINDS.get, kinds)))
        raise invalid(f"tf.{function} takes {wanted}, not {x.dtype.name}: cast it with tf.cast")
    return x


def call(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Applies the primitive ``name`` of the table to tensors."""
    return apply(TABLE[name], inputs, attrs)


# -- sizes, axes, places ---------------------------------------------------------------------------


def integers(value: Value, what: str) -> Sizes:
    """Integers given as a number, a list, a TensorShape, an array or a tensor; TypeError for anything else."""
    if type(value) is int:
        return (value,)
    if isinstance(value, (list, tuple)) and all(type(n) is int for n in value):
        return tuple(value)
    if isinstance(value, TensorShape):
        value = value.as_list()
    given = tensor_of(value)
    note_used_as_size(given)
    if not given.dtype.is_integer and given.shape.num_elements():
        raise TypeError(f"{what} must be an integer or a list of integers, got {value!r}")
    if given.ndim > 1:
        raise invalid(f"{what} must be an integer or a list of integers, got the shape {given.shape}")
    return tuple(np.reshape(given.array, -1).astype(int).tolist())


def integer(value: Value, what: str) -> int:
    """One integer, given in any of these ways."""
    found = integers(value, what)
    if len(found) != 1:
        raise invalid(f"{what} must be one integer, got {value!r}")
    return found[0]


def vector(value: Value, what: str) -> Sizes:
    """Integers given in any of these ways but as a single number: InvalidArgumentError for that."""
    if getattr(value, "ndim", type(value) is not int) == 0:
        raise invalid(f"{what} must be a list, such as [{value}]")
    return integers(value, what)


def sizes_of(shape: ShapeLike) -> Sizes:
    """The shape of a tensor that is made; InvalidArgumentError for a negative size."""
    sizes = integers(shape, "shape")
    if min(sizes, default=0) < 0:
        raise invalid(f"shape must not have a negative size, got {list(sizes)}")
    return sizes


def axis_in(axis: Value, rank: int, what: str = "axis") -> int:
    """An axis of a tensor with so many of them, counted from the front; InvalidArgumentError where it has none such."""
    place = integer(axis, what)
    if not -rank <= place < rank:
        raise invalid(f"{what} {place} is not there: the tensor has {rank} axes, from {-rank} to {rank - 1}")
    return place % rank
