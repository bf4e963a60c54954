"""Accuracies: which predictions are right, 1 or 0 for each example."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.tensor.tensor import Tensor
from .base import FLOAT, convert
from .loss import squeeze_or_expand


def _same(y_true: Any, y_pred: Any) -> Any:
    """1.0 where both are equal, else 0.0; InvalidArgumentError for shapes that do not broadcast, unlike ``==``."""
    return convert(tf.equal(y_true, y_pred), FLOAT)


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1.0 where the label is the prediction, else 0.0."""
    y_pred = convert(y_pred)
    y_true, y_pred = squeeze_or_expand(convert(y_true, y_pred.dtype.name), y_pred)
    return _same(y_true, y_pred)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """1.0 where the prediction lies on the label's side of ``threshold``, else 0.0; in the shape of the predictions.

    >>> import minitape as tf
    >>> tf.keras.metrics.binary_accuracy([[1], [0]], [[0.9], [0.8]]).numpy()
    array([[1.],
           [0.]], dtype=float32)
    """
    y_true, y_pred = squeeze_or_expand(convert(y_true), convert(y_pred))
    return _same(y_true, convert(y_pred > convert(threshold, y_pred.dtype.name), y_true.dtype.name))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1.0 where the largest prediction is that of the label (one-hot), else 0.0: (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.1, 0.9], [0.3, 0.7]]).numpy()
    array([1., 0.], dtype=float32)
    """
    return _same(tf.argmax(convert(y_true), axis=-1), tf.argmax(convert(y_pred), axis=-1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1.0 where the largest prediction is that of the label (a number), else 0.0: (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.metrics.sparse_categorical_accuracy([1, 0], [[0.1, 0.9], [0.3, 0.7]]).numpy()
    array([1., 0.], dtype=float32)
    """
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    return _same(y_true, convert(tf.argmax(y_pred, axis=-1), y_true.dtype.name))
