"""Compiled programs: scalar runs in the kernel and fused loops give what plain NumPy gives."""

import numpy as np
import pytest

import minitape as tf
from minitape import kernels
from minitape.graphs import compile as compiling
from minitape.graphs import program

numba = pytest.importorskip("numba")


@pytest.fixture
def eager_to_fuse(monkeypatch):
    """Programs are fused on their first run, however few operations they have."""
    monkeypatch.setattr(program, "OFTEN", 1)
    monkeypatch.setattr(program, "LEAST", 1)
    monkeypatch.setattr(compiling, "LEAST", 1)


def rosenbrock(v):
    return tf.reduce_sum(100.0 * (v[1:] - v[:-1] ** 2) ** 2 + (1.0 - v[:-1]) ** 2)


def plane(v):
    x = tf.reshape(v, [4, -1])
    y = (x * x - 2.0 * x[:, 1:2]) / (tf.abs(x) + 1.0)
    return tf.reduce_sum(tf.maximum(y, 0.5) * x[0]) + tf.reduce_sum(tf.sqrt(tf.square(x) + 1.0))


def short_functions(v):
    w = v[:8]
    return tf.reduce_sum(tf.sin(w) * tf.exp(-w) + tf.tanh(w) ** 3.0) * tf.reduce_sum(v * 0.1)


def mixed(v):
    s = tf.reduce_sum(v * v)
    w = tf.cumsum(v * s - 1.0)
    return tf.reduce_sum(w * w + v / s - tf.minimum(v, w))


@pytest.mark.skipif(not kernels.available(), reason="numba is switched off")
@pytest.mark.parametrize("f", [rosenbrock, plane, short_functions, mixed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_loops(f, dtype, eager_to_fuse):
    def both(v):
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = f(v)
        return y, tape.gradient(y, v)

    traced = tf.function(both)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    for seed in range(3):
        v = tf.constant(np.random.default_rng(seed).normal(size=40).astype(dtype))
        (y, g), (want, want_g) = traced(v), both(v)
        assert y.dtype == want.dtype
        assert g.numpy().dtype == dtype
        np.testing.assert_allclose(y.numpy(), want.numpy(), rtol=tolerance)
        np.testing.assert_allclose(g.numpy(), want_g.numpy(), rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_long_scalar_chains(dtype):
    def chain(x):
        y = x
        for _ in range(200):
            y = y * 1.001 + 0.001
        return tf.sin(y) / y

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = chain(x)
        return y, tape.gradient(y, x)

    x = tf.constant(1.5, dtype)
    got, want = tf.function(both)(x), both(x)
    assert [t.dtype for t in got] == [dtype, dtype]
    np.testing.assert_allclose([float(t) for t in got], [float(t) for t in want], rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(chain)(x)
    np.testing.assert_allclose(float(tape.gradient(y, x)), float(want[1]), rtol=1e-6)


def test_constants_are_folded_but_can_be_fed():
    with tf.Graph().as_default():
        a = tf.constant(2.0)
        b = a * 3.0
        c = b + 1.0
        with tf.compat.v1.Session() as session:
            assert session.run(c) == 7.0
            assert session.run(c, {a: 10.0}) == 31.0


def test_division_by_zero_is_found_when_it_runs():
    f = tf.function(lambda x, y: x // y)
    assert f(tf.constant(7), tf.constant(2)).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        f(tf.constant(7), tf.constant(0))
