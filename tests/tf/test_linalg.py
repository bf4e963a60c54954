"""Products, decompositions and diagonals against NumPy, and their gradients against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.check import check_grads

RNG = np.random.default_rng(7)
SQUARE = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
POSITIVE = SQUARE @ np.swapaxes(SQUARE, -1, -2)
SIZES = st.integers(0, 3)
DTYPES = [np.float32, np.float64, np.int32]
EQUATIONS = (
    "ij,jk->ik ij,ij-> ij->ji ii->i ii ij,j i,j->ij ...ij,...jk->...ik bij,jk ijk->j ij,jk,kl->il iij->ij i-> ...i->..."
)
NORMS = [
    ("euclidean", None),
    (1, None),
    (np.inf, 0),
    (3, 1),
    (1, [0, 1]),
    (np.inf, [0, 1]),
    ("fro", [0, 1]),
    (2, [0, 1]),
]
BATCHES = [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((), (2,))]


@settings(max_examples=30, deadline=None)
@given(
    m=SIZES,
    k=SIZES,
    n=SIZES,
    batch=st.sampled_from(BATCHES),
    flags=st.tuples(st.booleans(), st.booleans()),
    dtype=st.sampled_from(DTYPES),
)
def test_matmul(m, k, n, batch, flags, dtype):
    turn_a, turn_b = flags
    a = RNG.integers(-3, 4, (*batch[0], *((k, m) if turn_a else (m, k)))).astype(dtype)
    b = RNG.integers(-3, 4, (*batch[1], *((n, k) if turn_b else (k, n)))).astype(dtype)
    got = tf.matmul(tf.constant(a), tf.constant(b), transpose_a=turn_a, transpose_b=turn_b)
    want = np.matmul(np.swapaxes(a, -1, -2) if turn_a else a, np.swapaxes(b, -1, -2) if turn_b else b)
    assert got.dtype.as_numpy_dtype is dtype and np.array_equal(got.numpy(), want)


@pytest.mark.parametrize("sizes", [(32, 10, 20), (32, 1, 20), (600, 1, 1), (1, 1, 600), (20, 200, 1), (1, 600, 1)])
def test_products_of_signed_zeros_and_infinities_are_those_of_numpy(sizes):
    m, k, n = sizes
    choices = np.array([0.0, -0.0, 1.0, -2.0] if k > 1 else [0.0, -0.0, 1.0, -2.0, np.inf, np.nan], np.float32)
    a, b = RNG.choice(choices, (m, k)), RNG.choice(choices, (n, k)).T
    with np.errstate(all="ignore"):
        want = np.matmul(a, b)
    got = tf.matmul(tf.constant(a), tf.constant(b)).numpy()
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("equation", EQUATIONS.split())
def test_einsum(equation):
    sizes = dict(zip("ijklb", (3, 3, 2, 2, 2), strict=True))
    shapes = [tuple(sizes[c] for c in term.replace("...", "")) for term in equation.split("->")[0].split(",")]
    shapes = [((2, *s) if "..." in equation else s) for s in shapes]
    arrays = [RNG.normal(size=s) for s in shapes]
    assert np.allclose(tf.einsum(equation, *[tf.constant(a) for a in arrays]).numpy(), np.einsum(equation, *arrays))
    check_grads(lambda *xs: tf.einsum(equation, *xs), arrays)


@pytest.mark.parametrize(("ord", "axis"), NORMS)
def test_norm(ord, axis):
    x = RNG.normal(size=(3, 4))
    numpy_ord = None if ord == "euclidean" else ord
    want = np.linalg.norm(
        x.reshape(-1) if axis is None else x, numpy_ord, tuple(axis) if isinstance(axis, list) else axis
    )
    assert np.allclose(tf.norm(x, ord=ord, axis=axis).numpy(), want)
    check_grads(lambda t: tf.norm(t, ord=ord, axis=axis), [x])


@pytest.mark.parametrize(
    ("name", "reference", "x"),
    [
        ("det", np.linalg.det, SQUARE),
        ("inv", np.linalg.inv, SQUARE),
        ("logdet", lambda x: np.linalg.slogdet(x)[1], POSITIVE),
        ("trace", lambda x: np.trace(x, axis1=-2, axis2=-1), SQUARE),
        ("matrix_transpose", lambda x: np.swapaxes(x, -1, -2), SQUARE),
    ],
)
def test_functions_of_matrices(name, reference, x):
    assert np.allclose(getattr(tf.linalg, name)(x).numpy(), reference(x))
    if name == "logdet":
        check_grads(lambda t: tf.linalg.logdet(tf.matmul(t, t, transpose_b=True)), [SQUARE], rtol=1e-4)
    else:
        check_grads(getattr(tf.linalg, name), [x], rtol=1e-4, atol=1e-5)


def test_cholesky():
    assert np.allclose(tf.linalg.cholesky(POSITIVE).numpy(), np.linalg.cholesky(POSITIVE))
    check_grads(lambda a: tf.linalg.cholesky(tf.matmul(a, a, transpose_b=True)), [SQUARE], rtol=1e-4)
    x = tf.Variable([[[1.0, 2.0], [2.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]])  # the first is not positive definite
    with tf.GradientTape() as tape:
        factors = tf.linalg.cholesky(x)
    found = tape.gradient(factors, x).numpy()
    assert np.isnan(factors.numpy()[0]).any() and np.allclose(factors.numpy()[1], 2**0.5 * np.eye(2))
    assert np.isnan(found[0]).all() and np.allclose(found[1], 8**-0.5)


@pytest.mark.parametrize("adjoint", [False, True])
def test_linear_equations(adjoint):
    b = RNG.normal(size=(2, 3, 2))
    turned = np.swapaxes(SQUARE, -1, -2) if adjoint else SQUARE
    assert np.allclose(turned @ tf.linalg.solve(SQUARE, b, adjoint=adjoint).numpy(), b)
    check_grads(lambda x, y: tf.linalg.solve(x, y, adjoint=adjoint), [SQUARE, b])
    for lower in (True, False):
        triangle = np.tril(SQUARE) if lower else np.triu(SQUARE)
        x = tf.linalg.triangular_solve(SQUARE, b, lower=lower, adjoint=adjoint).numpy()
        assert np.allclose((np.swapaxes(triangle, -1, -2) if adjoint else triangle) @ x, b)
    factor = np.linalg.cholesky(POSITIVE)
    assert np.allclose(POSITIVE @ tf.linalg.cholesky_solve(factor, b).numpy(), b)
