"""Functions of ``tf.compat.v1`` that log that they are deprecated, which the oracle would compare with the place."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

v1 = tf.compat.v1


def test_the_old_cross_entropy_has_no_gradient_for_its_labels():
    y, x = tf.constant([[0.25, 0.75]]), tf.constant([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        old = v1.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)
        new = v1.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
    assert tape.gradient(old, y) is None
    np.testing.assert_allclose(tape.gradient(old, x), tape.gradient(new, x))
    np.testing.assert_allclose(tape.gradient(new, y), [[1.3132616, 0.31326166]], rtol=1e-6)


def test_sparse_to_dense_takes_one_place_a_vector_or_rows():
    assert v1.sparse_to_dense(1, [3], 2).numpy().tolist() == [0, 2, 0]
    assert v1.sparse_to_dense([1, 3], [5], 7, -1).numpy().tolist() == [-1, 7, -1, 7, -1]
    assert v1.sparse_to_dense([[0, 1]], [2, 2], [4.0]).numpy().tolist() == [[0.0, 4.0], [0.0, 0.0]]
    again = v1.sparse_to_dense([[1], [1]], [3], [1.0, 2.0], validate_indices=False)
    assert again.numpy().tolist() == [0.0, 2.0, 0.0]


def test_sparse_to_dense_has_gradients():
    values, default = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([values, default])
        y = v1.sparse_to_dense([1, 3], [5], values, default) * tf.range(5.0)
    found = tape.gradient(y, [values, default])
    assert found[0].numpy().tolist() == [1.0, 3.0]
    assert found[1].numpy() == 6.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[1, 3]], [5], 7), "output_shape has incorrect number of elements: 1 should be: 2"),
        (([1, 3], 5, 7), "output_shape must be rank 1, got shape []"),
        (([1, 3], [5], [1, 2, 3]), "sparse_values has incorrect shape [3], should be [] or [2]"),
        (([1, 3], [5], [1, 2], [0]), "default_value should be a scalar."),
        (([1, 10], [5], [1, 2]), "indices[1] = [10] is out of bounds: need 0 <= index < [5]"),
        (([1, 10], [5], [1, 2], 0, False), "Indices are not valid (out of bounds).  Shape: [5]"),
        (([[[1]]], [5], 7), "sparse_indices should be a scalar, vector, or matrix, got shape [1,1,1]"),
    ],
)
def test_sparse_to_dense_refuses_what_does_not_fit(given, message):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        v1.sparse_to_dense(*given)
    assert str(caught.value).startswith(message)


def test_batch_gather_counts_from_the_last_axis_of_the_indices():  # answers of TensorFlow 2.21
    assert v1.batch_gather([[1, 2], [3, 4]], [1]).numpy().tolist() == [[3, 4]]
    assert v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]).numpy().tolist() == [[2], [3]]
    assert v1.batch_gather([1, 2, 3], [1]).numpy().tolist() == [2]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="does not allow indices with unknown shape"):
        v1.batch_gather([[0, 1, 2]], v1.placeholder(tf.int32))
