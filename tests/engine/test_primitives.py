"""Every rule agrees with finite differences, to second order, in float64.

A primitive that is added later is tested here without a new test. Elementwise primitives are tested with broadcasting
shapes, and all others with the inputs in ``primitive_examples.py``.
"""

import numpy as np
import pytest
from check_gradients import check_grads
from primitive_examples import EXAMPLES

import minitape as tf
from minitape.engine.record import record
from minitape.engine.table.generated_code import replace_operators_with_calls
from minitape.engine.table.primitives import TABLE


def passes_gradient_to(primitive, i):
    """Return whether a gradient reaches input i."""
    return callable(primitive.rules) or primitive.rules[i] is not None


def passes_any_gradient(primitive):
    return callable(primitive.rules) or any(rule is not None for rule in primitive.rules)


# Complex numbers are compared with TensorFlow's in tests/oracle/cases.
COMPLEX_PRIMITIVES = {"complex", "real", "imag", "complex_abs", "conj"}
ELEMENTWISE = [p for p in TABLE.values() if p.code]
UNARY, BINARY = ([p for p in ELEMENTWISE if len(p.texts) == n] for n in (2, 3))
OTHERS = [p for p in TABLE.values() if not p.code and p.rules is not None and passes_any_gradient(p)]
PAIRS = [
    ((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 2)), ((2, 3), ()), ((1,), (4,)), ((0, 3), (3,)),
]  # fmt: skip


def draw_sample(shape, low, seed):
    return low + 0.1 + 0.7 * np.random.default_rng(seed).random(shape)


def find_domain_start(primitive):
    """Return 0 or 1, the start of an interval on which the function is defined (acosh needs numbers above 1)."""
    arity = len(primitive.texts) - 1
    with np.errstate(all="ignore"):
        value = primitive.forward(*[np.array(0.5)] * arity)
    return 0.0 if np.isfinite(value) else 1.0


@pytest.mark.parametrize("primitive", [p for p in UNARY if passes_any_gradient(p)], ids=lambda p: p.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)], ids=str)
def test_unary_rule(primitive, shape, monkeypatch):
    monkeypatch.setattr(record, "MAX_SMALL_SIZE", 1)
    check_grads(primitive, [draw_sample(shape, find_domain_start(primitive), 1)])


@pytest.mark.parametrize("primitive", [p for p in BINARY if passes_any_gradient(p)], ids=lambda p: p.name)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_binary_rule(primitive, shapes, monkeypatch):
    monkeypatch.setattr(record, "MAX_SMALL_SIZE", 1)
    low = find_domain_start(primitive)
    check_grads(primitive, [draw_sample(shapes[0], low, 1), draw_sample(shapes[1], low, 2)])


@pytest.mark.parametrize("primitive", [p for p in ELEMENTWISE if not passes_any_gradient(p)], ids=lambda p: p.name)
@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
def test_passes_nothing(primitive, shape):
    xs = [
        tf.constant(draw_sample(shape, find_domain_start(primitive), seed)) for seed in range(len(primitive.texts) - 1)
    ]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = primitive(*xs)
    assert tape.gradient(y, xs) == [None] * len(xs)


def test_those_tested_elsewhere_are_primitives():
    assert set(TABLE) >= COMPLEX_PRIMITIVES


@pytest.mark.parametrize("primitive", [p for p in OTHERS if p.name not in COMPLEX_PRIMITIVES], ids=lambda p: p.name)
def test_rule(primitive, monkeypatch):
    monkeypatch.setattr(record, "MAX_SMALL_SIZE", 1)  # Only values that the declaration names are kept.
    assert primitive.name in EXAMPLES, f"{primitive.name} has no inputs in tests/engine/primitive_examples.py"
    inputs, attrs, *options = EXAMPLES[primitive.name](np.random.default_rng(3))
    moving = [i for i, a in enumerate(inputs) if np.asarray(a).dtype.kind == "f" and passes_gradient_to(primitive, i)]

    def f(*xs):
        arguments = [tf.constant(a) for a in inputs]
        for i, x in zip(moving, xs, strict=True):
            arguments[i] = x
        out = primitive(*arguments, **attrs)
        parts = [o for o in (out if isinstance(out, tuple) else (out,)) if o.dtype.is_floating]
        return tf.concat([tf.reshape(p, [-1]) for p in parts], 0) if len(parts) > 1 else parts[0]

    check_grads(f, [inputs[i] for i in moving], **(options[0] if options else {}))


