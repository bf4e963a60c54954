"""An outer tape records a gradient of plain numbers.

The gradient is compared with closed formulas, with finite differences, and with the gradient of a one-element array.
"""

import inspect
import math
from functools import reduce
from operator import mul

import numpy as np
import pytest

import minitape as tf

REALS = [np.float32, np.float64]


def build_derivative(f, order):
    """Return a derivative of a function of one tensor, computed by nested tapes."""

    def once(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return f if order == 0 else build_derivative(once, order - 1)


def check_close(got, expected, given, rtol):
    """Assert that two gradients are both None, or have the same shape and are equal up to rounding."""
    same = (got is None) == (expected is None) and (got is None or np.allclose(got, expected, rtol=rtol, atol=rtol))
    assert same, f"input {given}: got {got}, expected {expected}"


# For each name, a function and its first three derivatives.
FORMULAS = {
    "cube": (lambda x: x * x * x, lambda x: (3 * x * x, 6 * x, 6)),
    "power": (lambda x: x**5.0, lambda x: (5 * x**4, 20 * x**3, 60 * x**2)),
    "sin": (tf.sin, lambda x: (math.cos(x), -math.sin(x), -math.cos(x))),
    "exp": (lambda x: tf.exp(2.0 * x), lambda x: tuple(2**n * math.exp(2 * x) for n in (1, 2, 3))),
    "log": (tf.math.log, lambda x: (1 / x, -1 / x**2, 2 / x**3)),
    "sqrt": (tf.sqrt, lambda x: (0.5 * x**-0.5, -0.25 * x**-1.5, 0.375 * x**-2.5)),
    "number over": (lambda x: 1.0 / (x + 1.0), lambda x: (-((x + 1) ** -2), 2 * (x + 1) ** -3, -6 * (x + 1) ** -4)),
    "tanh": (
        tf.tanh,
        lambda x: (
            1 - math.tanh(x) ** 2,
            -2 * math.tanh(x) * (1 - math.tanh(x) ** 2),
            (1 - math.tanh(x) ** 2) * (6 * math.tanh(x) ** 2 - 2),
        ),
    ),
}


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", FORMULAS)
def test_three_orders_are_those_of_the_formula_and_of_an_array(name, real):
    f, formula = FORMULAS[name]
    for at in (0.3, 1.7):
        for order, expected in enumerate(formula(at), 1):
            got = build_derivative(f, order)(tf.constant(at, real))
            assert got.dtype.as_numpy_dtype is real
            check_close(got.numpy(), expected, (name, order, at), 40 * np.finfo(real).eps)
            general = build_derivative(f, order)(tf.constant([at], real))
            check_close(got.numpy(), general.numpy()[0], (name, order, at), 4 * np.finfo(real).eps)


UNARY = [
    tf.sin, tf.tanh, tf.sigmoid, tf.abs, tf.nn.relu, tf.square, lambda a: -a, lambda a: a**3.0,
    lambda a: 0.5 / (a * a + 1.0), lambda a: tf.sqrt(a * a + 1.0), lambda a: tf.math.log(a * a + 2.0),
    lambda a: 1.5 - a * 0.5,
]  # fmt: skip
BINARY = [tf.add, tf.subtract, tf.multiply, lambda a, b: a / (b * b + 1.0), lambda a, b: tf.square(a - b) / 4.0]
CHOICES = [tf.maximum, tf.minimum]  # Their rules are not lines of the table.


def build_random_program(seed, choices):
    """Return a random function of two tensors."""
    rng, pairs = np.random.default_rng(seed), [*BINARY, *choices]
    steps = [(rng.integers(3), rng.integers(len(UNARY)), rng.integers(len(pairs)), *rng.random(2)) for _ in range(6)]

    def f(x, y):
        known = [x, y, x * y]
        for kind, one, two, i, j in steps:
            a, b = known[int(i * len(known))], known[int(j * len(known))]
            known.append(pairs[two](a, b) if kind else UNARY[one](a))
        return known[-1] + known[-2] * y

    return f


def compute_gradient(f, x, y):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    return tape.gradient(z, [x, y], unconnected_gradients="zero")


def compute_hessian(f, x, y):
    """Return the second derivatives of a function of two tensors, with None for missing derivatives."""
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        first = compute_gradient(f, x, y)
    return [g for one in first for g in outer.gradient(one, [x, y])]


@pytest.mark.parametrize("choices", [[], CHOICES], ids=["rows", "choices"])
@pytest.mark.parametrize("seed", range(15))
def test_random_programs_against_differences_and_arrays(seed, choices):
    f, at, h = build_random_program(seed, choices), np.random.default_rng(100 + seed).uniform(0.3, 1.2, 2), 1e-6
    numbers = compute_hessian(f, *map(tf.constant, at))
    general = compute_hessian(f, *(tf.constant([value]) for value in at))
    ends = [
        [np.array(compute_gradient(f, *map(tf.constant, at + sign * step)), np.float64) for sign in (1, -1)]
        for step in h * np.eye(2)
    ]
    differences = [(up[i] - down[i]) / (2 * h) for i in (0, 1) for up, down in ends]
    for got, array, expected in zip(numbers, general, differences, strict=True):
        check_close(
            None if got is None else got.numpy(), None if array is None else array.numpy()[0], (seed, at), 1e-12
        )
        check_close(0.0 if got is None else got.numpy(), expected, (seed, at), 1e-5)


def test_two_dtypes_on_one_tape():
    """A number in a rule, such as the 2 in the rule of tanh, is converted to the dtype of the sweep."""
    given = np.float32(0.7), np.float64(0.7)
    sources = [tf.constant(value) for value in given]
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(sources)
        with tf.GradientTape() as tape:
            tape.watch(sources)
            targets = [tf.tanh(x) + 0.1 / x for x in sources]
        first = tape.gradient(targets, sources)
    for at, x, one in zip(given, sources, first, strict=True):
        second, v = outer.gradient(one, x), float(at)
        slope = 1 - math.tanh(v) ** 2
        assert one.dtype is second.dtype is x.dtype, f"input {at!r}: got {one} and {second}"
        check_close(one.numpy(), slope - 0.1 / v**2, at, 8 * np.finfo(at.dtype).eps)
        check_close(second.numpy(), -2 * math.tanh(v) * slope + 0.2 / v**3, at, 8 * np.finfo(at.dtype).eps)


@tf.custom_gradient
def doubled(x):
    """Return x * x, with a custom gradient that is twice the derivative."""
    return x * x, lambda g: g * 4.0 * x


@pytest.mark.parametrize("shape", [(), (1,)], ids=["number", "general"])
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (
            lambda x: tf.sin(doubled(x)),
            lambda x: (4 * x * math.cos(x * x), 4 * math.cos(x * x) - 16 * x * x * math.sin(x * x)),
        ),
        (lambda x: doubled(x * x) * x, lambda x: (9 * x**4, 40 * x**3)),
        (lambda x: x * tf.stop_gradient(x * x), lambda x: (x * x, None)),
        (lambda x: x * x * tf.stop_gradient(x), lambda x: (2 * x * x, 2 * x, None)),
        (lambda x: x, lambda x: (1, None)),
        (lambda x: tf.floor(x) + x * x, lambda x: (2 * x, 2, None)),
        (lambda x: tf.reduce_sum(x * x) * x, lambda x: (3 * x * x, 6 * x, 6)),
        (lambda x: x + 3.0, lambda x: (1, None)),
    ],
    ids=["custom", "custom inside", "stopped", "stopped factor", "itself", "floor", "call", "linear"],
)
def test_what_cuts_or_changes_the_way(f, expected, shape):
    at = 0.8
    for order, wanted in enumerate(expected(at), 1):
        got = build_derivative(f, order)(tf.constant(np.full(shape, at)))
        check_close(None if got is None else float(got.numpy().sum()), wanted, (order, at), 1e-12)


