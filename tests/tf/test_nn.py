"""Neural network functions against plain references, and their gradients against finite differences."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import minitape as tf
from minitape.check import check_grads

RNG = np.random.default_rng(11)
X = RNG.normal(size=(3, 4))
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "selu": lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
    "gelu": lambda x: x * scipy.special.ndtr(x),
    "silu": lambda x: x * scipy.special.expit(x),
    "leaky_relu": lambda x: np.where(x < 0, 0.2 * x, x),
    "crelu": lambda x: np.maximum(np.concatenate([x, -x], -1), 0),
    "softmax": lambda x: scipy.special.softmax(x, -1),
    "log_softmax": lambda x: scipy.special.log_softmax(x, -1),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    f = getattr(tf.nn, name)
    for x in (X, X[0], 3 * X, np.zeros((0, 4))):
        assert np.allclose(f(x).numpy(), ACTIVATIONS[name](x))
        assert np.allclose(f(x.astype(np.float32)).numpy(), ACTIVATIONS[name](x), atol=1e-5)
    check_grads(f, [X])


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_softmax_axes(axis):
    assert np.allclose(tf.nn.softmax(X, axis).numpy(), scipy.special.softmax(X, axis))
    check_grads(lambda x: tf.nn.log_softmax(x, axis), [X])


def test_cross_entropies():
    labels, classes = RNG.dirichlet(np.ones(4), 3), np.array([0, 3, 1])
    want = -np.sum(labels * scipy.special.log_softmax(X, -1), -1)
    assert np.allclose(tf.nn.softmax_cross_entropy_with_logits(labels, X).numpy(), want)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(classes, X).numpy()
    assert np.allclose(sparse, -scipy.special.log_softmax(X, -1)[np.arange(3), classes])
    check_grads(lambda x: tf.nn.softmax_cross_entropy_with_logits(labels, x), [X])
    check_grads(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(classes, x), [X])
    p = RNG.random((3, 4))
    want = -p * np.log(scipy.special.expit(X)) - (1 - p) * np.log(scipy.special.expit(-X))
    assert np.allclose(tf.nn.sigmoid_cross_entropy_with_logits(p, X).numpy(), want)
    check_grads(lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(y, x), [p, X])


def test_normalisation():
    mean, variance = tf.nn.moments(tf.constant(X), [0])
    assert np.allclose(mean.numpy(), X.mean(0)) and np.allclose(variance.numpy(), X.var(0))
    y = tf.nn.batch_normalization(X, mean, variance, 1.0, 2.0, 0.0).numpy()
    assert np.allclose(y, (X - X.mean(0)) / X.std(0) * 2 + 1)
    check_grads(lambda x: tf.nn.moments(x, [0])[1], [X], order=1)
    assert np.allclose(tf.nn.l2_normalize(X, 1).numpy(), X / np.linalg.norm(X, axis=1, keepdims=True))
    check_grads(lambda x: tf.nn.l2_normalize(x, 1), [X])
    check_grads(lambda x, b: tf.nn.bias_add(x, b) ** 2, [X, X[0]])


def naive_conv(x, k, stride, padding):
    """The definition, by NumPy's windows."""
    kh, kw = k.shape[:2]
    if padding == "SAME":
        pads = [(0, 0)]
        for n, size in zip(x.shape[1:3], (kh, kw), strict=True):
            total = max(0, (-(-n // stride) - 1) * stride + size - n)
            pads.append((total // 2, total - total // 2))
        x = np.pad(x, [*pads, (0, 0)])
    windows = sliding_window_view(x, (kh, kw), axis=(1, 2))[:, ::stride, ::stride]
    return np.einsum("nhwcij,ijco->nhwo", windows, k)


@settings(max_examples=20, deadline=None)
@given(
    size=st.tuples(st.integers(3, 5), st.integers(3, 5)),
    window=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    channels=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    stride=st.integers(1, 2),
    padding=st.sampled_from(["SAME", "VALID"]),
)
def test_conv2d(size, window, channels, stride, padding):
    x, k = RNG.normal(size=(2, *size, channels[0])), RNG.normal(size=(*window, *channels))
    assert np.allclose(tf.nn.conv2d(x, k, stride, padding).numpy(), naive_conv(x, k, stride, padding))


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 0], [0, 2], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_convolution(padding, stride):
    x, k = RNG.normal(size=(1, 4, 3, 2)), RNG.normal(size=(2, 2, 2, 2))
    check_grads(lambda a, b: tf.nn.conv2d(a, b, stride, padding), [x, k])
    if not isinstance(padding, list):
        check_grads(lambda a: tf.nn.avg_pool2d(a, 2, stride, padding), [x])
        spread = RNG.permutation(24).reshape(1, 4, 3, 2).astype(float)
        check_grads(lambda a: tf.nn.max_pool2d(a, 2, stride, padding), [spread])


def test_filters_of_a_part_of_the_channels_are_refused():
    with pytest.raises(tf.errors.UnimplementedError, match="minitape's conv2d has no groups"):
        tf.nn.conv2d(np.ones([1, 4, 4, 4]), np.ones([2, 2, 2, 6]), 1, "SAME")


def test_pooling():
    x = RNG.normal(size=(1, 4, 4, 1))
    blocks = x.reshape(2, 2, 2, 2).swapaxes(1, 2)
    assert np.allclose(tf.nn.max_pool2d(x, 2, 2, "VALID").numpy().reshape(2, 2), blocks.max((2, 3)))
    assert np.allclose(tf.nn.avg_pool2d(x, 2, 2, "VALID").numpy().reshape(2, 2), blocks.mean((2, 3)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have 2 spatial dimensions"):
        tf.nn.avg_pool2d(x[..., 0], 2, 2, "VALID")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride"), [(3, 1), (4, 4), (11, 1), (16, 16), (3, 5)])
def test_windows_over_open_sizes_leave_open_sizes(size, stride, padding):
    """However far the windows reach or lie apart, a graph does not take the number that fits into its guesses for
    all.
    """
    kernel = tf.ones([size, size, 3, 2])
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
    def f(x):
        found = tf.nn.conv2d(x, kernel, stride, padding), tf.nn.avg_pool2d(x, size, stride, padding)
        shapes.extend(y.shape.as_list() for y in found)
        return found

    for y in f(tf.ones([1, 40, 40, 3])):
        assert y.shape[1] == (-(-40 // stride) if padding == "SAME" else (40 - size) // stride + 1)
    assert shapes == [[None, None, None, 2], [None, None, None, 3]]
