"""Functions of ``tf.compat.v1.nn`` and ``tf.compat.v1.strings`` that compute otherwise than those of ``tf``."""

from __future__ import annotations

from typing import Any

from ... import tf
from ...engine.invalid import unsupported
from ...engine.operands import worded
from ...engine.tensor import Tensor
from ...engine.updates import deprecated
from .respelled import either


@worded
def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
            rate: Any = None) -> Tensor:  # fmt: skip
    """As ``tf.nn.dropout``, with ``keep_prob``, the probability to keep an element, or ``rate``, that to drop it.

    ValueError for both, for neither, and for a ``keep_prob`` that is no number.

    >>> import minitape as tf
    >>> print(tf.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy())
    [1. 2.]
    """
    if keep_prob is not None:
        either("rate", rate, "keep_prob", keep_prob)
        try:
            rate = 1.0 - keep_prob
        except TypeError:
            raise ValueError(f"`keep_prob` must be a floating point number or Tensor. Received: keep_prob={keep_prob}") from None
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    return tf.nn.dropout(x, rate, noise_shape, seed, name)


@worded
def softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, dim: int = -1, name: str | None = None,
                                      axis: int | None = None) -> Tensor:  # fmt: skip
    """As ``tf.nn.softmax_cross_entropy_with_logits``, whose gradient goes into the logits only. ``dim`` is ``axis``.

    >>> import minitape as tf
    >>> print(tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 0.0]).numpy())
    0.6931472
    """
    deprecated(
        "softmax_cross_entropy_with_logits (from tensorflow.python.ops.nn_ops) is deprecated and will be removed in a future "
        "version.\nInstructions for updating:\n\nFuture major versions of TensorFlow will allow gradients to flow\ninto the "
        "labels input on backprop by default.\n\nSee `tf.nn.softmax_cross_entropy_with_logits_v2`.\n"
    )
    either("axis", axis, "dim", None if dim == -1 else dim)
    for argument, value in (("labels", labels), ("logits", logits)):
        if value is None:
            raise ValueError(f"Both `labels` and `logits` must be provided. Received: {argument}={value}")
    return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(labels), logits, dim if axis is None else axis, name)


@worded
def ctc_loss(
    labels: Any, inputs: Any = None, sequence_length: Any = None, preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
    logits: Any = None,
) -> Tensor:  # fmt: skip
    """As ``tf.nn.ctc_loss`` of a SparseTensor of labels, where the last class is the blank. Differentiable once.

    ``inputs`` are also called ``logits``; ``sequence_length`` is the number of frames of each. TypeError for other labels,
    NotImplementedError for other values of ``preprocess_collapse_repeated``, ``ctc_merge_repeated`` and
    ``ignore_longer_outputs_than_inputs``.

    >>> import minitape as tf
    >>> print(tf.compat.v1.nn.ctc_loss(tf.sparse.from_dense([[1]]), tf.zeros([2, 1, 3]), [2]).numpy())
    [1.0986123]
    """
    if not isinstance(labels, tf.SparseTensor):
        raise TypeError(f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: {type(labels).__name__}")
    logits = either("logits", logits, "inputs", inputs)
    unsupported("ctc_loss", preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=not ctc_merge_repeated,
                ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)  # fmt: skip
    return tf.nn.ctc_loss(labels, logits, None, sequence_length, time_major, blank_index=-1)


# -- tables in shards -------------------------------------------------------------------------------------------------


def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:  # fmt: skip
    """As ``tf.nn.embedding_lookup``, with rows in turn from a list of tables ("mod"), or one table after the other ("div").

    ``validate_indices`` has no effect. ValueError for another ``partition_strategy``.

    >>> import minitape as tf
    >>> tables = [tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [3.0]])]
    >>> tf.compat.v1.nn.embedding_lookup(tables, [0, 1, 2, 3]).numpy().ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """
    return tf.nn.embedding_lookup(params, _in_turn(params, ids, partition_strategy), max_norm, name)


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod", name: str | None = None,
    combiner: str | None = None, max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """As ``tf.nn.embedding_lookup_sparse``, with the ``partition_strategy`` of ``embedding_lookup``.

    >>> import minitape as tf
    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
    >>> print(tf.compat.v1.nn.embedding_lookup_sparse([[[2.0]], [[3.0]]], ids, None, combiner="sum").numpy())
    [[5.]]
    """
    sp_ids = _entries_in_turn(params, sp_ids, partition_strategy)
    return tf.nn.embedding_lookup_sparse(params, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup)


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str = "mean", default_id: Any = None,
    name: str | None = None, partition_strategy: str = "div", max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """As ``tf.nn.safe_embedding_lookup_sparse``, with the ``partition_strategy`` of ``embedding_lookup``.

    >>> import minitape as tf
    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [1, -1], [2, 1])
    >>> tf.compat.v1.nn.safe_embedding_lookup_sparse(tf.constant([[2.0], [3.0]]), ids).numpy().tolist()
    [[3.0], [0.0]]
    """
    sparse_ids = _entries_in_turn(embedding_weights, sparse_ids, partition_strategy)
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, max_norm, name, allow_fast_lookup
    )


