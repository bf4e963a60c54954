"""Mirrored padding inside a function: what does not fit is told as TensorFlow tells it."""

from __future__ import annotations

import pytest

import minitape as tf

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("mode", "paddings", "message"),
    [
        ("REFLECT", [[2, 1], [0, 0]], "paddings must be less than the dimension size: 2, 1 not less than 2"),
        ("REFLECT", [[0, 0], [0, 4]], "paddings must be less than the dimension size: 0, 4 not less than 3"),
        ("SYMMETRIC", [[0, 0], [0, 4]], "paddings must be no greater than the dimension size: 0, 4 greater than 3"),
    ],
)
@pytest.mark.parametrize("shape", [None, [None, None], [2, 3]])
def test_too_much_is_an_error_of_the_operation(mode, paddings, message, shape):
    f = tf.function(lambda x: tf.pad(x, paddings, mode), input_signature=[tf.TensorSpec(shape)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        f(tf.constant(X))


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_the_rest_is_as_in_eager_mode(mode):
    x, paddings = tf.constant(X), tf.constant([[1, 1], [2, 1]])
    want = tf.pad(x, paddings, mode).numpy().tolist()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x, paddings: tf.pad(x, paddings, mode))(x, paddings)
    assert y.numpy().tolist() == want
    assert tf.reduce_sum(tape.gradient(y, x)).numpy() == 24.0  # each of the 4 x 6 elements comes from one
