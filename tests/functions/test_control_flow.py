"""``tf.cond`` and ``tf.while_loop`` need a single recording for all branches and any number of iterations."""

import io

import numpy as np
import pytest

import minitape as tf


def compute_derivatives(f, *sources):
    """Return the value of f(*sources), its gradients, and the gradients of the sum of their squares."""
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = f(*sources)
        first = tape.gradient(y, sources, unconnected_gradients="zero")
        total = tf.add_n([tf.reduce_sum(g * g) for g in first])
    return [t.numpy() for t in (y, *first, *outer.gradient(total, sources, unconnected_gradients="zero"))]


def test_both_branches_are_one_recording():
    visited = []

    @tf.function
    def f(x):
        def upper():
            visited.append("upper")
            return x * x

        return tf.cond(x > 1.0, upper, lambda: (visited.append("lower"), 3.0 - 2.0 * x)[1])

    for value in (3.0, -2.0, 4.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert y == (value**2 if value > 1 else 3 - 2 * value)
        assert tape.gradient(y, x) == (2 * value if value > 1 else -2)
    assert sorted(visited) == ["lower", "upper"] and f.experimental_get_tracing_count() == 1


def test_the_body_of_a_loop_is_recorded_once():
    visited = []

    @tf.function
    def f(x, n):
        def body(k, y):
            visited.append(1)
            return k + 1, y * x

        return tf.while_loop(lambda k, y: k < n, body, [0, tf.constant(1.0)])[1]

    for n in (3, 0, 40, 7):
        x = tf.constant(1.1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(n))
        np.testing.assert_allclose(y, 1.1**n, 1e-5)
        np.testing.assert_allclose(tape.gradient(y, x), n * 1.1 ** (n - 1), 1e-5)
    assert len(visited) == 1


def test_loops_in_branches_in_loops():
    def f(x, y):
        def body(k, t):
            inner = lambda: tf.while_loop(lambda u: tf.reduce_sum(u * u) < 5.0, lambda u: [u * 1.5 + y], [t])[0]  # noqa: E731
            return k + 1, tf.cond(tf.reduce_sum(t) > 0.5, inner, lambda: tf.sin(t) + y) * 0.5

        return tf.reduce_sum(tf.while_loop(lambda k, t: k < 4, body, [0, x])[1])

    traced = tf.function(f)
    for values in ([0.3, 0.5], [-1.0, 0.2], [2.0, 0.1]):
        x, y = tf.constant(values, tf.float64), tf.constant(0.3, tf.float64)
        for got, want in zip(compute_derivatives(traced, x, y), compute_derivatives(f, x, y), strict=True):
            np.testing.assert_allclose(got, want, 1e-9, 1e-12)
    assert traced.experimental_get_tracing_count() == 1


def test_maximum_iterations():
    f = tf.function(lambda x, m: tf.while_loop(lambda t: t < 100.0, lambda t: [t * x], [x], maximum_iterations=m)[0])
    for m, want in [(0, 2.0), (3, 16.0), (50, 128.0)]:
        assert f(tf.constant(2.0), tf.constant(m)) == want
    assert tf.while_loop(lambda t: t < 100.0, lambda t: [t * 2.0], [tf.constant(2.0)], maximum_iterations=3)[0] == 16.0


def test_variables_that_branches_and_bodies_change():
    def program(v, w, x, n):
        w.assign(tf.cond(x > 0.0, lambda: v.assign_add(x) * 1.0, lambda: w * 2.0))

        def body(k, t):
            v.assign(v * 0.5 + t)
            return k + 1, t + v * x

        _, t = tf.while_loop(lambda k, t: (k < n) & (v < 50.0), body, [0, x * v])
        return t * v + w

    found = []
    for wrap in (lambda f: f, tf.function):
        v, w = tf.Variable(1.0), tf.Variable(0.5)
        f = wrap(lambda x, n, v=v, w=w: program(v, w, x, n))
        found.append([])
        for x, n in [(1.0, 3), (-0.5, 2), (2.0, 0), (0.25, 5)]:
            x = tf.constant(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, tf.constant(n))
            found[-1] += [float(t) for t in (y, v, w, *tape.gradient(y, [x, v, w], unconnected_gradients="zero"))]
    np.testing.assert_allclose(found[1], found[0], 1e-5)


def test_effects_run_in_the_branch_that_is_taken_and_in_each_turn():
    out, ran = io.StringIO(), []

    @tf.function
    def f(x):
        y = tf.cond(x > 0.0, lambda: said("up", x), lambda: said("down", -x))

        def body(k, t):
            tf.print("turn", k, output_stream=out)
            return k + 1, t * 2.0

        return tf.while_loop(lambda k, t: k < 2, body, [0, y])[1]

    def said(word, value):
        tf.print(word, output_stream=out)
        return value * 1.0

    for value in (1.0, -2.0, 3.0):
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x) ** 2
            first = tape.gradient(y, x)
        assert y == 16 * value**2 and first == 32 * value and outer.gradient(first, x) == 32
        ran.append("up" if value > 0 else "down")
    assert out.getvalue() == "".join(f"{word}\nturn 0\nturn 1\n" for word in ran)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_py_function_in_a_branch_or_a_loop_runs_as_often_as_eagerly(wrap):
    ran = []

    def look(t):
        ran.append(float(t))
        return t * 2.0

    def looked(t):
        return tf.py_function(look, [t], tf.float32)

    branch = wrap(lambda x: tf.cond(x > 0.0, lambda: looked(x), lambda: -x))
    loop = wrap(lambda x: tf.while_loop(lambda k, t: k < 3, lambda k, t: (k + 1, looked(t)), [0, x])[1])
    for value in (1.0, -1.0, 2.0):
        assert branch(tf.constant(value)) == (2 * value if value > 0 else 1.0)
    assert ran == [1.0, 2.0]
    for value in (1.0, 5.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loop(x)
        assert y == 8 * value and tape.gradient(y, x) == 8.0
    assert ran == [1.0, 2.0, 1.0, 2.0, 4.0, 5.0, 10.0, 20.0]


def test_random_numbers_in_a_loop_are_those_of_eager_execution():
    def walk(x):
        return tf.while_loop(lambda k, t: k < 4, lambda k, t: (k + 1, t * tf.random.normal([])), [0, x])[1]

    found = []
    for f in (walk, tf.function(walk)):
        tf.random.set_seed(3)
        x = tf.constant(2.0)
        for _ in range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            found.append((float(y), float(tape.gradient(y, x))))
    np.testing.assert_allclose(found[3:], found[:3], 1e-6)


def test_a_branch_that_is_not_taken_may_refuse_the_values_of_the_first_run():
    @tf.function
    def f(x, i):
        return tf.cond(i < 2, lambda: tf.gather(x, i), lambda: tf.constant(-1.0))

    x = tf.constant([1.0, 2.0])
    assert [float(f(x, tf.constant(i))) for i in (7, 1, 0, 9)] == [-1.0, 2.0, 1.0, -1.0]

    @tf.function
    def deeper(n):  # Each branch calls the other, so the recursion does not end.
        return tf.cond(n > 0, lambda: deeper(n - 1) + 1, lambda: n)

    assert [int(deeper(tf.constant(n))) for n in (0, 2, 3, 0)] == [0, 2, 3, 0]


def test_later_calls_refuse_what_operations_refuse_of_values():
    divide = tf.function(lambda a, b: a // b)
    power = tf.function(lambda a, b: a**b)
    look = tf.function(lambda x, i: tf.gather(x, i) + tf.gather_nd(x, i[None]))
    four, two, numbers = tf.constant(4), tf.constant(2), tf.constant([1.0, 2.0, 4.0])
    for f, good, bad, result in ((divide, two, 0, 2), (power, two, -1, 16)):
        assert f(four, good) == f(four, good) == result
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            f(four, tf.constant(bad))
        assert "The error was raised in a traced function" in caught.value.__notes__[-1]
        assert f(four, good) == result
    assert look(numbers, two) == look(numbers, two) == 8.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        look(numbers, tf.constant(3))


def test_branches_of_other_shapes_and_loops_that_grow_are_pythons():
    f = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: tf.reduce_sum(x)))
    assert f(tf.constant([1.0, 2.0])).shape == [2] and f(tf.constant([-1.0, -2.0])) == -3.0
    g = tf.function(lambda x: tf.while_loop(lambda t: tf.size(t) < 5, lambda t: [tf.concat([t, t], 0)], [x])[0])
    assert g(tf.constant([1.0])).shape == [8] and g(tf.constant([1.0, 2.0, 3.0])).shape == [6]


def test_what_is_refused():
    with pytest.raises(TypeError, match="'false_fn' argument required"):
        tf.cond(True, lambda: 1)
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        tf.cond(True, 1, lambda: 2)
    for wrap in (lambda f: f, tf.function):
        with pytest.raises(ValueError, match="loop has 1 variables, but its body returned 2 values"):
            wrap(lambda: tf.while_loop(lambda t: t < 3, lambda t: [t, t], [tf.constant(0)]))()
