"""``tf.keras.ops``: what networks are made of: activations, classes as vectors, crossentropies."""

from __future__ import annotations

from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from .. import losses
from ..base import convert, epsilon, floatx
from ..logits import logits_of
from ..lossfunctions import same_shape
from . import activations


def relu(x: Any) -> Tensor:
    """``max(x, 0)``.

    ``x`` is a tensor of numbers of any shape; the result has its shape and dtype. Differentiable; the gradient at 0
    is 0.

    >>> import minitape as tf
    >>> tf.keras.ops.relu([-1.0, 0.5, 2.0]).numpy()
    array([0. , 0.5, 2. ], dtype=float32)
    """
    return activations.relu(x)


def gelu(x: Any, approximate: bool = True) -> Tensor:
    """``x`` times the normal distribution function of ``x``, by default approximated with ``tanh``.

    ``x`` is a tensor of floats of any shape; the result has its shape and dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.gelu([-1.0, 0.0, 1.0]).numpy().round(4)
    array([-0.1588,  0.    ,  0.8412], dtype=float32)
    """
    return activations.gelu(x, approximate)


def one_hot(x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False) -> Tensor:
    """A vector for each number: 1 at its place, 0 elsewhere; all 0 for a number that is no class.

    ``x`` is a tensor of integers of any shape; the vectors have ``num_classes`` elements along a new ``axis`` and the
    dtype ``dtype``, by default ``floatx()``. Not differentiable. Raises ValueError for ``sparse``.

    >>> import minitape as tf
    >>> tf.keras.ops.one_hot([0, 2], num_classes=3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if sparse:
        raise ValueError("minitape's keras.ops.one_hot gives dense tensors only. Received: sparse=True")
    return convert(tf.one_hot(convert(x, "int64"), num_classes, axis=axis, dtype=floatx()), dtype)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """The crossentropy of each element: the price of the probability ``output`` where ``target`` is true.

    ``target`` and ``output`` are tensors of floats of one shape; the result has it too. With ``from_logits``, ``output``
    holds logits instead of probabilities. Differentiable in both. Raises ValueError for shapes that differ.

    >>> import minitape as tf
    >>> tf.keras.ops.binary_crossentropy([0.0, 1.0], [0.1, 0.5]).numpy().round(4)
    array([0.1054, 0.6931], dtype=float32)
    """
    target, output = convert(target), convert(output)
    same_shape(target, output)
    output, from_logits = logits_of(output, from_logits, "Sigmoid", "binary_crossentropy")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -(target * tf.math.log(output) + (1 - target) * tf.math.log(1 - output))


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """The crossentropy of each row of probabilities.

    ``target`` and ``output`` are tensors of floats of one shape with the classes along ``axis``; the result does not have
    that axis. With ``from_logits``, ``output`` holds logits. Differentiable in both. Raises ValueError for shapes that
    differ.

    >>> import minitape as tf
    >>> tf.keras.ops.categorical_crossentropy([[0.0, 1.0]], [[0.1, 0.9]]).numpy().round(4)
    array([0.1054], dtype=float32)
    """
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """The crossentropy of each row of probabilities, for classes given by number.

    ``output`` is a tensor of floats with the classes along ``axis``, ``target`` one of integers without that axis; the
    result has the shape of ``target``. With ``from_logits``, ``output`` holds logits. Differentiable in ``output``. Raises
    ValueError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.sparse_categorical_crossentropy([1, 0], [[0.1, 0.9], [0.5, 0.5]]).numpy().round(4)
    array([0.1054, 0.6931], dtype=float32)
    """
    return losses.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)
