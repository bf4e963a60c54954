"""The losses as functions: one number for each example, from labels and predictions."""

from __future__ import annotations

import warnings
from typing import Any

from .. import tf
from ..engine.tensor import Tensor
from . import ops
from .base import convert, epsilon, floatx, set_keras_mask
from .logits import logits_of
from .loss import squeeze_or_expand


def pair(y_true: Any, y_pred: Any, squeeze: bool = False) -> tuple[Any, Any]:
    """Labels and predictions as tensors of the predictions' type, of the same rank on demand."""
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    return squeeze_or_expand(y_true, y_pred) if squeeze else (y_true, y_pred)


def one_hot_pair(y_true: Any, y_pred: Any, name: str, label_smoothing: float, axis: Any) -> tuple[Any, Any]:
    """Both as tensors, for labels that are one-hot; warns when there is only one class, ValueError for no axis."""
    if isinstance(axis, bool):
        raise ValueError(f"`axis` must be of type `int`. Received: axis={axis} of type {type(axis)}")
    y_true, y_pred = pair(y_true, y_pred)
    if y_pred.shape[-1] == 1:
        warnings.warn(
            f"In loss {name}, expected y_pred.shape to be (batch_size, num_classes) with num_classes > 1. "
            f"Received: y_pred.shape={y_pred.shape}. Consider using 'binary_crossentropy' if you only have 2 classes.",
            SyntaxWarning,
            stacklevel=3,
        )
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_true.shape[-1]
    return y_true, y_pred


def binary_pair(y_true: Any, y_pred: Any, label_smoothing: float) -> tuple[Any, Any]:
    """Both as tensors, for labels 0 and 1, drawn towards 0.5 by ``label_smoothing``."""
    y_true, y_pred = pair(y_true, y_pred)
    return (y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing if label_smoothing else y_true), y_pred


def _mean(x: Any) -> Any:
    """The mean over the last axis; of integers in the floating type of Keras."""
    return tf.reduce_mean(convert(x, floatx()) if x.dtype.is_integer else x, axis=-1)


# -- functions --------------------------------------------------------------------------------------------------------


