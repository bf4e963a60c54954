"""``tf.keras.losses``: how far predictions are from what was wanted.

Each loss is a function that gives one number for each example, and a class that also weighs and reduces them.
"""

from __future__ import annotations

import warnings
from typing import Any

from .. import nest
from .base import auto_name, convert, epsilon, floatx, get_keras_mask, set_keras_mask, standardize_dtype
from .serial import lookup

REDUCTIONS = ("sum_over_batch_size", "sum", None, "none", "mean", "mean_with_sample_weight")


def squeeze_or_expand(x1: Any, x2: Any, expand_rank_1: bool = True) -> tuple[Any, Any]:
    """Drops or adds a last axis of size 1 where the ranks differ by just that."""
    import minitape as tf

    a, b = len(x1.shape), len(x2.shape)
    if a == b + 1 and x1.shape[-1] == 1:
        if b == 1 and expand_rank_1:
            return x1, tf.expand_dims(x2, -1)
        return tf.squeeze(x1, -1), x2
    if b == a + 1 and x2.shape[-1] == 1:
        if a == 1 and expand_rank_1:
            return tf.expand_dims(x1, -1), x2
        return x1, tf.squeeze(x2, -1)
    return x1, x2


def _pair(y_true: Any, y_pred: Any, squeeze: bool = True) -> tuple[Any, Any]:
    """Both as tensors of the predictions' type, of the same rank."""
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    return squeeze_or_expand(y_true, y_pred) if squeeze else (y_true, y_pred)


def _mean(x: Any) -> Any:
    import minitape as tf

    return tf.reduce_mean(x, axis=-1)


