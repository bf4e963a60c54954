"""Calls on small arrays are put off until somebody looks. None of it may show."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import minitape as tf
from minitape.primitives import TABLE, load_all

load_all()


def numbers(seed, *shape):
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape).astype(np.float32)


def test_what_is_put_off_has_its_shape_and_dtype_and_is_computed_when_it_is_looked_at(monkeypatch):
    ran = []
    for name in ("matmul", "reduce_sum", "slice"):
        forward = TABLE[name].forward
        monkeypatch.setattr(TABLE[name], "forward", lambda *a, f=forward, n=name, **k: ran.append(n) or f(*a, **k))
    x, m = tf.constant(numbers(1, 2, 3)), tf.constant(numbers(2, 3, 4))
    with tf.GradientTape() as tape:
        tape.watch(m)
        y = tf.matmul(x, m)
        z = y[1:]
        s = tf.reduce_sum(z, axis=1)
        assert [(t.shape.as_list(), t.dtype.name) for t in (y, z, s)] == [
            ([2, 4], "float32"),
            ([1, 4], "float32"),
            ([1], "float32"),
        ]
        assert ran == []
        np.testing.assert_allclose(z.numpy(), (x.numpy() @ m.numpy())[1:], rtol=1e-6)
        assert ran == ["matmul", "slice"]
    tape.gradient(s, m)
    assert ran.count("reduce_sum") == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda x: tf.matmul(x, x), "Matrix size-incompatible"),
        (lambda x: tf.reduce_sum(x, axis=5), "Invalid reduction dimension"),
        (lambda x: tf.reshape(x, [7]), "Input to reshape is a tensor with 6 values"),
        (lambda x: x[3], "out of bounds"),
        (lambda x: tf.transpose(x, [0]), "expects a vector of size 2"),
        (lambda x: x + x[:, :2], "Incompatible shapes"),
    ],
)
def test_what_can_not_be_computed_is_refused_at_once(wrong, error):
    x = tf.constant(numbers(1, 2, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=error):
            wrong(x)
        y = x * 2.0
    assert tape.gradient(y, x).numpy().tolist() == [[2.0] * 3] * 2


def test_values_outlive_the_tape():
    x = tf.constant(numbers(1, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = [x[1:], tf.reduce_sum(x * x), tf.reshape(x, [2, 2])]
    del tape
    array = x.numpy()
    for got, want in zip(parts, (array[1:], (array * array).sum(), array.reshape(2, 2)), strict=True):
        np.testing.assert_array_equal(got.numpy(), want)


def test_large_inputs_of_what_was_put_off_stay_until_it_is_computed():
    x, v = tf.constant(numbers(1, 2000, 2)), tf.constant(numbers(2, 2, 1))
    with tf.GradientTape() as tape:
        tape.watch(v)
        loss = tf.reduce_sum(v * v)
        later = tf.reduce_sum(x)  # of a leaf that is too large for a lane
    tape.gradient(loss, v)
    assert later.numpy() == x.numpy().sum()


def test_another_thread_can_look():
    x = tf.constant(numbers(1, 5))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x[1:] * 2.0)
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(y.numpy())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [(x.numpy()[1:] * np.float32(2)).sum()] * 4
    assert tape.gradient(y, x).numpy().tolist() == [0, 2, 2, 2, 2]


@pytest.mark.parametrize("length", [100, 6000])  # the longer one is packed, and left to the kernels where numba is
def test_numbers_and_calls_in_turn(length):
    x = tf.constant([0.5, 0.25])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(0.0)
        for k in range(length):
            y = y * 0.5 + (tf.reduce_sum(x) if k % 50 == 0 else x[0] if k % 50 == 1 else y * 0.25)
    g = tape.gradient(y, x)
    want, slope = np.float32(0), np.zeros(2)
    for k in range(length):
        rest = np.float32(0.75) if k % 50 == 0 else np.float32(0.5) if k % 50 == 1 else want * np.float32(0.25)
        own = [1, 1] if k % 50 == 0 else [1, 0] if k % 50 == 1 else slope * 0.25
        want, slope = want * np.float32(0.5) + rest, slope * 0.5 + own
    assert y.numpy() == want
    np.testing.assert_allclose(g.numpy(), slope, rtol=1e-5)


def test_numbers_that_nobody_looked_at_outlive_many_tapes():
    kept = []
    for k in range(20):
        x = tf.constant(float(k))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x + 1.0
            z = tf.reduce_sum(tf.stack([x, y])[:1] * 2.0)
        kept.append((y, z))
        del tape
    assert [(y.numpy(), z.numpy()) for y, z in kept] == [(k * k + 1.0, 2.0 * k) for k in range(20)]


def test_zeros_keep_their_signs_from_tape_to_tape():
    for number in (0.0, -0.0, 0.0):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x / number
        assert (y.numpy(), tape.gradient(y, x).numpy()) == (np.copysign(np.inf, number),) * 2


def test_beside_a_number_a_large_array_is_not_kept():
    x = tf.constant(numbers(1, 70_000))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
        z = tf.reduce_sum(2.0 * (y * 3.0 - 1.0) / 4.0)
    kept = [a for a in tape._record.arrays.values() if a.size > 1]
    assert len(kept) == 1 and kept[0] is x.array  # the rule of sin reads it
    np.testing.assert_allclose(tape.gradient(z, x).numpy(), 1.5 * np.cos(x.numpy()), rtol=1e-6)


def test_a_gradient_while_another_thread_looks(at_once):
    for k in range(60):
        x = tf.constant(float(k))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            later = y
            for _ in range(40):
                later = later + x
        start, seen = threading.Barrier(2), []

        def look(tensor=later, start=start, seen=seen):
            start.wait()
            seen.append(tensor.numpy())

        thread = threading.Thread(target=look)
        thread.start()
        start.wait()
        gradient = tape.gradient(y, x)
        thread.join()
        assert (gradient.numpy(), seen) == (2.0 * k, [k * k + 40.0 * k])
