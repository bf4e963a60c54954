"""``tf.keras.metrics``: numbers gathered over batches: ``update_state``, ``result``, ``reset_state``."""

from __future__ import annotations

from typing import Any

from . import initializers, losses
from .backend import auto_name, convert, floatx, get_keras_mask, name_scope, standardize_dtype
from .losses import apply_mask, squeeze_or_expand
from .serial import lookup
from .tracking import Store, might_track
from .variable import Variable


class Metric:
    """The base class: subclasses make variables with ``add_variable`` and define ``update_state`` and ``result``.

    >>> import minitape as tf
    >>> mean = tf.keras.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> float(mean.result())
    2.0
    """

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        object.__setattr__(self, "_store", Store())
        self.name = name or auto_name(type(self).__name__)
        self._dtype = standardize_dtype(dtype or floatx())

    dtype = property(lambda self: self._dtype, doc="The name of the type of the result.")

    def __setattr__(self, name: str, value: Any) -> None:
        store = self.__dict__.get("_store")
        object.__setattr__(self, name, store.track(value) if store is not None and might_track(value) else value)

    def _check_super_called(self) -> None:
        if "_store" not in self.__dict__:
            raise RuntimeError("You forgot to call `super().__init__()` in the `__init__()` method. Go add it!")

    def add_variable(
        self, shape: Any, initializer: Any, dtype: Any = None, aggregation: str = "sum", name: str | None = None
    ) -> Variable:
        """A variable that belongs to the metric; ``reset_state`` sets it to zeros."""
        self._check_super_called()
        with name_scope(self.name.replace("/", ">"), caller=self):
            made = Variable(
                initializers.get(initializer), shape, dtype, trainable=False, aggregation=aggregation, name=name
            )
        self._store.add(made)
        return made

    def add_weight(
        self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None
    ) -> Variable:
        """The same as ``add_variable``; zeros by default."""
        return self.add_variable(shape, "zeros" if initializer is None else initializer, dtype, name=name)

    @property
    def variables(self) -> list[Variable]:
        """The variables of the metric and of metrics inside it."""
        return [*self._store.not_trainable, *[v for m in self._store.metrics for v in m.variables]]

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Takes in one batch."""
        raise NotImplementedError

    def result(self) -> Any:
        """The value so far."""
        raise NotImplementedError

    def reset_state(self) -> None:
        """Begins anew."""
        import minitape as tf

        for v in self.variables:
            v.assign(tf.zeros(v.shape, v.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes in one batch and gives the value so far."""
        self._check_super_called()
        self.update_state(*args, **kwargs)
        return self.result()

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {"name": self.name, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


def _samplewise(values: Any, weight: Any, reduce: Any, dtype: str) -> tuple[Any, Any]:
    """One value (and weight) for each example."""
    import minitape as tf

    mask = get_keras_mask(values)
    values = convert(values, dtype)
    if weight is not None:
        weight = apply_mask(convert(weight, dtype), mask, dtype, "sum")
        values, weight = squeeze_or_expand(values, weight)
        rank, inner = len(weight.shape), len(values.shape)
        if inner > rank:
            values = reduce(values, axis=list(range(rank, inner)))
        weight = tf.broadcast_to(weight, values.shape)
        values = values * weight
        if rank > 1:
            weight = reduce(weight, axis=list(range(1, rank)))
    if len(values.shape) > 1:
        values = reduce(values, axis=list(range(1, len(values.shape))))
    return values, weight


class Sum(Metric):
    """The sum of all values."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", self.dtype, name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Adds a batch of values."""
        import minitape as tf

        values, _ = _samplewise(values, sample_weight, tf.reduce_sum, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))

    def result(self) -> Any:
        """The sum so far."""
        return convert(self.total, self.dtype)


class Mean(Metric):
    """The (weighted) mean of all values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", self.dtype, name="total")
        self.count = self.add_variable((), "zeros", self.dtype, name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of values."""
        import minitape as tf

        values, weight = _samplewise(values, sample_weight, tf.reduce_mean, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))
        if weight is not None:
            self.count.assign_add(tf.reduce_sum(weight))
        else:
            self.count.assign_add(float(values.shape[0] if len(values.shape) else 1))

    def result(self) -> Any:
        """The mean so far, 0 before anything came."""
        import minitape as tf

        return tf.math.divide_no_nan(tf.convert_to_tensor(self.total), tf.convert_to_tensor(self.count))


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred) over all examples."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name, dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Takes in a batch of labels and predictions."""
        mask = get_keras_mask(y_pred)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        super().update_state(values, apply_mask(sample_weight, mask, self.dtype, "sum"))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {**super().get_config(), **self._fn_kwargs}


class RootMeanSquaredError(Mean):
    """The root of the mean squared error over all elements."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Takes in a batch of labels and predictions."""
        y_true, y_pred = squeeze_or_expand(convert(y_true, self.dtype), convert(y_pred, self.dtype))
        super().update_state((y_pred - y_true) ** 2, sample_weight)

    def result(self) -> Any:
        """The root so far."""
        import minitape as tf

        return tf.sqrt(super().result())


# -- accuracies -------------------------------------------------------------------------------------------------------


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


# -- counting right and wrong -----------------------------------------------------------------------------------------


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


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the vectors."""
    return -losses.cosine_similarity(y_true, y_pred, axis)


CosineSimilarity = _class("CosineSimilarity", cosine_similarity, "cosine_similarity", {"axis": -1})


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
