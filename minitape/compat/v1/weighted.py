"""Weighted losses that are collected by the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import tf
from ...engine.state import state
from ...engine.tensor import Tensor
from ...graphs.effects import later
from .collections import add_to_collection, get_collection
from .legacy import name_scope
from .respelled import either


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
        """The ways that there are.

        >>> import minitape as tf
        >>> tf.compat.v1.losses.Reduction.all()[:3]
        ('none', 'weighted_sum', 'weighted_mean')
        """
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The losses of elements times ``weights``, as one number; in a graph it joins ``loss_collection``.

    By default the sum is divided by the number of weights that are not 0. ValueError for another reduction and for weights
    that do not fit. Differentiable in both. ``scope`` has no effect.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 0.0, 0.5]).numpy()
    np.float32(2.0)
    """
    if reduction not in Reduction.all():
        raise ValueError(f"Invalid Reduction Key {reduction}. Key should be one of {Reduction.all()}.")
    with name_scope(scope, "weighted_loss"):
        return _collected(_reduced(losses, weights, reduction), loss_collection)


def _reduced(losses: Any, weights: Any, reduction: str) -> Any:
    values = tf.convert_to_tensor(losses)
    values = values if values.dtype.is_floating else tf.cast(values, tf.float32)
    kept = tf.cast(tf.convert_to_tensor(weights), values.dtype)
    kept = _fitting(kept, values)
    result = values * kept
    if reduction == Reduction.NONE:
        return result
    result = tf.reduce_sum(result)
    if reduction == Reduction.SUM:
        return result
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        below = tf.cast(tf.size(values), values.dtype)
    else:
        all_kept = kept * tf.ones_like(values)
        below = tf.reduce_sum(all_kept) if reduction == Reduction.MEAN else tf.math.count_nonzero(all_kept, dtype=values.dtype)
    return tf.math.divide_no_nan(result, below, name="value")


def _collected(loss: Any, collection: Any) -> Any:
    if collection and state.graph is not None:
        add_to_collection(collection, loss)
    return loss


def _fitting(weights: Any, values: Any) -> Any:
    """The weights; ValueError unless they have one axis of size 1, or as many elements, for each axis of the values.

    Where only a run of the graph knows the shapes, it is the one to refuse them.
    """
    if weights.shape.rank == 0:
        return weights
    fits = _fits(weights.shape, values.shape)
    if fits is False:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.ndim}. weights.rank={weights.ndim}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}. Received weights={weights}, values={values}"
        )
    if fits:
        return weights
    told = ["weights can not be broadcast to values.", "weights.shape=", weights.name, tf.shape(weights), "values.shape=",
            values.name, tf.shape(values), "is_scalar=", tf.equal(tf.rank(weights), 0)]  # fmt: skip
    right = later(lambda w, v: [tf.constant(_fits(w.shape, v.shape))], [weights, values], [(tf.TensorShape([]), tf.bool)])
    with tf.control_dependencies([tf.debugging.Assert(right[0], told)]):
        return tf.identity(weights)


def _fits(weights: Any, values: Any) -> bool | None:
    """Whether weights of one shape can be broadcast to values of another; None where that is not known."""
    if weights.rank == 0:
        return True
    if None in (weights.rank, values.rank):
        return None
    pairs = list(zip(weights, values, strict=False))
    if weights.rank != values.rank or any(w not in (1, v) and None not in (w, v) for w, v in pairs):
        return False
    return True if all(w in (1, v) and w is not None for w, v in pairs) else None


def _check_given(arguments: dict[str, Any]) -> None:
    for argument, value in arguments.items():
        if value is None:
            raise ValueError(f"Argument `{argument}` must not be None.")


def _weighted(title: str, one: Callable[[Any, Any], Any], pair: dict[str, Any], weights: Any, scope: Any,
              loss_collection: Any, reduction: str) -> Any:  # fmt: skip
    """The weighted loss that ``one`` gives for two arguments, in a scope of that name."""
    _check_given(pair)
    with name_scope(scope, title) as inside:
        return compute_weighted_loss(one(*pair.values()), weights, inside, loss_collection, reduction)


def _alike(labels: Any, outputs: Any, dtype: Any = None) -> tuple[Any, Any]:
    """Labels and outputs of one type and, as far as they are known, of one shape."""
    outputs = tf.convert_to_tensor(outputs) if dtype is None else tf.cast(outputs, dtype)
    labels = tf.cast(tf.convert_to_tensor(labels), outputs.dtype)
    outputs.shape.assert_is_compatible_with(labels.shape)
    return labels, outputs


