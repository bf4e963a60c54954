"""Complex numbers: parts, and gradients, which are conjugated as in TensorFlow."""

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads

Z = np.array([0.5 + 0.25j, -1.0 + 2.0j, 0.3 - 0.7j])
X, Y = Z.real.copy(), Z.imag.copy()


@pytest.mark.parametrize(
    "name", ["exp", "log", "sin", "cos", "tanh", "sqrt", "square", "reciprocal", "sigmoid", "sinh", "atan"]
)
def test_analytic_functions_through_their_parts(name):
    """Written over the two real parts, every function has real derivatives that finite differences can check."""
    function = getattr(tf.math, name)
    check_grads(lambda x, y: tf.math.real(function(tf.complex(x, y))), [X, Y])
    check_grads(lambda x, y: tf.math.imag(function(tf.complex(x, y))), [X, Y])


@pytest.mark.parametrize(
    "function", [tf.abs, tf.math.angle, lambda z: tf.math.real(tf.math.conj(z) * z)], ids=["abs", "angle", "norm"]
)
def test_real_functions_of_complex_numbers(function):
    check_grads(lambda x, y: function(tf.complex(x, y)), [X, Y])


def test_parts_must_agree():
    with pytest.raises(TypeError, match="incorrect types: int32 int32"):
        tf.complex(1, 2)
