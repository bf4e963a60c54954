"""Fused loops over arrays and over single numbers give the same results as plain NumPy."""

import sys
import threading

import numpy as np
import pytest

import minitape as tf
from minitape.engine.table.primitives import TABLE
from minitape.engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, select_formulas_for_value_kind
from minitape.functions import row_program
from minitape.speed import compiled_rows, fusion, kernels
from minitape.speed.loop_detection import compile_repeated_rows

pytest.importorskip("numba")


@pytest.fixture
def eager_to_fuse(monkeypatch):
    """Programs are fused on their first run, however few operations they have."""
    monkeypatch.setattr(row_program, "FUSE_AFTER_RUNS", 1)
    monkeypatch.setattr(compiled_rows, "SECONDS_PER_CALL", 1.0)
    monkeypatch.setattr(compiled_rows, "start_thread", lambda task, *_, **__: task() or "done")  # Wait for numba.
    monkeypatch.setattr(fusion, "MIN_CALLS", 1)


def rosenbrock(v):
    return tf.reduce_sum(100.0 * (v[1:] - v[:-1] ** 2) ** 2 + (1.0 - v[:-1]) ** 2)


def plane(v):
    x = tf.reshape(v, [4, -1])
    y = (x * x - 2.0 * x[:, 1:2]) / (tf.abs(x) + 1.0)
    return tf.reduce_sum(tf.maximum(y, 0.5) * x[0]) + tf.reduce_sum(tf.sqrt(tf.square(x) + 1.0))


def short_functions(v):
    w = v[:8]
    return tf.reduce_sum(tf.sin(w) * tf.exp(-w) + tf.tanh(w) ** 3.0) * tf.reduce_mean(v * v, axis=[0])


def add_gradient(f):
    """Return a function that computes the value of ``f`` and its gradient."""

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    return both


def mixed(v):
    s = tf.reduce_sum(v * v)
    w = tf.tanh(v * s - 1.0)
    return tf.reduce_sum(w * w + v / s - tf.minimum(v, w))


