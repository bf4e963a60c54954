"""NaN is not hidden where TensorFlow shows it. The expected values are those of TensorFlow 2.21."""

import numpy as np
import pytest

import minitape as tf

NAN = float("nan")
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


def test_a_row_that_is_alone_in_its_segment_keeps_the_sign_of_its_zeros():
    for sums in (tf.math.segment_sum, tf.math.segment_mean):
        assert np.signbit(sums([-0.0, -0.0, -0.0], [1, 2, 2]).numpy()).tolist() == [False, True, False]
    assert not np.signbit(tf.math.unsorted_segment_sum([-0.0], [0], 1).numpy()).any()


def test_a_segment_of_infinity():
    assert tf.math.segment_min([np.inf], [0]).numpy() == np.inf
    assert tf.math.segment_max([-np.inf], [0]).numpy() == -np.inf
    assert tf.math.unsorted_segment_min([np.inf], [0], 1).numpy() == tf.float32.max  # it begins with the largest number


def test_all_of_a_row_are_sorted_even_where_no_order_was_asked_for():
    assert tf.math.top_k([1.0, 3.0, 2.0], 3, sorted=False)[1].numpy().tolist() == [1, 2, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_running_totals_begin_with_zero(dtype):
    x = tf.constant([-0.0, -0.0], dtype)
    for options in ({}, {"reverse": True}, {"exclusive": True}):
        assert not np.signbit(tf.cumsum(x, **options).numpy()).any()
    assert np.signbit(tf.math.cumprod(tf.constant([-0.0], dtype)).numpy()).all()
