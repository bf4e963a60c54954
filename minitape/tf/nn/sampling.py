"""Losses that look at a few sampled classes instead of all: noise-contrastive estimation and the sampled softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.operands import call, strict, tensor_of
from ...engine.primitives import TABLE
from ...ops.joining import concat
from ...ops.picking import where
from ...ops.reductions import reduce_sum
from ..linalg.products import matmul
from ..random.candidates import log_uniform_candidate_sampler
from .crossentropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .embeddings import embedding_lookup

_LEAST = -float(np.finfo(np.float32).max)


def _log(counts: Any) -> Any:
    return TABLE["log"](call("stop_gradient", tensor_of(counts)))


def _logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_true: int, sampled_values: Any, remove_accidental_hits: bool
) -> tuple[Any, Any]:
    """Logits of the true classes and of the sampled ones, less the logarithm of how often they are expected; and labels."""
    labels, inputs = TABLE["cast"](tensor_of(labels), dtype=dtypes.int64), tensor_of(inputs)
    sampled, true_counts, sampled_counts = sampled_values
    sampled = call("stop_gradient", tensor_of(sampled))
    classes = concat([call("reshape", labels, shape=(-1,)), sampled], 0)
    rows, heights = embedding_lookup(weights, classes), embedding_lookup(biases, classes)
    count = sampled.shape[0]
    own = call("reshape", rows[:-count], shape=(-1, num_true, rows.shape[-1]))
    true = reduce_sum(call("reshape", inputs, shape=(-1, 1, inputs.shape[-1])) * own, 2)
    true = true + call("reshape", heights[:-count], shape=(-1, num_true)) - _log(true_counts)
    others = matmul(inputs, rows[-count:], transpose_b=True) + heights[-count:]
    if remove_accidental_hits:
        same = call("reshape", labels, shape=(-1, num_true, 1)) == sampled
        others = others + reduce_sum(where(same, _LEAST, 0.0), 1)
    others = others - _log(sampled_counts)
    return concat([true, others], 1), concat([TABLE["ones_like"](true) / num_true, TABLE["zeros_like"](others)], 1)


@strict
def nce_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1,
    sampled_values: Any = None, remove_accidental_hits: bool = False, name: str = "nce_loss",
) -> Any:  # fmt: skip
    """The loss of noise-contrastive estimation for each example: is a class the true one, or one of ``num_sampled`` others?

    ``weights`` is num_classes x dim (or a list of tables), ``biases`` num_classes, ``inputs`` batch x dim, ``labels`` batch x
    num_true. ``sampled_values`` is what a candidate sampler gave, ``log_uniform_candidate_sampler`` by default.
    ``remove_accidental_hits`` leaves out sampled classes that are true. Differentiable in weights, biases and inputs.

    >>> import minitape as tf
    >>> everything = tf.random.all_candidate_sampler([[1]], 1, num_sampled=2, unique=True)
    >>> print(tf.nn.nce_loss(tf.zeros([2, 3]), tf.zeros([2]), [[1]], tf.ones([1, 3]), 2, 2, sampled_values=everything).numpy())
    [2.0794415]
    """
    if sampled_values is None:
        sampled_values = _sample(labels, num_true, num_sampled, num_classes, None)
    logits, targets = _logits(weights, biases, labels, inputs, num_true, sampled_values, remove_accidental_hits)
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


@strict
def sampled_softmax_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1,
    sampled_values: Any = None, remove_accidental_hits: bool = True, seed: Any = None, name: str = "sampled_softmax_loss",
) -> Any:  # fmt: skip
    """The softmax cross entropy for each example over the true classes and ``num_sampled`` others, for training with many classes.

    Arguments are those of ``tf.nn.nce_loss``. Differentiable in weights, biases and inputs.

    >>> import minitape as tf
    >>> everything = tf.random.all_candidate_sampler([[1]], 1, num_sampled=2, unique=True)
    >>> loss = tf.nn.sampled_softmax_loss(tf.zeros([2, 3]), tf.zeros([2]), [[1]], tf.ones([1, 3]), 2, 2, sampled_values=everything)
    >>> print(loss.numpy())
    [0.6931472]
    """
    if sampled_values is None:
        sampled_values = _sample(labels, num_true, num_sampled, num_classes, seed)
    logits, targets = _logits(weights, biases, labels, inputs, num_true, sampled_values, remove_accidental_hits)
    return softmax_cross_entropy_with_logits(call("stop_gradient", targets), logits)


def _sample(labels: Any, num_true: int, num_sampled: int, num_classes: int, seed: Any) -> Any:
    classes = TABLE["cast"](tensor_of(labels), dtype=dtypes.int64)
    return log_uniform_candidate_sampler(classes, num_true, num_sampled, True, num_classes, seed)