@pytest.mark.long(sample=9)
@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
@pytest.mark.parametrize("f", [rosenbrock, plane, short_functions, mixed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_loops(f, dtype, eager_to_fuse):
    both = add_gradient(f)
    traced = tf.function(both)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    for seed in range(3):
        v = tf.constant(np.random.default_rng(seed).normal(size=40).astype(dtype))
        (y, g), (want, want_g) = traced(v), both(v)
        assert y.dtype == want.dtype
        assert g.numpy().dtype == dtype
        np.testing.assert_allclose(y.numpy(), want.numpy(), rtol=tolerance)
        np.testing.assert_allclose(g.numpy(), want_g.numpy(), rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_long_scalar_chains(dtype):
    def chain(x):
        y = x
        for _ in range(200):
            y = y * 1.001 + 0.001
        return tf.sin(y) / y

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = chain(x)
        return y, tape.gradient(y, x)

    x = tf.constant(1.5, dtype)
    got, want = tf.function(both)(x), both(x)
    assert [t.dtype for t in got] == [dtype, dtype]
    np.testing.assert_allclose([float(t) for t in got], [float(t) for t in want], rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(chain)(x)
    np.testing.assert_allclose(float(tape.gradient(y, x)), float(want[1]), rtol=1e-6)


# -- runs of single numbers that repeat ------------------------------------------------------------


def polynomial(x):
    y = x
    for _ in range(60):
        y = y * x + 0.25
    return y


def newton(x):
    y = x
    for _ in range(30):
        y = 0.5 * (y + x / y)
    return y


def far_back(x):
    values = [x, x * 0.5, x * 0.25, x + 0.125]
    for _ in range(40):
        values.append(tf.sin(values[-1]) * values[-4] + tf.maximum(values[0], values[3]) * 0.125)
    return values[-1] + values[-20]


def nested_loops(x):
    y = x
    for i in range(12):
        z = y * float(i)
        for _ in range(3):
            z = tf.tanh(z - y * 0.5)
        y = y + z * 0.125
    return y


def irregular(x):
    y, operations = x, [tf.sin, tf.cos, tf.tanh, tf.exp, lambda v: v * x, lambda v: v + x, lambda v: v - x]
    for number in np.random.default_rng(5).integers(len(operations), size=150):
        y = operations[number](y) * 0.5
    return y


@pytest.mark.long(sample=12)
@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize(
    "f, repeats", [(polynomial, True), (newton, True), (far_back, True), (nested_loops, True), (irregular, False)]
)
def test_loops_of_single_numbers(f, repeats, dtype, eager_to_fuse, monkeypatch):
    kernels.find_or_compile_kernel(np.float32)  # With a loaded kernel, short runs also use it.
    made = []
    monkeypatch.setattr(
        compiled_rows, "compile_repeated_rows", lambda *args: made.append(compile_repeated_rows(*args)) or made[-1]
    )

    both = add_gradient(f)
    traced = tf.function(both)
    for value in (0.75, -0.3, 0.0, np.inf):
        x = tf.constant(value, dtype)
        for got, want in zip(traced(x), both(x), strict=True):
            assert got.dtype == want.dtype
            assert got.numpy().tobytes() == want.numpy().tobytes() or (np.isnan(got) and np.isnan(want))
    assert any(made) == repeats


def _random_rows(rng):
    """Return a program with a repeated body, as (code, input, input) for each row, and its number of leaves."""
    leaves, head, period, turns = 3, int(rng.integers(0, 6)), int(rng.integers(1, 6)), int(rng.integers(4, 12))
    codes = [TABLE[name].code for name in ("add", "multiply", "subtract", "maximum", "sin", "negative", "divide")]
    first = leaves + head
    rows = [[0, 0, 0]] * leaves
    rows += [[rng.choice(codes), *rng.integers(0, at, 2)] for at in range(leaves, first)]
    bodies = []
    for k in range(period):
        inputs = []
        for _ in range(2):
            start = int(rng.integers(0, first + k))
            step = int(rng.choice([0, period, -1, 1]))
            if (step == -1 and start < turns) or (step == 1 and period > 1 and start >= first):
                step = 0
            inputs.append((start, step))
        bodies.append((rng.choice(codes), inputs))
    for i in range(turns):
        rows += [[code, *[start + step * i for start, step in inputs]] for code, inputs in bodies]
    rows += [[rng.choice(codes), *rng.integers(0, len(rows), 2)] for _ in range(2)]
    return np.array([[*row, 0] for row in rows], np.int32), leaves


@pytest.mark.long(sample=12)
@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
@pytest.mark.parametrize("seed", range(12))
def test_rolled_rows_are_those_of_one_operation_after_the_other(seed):
    rng = np.random.default_rng(seed)
    rows, leaves = _random_rows(rng)
    values = np.zeros(len(rows), np.float32)
    values[:leaves] = rng.normal(size=leaves)
    want = values.copy()
    for row, (code, a, b, _) in enumerate(rows[leaves:], leaves):
        p = BY_CODE[code - FIRST_CODE]
        want[row] = select_formulas_for_value_kind(code, want[a]).forward(*(want[a], want[b])[: len(p.texts) - 1])
    compile_repeated_rows(rows, leaves, np.float32)(values)
    np.testing.assert_array_equal(values, want)


@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
def test_threads_share_a_function_and_not_its_values(eager_to_fuse):
    @tf.function
    def both(x, v):
        with tf.GradientTape() as tape:
            tape.watch([x, v])
            y = polynomial(x) + rosenbrock(v)
        return tape.gradient(y, [x, v])

    inputs = [(tf.constant(0.1 * i), tf.constant(np.arange(40, dtype=np.float32) * i)) for i in range(4)]
    want = [[g.numpy() for g in both(*args)] for args in inputs]
    wrong = []

    def work(i):
        for _ in range(200):
            got = [g.numpy() for g in both(*inputs[i])]
            if not all(map(np.array_equal, got, want[i])):
                wrong.append((i, got))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_division_by_zero_is_found_when_it_runs():
    f = tf.function(lambda x, y: x // y)
    assert f(tf.constant(7), tf.constant(2)).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        f(tf.constant(7), tf.constant(0))


def test_later_calls_take_few_steps():
    """Return the number of Python function calls that a call makes, which is the same on every machine."""
    x = tf.constant(1.0)
    count = [0]

    def note(frame, event, argument):
        count[0] += event == "call"

    v = tf.Variable(1.0)
    branch = tf.function(lambda x: tf.cond(x > 0.0, lambda: x * x, lambda: -x))
    turns = tf.function(lambda x: tf.while_loop(lambda i, y: i < 100, lambda i, y: (i + 1, y + x), [0, x])[1])
    for f, most in (
        (tf.function(lambda x: x + 1.0), 5),
        (branch, 13),
        (turns, 220),
        (tf.function(lambda x: v.assign_sub(x).read_value()), 18),
    ):
        for _ in range(3):
            f(x)
        count[0] = 0
        sys.setprofile(note)
        try:
            f(x)
        finally:
            sys.setprofile(None)
        assert 1 < count[0] <= most


@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
def test_a_program_is_compiled_once_it_has_cost_as_much(monkeypatch):
    """A function that runs a thousand times for a few microseconds never starts numba."""
    started = []
    monkeypatch.setattr(compiled_rows, "start_thread", lambda task, name, daemon: started.append(task))
    monkeypatch.setattr(compiled_rows, "estimate_compile_seconds", lambda: 1.0)
    monkeypatch.setattr(compiled_rows, "estimate_run_seconds", lambda sizes: 1.0 / 300)
    traced = tf.function(polynomial)
    for count in range(1, 305):
        traced(tf.constant(0.5))
        assert len(started) == (count > 300)


@pytest.mark.skipif(not kernels.can_compile_kernels(), reason="numba is switched off")
def test_calls_do_not_wait_for_the_compilation(monkeypatch):
    """While a thread compiles, calls use the program without loops. Later calls use the loops, and their results
    agree."""
    tasks = []
    monkeypatch.setattr(row_program, "FUSE_AFTER_RUNS", 1)
    monkeypatch.setattr(compiled_rows, "SECONDS_PER_CALL", 1.0)
    monkeypatch.setattr(fusion, "MIN_CALLS", 1)
    monkeypatch.setattr(compiled_rows, "start_thread", lambda task, name, daemon: tasks.append(task) or True)
    traced = tf.function(polynomial)
    x = tf.constant(0.75)
    traced(x)
    waiting = [traced(x).numpy() for _ in range(5)]
    (program,) = [kind.plain_program for kind in traced._kinds_by_types.values()]
    without_loops = program.evaluator.compute_fetches
    (task,) = tasks
    task()
    compiled = [traced(x).numpy() for _ in range(3)]
    assert program.evaluator.compute_fetches is not without_loops
    assert program.next_fuse == 0
    assert {*waiting, *compiled} == {polynomial(x).numpy()}