@pytest.mark.parametrize("shape", [(), (1,)], ids=["number", "general"])
def test_a_source_without_a_gradient_is_none(shape):
    x, y, z = (tf.Variable(np.full(shape, value)) for value in (2.0, 3.0, 5.0))
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            target = x * x * y
        first = inner.gradient(target, {"x": x, "z": z, "y": y})
        zeros = inner.gradient(target, [z, x], unconnected_gradients="zero")
    assert first["z"] is None and inner.gradient(z, x) is None
    assert [float(g.numpy().sum()) for g in (first["x"], first["y"], *zeros)] == [12.0, 4.0, 0.0, 12.0]
    second = outer.gradient(first["x"], [x, y, z]), outer.gradient(first["y"], [x, y, z]), outer.gradient(zeros[0], [x])
    got = [[None if g is None else float(g.numpy().sum()) for g in row] for row in second]
    assert got == [[6.0, 4.0, None], [4.0, None, None], [None]]


def test_persistent_tapes_around_each_other_and_within_their_own_block():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x * x
            first = tape.gradient(y, x)
            second = tape.gradient(first, x)
        again = tape.gradient(second, x)
        middle = tape.gradient(y, [first, x])
    assert [float(t) for t in (first, second, again, middle[1])] == [32.0, 48.0, 48.0, 32.0] and middle[0] is None
    for _ in range(2):
        got = [float(outer.gradient(t, x)) for t in (y, first, second, again, middle[1])]
        assert got == [32.0, 48.0, 48.0, 24.0, 48.0], f"input 2.0: got {got}"


