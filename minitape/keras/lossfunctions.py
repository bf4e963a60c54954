"""The losses as functions, one number for each example, and what makes classes of them: weights, and a reduction over
the batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .base import EPSILON, FLOAT, auto_name, convert, define_from_table, standardize_dtype
from .logits import logits_of


def pair(y_true: Any, y_pred: Any, squeeze: bool = False) -> tuple:
    """Labels and predictions as tensors of the predictions' type, of the same rank on demand."""
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    return squeeze_or_expand(y_true, y_pred) if squeeze else (y_true, y_pred)


def _mean(x: Any) -> Any:
    """The mean over the last axis; of integers in the floating type of Keras."""
    return tf.reduce_mean(convert(x, FLOAT) if x.dtype.is_integer else x, axis=-1)


# those that are a mean over the last axis
MEANS = """
name | arguments | sentence | formula | given | result
huber | delta=1.0 | half the squared error, linear beyond ``delta`` | _huber(y_pred - y_true, delta) | [[0.0], \
[0.0]], [[1.0], [5.0]] | [0.5 4.5]
mean_absolute_error | | ``abs(y_true - y_pred)`` | abs(y_true - y_pred) | [[0.0, 2.0]], [[1.0, 0.0]] | [1.5]
mean_squared_error | | ``(y_true - y_pred) ** 2`` | (y_true - y_pred) ** 2 | [[0.0, 2.0]], [[0.0, 0.0]] | [2.]
"""

_TEXT = '''
def {name}(y_true: Any, y_pred: Any{more}) -> Tensor:
    """The mean over the last axis of {sentence}.

    Shapes (..., n) become (...); labels are cast to the type of the predictions, which is that of the result.
    Differentiable in both. Raises InvalidArgumentError for shapes that do not broadcast.

    >>> print({name}({given}).numpy())
    {result}
    """
    y_true, y_pred = pair(y_true, y_pred, squeeze=True)
    return _mean({formula})
'''

huber, mean_absolute_error, mean_squared_error = define_from_table(MEANS, _TEXT, globals()).values()


def _huber(error: Any, delta: float) -> Any:
    size = abs(error)
    return tf.where(size <= delta, 0.5 * error**2, delta * size - 0.5 * delta**2)


def _signs(y_true: Any, y_pred: Any) -> tuple:
    """Labels 0 and 1 as -1 and 1."""
    y_true, y_pred = pair(y_true, y_pred)
    binary = tf.reduce_all((y_true == 0) | (y_true == 1))
    return tf.where(binary, 2.0 * y_true - 1.0, y_true), y_pred


