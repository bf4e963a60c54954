"""Functions that reshape, join, select, slice and sort agree with NumPy for all kinds of shapes and indices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.complex64])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def arrays(shapes=SHAPES, dtypes=DTYPES):
    """Return a strategy for arrays of many dtypes and shapes, including empty arrays and scalars."""
    return dtypes.flatmap(
        lambda d: hnp.arrays(
            d, shapes, elements={"allow_nan": False, "allow_infinity": False} if np.dtype(d).kind in "fc" else None
        )
    )


def check_same(tensor, array):
    """Value, shape and dtype agree."""
    assert tensor.dtype == np.asarray(array).dtype and tuple(tensor.shape) == np.shape(array)
    np.testing.assert_array_equal(tensor.numpy(), array)


@QUICK
@given(arrays(), st.randoms(use_true_random=False))
def test_transpose(x, random):
    perm = random.sample(range(x.ndim), x.ndim)
    check_same(tf.transpose(x, perm), np.transpose(x, perm))
    check_same(tf.transpose(x), np.transpose(x))


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)), st.data())
def test_concat_split_stack_unstack(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    x, t = np.array(x), tf.constant(x)
    check_same(tf.concat([t, t, t], axis), np.concatenate([x, x, x], axis))
    check_same(tf.stack([t, t], axis), np.stack([x, x], axis))
    for part, want in zip(tf.unstack(t, axis=axis), np.moveaxis(x, axis, 0), strict=True):
        check_same(part, want)
    cut = data.draw(st.integers(0, x.shape[axis]))
    parts = tf.split(x, [cut, -1], axis)
    check_same(tf.concat(parts, axis), x)
    check_same(parts[0], np.take(x, range(cut), axis))


@QUICK
@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)), st.data())
def test_gather(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shapes = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)
    places = data.draw(hnp.arrays(np.int32, shapes, elements=st.integers(0, x.shape[axis] - 1)))
    check_same(tf.gather(x, places, axis=axis), np.take(x, places, axis))
    check_same(tf.gather_nd(x, np.argwhere(np.ones(x.shape))), x.reshape(-1))


def test_gather_reads_a_variable_as_any_tensor():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [1, 1], axis=1)
    assert y.numpy().tolist() == [[2, 2], [4, 4]]
    assert tape.gradient(y, v).numpy().tolist() == [[0, 2], [0, 2]]


@QUICK
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_unique(values):
    x = np.array(values, np.int32)
    y, idx = tf.unique(x)
    assert y.numpy().tolist() == list(dict.fromkeys(values))
    check_same(tf.gather(y, idx) if values else y, x)


@pytest.mark.parametrize(("sizes", "shape"), [([0, -1], [0, 3]), ([-1, 3], [0, 3]), ([3, 0, -1], [3, 0, 1])])
def test_an_empty_tensor_has_many_shapes(sizes, shape):
    check_same(tf.reshape(tf.zeros([0, 3]), sizes), np.zeros(shape, np.float32))


# -- slices ----------------------------------------------------------------------------------------


@st.composite
def cases(draw):
    """Return a strategy for a shape and a basic index, which consists of integers, slices, an ellipsis and new axes."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(cases())
def test_a_slice_is_numpys_and_its_gradient_puts_the_adjoint_back(case):
    shape, index = case
    array = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index]
    check_same(y, array[index])
    want = np.zeros(shape)
    want[index] += 1
    check_same(tape.gradient(y, x), want)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(-6, 6), st.integers(-6, 6), st.integers(-3, 3).filter(bool))
def test_tensors_as_bounds(start, stop, step):
    x = np.arange(5)
    found = tf.constant(x)[tf.constant(start) : tf.constant(stop, tf.int32) : tf.constant(step)]
    np.testing.assert_array_equal(found.numpy(), x[start:stop:step])


# -- orders ----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    data=st.data(),
    dtype=st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8]),
)
def test_sorting(shape, data, dtype):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.random.default_rng(3).integers(0, 9, shape).astype(dtype)
    check_same(tf.sort(x, axis), np.sort(x, axis))
    check_same(tf.sort(x, axis, "DESCENDING"), np.flip(np.sort(x, axis), axis))
    check_same(tf.argsort(x, axis), np.argsort(x, axis, kind="stable").astype(np.int32))
    k = data.draw(st.integers(0, shape[-1]))
    values, indices = tf.math.top_k(x, k)
    check_same(values, np.flip(np.sort(x, -1), -1)[..., :k])
    np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), -1), values.numpy())


def test_the_smallest_and_the_largest_integers_are_sorted_too():
    for dtype in (np.int32, np.int64, np.uint8, np.uint64):
        limits = np.array([np.iinfo(dtype).max, np.iinfo(dtype).min, 1], dtype)
        check_same(tf.sort(limits), np.sort(limits))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize(("shape", "k"), [((200,), 1), ((200,), 7), ((3, 40), 10), ((2, 0, 40), 5), ((5, 16), 15)])
def test_the_largest_of_many_are_the_first_among_equals(dtype, shape, k):
    """A few of many elements are found without sorting all of them, and equal elements still keep their order on both
    sides of the cut."""
    x = np.random.default_rng(4).integers(0, 6, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating) and x.size:
        x.flat[3::17], x.flat[5::19] = np.inf, -0.0
    want = np.argsort(-x.astype(np.float64), -1, kind="stable")[..., :k]
    values, indices = tf.math.top_k(tf.constant(x), k)
    np.testing.assert_array_equal(indices.numpy(), want)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, want, -1))


@pytest.mark.parametrize(
    ("name", "want"), [("reduce_sum", 0.0), ("reduce_max", -np.inf), ("reduce_min", np.inf), ("reduce_mean", np.nan)]
)
def test_nothing_to_reduce(name, want):
    assert getattr(tf.math, name)(tf.zeros([0])).numpy() == pytest.approx(want, nan_ok=True)
    assert tuple(getattr(tf.math, name)(tf.zeros([0, 3]), axis=1).shape) == (0,)


def test_ranges_count_in_steps_and_linspace_ends_where_it_is_told():
    check_same(tf.range(0, 1, 0.1), np.arange(10, dtype=np.float32) * np.float32(0.1))
    assert [tf.range(*ends).numpy().tolist() for ends in ((5, 0, -2), (2, 2), (1, 4, 2))] == [[5, 3, 1], [], [1, 3]]
    assert tf.linspace(0.0, 1.0, 7).numpy()[-1] == 1
