"""Metrics that count right and wrong: cells of the confusion matrix, precision, recall, F scores, overlaps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import tf
from .base import auto_name, convert, epsilon
from .loss import squeeze_or_expand
from .metric import Metric
from .operations.sampling import sizes_of

TP, FP, TN, FN = (True, True), (False, True), (False, False), (True, False)  # (label, prediction)
BELOW_ALL = -1e10  # a threshold that every prediction but those outside the top k passes


def parse_thresholds(thresholds: Any, default: float = 0.5) -> list[float]:
    """The thresholds as a list; ValueError for one outside [0, 1]."""
    if thresholds is None:
        return [default]
    found = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    bad = [t for t in found if t is None or t < 0 or t > 1]
    if bad:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
    return found


def count_cells(
    y_true: Any,
    y_pred: Any,
    weight: Any,
    thresholds: list[float],
    cells: Any,
    dtype: str,
    top_k: int | None = None,
    class_id: int | None = None,
    label_weights: Any = None,
    by_label: bool = False,
) -> list[Any]:
    """For each cell (label, prediction) the weighted number of examples, for each threshold (and label).

    With ``top_k`` only the largest predictions of each row can be positive; ``class_id`` looks at one column alone.
    """
    y_pred, y_true = squeeze_or_expand(convert(y_pred, dtype), convert(y_true, dtype))
    if weight is not None:
        weight = tf.expand_dims(convert(weight, dtype), -1)
        _, weight = squeeze_or_expand(y_true, weight, expand_rank_1=False)
    if top_k is not None:
        best = tf.reduce_sum(tf.one_hot(tf.math.top_k(y_pred, top_k).indices, y_pred.shape[-1], dtype=dtype), -2)
        y_pred = y_pred * best + BELOW_ALL * (1 - best)
    if class_id is not None:
        if len(y_pred.shape) == 1:
            raise ValueError(
                "When class_id is provided, y_pred must be a 2D array with shape (num_samples, num_classes), found "
                f"shape: {tuple(y_pred.shape)}"
            )
        y_true, y_pred = y_true[..., class_id, None], y_pred[..., class_id, None]
    if _even(thresholds):
        y_pred = tf.clip_by_value(y_pred, 0.0, 1.0)  # Keras counts these by their places between 0 and 1
    factor = tf.ones_like(y_pred) if weight is None else tf.broadcast_to(weight, sizes_of(y_pred))
    if label_weights is not None:
        factor = factor * convert(label_weights, dtype)
    flat = (1, -1, y_pred.shape[-1]) if by_label else (1, -1)
    labels, factor = tf.reshape(tf.cast(y_true, tf.bool), flat), tf.reshape(factor, flat)
    limits = tf.reshape(tf.constant(thresholds, dtype), (-1, 1, 1) if by_label else (-1, 1))
    predicted = tf.reshape(y_pred, flat) > limits
    hits = (tf.logical_and(labels == label, predicted == prediction) for label, prediction in cells)
    return [tf.reduce_sum(tf.cast(hit, dtype) * factor, axis=1) for hit in hits]


def _even(thresholds: list[float]) -> bool:
    """Whether three or more thresholds divide the way from 0 to 1 evenly."""
    return len(thresholds) >= 3 and np.allclose(thresholds, np.linspace(0.0, 1.0, len(thresholds)), atol=epsilon())


class _Confusion(Metric):
    """Counts the examples of one cell of the confusion matrix, for each threshold."""

    _cell = TP

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name or auto_name(type(self).__name__))
        self.init_thresholds, self.thresholds = thresholds, parse_thresholds(thresholds)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        found = count_cells(y_true, y_pred, sample_weight, self.thresholds, [self._cell], self.dtype)
        self.accumulator.assign_add(found[0])

    def result(self) -> Any:
        """The count so far, one for each threshold if there are several."""
        counts = tf.convert_to_tensor(self.accumulator)
        return counts[0] if len(self.thresholds) == 1 else counts

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Confusion):
    """How many labels 1 were predicted as 1, that is above ``thresholds`` (one, or a list; 0.5 by default).

    Raises ValueError for a threshold outside [0, 1].

    >>> import minitape as tf
    >>> float(tf.keras.metrics.TruePositives()([0, 1, 1], [0.6, 0.4, 0.9]))
    1.0
    """


class TrueNegatives(_Confusion):
    """How many labels 0 were predicted as 0, that is not above ``thresholds`` (one, or a list; 0.5 by default).

    >>> import minitape as tf
    >>> float(tf.keras.metrics.TrueNegatives()([0, 0, 1], [0.6, 0.4, 0.9]))
    1.0
    """

    _cell = TN


class FalsePositives(_Confusion):
    """How many labels 0 were predicted as 1, that is above ``thresholds`` (one, or a list; 0.5 by default).

    >>> import minitape as tf
    >>> tf.keras.metrics.FalsePositives(thresholds=[0.5, 0.8])([0, 0, 1], [0.6, 0.4, 0.9]).numpy()
    array([1., 0.], dtype=float32)
    """

    _cell = FP


class FalseNegatives(_Confusion):
    """How many labels 1 were predicted as 0, that is not above ``thresholds`` (one, or a list; 0.5 by default).

    >>> import minitape as tf
    >>> float(tf.keras.metrics.FalseNegatives()([1, 1, 1], [0.6, 0.4, 0.9]))
    1.0
    """

    _cell = FN


class _Quotient(Metric):
    """The part that true positives are of themselves and the examples of another cell."""

    _direction = 1

    _other, _other_name = FP, "false_positives"

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name or auto_name(type(self).__name__))
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        self.thresholds = parse_thresholds(thresholds, 0.5 if top_k is None else BELOW_ALL)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        setattr(self, self._other_name, self.add_variable(shape, "zeros", name=self._other_name))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        cells = [TP, self._other]
        found = count_cells(
            y_true, y_pred, sample_weight, self.thresholds, cells, self.dtype, self.top_k, self.class_id
        )
        self.true_positives.assign_add(found[0])
        getattr(self, self._other_name).assign_add(found[1])

    def result(self) -> Any:
        """The quotient so far, one for each threshold if there are several; 0 where nothing was counted."""
        right, other = (tf.convert_to_tensor(v) for v in (self.true_positives, getattr(self, self._other_name)))
        value = tf.math.divide_no_nan(right, right + other)
        return value[0] if len(self.thresholds) == 1 else value

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


class Precision(_Quotient):
    """Which part of the predictions 1 was right: those above ``thresholds``, 0.5 by default.

    With ``top_k`` the largest predictions of each row count as 1; with ``class_id`` only that column counts.
    Raises ValueError for a threshold outside [0, 1], and for a ``class_id`` when predictions have no columns.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.Precision()([0, 1, 1, 1], [1, 0, 1, 1]))
    0.6666666865348816
    >>> float(tf.keras.metrics.Precision(top_k=1)([[0, 1], [1, 0]], [[0.2, 0.3], [0.1, 0.9]]))
    0.5
    """


class Recall(_Quotient):
    """Which part of the labels 1 was predicted; arguments as of ``Precision``.

    >>> import minitape as tf
    >>> recall = tf.keras.metrics.Recall(thresholds=[0.25, 0.75])
    >>> recall([0, 1, 1], [1.0, 0.5, 1.0]).numpy()
    array([1. , 0.5], dtype=float32)
    """

    _other, _other_name = FN, "false_negatives"


class MeanIoU(Metric):
    """Intersection over union of labels and predicted classes, averaged over the classes that occur.

    Both are class numbers, or where ``sparse_y_true`` (``sparse_y_pred``) is False values for each class along
    ``axis``, of which the largest counts. Numbers outside [0, num_classes) and ``ignore_class`` do not count.
    It counts in int64 as Keras does: pass a floating ``dtype`` for sample weights that are no integers.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1])), 4)
    0.3333
    """

    _direction = 1

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(dtype or "int64", name or auto_name("MeanIoU"))
        self.num_classes, self.ignore_class, self.axis = num_classes, ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.total_cm = self.add_variable(
            (num_classes, num_classes), "zeros", self.dtype, "sum", "total_confusion_matrix"
        )

    def _classes(self, y: Any, sparse: bool) -> Any:
        return tf.reshape(convert(y if sparse else tf.argmax(convert(y), axis=self.axis), "int64"), (-1,))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predicted classes."""
        labels, classes = self._classes(y_true, self.sparse_y_true), self._classes(y_pred, self.sparse_y_pred)
        if "int" in self.dtype and "float" in str(getattr(sample_weight, "dtype", "")):
            warnings.warn(
                "You are passing weight as `float`, but dtype is `int`. This may result in an incorrect weight due to "
                "type casting Consider using integer weights.",
                stacklevel=2,
            )
        weights = tf.reshape(convert(1 if sample_weight is None else sample_weight, self.dtype), (-1,))
        weights = tf.broadcast_to(weights, tf.shape(labels))
        counts = tf.logical_and(*((y >= 0) & (y < self.num_classes) for y in (labels, classes)))
        if self.ignore_class is not None:
            counts = counts & (labels != self.ignore_class)
        labels, classes, weights = (tf.boolean_mask(v, counts) for v in (labels, classes, weights))
        self.total_cm.assign_add(tf.math.confusion_matrix(labels, classes, self.num_classes, weights, dtype=self.dtype))

    def result(self) -> Any:
        """The mean so far."""
        matrix = convert(self.total_cm, "float32")
        right = tf.linalg.diag_part(matrix)
        union = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1) - right
        valid = tf.reduce_sum(tf.cast(union > 1e-9, tf.float32))
        return tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(right, union)), valid)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = ("num_classes", "ignore_class", "sparse_y_true", "sparse_y_pred", "axis")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


