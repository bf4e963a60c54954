"""Slices: every basic index of NumPy gives NumPy's result; TensorFlow's words for the others; gradients."""

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


def test_scalars_have_nothing_to_slice():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Attempting to slice scalar input."):
        tf.constant(1.0)[0]
