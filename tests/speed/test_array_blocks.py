"""Formulas on large arrays give the same numbers as plain NumPy, in memory that nothing else uses."""

import subprocess
import sys

import numpy as np
import pytest

import minitape as tf
from minitape.engine.table.primitives import TABLE
from minitape.speed import array_blocks

SHAPE = (300, 301)


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("primitive", [p for p in TABLE.values() if p.code], ids=lambda p: p.name)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_blocks_agree_with_small_arrays(primitive, real):
    rng = np.random.default_rng(0)
    arity = len(primitive.texts) - 1
    xs = [(0.1 + 0.8 * rng.random(SHAPE)).astype(real) for _ in range(arity)]
    g = rng.random(SHAPE).astype(real)

    def by_rows(function, *arrays):
        return np.stack([np.broadcast_to(function(*rows), SHAPE[1:]) for rows in zip(*arrays, strict=True)])

    with np.errstate(all="ignore"):
        z = primitive.forward(*xs)
        assert z.dtype == real
        assert np.allclose(z, by_rows(primitive.forward, *xs), rtol=4 * np.finfo(real).eps, equal_nan=True)
        for rule in primitive.rules:
            if rule is not None:
                want = by_rows(rule, g, z, *xs)
                assert np.allclose(rule(g, z, *xs), want, rtol=8 * np.finfo(real).eps, equal_nan=True)


def test_a_buffer_is_used_again_only_when_nobody_refers_to_it():
    first = array_blocks.create_uninitialized_array((123_457,), np.float32)
    place = first.__array_interface__["data"][0]
    view = first[5:10].reshape(5, 1)
    del first
    assert array_blocks.create_uninitialized_array((123_457,), np.float32).__array_interface__["data"][0] != place
    del view
    assert array_blocks.create_uninitialized_array((123_457,), np.float32).__array_interface__["data"][0] == place


def test_the_pool_is_bounded(monkeypatch):
    monkeypatch.setattr(array_blocks, "POOL_BYTES", 10_000_000)
    monkeypatch.setattr(array_blocks, "_pool", [])  # Otherwise, buffers of other tests would be reused.
    held = [array_blocks.create_uninitialized_array((1_000_000,), np.float32) for _ in range(6)]
    assert sum(b.nbytes for b in array_blocks._pool) <= 10_000_000
    assert len({b.__array_interface__["data"][0] for b in held}) == 6


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, 0.5, -1.0])
def test_powers_with_one_exponent(exponent):
    rng = np.random.default_rng(1)
    x = (0.5 + rng.random(SHAPE)).astype(np.float32)
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        y = tensor**exponent
    wide = x.astype(np.float64)
    assert np.allclose(y, wide**exponent, rtol=1e-6)
    assert np.allclose(tape.gradient(y, tensor), exponent * wide ** (exponent - 1), rtol=1e-6)


def test_adjoints_are_added_up_without_touching_what_others_hold():
    rng = np.random.default_rng(2)
    x, seed = (rng.standard_normal(SHAPE).astype(np.float32) for _ in range(2))
    v, s = tf.Variable(x), tf.constant(seed)
    with tf.GradientTape(persistent=True) as tape:
        a = v + v  # Both inputs receive the same adjoint.
        y = a * 1.0 + tf.reshape(tf.reshape(a, [-1]), SHAPE)
        z = y + v
    for _ in range(2):  # The second gradient must not contain the sum of the first.
        g = tape.gradient(z, v, output_gradients=s)
        assert np.allclose(g, 5 * seed, rtol=1e-5)
        assert (s.numpy() == seed).all() and (v.numpy() == x).all()
    first, second = tape.gradient(z, [v, y], output_gradients=s)
    assert np.allclose(first, 5 * seed, rtol=1e-5) and (second.numpy() == seed).all()


def compute_gradients_sharing_an_adjoint(x, z):
    v, w = tf.Variable(x), tf.Variable(z)
    with tf.GradientTape() as tape:
        a = v + w  # Both inputs receive the same adjoint, and v receives another share.
        y = tf.reduce_sum(tf.square(a + v * 3.0))
    return tape.gradient(y, [v, w])