@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
def test_scalar_rows_and_arrays_agree(primitive):
    """A formula gives the same value and gradient when it is compiled for single numbers and for arrays."""
    arity, low = len(primitive.texts) - 1, find_domain_start(primitive)
    numbers = [draw_sample((), low, seed) for seed in range(arity)]
    results = []
    for shape in ((), (1,)):
        xs = [tf.constant(np.full(shape, n)) for n in numbers]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = primitive(*xs)
        results.append([float(np.reshape(v, ())) for v in (y, *tape.gradient(y, xs)) if v is not None])
    assert results[0] == pytest.approx(results[1], rel=1e-12)


@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
def test_float32_numbers_and_arrays_are_equal_to_the_last_bit(primitive):
    arity, low = len(primitive.texts) - 1, find_domain_start(primitive)
    arrays = [draw_sample((200,), low, seed).astype(np.float32) * (-1) ** seed for seed in range(arity)]

    def compute_with_gradients(values):
        xs = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = primitive(*xs)
        return [v.numpy() for v in (y, *tape.gradient(y, xs)) if v is not None]

    by_number = zip(*[compute_with_gradients(numbers) for numbers in zip(*arrays, strict=True)], strict=True)
    for numbers, array in zip(by_number, compute_with_gradients(arrays), strict=True):
        np.testing.assert_array_equal(np.array(numbers), array)


@pytest.mark.parametrize("dtype", [tf.float16], ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(), (2,), (40_000,)], ids=str)
def test_half_precision_stays_what_it_is(dtype, shape):
    for primitive in ELEMENTWISE:
        x = [tf.cast(tf.fill(shape, value), dtype) for value in (0.4, 0.6)[: len(primitive.texts) - 1]]
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = primitive(*x)
            first = inner.gradient(y, x)
        given = [g for g in first if g is not None]
        found = [y, *given, *(outer.gradient(given, x) if given else ())]
        assert {t.dtype.name for t in found if t is not None} == {dtype.name}, f"{primitive.name}: {found}"


@pytest.mark.parametrize("dtype", [tf.float16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["matmul", "softmax", "reduce_mean"])
def test_half_precision_of_arrays_stays_what_it_is(name, dtype):
    inputs, attrs, *_ = EXAMPLES[name](np.random.default_rng(3))
    x = [tf.cast(tf.constant(i), dtype) for i in inputs]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = TABLE[name](*x, **attrs)
    found = [y, *tape.gradient(y, x)]
    exact = TABLE[name](*(tf.cast(i, tf.float64) for i in x), **attrs)
    assert {t.dtype.name for t in found} == {dtype.name}, f"{name}: {found}"
    np.testing.assert_allclose(tf.cast(y, tf.float64).numpy(), exact.numpy(), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_kernel_agrees(primitive, real):
    """A tape that is long enough for the kernels gives the same gradients as a short tape."""
    arity, low = len(primitive.texts) - 1, find_domain_start(primitive)
    numbers = [draw_sample((), low, seed).astype(real)[()] for seed in range(arity)]

    def run_repeatedly(times):
        xs = [tf.constant(n) for n in numbers]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            for _ in range(times):
                y = primitive(*xs)
        return [v.numpy() for v in (y, *tape.gradient(y, xs)) if v is not None]

    short, long = run_repeatedly(1), run_repeatedly(600)
    assert np.allclose(short, long, rtol=4 * np.finfo(real).eps, atol=0), (short, long)


@pytest.mark.parametrize("text", ["g * x ** 2", "g * (x % y)"])
def test_an_operator_that_no_formula_knows_is_named(text):
    """Otherwise, every second derivative in the process would raise an error that names no formula."""
    with pytest.raises(ValueError, match=r"x (\*\* 2|% y): a formula may use \+ - \* /"):
        replace_operators_with_calls(text)
