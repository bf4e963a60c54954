"""Elementwise functions against NumPy and SciPy forward and finite differences backward."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf
from minitape.check import check_grads

# name: (reference, interval on which to test)
UNARY = {
    "abs": (np.abs, -3, 3),
    "acos": (np.arccos, -1, 1),
    "acosh": (np.arccosh, 1, 5),
    "asin": (np.arcsin, -1, 1),
    "asinh": (np.arcsinh, -5, 5),
    "atan": (np.arctan, -5, 5),
    "atanh": (np.arctanh, -0.9, 0.9),
    "ceil": (np.ceil, -3, 3),
    "cos": (np.cos, -3, 3),
    "cosh": (np.cosh, -3, 3),
    "erf": (scipy.special.erf, -3, 3),
    "erfc": (scipy.special.erfc, -3, 3),
    "erfinv": (scipy.special.erfinv, -0.9, 0.9),
    "exp": (np.exp, -5, 5),
    "expm1": (np.expm1, -3, 3),
    "floor": (np.floor, -3, 3),
    "lgamma": (scipy.special.gammaln, 0.1, 9),
    "digamma": (scipy.special.digamma, 0.1, 9),
    "log": (np.log, 0.1, 9),
    "log1p": (np.log1p, -0.5, 9),
    "negative": (np.negative, -3, 3),
    "reciprocal": (np.reciprocal, 0.1, 9),
    "rint": (np.rint, -3, 3),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "sigmoid": (scipy.special.expit, -9, 9),
    "sign": (np.sign, -3, 3),
    "sin": (np.sin, -3, 3),
    "sinh": (np.sinh, -3, 3),
    "softplus": (lambda x: np.logaddexp(x, 0), -9, 9),
    "softsign": (lambda x: x / (1 + np.abs(x)), -9, 9),
    "sqrt": (np.sqrt, 0, 9),
    "square": (np.square, -3, 3),
    "tan": (np.tan, -1, 1),
    "tanh": (np.tanh, -3, 3),
}
BINARY = {
    "add": (np.add, -3, 3),
    "subtract": (np.subtract, -3, 3),
    "multiply": (np.multiply, -3, 3),
    "divide": (np.divide, 0.5, 3),
    "pow": (np.power, 0.5, 3),
    "atan2": (np.arctan2, 0.1, 3),
    "maximum": (np.maximum, -3, 3),
    "minimum": (np.minimum, -3, 3),
    "squared_difference": (lambda x, y: (x - y) ** 2, -3, 3),
    "floordiv": (lambda x, y: np.floor(x / y), 0.5, 3),
    "floormod": (np.mod, 0.5, 3),
    "xlogy": (scipy.special.xlogy, 0.5, 3),
    "xlog1py": (scipy.special.xlog1py, 0.5, 3),
    "xdivy": (np.divide, 0.5, 3),
    "divide_no_nan": (np.divide, 0.5, 3),
    "multiply_no_nan": (np.multiply, 0.5, 3),
    "zeta": (scipy.special.zeta, 1.5, 5),
}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def numbers(low, high, shape, seed):
    return low + (high - low) * np.random.default_rng(seed).random(shape)


WIDE = {  # special functions far beyond the intervals above
    "erf": (-6, 6),
    "erfc": (-6, 6),
    "erfinv": (-0.999, 0.999),
    "lgamma": (-20, 60),
    "digamma": (0.01, 60),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WIDE)
def test_special_functions_of_long_arrays(name, dtype):
    x = numbers(*WIDE[name], (3, 7001), 5).astype(dtype)
    got = getattr(tf.math, name)(tf.constant(x)).numpy()
    relative = 1e-5 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(got, UNARY[name][0](x.astype(np.float64)), rtol=relative, atol=relative)
    again = getattr(tf.math, name)(tf.constant(x[:, :900])).numpy()
    np.testing.assert_allclose(got[:, :900], again, rtol=relative, atol=relative)


def test_lgamma_of_single_precision_is_good_to_the_last_place_also_at_its_zeros():
    rng = np.random.default_rng(6)
    parts = [
        1 + 1e-3 * rng.normal(size=500),
        2 + 1e-3 * rng.normal(size=500),
        1 + 1e-6 * rng.normal(size=500),
        10.0 ** rng.uniform(-30, 30, 500),
        -30 * rng.random(500),
        [0.0, -0.0, -1.0, 1.0, 2.0, np.inf, -np.inf],
    ]
    x = np.concatenate(parts).astype(np.float32)
    got, want = tf.math.lgamma(tf.constant(x)).numpy(), scipy.special.gammaln(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(got[:-2], want[:-2], 4)
    assert got[-2] == got[-1] == np.inf and np.isnan(tf.math.lgamma(tf.fill([99], np.nan)).numpy()).all()


@pytest.mark.parametrize("name", sorted(set(UNARY) - {"ceil", "floor", "rint", "sign", "softsign"}))
@settings(max_examples=4, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 99))
def test_unary_gradient(name, shape, seed):
    _, low, high = UNARY[name]
    margin = 0.06 * (high - low)
    x = numbers(low + margin, high - margin, shape, seed)
    x = np.where(np.abs(x) < 0.01, low + margin, x)  # abs has a corner there
    check_grads(getattr(tf.math, name), [x])


@pytest.mark.parametrize("name", sorted(set(BINARY) - {"floordiv", "floormod", "zeta"}))
@settings(max_examples=4, deadline=None)
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3), seed=st.integers(0, 99))
def test_binary_gradient(name, shapes, seed):
    _, low, high = BINARY[name]
    x, y = (numbers(low, high, s, 7 * seed + i) for i, s in enumerate(shapes.input_shapes))
    if np.any(np.abs(x - y) < 1e-3):
        return  # maximum and minimum have a corner there
    check_grads(getattr(tf.math, name), [x, y])


def test_safe_functions_and_their_gradients_at_zero():
    x, y = tf.constant([0.0, 2.0]), tf.constant([0.0, 0.0])
    for f, want in ((tf.math.divide_no_nan, [0, 0]), (tf.math.xlogy, [0, -np.inf]), (tf.math.multiply_no_nan, [0, 0])):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, y)
        assert np.array_equal(z.numpy(), np.float32(want))
        assert not np.any(np.isnan(tape.gradient(z, x).numpy()))


def test_clipping():
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        by_value = tf.clip_by_value(x, 0.0, 3.0)
        by_norm = tf.clip_by_norm(x, 1.0)
    assert tape.gradient(by_value, x).numpy().tolist() == [1.0, 0.0]
    assert by_norm.numpy() == pytest.approx([0.6, 0.8])
    clipped, norm = tf.clip_by_global_norm([x, None, tf.constant([0.0])], 1.0)
    assert norm.numpy() == 5.0 and clipped[1] is None and clipped[0].numpy() == pytest.approx([0.6, 0.8])
