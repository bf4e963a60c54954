"""Optimizers: their steps against the equations, written in NumPy."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf

optimizers = tf.keras.optimizers
QUICK = settings(max_examples=20, deadline=None, derandomize=True)
RATES = st.floats(0.01, 0.5)
STEPS = 5


def descend(optimizer, variable, gradients):
    for g in gradients:
        optimizer.apply_gradients([(tf.constant(g, tf.float32), variable)])
    return variable.numpy()


def gradients():
    return np.random.default_rng(0).normal(size=(STEPS, 3))


@QUICK
@given(RATES, st.sampled_from([0.0, 0.5, 0.9]), st.booleans())
def test_sgd(rate, momentum, nesterov):
    w, velocity = np.ones(3), np.zeros(3)
    for g in gradients():
        velocity = momentum * velocity - rate * g
        w = w + (momentum * velocity - rate * g if nesterov else velocity) if momentum else w - rate * g
    found = descend(optimizers.SGD(rate, momentum=momentum, nesterov=nesterov), tf.Variable(tf.ones(3)), gradients())
    np.testing.assert_allclose(found, w, rtol=1e-4, atol=1e-5)


@QUICK
@given(RATES, st.sampled_from([0.5, 0.9]), st.sampled_from([0.9, 0.999]))
def test_adam(rate, beta_1, beta_2):
    w, m, v = np.ones(3), np.zeros(3), np.zeros(3)
    for t, g in enumerate(gradients(), 1):
        m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
        scale = rate * np.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        w = w - scale * m / (np.sqrt(v) + 1e-7)
    optimizer = optimizers.Adam(rate, beta_1=beta_1, beta_2=beta_2)
    found = descend(optimizer, tf.Variable(tf.ones(3)), gradients())
    np.testing.assert_allclose(found, w, rtol=1e-3, atol=1e-4)


@QUICK
@given(RATES, st.sampled_from([0.5, 0.9]), st.sampled_from([0.0, 0.9]))
def test_rmsprop(rate, rho, momentum):
    w, v, velocity = np.ones(3), np.zeros(3), np.zeros(3)
    for g in gradients():
        v = rho * v + (1 - rho) * g * g
        step = rate * g / np.sqrt(v + 1e-7)
        velocity = momentum * velocity + step
        w = w - velocity
    optimizer = optimizers.RMSprop(rate, rho=rho, momentum=momentum)
    found = descend(optimizer, tf.Variable(tf.ones(3)), gradients())
    np.testing.assert_allclose(found, w, rtol=1e-3, atol=1e-3)


@QUICK
@given(RATES)
def test_adagrad(rate):
    w, total = np.ones(3), np.full(3, 0.1)
    for g in gradients():
        total = total + g * g
        w = w - rate * g / np.sqrt(total + 1e-7)
    np.testing.assert_allclose(
        descend(optimizers.Adagrad(rate), tf.Variable(tf.ones(3)), gradients()), w, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "clip, wanted",
    [({"clipvalue": 0.5}, [0.5, -0.5]), ({"clipnorm": 1.0}, [0.6, -0.8]), ({"global_clipnorm": 2.5}, [1.5, -2.0])],
)
def test_gradients_are_clipped(clip, wanted):
    variable = tf.Variable([0.0, 0.0])
    optimizers.SGD(1.0, **clip).apply_gradients([(tf.constant([3.0, -4.0]), variable)])
    np.testing.assert_allclose(variable.numpy(), np.negative(wanted), rtol=1e-5)


def test_constraints_mend_weights_after_a_step():
    own = tf.keras.Variable([1.0, 2.0])
    own.constraint = lambda x: tf.clip_by_value(x, 0.0, 1.5)
    plain = tf.Variable([1.0, 2.0], constraint=own.constraint)
    optimizers.SGD(0.1).apply([tf.ones(2), tf.ones(2)], [own, plain])
    assert own.numpy().tolist() == plain.numpy().tolist() == pytest.approx([0.9, 1.5])


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
@pytest.mark.parametrize("momentum", [{}, {"momentum": 0.9}])
def test_a_step_is_the_same_to_the_last_bit_on_arrays_under_a_tape_and_in_a_function(name, momentum):
    if momentum and name not in ("SGD", "RMSprop"):
        momentum = {"weight_decay": 0.01}
    made = []
    for way in ("arrays", "tape", "function"):
        weights = [tf.Variable(np.linspace(-1, 1, 6, dtype=np.float32)), tf.Variable(0.3, dtype=tf.float64)]
        optimizer = getattr(optimizers, name)(0.05, **momentum)
        optimizer.build(weights)
        step = tf.function(optimizer.apply) if way == "function" else optimizer.apply
        for seed in range(3):
            grads = [tf.constant(np.random.default_rng(seed).normal(size=w.shape), w.dtype) for w in weights]
            with tf.GradientTape() if way == "tape" else contextlib.nullcontext():
                step(grads, weights)
        made.append([v.numpy().tolist() for v in [*weights, *optimizer.variables]])
    assert made[0] == made[1] == made[2]


CLIPPED_ROWS = {  # after three steps, by Keras 3: the row that was gathered twice, and the dense weight
    ("SGD", "clipnorm", 0.5): ([0.9476774, 1.7944233], 0.352),
    ("SGD", "clipvalue", 0.2): ([0.88, 1.88], 0.44),
    ("SGD", "global_clipnorm", 0.5): ([0.9477919, 1.7948651], 0.4901666),
    ("Adam", "clipnorm", 0.5): ([0.5772932, 1.5756823], 0.2049892),
    ("Adam", "clipvalue", 0.2): ([0.5757425, 1.5757425], 0.2000057),
    ("Adam", "global_clipnorm", 0.5): ([0.7006472, 1.6999656], 0.2111079),
}


@pytest.mark.parametrize(("name", "kind", "limit"), CLIPPED_ROWS)
def test_rows_of_an_embedding_are_clipped_as_they_come(name, kind, limit):
    table, weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5])
    optimizer = getattr(optimizers, name)(learning_rate=0.1, **{kind: limit})
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [0, 0]) ** 2 * [1.0, 2.0]) + tf.reduce_sum(weight**3)
        optimizer.apply_gradients(zip(tape.gradient(y, [table, weight]), [table, weight], strict=True))
    row, dense = CLIPPED_ROWS[name, kind, limit]
    np.testing.assert_allclose(table[0], row, rtol=1e-5)
    np.testing.assert_allclose(weight, [dense], rtol=1e-5)
    assert table[1].numpy().tolist() == [3.0, 4.0]
