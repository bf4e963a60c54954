"""Keras layers: their values against NumPy, their weights and derivatives, and what Keras 3 does with variables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.check import check_grads

L = tf.keras.layers
QUICK = settings(max_examples=25, deadline=None, derandomize=True)
SIZES = st.integers(1, 4)


def data(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


# -- values ----------------------------------------------------------------------------------------


def convolved(x, kernel, stride):
    """Convolution without padding, written as sums over windows."""
    kh, kw = kernel.shape[:2]
    rows, columns = (x.shape[1] - kh) // stride + 1, (x.shape[2] - kw) // stride + 1
    out = np.zeros((x.shape[0], rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride : i * stride + kh, j * stride : j * stride + kw]
            out[:, i, j] = np.tensordot(window, kernel, axes=3)
    return out


@QUICK
@given(st.integers(1, 3), st.integers(1, 2), SIZES, SIZES)
def test_conv2d_sums_over_windows(size, stride, channels, filters):
    x = data(2, 5, 6, channels)
    layer = L.Conv2D(filters, size, strides=stride)
    y = layer(x)
    close(y, convolved(x, layer.kernel.numpy(), stride), 1e-4)
    assert tuple(y.shape) == tuple(layer.compute_output_shape(x.shape))


@pytest.mark.parametrize("layer, reduce", [("MaxPooling2D", np.max), ("AveragePooling2D", np.mean)])
def test_pooling_reduces_windows(layer, reduce):
    x = data(2, 4, 6, 3)
    blocks = x.reshape(2, 2, 2, 3, 2, 3)
    close(getattr(L, layer)(2)(x), reduce(blocks, axis=(2, 4)))


def test_lstm_steps_through_its_equations():
    x, units = data(2, 3, 4), 5
    layer = L.LSTM(units, return_sequences=True)
    y = layer(x).numpy()
    kernel, recurrent, bias = (v.numpy() for v in layer.weights)
    h = c = np.zeros((2, units))
    for t in range(3):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        close(y[:, t], h, 1e-4)
    close(bias, np.repeat([0, 1, 0, 0], units))  # the gate that forgets starts open


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer, shape",
    [
        (L.Dense(3, activation="tanh", dtype="float64"), (2, 4)),
        (L.Conv2D(2, 2, activation="softplus", dtype="float64"), (1, 4, 4, 2)),
        (L.AveragePooling2D(2, dtype="float64"), (1, 4, 4, 2)),
        (L.LayerNormalization(dtype="float64", epsilon=0.1), (2, 4)),
        (L.LSTM(2, dtype="float64"), (1, 2, 3)),
        (L.Activation("gelu", dtype="float64"), (2, 4)),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_layers_are_differentiable(layer, shape):
    check_grads(layer, [data(*shape).astype(np.float64)], order=1, modes=("rev",))


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "GlorotUniform",
        "GlorotNormal",
        "HeNormal",
        "HeUniform",
        "LecunNormal",
        "RandomNormal",
        "TruncatedNormal",
        "VarianceScaling",
        "Orthogonal",
    ],
)
def test_initializers_repeat_with_a_seed(name):
    make = getattr(tf.keras.initializers, name)
    a, b, c = (make(seed=s)((40, 30)).numpy() for s in (1, 1, 2))
    close(a, b)
    assert np.abs(a - c).max() > 1e-3


def test_a_call_that_is_a_tf_function_takes_what_the_layer_is_given():
    """Its signature is a method's, without ``self``: the layer's own ``build`` gets the shape of the first argument."""

    class Doubled(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones")

        @tf.function
        def call(self, x, training=False):
            return x * self.w * (1.0 if training else 2.0)

    layer = Doubled()
    assert layer(tf.ones([2, 3])).numpy().tolist() == [[2.0] * 3] * 2
    assert layer(tf.ones([2, 3]), training=True).numpy().tolist() == [[1.0] * 3] * 2