@pytest.mark.parametrize("shape", [(), (1,)], ids=["number", "general"])
def test_what_is_watched_after_its_use_hands_nothing_on(shape):
    x = tf.constant(np.full(shape, 1.5))
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            y = x * x
            tape.watch([x, y])
            z = y * y + x
        of_x, of_y = tape.gradient(z, [x, y])
    got = [float(g.numpy().sum()) for g in (of_x, of_y, outer.gradient(of_y, x))]
    assert got == [1.0, 4.5, 6.0], f"input 1.5: got {got}"
    assert outer.gradient(of_x, x) is None


def test_the_rows_belong_to_the_statement_and_the_tape_that_asked():
    x = tf.constant(1.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(x) * 3.0
        tape.gradient(y, x)
        line = inspect.currentframe().f_lineno - 1
    rows = tf.snapshot(outer)["rows"][y._row + 1 :]
    assert {(row["line"], row["by"]) for row in rows} == {(line, 1)}, rows


def test_several_targets_weights_and_a_source_in_the_middle():
    x, weight = tf.constant(1.5, tf.float64), tf.constant(0.25, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch([x, weight])
        with tf.GradientTape() as tape:
            tape.watch(x)
            middle = x * x
            targets = [middle * x, tf.sin(middle)]
        of_x, of_middle = tape.gradient(targets, [x, middle], output_gradients=[weight, weight * weight])
        total = of_x * of_middle
    v, w, c, s = 1.5, 0.25, math.cos(2.25), math.sin(2.25)
    inner, outward = w * v + w * w * c, 3 * v * v * w + 2 * v * c * w * w
    check_close((float(of_x), float(of_middle)), (outward, inner), (v, w), 1e-12)
    by_x = (6 * v * w + w * w * (2 * c - 4 * v * v * s)) * inner + outward * (w - w * w * 2 * v * s)
    by_weight = (3 * v * v + 4 * v * c * w) * inner + outward * (v + 2 * w * c)
    check_close([float(g) for g in outer.gradient(total, [x, weight])], (by_x, by_weight), (v, w), 1e-12)


@pytest.mark.parametrize("factors", [20, 532])
def test_a_longer_recording(factors):
    got = build_derivative(lambda x: reduce(mul, [x] * factors), 2)(tf.constant(1.001, tf.float64))
    check_close(float(got), factors * (factors - 1) * 1.001 ** (factors - 2), factors, 1e-10)


def test_a_tape_that_is_entered_again_is_drawn_as_a_new_one():
    def list_drawn_rows(again):
        x, inner = tf.Variable(3.0, name="x"), tf.GradientTape()
        with tf.GradientTape() as outer:
            for _ in range(2):
                inner = inner if again else tf.GradientTape()
                with inner:
                    y = tf.sin(x * x)
                g = inner.gradient(y, x)
            assert abs(float(g) - 6.0 * np.cos(9.0)) < 1e-5
        return [(row["label"], row["name"], row.get("below")) for row in tf.snapshot(outer)["rows"]]

    assert (
        list_drawn_rows(True) == list_drawn_rows(False)
        and sum(below is not None for *_, below in list_drawn_rows(True)) >= 8
    )
