"""Metrics that count right and wrong: cells of the confusion matrix, precision, recall, areas under curves."""

from __future__ import annotations

from typing import Any

from .base import auto_name, convert, epsilon
from .losses import squeeze_or_expand
from .metric import Metric


class _Confusion(Metric):
    """Counts the examples of one cell of the confusion matrix, for each threshold."""

    _cell = (True, True)  # (label, prediction)

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name or auto_name(type(self).__name__))
        self.thresholds = _thresholds(thresholds)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        self.accumulator.assign_add(_cells(y_true, y_pred, self.thresholds, sample_weight, [self._cell], self.dtype)[0])

    def result(self) -> Any:
        """The count so far."""
        import minitape as tf

        counts = tf.convert_to_tensor(self.accumulator)
        return counts[0] if len(self.thresholds) == 1 else counts


def _thresholds(thresholds: Any) -> list[float]:
    found = [0.5] if thresholds is None else list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    bad = [t for t in found if t is None or t < 0 or t > 1]
    if bad:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
    return found


def _cells(y_true: Any, y_pred: Any, thresholds: list[float], weight: Any, cells: Any, dtype: str) -> list[Any]:
    """For each (label, prediction) the weighted number of examples, for each threshold."""
    import minitape as tf

    y_true, y_pred = squeeze_or_expand(convert(y_true, dtype), convert(y_pred, dtype))
    labels = tf.reshape(tf.cast(y_true, tf.bool), (1, -1))
    predicted = tf.reshape(y_pred, (1, -1)) > tf.reshape(tf.constant(thresholds, dtype), (-1, 1))
    factor = None
    if weight is not None:
        _, weight = squeeze_or_expand(y_pred, convert(weight, dtype), expand_rank_1=False)
        factor = tf.reshape(tf.broadcast_to(weight, y_pred.shape), (1, -1))
    out = []
    for label, prediction in cells:
        hit = tf.cast(tf.logical_and(labels == label, predicted == prediction), dtype)
        out.append(tf.reduce_sum(hit if factor is None else hit * factor, axis=1))
    return out


class TruePositives(_Confusion):
    """How many labels 1 were predicted as 1."""


class TrueNegatives(_Confusion):
    """How many labels 0 were predicted as 0."""

    _cell = (False, False)


class FalsePositives(_Confusion):
    """How many labels 0 were predicted as 1."""

    _cell = (False, True)


class FalseNegatives(_Confusion):
    """How many labels 1 were predicted as 0."""

    _cell = (True, False)


class _Quotient(Metric):
    _other = (False, True)
    _other_name = "false_positives"

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name or auto_name(type(self).__name__))
        self.thresholds = _thresholds(thresholds)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        self.others = self.add_variable(shape, "zeros", name=self._other_name)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        counts = _cells(y_true, y_pred, self.thresholds, sample_weight, [(True, True), self._other], self.dtype)
        self.true_positives.assign_add(counts[0])
        self.others.assign_add(counts[1])

    def result(self) -> Any:
        """The quotient so far."""
        import minitape as tf

        right = tf.convert_to_tensor(self.true_positives)
        value = tf.math.divide_no_nan(right, right + tf.convert_to_tensor(self.others))
        return value[0] if len(self.thresholds) == 1 else value


class Precision(_Quotient):
    """Which part of the predictions 1 was right.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.Precision()([0, 1, 1, 1], [1, 0, 1, 1]))
    0.6666666865348816
    """


class Recall(_Quotient):
    """Which part of the labels 1 was predicted."""

    _other = (True, False)
    _other_name = "false_negatives"


class AUC(Metric):
    """The area under the ROC curve (or "PR"), from ``num_thresholds`` thresholds.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.AUC()([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.75
    """

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(dtype, name or auto_name("AUC"))
        if num_thresholds <= 1:
            raise ValueError(
                f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}"
            )
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value: "{curve}". Expected values are ["PR", "ROC"]')
        self.curve = curve
        inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.thresholds = [-1e-7, *inner, 1.0 + 1e-7]
        self.counts = [
            self.add_variable((num_thresholds,), "zeros", name=n)
            for n in ("true_positives", "false_positives", "true_negatives", "false_negatives")
        ]

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        cells = [(True, True), (False, True), (False, False), (True, False)]
        found = _cells(y_true, y_pred, self.thresholds, sample_weight, cells, self.dtype)
        for variable, count in zip(self.counts, found, strict=True):
            variable.assign_add(count)

    def result(self) -> Any:
        """The area so far."""
        import minitape as tf

        tp, fp, tn, fn = (tf.convert_to_tensor(v) for v in self.counts)
        recall = tf.math.divide_no_nan(tp, tp + fn)
        x, y = (
            (tf.math.divide_no_nan(fp, fp + tn), recall)
            if self.curve == "ROC"
            else (recall, tf.math.divide_no_nan(tp, tp + fp))
        )
        return tf.reduce_sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2.0)


class MeanIoU(Metric):
    """Intersection over union of labels and predicted classes, averaged over the classes that occur."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name or auto_name("MeanIoU"))
        self.num_classes = num_classes
        self.total_cm = self.add_variable((num_classes, num_classes), "zeros", name="total_confusion_matrix")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predicted classes."""
        import minitape as tf

        labels, classes = (tf.reshape(convert(y, "int64"), (-1,)) for y in (y_true, y_pred))
        weights = None if sample_weight is None else tf.reshape(convert(sample_weight, self.dtype), (-1,))
        self.total_cm.assign_add(tf.math.confusion_matrix(labels, classes, self.num_classes, weights, dtype=self.dtype))

    def result(self) -> Any:
        """The mean so far."""
        import minitape as tf

        matrix = tf.convert_to_tensor(self.total_cm)
        right = tf.linalg.diag_part(matrix)
        union = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1) - right
        valid = tf.reduce_sum(tf.cast(union != 0, self.dtype))
        return tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(right, union)), valid)


class FBetaScore(Metric):
    """The weighed harmonic mean of precision and recall of each class, or their "micro", "macro", "weighted" average.

    A prediction says yes where it is above ``threshold``; without one, to the class with the largest value.
    """

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
        self.average, self.beta, self.threshold = average, beta, threshold
        self._counts: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels (1 or 0 for each class) and predictions."""
        import minitape as tf

        y_true, y_pred = (convert(y, self.dtype) for y in (y_true, y_pred))
        if self._counts is None:
            names = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")
            shape = () if self.average == "micro" else (y_true.shape[-1],)
            self._counts = [self.add_variable(shape, "zeros", name=name) for name in names]
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
        import minitape as tf

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


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(
        self, average: str | None = None, threshold: float | None = None, name: str = "f1_score", dtype: Any = None
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)
