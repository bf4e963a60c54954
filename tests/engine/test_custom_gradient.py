"""Functions with user-defined gradients work in eager mode."""

import numpy as np
import pytest

import minitape as tf


def compute_result_and_gradient(f, *values):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return y, tape.gradient(y, xs)


def test_the_given_gradient_is_used():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dz: (dz * 10.0, dz * 20.0)

    _, grads = compute_result_and_gradient(f, 2.0, 3.0)
    assert [float(g) for g in grads] == [10.0, 20.0]


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_of_constants_the_gradient_is_that_of_what_the_function_reads(steps):
    x, k = tf.constant(3.0), tf.constant(2.0)

    @tf.custom_gradient
    def f(a):
        return a * x, lambda dz: dz * 0.0

    with tf.GradientTape() as tape:
        tape.watch(x)
        for _ in range(steps):
            k = k * k
        y = f(k)
    assert float(tape.gradient(y, x)) == 2.0**2**steps  # As in TensorFlow, no argument is watched.


def test_unused_outputs_get_zeros():
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(a, b):
            seen.append((float(a), float(b)))
            return a + b

        return (x, x * 2.0), grad

    compute_result_and_gradient(lambda x: f(x)[1], 1.0)
    assert seen == [(0.0, 1.0)]


def test_second_order_goes_through_the_gradient_function():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = log1pexp(x)
        g = inner.gradient(y, x)
    assert g.numpy() == 1.0
    assert outer.gradient(g, tf.constant(1.0)) is None
    y, (g,) = compute_result_and_gradient(log1pexp, 0.5)
    assert g.numpy() == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_variables_need_their_argument():
    v = tf.Variable(2.0, name="v")

    @tf.custom_gradient
    def without(x):
        return x * v, lambda dy: dy

    with pytest.raises(
        TypeError, match="grad_fn must accept keyword argument 'variables', since function uses variables"
    ):
        without(tf.constant(1.0))

    @tf.custom_gradient
    def with_argument(x):
        def grad(dy, variables=None):
            assert [u.name for u in variables] == ["v:0"]
            return dy, [dy * 7.0]

        return x * v, grad

    with tf.GradientTape() as tape:
        y = with_argument(tf.constant(1.0))
    assert tape.gradient(y, v).numpy() == 7.0


def test_structures_methods_and_wrong_counts():
    class Net:
        @tf.custom_gradient
        def f(self, d):
            return {"out": d["a"] * d["b"]}, lambda g: {"a": g, "b": g * 2.0}

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = Net().f({"a": a, "b": b})["out"]
    assert [float(g) for g in tape.gradient(y, [a, b])] == [1.0, 2.0]

    @tf.custom_gradient
    def wrong(x, y):
        return x * y, lambda g: g

    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1 instead"):
        compute_result_and_gradient(wrong, 1.0, 2.0)


def test_recompute_grad_runs_the_function_again():
    calls, w = [], tf.Variable(3.0)

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return tf.sin(x) * w

    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gw = tape.gradient(y, [x, w])
    assert len(calls) == 2
    np.testing.assert_allclose([gx, gw], [3 * np.cos(0.5), np.sin(0.5)], rtol=1e-6)


def log_huber(x, m):
    return x**2 if tf.abs(x) <= m else m**2 * (1 - 2 * tf.math.log(m) + tf.math.log(x**2))


@pytest.mark.parametrize(("value", "expected"), [(1.0, (2.0, 0.0)), (3.0, (8 / 3, 4 * (np.log(9) - 2 * np.log(2))))])
def test_py_function_differentiates_the_branch_that_ran(value, expected):
    _, grads = compute_result_and_gradient(lambda x, m: tf.py_function(log_huber, [x, m], tf.float32), value, 2.0)
    np.testing.assert_allclose(grads, expected, rtol=1e-5)


def test_py_function_numpy_results_have_zero_gradient_and_numpy_function_none():
    _, (g,) = compute_result_and_gradient(lambda x: tf.py_function(lambda t: t.numpy() * 2, [x], tf.float32), 1.0)
    assert g.numpy() == 0.0
    _, (g,) = compute_result_and_gradient(lambda x: tf.numpy_function(np.sin, [x], tf.float32), 1.0)
    assert g is None


@pytest.mark.parametrize(("error", "kind"), [
    (ValueError, "InvalidArgument"), (TypeError, "InvalidArgument"), (KeyError, "Unknown"),
    (NotImplementedError, "Unimplemented"), (MemoryError, "Unknown"),
])  # fmt: skip
def test_py_function_errors(error, kind):
    def f(x):
        raise error("why")

    with pytest.raises(getattr(tf.errors, kind + "Error"), match=f"{error.__name__}: .*why"):
        tf.py_function(f, [1.0], tf.float32)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:  # No block was left open.
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0


def test_py_function_leaves_frames_and_output_to_the_user(capsys):
    import sys

    def f(x):
        print("inside", sys._getframe().f_code.co_name)
        return x

    tf.py_function(f, [1.0], tf.float32)
    assert capsys.readouterr().out == "inside f\n"
