"""Tapes of one structure share a plan: what differs between them must show in the gradients all the same."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

W = tf.constant([2.0, 5.0])


def gradient(function, *values):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    return [g.numpy().tolist() for g in tape.gradient(y, xs)]


@pytest.mark.parametrize("round", range(2))  # the second time every plan is known
def test_attributes_are_those_of_each_tape(round):
    x = np.zeros((2, 2), np.float32)
    assert gradient(lambda x: tf.reduce_sum(tf.reduce_sum(x, axis=0) * W), x) == [[[2.0, 5.0], [2.0, 5.0]]]
    assert gradient(lambda x: tf.reduce_sum(tf.reduce_sum(x, axis=1) * W), x) == [[[2.0, 2.0], [5.0, 5.0]]]
    x = np.zeros(3, np.float32)
    for spec, want in ((slice(0, 2), [2.0, 5.0, 0.0]), (slice(1, 3), [0.0, 2.0, 5.0]), (slice(0, 3, 2), [2.0, 0.0, 5.0])):
        assert gradient(lambda x, spec=spec: tf.reduce_sum(x[spec] * W), x) == [want]


def test_values_are_those_of_each_tape():
    for a, b in ((3.0, 4.0), (-1.0, 0.5), (0.0, 2.0)):
        assert gradient(lambda x, y: x * x * y, a, b) == [2 * a * b, a * a]
        assert gradient(lambda x, y: tf.reduce_sum(x * x * y), [a, b], [b, a]) == [[2 * a * b] * 2, [a * a, b * b]]


def test_what_is_watched_is_that_of_each_tape():
    x, y = tf.constant(3.0), tf.constant(5.0)
    for _ in range(2):
        for watched in ([x], [y], [x, y], []):
            with tf.GradientTape() as tape:
                tape.watch(watched)
                z = x * y
            got = tape.gradient(z, [x, y])
            assert [g is None for g in got] == [not any(t is w for w in watched) for t in (x, y)]


def test_when_something_was_watched_is_that_of_each_tape():
    x = tf.constant(3.0)
    for _ in range(2):
        for late in (False, True):
            with tf.GradientTape() as tape:
                if not late:
                    tape.watch(x)
                y = x * x
                if late:
                    tape.watch(x)
                z = y * x
            assert tape.gradient(z, x).numpy() == (9.0 if late else 27.0)
        for paused in (False, True):
            with tf.GradientTape() as tape:
                tape.watch(x)
                if paused:
                    with tape.stop_recording():
                        y = x * x
                else:
                    y = x * x
                z = y * x
            assert tape.gradient(z, x).numpy() == (9.0 if paused else 27.0)


def test_targets_and_sources_are_those_of_each_call():
    x = tf.constant(2.0)
    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
            w = z * x
        assert [tape.gradient(t, x).numpy() for t in (y, z, w)] == [4.0, 32.0, 80.0]
        assert [g.numpy() for g in tape.gradient(w, [y, z, x])] == [16.0, 2.0, 80.0]
        assert tape.gradient(y, z) is None


def test_dtypes_are_those_of_each_tape():
    for kind in (np.float32, np.float64, np.float32):
        x = tf.constant(np.array([0.1, 0.2], kind))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x)
        g = tape.gradient(y, x).numpy()
        assert g.dtype == kind and (g == kind(2) * x.numpy()).all()


def test_a_function_of_the_users_is_asked_each_time():
    asked = []

    @tf.custom_gradient
    def twice(x):
        def grad(g):
            asked.append(len(asked))
            return g * float(len(asked))

        return x * 2.0, grad

    for count in (1, 2, 3):
        assert gradient(twice, 1.0) == [float(count)]


def test_order_of_derivatives_is_that_of_each_tape():
    x = tf.constant(2.0)

    def derivative(order):
        if order == 0:
            return x * x * x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(order - 1)
        return tape.gradient(y, x)

    for _ in range(2):
        assert [derivative(n).numpy() for n in range(5)] == [16.0, 32.0, 48.0, 48.0, 24.0]


def test_after_reset_a_persistent_tape_knows_nothing_of_before():
    x, z = tf.constant([3.0, 1.0]), tf.constant([5.0, 2.0])
    tape = tf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = tf.reduce_sum(x * z)
    assert [tape.gradient(y, x).numpy().tolist() for _ in range(2)] == [[5.0, 2.0]] * 2
    with tape:
        tape.reset()
        tape.watch(z)
    assert tape.gradient(y, [x, z]) == [None, None]
    assert tape.gradient(y, x) is None


def test_many_structures_of_one_size():
    functions = [tf.sin, tf.exp, tf.sqrt, tf.square, tf.tanh, tf.sigmoid, tf.math.log, tf.math.reciprocal, tf.abs, tf.cos]
    x = 0.7
    for _ in range(3):
        for f in functions:
            both = tf.constant([x, x], tf.float64)
            with tf.GradientTape() as tape:
                tape.watch(both)
                y = f(both)
            small = 1e-6
            want = (f(tf.constant(x + small, tf.float64)) - f(tf.constant(x - small, tf.float64))) / (2 * small)
            np.testing.assert_allclose(tape.gradient(y, both), [want] * 2, rtol=1e-6)
