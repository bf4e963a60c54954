"""Losses that compare the true classes with a sample of all classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..convert import convert_to_tensor
from ..operands import deferred, strict
from ..random.candidates import log_uniform_candidate_sampler
from ..tensor import Tensor, wrap


class ComputeAccidentalHits(NamedTuple):
    """Where a candidate is a true class: the row, the candidate, and the lowest float32 number for each."""

    indices: Any
    ids: Any
    weights: Any


@deferred
def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: Any = None, name: str | None = None
) -> ComputeAccidentalHits:
    """The places where a sampled candidate is one of the true classes of a row; of equal ones the last.

    ``num_true`` and ``seed`` have no effect.

    >>> import minitape as tf
    >>> hits = tf.nn.compute_accidental_hits([[1, 2], [3, 4]], [4, 1, 1], num_true=2)
    >>> hits.indices.numpy(), hits.ids.numpy()
    (array([0, 1], dtype=int32), array([2, 0]))
    """
    classes, candidates = (convert_to_tensor(v, dtypes.int64).array for v in (true_classes, sampled_candidates))
    place_of = {number: at for at, number in enumerate(candidates.tolist())}
    found = [(row, place_of[number]) for row, numbers in enumerate(classes.tolist()) for number in numbers if number in place_of]
    rows, places = np.array(found, np.int64).reshape((-1, 2)).T
    weights = np.full(len(found), np.finfo(np.float32).min, np.float32)
    return ComputeAccidentalHits(wrap(rows.astype(np.int32)), wrap(places), wrap(weights))


@strict
def nce_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1,
    sampled_values: Any = None, remove_accidental_hits: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The loss of noise-contrastive estimation (Gutmann and Hyvärinen 2010), one for each row of ``inputs``.

    ``weights`` (a matrix, or a list of its pieces) and ``biases`` have a row for each class, ``labels`` has ``num_true``
    classes in each row. ``sampled_values`` is what a candidate sampler gives, by default the log-uniform one.
    ``remove_accidental_hits`` leaves out candidates that are true. Differentiable.

    >>> import minitape as tf
    >>> labels, sampled = tf.constant([[0]]), (tf.constant([1, 2]), tf.constant([[0.5]]), tf.constant([0.5, 0.5]))
    >>> loss = tf.nn.nce_loss(tf.ones([3, 2]), tf.zeros([3]), labels, tf.ones([1, 2]), 2, 3, sampled_values=sampled)
    >>> loss.numpy().round(4)
    array([5.5878], dtype=float32)
    """
    import minitape as tf

    found = _logits_and_labels(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                               remove_accidental_hits)  # fmt: skip
    return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(logits=found[0], labels=found[1]), 1)


@strict
def sampled_softmax_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1,
    sampled_values: Any = None, remove_accidental_hits: bool = True, seed: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross entropy of a softmax of the true classes and some others (Jean et al. 2014), for each row of ``inputs``.

    The arguments are those of ``nce_loss``. Differentiable.

    >>> import minitape as tf
    >>> labels, sampled = tf.constant([[0]]), (tf.constant([1, 2]), tf.constant([[0.5]]), tf.constant([0.5, 0.5]))
    >>> loss = tf.nn.sampled_softmax_loss(tf.ones([3, 2]), tf.zeros([3]), labels, tf.ones([1, 2]), 2, 3, sampled_values=sampled)
    >>> loss.numpy().round(4)
    array([1.0986], dtype=float32)
    """
    import minitape as tf

    logits, wanted = _logits_and_labels(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                        remove_accidental_hits, seed)  # fmt: skip
    return tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(wanted), logits=logits)


def _logits_and_labels(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int,
                       sampled_values: Any, without_hits: bool, seed: Any = None) -> tuple[Any, Any]:  # fmt: skip
    """The logits of the true classes and of the candidates, less the logarithm of how often they are drawn."""
    import minitape as tf

    labels = tf.cast(labels, tf.int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    candidates, true_count, sampled_count = (tf.stop_gradient(v) for v in sampled_values)
    candidates, flat = tf.cast(candidates, tf.int64), tf.reshape(labels, [-1])
    ids, count = tf.concat([flat, candidates], 0), tf.size(flat)
    rows, shifts = (tf.gather(tf.concat(v, 0) if isinstance(v, (list, tuple)) else v, ids) for v in (weights, biases))
    sampled_logits = tf.matmul(inputs, rows[count:], transpose_b=True) + shifts[count:]
    true_rows = tf.reshape(rows[:count], [-1, num_true, tf.shape(rows)[1]])
    true_logits = tf.reduce_sum(tf.expand_dims(inputs, 1) * true_rows, 2) + tf.reshape(shifts[:count], [-1, num_true])
    if without_hits:
        hits = compute_accidental_hits(labels, candidates, num_true)
        at = tf.stack([tf.cast(hits.indices, tf.int64), hits.ids], 1)
        sampled_logits = tf.tensor_scatter_nd_add(sampled_logits, at, tf.cast(hits.weights, sampled_logits.dtype))
    true_logits -= tf.math.log(true_count)
    sampled_logits -= tf.math.log(sampled_count)
    wanted = [tf.ones_like(true_logits) / num_true, tf.zeros_like(sampled_logits)]
    return tf.concat([true_logits, sampled_logits], 1), tf.concat(wanted, 1)
