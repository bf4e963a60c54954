"""Sweeps that are met often are written out, or repeated. None of it may show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape import backward, plan, record, straight
from minitape.primitives import TABLE, load_all

load_all()
NEVER = 10**9


def numbers(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape).astype(dtype)


def plain(value):
    """Gradients as bytes with their dtype and shape: equal means equal to the last bit."""
    if value is None:
        return None
    array = np.asarray(tf.convert_to_tensor(value).numpy())
    return array.dtype.str, array.shape, array.tobytes()


def gradients(function, *arrays, seeds=None):
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = tape.gradient(y, xs, output_gradients=seeds)
    return [plain(g) for g in found], [plain(t) for t in tf.nest.flatten(y)]


def hessian_product(function):
    """The gradient of the sum of a gradient's squares."""

    def second(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = function(*xs)
        found = [tf.convert_to_tensor(g) for g in tape.gradient(y, xs) if g is not None]
        return [tf.reduce_sum(g * g) for g in found]

    return second


def network(x, m, b, n):
    return tf.reduce_mean((tf.matmul(tf.tanh(tf.matmul(x, m) + b), n) - 0.5) ** 2)


def rosenbrock(x):
    return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


FUNCTIONS = {
    "number": (lambda x: tf.sin(x) * x + x / 3.0, [numbers(1)]),
    "numbers": (lambda x, y: (x * y + y) ** x - tf.exp(x) / y, [numbers(1), numbers(2)]),
    "same_input_twice": (lambda x: x * x + x - x, [numbers(1, 3)]),
    "vector": (lambda x: tf.reduce_sum(tf.sqrt(x) * tf.exp(-x)), [numbers(1, 5)]),
    "vector_and_number": (lambda x, a: a * x + a, [numbers(1, 4), numbers(2)]),
    "broadcasting": (lambda x, y: tf.tanh(x * y + y), [numbers(1, 3, 1), numbers(2, 4)]),
    "double": (lambda x: tf.reduce_mean(tf.math.log(x) * x), [numbers(1, 6, dtype=np.float64)]),
    "double_and_single": (lambda x, y: tf.reduce_sum(x) * tf.cast(tf.reduce_sum(y * y), tf.float32),
                          [numbers(1, 3), numbers(2, 2, dtype=np.float64)]),
    "network": (network, [numbers(1, 8, 5), numbers(2, 5, 4), numbers(3, 4), numbers(4, 4, 1)]),
    "rosenbrock": (rosenbrock, [numbers(1, 9)]),
    "shapes": (lambda x: tf.reshape(tf.transpose(x[1:, ::2]), [-1]) * 2.0, [numbers(1, 3, 4)]),
    "slices": (lambda x: x[0] * x[-1, 1] + x[..., None][1, 2], [numbers(1, 3, 4)]),
    "reductions": (lambda x: tf.reduce_sum(x, 0) * tf.reduce_max(x, 1, keepdims=True) + tf.reduce_prod(x), [numbers(1, 3, 3)]),
    # a sum hands the same number on to all elements: it stays one number as long as nobody needs the array
    "even": (lambda x: tf.reduce_sum(2.0 * x), [numbers(1, 4)]),
    "even_twice": (lambda x: tf.reduce_sum(x + x) + tf.reduce_mean(3.0 * x), [numbers(1, 4)]),
    "even_and_not": (lambda x: tf.reduce_sum(x) + tf.reduce_sum(x * x) + tf.reduce_sum(-x), [numbers(1, 4)]),
    "even_broadcast": (lambda x, y: tf.reduce_sum(x * y + y) + tf.reduce_sum(x), [numbers(1, 3, 4), numbers(2, 4)]),
    "even_and_number": (lambda x, a: tf.reduce_sum((x - a) * a) + tf.reduce_sum(a * x / a), [numbers(1, 5), numbers(2)]),
    "even_through_calls": (lambda x: tf.reduce_sum(tf.reshape(x[1:] * 2.0, [3, 1])) + tf.reduce_sum(tf.transpose(x[:, None])),
                           [numbers(1, 4)]),
    "even_gates": (lambda x: tf.reduce_sum(tf.nn.relu(x - 0.5) + tf.maximum(x, 0.5) + tf.abs(x) + tf.sqrt(x)), [numbers(1, 6)]),
    "no_gradient_twice": (lambda x: tf.reduce_sum(x // x + x % x + x * 2.0), [numbers(1, 3)]),
    "other_axes": (lambda x: tf.reduce_sum(tf.reduce_mean(x * 2.0, 1, keepdims=True) * tf.reduce_sum(x, 0)), [numbers(1, 3, 4)]),
    "ties": (lambda x: tf.reduce_max(tf.maximum(x, 0.5)), [np.float32([0.5, 0.1, 0.5])]),
    "several_outputs": (lambda x: tf.unstack(x)[1] * tf.split(x, 2)[0], [numbers(1, 4)]),
    "slices_of_rows": (lambda x: tf.reduce_sum(tf.gather(x, [0, 2, 0]) ** 2), [numbers(1, 3, 2)]),
    "integers_between": (lambda x: x * tf.cast(tf.argmax(x), tf.float32), [numbers(1, 4)]),
    "unconnected": (lambda x, y: x * 2.0, [numbers(1, 3), numbers(2, 3)]),
    "stopped": (lambda x: x * tf.stop_gradient(x * x), [numbers(1, 3)]),
    "halves": (lambda x: tf.reduce_sum(tf.cast(x, tf.float16) * 2), [numbers(1, 3)]),
    "large": (lambda x: tf.reduce_sum(tf.sin(x) * x + x * x - x), [numbers(1, 70_000)]),
    "large_matrix": (lambda x, y: tf.matmul(x, y) * tf.matmul(x, y), [numbers(1, 300, 20), numbers(2, 20, 300)]),
    "several_targets": (lambda x: [x * x, tf.reduce_sum(x), x], [numbers(1, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("fast", [record.FAST, 0], ids=["small", "as_large"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_written_and_walked_sweeps_agree_to_the_last_bit(name, order, fast, monkeypatch):
    monkeypatch.setattr(record, "FAST", fast)  # 0: all arrays go the way of large ones
    monkeypatch.setattr(plan, "_plans", {})  # made for other sizes
    function, arrays = FUNCTIONS[name]
    function = function if order == 1 else hessian_product(function)
    monkeypatch.setattr(plan, "OFTEN", NEVER)
    want = gradients(function, *arrays)
    monkeypatch.setattr(plan, "OFTEN", 0)
    for other in (1.5, 1.0):  # a plan is met with other values first
        got = gradients(function, *[(a * np.asarray(other, a.dtype)) for a in arrays])
        got = gradients(function, *arrays)
    assert got == want


@pytest.mark.parametrize("order", [1, 2])
def test_a_program_serves_the_attributes_that_it_finds(order, monkeypatch):
    """Attributes are written in; where those of the next recording are others, they are read instead."""
    monkeypatch.setattr(plan, "_plans", {})
    monkeypatch.setattr(plan, "OFTEN", 2)
    x = numbers(1, 6)
    for start in (0, 0, 0, 0, 1, 2, 0, 1):

        def function(v, start=start):
            return tf.reduce_sum(v[start : start + 3] ** 2 * v[0:3])

        got = gradients(function if order == 1 else hessian_product(function), x)
        with monkeypatch.context() as walked:
            walked.setattr(plan, "OFTEN", NEVER)
            walked.setattr(plan, "_plans", {})
            assert got == gradients(function if order == 1 else hessian_product(function), x), start


DIRECT = [(name, *p.example(np.random.default_rng(3))) for name, p in TABLE.items() if p.direct is not None] + [
    *[("matmul", (numbers(1, m, k), numbers(2, k, n)), {})
      for m, k, n in ((1, 1, 600), (1, 700, 1), (20, 30, 1), (300, 5, 300), (8, 8, 8), (9, 8, 8), (3, 0, 2))],
    *[("broadcast_to", (numbers(1),), {"shape": shape}) for shape in ((3,), (70, 70))],
    *[(f"reduce_{kind}", (numbers(1, 3, 4),), {"axis": axis, "keepdims": keep})
      for kind in ("sum", "mean") for axis in (None, (0,), (-1,), (0, 1)) for keep in (False, True)],
    *[("slice", (numbers(1, 3, 4),), {"spec": spec}) for spec in ((0,), (2, 1), (None, slice(0, 2)))],
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "arrays", "attrs"), DIRECT)
def test_the_direct_way_of_a_primitive_computes_the_same(name, arrays, attrs, dtype):
    primitive = TABLE[name]
    arrays = [np.asarray(a, dtype)[()] for a in arrays]
    direct = primitive.direct(arrays[0].dtype, *[a.shape for a in arrays], **attrs)
    assert plain(direct(*arrays)) == plain(primitive.forward(*arrays, **attrs))


WALKED = {"several_outputs", "slices_of_rows", "halves"}  # what no program provides for


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_are_used_where_they_can_be(name, monkeypatch):
    walked = []
    monkeypatch.setattr(plan, "OFTEN", 0)
    monkeypatch.setattr(backward, "_walked", lambda *a, f=backward._walked: walked.append(1) or f(*a))
    function, arrays = FUNCTIONS[name]
    gradients(function, *arrays)
    walked.clear()
    gradients(function, *arrays)
    assert bool(walked) == (name in WALKED)


def test_recorded_sweeps_are_repeated(monkeypatch):
    walked = []
    monkeypatch.setattr(plan, "OFTEN", 0)
    monkeypatch.setattr(backward, "_walked", lambda *a, f=backward._walked: walked.append(1) or f(*a))
    function, arrays = FUNCTIONS["network"]
    gradients(hessian_product(function), *arrays)
    walked.clear()
    gradients(hessian_product(function), *arrays)
    assert not walked


def test_attributes_and_numbers_of_a_repeated_sweep_are_those_of_each_tape(at_once):
    x = numbers(1, 3, 3)
    for _ in range(2):
        for axis in (0, 1):
            got = gradients(hessian_product(lambda x, a=axis: tf.reduce_sum(tf.reduce_sum(x * x, a) ** 2)), x)
            rows = (x * x).sum(axis, keepdims=True)
            slope = 4 * x * rows  # d/dx of sum(rows ** 2)
            want = 2 * (4 * rows * slope + 8 * x * (x * slope).sum(axis, keepdims=True))
            np.testing.assert_allclose(np.frombuffer(got[0][0][2], np.float32).reshape(3, 3), want, rtol=1e-4)
        for factor in (2.0, 3.0):
            (got,), _ = gradients(hessian_product(lambda x, f=factor: x * x * f), np.float32(1.0))
            assert np.frombuffer(got[2], np.float32) == 8 * factor * factor


def test_what_the_user_gives_for_the_target_is_that_of_each_call(at_once):
    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        for seed, want in (([1.0, 1.0], [2.0, 4.0]), ([3.0, 0.0], [6.0, 0.0]), (5.0, [10.0, 20.0]), ([[2.0, 2.0]], [4.0, 8.0])):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            assert tape.gradient(y, x, output_gradients=tf.constant(seed)).numpy().tolist() == want


def test_a_seed_that_depends_on_the_source_is_differentiated(at_once):
    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x
            g = inner.gradient(y, x, output_gradients=x)  # 2 x * x
        assert outer.gradient(g, x).numpy() == 8.0


def test_every_call_of_a_persistent_tape_is_right(at_once):
    x = tf.constant([1.0, 2.0, 3.0])
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            s = tf.reduce_sum(y)
            z = s * y
        for _ in range(2):
            assert tape.gradient(s, x).numpy().tolist() == [2.0, 4.0, 6.0]
            assert tape.gradient(z, x).numpy().tolist() == [56.0, 112.0, 168.0]
            assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]


def test_lines_of_a_repeated_sweep_are_those_of_each_statement(at_once):
    x = tf.constant(3.0)

    def lines():
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x
            first = inner.gradient(y, x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x
            second = inner.gradient(y, x)
        rows = tf.snapshot(outer)["rows"]
        start = lines.__code__.co_firstlineno
        by_tape = [row["line"] - start for row in rows if row["by"] is not None]
        return first.numpy(), second.numpy(), sorted(set(by_tape))

    assert [lines() for _ in range(3)] == [(6.0, 6.0, [6, 10])] * 3


def test_an_interrupt_between_the_columns_leaves_no_trace(monkeypatch, at_once):
    x = tf.constant(numbers(1, 4))

    def second():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x * x * x)
            g = inner.gradient(y, x)
            z = tf.reduce_sum(g)
        return outer.gradient(z, x).numpy()

    want = second()
    np.testing.assert_array_equal(second(), want)

    def interrupted(self, *args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(record.Record, "renumber", interrupted)
        with pytest.raises(KeyboardInterrupt):
            second()
    tf.GradientTape().__enter__().__exit__(None, None, None)
    np.testing.assert_array_equal(second(), want)


def test_a_program_says_what_it_does():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    known = plan.of_tape(tape, [(0,)], False)
    program = straight.write(tape._record, known.visits, [1], {0}, 0)
    assert program(tape._record, {1: np.float32(1)}) == {0: np.float32(6)}
    assert y.numpy() == 9.0


LARGE = {
    "activations": lambda x: tf.reduce_sum(tf.tanh(tf.sin(tf.tanh(x * 1.1 + 0.1)) * 2.0)),
    "two_ways": lambda x: tf.reduce_sum(tf.exp(x) * tf.sin(x) + tf.sqrt(x) / x),
    "a_sum_between": lambda x: tf.reduce_sum(tf.exp(x) * tf.reduce_sum(tf.sin(x) * x)),
    "a_slice_between": lambda x: tf.reduce_sum((tf.sin(x) * x)[1:] * tf.exp(x * x)[:-1]),
    "a_number_that_is_wanted": lambda x, a: tf.reduce_sum(tf.sin(x * a) * a - tf.exp(a * x)),
    "a_row_that_broadcasts": lambda x, b: tf.reduce_sum(tf.sin(tf.reshape(x, [100, -1]) * b) * b),
    "the_source_in_the_middle": lambda x: [tf.reduce_sum(tf.sin(x) * x), x * x],
    "a_view": lambda x: tf.reduce_sum(tf.sin(tf.transpose(tf.reshape(x, [100, -1])) ** 2) * 2.0),
}
NUMBER = {"a_number_that_is_wanted": [numbers(2)], "a_row_that_broadcasts": [numbers(2, 801)]}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LARGE)
def test_large_arrays_go_block_by_block_to_the_same_numbers(name, dtype, monkeypatch):
    arrays = [a.astype(dtype) for a in (numbers(1, 80_100), *NUMBER.get(name, ()))]
    monkeypatch.setattr(plan, "OFTEN", NEVER)
    want = gradients(LARGE[name], *arrays)
    monkeypatch.setattr(plan, "OFTEN", 0)
    assert gradients(LARGE[name], *arrays) == want
    assert gradients(LARGE[name], *arrays) == want


def test_gradients_of_large_arrays_are_not_written_over():
    x = tf.constant(numbers(1, 70_000))
    kept = []
    for k in range(2 * plan.OFTEN):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x * float(k))
        kept.append(tape.gradient(y, x))
    slope = kept[1].numpy()
    for k, g in enumerate(kept):
        np.testing.assert_allclose(g.numpy(), slope * k, rtol=1e-5, atol=1e-6)


# -- programs that nobody thought of ----------------------------------------------------------------------------------------

UNARY = [tf.sin, tf.tanh, tf.exp, tf.square, tf.nn.relu, tf.sigmoid, tf.negative, tf.identity, tf.stop_gradient, lambda x: x**2,
         lambda x: 0.5 * x + 1.0, lambda x: x - 2.0]  # fmt: skip
BINARY = [tf.add, tf.subtract, tf.multiply, tf.maximum, lambda x, y: x / (y * y + 1.0), tf.math.squared_difference]
RESHAPING = [tf.reduce_sum, tf.reduce_mean, lambda x: tf.reduce_max(x, 0), lambda x: tf.reduce_sum(x, -1, keepdims=True),
             lambda x: tf.transpose(x), lambda x: tf.reshape(x, [-1]), lambda x: x[1:], lambda x: x[..., ::-1],
             lambda x: x[None], lambda x: tf.matmul(x, x, transpose_b=True), lambda x: tf.gather(x, [0, 0]),
             lambda x: tf.unstack(x)[0]]  # fmt: skip
STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100), st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=12)


def program(steps):
    """Applies the steps to a growing list of tensors; a step that does not fit its operands is left out."""

    def run(*xs):
        pool = list(xs)
        for kind, which, first, second in steps:
            x, y = pool[first % len(pool)], pool[second % len(pool)]
            try:
                if kind == 0:
                    out = UNARY[which % len(UNARY)](x)
                elif kind == 1:
                    out = BINARY[which % len(BINARY)](x, y)
                else:
                    out = RESHAPING[which % len(RESHAPING)](x)
            except (tf.errors.InvalidArgumentError, ValueError):
                continue
            if out.shape.num_elements():
                pool.append(out)
        return [pool[-1], pool[len(pool) // 2]]

    return run


@given(STEPS, st.booleans())
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_program_has_the_same_gradients_written_and_walked(monkeypatch, steps, second):
    arrays = [numbers(1, 3, 4), numbers(2, 4), numbers(3)]
    function = hessian_product(program(steps)) if second else program(steps)
    with monkeypatch.context() as patch:
        patch.setattr(plan, "OFTEN", NEVER)
        want = gradients(function, *arrays)
        for often, fast, large in ((0, record.FAST, straight.LARGE), (NEVER, 0, straight.LARGE), (0, 0, 2)):
            patch.setattr(plan, "OFTEN", often)
            patch.setattr(record, "FAST", fast)  # 0: all arrays go the way of large ones
            patch.setattr(plan, "_plans", {})
            patch.setattr(straight, "LARGE", large)  # 2: in blocks
            assert gradients(function, *arrays) == want
            assert gradients(function, *arrays) == want
