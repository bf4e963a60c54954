"""A Jacobian equals the gradients of the target's elements, each computed by a separate sweep."""

import math
from unittest.mock import patch

import numpy as np
import pytest

import minitape as tf
from minitape.engine.derivatives import jacobian
from minitape.engine.table.primitives import TABLE


@tf.custom_gradient
def tripled(x):
    return x * 1.0, lambda g: 3.0 * g


def get_last(parts):
    return parts[-1]


PROGRAMS = {
    "broadcast": lambda x, w: (x * w[0] + w[2]) * x[:, :1],
    "one part": lambda x, w: get_last(tf.unstack(x * 2.0, axis=1)) * tf.split(w, [1, 2], axis=1)[0][0],
    "products": lambda x, w: tf.matmul(tf.matmul(x, w, transpose_b=True), w) + tf.linalg.matvec(w, x[0]),
    "shapes": lambda x, w: tf.transpose(tf.reshape(tf.concat([x, w], axis=0), [3, 5]))[1:, ::2],
    "sums": lambda x, w: tf.reduce_sum(x * w[:2], axis=1) * tf.reduce_mean(w) + tf.reduce_max(x, axis=[0, 1]),
    "chosen": lambda x, w: tf.where(x > 0.0, x * x, 2.0 * x) + tf.gather(w, [2, 0]) + tf.stop_gradient(x),
    "softmax": lambda x, w: tf.nn.softmax(x, axis=0) + tf.nn.log_softmax(w)[:2],
    "entropy": lambda x, w: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(w[:2]), x),
    "stacks": lambda x, w: tf.stack([x[0, 0], x[1, 2] * w[0, 0], tf.norm(w)]),
    "a user's": lambda x, w: tripled(x) * w[:2],
    "doubles": lambda x, w: tf.cast(tf.sin(tf.cast(x, tf.float64)), tf.float32),
    "a number": lambda x, w: tf.reduce_sum(x) * w[0, 0],
    "many elements": lambda x, w: tf.reduce_sum(tf.tile(x, [1200, 3]) * 2.0, axis=1)[:5],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_jacobian_is_one_gradient_for_each_element(name):
    rng = np.random.default_rng(0)
    x, w = (tf.Variable(rng.uniform(-1, 1, shape).astype(np.float32)) for shape in ((2, 3), (3, 3)))
    with tf.GradientTape(persistent=True) as tape:
        y = PROGRAMS[name](x, w)
    found = tape.jacobian(y, [x, w])
    for v, j in zip((x, w), found, strict=True):
        each = []
        for k in range(math.prod(y.shape)):
            one = np.zeros(tuple(y.shape), np.float32)
            one.reshape(-1)[k] = 1
            each.append(tape.gradient(y, v, output_gradients=tf.constant(one)))
        if j is None:
            assert all(g is None for g in each)
        else:
            assert j.dtype == v.dtype and j.shape == (*y.shape, *v.shape)
            wanted = np.reshape([np.zeros(v.shape) if g is None else g.numpy() for g in each], j.shape)
            np.testing.assert_allclose(j.numpy(), wanted, rtol=2e-6, atol=2e-7)


def test_it_is_one_sweep():
    x = tf.Variable(np.linspace(0.1, 1, 50, dtype=np.float32))
    with tf.GradientTape() as tape:
        y = tf.sin(tf.linalg.matvec(tf.eye(50), x)) * x
    with patch.object(
        jacobian.StackedSweep, "run_to_end", autospec=True, side_effect=jacobian.StackedSweep.run_to_end
    ) as run:
        tape.jacobian(y, x)
    assert run.call_count == 1


def test_what_is_stacked_is_in_the_table():
    assert set(TABLE) >= jacobian.STACKABLE_PRIMITIVES


@pytest.mark.parametrize("size", [0, 2])
def test_it_has_the_shape_of_a_target_without_elements(size):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * tf.ones([size, 2])
    of_v, of_w = tape.jacobian(y, [v, w])
    np.testing.assert_array_equal(of_v.numpy(), np.broadcast_to(np.eye(2), (size, 2, 2)))
    assert of_w is None


def test_ranks_that_are_too_small_for_a_batch():
    x = tf.ones([2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.ones([2, 2]) * x
    with pytest.raises(ValueError, match="rank at least 2"):
        tape.batch_jacobian(y, x)
