"""Define the functions of ``tf.nn``, such as activations and cross entropies.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/nn).
"""

from __future__ import annotations

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.primitives import TABLE, activation  # noqa: F401 - Importing it fills the table.
from ..engine.tensor.tensor import Tensor
from ..engine.types import GraphName, TensorFunction, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import apply_primitive, normalize_axis, to_tensor, to_tensor_of_dtype_kind
from .array_functions import squeeze
from .elementwise import cast
from .reductions import reduce_mean


def _relu(features: Value, name: GraphName = None) -> Tensor:
    """Return max(x, 0), elementwise.

    This function is differentiable. The gradient at 0 is 0.

    See https://www.tensorflow.org/api_docs/python/tf/nn/relu.

    Args:
        features: The values x, a tensor-like value of real numbers of any shape.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If the dtype is not real.

    >>> import minitape as tf
    >>> print(tf.nn.relu([-1.0, 0.0, 7.0]).numpy())
    [0. 0. 7.]
    """
    return apply_primitive("relu", to_tensor_of_dtype_kind("nn.relu", features, "fiu"))


_relu.__name__ = _relu.__qualname__ = "relu"
relu: TensorFunction = fast.get_fast_operation_function(_relu, TABLE["relu"], "relu", signature="features, name=None")
relu.__module__ = __name__
relu.__doc__ = _relu.__doc__


def leaky_relu(features: Value, alpha: float = 0.2, name: GraphName = None) -> Tensor:
    """Return x where x is positive and ``alpha * x`` elsewhere.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/nn/leaky_relu.

    Args:
        features: The values x, a tensor-like value of real numbers of any shape. Integers become float32.
        alpha: The slope for negative x.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A float tensor of the same shape.

    Raises:
        InvalidArgumentError: If the dtype is not real.

    >>> import minitape as tf
    >>> print(tf.nn.leaky_relu([-1.0, 2.0], alpha=0.5).numpy())
    [-0.5  2. ]
    """
    x = to_tensor_of_dtype_kind("nn.leaky_relu", features, "fiu")
    x = x if x.dtype.is_floating else cast(x, dtypes.float32)
    # TensorFlow's kernel rounds alpha to float32.
    return apply_primitive("leaky_relu", x, alpha=float(np.float32(alpha)))


def _apply_primitive_along_axis(primitive_name: str, logits: Value, axis: Value) -> Tensor:
    """Apply a primitive such as softmax along one axis of the logits."""
    x = to_tensor_of_dtype_kind(f"nn.{primitive_name}", logits, "f")
    axis_index = normalize_axis(-1 if axis is None else axis, x.ndim)
    return apply_primitive(primitive_name, x, axis=-1 if axis_index == x.ndim - 1 else axis_index)


