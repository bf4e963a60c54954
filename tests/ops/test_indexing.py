"""Slices: every basic index of NumPy gives NumPy's result; TensorFlow's words for the others; gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitape as tf

QUICK = settings(max_examples=150, deadline=None, derandomize=True)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


def numbered(shape):
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)


@st.composite
def cases(draw):
    """A shape and a basic index: integers, slices, an ellipsis, new axes."""
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True))


@QUICK
@given(cases())
def test_gradient_puts_the_adjoint_back(case):
    shape, index = case
    x = tf.constant(numbered(shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index]
    want = np.zeros(shape)
    want[index] += 1
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(-6, 6), st.integers(-6, 6), st.integers(-3, 3).filter(bool))
def test_tensors_as_bounds(start, stop, step):
    x = np.arange(5)
    found = tf.constant(x)[tf.constant(start) : tf.constant(stop, tf.int32) : tf.constant(step)]
    np.testing.assert_array_equal(found.numpy(), x[start:stop:step])


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (5, tf.errors.InvalidArgumentError, "slice index 5 of dimension 0 out of bounds."),
        (-4, tf.errors.InvalidArgumentError, "slice index -1 of dimension 0 out of bounds."),
        ([1, 4], tf.errors.InvalidArgumentError, "Index out of range using input dim 1; input has only 1 dims"),
        (slice(None, None, 0), tf.errors.InvalidArgumentError, r"strides\[0\] must be non-zero"),
        ((..., ...), tf.errors.InvalidArgumentError, "Multiple ellipses in slice spec not allowed"),
        (1.0, TypeError, "Only integers, slices"),
        ("a", TypeError, "got 'a'"),
        (np.array([0, 1]), TypeError, r"got array\(\[0, 1\]\)"),
        (True, ValueError, "mask cannot be scalar."),
        (np.array([True]), ValueError, r"Shapes \(3,\) and \(1,\) are incompatible"),
    ],
)
def test_refuses(index, error, message):
    with pytest.raises(error, match=message):
        tf.constant([1, 2, 3])[index]


def test_scalars_have_nothing_to_slice():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Attempting to slice scalar input."):
        tf.constant(1.0)[0]
