"""``tf.keras.metrics``: numbers gathered over batches: ``update_state``, ``result``, ``reset_state``."""

from __future__ import annotations

from typing import Any

from . import losses
from .base import convert, floatx
from .counting import (  # noqa: F401 - part of tf.keras.metrics
    AUC,
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
from .losses import squeeze_or_expand
from .metric import Mean, MeanMetricWrapper, Metric, RootMeanSquaredError, Sum  # noqa: F401 - part of tf.keras.metrics
from .serial import lookup


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the label is the prediction, else 0."""
    y_pred = convert(y_pred)
    y_true, y_pred = squeeze_or_expand(convert(y_true, y_pred.dtype.name), y_pred)
    return convert(y_true == y_pred, floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """1 where the prediction lies on the label's side of ``threshold``, else 0.

    >>> binary_accuracy([[1], [0]], [[0.9], [0.8]]).numpy()
    array([[1.],
           [0.]], dtype=float32)
    """
    y_true, y_pred = squeeze_or_expand(convert(y_true), convert(y_pred))
    return convert(y_true == convert(y_pred > threshold, y_true.dtype.name), floatx())


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest prediction is that of the label (one-hot), else 0."""
    import minitape as tf

    return convert(tf.argmax(convert(y_true), axis=-1) == tf.argmax(convert(y_pred), axis=-1), floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest prediction is that of the label (a number), else 0."""
    import minitape as tf

    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    return convert(y_true == convert(tf.argmax(y_pred, axis=-1), y_true.dtype.name), floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the label (one-hot) is among the ``k`` largest predictions, else 0."""
    import minitape as tf

    return sparse_top_k_categorical_accuracy(tf.argmax(convert(y_true), axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the label (a number) is among the ``k`` largest predictions, else 0."""
    import minitape as tf

    y_pred, y_true = convert(y_pred), convert(y_true, "int32")
    best = tf.math.top_k(y_pred, k=min(k, y_pred.shape[-1])).indices
    if len(y_true.shape) == len(y_pred.shape):
        y_true = tf.squeeze(y_true, -1)
    return convert(tf.reduce_any(best == tf.expand_dims(y_true, -1), axis=-1), floatx())


def _class(name: str, function: Any, default_name: str, arguments: dict[str, Any] | None = None) -> type[Metric]:
    """The metric that is the mean of a function; ``arguments`` are those of the function, with defaults."""
    own = arguments or {}
    first = list(own) if name.startswith(("TopK", "SparseTopK")) else []
    order = [*first, "name", "dtype", *[a for a in own if a not in first]]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        unknown = sorted(given.keys() - set(order))
        if unknown or len(args) > len(order):
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{(unknown or ['args'])[0]}'")
        MeanMetricWrapper.__init__(
            self,
            function,
            given.get("name", default_name),
            given.get("dtype"),
            **{k: given.get(k, v) for k, v in own.items()},
        )

    doc = f"The mean over all examples of: {(function.__doc__ or '').splitlines()[0]}"
    return type(name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


Accuracy = _class("Accuracy", accuracy, "accuracy")
BinaryAccuracy = _class("BinaryAccuracy", binary_accuracy, "binary_accuracy", {"threshold": 0.5})
CategoricalAccuracy = _class("CategoricalAccuracy", categorical_accuracy, "categorical_accuracy")
SparseCategoricalAccuracy = _class(
    "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
)
TopKCategoricalAccuracy = _class(
    "TopKCategoricalAccuracy", top_k_categorical_accuracy, "top_k_categorical_accuracy", {"k": 5}
)
SparseTopKCategoricalAccuracy = _class(
    "SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy, "sparse_top_k_categorical_accuracy", {"k": 5}
)
MeanSquaredError = _class("MeanSquaredError", losses.mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _class("MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError = _class(
    "MeanAbsolutePercentageError", losses.mean_absolute_percentage_error, "mean_absolute_percentage_error"
)
MeanSquaredLogarithmicError = _class(
    "MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error, "mean_squared_logarithmic_error"
)
LogCoshError = _class("LogCoshError", losses.log_cosh, "logcosh")
Hinge = _class("Hinge", losses.hinge, "hinge")
SquaredHinge = _class("SquaredHinge", losses.squared_hinge, "squared_hinge")
CategoricalHinge = _class("CategoricalHinge", losses.categorical_hinge, "categorical_hinge")
KLDivergence = _class("KLDivergence", losses.kl_divergence, "kl_divergence")
Poisson = _class("Poisson", losses.poisson, "poisson")
BinaryCrossentropy = _class(
    "BinaryCrossentropy",
    losses.binary_crossentropy,
    "binary_crossentropy",
    {"from_logits": False, "label_smoothing": 0},
)
CategoricalCrossentropy = _class(
    "CategoricalCrossentropy",
    losses.categorical_crossentropy,
    "categorical_crossentropy",
    {"from_logits": False, "label_smoothing": 0, "axis": -1},
)
SparseCategoricalCrossentropy = _class(
    "SparseCategoricalCrossentropy",
    losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    {"from_logits": False, "axis": -1},
)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the vectors."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


CosineSimilarity = _class("CosineSimilarity", cosine_similarity, "cosine_similarity", {"axis": -1})


class R2Score(Metric):
    """The part of the variance of the labels that the predictions explain, averaged over the columns."""

    def __init__(self, name: str | None = "r2_score", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self._sums: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        import minitape as tf

        y_true, y_pred = (convert(y, self.dtype) for y in (y_true, y_pred))
        if self._sums is None:
            names = ("squared_sum", "sum", "residual", "count")
            self._sums = [self.add_variable((y_true.shape[-1],), "zeros", name=name) for name in names]
        weight = tf.ones(len(y_true), y_true.dtype) if sample_weight is None else convert(sample_weight, self.dtype)
        weight = tf.reshape(weight, (-1, 1))
        for total, part in zip(
            self._sums, (y_true**2, y_true, (y_true - y_pred) ** 2, tf.ones_like(y_true)), strict=True
        ):
            total.assign_add(tf.reduce_sum(part * weight, axis=0))

    def result(self) -> Any:
        """The score so far."""
        import minitape as tf

        if self._sums is None:
            return tf.constant(0.0)
        squares, totals, residual, count = (tf.convert_to_tensor(v) for v in self._sums)
        return tf.reduce_mean(1.0 - residual / (squares - totals * totals / count))


mse = MSE = losses.mean_squared_error
mae = MAE = losses.mean_absolute_error
mape = MAPE = losses.mean_absolute_percentage_error
msle = MSLE = losses.mean_squared_logarithmic_error
TABLE = {
    name: f
    for name, f in globals().items()
    if (isinstance(f, type) and issubclass(f, Metric)) or getattr(f, "__module__", "") in (__name__, losses.__name__)
}
TABLE |= {name: f for name, f in losses.TABLE.items() if not isinstance(f, type)}
for _short, _metric in (
    ("mse", MeanSquaredError),
    ("MSE", MeanSquaredError),
    ("mae", MeanAbsoluteError),
    ("MAE", MeanAbsoluteError),
    ("mape", MeanAbsolutePercentageError),
    ("MAPE", MeanAbsolutePercentageError),
    ("msle", MeanSquaredLogarithmicError),
    ("MSLE", MeanSquaredLogarithmicError),
):
    TABLE[_short] = _metric


def get(identifier: Any) -> Any:
    """The metric of a name ("mse", "BinaryAccuracy", ...), or ``identifier`` itself when it is callable."""
    return lookup("metric", identifier, TABLE)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.metrics", name, TABLE))