def softmax(logits: Value, axis: Value = None, name: GraphName = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) along an axis, computed without overflow.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/nn/softmax.

    Args:
        logits: The values x, a tensor-like value of floats with at least one axis.
        axis: The axis along which to sum. None means the last axis.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype. Its elements add up to 1 along the axis.

    Raises:
        InvalidArgumentError: If ``logits`` are integers or a scalar, or if the axis does not exist.

    >>> import minitape as tf
    >>> print(tf.nn.softmax([0.0, 0.0]).numpy())
    [0.5 0.5]
    """
    return _apply_primitive_along_axis("softmax", logits, axis)


def log_softmax(logits: Value, axis: Value = None, name: GraphName = None) -> Tensor:
    """Return the logarithm of softmax along an axis.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax.

    Args:
        logits: A tensor-like value of floats with at least one axis.
        axis: The axis along which to sum. None means the last axis.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If ``logits`` are integers or a scalar, or if the axis does not exist.

    >>> import minitape as tf
    >>> print(tf.nn.log_softmax([0.0, 0.0]).numpy())
    [-0.6931472 -0.6931472]
    """
    return _apply_primitive_along_axis("log_softmax", logits, axis)


# -- cross entropies -------------------------------------------------------------------------------


def _prepare_labels_and_logits(labels: Value, logits: Value) -> tuple[Tensor, Tensor]:
    """Convert the arguments of a cross entropy to tensors.

    Raises:
        ValueError: If ``labels`` or ``logits`` is None.
        InvalidArgumentError: If the logits are not floats.
    """
    if labels is None or logits is None:
        raise ValueError("A cross entropy takes labels and logits, but one of the two is None")
    return to_tensor(labels), to_tensor_of_dtype_kind("nn's cross entropies", logits, "f")


def _widen_half_floats(x: Tensor) -> Tensor:
    """Cast float16 to float32, because TensorFlow computes losses in float32."""
    return cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x


def softmax_cross_entropy_with_logits(labels: Value, logits: Value, axis: int = -1, name: GraphName = None) -> Tensor:
    """Return the cross entropy between probabilities and softmax(logits) along an axis.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits.

    Args:
        labels: The probabilities, which broadcast to the shape of ``logits`` and are cast to their dtype.
        logits: The inputs of softmax, a tensor-like value of floats with at least one axis.
        axis: The axis that contains the classes.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the dtype of ``logits``. Its shape is the shape of ``logits`` without the axis.

    Raises:
        InvalidArgumentError: If the labels do not broadcast to the logits, or the logits are not floats.
        ValueError: If an argument is None.

    >>> import minitape as tf
    >>> print(tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    y, x = _prepare_labels_and_logits(labels, logits)
    axis_index = normalize_axis(axis, x.ndim)
    wide_logits = _widen_half_floats(x)
    y = cast(y, wide_logits.dtype)
    if y.dims != x.dims and (y.ndim != x.ndim or any(m not in (n, 1) for m, n in zip(y.dims, x.dims, strict=True))):
        raise build_argument_error(
            f"The labels must have, or broadcast to, the shape {x.shape} of the logits, got {y.shape}"
        )
    if axis_index != x.ndim - 1:
        order = (*(i for i in range(x.ndim) if i != axis_index), axis_index)
        wide_logits, y = (apply_primitive("transpose", t, perm=order) for t in (wide_logits, y))
    return cast(apply_primitive("softmax_cross_entropy", wide_logits, y), x.dtype)


def sparse_softmax_cross_entropy_with_logits(labels: Value, logits: Value, name: GraphName = None) -> Tensor:
    """Return the cross entropy between class indices and softmax(logits) along the last axis.

    This function is differentiable with respect to ``logits``.

    See https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits.

    Args:
        labels: The class indices, an int32 or int64 tensor with the shape of ``logits`` without the last axis.
        logits: The inputs of softmax, a tensor-like value of floats of shape (..., number of classes).
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape of ``labels`` and the dtype of ``logits``.

    Raises:
        ValueError: If the shapes do not match, or an argument is None.
        InvalidArgumentError: If a class index is out of range, or a dtype is wrong.

    >>> import minitape as tf
    >>> print(tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy())
    [0.6931472]
    """
    y, x = _prepare_labels_and_logits(labels, logits)
    if not x.ndim or y.dims != x.dims[:-1]:
        raise ValueError(f"The labels must have the shape of the logits {x.shape} without the last axis, got {y.shape}")
    to_tensor_of_dtype_kind("nn.sparse_softmax_cross_entropy_with_logits", y, "iu")
    return cast(apply_primitive("sparse_softmax_cross_entropy", _widen_half_floats(x), y), x.dtype)


def sigmoid_cross_entropy_with_logits(labels: Value = None, logits: Value = None, name: GraphName = None) -> Tensor:
    """Return the cross entropy between probabilities and sigmoid(logits), elementwise.

    The computation cannot overflow. This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/nn/sigmoid_cross_entropy_with_logits.

    Args:
        labels: The probabilities, with the shape and dtype of ``logits``.
        logits: The inputs of sigmoid, a tensor-like value of floats of any shape.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: If the shapes differ, or an argument is None.

    >>> import minitape as tf
    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    y, x = _prepare_labels_and_logits(labels, logits)
    if x.shape != y.shape:
        raise ValueError(f"The labels must have the shape {x.shape} of the logits, got {y.shape}")
    zeros = apply_primitive("zeros_like", x)
    is_positive = x >= zeros
    positive_part = apply_primitive("select", is_positive, x, zeros)
    minus_magnitude = apply_primitive("select", is_positive, -x, x)
    loss: Tensor = (positive_part - x * y) + apply_primitive("log1p", apply_primitive("exp", minus_magnitude))
    return loss


# -- moments ---------------------------------------------------------------------------------------


def moments(x: Value, axes: Value, *, keepdims: bool = False, name: GraphName = None) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance over the given axes.

    For float16, intermediate results are float32. This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/nn/moments.

    Args:
        x: A tensor-like value of real numbers.
        axes: The axes to reduce: an int, a list of ints, a tensor, or None for all axes.
        keepdims: Whether the results keep the reduced axes, with size 1.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        The mean and the variance, two tensors with the remaining dimensions and the dtype of ``x``.

    Raises:
        InvalidArgumentError: If an axis does not exist.

    >>> import minitape as tf
    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    x = to_tensor_of_dtype_kind("nn.moments", x, "fiu")
    y = _widen_half_floats(x)
    mean = reduce_mean(y, axes, True)
    squares = apply_primitive("squared_difference", y, apply_primitive("stop_gradient", mean))
    variance = reduce_mean(squares, axes, True)
    if not keepdims and x.ndim:
        reduced_axes = [*range(x.ndim)] if axes is None else axes
        mean = squeeze(mean, reduced_axes)
        variance = squeeze(variance, reduced_axes)
    return cast(mean, x.dtype), cast(variance, x.dtype)
