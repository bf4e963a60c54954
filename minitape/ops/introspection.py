"""What a value is: tensor or not, with a value or without, and its way to NumPy and back."""

from __future__ import annotations

from typing import Any

from ..engine.tensor.tensor import EagerTensor, Tensor


def is_tensor(x: Any) -> bool:
    """True for tensors, variables, ragged and sparse tensors.

    >>> import minitape as tf
    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor([1])
    (True, False)
    """
    return isinstance(x, Tensor) or hasattr(x, "_read") or bool(getattr(x, "_composite", False))


def get_static_value(tensor: Any) -> Any:
    """The value of a tensor as NumPy has it, None where a graph cannot know it; other things come back as they are.

    >>> import minitape as tf
    >>> get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    if isinstance(tensor, Tensor) and hasattr(tensor, "array"):  # of a graph, but settled by constants
        return tensor.array
    return None if isinstance(tensor, Tensor) or hasattr(tensor, "_read") else tensor
