"""Sparse tensors against dense ones of NumPy: values, derivatives, printing, errors."""

from __future__ import annotations

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
    np.testing.assert_array_equal(tf.sparse.reorder(mixed).indices, places)
    np.testing.assert_array_equal(tf.sparse.to_dense(mixed, validate_indices=False), array)


@QUICK
@given(MATRICES, st.data())
def test_arithmetic(array, data):
    other = data.draw(hnp.arrays(np.float64, array.shape, elements=SMALL))
    a, b = sparse(array), sparse(other)
    np.testing.assert_array_equal(dense(tf.sparse.add(a, b)), array + other)
    np.testing.assert_array_equal(tf.sparse.add(a, tf.constant(other)), array + other)
    np.testing.assert_array_equal(dense(a * tf.constant(other)), array * other)
    np.testing.assert_array_equal(dense(a / 2.0), array / 2)
    np.testing.assert_array_equal(dense(tf.sparse.maximum(a, b)), np.maximum(array, other))
    np.testing.assert_array_equal(dense(tf.sparse.minimum(a, b)), np.minimum(array, other))
    np.testing.assert_array_equal(dense(tf.sparse.map_values(tf.square, a)), array**2)


@QUICK
@given(MATRICES, st.booleans(), st.booleans())
def test_products_with_dense_matrices(array, first, second):
    inner = array.shape[0 if first else 1]
    other = np.arange(inner * 2.0).reshape((2, inner) if second else (inner, 2))
    found = tf.sparse.sparse_dense_matmul(sparse(array), other, adjoint_a=first, adjoint_b=second)
    np.testing.assert_array_equal(found, (array.T if first else array) @ (other.T if second else other))


@QUICK
@given(CUBES, st.data())
def test_reductions(array, data):
    axis = data.draw(st.sampled_from([None, *range(array.ndim)]))
    keep = data.draw(st.booleans())
    found = tf.sparse.reduce_sum(sparse(array), axis=axis, keepdims=keep)
    np.testing.assert_array_equal(found, array.sum(axis=axis, keepdims=keep))
    # the largest of the values that are written down; absent ones do not count
    filled = np.where(array != 0, array, -np.inf).max(axis=axis)
    found = tf.sparse.reduce_max(sparse(array), axis=axis).numpy()
    np.testing.assert_array_equal(found[np.isfinite(filled)], filled[np.isfinite(filled)])


@QUICK
@given(MATRICES, st.data())
def test_structure(array, data):
    a = sparse(array)
    np.testing.assert_array_equal(dense(tf.sparse.transpose(a)), array.T)
    np.testing.assert_array_equal(dense(tf.sparse.reshape(a, [-1])), array.reshape(-1))
    np.testing.assert_array_equal(dense(tf.sparse.expand_dims(a, 1)), array[:, None])
    axis = data.draw(st.integers(-2, 1))
    np.testing.assert_array_equal(dense(tf.sparse.concat(axis, [a, a])), np.concatenate([array, array], axis))
    start = [data.draw(st.integers(0, n - 1)) for n in array.shape]
    size = [data.draw(st.integers(1, n)) for n in array.shape]
    cut = tuple(slice(s, s + n) for s, n in zip(start, size, strict=True))
    np.testing.assert_array_equal(dense(tf.sparse.slice(a, start, size)), array[cut])
    kept = tf.sparse.retain(a, a.values > 0)
    np.testing.assert_array_equal(dense(kept), np.where(array > 0, array, 0))


@QUICK
@given(MATRICES)
def test_softmax_of_what_is_there(array):
    found = dense(tf.sparse.softmax(sparse(array)))
    weights = np.where(array != 0, np.exp(array), 0)
    totals = weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(found, weights / np.where(totals == 0, 1, totals), rtol=1e-12)


def test_empty_rows_are_filled():
    value = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [4, 2])
    filled, empty = tf.sparse.fill_empty_rows(value, -1)
    assert empty.numpy().tolist() == [False, True, False, True]
    np.testing.assert_array_equal(dense(filled), [[0, 5], [-1, 0], [6, 0], [-1, 0]])


# -- derivatives ------------------------------------------------------------------------------------------------------

