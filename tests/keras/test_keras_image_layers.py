"""Layers for images: their values against NumPy, their derivatives, weights and configurations."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads

L = tf.keras.layers


def data(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def spread(x, kernel, stride):
    """Transposed convolution without padding: each pixel's share of the output, added up one by one."""
    n, h, w, _ = x.shape
    kh, kw, filters, _ = kernel.shape
    out = np.zeros((n, (h - 1) * stride + max(kh, stride), (w - 1) * stride + max(kw, stride), filters))
    for i in range(h):
        for j in range(w):
            share = np.einsum("nc,abfc->nabf", x[:, i, j], kernel)
            out[:, i * stride : i * stride + kh, j * stride : j * stride + kw] += share
    return out


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_transposed_convolution_adds_shares(size, stride):
    x = data(2, 3, 4, 2)
    layer = L.Conv2DTranspose(3, size, stride)
    y = layer(x)
    wanted = spread(x, layer.kernel.numpy(), stride)
    close(y, wanted, 1e-4)
    assert list(y.shape) == layer.compute_output_shape(x.shape)
    before = max(size - stride, 0) // 2  # "same" leaves out as much on both sides, at the end one more
    same = L.Conv2DTranspose(3, size, stride, "same")
    same.build(x.shape)
    same.set_weights(layer.get_weights())
    close(same(x), wanted[:, before : before + 3 * stride, before : before + 4 * stride], 1e-4)


def test_a_transposed_convolution_of_steps_is_one_of_a_single_row():
    x = data(2, 4, 3)
    layer = L.Conv1DTranspose(2, 3, 2)
    flat = L.Conv2DTranspose(2, (1, 3), (1, 2))
    flat.build((None, 1, 4, 3))
    layer(x)
    flat.set_weights([layer.kernel.numpy()[None], layer.bias.numpy()])
    close(layer(x), flat(x[:, None])[:, 0])


def test_layers_follow_each_other_in_a_function_of_unknown_batch_size():
    """What a run alone knows is asked for then, and the weights get their gradients all the same."""
    layers = [L.Dense(8), L.Reshape((2, 2, 2)), L.Conv2DTranspose(1, 2, 2), L.Flatten(), L.RepeatVector(2)]
    model = tf.keras.Sequential([tf.keras.Input((3,)), *layers])
    x = tf.constant(data(5, 3))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(x)))
        return tape.gradient(loss, model.trainable_variables)

    graph = tf.function(step, input_signature=[tf.TensorSpec([None, 3])])
    for found, wanted in zip(graph(x), step(x), strict=True):
        close(found, wanted, 1e-4)


ROUND = [
    (lambda: L.Conv2DTranspose(2, 3, strides=2, padding="same", output_padding=1, activation="relu"), (1, 4, 4, 2)),
    (lambda: L.Conv1DTranspose(2, 3, strides=2, use_bias=False, kernel_regularizer="l2"), (1, 4, 2)),
]


@pytest.mark.parametrize(("make", "shape"), ROUND, ids=lambda v: getattr(v, "name", ""))
def test_a_layer_comes_back_from_its_configuration_and_its_weights(make, shape, tmp_path):
    model = tf.keras.Sequential([tf.keras.Input(shape[1:]), make()])
    x = data(*shape)
    again = type(model.layers[0]).from_config(model.layers[0].get_config())
    assert again.get_config() == model.layers[0].get_config()
    model.save(tmp_path / "model.keras")
    close(tf.keras.models.load_model(tmp_path / "model.keras")(x), model(x))


DIFFERENTIABLE = [
    (lambda: L.Conv2DTranspose(2, 3, 2, "same", activation="softplus", dtype="float64"), (1, 3, 2, 2)),
    (lambda: L.Conv2DTranspose(1, 2, dilation_rate=2, dtype="float64"), (1, 3, 2, 2)),
]


@pytest.mark.parametrize(("make", "shape"), DIFFERENTIABLE)
def test_layers_are_differentiable(make, shape):
    check_grads(make(), [data(*shape).astype(np.float64)], order=2, modes=("rev",))
