"""Accuracies: which part of the predictions is right, as functions (1 or 0 for each example) and as metrics."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.tensor import Tensor
from .base import convert, floatx
from .loss import squeeze_or_expand
from .metric import FunctionMetric


def _same(y_true: Any, y_pred: Any) -> Any:
    """1.0 where both are equal, else 0.0; InvalidArgumentError for shapes that do not broadcast, unlike ``==``."""
    return convert(tf.equal(y_true, y_pred), floatx())


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


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """1.0 where the label (one-hot) is among the ``k`` largest predictions, else 0.0: (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.metrics.top_k_categorical_accuracy([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.3, 0.2, 0.5]], k=2).numpy()
    array([1., 0.], dtype=float32)
    """
    return sparse_top_k_categorical_accuracy(tf.argmax(convert(y_true), axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5, from_sorted_ids: bool = False) -> Tensor:
    """1.0 where the label (a number) is among the ``k`` largest predictions, else 0.0, in the shape of the labels.

    With ``from_sorted_ids`` a row of predictions holds the numbers of classes themselves, the likeliest first.

    >>> import minitape as tf
    >>> tf.keras.metrics.sparse_top_k_categorical_accuracy([2, 1], [[0.1, 0.9, 0.8], [0.3, 0.2, 0.5]], k=2).numpy()
    array([1., 0.], dtype=float32)
    >>> tf.keras.metrics.sparse_top_k_categorical_accuracy([2, 1], [[1, 2], [2, 0]], k=2, from_sorted_ids=True).numpy()
    array([1., 0.], dtype=float32)
    """
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name if from_sorted_ids else "int32")
    shape = y_true.shape if y_true.shape.is_fully_defined() else tf.shape(y_true)
    y_pred, y_true = tf.reshape(y_pred, (-1, y_pred.shape[-1])), tf.reshape(y_true, (-1,))
    if from_sorted_ids:
        found = tf.reduce_any(y_pred[:, :k] == y_true[:, None], axis=-1)
    else:
        ahead = y_pred > tf.gather(y_pred, y_true, axis=1, batch_dims=1)[:, None]
        found = tf.reduce_sum(tf.cast(ahead, "int32"), axis=-1) < k
    return tf.reshape(convert(found, floatx()), shape)


class Accuracy(FunctionMetric, function=accuracy):
    """Which part of the predictions is the label.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.Accuracy()([[1], [2], [3], [4]], [[0], [2], [3], [4]]))
    0.75
    """

    name: str | None = "accuracy"
    dtype: Any = None


class BinaryAccuracy(FunctionMetric, function=binary_accuracy):
    """Which part of the predictions lies on the side of ``threshold`` of its label (0 or 1).

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.BinaryAccuracy()
    >>> float(metric([[1], [1], [0], [0]], [[0.98], [1], [0], [0.6]]))
    0.75
    """

    name: str | None = "binary_accuracy"
    dtype: Any = None
    threshold: float = 0.5


class CategoricalAccuracy(FunctionMetric, function=categorical_accuracy):
    """Which part of the labels (one-hot) got the largest prediction of their row.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.CategoricalAccuracy()
    >>> metric.update_state([[0, 1], [1, 0]], [[0.1, 0.9], [0.3, 0.7]])
    >>> float(metric.result())
    0.5
    """

    name: str | None = "categorical_accuracy"
    dtype: Any = None


class SparseCategoricalAccuracy(FunctionMetric, function=sparse_categorical_accuracy):
    """Which part of the labels (numbers) got the largest prediction of their row.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.SparseCategoricalAccuracy()
    >>> metric.update_state([1, 0], [[0.1, 0.9], [0.3, 0.7]], sample_weight=[3.0, 1.0])
    >>> float(metric.result())
    0.75
    """

    name: str | None = "sparse_categorical_accuracy"
    dtype: Any = None


class TopKCategoricalAccuracy(FunctionMetric, function=top_k_categorical_accuracy):
    """Which part of the labels (one-hot) is among the ``k`` largest predictions of its row.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.TopKCategoricalAccuracy(k=2)
    >>> float(metric([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.3, 0.2, 0.5]]))
    0.5
    """

    k: int = 5
    name: str | None = "top_k_categorical_accuracy"
    dtype: Any = None


class SparseTopKCategoricalAccuracy(FunctionMetric, function=sparse_top_k_categorical_accuracy):
    """Which part of the labels (numbers) is among the ``k`` largest predictions of its row.

    With ``from_sorted_ids`` a row of predictions holds the numbers of classes themselves, the likeliest first.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=2)
    >>> float(metric([2, 1], [[0.1, 0.9, 0.8], [0.3, 0.2, 0.5]]))
    0.5
    """

    k: int = 5
    name: str | None = "sparse_top_k_categorical_accuracy"
    dtype: Any = None
    from_sorted_ids: bool = False
