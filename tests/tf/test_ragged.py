"""Ragged tensors against lists of Python: values, printing, derivatives, errors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.check import check_grads

QUICK = settings(max_examples=50, deadline=None, derandomize=True)
NUMBERS = st.integers(-9, 9)
ROWS = st.lists(st.lists(NUMBERS, max_size=4), min_size=1, max_size=5)
DEEP = st.lists(st.lists(st.lists(NUMBERS, max_size=3), max_size=3), min_size=1, max_size=3)


def ragged(rows, dtype=tf.int32, depth=1):
    return tf.ragged.constant(rows, dtype=dtype, ragged_rank=depth)


# -- making and converting --------------------------------------------------------------------------------------------


@QUICK
@given(ROWS)
def test_all_ways_to_make_one_agree(rows):
    flat = tf.constant([x for row in rows for x in row], tf.int32)
    lengths = [len(row) for row in rows]
    splits = np.concatenate([[0], np.cumsum(lengths)])
    R = tf.RaggedTensor
    made = [
        R.from_row_splits(flat, splits), R.from_row_lengths(flat, lengths), R.from_row_starts(flat, splits[:-1]),
        R.from_row_limits(flat, splits[1:]), R.from_value_rowids(flat, np.repeat(range(len(rows)), lengths), len(rows)),
    ]  # fmt: skip
    for value in made:
        assert value.to_list() == rows
        assert value.row_lengths().numpy().tolist() == lengths
        assert value.row_splits.numpy().tolist() == splits.tolist()
        assert value.nrows() == len(rows) and value.bounding_shape().numpy().tolist() == [len(rows), max(lengths)]


@QUICK
@given(DEEP)
def test_deep_ones_return_their_lists(rows):
    value = ragged(rows, depth=2)
    assert value.to_list() == rows and value.ragged_rank == 2
    assert value.flat_values.numpy().tolist() == [x for a in rows for b in a for x in b]
    assert tf.RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits).to_list() == rows


@QUICK
@given(ROWS, st.integers(-1, 1))
def test_padding_and_back(rows, filler):
    width = max(map(len, rows))
    padded = [row + [filler] * (width - len(row)) for row in rows]
    tensor = ragged(rows).to_tensor(filler)
    assert tensor.numpy().tolist() == padded
    lengths = [len(row) for row in rows]
    assert tf.RaggedTensor.from_tensor(tensor, lengths=lengths).to_list() == rows
    assert ragged(rows).to_tensor(filler, shape=[None, 2]).numpy().tolist() == [(r + [filler] * 2)[:2] for r in rows]


@QUICK
@given(ROWS)
def test_sparse_and_back(rows):
    value = ragged(rows)
    sparse = value.to_sparse()
    assert tf.sparse.to_dense(sparse).numpy().tolist() == value.to_tensor().numpy().tolist()
    assert tf.RaggedTensor.from_sparse(sparse).to_list() == rows


# -- picking ----------------------------------------------------------------------------------------------------------


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


@QUICK
@given(DEEP)
def test_indexing_deep_ones(rows):
    value = ragged(rows, depth=2)
    assert value[0].to_list() == rows[0]
    assert value[:, :1].to_list() == [row[:1] for row in rows]
    assert value[..., :1].to_list() == [[inner[:1] for inner in row] for row in rows]


@QUICK
@given(ROWS, st.data())
def test_gather_and_masks(rows, data):
    picks = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=4))
    assert tf.gather(ragged(rows), tf.constant(picks, tf.int32)).to_list() == [rows[i] for i in picks]
    mask = [[x > 0 for x in row] for row in rows]
    kept = tf.ragged.boolean_mask(ragged(rows), tf.ragged.constant(mask, tf.bool, ragged_rank=1))
    assert kept.to_list() == [[x for x in row if x > 0] for row in rows]


# -- computing --------------------------------------------------------------------------------------------------------


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
    assert tf.ragged.map_flat_values(tf.square, value).to_list() == [[x * x for x in row] for row in rows]


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
    assert tf.reduce_any(value > 0, axis=1).numpy().tolist() == [any(x > 0 for x in row) for row in rows]


@QUICK
@given(ROWS, st.data())
def test_joining(rows, data):
    other = data.draw(st.lists(st.lists(NUMBERS, max_size=3), min_size=len(rows), max_size=len(rows)))
    a, b = ragged(rows), ragged(other)
    assert tf.concat([a, b], axis=0).to_list() == rows + other
    assert tf.concat([a, b], axis=1).to_list() == [x + y for x, y in zip(rows, other, strict=True)]
    assert tf.stack([a, b], axis=0).to_list() == [rows, other]
    assert tf.stack([a, b], axis=1).to_list() == [[x, y] for x, y in zip(rows, other, strict=True)]
    assert tf.tile(a, [2, 1]).to_list() == rows * 2
    assert tf.reverse(a, axis=[1]).to_list() == [row[::-1] for row in rows]
    assert tf.expand_dims(a, 0).to_list() == [rows]
    assert tf.squeeze(tf.expand_dims(a, 1), 1).to_list() == rows


@QUICK
@given(ROWS)
def test_map_fn_and_where(rows):
    value = ragged(rows)
    sums = tf.map_fn(tf.reduce_sum, value, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [sum(row) for row in rows]
    doubled = tf.map_fn(lambda row: row * 2, value, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, 0))
    assert doubled.to_list() == [[2 * x for x in row] for row in rows]
    kept = tf.where(value > 0, value, tf.zeros_like(value))
    assert kept.to_list() == [[max(x, 0) for x in row] for row in rows]


@QUICK
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 9), st.integers(1, 3)), min_size=1, max_size=4))
def test_ranges(rows):
    starts, limits, deltas = (list(c) for c in zip(*rows, strict=True))
    assert tf.ragged.range(starts, limits, deltas).to_list() == [list(range(*row)) for row in rows]


# -- derivatives ------------------------------------------------------------------------------------------------------

SPLITS = [0, 2, 2, 5]


@pytest.mark.parametrize("f", [
    lambda r: tf.reduce_sum(r * r, axis=1),
    lambda r: tf.reduce_mean(tf.exp(r), axis=0),
    lambda r: (r[:, :1] * 3.0).to_tensor(),
    lambda r: r.to_tensor(1.0) ** 2,
    lambda r: tf.concat([r, tf.sin(r)], axis=1).flat_values,
    lambda r: tf.gather(r, [2, 0, 2]).flat_values ** 2,
    lambda r: tf.reduce_max(r[2:], axis=1),
    lambda r: tf.ragged.boolean_mask(r, tf.RaggedTensor.from_row_splits([True, False, True, True, False], SPLITS))
    .flat_values ** 2,
])  # fmt: skip
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


def test_functions_take_and_return_ragged_tensors():
    traces = []

    @tf.function
    def rows(x):
        traces.append(x.shape)
        return tf.concat([x, x * 2], axis=1)

    assert rows(ragged([[1], [2, 3]])).to_list() == [[1, 2], [2, 3, 4, 6]]
    rows(ragged([[4], [5, 6]]))
    assert [shape.as_list() for shape in traces] == [[2, None]]


# -- printing and errors ----------------------------------------------------------------------------------------------


def test_printing_as_tensorflow():
    value = tf.ragged.constant([[1, 2], [], [3]])
    assert repr(value) == str(value) == "<tf.RaggedTensor [[1, 2], [], [3]]>"
    assert repr(tf.ragged.constant([[b"a"], []])) == "<tf.RaggedTensor [[b'a'], []]>"
    assert repr(tf.RaggedTensorSpec([2, None])) == "RaggedTensorSpec(TensorShape([2, None]), tf.float32, 1, tf.int64)"
    assert value.shape.as_list() == [3, None] and repr(tf.ragged.constant([[1.0]])) == "<tf.RaggedTensor [[1.0]]>"


@pytest.mark.parametrize("wrong, kind", [
    (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]), tf.errors.InvalidArgumentError),
    (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1, 2]), tf.errors.InvalidArgumentError),
    (lambda: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]), tf.errors.InvalidArgumentError),
    (lambda: tf.RaggedTensor.from_row_lengths([1, 2], [3]), tf.errors.InvalidArgumentError),
    (lambda: ragged([[1], [2, 3]]) + ragged([[1, 2], [3]]), tf.errors.InvalidArgumentError),
    (lambda: tf.ragged.constant([[1], 2]), ValueError),
    (lambda: ragged([[1]])[:, 0], ValueError),
    (lambda: ragged([[1], [2, 3]]).numpy().foo, AttributeError),
    (lambda: ragged([[1]]).to_tensor(shape=[None]), tf.errors.InvalidArgumentError),
])  # fmt: skip
def test_wrong_use_raises(wrong, kind):
    with pytest.raises(kind):
        wrong()


@pytest.mark.parametrize("code", [
    "tf.reduce_sum(tf.ragged.constant([[1], [3]]))", "tf.map_fn(lambda x: x + 1, tf.ragged.constant([[1], [2, 3]]))[1, 1]",
    "tf.nn.relu(tf.ragged.constant([[-1], [2, 4]]))[1, 1]", "tf.cast(tf.sparse.from_dense([4.0]), tf.int32).values[0]",
])  # fmt: skip
def test_the_first_composite_of_a_process_may_be_made_inside_a_call(code):
    done = subprocess.run([sys.executable, "-c", f"import minitape as tf\nprint({code}.numpy())"], text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert (done.stdout, done.stderr) == ("4\n", "")
