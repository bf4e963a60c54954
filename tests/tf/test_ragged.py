"""Ragged tensors against lists of Python: values, printing, derivatives, functions, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.check import check_grads

QUICK = settings(max_examples=50, deadline=None, derandomize=True)
NUMBERS = st.integers(-9, 9)
ROWS = st.lists(st.lists(NUMBERS, max_size=4), min_size=1, max_size=5)
SPLITS = [0, 2, 2, 5]


def ragged(rows, dtype=tf.int32):
    values = tf.constant([x for row in rows for x in row], dtype)
    return tf.RaggedTensor.from_row_lengths(values, [len(row) for row in rows])


# -- making and converting -------------------------------------------------------------------------


@QUICK
@given(ROWS)
def test_all_ways_to_make_one_agree(rows):
    flat = tf.constant([x for row in rows for x in row], tf.int32)
    lengths = [len(row) for row in rows]
    splits = np.concatenate([[0], np.cumsum(lengths)])
    R = tf.RaggedTensor
    for value in (
        R.from_row_splits(flat, splits),
        R.from_row_lengths(flat, lengths),
        tf.ragged.constant(rows, tf.int32),
    ):
        assert value.to_list() == rows
        assert value.row_lengths().numpy().tolist() == lengths
        assert value.row_splits.numpy().tolist() == splits.tolist()
        assert value.shape.as_list() == [len(rows), None]


def test_a_ragged_tensor_is_a_structure_of_its_values_and_row_splits():
    value = ragged([[1, 2], [], [3]])
    parts = tf.nest.flatten(value, expand_composites=True)
    assert [part.numpy().tolist() for part in parts] == [[1, 2, 3], [0, 2, 2, 3]]
    assert tf.nest.pack_sequence_as(value, parts, expand_composites=True).to_list() == [[1, 2], [], [3]]


# -- picking ---------------------------------------------------------------------------------------


@QUICK
@given(ROWS, st.data())
def test_indexing_as_lists(rows, data):
    value = ragged(rows)
    i = data.draw(st.integers(-len(rows), len(rows) - 1))
    assert value[i].numpy().tolist() == rows[i]
    cut = data.draw(st.slices(len(rows)).filter(lambda s: s.step is None or s.step > 0))
    assert value[cut].to_list() == rows[cut]
    inner = data.draw(st.sampled_from([slice(1, None), slice(None, -1), slice(None, None, 2), slice(-2, None)]))
    assert value[:, inner].to_list() == [row[inner] for row in rows]
    assert [row.numpy().tolist() for row in value] == rows


# -- computing -------------------------------------------------------------------------------------


@QUICK
@given(ROWS)
def test_arithmetic_acts_on_values(rows):
    value = ragged(rows)
    assert (value + 1).to_list() == [[x + 1 for x in row] for row in rows]
    assert (value * value - value).to_list() == [[x * x - x for x in row] for row in rows]
    assert (value > 0).to_list() == [[x > 0 for x in row] for row in rows]
    assert (-value).to_list() == tf.negative(value).to_list() == [[-x for x in row] for row in rows]
    assert tf.cast(value, tf.float32).dtype == tf.float32
    column = tf.constant([[10 * i] for i in range(len(rows))])
    assert (value + column).to_list() == [[x + 10 * i for x in row] for i, row in enumerate(rows)]


@QUICK
@given(ROWS)
def test_reductions(rows):
    value = ragged(rows, tf.float64)
    assert tf.reduce_sum(value).numpy() == sum(map(sum, rows))
    assert tf.reduce_sum(value, axis=1).numpy().tolist() == [sum(row) for row in rows]
    columns = [[row[i] for row in rows if len(row) > i] for i in range(max(map(len, rows)))]
    assert tf.reduce_sum(value, axis=0).numpy().tolist() == [sum(c) for c in columns]
    assert tf.reduce_max(value, axis=0).numpy().tolist() == [max(c) for c in columns]
    wanted = [np.mean(row) if row else np.nan for row in rows]
    np.testing.assert_allclose(tf.reduce_mean(value, axis=1), wanted)


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda r: tf.reduce_sum(r * r, axis=1),
        lambda r: tf.reduce_mean(tf.exp(r), axis=0),
        lambda r: (r[:, :1] * 3.0).to_tensor(),
        lambda r: r.to_tensor(1.0) ** 2,
        lambda r: tf.reduce_max(r[2:], axis=1),
        lambda r: tf.reduce_prod(r[::2] / 2.0, axis=1),
        lambda r: (r - [[1.0], [2.0], [3.0]]).flat_values ** 2,
    ],
)
def test_derivatives_of_values(f):
    x = np.array([0.5, -1.0, 2.0, 0.3, 1.5])
    check_grads(lambda v: f(tf.RaggedTensor.from_row_splits(v, SPLITS)), [x])


def test_a_tape_watches_the_values_and_returns_a_ragged_gradient():
    value = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = tf.reduce_sum(value**2)
    gradient = tape.gradient(y, value)
    assert isinstance(gradient, tf.RaggedTensor) and gradient.to_list() == [[2, 4], [], [6]]


def test_the_gradient_of_a_mean_of_embeddings():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        means = tf.reduce_mean(tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 1], [2]])), axis=1)
    assert means.numpy().tolist() == [[2, 3], [5, 6]]
    assert tf.convert_to_tensor(tape.gradient(means, table)).numpy().tolist() == [[0.5, 0.5], [0.5, 0.5], [1, 1]]


# -- functions -------------------------------------------------------------------------------------


def test_a_function_makes_rows_of_values_whose_number_it_does_not_know():
    rows = tf.function(lambda v: tf.RaggedTensor.from_row_lengths(v, [1, 2]), input_signature=[tf.TensorSpec([None])])
    assert rows(tf.constant([1.0, 2.0, 3.0])).to_list() == [[1], [2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] is not compatible with expected shape \[3\]"):
        rows(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    "body",
    [
        lambda v, n: tf.RaggedTensor.from_row_lengths(v, n),
        lambda v, n: tf.RaggedTensor.from_row_splits(v, tf.concat([[0], n], 0)),
    ],
)
def test_rows_that_only_a_run_knows_are_refused(body):
    with pytest.raises(ValueError, match="is known only when the graph runs"):
        tf.function(body)(tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 2]))


# -- printing and errors ---------------------------------------------------------------------------


def test_printing_as_tensorflow():
    value = tf.ragged.constant([[1, 2], [], [3]])
    assert repr(value) == str(value) == "<tf.RaggedTensor [[1, 2], [], [3]]>"
    assert repr(tf.ragged.constant([[b"a"], []])) == "<tf.RaggedTensor [[b'a'], []]>"
    assert repr(tf.RaggedTensorSpec([2, None])) == "RaggedTensorSpec(TensorShape([2, None]), tf.float32, 1, tf.int64)"
    assert repr(tf.ragged.constant([[1.0]])) == "<tf.RaggedTensor [[1.0]]>"


@pytest.mark.parametrize(
    "wrong, kind",
    [
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]), tf.errors.InvalidArgumentError),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1, 2]), tf.errors.InvalidArgumentError),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]), tf.errors.InvalidArgumentError),
        (lambda: tf.RaggedTensor.from_row_lengths([1, 2], [3]), tf.errors.InvalidArgumentError),
        (lambda: ragged([[1], [2, 3]]) + ragged([[1, 2], [3]]), tf.errors.InvalidArgumentError),
        (lambda: tf.ragged.constant([[[1]]]), ValueError),
        (lambda: tf.RaggedTensor.from_row_lengths(ragged([[1]]), [1]), ValueError),
        (lambda: tf.RaggedTensorSpec([None, None, None], ragged_rank=2), ValueError),
        (lambda: ragged([[1]]) * [[[1]]], ValueError),
        (lambda: tf.ragged.constant([[1], 2]), ValueError),
        (lambda: ragged([[1]])[:, 0], ValueError),
        (lambda: ragged([[1]])[..., :1], ValueError),
        (lambda: ragged([[1], [2, 3]]).numpy().foo, AttributeError),
        (lambda: tf.concat([ragged([[1]]), ragged([[1]])], 0), ValueError),
        (lambda: tf.add(ragged([[1]]), 1), ValueError),
        (lambda: tf.ragged.constant([[[1]]], ragged_rank=1), TypeError),
        (lambda: hash(ragged([[1]])), TypeError),
    ],
)
def test_wrong_use_raises(wrong, kind):
    with pytest.raises(kind):
        wrong()