PLACES, SHAPE = [[0, 1], [1, 0], [1, 2]], [2, 3]
DENSE = np.random.default_rng(0).normal(size=(3, 2))


@pytest.mark.parametrize("f", [
    lambda s: tf.sparse.to_dense(s) ** 2,
    lambda s: tf.sparse.sparse_dense_matmul(s, tf.constant(DENSE)),
    lambda s: tf.sparse.reduce_sum(s, axis=0) ** 2,
    lambda s: tf.sparse.add(s, s).values ** 2,
    lambda s: tf.sparse.to_dense(tf.sparse.transpose(s)) ** 2,
    lambda s: tf.sparse.to_dense(tf.sparse.slice(s, [0, 0], [2, 2])) ** 2,
    lambda s: (s * tf.constant(DENSE.T)).values ** 2,
])  # fmt: skip
def test_derivatives_of_values(f):
    check_grads(lambda v: f(tf.SparseTensor(PLACES, v, SHAPE)), [np.array([0.5, -1.0, 2.0])])


def test_derivatives_of_the_dense_side():
    value = tf.SparseTensor(PLACES, tf.constant([0.5, -1.0, 2.0], tf.float64), SHAPE)
    check_grads(lambda d: tf.sparse.sparse_dense_matmul(value, d), [DENSE])
    check_grads(lambda d: tf.sparse.add(value, d) ** 2, [DENSE.T])


def test_a_tape_watches_the_values():
    value = tf.SparseTensor(PLACES, tf.constant([1.0, 2.0, 3.0]), SHAPE)
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = tf.reduce_sum(tf.sparse.to_dense(value) ** 2)
    assert tape.gradient(y, value.values).numpy().tolist() == [2, 4, 6]
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="SparseTensor is not supported as a gradient"):
        tape.gradient(y, value)


def test_functions_take_and_return_sparse_tensors():
    @tf.function
    def double(x):
        return tf.sparse.add(x, x)

    np.testing.assert_array_equal(dense(double(sparse(DENSE))), 2 * DENSE)


# -- printing and errors ----------------------------------------------------------------------------------------------


def test_printing_as_tensorflow():
    value = tf.SparseTensor([[0, 1]], [5], [2, 3])
    assert repr(value) == (
        "SparseTensor(indices=tf.Tensor([[0 1]], shape=(1, 2), dtype=int64), "
        "values=tf.Tensor([5], shape=(1,), dtype=int32), dense_shape=tf.Tensor([2 3], shape=(2,), dtype=int64))"
    )
    assert repr(tf.SparseTensorSpec([2, 3])) == "SparseTensorSpec(TensorShape([2, 3]), tf.float32)"


@pytest.mark.parametrize("wrong, kind", [
    (lambda: tf.SparseTensor([[0, 1]], [5, 6], [2, 3]), ValueError),
    (lambda: tf.SparseTensor([[0]], [5], [2, 3]), ValueError),
    (lambda: tf.sparse.to_dense(tf.SparseTensor([[0, 9]], [5], [2, 3])), tf.errors.InvalidArgumentError),
    (lambda: tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [5, 6], [2, 3])), tf.errors.InvalidArgumentError),
    (lambda: tf.sparse.add(sparse(np.eye(2)), sparse(np.eye(3))), tf.errors.InvalidArgumentError),
    (lambda: tf.convert_to_tensor(sparse(np.eye(2))), (TypeError, ValueError)),
    (lambda: tf.add(sparse(np.eye(2)), 1.0), (TypeError, ValueError)),
    (lambda: tf.sparse.sparse_dense_matmul(sparse(np.eye(2)), np.ones((3, 1))), tf.errors.InvalidArgumentError),
])  # fmt: skip
def test_wrong_use_raises(wrong, kind):
    with pytest.raises(kind):
        wrong()


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sum", [[4, 6], [5, 6]]), ("mean", [[2, 3], [5, 6]]), ("sqrt_n", [[8**0.5, 18**0.5], [5, 6]])],
)
def test_segments_of_chosen_rows(name, expected):
    function = getattr(tf.sparse, f"segment_{name}")
    np.testing.assert_allclose(function(ROWS, [0, 1, 2], [0, 0, 1]), expected, rtol=1e-6)
    gaps = function(ROWS, [0, 2], [0, 2], num_segments=4)
    assert gaps.numpy().tolist() == [[1, 2], [0, 0], [5, 6], [0, 0]]
    assert function(ROWS, [], []).shape == (0, 2)