def test_an_adjoint_that_two_inputs_share_stays_as_it_is():
    rng = np.random.default_rng(3)
    x, z = (rng.standard_normal(SHAPE).astype(np.float32) for _ in range(2))
    for _ in range(12):  # The first runs interpret the plan, and later runs use compiled code.
        dv, dw = compute_gradients_sharing_an_adjoint(x, z)
        assert np.allclose(dv, 8 * (4 * x + z), atol=1e-4) and np.allclose(dw, 2 * (4 * x + z), atol=1e-4)


UNDER_A_DEBUGGER = """
import sys
import numpy as np

def look(frame, event, argument):  # Debuggers look at the variables in this way at every line.
    if frame.f_code.co_filename.endswith("array_blocks.py"):
        frame.f_locals
        return look

sys.settrace(look)
import minitape as tf
sys.settrace(None)
for _ in range(12):
    v, w = tf.Variable(np.ones(100_000, np.float32)), tf.Variable(np.ones(100_000, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(v + w + v * 3.0))
    print(*[g.numpy().max() for g in tape.gradient(y, [v, w])])
"""


def test_a_debugger_that_watches_the_import_changes_no_gradient():
    done = subprocess.run([sys.executable, "-c", UNDER_A_DEBUGGER], text=True, capture_output=True, check=False)
    assert (done.stdout, done.stderr) == ("40.0 10.0\n" * 12, "")


def test_a_slice_of_a_large_array_hands_back_zeros_elsewhere():
    n = 200_000
    x = tf.constant(np.arange(n, dtype=np.float32))
    for low, high in ((0, n), (1, n), (0, n - 1), (-100_000, -5), (70_000, 190_000)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[low:high] * 3.0)
        want = np.zeros(n, np.float32)
        want[low:high] = 3.0
        assert (tape.gradient(y, x).numpy() == want).all()


def test_a_sweep_writes_over_no_adjoint_that_is_asked_for_or_held():
    rng = np.random.default_rng(3)
    x, seed = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    held = []

    @tf.custom_gradient
    def seen(a):
        return tf.identity(a), lambda dz: (held.append(dz), dz)[1]

    def program(v):
        a = tf.tanh(v)  # It receives three shares, and a value computed from it receives one.
        b = seen(tf.exp(a))
        return a, b, tf.tanh(b * a + a) * v - a

    v = tf.Variable(x)
    with tf.GradientTape() as tape:
        a, b, y = program(v)
    together = tape.gradient(y, [v, a, b], output_gradients=tf.constant(seed))
    kept = [g.numpy() for g in (*together, held.pop())]
    for place, want in zip(
        [*range(0, len(x), 30)], kept[0][::30], strict=True
    ):  # Single rows are small, so they take a different path.
        u = tf.Variable(x[place])
        with tf.GradientTape() as tape:
            sources = program(u)
        found = tape.gradient(sources[2], [u, *sources[:2]], output_gradients=tf.constant(seed[place]))
        assert np.allclose(found[0], want, rtol=1e-4, atol=1e-5)
        for g, wide in zip((*found, held.pop()), kept, strict=True):
            assert np.allclose(g, wide[place], rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not array_blocks._COUNTS_VARIABLES, reason="this Python does not count all references")
def test_a_sweep_computes_in_the_memory_of_its_adjoints():
    v = tf.Variable(np.ones((401, 301), np.float32))
    with tf.GradientTape() as tape:
        y = v
        for _ in range(6):
            y = tf.tanh(y) * v
    size = v.numpy().nbytes
    before = sum(raw.nbytes == size for raw in array_blocks._pool)
    gradient = tape.gradient(y, v)
    assert gradient.shape == v.shape
    assert sum(raw.nbytes == size for raw in array_blocks._pool) - before <= 2  # There are 24 shares and sums.
