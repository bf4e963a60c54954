"""Random numbers: TensorFlow's streams (the numbers below are TensorFlow 2.21's), seeds, moments, gradients."""

import numpy as np
import pytest

import minitape as tf


def test_streams_of_the_global_seed():
    tf.random.set_seed(1234)
    assert tf.random.normal([5]).numpy() == pytest.approx(
        [0.8369314, -0.73429775, 1.0402943, 0.040359918, -0.7218659], rel=1e-6
    )
    assert tf.random.normal([3], dtype=tf.float64).numpy() == pytest.approx(
        [0.9216964395366909, 0.40301903803248, -0.6797424745540562], rel=1e-12
    )
    assert np.array_equal(tf.random.uniform([3]).numpy(), np.float32([0.59750986, 0.30313778, 0.99768174]))
    assert np.array_equal(tf.random.uniform([2], dtype=tf.float64).numpy(), [0.2793403243043937, 0.5950914869614037])
    assert tf.random.uniform([5], 0, 10, dtype=tf.int32).numpy().tolist() == [7, 7, 3, 4, 6]
    assert tf.random.uniform([5], 0, 10, dtype=tf.int64).numpy().tolist() == [6, 4, 3, 7, 6]


def test_generators():
    g = tf.random.Generator.from_seed(1)
    assert g.normal([3]).numpy() == pytest.approx([0.43842274, -0.53439844, -0.07710262], rel=1e-6)
    assert g.state.numpy().tolist() == [769, 0, 0]
    assert not np.array_equal(g.uniform([3]).numpy(), g.uniform([3]).numpy())
    with pytest.raises(ValueError, match="Argument `alg` got unsupported value x"):
        tf.random.Generator.from_seed(1, alg="x")


def test_without_a_seed_numbers_differ():
    tf.random.set_seed(None)
    assert not np.array_equal(tf.random.uniform([4]).numpy(), tf.random.uniform([4]).numpy())


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_moments(dtype):
    tf.random.set_seed(3)
    x = tf.random.normal([20000], 3.0, 0.5, dtype).numpy().astype(float)
    assert abs(x.mean() - 3) < 0.02 and abs(x.std() - 0.5) < 0.02
    u = tf.random.uniform([20000], -1.0, 1.0, dtype).numpy().astype(float)
    assert abs(u.mean()) < 0.02 and abs(u.std() - 3**-0.5) < 0.02 and u.min() >= -1 and u.max() < 1
    t = tf.random.truncated_normal([5000], dtype=dtype).numpy().astype(float)
    assert np.abs(t).max() <= 2 and abs(t.std() - 0.88) < 0.03


def test_distributions_of_counts():
    tf.random.set_seed(4)
    assert abs(tf.random.poisson([2000], 20.0).numpy().mean() - 20) < 0.5
    shares = np.bincount(tf.random.categorical([[0.0, np.log(3.0)]], 4000).numpy()[0]) / 4000
    assert shares == pytest.approx([0.25, 0.75], abs=0.03)


def test_no_gradient_is_registered_for_numbers_of_the_poisson_distribution() -> None:
    rate = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.random.poisson([3], rate))
    with pytest.raises(LookupError, match="gradient registry has no entry for: RandomPoissonV2"):
        tape.gradient(y, rate)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.cast(tf.random.poisson([3], rate, tf.int32), tf.float32))
    assert tape.gradient(y, rate) is None