def hinge(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of ``max(1 - y_true * y_pred, 0)``; labels are -1 and 1, or 0 and 1. Shapes (..., n) become (...).

    >>> import minitape as tf
    >>> tf.keras.losses.hinge([[1.0], [-1.0]], [[0.5], [0.5]]).numpy()
    array([0.5, 1.5], dtype=float32)
    """
    y_true, y_pred = _signs(y_true, y_pred)
    return _mean(tf.maximum(1.0 - y_true * y_pred, 0.0))


def kl_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """The sum over the last axis of ``y_true * log(y_true / y_pred)``, both clipped to [epsilon, 1].

    >>> import minitape as tf
    >>> tf.keras.losses.kld([[0.5, 0.5]], [[0.25, 0.75]]).numpy().round(4)
    array([0.1438], dtype=float32)
    """
    y_true, y_pred = (tf.clip_by_value(y, EPSILON, 1.0) for y in pair(y_true, y_pred))
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Tensor:
    """The mean over ``axis`` of ``-log`` of the probability given to each label (0 or 1).

    Predictions are probabilities, or logits if ``from_logits``; ``label_smoothing`` draws labels towards 0.5. Raises
    ValueError for labels and predictions of different shapes.

    >>> import minitape as tf
    >>> tf.keras.losses.binary_crossentropy([[1.0]], [[0.5]]).numpy()
    array([0.6931472], dtype=float32)
    >>> tf.keras.losses.binary_crossentropy([[1.0]], [[0.0]], from_logits=True).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    same_shape(y_true, y_pred)
    y_pred, from_logits = logits_of(y_pred, from_logits, "Sigmoid", "binary_crossentropy")
    if from_logits:
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y_true, y_pred), axis=axis)
    p = tf.clip_by_value(y_pred, EPSILON, 1.0 - EPSILON)
    return tf.reduce_mean(-(y_true * tf.math.log(p) + (1 - y_true) * tf.math.log(1 - p)), axis=axis)


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Tensor:
    """``-sum(y_true * log(y_pred))`` over ``axis``; predictions are probabilities, or logits if ``from_logits``.

    Labels are one-hot or distributions; ``label_smoothing`` draws them towards equal ones. Raises ValueError for labels
    and predictions of different shapes, warns when there is only one class.

    >>> import minitape as tf
    >>> tf.keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    if y_pred.shape[-1] == 1:
        warnings.warn(
            "In loss categorical_crossentropy, expected y_pred.shape to be (batch_size, num_classes) with num_classes "
            "> 1. "
            f"Received: y_pred.shape={y_pred.shape}. Consider using 'binary_crossentropy' if you only have 2 classes.",
            SyntaxWarning,
            stacklevel=2,
        )
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_true.shape[-1]
    same_shape(y_true, y_pred)
    y_pred, from_logits = logits_of(y_pred, from_logits, "Softmax", "categorical_crossentropy")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred, axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis, keepdims=True)
    return -tf.reduce_sum(y_true * tf.math.log(tf.clip_by_value(p, EPSILON, 1.0 - EPSILON)), axis)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """``-log`` of the probability given to the right class, whose number is ``y_true``.

    Labels (...) and predictions (..., classes) give (...); labels may have a last axis of size 1. Raises ValueError for
    shapes that do not fit and for another ``axis`` than the last.

    >>> import minitape as tf
    >>> tf.keras.losses.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])).numpy()
    array([0.6931472], dtype=float32)
    """
    y_true, y_pred = convert(y_true), convert(y_pred)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[axis] == 1:
        y_true = tf.squeeze(y_true, axis)
    if axis not in (-1, len(y_pred.shape) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    y_pred, from_logits = logits_of(y_pred, from_logits, "Softmax", "sparse_categorical_crossentropy")
    labels = tf.cast(y_true, tf.int64)
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
        y_pred = tf.math.log(tf.clip_by_value(y_pred, EPSILON, 1 - EPSILON))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y_pred)


def same_shape(target: Any, output: Any) -> None:
    """Raises ValueError unless labels and predictions have one shape."""
    x, y = tuple(target.shape), tuple(output.shape)
    if x != y:
        what = "shape" if len(x) == len(y) else "rank (ndim)"
        raise ValueError(
            f"Arguments `target` and `output` must have the same {what}. Received: target.shape={target.shape}, "
            f"output.shape={output.shape}"
        )


MEAN = "sum_over_batch_size"
REDUCTIONS = ("sum_over_batch_size", "sum", None, "none", "mean", "mean_with_sample_weight")


class Loss:
    """The base class: subclasses define ``call(y_true, y_pred)``, one number for each example.

    ``reduction`` is "sum_over_batch_size" (the mean; also "mean"), "sum", "mean_with_sample_weight", or None to keep
    them. ``dtype`` is the floating type in which it is computed, that of Keras by default. What a loss gives is
    differentiable in the predictions. Raises ValueError for another reduction.

    >>> import minitape as tf
    >>> class Gap(tf.keras.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return tf.reduce_max(abs(y_true - y_pred), axis=-1)
    >>> float(Gap()(tf.zeros([2, 2]), tf.constant([[4.0, 0.0], [2.0, 2.0]])))
    3.0
    """

    def __init__(self, name: str | None = None, reduction: str | None = MEAN, dtype: Any = None) -> None:
        if reduction not in REDUCTIONS:
            raise ValueError(
                f"Invalid value for argument `reduction`. Expected one of {set(REDUCTIONS)}. Received: "
                f"reduction={reduction}"
            )
        self.name = name or auto_name(type(self).__name__)
        self.reduction = reduction
        self.dtype = standardize_dtype(dtype)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss, weighed by ``sample_weight`` and reduced."""
        y_pred, y_true = convert(y_pred, self.dtype), convert(y_true, self.dtype)
        values = convert(self.call(y_true, y_pred), self.dtype)
        weight = None if sample_weight is None else convert(sample_weight, values.dtype.name)
        return _reduce(values, weight, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        raise NotImplementedError


class FunctionLoss(Loss):
    """The loss that weighs and reduces what ``function`` of (y_true, y_pred) gives, to which the ``arguments`` go."""

    def __init__(
        self,
        function: Callable,
        name: str | None = None,
        reduction: str | None = MEAN,
        dtype: Any = None,
        **arguments: Any,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._function, self._arguments = function, arguments
        # a last axis of size 1 that only one of the two has does not count, but beside numbers of classes
        self._squeezes = getattr(function, "__name__", None) != "sparse_categorical_crossentropy"

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss, weighed by ``sample_weight`` and reduced; ValueError for lists of different lengths."""
        _same_structure(y_true, y_pred, self.dtype)
        return super().__call__(y_true, y_pred, sample_weight)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        if self._squeezes:
            y_true, y_pred = squeeze_or_expand(y_true, y_pred)
        return self._function(y_true, y_pred, **self._arguments)


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
        raise ValueError(
            f"{kind.__name__} arity mismatch; expected: {len(y_true)}, got: {len(y_pred)}; {kind.__name__}: {shown!r}."
        )
    raise ValueError(f"Expected an instance of {kind.__name__}, got {shown!r}.")


def squeeze_or_expand(x1: Any, x2: Any) -> tuple:
    """Drops or adds a last axis of size 1 where the ranks differ by just that."""
    a, b = len(x1.shape), len(x2.shape)
    if a == b + 1 and x1.shape[-1] == 1:
        return (x1, tf.expand_dims(x2, -1)) if b == 1 else (tf.squeeze(x1, -1), x2)
    if b == a + 1 and x2.shape[-1] == 1:
        return (tf.expand_dims(x1, -1), x2) if a == 1 else (x1, tf.squeeze(x2, -1))
    return x1, x2


def _reduce(values: Any, weight: Any, reduction: Any) -> Any:
    """Losses times weights, reduced."""
    if weight is not None:
        values, weight = squeeze_or_expand(values, weight)
        values = values * weight
    known = values.shape.num_elements()
    if reduction in (None, "none") or not len(values.shape) or tuple(values.shape) == (0,):
        return values
    total = tf.reduce_sum(values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and weight is not None:
        return tf.math.divide_no_nan(total, tf.reduce_sum(weight))
    count = tf.cast(tf.size(values), values.dtype) if known is None else tf.constant(float(known), values.dtype)
    return tf.math.divide_no_nan(total, count)
