"""``tf.keras.losses``: how far predictions are from what was wanted.

Each loss is a function that gives one number for each example, and a class that also weighs and reduces them.
"""

from __future__ import annotations

from typing import Any

from ..engine.namespace import public
from . import lossfunctions
from .loss import MEAN, FunctionLoss, Loss
from .lossfunctions import (
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    huber,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from .segmentation import binary_focal_crossentropy, categorical_focal_crossentropy, dice, tversky
from .serial import lookup


class MeanSquaredError(FunctionLoss, function=lossfunctions.mean_squared_error):
    """The mean of ``(y_true - y_pred) ** 2`` over the batch.

    >>> import minitape as tf
    >>> float(tf.keras.losses.MeanSquaredError()([[0.0], [0.0]], [[1.0], [3.0]]))
    5.0
    >>> tf.keras.losses.MeanSquaredError(reduction=None)([[0.0], [0.0]], [[1.0], [3.0]]).numpy()
    array([1., 9.], dtype=float32)
    """

    reduction: str | None = MEAN
    name: str | None = "mean_squared_error"
    dtype: Any = None


class MeanAbsoluteError(FunctionLoss, function=lossfunctions.mean_absolute_error):
    """The mean of ``abs(y_true - y_pred)`` over the batch.

    >>> import minitape as tf
    >>> float(tf.keras.losses.MeanAbsoluteError()([[0.0], [0.0]], [[1.0], [3.0]]))
    2.0
    >>> float(tf.keras.losses.MeanAbsoluteError()([[0.0], [0.0]], [[1.0], [3.0]], sample_weight=[1.0, 0.0]))
    0.5
    """

    reduction: str | None = MEAN
    name: str | None = "mean_absolute_error"
    dtype: Any = None


class MeanAbsolutePercentageError(FunctionLoss, function=lossfunctions.mean_absolute_percentage_error):
    """100 times the mean of ``abs((y_true - y_pred) / y_true)`` over the batch.

    >>> import minitape as tf
    >>> float(tf.keras.losses.MeanAbsolutePercentageError()([[2.0], [4.0]], [[1.0], [4.0]]))
    25.0
    """

    reduction: str | None = MEAN
    name: str | None = "mean_absolute_percentage_error"
    dtype: Any = None


class MeanSquaredLogarithmicError(FunctionLoss, function=lossfunctions.mean_squared_logarithmic_error):
    """The mean of ``(log(y_true + 1) - log(y_pred + 1)) ** 2`` over the batch.

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.MeanSquaredLogarithmicError()([[0.0], [3.0]], [[0.0], [1.0]])), 4)
    0.2402
    """

    reduction: str | None = MEAN
    name: str | None = "mean_squared_logarithmic_error"
    dtype: Any = None


class Huber(FunctionLoss, function=huber):
    """Half the squared error, linear beyond ``delta``, averaged over the batch.

    >>> import minitape as tf
    >>> float(tf.keras.losses.Huber()([[0.0], [0.0]], [[1.0], [5.0]]))
    2.5
    >>> float(tf.keras.losses.Huber(delta=5.0)([[0.0], [0.0]], [[1.0], [5.0]]))
    6.5
    """

    delta: float = 1.0
    reduction: str | None = MEAN
    name: str | None = "huber_loss"
    dtype: Any = None


class LogCosh(FunctionLoss, function=lossfunctions.log_cosh):
    """The mean of ``log(cosh(y_pred - y_true))`` over the batch.

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.LogCosh()([[0.0], [0.0]], [[0.0], [1.0]])), 4)
    0.2169
    """

    reduction: str | None = MEAN
    name: str | None = "log_cosh"
    dtype: Any = None


class Hinge(FunctionLoss, function=hinge):
    """The mean of ``max(1 - y_true * y_pred, 0)`` over the batch; labels are -1 and 1, or 0 and 1.

    >>> import minitape as tf
    >>> float(tf.keras.losses.Hinge()([[1.0], [0.0]], [[0.5], [0.5]]))
    1.0
    """

    reduction: str | None = MEAN
    name: str | None = "hinge"
    dtype: Any = None


class SquaredHinge(FunctionLoss, function=squared_hinge):
    """The mean of ``max(1 - y_true * y_pred, 0) ** 2`` over the batch; labels are -1 and 1, or 0 and 1.

    >>> import minitape as tf
    >>> float(tf.keras.losses.SquaredHinge()([[1.0], [0.0]], [[0.5], [0.5]]))
    1.25
    """

    reduction: str | None = MEAN
    name: str | None = "squared_hinge"
    dtype: Any = None


class CategoricalHinge(FunctionLoss, function=categorical_hinge):
    """The mean over the batch of ``max(neg - pos + 1, 0)``: the largest wrong prediction and the right one.

    >>> import minitape as tf
    >>> float(tf.keras.losses.CategoricalHinge()([[0.0, 1.0]], [[0.75, 0.5]]))
    1.25
    """

    reduction: str | None = MEAN
    name: str | None = "categorical_hinge"
    dtype: Any = None


class CosineSimilarity(FunctionLoss, function=cosine_similarity):
    """Minus the mean cosine of the angles between labels and predictions along ``axis``.

    >>> import minitape as tf
    >>> float(tf.keras.losses.CosineSimilarity()([[0.0, 2.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]))
    -0.5
    """

    axis: int = -1
    reduction: str | None = MEAN
    name: str | None = "cosine_similarity"
    dtype: Any = None


class KLDivergence(FunctionLoss, function=lossfunctions.kl_divergence):
    """The mean over the batch of ``sum(y_true * log(y_true / y_pred))``.

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.KLDivergence()([[0.5, 0.5]], [[0.25, 0.75]])), 4)
    0.1438
    """

    reduction: str | None = MEAN
    name: str | None = "kl_divergence"
    dtype: Any = None


class Poisson(FunctionLoss, function=poisson):
    """The mean of ``y_pred - y_true * log(y_pred)`` over the batch.

    >>> import minitape as tf
    >>> float(tf.keras.losses.Poisson()([[1.0], [0.0]], [[1.0], [3.0]]))
    2.0
    """

    reduction: str | None = MEAN
    name: str | None = "poisson"
    dtype: Any = None


class BinaryCrossentropy(FunctionLoss, function=binary_crossentropy):
    """The mean over the batch of ``-log`` of the probability given to each label (0 or 1).

    Predictions are probabilities, or logits if ``from_logits``; ``label_smoothing`` draws labels towards 0.5. Raises
    ValueError for labels and predictions of different shapes.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    >>> round(float(loss([[1.0], [0.0]], [[0.0], [0.0]])), 4)
    0.6931
    """

    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = MEAN
    name: str | None = "binary_crossentropy"
    dtype: Any = None


class CategoricalCrossentropy(FunctionLoss, function=categorical_crossentropy):
    """The mean over the batch of ``-sum(y_true * log(y_pred))`` for one-hot labels.

    Predictions are probabilities, or logits if ``from_logits``; ``label_smoothing`` draws labels towards equal ones.
    Raises ValueError for labels and predictions of different shapes.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.CategoricalCrossentropy()
    >>> round(float(loss([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])), 4)
    0.3466
    """

    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = MEAN
    name: str | None = "categorical_crossentropy"
    dtype: Any = None


class SparseCategoricalCrossentropy(FunctionLoss, function=sparse_categorical_crossentropy):
    """The mean over the batch of ``-log`` of the probability given to the right class, whose number is the label.

    Predictions (..., classes) are probabilities, or logits if ``from_logits``; examples of ``ignore_class`` do not
    count. Raises ValueError for shapes that do not fit and for another ``axis`` than the last.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> round(float(loss(tf.constant([0, 1]), tf.zeros([2, 2]))), 4)
    0.6931
    """

    _squeezes = False
    from_logits: bool = False
    ignore_class: int | None = None
    reduction: str | None = MEAN
    axis: int = -1
    name: str | None = "sparse_categorical_crossentropy"
    dtype: Any = None


class BinaryFocalCrossentropy(FunctionLoss, function=binary_focal_crossentropy):
    """``BinaryCrossentropy`` in which what is well predicted counts little: each times ``(1 - p) ** gamma``.

    p is the probability given to the label. With ``apply_class_balancing`` label 1 has the weight ``alpha`` and label 0
    ``1 - alpha``.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.BinaryFocalCrossentropy(gamma=2)
    >>> round(float(loss([[0.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.1, 0.1]])), 4)
    0.0872
    """

    apply_class_balancing: bool = False
    alpha: float = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = MEAN
    name: str | None = "binary_focal_crossentropy"
    dtype: Any = None


class CategoricalFocalCrossentropy(FunctionLoss, function=categorical_focal_crossentropy):
    """``CategoricalCrossentropy`` in which what is well predicted counts little: each times ``(1 - p) ** gamma``.

    ``alpha`` is a weight for all classes, or has one for each.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.CategoricalFocalCrossentropy()
    >>> round(float(loss([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.9, 0.1]])), 4)
    0.0218
    """

    alpha: Any = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: float = 0.0
    axis: int = -1
    reduction: str | None = MEAN
    name: str | None = "categorical_focal_crossentropy"
    dtype: Any = None


class Dice(FunctionLoss, function=dice):
    """``1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))``, with sums over ``axis`` or over everything.

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.Dice()([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]])), 4)
    0.3333
    """

    reduction: str | None = MEAN
    name: str | None = "dice"
    axis: Any = None
    dtype: Any = None


class Tversky(FunctionLoss, function=tversky):
    """``Dice`` with weights of its own for what is missing (``alpha``) and for what is too much (``beta``).

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.Tversky(beta=1.0)([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]])), 4)
    0.4286
    """

    alpha: float = 0.5
    beta: float = 0.5
    reduction: str | None = MEAN
    name: str | None = "tversky"
    axis: Any = None
    dtype: Any = None


mse = MSE = lossfunctions.mean_squared_error
mae = MAE = lossfunctions.mean_absolute_error
mape = MAPE = lossfunctions.mean_absolute_percentage_error
msle = MSLE = lossfunctions.mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = lossfunctions.kl_divergence
logcosh = lossfunctions.log_cosh

PUBLIC = """KLD MAE MAPE MSE MSLE binary_crossentropy binary_focal_crossentropy categorical_crossentropy
categorical_focal_crossentropy categorical_hinge cosine_similarity dice hinge huber kld kullback_leibler_divergence logcosh
mae mape mse msle poisson sparse_categorical_crossentropy squared_hinge tversky""".split()
CLASSES = {f.__name__: f for f in FunctionLoss.__subclasses__()}


class Reduction:
    """The names of what can be done with the losses of a batch, as older programs write them.

    ``AUTO`` is there for them too, but no loss takes it: leave ``reduction`` out instead.

    >>> import minitape as tf
    >>> each = tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.NONE)
    >>> each([[0.0], [0.0]], [[1.0], [3.0]]).numpy()
    array([1., 9.], dtype=float32)
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All the names.

        >>> import minitape as tf
        >>> tf.keras.losses.Reduction.all()
        ('auto', 'none', 'sum', 'sum_over_batch_size')
        """
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for another name.

        >>> import minitape as tf
        >>> tf.keras.losses.Reduction.validate("mean")
        Traceback (most recent call last):
            ...
        ValueError: Invalid Reduction Key: mean. Expected keys are ...
        """
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')


__all__ = ["Loss", "Reduction", *CLASSES, *PUBLIC, "get"]
# the names that `get` and `compile` know: those of the functions themselves, and some short ones
TABLE = CLASSES | {globals()[name].__name__: globals()[name] for name in PUBLIC}
TABLE |= {name: globals()[name] for name in "kld KLD mae MAE mape MAPE mse MSE msle MSLE".split()}
TABLE |= {"bce": binary_crossentropy, "BCE": binary_crossentropy}


def get(identifier: Any) -> Any:
    """The loss of a name, a class name or a dictionary; ``identifier`` itself when it is callable, None for None.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.losses.get("mse") is tf.keras.losses.MSE
    True
    >>> tf.keras.losses.get({"class_name": "Huber", "config": {"name": "mine"}}).name
    'mine'
    """
    return lookup("loss", identifier, TABLE)


__getattr__, __dir__ = public("tf.keras.losses", __all__)