# -- functions --------------------------------------------------------------------------------------------------------


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of ``(y_true - y_pred) ** 2``.

    >>> mean_squared_error([[0.0, 2.0]], [[0.0, 0.0]]).numpy()
    array([2.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean((y_true - y_pred) ** 2)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of ``abs(y_true - y_pred)``."""
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """100 times the mean of ``abs((y_true - y_pred) / y_true)``."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred)
    return 100.0 * _mean(abs((y_true - y_pred) / tf.maximum(abs(y_true), epsilon())))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``(log(y_true + 1) - log(y_pred + 1)) ** 2``."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred)
    logs = [tf.math.log(tf.maximum(y, epsilon()) + 1.0) for y in (y_pred, y_true)]
    return _mean((logs[0] - logs[1]) ** 2)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Half the squared error, linear beyond ``delta``."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred)
    error = y_pred - y_true
    size = abs(error)
    return _mean(tf.where(size <= delta, 0.5 * error**2, delta * size - 0.5 * delta**2))


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``log(cosh(y_pred - y_true))``."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + tf.math.softplus(x * -2.0) - tf.math.log(tf.constant(2.0, x.dtype)))


def _signs(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels 0 and 1 as -1 and 1."""
    y_true, y_pred = _pair(y_true, y_pred, squeeze=False)
    if bool(((y_true.array == 0) | (y_true.array == 1)).all()):
        y_true = 2.0 * y_true - 1.0
    return y_true, y_pred


def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``max(1 - y_true * y_pred, 0)``; labels are -1 and 1, or 0 and 1."""
    import minitape as tf

    y_true, y_pred = _signs(y_true, y_pred)
    return _mean(tf.maximum(1.0 - y_true * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``max(1 - y_true * y_pred, 0) ** 2``."""
    import minitape as tf

    y_true, y_pred = _signs(y_true, y_pred)
    return _mean(tf.maximum(1.0 - y_true * y_pred, 0.0) ** 2)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """``max(neg - pos + 1, 0)``, with the prediction for the right class and the largest for a wrong one."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred, squeeze=False)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, 0.0)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between the vectors."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred)
    return -tf.reduce_sum(_unit(y_true, axis) * _unit(y_pred, axis), axis=axis)


def _unit(x: Any, axis: int) -> Any:
    import minitape as tf

    return x / tf.maximum(tf.sqrt(tf.reduce_sum(x * x, axis=axis, keepdims=True)), epsilon())


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """The sum of ``y_true * log(y_true / y_pred)``."""
    import minitape as tf

    y_true, y_pred = (tf.clip_by_value(y, epsilon(), 1.0) for y in _pair(y_true, y_pred, squeeze=False))
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``y_pred - y_true * log(y_pred)``."""
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred, squeeze=False)
    return _mean(y_pred - y_true * tf.math.log(y_pred + epsilon()))


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """The mean of ``-log`` of the probability given to each label (0 or 1).

    >>> binary_crossentropy([[1.0]], [[0.5]]).numpy()
    array([0.6931472], dtype=float32)
    """
    import minitape as tf

    y_true, y_pred = _pair(y_true, y_pred, squeeze=False)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    _same_shape(y_true, y_pred)
    if from_logits:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    else:
        p = tf.clip_by_value(y_pred, epsilon(), 1.0 - epsilon())
        losses = -(y_true * tf.math.log(p) + (1 - y_true) * tf.math.log(1 - p))
    return tf.reduce_mean(losses, axis=axis)


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """``-sum(y_true * log(y_pred))`` over ``axis``; predictions are probabilities, or logits if ``from_logits``."""
    import minitape as tf

    if isinstance(axis, bool):
        raise ValueError(f"`axis` must be of type `int`. Received: axis={axis} of type {type(axis)}")
    y_true, y_pred = _pair(y_true, y_pred, squeeze=False)
    if y_pred.shape[-1] == 1:
        warnings.warn(
            "In loss categorical_crossentropy, expected y_pred.shape to be (batch_size, num_classes) with "
            "num_classes > 1. "
            f"Received: y_pred.shape={y_pred.shape}. Consider using 'binary_crossentropy' if you only have 2 classes.",
            SyntaxWarning,
            stacklevel=2,
        )
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_true.shape[-1]
    _same_shape(y_true, y_pred)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred, axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis, keepdims=True)
    return -tf.reduce_sum(y_true * tf.math.log(tf.clip_by_value(p, epsilon(), 1.0 - epsilon())), axis)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Any:
    """``-log`` of the probability given to the right class, whose number is ``y_true``.

    >>> sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy()
    array([0.6931472], dtype=float32)
    """
    import minitape as tf

    y_true, y_pred = convert(y_true), convert(y_pred)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[axis] == 1:
        y_true = tf.squeeze(y_true, axis)
    if axis not in (-1, len(y_pred.shape) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
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


def _same_shape(target: Any, output: Any) -> None:
    shapes = f"target.shape={target.shape}, output.shape={output.shape}"
    if len(target.shape) != len(output.shape):
        raise ValueError(f"Arguments `target` and `output` must have the same rank (ndim). Received: {shapes}")
    if tuple(target.shape) != tuple(output.shape):
        raise ValueError(f"Arguments `target` and `output` must have the same shape. Received: {shapes}")


def _same_structure(y_true: Any, y_pred: Any, dtype: str) -> None:
    """Raises ValueError unless both are tensors, or lists (tuples) with the same leaves."""
    kind = type(y_true)
    if kind not in (list, tuple):
        if isinstance(y_pred, (list, tuple)):
            raise ValueError("Structures don't have the same nested structure.")
        return
    if type(y_pred) is kind and len(y_pred) == len(y_true):
        for one, other in zip(y_true, y_pred, strict=True):
            _same_structure(one, other, dtype)
        return
    shown = nest.map_structure(lambda x: convert(x, dtype), y_pred)
    if type(y_pred) is kind:
        raise ValueError(f"{kind.__name__} arity mismatch; expected: {len(y_true)}, got: {len(y_pred)}; "
                         f"{kind.__name__}: {shown!r}.")  # fmt: skip
    raise ValueError(f"Expected an instance of {kind.__name__}, got {shown!r}.")


# -- classes ----------------------------------------------------------------------------------------------------------


class Loss:
    """The base class: subclasses define ``call(y_true, y_pred)``, one number for each example.

    ``reduction`` is "sum_over_batch_size" (the mean; also "mean"), "sum", "mean_with_sample_weight", or None to keep
    them. Raises ValueError for another word.

    >>> import minitape as tf
    >>> loss = tf.keras.losses.MeanSquaredError()
    >>> float(loss([[0.0], [0.0]], [[1.0], [3.0]]))
    5.0
    """

    def __init__(
        self, name: str | None = None, reduction: str | None = "sum_over_batch_size", dtype: Any = None
    ) -> None:
        self.name = name or auto_name(type(self).__name__)
        self.reduction = _checked(reduction)
        self._dtype = standardize_dtype(dtype or floatx())

    _in_pairs = False  # the losses of Keras match what they are given leaf by leaf

    dtype = property(lambda self: self._dtype, doc="The name of the type that the loss is computed in.")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss, weighed by ``sample_weight`` and reduced."""
        mask = get_keras_mask(y_pred)
        if self._in_pairs:
            _same_structure(y_true, y_pred, self._dtype)
        y_pred, y_true = convert(y_pred, self._dtype), convert(y_true, self._dtype)
        losses = self.call(y_true, y_pred)
        kept = get_keras_mask(losses)
        if kept is not None:
            mask = kept if mask is None else mask & kept
        return reduce_weighted(losses, sample_weight, mask, self.reduction, self._dtype)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {"name": self.name, "reduction": self.reduction}


def _checked(reduction: Any) -> Any:
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"Invalid value for argument `reduction`. Expected one of {set(REDUCTIONS)}. Received: "
            f"reduction={reduction}"
        )
    return reduction


def reduce_weighted(values: Any, sample_weight: Any, mask: Any, reduction: Any, dtype: str) -> Any:
    """Losses times weights, reduced; what the mask leaves out does not count."""
    import minitape as tf

    values = convert(values, dtype)
    weight = apply_mask(
        None if sample_weight is None else convert(sample_weight, dtype), mask, values.dtype.name, reduction
    )
    if weight is not None:
        values, weight = squeeze_or_expand(values, weight)
        values = values * weight
    if reduction in (None, "none") or tuple(values.shape) in ((), (0,)):
        return values
    total = tf.reduce_sum(values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and weight is not None:
        return tf.math.divide_no_nan(total, tf.reduce_sum(weight))
    return tf.math.divide_no_nan(total, tf.constant(float(values.shape.num_elements()), total.dtype))


def apply_mask(weight: Any, mask: Any, dtype: str, reduction: Any) -> Any:
    """The mask as weights, joined with the given ones; in a mean the kept entries weigh more."""
    import minitape as tf

    if mask is None:
        return weight
    factor = convert(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        total = tf.constant(float(factor.shape.num_elements()), factor.dtype)
        factor = factor * tf.math.divide_no_nan(total, tf.reduce_sum(factor))
    if weight is None:
        return factor
    factor, weight = squeeze_or_expand(factor, convert(weight, dtype))
    return weight * factor


def _class(name: str, function: Any, arguments: dict[str, Any], loss_name: str | None = None) -> type[Loss]:
    """The class of a loss function; ``arguments`` are its own and their defaults."""
    import inspect

    order = list(arguments)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip([*order, "reduction", "name", "dtype"], args, strict=False))
        twice = sorted(given.keys() & kwargs.keys())
        unknown = sorted(kwargs.keys() - {*order, "reduction", "name", "dtype"})
        if twice or len(args) > len(order) + 3:
            raise TypeError(f"{name}.__init__() got multiple values for argument '{(twice or ['self'])[0]}'")
        if unknown:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{unknown[0]}'")
        given |= kwargs
        Loss.__init__(
            self,
            given.get("name", loss_name or function.__name__),
            given.get("reduction", "sum_over_batch_size"),
            given.get("dtype"),
        )
        self._arguments = {key: given.get(key, default) for key, default in arguments.items()}
        for key, value in self._arguments.items():
            setattr(self, key, value)

    def call(self: Any, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        if function is not sparse_categorical_crossentropy:
            y_true, y_pred = squeeze_or_expand(y_true, y_pred)
        return function(y_true, y_pred, **self._arguments)

    def get_config(self: Any) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {**Loss.get_config(self), **self._arguments}

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for key, default in {
        **arguments,
        "reduction": "sum_over_batch_size",
        "name": loss_name or function.__name__,
        "dtype": None,
    }.items():
        parameters.append(inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    doc = f"{(function.__doc__ or '').splitlines()[0]} Weighed by sample weights and reduced over the batch."
    body = {"__init__": __init__, "call": call, "get_config": get_config, "_in_pairs": True}
    return type(name, (Loss,), {**body, "__doc__": doc, "__module__": __name__})


MeanSquaredError = _class("MeanSquaredError", mean_squared_error, {})
MeanAbsoluteError = _class("MeanAbsoluteError", mean_absolute_error, {})
MeanAbsolutePercentageError = _class("MeanAbsolutePercentageError", mean_absolute_percentage_error, {})
MeanSquaredLogarithmicError = _class("MeanSquaredLogarithmicError", mean_squared_logarithmic_error, {})
Huber = _class("Huber", huber, {"delta": 1.0}, "huber_loss")
LogCosh = _class("LogCosh", log_cosh, {})
Hinge = _class("Hinge", hinge, {})
SquaredHinge = _class("SquaredHinge", squared_hinge, {})
CategoricalHinge = _class("CategoricalHinge", categorical_hinge, {})
CosineSimilarity = _class("CosineSimilarity", cosine_similarity, {"axis": -1})
KLDivergence = _class("KLDivergence", kl_divergence, {})
Poisson = _class("Poisson", poisson, {})
BinaryCrossentropy = _class(
    "BinaryCrossentropy", binary_crossentropy, {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
)
CategoricalCrossentropy = _class(
    "CategoricalCrossentropy", categorical_crossentropy, {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
)
SparseCategoricalCrossentropy = _class(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    {"from_logits": False, "ignore_class": None, "axis": -1},
)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh
TABLE = {
    name: f
    for name, f in globals().items()
    if (isinstance(f, type) and issubclass(f, Loss)) or getattr(f, "__module__", "") == __name__
}
TABLE["bce"] = TABLE["BCE"] = binary_crossentropy


def get(identifier: Any) -> Any:
    """The loss of a name ("mse", "MeanSquaredError", ...), or ``identifier`` itself when it is callable."""
    return lookup("loss", identifier, TABLE)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.losses", name, TABLE))