def test_the_gradient_of_segments_is_sparse_when_asked_for():
    v = tf.Variable(ROWS)
    found = []
    for sparse in (False, True):
        with tf.GradientTape() as tape:
            y = tf.sparse.segment_mean(v, [0, 1, 1], [0, 0, 1], sparse_gradient=sparse)
        found.append(tape.gradient(y, v))
    assert [type(g).__name__ for g in found] == ["EagerTensor", "IndexedSlices"]
    for g in found:
        assert tf.convert_to_tensor(g).numpy().tolist() == [[0.5, 0.5], [1.5, 1.5], [0, 0]]


@pytest.mark.parametrize(
    ("indices", "ids", "count", "message"),
    [
        ([0, 1], [1, 0], None, "segment ids are not increasing"),
        ([0, 1], [-1, 0], None, r"Segment id -1 out of range \[0, 1\), possibly because 'segment_ids' input is not sort"),
        ([0, 5], [0, 1], None, r"Bad: indices\[1\] == 5 out of range \[0, 3\)"),
        ([0, -1], [0, 1], None, r"Bad: indices\[1\] == -1 out of range \[0, 3\)"),
        ([0, 1, 2], [0, 1], None, "segment_ids and indices should have same size."),
        ([[0, 1]], [0, 1], None, "indices should be a vector."),
        ([0, 1], [0, 2], 2, "segment ids must be < num_segments"),
        ([0, 1], [0.0, 1.0], None, "Value for attr 'Tsegmentids' of float is not in the list of allowed values"),
    ],
)
def test_wrong_segments_are_refused(indices, ids, count, message):
    for name in ("sum", "mean", "sqrt_n"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            getattr(tf.sparse, f"segment_{name}")(ROWS, indices, ids, count)


def test_means_of_segments_are_of_floats():
    assert tf.sparse.segment_sum([1, 2], [0, 1], [0, 0]).numpy().tolist() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'T' of int32 is not in the list"):
        tf.sparse.segment_mean([1, 2], [0, 1], [0, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: tf.sparse.split(s, 2, axis=9), r"Input axis should be in range \[-2, 2\), got 9"),
        (lambda s: tf.sparse.split(s, 7, axis=1), r"between 1 and the splitting dimension size \(3\), got 7"),
        (lambda s: tf.sparse.softmax(tf.sparse.from_dense([1.0])), "Input should have rank >= 2, but received shape: 1"),
        (lambda s: tf.sparse.softmax(tf.sparse.from_dense([[1]])), "(?s)of int32 is not in the list .*SparseSoftmax"),
        (lambda s: tf.sparse.concat(0, [s, tf.cast(s, tf.float64)]), "cannot compute SparseConcat as input #3"),
        (lambda s: tf.sparse.maximum(s, tf.cast(s, tf.float64)), "cannot compute SparseSparseMaximum as input #4"),
        (lambda s: tf.sparse.to_indicator(s, 2), r"Indices are not valid \(out of bounds\).  Shape: \[2,2\]"),
        (lambda s: tf.sparse.eye(-1), "Requires start <= limit when delta > 0: 0/-1"),
        (lambda s: tf.sparse.reshape(s, [-1, -1]), "only one output dimension may be -1, not both 0 and 1"),
        (lambda s: tf.sparse.bincount([-1]), "Input values must all be non-negative"),
    ],
)
def test_what_sparse_functions_refuse(call, message):
    s = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call(s)


def test_counts_of_each_row():
    counts = tf.sparse.bincount([[1, 1], [2, 3]], axis=-1)
    assert tf.sparse.to_dense(counts).numpy().tolist() == [[0, 2, 0, 0], [0, 0, 1, 1]]
    weighed = tf.sparse.bincount([[1, 1], [2, 3]], axis=-1, weights=[[0.5, 1.0], [2.0, 3.0]], maxlength=3)
    assert tf.sparse.to_dense(weighed).numpy().tolist() == [[0, 1.5, 0], [0, 0, 2.0]]
