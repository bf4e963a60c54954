"""Random programs: what `explain` says agrees with `gradient`, before and after, and it never fails."""

import linecache
import random
from typing import Any

import numpy as np
import pytest

import minitape as tf

ONE = """tf.sin({a})
tf.stop_gradient({a})
tf.round({a})
tf.cast(tf.cast({a}, tf.int32), tf.float32)
tf.identity({a})
tf.constant({a}.numpy())
float(tf.reduce_sum({a})) * tf.ones([2])
tf.cast({a} > 0.0, tf.float32)
tf.zeros_like({a})
{a}[::-1]
tf.where({a} > 0.0, {a}, -{a})
tf.sort({a})
tf.gather({a}, [1, 0])
tf.concat([{a}[:1], {a}[1:]], 0)
helper({a})
function({a})
custom({a})
tf.Variable({a}) * 1.0""".splitlines()
TWO = """{a} + {b}
{a} * {b}
tf.maximum({a}, {b})
tf.where({a} > {b}, {a}, {b})
{a} / ({b} * {b} + 1.0)
tf.where({a} > 0.0, {b}, 1.0)""".splitlines()
HEAD = """def helper(t):
    u = t * 2.0
    return u + 1.0
@tf.function
def function(t):
    return tf.tanh(t) * 3.0
@tf.custom_gradient
def custom(t):
    return t * 2.0, lambda up: up * 2.0
v0 = tf.Variable([0.3, -0.7])
v1 = tf.Variable([1.3, 0.7], trainable=False)
s0 = tf.Variable([0.1, 0.2])
c0 = tf.constant([0.5, -1.5])
c1 = tf.constant([1.5, 2.5])
"""
NAMES = ["v0", "v1", "s0", "c0", "c1"]


def build_random_program(seed: int) -> str:
    """A program with operations before, inside and after the block, pauses, assignments, escapes and late watches."""
    rng = random.Random(seed)
    names, lines = list(NAMES), []

    def add_random_line(indent: str) -> None:
        a, b = rng.choice(names), rng.choice(names)
        chance = rng.random()
        if chance < 0.06:
            lines.append(f"{indent}s0.assign({a})")
        elif chance < 0.12 and indent:
            lines.append(f"{indent}tape.watch({rng.choice(['c0', 'c1', 'v1'])})")
        else:
            names.append(f"t{len(names)}")
            lines.append(f"{indent}{names[-1]} = {rng.choice(ONE if rng.random() < 0.5 else TWO).format(a=a, b=b)}")

    for _ in range(rng.randint(0, 3)):
        add_random_line("")
    auto = rng.random() < 0.85
    lines.append(f"with tf.GradientTape(persistent={rng.random() < 0.5}, watch_accessed_variables={auto}) as tape:")
    lines.append("    pass")
    for _ in range(rng.randint(2, 8)):
        if rng.random() < 0.1:
            lines.append("    with tape.stop_recording():\n        pass")
            add_random_line("        ")
        else:
            add_random_line("    ")
    for _ in range(rng.randint(0, 2)):
        add_random_line("")
    lines.append(f"target = {rng.choice(names[-3:])}\nsource = [{', '.join([*NAMES, *names[5:8]])}]")
    return HEAD + "\n".join(lines) + "\n"


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_agrees_with_gradient(start: int) -> None:
    for seed in range(start, start + 10):
        code, filename = build_random_program(seed), f"random_{seed}.py"
        linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
        space: dict[str, Any] = {"tf": tf}
        exec(compile(code, filename, "exec", dont_inherit=True), space)
        tape, target, source = space["tape"], space["target"], space["source"]
        early = tape.explain(target, source)
        grads = tape.gradient(target, source)
        late = tape.explain(target, source)
        assert [e.connected for e in early] == [g is not None for g in grads], code
        assert [(e.cause, e.line) for e in early] == [(e.cause, e.line) for e in late], code
        assert not any("explain failed" in e.message for e in [*early, *late]), code


@pytest.mark.parametrize(
    "value", [0.5, [[0.5, 0.1], [0.2, 0.4]], np.ones((300, 300), np.float32)], ids=["one", "few", "many"]
)
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("read", [False, True])
def test_a_value_of_a_released_recording_says_where_it_came_from(value, persistent, read) -> None:
    """A hidden state that is kept from the step before: recorded by a tape that is gone."""
    w, v = tf.Variable(value), tf.Variable(value)
    with tf.GradientTape(persistent=persistent) as tape:
        h = tf.tanh(w * 2.0)
        y = tf.reduce_sum(h * v)
    if read:
        tape.gradient(y, w), h.numpy()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(h * v)
    if read:
        h.numpy()
    assert [why.cause for why in tape.explain(y, [w, v])] == ["outside_tape", "connected"]
    assert [g is None for g in tape.gradient(y, [w, v])] == [True, False]
