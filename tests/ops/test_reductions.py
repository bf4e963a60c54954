"""Reductions, running totals, orderings and segments against NumPy, and their gradients against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf
from minitape.check import check_grads

REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_std": np.std,
    "reduce_variance": np.var,
    "reduce_logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "reduce_euclidean_norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)


def array(shape, seed, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@st.composite
def shape_and_axes(draw):
    shape = draw(SHAPES)
    rank = len(shape)
    axes = draw(
        st.one_of(st.none(), st.lists(st.integers(0, rank - 1), unique=True, max_size=rank) if rank else st.none())
    )
    negative = draw(st.booleans())
    return shape, axes if axes is None or not negative else [a - rank for a in axes]


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=20, deadline=None)
@given(
    where=shape_and_axes(),
    keepdims=st.booleans(),
    seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_forward(name, where, keepdims, seed, dtype):
    shape, axes = where
    x = array(shape, seed, dtype)
    got = getattr(tf.math, name)(tf.constant(x), axis=axes, keepdims=keepdims)
    want = REDUCTIONS[name](x.astype(np.float64), axis=None if axes is None else tuple(axes), keepdims=keepdims)
    assert got.dtype.as_numpy_dtype is dtype and tuple(got.shape) == np.shape(want)
    assert got.numpy() == pytest.approx(want, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=5, deadline=None)
@given(where=shape_and_axes(), seed=st.integers(0, 99))
def test_gradient(name, where, seed):
    shape, axes = where
    x = array(shape, seed) + 2.0
    if name in ("reduce_std", "reduce_variance") and np.any(np.var(x, None if axes is None else tuple(axes)) < 1e-2):
        return  # the root has no derivative at 0
    check_grads(lambda t: getattr(tf.math, name)(t, axis=axes), [x], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("reduce_sum", 0.0),
        ("reduce_prod", 1.0),
        ("reduce_max", -np.inf),
        ("reduce_min", np.inf),
        ("reduce_mean", np.nan),
    ],
)
def test_empty(name, want):
    assert getattr(tf.math, name)(tf.zeros([0])).numpy() == pytest.approx(want, nan_ok=True)
    assert tuple(getattr(tf.math, name)(tf.zeros([0, 3]), axis=1).shape) == (0,)


@settings(max_examples=25, deadline=None)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    data=st.data(),
    dtype=st.sampled_from([np.float32, np.float64, np.int32, np.uint8]),
)
def test_sorting(shape, data, dtype):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.random.default_rng(3).integers(0, 9, shape).astype(dtype)
    assert np.array_equal(tf.sort(tf.constant(x), axis).numpy(), np.sort(x, axis))
    assert np.array_equal(tf.sort(tf.constant(x), axis, "DESCENDING").numpy(), np.flip(np.sort(x, axis), axis))
    order = tf.argsort(tf.constant(x), axis)
    assert order.dtype == tf.int32 and np.array_equal(order.numpy(), np.argsort(x, axis, kind="stable"))
    k = data.draw(st.integers(0, shape[-1]))
    values, indices = tf.math.top_k(tf.constant(x), k)
    assert np.array_equal(values.numpy(), np.flip(np.sort(x, -1), -1)[..., :k])
    assert np.array_equal(np.take_along_axis(x, indices.numpy(), -1), values.numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize(("shape", "k"), [((200,), 1), ((200,), 7), ((3, 40), 10), ((2, 0, 40), 5), ((5, 16), 15)])
def test_the_largest_of_many_are_the_first_among_equals(dtype, shape, k):
    """Few of many are not found by sorting them all: equal ones still come in their order, on both sides of the cut."""
    x = np.random.default_rng(4).integers(0, 6, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating) and x.size:
        x.flat[3::17], x.flat[5::19] = np.inf, -0.0
    want = np.argsort(-x.astype(np.float64), -1, kind="stable")[..., :k]
    values, indices = tf.math.top_k(tf.constant(x), k)
    np.testing.assert_array_equal(indices.numpy(), want)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, want, -1))


@pytest.mark.parametrize("name", ["segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"])
def test_segment_gradients(name):
    check_grads(lambda t: getattr(tf.math, name)(t, [0, 0, 1, 3]), [array((4, 2), 2)])
