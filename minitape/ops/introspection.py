"""What a value is: tensor or not, with a value or without, and its way to NumPy and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.operands import spelled
from ..engine.tensor import EagerTensor, Tensor


def is_tensor(x: Any) -> bool:
    """True for tensors, variables, ragged and sparse tensors.

    >>> import minitape as tf
    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor([1])
    (True, False)
    """
    return isinstance(x, Tensor) or hasattr(x, "_read") or bool(getattr(x, "_composite", False))


def is_symbolic_tensor(tensor: Any) -> bool:
    """True for a tensor of a graph, which has no value.

    >>> import minitape as tf
    >>> tf.is_symbolic_tensor(tf.constant(1))
    False
    """
    return isinstance(tensor, Tensor) and not isinstance(tensor, EagerTensor)


@spelled("constant_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy has it, None where a graph cannot know it; other things come back as they are.

    With ``partial`` a stack of scalars of which some are known is an array of objects, None for the others.

    >>> import minitape as tf
    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    if isinstance(tensor, Tensor) and hasattr(tensor, "array"):  # of a graph, but settled by constants
        return tensor.array
    if partial and isinstance(tensor, Tensor) and tensor.op.type == "Pack" and not tensor.op.get_attr("axis"):
        values = [get_static_value(part, partial) for part in tensor.op.inputs]
        known = np.empty(len(values), object)
        known[:] = [v if v is None else np.asarray(v) for v in values]
        return known if all(part.shape.rank == 0 for part in tensor.op.inputs) else None
    return None if isinstance(tensor, Tensor) or hasattr(tensor, "_read") else tensor


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False) -> Any:
    """A value in TensorFlow's exchange format; in minitape simply its NumPy array, for ``tf.make_ndarray``.

    Where ``shape`` asks for more elements than there are, the last one fills the rest. ValueError for more elements
    than that; TypeError with ``verify_shape`` unless the value has the shape.

    >>> import minitape as tf
    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2]))
    array([1, 2], dtype=int32)
    """
    from ..engine.convert import constant

    array = np.asarray(constant(values, dtype).array)
    if shape is None:
        return array
    sizes = tuple(int(n) for n in shape)
    if verify_shape and array.shape != sizes:
        raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    missing = math.prod(sizes) - array.size
    if missing < 0:
        raise ValueError(f"Too many elements provided. Takes at most {math.prod(sizes)}, but got {array.size}.")
    flat = array.reshape(-1)
    return np.concatenate([flat, np.repeat(flat[-1:], missing)]).reshape(sizes)


@spelled("MakeNdarray")
def make_ndarray(tensor: Any) -> Any:
    """The NumPy array of a value made by ``tf.make_tensor_proto``.

    >>> import minitape as tf
    >>> tf.make_ndarray(tf.make_tensor_proto(1.5))
    array(1.5, dtype=float32)
    """
    return np.asarray(tensor)
