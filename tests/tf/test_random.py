"""Random numbers depend on seeds, have the right distribution and gradients, and are new in each call to a traced
function."""

import numpy as np
import pytest

import minitape as tf


def draw_all():
    return np.concatenate([tf.random.normal([3]).numpy(), tf.random.uniform([3]).numpy()])


def test_a_seed_makes_the_same_numbers_follow():
    tf.random.set_seed(1234)
    first = draw_all()
    assert not np.array_equal(first, draw_all())
    tf.random.set_seed(1234)
    assert np.array_equal(first, draw_all())
    assert np.array_equal(tf.random.normal([3], seed=5).numpy(), tf.random.normal([3], seed=5).numpy())


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_moments(dtype):
    tf.random.set_seed(3)
    x = tf.random.normal([20000], 3.0, 0.5, dtype).numpy()
    assert x.dtype == dtype.as_numpy_dtype
    assert abs(x.astype(float).mean() - 3) < 0.02 and abs(x.astype(float).std() - 0.5) < 0.02
    u = tf.random.uniform([20000], -1.0, 1.0, dtype).numpy().astype(float)
    assert abs(u.mean()) < 0.02 and abs(u.std() - 3**-0.5) < 0.02 and u.min() >= -1 and u.max() <= 1


def test_integers():
    tf.random.set_seed(4)
    found = tf.random.uniform([4000], 2, 6, tf.int64)
    assert found.dtype == tf.int64
    assert np.bincount(found.numpy())[2:] / 4000 == pytest.approx([0.25] * 4, abs=0.03)


def test_gradients_reach_the_limits_and_the_moments():
    mean, scale = tf.Variable(1.0), tf.Variable([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        x = tf.random.normal([5, 2], mean, scale)
        u = tf.random.uniform([5, 2], mean, scale)
    z = (x - mean) / scale
    np.testing.assert_allclose(tape.gradient(x, scale), np.sum(z.numpy(), 0), rtol=1e-5)
    assert tape.gradient(x, mean).numpy() == 10
    assert float(tape.gradient(u, mean) + tf.reduce_sum(tape.gradient(u, scale))) == pytest.approx(10)


def test_a_function_draws_new_numbers_at_each_call():
    @tf.function
    def f(x):
        return x + tf.random.normal([2]), tf.random.uniform([2])

    calls = [np.concatenate(f(tf.zeros([2]))) for _ in range(3)]
    assert len({tuple(call) for call in calls}) == 3
