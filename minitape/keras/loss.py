"""What all losses are made of: weights, and a reduction over the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.values import nest
from .base import auto_name, convert, standardize_dtype

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
        return _reduced(values, weight, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        raise NotImplementedError


class FunctionLoss(Loss):
    """The loss that weighs and reduces what ``function`` of (y_true, y_pred) gives, to which the ``arguments`` go."""

    def __init__(
        self,
        function: Callable[..., Any],
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


def squeeze_or_expand(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Drops or adds a last axis of size 1 where the ranks differ by just that."""
    a, b = len(x1.shape), len(x2.shape)
    if a == b + 1 and x1.shape[-1] == 1:
        return (x1, tf.expand_dims(x2, -1)) if b == 1 else (tf.squeeze(x1, -1), x2)
    if b == a + 1 and x2.shape[-1] == 1:
        return (tf.expand_dims(x1, -1), x2) if a == 1 else (x1, tf.squeeze(x2, -1))
    return x1, x2


def _reduced(values: Any, weight: Any, reduction: Any) -> Any:
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