def mean_squared_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean over the last axis of ``(y_true - y_pred) ** 2``.

    Shapes (..., n) become (...); labels are cast to the type of the predictions, which is that of the result.
    Differentiable in both. Raises InvalidArgumentError for shapes that do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.losses.MSE([[0.0, 2.0]], [[0.0, 0.0]]).numpy()
    array([2.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    return _mean((y_true - y_pred) ** 2)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean over the last axis of ``abs(y_true - y_pred)``; shapes and types as of ``mean_squared_error``.

    >>> import minitape as tf
    >>> tf.keras.losses.MAE([[0.0, 2.0]], [[1.0, 0.0]]).numpy()
    array([1.5], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    return _mean(abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Tensor:
    """100 times the mean of ``abs((y_true - y_pred) / y_true)``; shapes and types as of ``mean_squared_error``.

    >>> import minitape as tf
    >>> tf.keras.losses.MAPE([[2.0, 4.0]], [[1.0, 4.0]]).numpy()
    array([25.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    return 100.0 * _mean(abs((y_true - y_pred) / tf.maximum(abs(y_true), epsilon())))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``(log(y_true + 1) - log(y_pred + 1)) ** 2``; shapes and types as of ``mean_squared_error``.

    Negative values count as 0.

    >>> import minitape as tf
    >>> tf.keras.losses.MSLE([[0.0, 3.0]], [[0.0, 1.0]]).numpy()
    array([0.2402265], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    logs = [tf.math.log(tf.maximum(y, epsilon()) + 1.0) for y in (y_pred, y_true)]
    return _mean((logs[0] - logs[1]) ** 2)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Tensor:
    """Half the squared error, linear beyond ``delta``; shapes and types as of ``mean_squared_error``.

    >>> import minitape as tf
    >>> tf.keras.losses.huber([[0.0], [0.0]], [[1.0], [5.0]]).numpy()
    array([0.5, 4.5], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    error = y_pred - y_true
    size = abs(error)
    return _mean(tf.where(size <= delta, 0.5 * error**2, delta * size - 0.5 * delta**2))


def log_cosh(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``log(cosh(y_pred - y_true))``; shapes and types as of ``mean_squared_error``.

    >>> import minitape as tf
    >>> tf.keras.losses.logcosh([[0.0], [0.0]], [[0.0], [1.0]]).numpy().round(4)
    array([0.    , 0.4338], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    x = y_pred - y_true
    return _mean(x + tf.math.softplus(x * -2.0) - tf.math.log(tf.constant(2.0, x.dtype)))


def _signs(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels 0 and 1 as -1 and 1."""
    y_true, y_pred = pair(y_true, y_pred)
    binary = tf.reduce_all((y_true == 0) | (y_true == 1))
    return tf.where(binary, 2.0 * y_true - 1.0, y_true), y_pred


def hinge(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``max(1 - y_true * y_pred, 0)``; labels are -1 and 1, or 0 and 1. Shapes (..., n) become (...).

    >>> import minitape as tf
    >>> tf.keras.losses.hinge([[1.0], [-1.0]], [[0.5], [0.5]]).numpy()
    array([0.5, 1.5], dtype=float32)
    """
    y_true, y_pred = _signs(y_true, y_pred)
    return _mean(tf.maximum(1.0 - y_true * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``max(1 - y_true * y_pred, 0) ** 2``; labels are -1 and 1, or 0 and 1.

    >>> import minitape as tf
    >>> tf.keras.losses.squared_hinge([[1.0], [-1.0]], [[0.5], [0.5]]).numpy()
    array([0.25, 2.25], dtype=float32)
    """
    y_true, y_pred = _signs(y_true, y_pred)
    return _mean(tf.maximum(1.0 - y_true * y_pred, 0.0) ** 2)


def categorical_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """``max(neg - pos + 1, 0)``, with the prediction for the right class and the largest for a wrong one.

    Labels are one-hot; shapes (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.losses.categorical_hinge([[0.0, 1.0]], [[0.75, 0.5]]).numpy()
    array([1.25], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, 0.0)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """Minus the cosine of the angle between the vectors along ``axis``, which the result lacks: -1 is the same direction.

    >>> import minitape as tf
    >>> tf.keras.losses.cosine_similarity([[0.0, 2.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]).numpy()
    array([-1., -0.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    return -tf.reduce_sum(_unit(y_true, axis) * _unit(y_pred, axis), axis=axis)


def _unit(x: Any, axis: int) -> Any:
    return x / tf.maximum(tf.sqrt(tf.reduce_sum(x * x, axis=axis, keepdims=True)), epsilon())


def kl_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """The sum over the last axis of ``y_true * log(y_true / y_pred)``, both clipped to [epsilon, 1].

    >>> import minitape as tf
    >>> tf.keras.losses.kld([[0.5, 0.5]], [[0.25, 0.75]]).numpy().round(4)
    array([0.1438], dtype=float32)
    """
    y_true, y_pred = (tf.clip_by_value(y, epsilon(), 1.0) for y in pair(y_true, y_pred))
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``y_pred - y_true * log(y_pred)``; shapes (..., n) become (...).

    >>> import minitape as tf
    >>> tf.keras.losses.poisson([[1.0, 0.0]], [[1.0, 3.0]]).numpy()
    array([2.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    return _mean(y_pred - y_true * tf.math.log(y_pred + epsilon()))


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Tensor:
    """The mean over ``axis`` of ``-log`` of the probability given to each label (0 or 1).

    Predictions are probabilities, or logits if ``from_logits``; ``label_smoothing`` draws labels towards 0.5. Raises
    ValueError for labels and predictions of different shapes.

    >>> import minitape as tf
    >>> tf.keras.losses.binary_crossentropy([[1.0]], [[0.5]]).numpy()
    array([0.6931472], dtype=float32)
    >>> tf.keras.losses.binary_crossentropy([[1.0]], [[0.0]], from_logits=True).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = binary_pair(y_true, y_pred, label_smoothing)
    return tf.reduce_mean(ops.binary_crossentropy(y_true, y_pred, from_logits), axis=axis)


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Tensor:
    """``-sum(y_true * log(y_pred))`` over ``axis``; predictions are probabilities, or logits if ``from_logits``.

    Labels are one-hot or distributions; ``label_smoothing`` draws them towards equal ones. Raises ValueError for labels
    and predictions of different shapes, warns when there is only one class.

    >>> import minitape as tf
    >>> tf.keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = one_hot_pair(y_true, y_pred, "categorical_crossentropy", label_smoothing, axis)
    same_shape(y_true, y_pred)
    y_pred, from_logits = logits_of(y_pred, from_logits, "Softmax", "categorical_crossentropy")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred, axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis, keepdims=True)
    return -tf.reduce_sum(y_true * tf.math.log(tf.clip_by_value(p, epsilon(), 1.0 - epsilon())), axis)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Tensor:
    """``-log`` of the probability given to the right class, whose number is ``y_true``.

    Labels (...) and predictions (..., classes) give (...); labels may have a last axis of size 1. Examples of
    ``ignore_class`` give 0. Raises ValueError for shapes that do not fit and for another ``axis`` than the last.

    >>> import minitape as tf
    >>> tf.keras.losses.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = convert(y_true), convert(y_pred)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[axis] == 1:
        y_true = tf.squeeze(y_true, axis)
    if axis not in (-1, len(y_pred.shape) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    y_pred, from_logits = logits_of(y_pred, from_logits, "Softmax", "sparse_categorical_crossentropy")
    labels = tf.cast(y_true, tf.int64)
    kept = None
    if ignore_class is not None:
        kept = labels != ignore_class
        labels = tf.where(kept, labels, tf.zeros_like(labels))
    if len(y_pred.shape) < 1:
        raise ValueError(f"Argument `output` must be at least rank 1. Received: output.shape={y_pred.shape}")
    shapes = f"target.shape={labels.shape}, output.shape={y_pred.shape}"
    if len(labels.shape) != len(y_pred.shape) - 1:
        raise ValueError(f"Argument `output` must have rank (ndim) `target.ndim - 1`. Received: {shapes}")
    if tuple(labels.shape) != tuple(y_pred.shape)[:-1]:
        raise ValueError(
            f"Arguments `target` and `output` must have the same shape up until the last dimension: {shapes}"
        )
    if not from_logits:
        y_pred = tf.math.log(tf.clip_by_value(y_pred, epsilon(), 1 - epsilon()))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y_pred)
    if kept is not None:
        losses = tf.where(kept, losses, tf.zeros_like(losses))
        set_keras_mask(losses, kept)
    return losses


def same_shape(target: Any, output: Any) -> None:
    """Raises ValueError unless labels and predictions have one shape."""
    shapes = f"target.shape={target.shape}, output.shape={output.shape}"
    if len(target.shape) != len(output.shape):
        raise ValueError(f"Arguments `target` and `output` must have the same rank (ndim). Received: {shapes}")
    if tuple(target.shape) != tuple(output.shape):
        raise ValueError(f"Arguments `target` and `output` must have the same shape. Received: {shapes}")
