"""Sparse tensors against dense ones of NumPy: values, derivatives, functions, printing, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf
from minitape.check import check_grads

QUICK = settings(max_examples=50, deadline=None, derandomize=True)
SMALL = st.integers(-3, 3).map(float)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=4), elements=SMALL)
CUBES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3), elements=SMALL)


def sparse(array):
    return tf.sparse.from_dense(tf.constant(array))


def dense(value):
    return tf.sparse.to_dense(value).numpy()


@QUICK
@given(CUBES)
def test_dense_and_back(array):
    value = sparse(array)
    np.testing.assert_array_equal(value.indices, np.argwhere(array))
    np.testing.assert_array_equal(value.values, array[array != 0])
    np.testing.assert_array_equal(dense(value), array)
    assert value.shape.as_list() == list(array.shape)


@QUICK
@given(CUBES, st.randoms(use_true_random=False))
def test_order_does_not_matter(array, random):
    places = np.argwhere(array)
    order = list(range(len(places)))
    random.shuffle(order)
    mixed = tf.SparseTensor(places[order].reshape(-1, array.ndim), array[array != 0][order], array.shape)
    np.testing.assert_array_equal(tf.sparse.to_dense(mixed, validate_indices=False), array)


@QUICK
@given(MATRICES, st.data())
def test_arithmetic(array, data):
    other = data.draw(hnp.arrays(np.float64, array.shape, elements=SMALL))
    a = sparse(array)
    np.testing.assert_array_equal(dense(a * tf.constant(other)), array * other)
    np.testing.assert_array_equal(dense(a * tf.constant(other[0])), array * other[0])


@QUICK
@given(MATRICES, st.booleans(), st.booleans())
def test_products_with_dense_matrices(array, first, second):
    inner = array.shape[0 if first else 1]
    other = np.arange(inner * 2.0).reshape((2, inner) if second else (inner, 2))
    found = tf.sparse.sparse_dense_matmul(sparse(array), other, adjoint_a=first, adjoint_b=second)
    wanted = (array.T if first else array) @ (other.T if second else other)
    np.testing.assert_array_equal(found, wanted)
    found = tf.sparse.sparse_dense_matmul(tf.constant(other), sparse(array), adjoint_a=not second, adjoint_b=not first)
    np.testing.assert_array_equal(found, wanted.T)


@QUICK
@given(CUBES, st.data())
def test_sums(array, data):
    axis = data.draw(st.sampled_from([None, *range(-array.ndim, array.ndim)]))
    keep = data.draw(st.booleans())
    found = tf.sparse.reduce_sum(sparse(array), axis=axis, keepdims=keep)
    np.testing.assert_array_equal(found, array.sum(axis=axis, keepdims=keep))


# -- derivatives -----------------------------------------------------------------------------------

PLACES, SHAPE = [[0, 1], [1, 0], [1, 2]], [2, 3]
DENSE = np.random.default_rng(0).normal(size=(3, 2))


@pytest.mark.parametrize(
    "f",
    [
        lambda s: tf.sparse.to_dense(s) ** 2,
        lambda s: tf.sparse.sparse_dense_matmul(s, tf.constant(DENSE)),
        lambda s: tf.sparse.reduce_sum(s, axis=0) ** 2,
        lambda s: (s * tf.constant(DENSE.T)).values ** 2,
        lambda s: tf.sparse.to_dense(s * 2.0) ** 2,
    ],
)
def test_derivatives_of_values(f):
    check_grads(lambda v: f(tf.SparseTensor(PLACES, v, SHAPE)), [np.array([0.5, -1.0, 2.0])])


def test_derivatives_of_the_dense_side():
    value = tf.SparseTensor(PLACES, tf.constant([0.5, -1.0, 2.0], tf.float64), SHAPE)
    check_grads(lambda d: tf.sparse.sparse_dense_matmul(value, d), [DENSE])
    check_grads(lambda d: (value * d).values ** 2, [DENSE.T])
    check_grads(lambda d: tf.sparse.to_dense(value, d) ** 2, [np.array(0.3)])
    check_grads(lambda d: tf.sparse.to_dense(tf.sparse.from_dense(d)) ** 2, [DENSE])


def test_a_tape_watches_the_values():
    value = tf.SparseTensor(PLACES, tf.constant([1.0, 2.0, 3.0]), SHAPE)
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = tf.reduce_sum(tf.sparse.to_dense(value) ** 2)
    assert tape.gradient(y, value.values).numpy().tolist() == [2, 4, 6]
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="SparseTensor is not supported as a gradient"):
        tape.gradient(y, value)


# -- functions -------------------------------------------------------------------------------------


def test_functions_return_sparse_tensors():
    made = tf.function(lambda v: tf.SparseTensor(PLACES, v, SHAPE))(tf.constant([1.0, 2.0, 3.0]))
    assert dense(made).tolist() == [[0, 1, 0], [2, 0, 3]]


@pytest.mark.parametrize(
    "body",
    [
        lambda places, values: tf.sparse.to_dense(tf.SparseTensor(places, values, [3])),
        lambda places, values: tf.sparse.reduce_sum(tf.SparseTensor(places, values, [3])),
        lambda places, values: tf.sparse.from_dense(values),
    ],
)
def test_places_that_only_a_run_knows_are_refused(body):
    with pytest.raises(ValueError, match="known only when the graph runs"):
        tf.function(body)(tf.constant([[1]], tf.int64), tf.constant([1.0]))


def test_what_tensorflow_does_and_minitape_does_not():
    with pytest.raises(ValueError, match="unsupported type"):
        tf.sqrt(sparse(np.eye(2)))
    with pytest.raises(TypeError, match="output_is_sparse"):
        tf.sparse.reduce_sum(sparse(np.eye(2)), output_is_sparse=True)
