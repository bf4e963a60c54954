"""Functions on large arrays, computed block by block, agree with the same operations computed one by one."""

import numpy as np
import pytest

import minitape as tf
from minitape.engine.table.primitives import TABLE
from minitape.functions import row_program
from minitape.speed import compiled_rows, fusion, kernels

SHAPES = [(65_536,), (300, 301), (7, 100, 101)]  # The arrays consist of one block or several.
ELEMENTWISE = [p for p in TABLE.values() if p.code]


def draw_values(shape, seed=0, real=np.float32):
    return tf.constant((0.1 + 0.8 * np.random.default_rng(seed).random(shape)).astype(real))


def check_compiled_agrees(function, *inputs):
    """The results agree even after many calls, when compiled loops may have taken over."""
    compiled = tf.function(function)
    want = [np.asarray(t) for t in tf.nest.flatten(function(*inputs))]
    for _ in range(3):
        got = [np.asarray(t) for t in tf.nest.flatten(compiled(*inputs))]
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype and g.shape == w.shape
            np.testing.assert_allclose(g, w, rtol=2e-6 if g.dtype == np.float32 else 1e-12)


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_each_function_between_others(primitive, real):
    x, y = draw_values((66_000,), 1, real), draw_values((66_000,), 2, real)

    def function(x, y):
        a, b = x * 0.5 + 0.25, y * 0.5 + 0.25
        return primitive(*(a, b)[: len(primitive.texts) - 1]) * 2.0 - x

    check_compiled_agrees(function, x, y)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients(shape):
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(4):
                y = tf.tanh(tf.sin(y) * 1.1 + 0.1) ** 2
            loss = tf.reduce_sum(y)
        return loss, tape.gradient(loss, x)

    check_compiled_agrees(function, draw_values(shape))


def test_a_sum_that_later_blocks_need():
    def function(x):
        e = tf.exp(tf.sin(x) * 2.0)
        p = e / tf.reduce_sum(e)
        return p, tf.reduce_mean(p * tf.math.log(p)), tf.reduce_sum(e)

    check_compiled_agrees(function, draw_values((70_000,)))


def test_values_that_are_read_elsewhere():
    def function(x, c):
        a = tf.exp(x) * c
        b = tf.cos(a) + a
        rows = tf.reduce_sum(tf.reshape(b, [100, 700]), axis=1)
        return tf.sin(b - 1.0) * a, rows, b

    check_compiled_agrees(function, draw_values((70_000,)), tf.constant(0.7))


def test_unlike_shapes_and_dtypes_side_by_side():
    x, y, z = draw_values((70_000,)), draw_values((300, 300)), draw_values((70_000,), 3, np.float64)

    def function(x, y, z):
        a, b, c = tf.sin(x) + 1.0, tf.cos(y) * 2.0, tf.exp(z) - 1.0
        a, b, c = a * a - x, b / (y + 1.0), tf.sqrt(c) + z
        return tf.tanh(a), tf.tanh(b), tf.tanh(c), tf.reduce_sum(a) * tf.reduce_sum(b)

    check_compiled_agrees(function, x, y, z)


def test_constant_arrays_and_what_is_not_contiguous():
    noise = draw_values((300, 301), 5)

    def function(x):
        t = tf.transpose(x)
        y = tf.exp(t * noise) + tf.ones_like(t) * 3.0
        return tf.sin(y) - noise

    check_compiled_agrees(function, draw_values((301, 300)))


def test_what_the_caller_holds_is_not_written_to():
    x = draw_values((80_000,))
    before = x.numpy()
    compiled = tf.function(lambda x: tf.sin(tf.exp(x) + x) * 2.0)
    first = compiled(x)
    kept = first.numpy()
    second = compiled(x + 1.0)
    assert (x.numpy() == before).all() and (first.numpy() == kept).all() and (second.numpy() != kept).any()


def test_an_array_that_is_one_number_is_an_array_where_nothing_else_is():
    check_compiled_agrees(lambda s: tf.reduce_sum(tf.exp(tf.sin(tf.ones([70_000]) * s))), tf.constant(0.5))
    check_compiled_agrees(
        lambda x, s: tf.sin(tf.fill([70_000], s) * 2.0) ** tf.ones([70_000]) + x,
        draw_values((70_000,)),
        tf.constant(0.5),
    )


@pytest.mark.long(sample=2)
@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off, or missing")
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_compiled_loops_between_numpys_functions_give_the_same_bits(real, monkeypatch):
    loops = []
    monkeypatch.setattr(row_program, "FUSE_AFTER_RUNS", 3)
    monkeypatch.setattr(compiled_rows, "SECONDS_PER_CALL", 1.0)
    monkeypatch.setattr(compiled_rows, "start_thread", lambda task, *_, **__: task() or "done")  # Wait for numba.
    monkeypatch.setattr(
        fusion,
        "compile_fused_function",
        lambda *given, make=fusion.compile_fused_function: loops.append(given[0]) or make(*given),
    )

    def function(x, c):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x * 2.0 + c) * x - 1.0
            z = tf.sqrt(tf.tanh(y / (x + 1.0)) ** 2.0 + 0.5) * (tf.maximum(x, y) - c) ** c
            loss = tf.reduce_sum(z * noise) + tf.reduce_mean(z)
        return z, loss, tape.gradient(loss, x)

    for shape in [(66_001,), (300, 301)]:
        x, noise, c = draw_values(shape, 1, real), draw_values(shape, 2, real), tf.constant(0.75, real)
        compiled, plain = tf.function(function), [t.numpy() for t in function(x, c)]
        calls = [[t.numpy() for t in compiled(x, c)] for _ in range(6)]
        for got in calls[1:]:
            for g, w in zip(got, calls[1], strict=True):
                np.testing.assert_array_equal(g, w)
        for g, w in zip(calls[1], plain, strict=True):
            np.testing.assert_allclose(g, w, rtol=2e-5 if real == np.float32 else 1e-12)
    assert len(loops) >= 4 and all(text.count(" = ") >= 2 for text in loops)
