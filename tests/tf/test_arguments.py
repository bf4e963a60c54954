"""An argument that makes no sense raises TensorFlow's exception class with a sentence of minitape's own.

The classes are those that TensorFlow 2.21 raised.
"""

import numpy as np
import pytest

import minitape as tf

REFUSED = """
InvalidArgumentError | reshape(X, [4, 2])
InvalidArgumentError | reshape(X, [-1, -1])
InvalidArgumentError | reshape(X, [-1, 4])
InvalidArgumentError | reshape(X, [[3, 2]])
ValueError           | reshape(X, [None, 2])
InvalidArgumentError | transpose(X, [0, 0])
InvalidArgumentError | transpose(X, [0])
InvalidArgumentError | expand_dims(X, 3)
InvalidArgumentError | squeeze(X, 0)
InvalidArgumentError | squeeze(X, 5)
InvalidArgumentError | concat([X, X], 2)
InvalidArgumentError | concat([X, X[:1]], 1)
InvalidArgumentError | concat([1.0, 2.0], 0)
InvalidArgumentError | concat([X, I], 0)
InvalidArgumentError | concat([], 0)
ValueError           | stack([X, X], 3)
InvalidArgumentError | stack([X, X[:1]])
InvalidArgumentError | stack([X, I])
InvalidArgumentError | unstack(X, num=3)
ValueError           | unstack(X, axis=2)
InvalidArgumentError | split(X, 2, 1)
InvalidArgumentError | split(X, [1, 3], 1)
InvalidArgumentError | split(X, [-1, -1], 1)
InvalidArgumentError | split(X, 2, 5)
ValueError           | split(X, tf.constant(2))
InvalidArgumentError | tile(X, [2])
InvalidArgumentError | tile(X, [-1, 1])
ValueError           | repeat(X, [1, 2, 3], axis=0)
InvalidArgumentError | repeat(X, -1, axis=0)
TypeError            | repeat(X, 1.5)
ValueError           | pad(X, [[1, 1], [2, 2]], 'OTHER')
InvalidArgumentError | pad(X, [[1, 1]])
ValueError           | pad(X, [[2, 1], [0, 0]], 'REFLECT')
ValueError           | meshgrid([1, 2], indexing='q')
ValueError           | boolean_mask(X, [True, False, True])
ValueError           | boolean_mask(X, True)
InvalidArgumentError | gather(X, [2])
InvalidArgumentError | gather(X, [-1])
InvalidArgumentError | gather(X, [0], axis=2)
InvalidArgumentError | gather(X, [0.5])
InvalidArgumentError | gather(3.0, [0])
InvalidArgumentError | gather_nd(X, [[2, 0]])
InvalidArgumentError | gather_nd(X, [[0, 1, 1]])
InvalidArgumentError | tensor_scatter_nd_update(X, [[5]], [[9.0, 8.0, 7.0]])
InvalidArgumentError | tensor_scatter_nd_update(X, [[0]], [9.0, 8.0, 7.0])
InvalidArgumentError | unique(X)
TypeError            | zeros([1.5])
InvalidArgumentError | zeros([-1])
TypeError            | ones([2], tf.string)
InvalidArgumentError | fill([2], [1, 2])
InvalidArgumentError | range(0, 5, 0)
InvalidArgumentError | range(5, 0)
InvalidArgumentError | range([1, 2])
TypeError            | linspace(0.0, 1.0, 2.5)
TypeError            | one_hot([0, 2], 3, on_value=1.0, off_value=1)
InvalidArgumentError | one_hot([0, 2], -3)
InvalidArgumentError | one_hot([0, 2], 3, axis=4)
InvalidArgumentError | reduce_sum(X, 2)
InvalidArgumentError | reduce_sum(X, [0, 0])
InvalidArgumentError | reduce_sum('a')
InvalidArgumentError | reduce_max(tf.constant([True]))
TypeError            | math.reduce_std(I)
ValueError           | add_n([])
InvalidArgumentError | add_n([X, I])
InvalidArgumentError | add_n([X, X[0]])
InvalidArgumentError | add_n([tf.constant('a'), tf.constant('b')])
InvalidArgumentError | add_n([tf.constant(True), tf.constant(True)])
InvalidArgumentError | argmax([1 + 1j, 2.0])
InvalidArgumentError | argmin([1 + 1j, 2.0])
InvalidArgumentError | argmax(X, 2)
InvalidArgumentError | argmax(tf.zeros([0]))
ValueError           | sort(X, direction='UP')
InvalidArgumentError | math.top_k([1.0, 5.0, 3.0], 5)
InvalidArgumentError | matmul(X, X)
InvalidArgumentError | matmul(X, I)
InvalidArgumentError | matmul(X, [1.0, 2.0, 3.0])
ValueError           | matmul(X, X, transpose_a=True, adjoint_a=True)
ValueError           | tensordot(X, X, [[0, 1], [0]])
ValueError           | tensordot(X, X, 3)
ValueError           | norm(X, ord='other')
ValueError           | norm(X, ord=-1)
ValueError           | norm(X, axis=[0, 0])
InvalidArgumentError | linalg.det(X)
InvalidArgumentError | linalg.inv(tf.zeros([2, 2]))
InvalidArgumentError | linalg.solve(tf.eye(2), [1.0, 2.0])
InvalidArgumentError | linalg.diag_part(X[0])
InvalidArgumentError | nn.softmax(X, axis=3)
ValueError           | nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[2.0])
ValueError           | nn.sigmoid_cross_entropy_with_logits(labels=[1.0])
InvalidArgumentError | nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], X)
ValueError           | nn.sparse_softmax_cross_entropy_with_logits([[1]], X)
InvalidArgumentError | nn.sparse_softmax_cross_entropy_with_logits([1, 3], X)
InvalidArgumentError | sin(I)
InvalidArgumentError | add(tf.constant([True]), tf.constant([True]))
InvalidArgumentError | subtract('a', 'b')
InvalidArgumentError | add(X, I)
InvalidArgumentError | add(X, [1.0, 2.0])
InvalidArgumentError | constant(True) + tf.constant(True)
InvalidArgumentError | math.multiply(True, True)
InvalidArgumentError | constant(True) % tf.constant(True)
InvalidArgumentError | constant(True) < tf.constant(True)
InvalidArgumentError | constant(1j) <= tf.constant(2j)
InvalidArgumentError | constant(True) ** tf.constant(True)
InvalidArgumentError | constant("a") < "b"
InvalidArgumentError | constant("a") - tf.constant("b")
InvalidArgumentError | constant(True).__neg__()
InvalidArgumentError | constant("a").__neg__()
InvalidArgumentError | constant(1, tf.uint8).__neg__()
InvalidArgumentError | negative(tf.constant(1, tf.uint8))
InvalidArgumentError | constant(1, tf.uint8) ** 2
InvalidArgumentError | pow(tf.constant(1, tf.uint64), 2)
InvalidArgumentError | constant(1.0).__invert__()
InvalidArgumentError | constant("a").__invert__()
InvalidArgumentError | constant(True).__abs__()
InvalidArgumentError | constant(1, tf.uint8).__abs__()
InvalidArgumentError | constant([[True]]) @ tf.constant([[True]])
InvalidArgumentError | floordiv(7, 0)
InvalidArgumentError | pow(2, -1)
InvalidArgumentError | less('a', 'b')
InvalidArgumentError | logical_not(I)
TypeError            | divide(X, I)
ValueError           | where([True], X)
InvalidArgumentError | where(True)
InvalidArgumentError | where([True, False], X, X)
ValueError           | clip_by_value(2.0, [1.0, 2.0], 4.0)
UnimplementedError   | cast('a', tf.int32)
TypeError            | math.conj(tf.constant([True]))
TypeError            | random.normal([2], dtype=tf.int32)
ValueError           | random.uniform([2], dtype=tf.int32)
InvalidArgumentError | random.uniform([2], 5, 1, dtype=tf.int32)
InvalidArgumentError | strings.substr('tape', 9, 2)
ValueError           | SparseTensor([[0, 1]], [5, 6], [1, 2])
InvalidArgumentError | sparse.to_dense(tf.SparseTensor([[0, 5]], [5], [1, 2]))
InvalidArgumentError | RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 5])
ValueError           | keras.layers.Dense(-2)
ValueError           | keras.layers.Dense(2, activation='other')
ValueError           | keras.layers.Dense(2)(tf.constant(1.0))
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_makes_no_sense_is_refused(line):
    kind, expression = (part.strip() for part in line.split(" | "))
    space = {"tf": tf, "X": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "I": tf.constant([[1, 2, 3], [4, 5, 6]])}
    expected = getattr(tf.errors, kind, None) or {"TypeError": TypeError, "ValueError": ValueError}[kind]
    with pytest.raises(expected) as caught:
        eval(f"tf.{expression}", space)
    assert type(caught.value) is expected and len(str(caught.value)) > 10


def test_a_dtype_that_is_refused_is_named_with_the_function():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"tf\.math\.reciprocal takes floats or complex numbers, not int32"
    ):
        tf.math.reciprocal([1, 2])


def test_compute_gradient_is_no_part_of_a_function():
    with pytest.raises(TypeError, match=r"outside the tf\.function"):
        tf.function(lambda x: tf.test.compute_gradient(tf.square, [x]))(tf.constant(1.0))


@pytest.mark.parametrize("key", [(0, 0, 0), 5, (..., ...), slice(None, None, 0)])
def test_an_index_that_is_not_there_is_refused(key):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ones([2, 3])[key]


@pytest.mark.parametrize("key", [1.5, "a"])
def test_what_is_no_index_is_refused(key):
    with pytest.raises(TypeError, match="valid indices"):
        tf.ones([2, 3])[key]


@pytest.mark.parametrize(
    "key, expected",
    [
        ([True, False], tf.errors.InvalidArgumentError),
        ((True, False), tf.errors.InvalidArgumentError),
        ([True], tf.errors.InvalidArgumentError),
        ((True, 1), TypeError),
    ],
)
def test_a_list_of_bools_is_no_index(key, expected):
    for x in (tf.ones([2, 2]), tf.Variable(tf.ones([2, 2]))):
        with pytest.raises(expected, match=r"Bools are not an index.*tf\.boolean_mask"):
            x[key]


def test_sizes_and_axes_are_given_in_many_ways():
    x = tf.ones([2, 3])
    ways = [3, 2], (3, 2), np.array([3, 2]), tf.constant([3, 2]), tf.TensorShape([3, 2]), [tf.constant(3), 2]
    assert {tuple(tf.reshape(x, way).shape) for way in ways} == {(3, 2)}
    ways = 1, -1, [1], (1,), np.int64(1), np.array([1]), tf.constant(1), tf.Variable(1)
    assert {tuple(tf.reduce_sum(x, way).shape) for way in ways} == {(2,)}


def test_numbers_of_python_take_the_dtype_of_the_tensor_beside_them():
    x = tf.constant([1.0, 2.0], tf.float64)
    for made in (tf.multiply(2, x), tf.maximum(x, 1), tf.where([True, False], x, 0), tf.concat([x, [3]], 0)):
        assert made.dtype == tf.float64
    assert tf.add(1, 2).dtype == tf.int32 and tf.divide(1, 2).dtype == tf.float64
