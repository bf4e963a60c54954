"""Random programs give the same values, first and second gradients and variable states in a function as without it."""

import random

import numpy as np
import pytest

import minitape as tf

STEPS = """
{a} = {a} * {c} + {b}
{a} = tf.sin({a}) - {b}
{a} = tf.exp(-{a} * {a})
{a} = tf.maximum({a}, {b} * {c})
{a} = tf.where({a} > {c}, {a} * {b}, tf.tanh({b}))
{a} = tf.linalg.matvec(matrix, {a})
{a} = tf.concat([{b}[1:], {a}[:1]], 0)
{a} = tf.gather({a}, [2, 0, 0]) * captured
{a} = {a} / (1.0 + tf.reduce_sum({b} * {b}))
{a} = tf.stop_gradient({a}) * {b} + {c}
{a} = {a} * v
v.assign(v * 0.5 + tf.reduce_mean({a}) * 0.1)
v.assign_add(tf.sigmoid({b}))
{a} = {a} + tf.reduce_sum(tf.boolean_mask({b}, {b} > {c}))
{a} = {a} * {b}[tf.argmax({a})]
{a} = tf.reshape({a}, tf.stack([tf.size({b}), n // n]))[:, 0]
{a} = {a} + tf.reduce_sum({b}[: n])
{a} = bent({a}, {b})
{a} = clipped({a})
{a} = tf.cond(tf.reduce_sum({a}) > {c}, lambda: {a} * {b}, lambda: tf.cos({b}))
{a} = tf.cond(tf.reduce_sum({b}) < {c}, lambda: tf.sin({a}) * v, lambda: {b} * {c})
[{a}] = tf.while_loop(small, lambda t: [t * 1.5 + {c} * {b}], [{a}], maximum_iterations=4)
_, {a} = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.sin(t) * {b} + {c}), [tf.constant(0), {a}])
_, {a} = tf.while_loop(lambda i, t: i < n, changing, [tf.constant(0), {a}])
{a} = tf.cond(n > 1, lambda: tf.while_loop(small, lambda t: [tf.abs(t) * 2.0 + 0.5], [{a}])[0], lambda: {b})
for _ in range(2): {a} = {a} * {a} - {b}
for element in {b}: {a} = {a} + element * {c}
for k in tf.range(n): {a} = {a} * 0.5 + tf.cast(k, tf.float32)
while tf.reduce_sum({a} * {a}) < 2.0: {a} = {a} * 1.5 + 0.5
if tf.reduce_sum({a}) > {c}: {a} = {a} * {b}
if n > 1 and tf.reduce_max({b}) > {c}: {a} = tf.tanh({a}); {b} = {b} + {c}
{a} = slope({a}, {b})
""".strip().split("\n")


def write_program(seed: int) -> str:
    """Return the text of a function of a vector, a number and a variable."""
    rng = random.Random(seed)
    lines = []
    for _ in range(rng.randint(3, 8)):
        a, b = rng.sample(["p", "q"], 2)
        lines.append("    " + rng.choice(STEPS).format(a=a, b=b, c=round(rng.uniform(-1.5, 1.5), 2)))
    body = "\n".join(lines)
    return f"def f(x, n):\n    p, q = x, tf.cos(x)\n{body}\n    return tf.reduce_sum(p * q), p\n"


def run_program(text: str, wrap) -> list:
    """Return the results of a program for several arguments, one call after another."""
    v = tf.Variable([0.3, -0.7, 1.1])

    @wrap
    def bent(p, q):
        if tf.reduce_sum(p) > 0.0:
            return p * q
        return p - tf.cond(q[0] > 0.0, lambda: q, lambda: p * p)

    @tf.custom_gradient
    def clipped(p):
        return tf.minimum(p, 1.0), lambda g: g * tf.cast(p < 1.0, tf.float32) * 1.5 + 0.0 * p

    @wrap
    def slope(p, q):
        with tf.GradientTape() as tape:
            tape.watch(p)
            y = tf.reduce_sum(tf.sin(p) * p * q)
        return tape.gradient(y, p)

    def changing(i, t):
        v.assign_add(0.1 * t)
        return i + 1, t * 0.5 + v

    space = {
        "tf": tf, "v": v, "bent": bent, "clipped": clipped, "slope": slope, "changing": changing,
        "small": lambda t: tf.reduce_sum(t * t) < 9.0,
        "matrix": tf.constant([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [0.2, 0.1, 0.7]]),
        "captured": tf.constant([1.0, -0.5, 0.25]),
    }  # fmt: skip
    exec(text, space)
    f = wrap(space["f"])
    found = []
    for numbers, n in [([0.2, -0.4, 0.9], 2), ([1.0, 0.5, -0.3], 2), ([-0.8, -0.1, 0.4], 3), ([0.2, -0.4, 0.9], 2)]:
        x, n = tf.constant(numbers), tf.constant(n)
        found += [*f(x, n), v.value()]
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y, p = f(x, n)
            first = tape.gradient(y, [x, v, space["captured"]])
            total = tf.add_n([tf.reduce_sum(g * g) for g in first if g is not None] + [tf.reduce_sum(p)])
        found += [y, p, v.value(), *first, *outer.gradient(total, [x, v])]
    return [None if t is None else t.numpy() for t in found]


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("block", range(20))
def test_functions_agree_with_eager_execution(block):
    for seed in range(10 * block, 10 * block + 10):
        text = write_program(seed)
        want, got = run_program(text, lambda f: f), run_program(text, tf.function)
        for k, (a, b) in enumerate(zip(want, got, strict=True)):
            message = f"seed {seed}, result {k}\n{text}"
            if a is None:  # As in TensorFlow, a branch that was not taken and a state that was not read have zeros.
                assert b is None or not np.any(b), message
            else:
                assert b is not None, message
                np.testing.assert_allclose(b, a, 2e-3, 2e-4, err_msg=message)


@pytest.mark.parametrize("seed", [3, 14, 15])
def test_a_program_that_runs_often_gives_the_same(seed):
    """After some runs, sweeps are compiled, and so are functions."""
    text = write_program(seed)
    for wrap in (lambda f: f, tf.function):
        first = run_program(text, wrap)
        for _ in range(20):
            again = run_program(text, wrap)
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(b, a)
