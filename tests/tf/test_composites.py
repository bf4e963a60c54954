"""Ragged and sparse tensors store, show and return their parts, but nothing is computed with them."""

import numpy as np
import pytest

import minitape as tf


def test_a_ragged_tensor_has_rows_of_different_lengths():
    rows = tf.ragged.constant([[1, 2, 3], [], [4]])
    assert repr(rows) == "<tf.RaggedTensor [[1, 2, 3], [], [4]]>" and rows.to_list() == [[1, 2, 3], [], [4]]
    assert rows.row_lengths().numpy().tolist() == [3, 0, 1] and rows.row_lengths().dtype == tf.int64
    assert (rows.dtype, rows.shape) == (tf.int32, tf.TensorShape([3, None]))
    assert rows.to_tensor().numpy().tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0]]
    assert tf.ragged.constant([[1.0], []]).dtype == tf.float32


def test_a_sparse_tensor_has_some_elements():
    sparse = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5.0, 6.0], dense_shape=[3, 2])
    assert (sparse.dtype, sparse.shape) == (tf.float32, tf.TensorShape([3, 2]))
    assert repr(sparse).startswith(
        "SparseTensor(indices=tf.Tensor(\n[[0 1]\n [2 0]], shape=(2, 2), dtype=int64), values="
    )
    dense = tf.sparse.to_dense(sparse)
    assert dense.numpy().tolist() == [[0, 5], [0, 0], [6, 0]]
    found = tf.sparse.sparse_dense_matmul(sparse, [[1.0], [2.0]])
    np.testing.assert_array_equal(found, dense.numpy() @ [[1.0], [2.0]])


def test_a_product_adds_the_elements_at_one_position():
    values = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        product = tf.sparse.sparse_dense_matmul(tf.SparseTensor([[1, 0], [0, 0], [1, 0]], values, [2, 1]), [[5.0]])
    assert product.numpy().tolist() == [[10.0], [20.0]]
    assert tape.gradient(product, values).numpy().tolist() == [5.0, 5.0, 5.0]


@pytest.mark.parametrize("indices", [[[0], [0]], [[2], [0]]], ids=["repeated", "out of order"])
def test_a_dense_tensor_takes_each_position_once_and_in_order(indices):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^indices\[1\] = \[0\] is repeated or out of order"):
        tf.sparse.to_dense(tf.SparseTensor(indices, [1, 2], [3]))


@pytest.mark.parametrize("made", [tf.ragged.constant([[1.0], []]), tf.SparseTensor([[0, 1]], [5.0], [1, 2])])
def test_nothing_is_computed_with_them(made):
    for compute in (lambda: made + 1, lambda: made * made, lambda: tf.exp(made), lambda: tf.reduce_sum(made)):
        with pytest.raises((TypeError, ValueError)):
            compute()


def test_a_function_of_sparse_tensors_takes_no_others():
    with pytest.raises(TypeError, match=r"takes a tf\.SparseTensor, got list"):
        tf.sparse.to_dense([1])