def _compared(title: str, one: Callable[[Any, Any], Any], *given: Any) -> Any:
    """``_weighted`` of labels and outputs that are made float32 first, and must have one shape."""
    return _weighted(title, lambda labels, outputs: one(*_alike(labels, outputs, tf.float32)), *given)


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The mean square of the differences; the arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.mean_squared_error([0.0, 0.0], [1.0, 3.0]).numpy()
    np.float32(5.0)
    """
    given = ({"labels": labels, "predictions": predictions}, weights, scope, loss_collection, reduction)
    return _compared("mean_squared_error", lambda y, x: tf.math.squared_difference(x, y), *given)


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The mean size of the differences; the arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.absolute_difference([0.0, 0.0], [1.0, -3.0]).numpy()
    np.float32(2.0)
    """
    given = ({"labels": labels, "predictions": predictions}, weights, scope, loss_collection, reduction)
    return _compared("absolute_difference", lambda y, x: tf.abs(x - y), *given)


def hinge_loss(
    labels: Any, logits: Any, weights: Any = 1.0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The mean of what 1 exceeds each logit by, with the sign of its label, which is 0 or 1.

    The other arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.hinge_loss([0.0, 1.0], [-2.0, 0.5]).numpy()
    np.float32(0.25)
    """
    given = ({"labels": labels, "logits": logits}, weights, scope, loss_collection, reduction)
    return _compared("hinge_loss", lambda y, x: tf.nn.relu(1.0 - (2.0 * y - 1.0) * x), *given)


def log_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The mean cross entropy of labels and probabilities; ``epsilon`` keeps the logarithms finite.

    The other arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.log_loss([1.0, 0.0], [0.5, 0.5]).numpy().round(4))
    0.6931
    """
    def one(y: Any, x: Any) -> Any:
        return -(y * tf.math.log(x + epsilon)) - (1 - y) * tf.math.log(1 - x + epsilon)

    given = ({"labels": labels, "predictions": predictions}, weights, scope, loss_collection, reduction)
    return _compared("log_loss", one, *given)


def huber_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Half the mean square of differences up to ``delta``, linear beyond.

    The other arguments are those of ``compute_weighted_loss``.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.huber_loss([0.0, 0.0], [1.0, 3.0]).numpy()
    np.float32(1.5)
    """
    def one(y: Any, x: Any) -> Any:
        size = tf.abs(x - y)
        inner = tf.minimum(size, delta)
        return 0.5 * (inner * inner) + delta * (size - inner)  # whose slope does not jump at delta

    given = ({"labels": labels, "predictions": predictions}, weights, scope, loss_collection, reduction)
    return _compared("huber_loss", one, *given)


def cosine_distance(
    labels: Any, predictions: Any, axis: Any = None, weights: Any = 1.0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: Any = None,
) -> Tensor:  # fmt: skip
    """The mean of 1 minus the products along ``axis`` (also called ``dim``) of rows of length 1.

    The other arguments are those of ``compute_weighted_loss``. ValueError without an axis.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.cosine_distance([[0.0, 1.0]], [[0.75, 0.5]], axis=1).numpy())
    0.5
    """
    along = either("axis", axis, "dim", dim)
    if along is None:
        raise ValueError("You must specify argument `axis`.")

    def one(y: Any, x: Any) -> Any:
        return 1 - tf.reduce_sum(x * y, axis=(along,), keepdims=True)

    given = ({"labels": labels, "predictions": predictions}, weights, scope, loss_collection, reduction)
    return _compared("cosine_distance_loss", one, *given)


def mean_pairwise_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses"
) -> Tensor:
    """The mean square of the differences between the errors of two elements, over the pairs in each row.

    ``weights`` is a number or has the rank of ``labels``. In a graph the loss joins ``loss_collection``. ValueError for
    None and for shapes that do not fit. Differentiable.

    >>> import minitape as tf
    >>> tf.compat.v1.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]]).numpy()
    np.float32(4.0)
    """
    _check_given({"labels": labels, "predictions": predictions})
    with name_scope(scope, "mean_pairwise_squared_error"):
        weights = tf.cast(weights, tf.float32)
        y, x = _alike(labels, predictions, tf.float32)
        weights = _fitting(weights, y)
        errors = x - y
        axes = list(range(1, errors.ndim))
        present = tf.cast(tf.not_equal(weights, 0.0), tf.float32) * tf.ones_like(errors)
        count = tf.reduce_sum(present, axes, keepdims=True)
        if state.graph is None and weights.ndim == 0 and weights != 0:  # TensorFlow counts all rows then
            count = tf.cast(tf.size(errors), tf.float32)
        squares = tf.reduce_sum(tf.square(errors), axes, keepdims=True)
        total = tf.reduce_sum(errors, axes, keepdims=True)
        each = 2.0 * tf.math.divide_no_nan(squares, tf.maximum(count - 1, 0))
        each -= 2.0 * tf.math.divide_no_nan(tf.square(total), tf.maximum(count * (count - 1), 0))
        loss = tf.reduce_sum(each * weights)
        loss = tf.where(tf.reduce_sum(count) > 0, loss, tf.zeros_like(loss), name="value")
        return _collected(loss, loss_collection)


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The cross entropy of each class by itself; ``label_smoothing`` draws the labels towards a half.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.sigmoid_cross_entropy([[1.0]], [[0.0]]).numpy())
    0.6931472
    """
    def one(y: Any, x: Any) -> Any:
        y, x = _alike(y, x)
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing > 0 else y
        return tf.nn.sigmoid_cross_entropy_with_logits(y, x)

    given = ({"multi_class_labels": multi_class_labels, "logits": logits}, weights, scope, loss_collection, reduction)
    return _weighted("sigmoid_cross_entropy_loss", one, *given)


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Any = None,
    loss_collection: Any = "losses", reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The cross entropy of rows of probabilities; ``label_smoothing`` draws the labels towards equal ones.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]).numpy())
    0.6931472
    """
    def one(y: Any, x: Any) -> Any:
        y, x = _alike(y, x)
        y = y * (1 - label_smoothing) + label_smoothing / y.shape[-1] if label_smoothing > 0 else y
        return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(y), x)

    given = ({"onehot_labels": onehot_labels, "logits": logits}, weights, scope, loss_collection, reduction)
    return _weighted("softmax_cross_entropy_loss", one, *given)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = "losses",
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """The cross entropy of numbers of classes. ``labels`` and ``weights`` may have a last axis of size 1.

    >>> import minitape as tf
    >>> print(tf.compat.v1.losses.sparse_softmax_cross_entropy([[0]], [[0.0, 0.0]]).numpy())
    0.6931472
    """
    if labels is not None and logits is not None:
        logits = tf.convert_to_tensor(logits)
        labels, weights = _without_last(labels, logits), _without_last(weights, logits)
    one, pair = tf.nn.sparse_softmax_cross_entropy_with_logits, {"labels": labels, "logits": logits}
    return _weighted("sparse_softmax_cross_entropy_loss", one, pair, weights, scope, loss_collection, reduction)


def _without_last(value: Any, logits: Any) -> Any:
    """A value without its last axis if it has as many as the logits and that is of size 1 (or of an unknown one)."""
    value, rank = tf.convert_to_tensor(value), logits.shape.rank
    if value.shape.rank is None:
        same = tf.equal(tf.rank(value), tf.rank(logits))
        return tf.cond(same, lambda: tf.squeeze(value, [-1]), lambda: value)
    last = value.ndim == rank and value.ndim > 0 and value.shape[-1] in (1, None)
    return tf.squeeze(value, [-1]) if last else value


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


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The penalties of the graph's variables so far.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.losses.get_regularization_losses())
    []
    """
    return get_collection("regularization_losses", scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the penalties of the graph's variables, 0 without any.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.losses.get_regularization_loss())
    Tensor("Const:0", shape=(), dtype=float32)
    """
    penalties = get_regularization_losses(scope)
    return tf.add_n(penalties, name=name) if penalties else tf.constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: Any = None) -> Tensor:
    """The sum of the losses of the graph, with the penalties of its variables.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     _ = tf.compat.v1.losses.mean_squared_error([1.0], [2.0]), tf.compat.v1.losses.absolute_difference([0.0], [2.0])
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.compat.v1.losses.get_total_loss()))
    3.0
    """
    penalties = get_regularization_losses(scope) if add_regularization_losses else []
    return tf.add_n([*get_losses(scope), *penalties], name=name)
