"""What a value is: tensor or not, with a value or without, and its way to NumPy and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tensor import EagerTensor, Tensor


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


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy has it, None where a graph can not know it; other things come back as they are.

    >>> import minitape as tf
    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    if isinstance(tensor, Tensor) and hasattr(tensor, "array"):  # of a graph, but settled by constants
        return tensor.array
    return None if isinstance(tensor, Tensor) or hasattr(tensor, "_read") else tensor


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False) -> Any:
    """A value in TensorFlow's exchange format; in minitape simply its NumPy array, for ``tf.make_ndarray``.

    >>> import minitape as tf
    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2]))
    array([1, 2], dtype=int32)
    """
    from .convert import constant

    return constant(values, dtype, shape).numpy()


def make_ndarray(tensor: Any) -> Any:
    """The NumPy array of a value made by ``tf.make_tensor_proto``.

    >>> import minitape as tf
    >>> tf.make_ndarray(tf.make_tensor_proto(1.5))
    array(1.5, dtype=float32)
    """
    return np.asarray(tensor)
