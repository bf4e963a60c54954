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


def test_upsampling_repeats_or_interpolates():
    x = data(2, 3, 4, 2)
    close(L.UpSampling2D((2, 3))(x), x.repeat(2, 1).repeat(3, 2))
    close(L.UpSampling2D(2, data_format="channels_first")(x), x.repeat(2, 2).repeat(2, 3))
    ramp = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    inner = np.clip((np.arange(8) + 0.5) / 2 - 0.5, 0, 3)  # a ramp stays a ramp between the outer pixels' centres
    close(L.UpSampling2D((1, 2), interpolation="bilinear")(ramp), inner.reshape(1, 1, 8, 1))
    close(L.UpSampling1D(3)(x[0]), x[0].repeat(3, 1))


@pytest.mark.parametrize("given", [2, (1, 2), ((1, 0), (0, 2))])
def test_cropping_undoes_padding(given):
    x = data(2, 3, 4, 2)
    for data_format in ("channels_last", "channels_first"):
        padded = L.ZeroPadding2D(given, data_format)(x)
        close(L.Cropping2D(given, data_format)(padded), x)
        assert float(tf.reduce_sum(tf.abs(padded))) == pytest.approx(np.abs(x).sum(), rel=1e-5)
    close(L.Cropping1D((2, 1))(L.ZeroPadding1D((2, 1))(x[0])), x[0])


def test_what_is_cut_away_is_refused():
    with pytest.raises(ValueError, match="Values in `cropping` argument should be smaller"):
        L.Cropping2D(2)(tf.ones([1, 4, 5, 1]))
    with pytest.raises(ValueError, match="`cropping` parameter of `Cropping1D` layer must be smaller"):
        L.Cropping1D(2).compute_output_shape((None, 4, 1))
    with pytest.raises(ValueError, match="`padding` should have two elements"):
        L.ZeroPadding2D((1, 2, 3))


def test_a_depthwise_convolution_is_one_for_each_channel():
    x = data(2, 5, 5, 3)
    layer = L.DepthwiseConv2D(3, 2, "same", depth_multiplier=2, bias_initializer="ones")
    y = layer(x)
    for channel in range(3):
        own = layer.kernel[:, :, channel : channel + 1]
        close(
            y[..., 2 * channel : 2 * channel + 2], 1 + tf.nn.conv2d(x[..., channel : channel + 1], own, 2, "SAME"), 1e-4
        )


def test_a_separable_convolution_mixes_a_depthwise_one():
    x = data(2, 5, 5, 3)
    layer = L.SeparableConv2D(4, 2, dilation_rate=2)
    y = layer(x)
    deep = tf.nn.depthwise_conv2d(x, layer.depthwise_kernel, [1, 1, 1, 1], "VALID", dilations=[2, 2])
    close(y, deep.numpy() @ layer.pointwise_kernel.numpy()[0, 0], 1e-4)
    assert [w.name for w in layer.weights] == ["depthwise_kernel", "pointwise_kernel", "bias"]


def test_prelu_has_a_slope_for_each_feature_but_along_shared_axes():
    x = data(2, 3, 4)
    layer = L.PReLU("ones", shared_axes=1)
    layer.build(x.shape)
    layer.alpha.assign(tf.reshape(tf.range(4.0), [1, 4]))
    close(layer(x), np.where(x > 0, x, x * np.arange(4)))
    with pytest.raises(ValueError, match="expected axis 2 of input shape to have value 4"):
        layer(tf.ones([2, 3, 5]))


def test_resizing_cuts_or_pads_to_the_proportions():
    x = np.ones((1, 2, 4, 1), np.float32)
    x[:, :, [0, 3]] = 5
    close(L.Resizing(2, 2, crop_to_aspect_ratio=True)(x), np.ones((1, 2, 2, 1)))
    padded = L.Resizing(4, 4, "nearest", pad_to_aspect_ratio=True, fill_value=7.0)(x)
    close(padded[0, :, 0, 0], [7, 5, 5, 7])
    whole = L.Resizing(1, 1)(tf.constant([[[[1], [2]]]]))
    assert whole.dtype == tf.int32 and whole.numpy().item() == 2  # 1.5, rounded to even
    close(L.CenterCrop(2, 2)(x), np.ones((1, 2, 2, 1)))
    with pytest.raises(ValueError, match="Resizing takes images"):
        L.Resizing(1, 1)({"images": tf.ones([1, 2, 2, 1])})


ROUND = [
    (lambda: L.DepthwiseConv2D(2, depth_multiplier=2, depthwise_regularizer="l2"), (1, 4, 4, 2)),
    (lambda: L.SeparableConv2D(3, 2, pointwise_constraint="unit_norm"), (1, 4, 4, 2)),
    (lambda: L.PReLU("ones", shared_axes=[1, 2]), (1, 4, 4, 2)),
    (lambda: L.UpSampling2D(2, interpolation="bilinear"), (1, 2, 2, 2)),
    (lambda: L.UpSampling1D(3), (1, 2, 2)),
    (lambda: L.ZeroPadding2D(((1, 0), (0, 2))), (1, 2, 2, 2)),
    (lambda: L.ZeroPadding1D(2), (1, 2, 2)),
    (lambda: L.Cropping2D(((1, 0), (0, 1))), (1, 2, 2, 2)),
    (lambda: L.Cropping1D((0, 1)), (1, 2, 2)),
    (lambda: L.Resizing(3, 2, "nearest"), (1, 2, 2, 2)),
    (lambda: L.CenterCrop(1, 2), (1, 2, 2, 2)),
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
    (lambda: L.DepthwiseConv2D(2, activation="softplus", dtype="float64"), (1, 3, 3, 2)),
    (lambda: L.SeparableConv2D(2, 2, 2, "same", activation="softplus", dtype="float64"), (1, 3, 3, 2)),
    (lambda: L.PReLU("ones", dtype="float64"), (2, 3)),
    (lambda: L.UpSampling2D(2, dtype="float64"), (1, 2, 2, 1)),
    (lambda: L.Conv2DTranspose(2, 3, 2, "same", activation="softplus", dtype="float64"), (1, 3, 2, 2)),
    (lambda: L.Conv2DTranspose(1, 2, dilation_rate=2, dtype="float64"), (1, 3, 2, 2)),
]


@pytest.mark.parametrize(("make", "shape"), DIFFERENTIABLE)
def test_layers_are_differentiable(make, shape):
    check_grads(make(), [data(*shape).astype(np.float64)], order=2, modes=("rev",))
