"""Complex numbers: parts, and gradients, which are conjugated as in TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads

Z = np.array([0.5 + 0.25j, -1.0 + 2.0j, 0.3 - 0.7j])
X, Y = Z.real.copy(), Z.imag.copy()


def test_parts():
    z = tf.constant(Z)
    assert np.array_equal(tf.math.real(z).numpy(), Z.real) and np.array_equal(tf.math.imag(z).numpy(), Z.imag)
    assert np.allclose(tf.abs(z).numpy(), np.abs(Z)) and np.allclose(tf.math.angle(z).numpy(), np.angle(Z))
    assert np.array_equal(tf.math.conj(z).numpy(), np.conj(Z))
    assert tf.complex(X, Y).dtype == tf.complex128 and np.array_equal(tf.complex(X, Y).numpy(), Z)
    assert tf.complex(tf.constant(1.0), tf.constant(2.0)).dtype == tf.complex64


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


def test_products_of_matrices():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(2, 2)) for _ in range(4)]

    def product(a, b, c, d):
        return tf.math.real(tf.matmul(tf.complex(a, b), tf.complex(c, d), adjoint_b=True))

    check_grads(product, parts)
    check_grads(lambda a, b, c, d: tf.math.imag(tf.einsum("ij,jk->ik", tf.complex(a, b), tf.complex(c, d))), parts)


def test_square_has_a_conjugated_gradient():
    z = tf.constant(3.0 + 4.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        w = z * z
    assert tape.gradient(w, z).numpy() == 6 - 8j


def test_parts_must_agree():
    with pytest.raises(TypeError, match="incorrect types: int32 int32"):
        tf.complex(1, 2)
