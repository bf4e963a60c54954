"""Datasets inside ``tf.function``."""

import pytest

import minitape as tf


def _numbers(n=6, batch=2):
    return tf.data.Dataset.range(n).batch(batch)


def test_next_draws_at_each_run():
    @tf.function
    def step(it):
        return tf.reduce_sum(next(it)), it.get_next()

    it = iter(_numbers(10))
    assert [[int(a), b.numpy().tolist()] for a, b in (step(it), step(it))] == [[1, [2, 3]], [9, [6, 7]]]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(it)


def test_iterators_are_made_outside():
    @tf.function
    def two(ds):
        it = iter(ds)
        return next(it) + next(it)

    with pytest.raises(NotImplementedError, match="makes no iterators"):
        two(_numbers())

    @tf.function
    def total(it):
        s = tf.constant(0, tf.int64)
        for x in it:
            s += tf.reduce_sum(x)
        return s

    with pytest.raises(NotImplementedError, match="not over their iterators"):
        total(iter(_numbers()))


def test_break_enumerate_and_structures():
    ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3, 4], "b": [1, 1, 5, 1]})

    @tf.function
    def f(ds):
        found = tf.constant(-1, tf.int64)
        for i, e in enumerate(ds):
            if e["b"] > e["a"]:
                found = i
                break
        return found

    assert int(f(ds)) == 2


def test_training_inside():
    w = tf.Variable(0.0)
    ds = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])).shuffle(3).batch(2)

    @tf.function
    def train(ds):
        for _ in tf.range(50):
            for x, y in ds:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((w * x - y) ** 2)
                w.assign_sub(0.05 * tape.gradient(loss, w))

    train(ds)
    assert abs(float(w) - 2.0) < 1e-3


def test_datasets_made_inside():
    @tf.function
    def f(x):
        s = 0.0
        for v in tf.data.Dataset.from_tensor_slices(x):
            s += v
        for n in tf.data.Dataset.range(3).map(lambda n: n * 2):
            s += tf.cast(n, tf.float32)
        return s

    assert float(f(tf.constant([1.0, 2.0]))) == 9.0
    assert float(f(tf.constant([2.0, 2.0]))) == 10.0
