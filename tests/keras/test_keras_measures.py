"""Losses and metrics: values against NumPy, reductions, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf
from minitape.check import check_grads

K = tf.keras
QUICK = settings(max_examples=25, deadline=None, derandomize=True)
SHAPES = hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=4)
PAIRS = SHAPES.flatmap(lambda s: st.tuples(*[hnp.arrays(np.float64, s, elements=st.floats(-3, 3)) for _ in range(2)]))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


REGRESSION = {
    "MeanSquaredError": lambda t, p: (t - p) ** 2,
    "MeanAbsoluteError": lambda t, p: np.abs(t - p),
    "Huber": lambda t, p: np.where(np.abs(t - p) <= 1, 0.5 * (t - p) ** 2, np.abs(t - p) - 0.5),
}


@QUICK
@given(PAIRS, st.sampled_from(sorted(REGRESSION)))
def test_regression_losses(pair, name):
    t, p = pair
    each = REGRESSION[name](t, p).mean(-1)
    make = getattr(K.losses, name)
    for reduction, wanted in (("sum_over_batch_size", each.mean()), ("sum", each.sum()), ("none", each)):
        np.testing.assert_allclose(make(reduction=reduction)(t, p), wanted, rtol=1e-4, atol=1e-5)


@QUICK
@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-3, 3)), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_crossentropies_agree(logits, labels):
    wanted = -np.log(softmax(logits)[range(3), labels])
    one_hot = np.eye(4)[labels]
    sparse, dense = K.losses.sparse_categorical_crossentropy, K.losses.categorical_crossentropy
    np.testing.assert_allclose(sparse(np.array(labels), logits, from_logits=True), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sparse(np.array(labels), softmax(logits)), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dense(one_hot, logits, from_logits=True), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dense(one_hot, softmax(logits)), wanted, rtol=1e-4, atol=1e-5)
    p = sigmoid(logits)
    binary = -(one_hot * np.log(p) + (1 - one_hot) * np.log(1 - p)).mean(-1)
    of_logits = K.losses.binary_crossentropy(one_hot, logits, from_logits=True)
    np.testing.assert_allclose(of_logits, binary, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(K.losses.binary_crossentropy(one_hot, p), binary, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["mse", "mae", "huber"])
def test_losses_are_differentiable(name):
    rng = np.random.default_rng(0)
    t = tf.constant(rng.normal(size=(3, 4)))
    check_grads(lambda p: getattr(K.losses, name)(t, p), [rng.normal(size=(3, 4)) + 5], order=1, modes=("rev",))


def test_crossentropy_of_logits_is_differentiable():
    rng = np.random.default_rng(0)
    labels = tf.constant([0, 2, 1])
    check_grads(
        lambda p: K.losses.sparse_categorical_crossentropy(labels, p, from_logits=True),
        [rng.normal(size=(3, 4))],
        order=2,
        modes=("rev",),
    )


def test_unequal_shapes_and_unknown_reductions_raise():
    with pytest.raises(ValueError, match="shape"):
        K.losses.CategoricalCrossentropy()(np.eye(3), np.eye(4)[:3])
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        K.losses.MeanSquaredError(reduction="foo")


# -- metrics ---------------------------------------------------------------------------------------


def test_metrics_work_in_functions():
    metric = K.metrics.Mean()

    @tf.function
    def step(x):
        metric.update_state(x)
        return metric.result()

    step(tf.constant([1.0, 2.0]))
    assert float(step(tf.constant([6.0, 7.0]))) == 4