def _check_float(argument: str, value: Any) -> None:
    if not isinstance(value, float):
        raise ValueError(f"Invalid `{argument}` argument value. It should be a Python float. Received: {argument}={value} "
                         f"of type '{type(value)}'")  # fmt: skip


class FBetaScore(Metric):
    """The weighed harmonic mean of precision and recall of each class, or their "micro", "macro", "weighted" average.

    Labels and predictions have shape (batch, classes). A prediction says yes where it is above ``threshold``; without
    one, to the class with the largest value. Raises ValueError for another ``average``, for a ``beta`` or ``threshold``
    that is no positive float (of at most 1), and for other shapes.

    >>> import minitape as tf
    >>> score = tf.keras.metrics.FBetaScore(beta=2.0, threshold=0.5)
    >>> score([[1, 1], [0, 1]], [[0.9, 0.2], [0.8, 0.9]]).numpy().round(3)
    array([0.833, 0.556], dtype=float32)
    """

    _direction = 1

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str = "fbeta_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. Received: "
                f"average={average}"
            )
        _check_float("beta", beta)
        if beta <= 0:
            raise ValueError(f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}")
        if threshold is not None:
            _check_float("threshold", threshold)
            if not 0 < threshold <= 1:
                raise ValueError("Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
                                 f"threshold={threshold}")  # fmt: skip
        self.average, self.beta, self.threshold = average, beta, threshold
        self._counts: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels (1 or 0 for each class) and predictions."""
        y_true, y_pred = (convert(y, self.dtype) for y in (y_true, y_pred))
        if len(y_true.shape) != 2 or len(y_pred.shape) != 2:
            raise ValueError(
                "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
                f"y_pred.shape={tuple(y_pred.shape)} and y_true.shape={tuple(y_true.shape)}."
            )
        if self._counts is None:
            names = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")
            shape = () if self.average == "micro" else (y_true.shape[-1],)
            self._counts = [self.add_variable(shape, "zeros", self.dtype, name=name) for name in names]
        if self.threshold is None:
            best = tf.reduce_max(y_pred, axis=-1, keepdims=True)
            says = tf.cast((y_pred >= best) & (tf.abs(y_pred) > 1e-9), y_true.dtype)
        else:
            says = tf.cast(y_pred > self.threshold, y_true.dtype)
        weight: Any = 1.0 if sample_weight is None else tf.reshape(convert(sample_weight, self.dtype), (-1, 1))
        axis = None if self.average == "micro" else 0
        parts = (says * y_true, says * (1 - y_true), (1 - says) * y_true, y_true)
        for total, part in zip(self._counts, parts, strict=True):
            total.assign_add(tf.reduce_sum(part * weight, axis=axis))

    def result(self) -> Any:
        """The score so far."""
        if self._counts is None:
            return tf.constant(0.0)
        right, wrong, missed, weights = (tf.convert_to_tensor(v) for v in self._counts)
        precision = right / (right + wrong + epsilon())
        recall = right / (right + missed + epsilon())
        square = self.beta * self.beta
        score = (1 + square) * precision * recall / (precision * square + recall + epsilon())
        if self.average == "weighted":
            return tf.reduce_sum(score * (weights / (tf.reduce_sum(weights) + epsilon())))
        return score if self.average is None else tf.reduce_mean(score)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = {"average": self.average, "beta": self.beta, "threshold": self.threshold}
        return {**super().get_config(), **own}


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall; arguments as of ``FBetaScore``.

    >>> import minitape as tf
    >>> score = tf.keras.metrics.F1Score(average="macro", threshold=0.5)
    >>> round(float(score([[1, 1], [0, 1]], [[0.9, 0.2], [0.8, 0.9]])), 4)
    0.6667
    """

    def __init__(
        self, average: str | None = None, threshold: float | None = None, name: str = "f1_score", dtype: Any = None
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {name: value for name, value in super().get_config().items() if name != "beta"}
