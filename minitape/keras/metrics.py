"""``tf.keras.metrics``: numbers gathered over batches: ``update_state``, ``result``, ``reset_state``."""

from __future__ import annotations

import warnings
from typing import Any

from .. import tf
from ..engine.namespace import public
from . import lossfunctions as losses
from .accuracies import (  # noqa: F401 - part of tf.keras.metrics
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from .auc import AUC
from .base import convert, to_snake_case
from .counting import (
    F1Score,
    FalseNegatives,
    FalsePositives,
    FBetaScore,
    MeanIoU,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from .loss import squeeze_or_expand
from .losses import (  # noqa: F401 - the functions behind some of them, which Keras offers here too
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from .metric import FunctionMetric, Mean, MeanMetricWrapper, Metric, RootMeanSquaredError, Sum
from .serial import lookup


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the vectors."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


class MeanSquaredError(FunctionMetric, function=losses.mean_squared_error):
    """The mean of ``(y_true - y_pred) ** 2`` over all elements so far.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.MeanSquaredError()
    >>> metric.update_state([[0.0], [0.0]], [[1.0], [3.0]])
    >>> metric.update_state([[0.0]], [[2.0]])
    >>> round(float(metric.result()), 4)
    4.6667
    """

    name: str | None = "mean_squared_error"
    dtype: Any = None


class MeanAbsoluteError(FunctionMetric, function=losses.mean_absolute_error):
    """The mean of ``abs(y_true - y_pred)`` over all elements so far.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.MeanAbsoluteError()([[0.0], [0.0]], [[1.0], [3.0]]))
    2.0
    """

    name: str | None = "mean_absolute_error"
    dtype: Any = None


class MeanAbsolutePercentageError(FunctionMetric, function=losses.mean_absolute_percentage_error):
    """100 times the mean of ``abs((y_true - y_pred) / y_true)``.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.MeanAbsolutePercentageError()([[2.0], [4.0]], [[1.0], [4.0]]))
    25.0
    """

    name: str | None = "mean_absolute_percentage_error"
    dtype: Any = None


class MeanSquaredLogarithmicError(FunctionMetric, function=losses.mean_squared_logarithmic_error):
    """The mean of ``(log(y_true + 1) - log(y_pred + 1)) ** 2``.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.MeanSquaredLogarithmicError()([[0.0], [3.0]], [[0.0], [1.0]])), 4)
    0.2402
    """

    name: str | None = "mean_squared_logarithmic_error"
    dtype: Any = None


class LogCoshError(FunctionMetric, function=losses.log_cosh):
    """The mean of ``log(cosh(y_pred - y_true))``.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.LogCoshError()([[0.0], [0.0]], [[0.0], [1.0]])), 4)
    0.2169
    """

    name: str | None = "logcosh"
    dtype: Any = None


class Hinge(FunctionMetric, function=losses.hinge):
    """The mean of ``max(1 - y_true * y_pred, 0)``; labels are -1 and 1, or 0 and 1.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.Hinge()([[1.0], [0.0]], [[0.5], [0.5]]))
    1.0
    """

    name: str | None = "hinge"
    dtype: Any = None


class SquaredHinge(FunctionMetric, function=losses.squared_hinge):
    """The mean of ``max(1 - y_true * y_pred, 0) ** 2``; labels are -1 and 1, or 0 and 1.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.SquaredHinge()([[1.0], [0.0]], [[0.5], [0.5]]))
    1.25
    """

    name: str | None = "squared_hinge"
    dtype: Any = None


class CategoricalHinge(FunctionMetric, function=losses.categorical_hinge):
    """The mean of ``max(neg - pos + 1, 0)``: the largest wrong prediction and the right one.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.CategoricalHinge()([[0.0, 1.0]], [[0.75, 0.5]]))
    1.25
    """

    name: str | None = "categorical_hinge"
    dtype: Any = None


class KLDivergence(FunctionMetric, function=losses.kl_divergence):
    """The mean of ``sum(y_true * log(y_true / y_pred))`` over the rows.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.KLDivergence()([[0.5, 0.5]], [[0.25, 0.75]])), 4)
    0.1438
    """

    name: str | None = "kl_divergence"
    dtype: Any = None


class Poisson(FunctionMetric, function=losses.poisson):
    """The mean of ``y_pred - y_true * log(y_pred)``.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.Poisson()([[1.0], [0.0]], [[1.0], [3.0]]))
    2.0
    """

    name: str | None = "poisson"
    dtype: Any = None


class BinaryCrossentropy(FunctionMetric, function=losses.binary_crossentropy):
    """The mean of ``-log`` of the probability given to each label (0 or 1).

    Arguments as of the loss of this name.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.BinaryCrossentropy(from_logits=True)
    >>> round(float(metric([[1.0], [0.0]], [[0.0], [0.0]])), 4)
    0.6931
    """

    name: str | None = "binary_crossentropy"
    dtype: Any = None
    from_logits: bool = False
    label_smoothing: float = 0


class CategoricalCrossentropy(FunctionMetric, function=losses.categorical_crossentropy):
    """The mean of ``-sum(y_true * log(y_pred))`` over the rows, for one-hot labels.

    Arguments as of the loss of this name.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.CategoricalCrossentropy()
    >>> round(float(metric([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])), 4)
    0.3466
    """

    name: str | None = "categorical_crossentropy"
    dtype: Any = None
    from_logits: bool = False
    label_smoothing: float = 0
    axis: int = -1


class SparseCategoricalCrossentropy(FunctionMetric, function=losses.sparse_categorical_crossentropy):
    """The mean of ``-log`` of the probability given to the right class, whose number is the label.

    Arguments as of the loss of this name.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.SparseCategoricalCrossentropy(from_logits=True)
    >>> round(float(metric(tf.constant([0, 1]), tf.zeros([2, 2]))), 4)
    0.6931
    """

    name: str | None = "sparse_categorical_crossentropy"
    dtype: Any = None
    from_logits: bool = False
    ignore_class: int | None = None
    axis: int = -1


class CosineSimilarity(FunctionMetric, function=cosine_similarity):
    """The mean cosine of the angles between labels and predictions along ``axis``.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.CosineSimilarity()([[0.0, 2.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]))
    0.5
    """

    name: str | None = "cosine_similarity"
    dtype: Any = None
    axis: int = -1


class R2Score(Metric):
    """The part of the variance of the labels that the predictions explain.

    Labels and predictions have shape (batch, columns). ``class_aggregation`` is "uniform_average" or
    "variance_weighted_average" of the columns, or None to keep them. With ``num_regressors`` the score is adjusted for
    that number of regressors. Raises ValueError for another word, a negative number, and for other shapes.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.R2Score()([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]])), 4)
    0.5714
    """

    _direction = 1

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = "r2_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name)
        words = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in words:
            raise ValueError(
                f"Invalid value for argument `class_aggregation`. Expected one of {words}. Received: "
                f"class_aggregation={class_aggregation}"
            )
        if num_regressors < 0:
            raise ValueError(
                "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                f"num_regressors={num_regressors}"
            )
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_variable((), "zeros", name="num_samples")
        self._sums: Any = None

    def _make(self, true: tuple[Any, ...], predicted: tuple[Any, ...]) -> None:
        if len(true) != 2 or len(predicted) != 2:
            raise ValueError(
                "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
                f"y_pred.shape={true} and y_true.shape={predicted}."
            )
        names = ("squared_sum", "sum", "residual", "count")
        self._sums = [self.add_variable((true[-1],), "zeros", name=name) for name in names]

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        y_true, y_pred = squeeze_or_expand(convert(y_true, self.dtype), convert(y_pred, self.dtype))
        if self._sums is None:
            self._make(tuple(y_true.shape), tuple(y_pred.shape))
        weight = convert(1.0 if sample_weight is None else sample_weight, self.dtype)
        weight = weight[:, None] if len(weight.shape) == 1 else weight
        parts = (y_true**2, y_true, (y_true - y_pred) ** 2, tf.ones_like(y_true))
        for total, part in zip(self._sums, parts, strict=True):
            total.assign_add(tf.reduce_sum(part * weight, axis=0))
        self.num_samples.assign_add(tf.cast(tf.size(y_true), self.num_samples.dtype))

    def result(self) -> Any:
        """The score so far; 0 before anything came. Warns when there are too few examples to adjust it."""
        if self._sums is None:
            return tf.constant(0.0)
        squares, totals, residual, count = (tf.convert_to_tensor(v) for v in self._sums)
        variance = squares - totals * (totals / count)
        scores = 1.0 - residual / variance
        scores = tf.where(tf.math.is_inf(scores), 0.0, scores)
        if self.class_aggregation == "uniform_average":
            scores = tf.reduce_mean(scores)
        elif self.class_aggregation == "variance_weighted_average":
            scores = tf.reduce_sum(variance * scores) / tf.reduce_sum(variance)
        return self._adjusted(scores) if self.num_regressors else scores

    def _adjusted(self, score: Any) -> Any:
        samples = convert(self.num_samples)
        free = float(samples) - self.num_regressors - 1.0
        if free > 0:
            return 1.0 - (1.0 - score) * (samples - 1.0) / free
        problem = "Division by zero in Adjusted R2 score."
        if free < 0:
            problem = "More independent predictors than datapoints in adjusted R2 score."
        warnings.warn(f"{problem} Falling back to standard R2 score.", stacklevel=3)
        return score

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = {"class_aggregation": self.class_aggregation, "num_regressors": self.num_regressors}
        return {**super().get_config(), **own}


CLASSES = (
    AUC, Accuracy, BinaryAccuracy, BinaryCrossentropy, CategoricalAccuracy, CategoricalCrossentropy, CategoricalHinge,
    CosineSimilarity, F1Score, FBetaScore, FalseNegatives, FalsePositives, Hinge, KLDivergence, LogCoshError, Mean,
    MeanAbsoluteError, MeanAbsolutePercentageError, MeanIoU, MeanMetricWrapper, MeanSquaredError,
    MeanSquaredLogarithmicError, Metric, Poisson, Precision, R2Score, Recall, RootMeanSquaredError,
    SparseCategoricalAccuracy, SparseCategoricalCrossentropy, SparseTopKCategoricalAccuracy, SquaredHinge, Sum,
    TopKCategoricalAccuracy, TrueNegatives, TruePositives,
)  # fmt: skip
TABLE = {cls.__name__: cls for cls in CLASSES} | {to_snake_case(cls.__name__): cls for cls in CLASSES}
for _cls, _names in (
    (BinaryCrossentropy, "bce BCE"),
    (MeanSquaredError, "mse MSE"),
    (MeanAbsoluteError, "mae MAE"),
    (MeanAbsolutePercentageError, "mape MAPE"),
    (MeanSquaredLogarithmicError, "msle MSLE"),
):
    TABLE |= dict.fromkeys(_names.split(), _cls)


def get(identifier: Any) -> Any:
    """The metric of a name, a class name or a dictionary; ``identifier`` itself when it is callable, None for None.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.metrics.get("mse").name
    'mean_squared_error'
    >>> tf.keras.metrics.get({"class_name": "TopKCategoricalAccuracy", "config": {"k": 3}}).get_config()["k"]
    3
    """
    return lookup("metric", identifier, TABLE)


__all__ = [
    *(cls.__name__ for cls in CLASSES),
    "get",
    *"""KLD MAE MAPE MSE MSLE binary_accuracy binary_crossentropy categorical_accuracy categorical_crossentropy
    categorical_hinge hinge huber kld kullback_leibler_divergence logcosh mae mape mse msle poisson
    sparse_categorical_accuracy sparse_categorical_crossentropy sparse_top_k_categorical_accuracy squared_hinge
    top_k_categorical_accuracy""".split(),
]
__getattr__, __dir__ = public("tf.keras.metrics", __all__)
