"""The losses for classes of very different sizes, as functions: overlap of two maps, and focal crossentropies."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.tensor import Tensor
from . import ops
from .base import epsilon
from .lossfunctions import binary_pair, one_hot_pair, pair


def dice(y_true: Any, y_pred: Any, axis: Any = None) -> Tensor:
    """``1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))``: how little two maps overlap.

    The sums run over ``axis``, by default over everything, which gives a scalar. Labels are cast to the type of the
    predictions, which is that of the result. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.losses.dice([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]], axis=1).numpy().round(4)
    array([0.3333, 0.3333], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    both = 2.0 * tf.reduce_sum(y_true * y_pred, axis)
    return 1 - both / (tf.reduce_sum(y_true, axis) + tf.reduce_sum(y_pred, axis) + epsilon())


def tversky(y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Any = None) -> Tensor:
    """``dice`` with weights of its own for what is missing (``alpha``) and for what is too much (``beta``).

    Shapes and types as of ``dice``, which it is for two weights of 0.5. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.losses.tversky([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]], alpha=0.0, axis=1).numpy().round(4)
    array([0.3333, 0.    ], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    both = tf.reduce_sum(y_true * y_pred, axis)
    missing = tf.reduce_sum((1 - y_pred) * y_true, axis)
    extra = tf.reduce_sum(y_pred * (1 - y_true), axis)
    return 1 - both / (both + missing * alpha + extra * beta + epsilon())


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Crossentropies of labels 0 and 1 times ``(1 - p) ** gamma``, where p is the probability given to the label.

    So what is well predicted counts little. With ``apply_class_balancing`` label 1 has the weight ``alpha`` and label 0
    ``1 - alpha``. Shapes (..., n) become (...) by the mean over ``axis``; ``from_logits`` and ``label_smoothing`` are
    those of ``binary_crossentropy``. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.losses.binary_focal_crossentropy([[0.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.1, 0.1]]).numpy().round(4)
    array([0.1733, 0.0011], dtype=float32)
    """
    y_true, y_pred = binary_pair(y_true, y_pred, label_smoothing)
    if from_logits:
        y_pred = tf.sigmoid(y_pred)
    entropy = ops.binary_crossentropy(y_true, y_pred)
    p = y_true * y_pred + (1 - y_true) * (1 - y_pred)
    losses = (1.0 - p) ** gamma * entropy
    if apply_class_balancing:
        losses = (y_true * alpha + (1 - y_true) * (1 - alpha)) * losses
    return tf.reduce_mean(losses, axis=axis)


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Crossentropies of one-hot labels times ``alpha * (1 - p) ** gamma``, with p the probability of each class.

    ``alpha`` is a number or has one for each class. Shapes (..., classes) become (...); ``from_logits`` and
    ``label_smoothing`` are those of ``categorical_crossentropy``. Differentiable in both. Raises ValueError for an
    ``axis`` that is a bool, warns when there is only one class.

    >>> import minitape as tf
    >>> tf.keras.losses.categorical_focal_crossentropy([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.9, 0.1]]).numpy().round(4)
    array([0.0433, 0.0003], dtype=float32)
    """
    y_true, y_pred = one_hot_pair(y_true, y_pred, "categorical_focal_crossentropy", label_smoothing, axis)
    if from_logits:
        y_pred = tf.nn.softmax(y_pred, axis=axis)
    p = tf.clip_by_value(y_pred / tf.reduce_sum(y_pred, axis, keepdims=True), epsilon(), 1.0 - epsilon())
    return tf.reduce_sum((1.0 - p) ** gamma * alpha * -y_true * tf.math.log(p), axis)
