"""How an operation on tensors is run and recorded, and what it refuses before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..recording.evidence import origin_of_new, place_of
from ..recording.state import state
from ..table.accelerator import fast
from ..table.fp import ignore_fp_errors
from ..table.primitives import Primitive
from ..table.primitives.elementwise import form_of
from ..values.invalid import invalid, mismatch
from .convert import convert_to_tensor
from .tensor import EagerTensor, Tensor, from_array

if TYPE_CHECKING:
    from ..types import Array, Attributes, Result, Value


@fast.apply
def apply(
    primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Attributes, frame: FrameType | None = None
) -> Result:
    """Runs ``primitive`` on tensors, and writes its row when a tape is open.

    Returns one tensor, or a tuple when the forward function returned several arrays. ``frame`` is the caller's, where a
    function of minitape's is sure that it is, or is inside, the user's statement: it need not be looked for then.
    """
    if [*map(type, inputs)].count(EagerTensor) < len(inputs):
        raise TypeError(f"{primitive.op} takes tensors with values; one of these waits for a session: {inputs}")
    arrays = [t._value for t in inputs]
    forward = form_of(primitive.code, largest(arrays)).forward if primitive.code else primitive.forward
    out = ignore_fp_errors().run(forward, *arrays, **attrs)
    several = type(out) is tuple
    made = tuple(map(from_array, out if several else (out,)))
    finish(primitive, inputs, attrs, made, frame or _getframe(1))
    return made if several else made[0]


def largest(arrays: list[Array]) -> Array:
    """The operand of an elementwise operation that decides the type of its result."""
    x, y = arrays[0], arrays[-1]
    return x if type(y) is not ndarray or (type(x) is ndarray and x.size > y.size) else y


def finish(
    primitive: Primitive,
    inputs: tuple[Tensor, ...],
    attrs: Attributes,
    tensors: tuple[EagerTensor, ...],
    frame: FrameType | None = None,
) -> None:
    """Records an operation that has just computed ``tensors``; ``frame`` is that of :func:`apply`."""
    record = state.record
    if record is not None:
        record.write(primitive, inputs, attrs, tensors, frame)
        return
    origin = origin_of_new("op", inputs, primitive, place_of(frame or _getframe(1)))  # a note for `explain`
    for tensor in tensors:
        tensor._origin = origin


# -- operands --------------------------------------------------------------------------------------


def operand_tensors(inputs: Iterable[Value]) -> tuple[Tensor, ...]:
    """The inputs of a primitive as tensors; numbers and arrays take the dtype of the first tensor among them."""
    inputs = tuple(inputs)
    like = next(t for t in inputs if isinstance(t, Tensor)).dtype
    return tuple([t if isinstance(t, Tensor) else convert_to_tensor(t, like) for t in inputs])


def _apply(tensor: Tensor, primitive: Primitive, inputs: tuple[Value, ...], attrs: Attributes) -> Result:
    """Runs a primitive that is called with a tensor: a method of tensors, which the table asks for and which needs this
    module.
    """
    if set(map(type, inputs)) != {EagerTensor}:
        inputs = operand_tensors(inputs)
    return apply(primitive, inputs, attrs)


setattr(Tensor, _apply.__name__, _apply)


def check_broadcast(op: str, x: Tensor, y: Tensor) -> None:
    """Raises InvalidArgumentError when two shapes do not broadcast."""
    try:
        np.broadcast_shapes(x._dims, y._dims)
    except ValueError:
        a, b = (str(list(t._dims)).replace(" ", "") for t in (x, y))
        raise invalid(f"Incompatible shapes: {a} vs. {b}", op) from None


def binary(primitive: Primitive, x: Tensor, y: Tensor) -> Tensor:
    """An elementwise operation on two tensors, after the checks that TensorFlow makes."""
    if type(x) is EagerTensor and type(y) is EagerTensor:
        dtype, a, b = x.dtype, x._dims, y._dims
        if dtype is not y.dtype:
            raise mismatch(primitive.op, 1, dtype.kernel_name, y.dtype)
        if b != a[len(a) - len(b) :] and a:  # equal, a bias or a number: no question
            check_broadcast(primitive.op, x, y)
        if primitive.op in CHECKS:
            CHECKS[primitive.op](primitive, x, y)
    return apply(primitive, (x, y), {})


def _numbers(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    if x.dtype.kind == "b":
        raise invalid("Bools are no numbers: cast them with tf.cast", primitive.op)


def _in_order(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _numbers(primitive, x, y)
    if x.dtype.is_complex:
        raise invalid("Complex numbers have no order: compare tf.abs or tf.math.real of them", primitive.op)


def _no_zero_division(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _in_order(primitive, x, y)
    if x.dtype.is_integer and not np.all(y._value):
        raise invalid("Integer division by zero", primitive.op)


def _no_negative_power(primitive: Primitive, x: Tensor, y: Tensor) -> None:
    _numbers(primitive, x, y)
    if x.dtype.is_integer and np.any(y._value < 0):
        raise invalid("Integers to negative integer powers are not allowed", primitive.op)


# what an operation must refuse before it runs, by TensorFlow's kernel name; the modules of operations add theirs
CHECKS: dict[str, Callable[[Primitive, Tensor, Tensor], None]] = {
    **dict.fromkeys(["AddV2", "Sub", "Mul"], _numbers),
    **dict.fromkeys(["Less", "LessEqual", "Greater", "GreaterEqual"], _in_order),
    "FloorDiv": _no_zero_division,
    "FloorMod": _no_zero_division,
    "Pow": _no_negative_power,
}
