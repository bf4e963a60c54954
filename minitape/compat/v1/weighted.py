"""Weighted losses that are collected by the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .collections import add_to_collection, get_collection


class Reduction:
    """How the losses of the elements become one number.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.Reduction.SUM
    'weighted_sum'
    """

    NONE, SUM, MEAN = "none", "weighted_sum", "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """The ways that there are."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The losses of elements times ``weights``, as one number; in a graph it joins ``loss_collection``.

    By default the sum is divided by the number of weights that are not 0. ValueError for another reduction and for weights
    that do not fit. Differentiable in both. ``scope`` has no effect.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 0.0, 0.5]).numpy()
    np.float32(2.0)
    """
    import minitape as tf

    if reduction not in Reduction.all():
        raise ValueError(f"Invalid Reduction Key {reduction}. Key should be one of {Reduction.all()}.")
    values = tf.convert_to_tensor(losses)
    values = values if values.dtype.is_floating else tf.cast(values, tf.float32)
    kept = tf.cast(tf.convert_to_tensor(weights), values.dtype)
    _check_weights(kept, values)
    result = values * kept
    if reduction != Reduction.NONE:
        result = tf.reduce_sum(result)
        all_kept = kept * tf.ones_like(values)
        below = {
            Reduction.SUM: lambda: tf.ones_like(result),
            Reduction.MEAN: lambda: tf.reduce_sum(all_kept),
            Reduction.SUM_OVER_BATCH_SIZE: lambda: tf.cast(tf.size(values), values.dtype),
        }.get(reduction, lambda: tf.reduce_sum(tf.cast(tf.not_equal(all_kept, 0.0), values.dtype)))()
        result = tf.math.divide_no_nan(result, below)
    if loss_collection and not tf.executing_eagerly():
        add_to_collection(loss_collection, result)
    return result


def _check_weights(weights: Any, values: Any) -> None:
    if weights.ndim == 0:
        return
    sizes = list(zip(weights.shape, values.shape, strict=False))
    if weights.ndim != values.ndim or any(w not in (1, v) and None not in (w, v) for w, v in sizes):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.ndim}. weights.rank={weights.ndim}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}. Received weights={weights}, values={values}"
        )


def _loss(one: Callable[[Any, Any], Any], first: str, second: str, labels: Any, outputs: Any, same: bool = True) -> Any:
    """The losses of the elements, of arguments that are checked."""
    import minitape as tf

    for name, value in ((first, labels), (second, outputs)):
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")
    outputs = tf.convert_to_tensor(outputs)
    if not same:
        return one(tf.convert_to_tensor(labels), outputs)
    labels = tf.cast(tf.convert_to_tensor(labels), outputs.dtype)
    outputs.shape.assert_is_compatible_with(labels.shape)
    return one(labels, outputs)


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean square of the differences; the arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.mean_squared_error([0.0, 0.0], [1.0, 3.0]).numpy()
    np.float32(5.0)
    """
    import minitape as tf

    found = _loss(lambda y, x: tf.math.squared_difference(x, y), "labels", "predictions", labels, predictions)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean size of the differences; the arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.absolute_difference([0.0, 0.0], [1.0, -3.0]).numpy()
    np.float32(2.0)
    """
    import minitape as tf

    found = _loss(lambda y, x: tf.abs(x - y), "labels", "predictions", labels, predictions)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The cross entropy of each class by itself; ``label_smoothing`` draws the labels towards a half.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.sigmoid_cross_entropy([[1.0]], [[0.0]]).numpy())
    0.6931472
    """
    import minitape as tf

    def each(y: Any, x: Any) -> Any:
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing > 0 else y
        return tf.nn.sigmoid_cross_entropy_with_logits(y, x)

    found = _loss(each, "multi_class_labels", "logits", multi_class_labels, logits)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The cross entropy of rows of probabilities; ``label_smoothing`` draws the labels towards equal ones.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    0.6931472
    """
    import minitape as tf

    def each(y: Any, x: Any) -> Any:
        y = y * (1 - label_smoothing) + label_smoothing / y.shape[-1] if label_smoothing > 0 else y
        return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(y), x)

    found = _loss(each, "onehot_labels", "logits", onehot_labels, logits)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The cross entropy of numbers of classes.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.sparse_softmax_cross_entropy([0], [[0.0, 0.0]]).numpy())
    0.6931472
    """
    import minitape as tf

    found = _loss(lambda y, x: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), "labels", "logits", labels, logits, False)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def add_loss(loss: Any, loss_collection: Any = "losses") -> None:
    """Adds a loss to a collection of the graph.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     tf.compat.v1.losses.add_loss(tf.constant(1.0))
    ...     print(len(tf.compat.v1.losses.get_losses()))
    1
    """
    add_to_collection(loss_collection, loss)


def get_losses(scope: Any = None, loss_collection: str = "losses") -> list[Any]:
    """The losses of the graph so far.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.losses.get_losses())
    []
    """
    return get_collection(loss_collection, scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: Any = None) -> Any:
    """The sum of the losses of the graph, with the penalties of its variables.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     _ = tf.compat.v1.losses.mean_squared_error([1.0], [2.0]), tf.compat.v1.losses.absolute_difference([0.0], [2.0])
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.compat.v1.losses.get_total_loss()))
    3.0
    """
    import minitape as tf

    penalties = get_collection("regularization_losses", scope) if add_regularization_losses else []
    return tf.add_n([*get_losses(scope), *penalties], name=name)
