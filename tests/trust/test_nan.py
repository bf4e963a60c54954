"""NaN is not hidden where TensorFlow shows it. The expected values are those of TensorFlow 2.21."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import minitape as tf

NAN = float("nan")
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("data", "largest", "least"),
    [
        ([1.0, NAN, 2.0], [NAN, 2.0], [NAN, 2.0]),
        ([NAN, 1.0, 2.0], [1.0, 2.0], [1.0, 2.0]),  # what follows a NaN replaces it
        ([1.0, 3.0, NAN], [3.0, NAN], [1.0, NAN]),
        ([NAN, NAN, 1.0], [NAN, 1.0], [NAN, 1.0]),
        ([NAN, -np.inf, 0.0], [-np.inf, 0.0], [-np.inf, 0.0]),
    ],
)
def test_extremes_of_segments(data, largest, least, dtype):
    x = tf.constant(data, dtype)
    for segments, want in ((tf.math.segment_max, largest), (tf.math.segment_min, least)):
        np.testing.assert_array_equal(segments(x, [0, 0, 1]).numpy().astype(float), want)
    for segments, want in ((tf.math.unsorted_segment_max, largest), (tf.math.unsorted_segment_min, least)):
        np.testing.assert_array_equal(segments(x, [0, 0, 1], 2).numpy().astype(float), want)


def test_a_row_that_is_alone_in_its_segment_keeps_the_sign_of_its_zeros():
    for sums in (tf.math.segment_sum, tf.math.segment_mean):
        assert np.signbit(sums([-0.0, -0.0, -0.0], [1, 2, 2]).numpy()).tolist() == [False, True, False]
    assert not np.signbit(tf.math.unsorted_segment_sum([-0.0], [0], 1).numpy()).any()


def test_a_segment_of_infinity():
    assert tf.math.segment_min([np.inf], [0]).numpy() == np.inf
    assert tf.math.segment_max([-np.inf], [0]).numpy() == -np.inf
    assert tf.math.unsorted_segment_min([np.inf], [0], 1).numpy() == tf.float32.max  # it begins with the largest number


def test_extremes_of_segments_column_by_column():
    x = tf.constant([[1.0, NAN, 5.0], [2.0, 3.0, NAN], [NAN, 1.0, 1.0], [4.0, 2.0, 2.0]])
    want = [[2.0, 3.0, NAN], [4.0, 2.0, 2.0]]
    np.testing.assert_array_equal(tf.math.segment_max(x, [0, 0, 1, 1]).numpy(), want)
    np.testing.assert_array_equal(tf.math.unsorted_segment_max(x, [0, 0, 1, 1], 2).numpy(), want)
    np.testing.assert_array_equal(tf.math.unsorted_segment_max(x, [1, 0, 1, 0], 2).numpy(),
                                  [[4.0, 3.0, 2.0], [NAN, 1.0, 5.0]])  # fmt: skip


@pytest.mark.parametrize(
    ("data", "k", "want"),
    [
        ([1.0, NAN, 2.0], 2, [1, 2]),
        ([1.0, NAN, 2.0], 1, [2]),
        ([NAN, 1.0, 2.0, 3.0], 1, [3]),
        ([NAN, 1.0, 2.0, 3.0], 2, [0, 3]),
        ([1.0, 2.0, NAN, 0.0], 3, [1, 0, 2]),
        ([NAN, NAN, 1.0, 2.0, 5.0], 3, [0, 1, 4]),
        ([1.0, NAN, np.inf, -np.inf, 2.0], 2, [1, 2]),
        ([3.0, 1.0, NAN, 2.0, NAN, 7.0, 0.0, 5.0, NAN, 4.0], 4, [0, 3, 1, 2]),
        ([3.0, 1.0, NAN, 2.0, NAN, 7.0, 0.0, 5.0, NAN, 4.0], 9, [2, 4, 5, 7, 8, 9, 0, 3, 1]),
    ],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_largest(data, k, want, dtype):
    values, places = tf.math.top_k(tf.constant(data, dtype), k)
    assert places.numpy().tolist() == want
    np.testing.assert_array_equal(values.numpy().astype(float), np.array(data)[want])


def digest_of_the_largest(tf):
    """Of the places and gradients of 600 rows that hold NaN of both signs, in ties and among infinities; ``tf`` may be TensorFlow."""
    random, found = np.random.RandomState(1), hashlib.sha256()
    for turn in range(600):
        size = random.randint(1, 70) if turn % 20 else 1500
        row = random.randint(-4, 5, size).astype("f4") if turn % 2 else random.standard_normal(size).astype("f4")
        row[random.random_sample(size) < 0.1] = random.choice([np.inf, -np.inf, -0.0])
        hidden = random.random_sample(size) < random.choice([0.05, 0.5, 1.0])
        row[hidden] = np.copysign(NAN, random.standard_normal(hidden.sum()))
        row[random.randint(size)] = NAN
        k = int(random.choice([1, size, random.randint(size + 1)]))
        x = tf.constant(row)
        for ordered in (True, False):
            with tf.GradientTape() as tape:
                tape.watch(x)
                values, places = tf.math.top_k(x, k, sorted=ordered)
                y = tf.reduce_sum(values * tf.constant(np.arange(1, k + 1, dtype="f4")))
            found.update(places.numpy().tobytes() + values.numpy().tobytes() + tape.gradient(y, x).numpy().tobytes())
        found.update(tf.argsort(x).numpy().tobytes() + tf.sort(x, direction="DESCENDING").numpy().tobytes())
    return found.hexdigest()


def test_the_largest_of_many_rows_as_tensorflow_finds_them():
    assert digest_of_the_largest(tf) == "71f1d59a5c222d876b088ee7b99c886c97a877a3877d30cc66842aa8cc74a857"


def test_the_largest_of_rows_of_which_one_holds_a_nan():
    values, places = tf.math.top_k([[1.0, 5.0, 3.0], [1.0, NAN, 2.0]], 2)
    assert places.numpy().tolist() == [[1, 2], [1, 2]]
    np.testing.assert_array_equal(values.numpy(), [[5.0, 3.0], [NAN, 2.0]])
    assert tf.math.top_k([1.0, NAN, 2.0], 2, sorted=False)[1].numpy().tolist() == [2, 1]


def test_all_of_a_row_are_sorted_even_where_no_order_was_asked_for():
    assert tf.math.top_k([1.0, 3.0, 2.0], 3, sorted=False)[1].numpy().tolist() == [1, 2, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_running_totals_begin_with_zero(dtype):
    x = tf.constant([-0.0, -0.0], dtype)
    for options in ({}, {"reverse": True}, {"exclusive": True}):
        assert not np.signbit(tf.cumsum(x, **options).numpy()).any()
    assert np.signbit(tf.math.cumprod(tf.constant([-0.0], dtype)).numpy()).all()
