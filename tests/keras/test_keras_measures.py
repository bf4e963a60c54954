"""Losses and metrics: values against NumPy, reductions, weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf

K = tf.keras
QUICK = settings(max_examples=25, deadline=None, derandomize=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


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


def test_unequal_shapes_and_unknown_reductions_raise():
    with pytest.raises(ValueError, match="shape"):
        K.losses.CategoricalCrossentropy()(np.eye(3), np.eye(4)[:3])
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        K.losses.MeanSquaredError(reduction="foo")


# -- metrics ---------------------------------------------------------------------------------------