def _in_turn(tables: Any, ids: Any, strategy: str) -> Any:
    """The ids of rows that tables hold in turn, as ids of the tables one after the other; ids below 0 stay."""
    if not isinstance(tables, (list, tuple)) or len(tables) < 2 or strategy == "div":
        return ids
    if strategy != "mod":
        raise ValueError(f"Unrecognized partition strategy: {strategy}.Must be one of either `mod` or `div`.")
    ids, many = tf.convert_to_tensor(ids), len(tables)
    starts = tf.cumsum([tf.shape(table, ids.dtype)[0] for table in tables], exclusive=True)
    return tf.where(ids < 0, ids, tf.gather(starts, ids % many) + ids // many)


def _entries_in_turn(tables: Any, ids: Any, strategy: str) -> Any:
    return ids.with_values(_in_turn(tables, ids.values, strategy)) if hasattr(ids, "with_values") else ids


# -- layers -----------------------------------------------------------------------------------------------------------


@worded
def fused_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001, data_format: str = "NHWC",
    is_training: bool = True, name: str | None = None, exponential_avg_factor: float = 1.0,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Normalises each channel, times ``scale``, plus ``offset``; gives the result, the mean and the variance.

    In training by the mean and variance of the batch; returned is the part ``exponential_avg_factor`` of these and the
    rest of ``mean`` and ``variance``. Else by ``mean`` and ``variance``, without which it raises ValueError. ``data_format``
    says which axis holds the channels. Differentiable.

    >>> import minitape as tf
    >>> y, mean, variance = tf.compat.v1.nn.fused_batch_norm([[[[1.0]], [[3.0]]]], [1.0], [0.0], epsilon=0.0)
    >>> print(y.numpy().ravel(), mean.numpy(), variance.numpy())
    [-0.999995  0.999995] [2.] [2.]
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` "
                         f"!= 1.0. Received: `mean` {mean!r} and `variance` {variance!r}")  # fmt: skip
    given = tf.convert_to_tensor(x)
    scale = tf.convert_to_tensor(scale)
    whole = tf.cast(given, scale.dtype)
    channel = 1 if data_format.startswith("NC") else given.shape.rank - 1
    others = [axis for axis in range(given.shape.rank) if axis != channel]
    sizes = [-1 if axis == channel else 1 for axis in range(given.shape.rank)]

    def spread(value: Any) -> Any:
        return tf.reshape(value, sizes)

    if is_training:
        middle, width = tf.nn.moments(whole, others)
        found = _running(middle, width, mean, variance, tf.size(whole) / tf.size(middle), exponential_avg_factor)
    else:
        middle, width = found = tf.convert_to_tensor(mean), tf.convert_to_tensor(variance)
    slope = spread(tf.math.rsqrt(width + max(epsilon, 1.001e-5)) * scale)
    return (tf.cast((whole - spread(middle)) * slope + spread(offset), given.dtype), *found)


def _running(mean: Any, variance: Any, old_mean: Any, old_variance: Any, count: Any, part: float) -> tuple[Any, Any]:
    """The mean and the unbiased variance of a batch, mixed with the old ones; no gradient goes through them."""
    rest = tf.cast(count, variance.dtype)
    mean, variance = tf.stop_gradient(mean), tf.stop_gradient(variance) * rest / tf.maximum(rest - 1, 1)
    if part == 1.0:
        return mean, variance
    old_mean, old_variance = tf.convert_to_tensor(old_mean), tf.convert_to_tensor(old_variance)
    return mean * part + old_mean * (1.0 - part), variance * part + old_variance * (1.0 - part)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``tf.matmul(x, weights) + biases``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.compat.v1.nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [5.0]).numpy())
    [[16.]]
    """
    return tf.nn.bias_add(tf.matmul(x, weights), biases)


# -- strings ----------------------------------------------------------------------------------------------------------


def split(input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor", source: Any = None,
          name: str | None = None) -> Any:  # fmt: skip
    """As ``tf.strings.split``, as a SparseTensor or, by ``result_type``, as a "RaggedTensor". ``source`` is ``input``.

    >>> import minitape as tf
    >>> tf.compat.v1.strings.split(["a b", "c"]).values.numpy().tolist()
    [b'a', b'b', b'c']
    """
    given = either("input", input, "source", source)
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    words = tf.convert_to_tensor(given)
    found = tf.strings.split(tf.reshape(words, [1]) if words.shape.rank == 0 else words, sep, maxsplit)
    return found if result_type == "RaggedTensor" else found.to_sparse()
