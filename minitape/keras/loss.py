"""What all losses are made of: weights, masks, a reduction over the batch."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import tf
from ..engine import nest
from .annotated import Annotated
from .base import auto_name, convert, floatx, get_keras_mask, standardize_dtype
from .serial import Configured

MEAN = "sum_over_batch_size"
REDUCTIONS = ("sum_over_batch_size", "sum", None, "none", "mean", "mean_with_sample_weight")


class Loss(Configured):
    """The base class: subclasses define ``call(y_true, y_pred)``, one number for each example.

    ``reduction`` is "sum_over_batch_size" (the mean; also "mean"), "sum", "mean_with_sample_weight", or None to keep
    them. ``dtype`` is the floating type in which it is computed, that of Keras by default. What a loss gives is
    differentiable in the predictions. Raises ValueError for another reduction, and for structures that do not match.

    >>> import minitape as tf
    >>> class Gap(tf.keras.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return tf.reduce_max(abs(y_true - y_pred), axis=-1)
    >>> float(Gap()(tf.zeros([2, 2]), tf.constant([[4.0, 0.0], [2.0, 2.0]])))
    3.0
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
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> tf.keras.losses.MeanSquaredError(reduction="sum").get_config()
        {'name': 'mean_squared_error', 'reduction': 'sum'}
        """
        return {"name": self.name, "reduction": self.reduction}


class FunctionLoss(Annotated, Loss):
    """The loss that weighs and reduces what ``function`` of (y_true, y_pred) gives, to which the other arguments go."""

    _function: ClassVar[Any]
    _in_pairs = True
    _squeezes = True  # a last axis of size 1 that only one of the two has does not count

    def _take(self, name: Any, reduction: Any, dtype: Any, **arguments: Any) -> None:
        Loss.__init__(self, name, reduction, dtype)
        self._arguments = arguments
        vars(self).update(arguments)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        if self._squeezes:
            y_true, y_pred = squeeze_or_expand(y_true, y_pred)
        return self._function(y_true, y_pred, **self._arguments)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {**super().get_config(), **self._arguments}


def _checked(reduction: Any) -> Any:
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"Invalid value for argument `reduction`. Expected one of {set(REDUCTIONS)}. Received: "
            f"reduction={reduction}"
        )
    return reduction


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


# -- shapes, weights and masks, which metrics share -------------------------------------------------------------------


def squeeze_or_expand(x1: Any, x2: Any, expand_rank_1: bool = True) -> tuple[Any, Any]:
    """Drops or adds a last axis of size 1 where the ranks differ by just that."""
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


def reduce_weighted(values: Any, sample_weight: Any, mask: Any, reduction: Any, dtype: str) -> Any:
    """Losses times weights, reduced; what the mask leaves out does not count."""
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
    return tf.math.divide_no_nan(total, _count(values))


def _count(x: Any) -> Any:
    """The number of elements in the dtype of ``x``."""
    known = x.shape.num_elements()
    return tf.cast(tf.size(x), x.dtype) if known is None else tf.constant(float(known), x.dtype)


def apply_mask(weight: Any, mask: Any, dtype: str, reduction: Any) -> Any:
    """The mask as weights, joined with the given ones; in a mean the kept entries weigh more."""
    if mask is None:
        return weight
    factor = convert(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        factor = factor * tf.math.divide_no_nan(_count(factor), tf.reduce_sum(factor))
    if weight is None:
        return factor
    factor, weight = squeeze_or_expand(factor, convert(weight, dtype))
    return weight * factor
