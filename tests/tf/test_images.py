"""``tf.image``: values against NumPy, derivatives against finite differences, and functions of open shapes."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads
from minitape.engine.primitives.resizing import KERNELS

METHODS = sorted(value for name, value in vars(tf.image.ResizeMethod).items() if name.isupper())


def data(*shape):
    return np.random.default_rng(0).random(shape)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def interpolated(row, size):
    """A row of pixels read off the line through their centres."""
    n = len(row)
    return np.interp((np.arange(size) + 0.5) * n / size - 0.5, np.arange(n), row)


@pytest.mark.parametrize("size", [1, 3, 5, 8])
def test_bilinear_reads_off_the_line_between_centres(size):
    row = data(5)
    close(tf.image.resize(row.reshape(1, 5, 1), [1, size]).numpy().ravel(), interpolated(row, size))
    close(tf.image.resize(row.reshape(5, 1, 1), [size, 1]).numpy().ravel(), interpolated(row, size))


def test_nearest_and_area_by_hand():
    x = tf.reshape(tf.range(16.0), [4, 4, 1])
    close(tf.image.resize(x, [2, 2], "nearest")[..., 0], [[5, 7], [13, 15]])
    close(tf.image.resize(x, [2, 2], "area")[..., 0], [[2.5, 4.5], [10.5, 12.5]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_every_method_keeps_a_single_colour(method, antialias):
    for size in ([3, 9], [7, 2]):
        close(
            tf.image.resize(tf.fill([1, 6, 5, 2], 0.5), size, method, antialias=antialias), np.full((1, *size, 2), 0.5)
        )


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_kernels_reach_no_farther_than_they_say(kernel):
    radius, weigh = KERNELS[kernel]
    inside, outside = weigh(np.linspace(0, radius - 0.01, 50)), weigh(np.linspace(radius + 1e-6, radius + 3, 50))
    assert inside[0] > 0 and np.abs(outside).max() < 1e-6


def test_second_derivatives_end_at_a_resize():
    """As in TensorFlow: None after the bilinear one, refused after the others."""
    x = tf.constant(data(1, 3, 3, 1), tf.float32)

    def second(method):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.image.resize(x, [5, 5], method) ** 3)
            g = tape.gradient(y, x)
        return outer.gradient(g, x)

    assert second("bilinear") is None
    with pytest.raises(LookupError, match="gradient registry has no entry for: ResizeBicubicGrad"):
        second("bicubic")


FUNCTIONS = {
    "flips": lambda x: tf.image.flip_up_down(tf.image.flip_left_right(x)),
    "turns": lambda x: tf.image.rot90(tf.image.transpose(x), 3),
    "parts": lambda x: tf.image.central_crop(tf.image.resize_with_crop_or_pad(x, 4, 8), 0.5),
    "boxes": lambda x: tf.image.crop_to_bounding_box(tf.image.pad_to_bounding_box(x, 1, 2, 9, 9), 2, 2, 4, 5),
    "standardization": tf.image.per_image_standardization,
    "gray": lambda x: tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(x)),
    "variation": tf.image.total_variation,
    "resize": lambda x: tf.image.resize(x, [3, 7], "bicubic"),
    "resize_with_pad": lambda x: tf.image.resize_with_pad(x, 6, 3),
    "ssim": lambda x: tf.image.ssim(x, tf.image.flip_up_down(x), 1.0, filter_size=5),
    "psnr": lambda x: tf.image.psnr(x, tf.zeros_like(x), 1.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_open_shapes_gives_the_same_gradient(name):
    x = tf.constant(data(2, 5, 6, 3), tf.float32)

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = FUNCTIONS[name](x)
            z = tf.reduce_sum(y * y)
        return y, tape.gradient(z, x)

    graph = tf.function(run, input_signature=[tf.TensorSpec([None, None, None, None])])
    for found, wanted in zip(graph(x), run(x), strict=True):
        close(found, wanted, 1e-4)


@pytest.mark.parametrize("name", ["flips", "turns", "parts", "boxes", "variation", "sobel", "slopes"])
def test_functions_are_differentiable(name):
    more = {"sobel": tf.image.sobel_edges, "slopes": lambda x: tf.concat(tf.image.image_gradients(x), 0)}
    check_grads({**FUNCTIONS, **more}[name], [data(1, 5, 6, 2)], order=1, modes=("rev",))


def test_likeness_of_equal_and_of_unlike_images():
    x = tf.constant(data(12, 12, 2), tf.float32)
    assert float(tf.image.ssim(x, x, 1.0)) == pytest.approx(1, abs=1e-6)
    assert float(tf.image.ssim(x, 1 - x, 1.0)) < 0.2
    assert float(tf.image.psnr(x, x + 0.1, 1.0)) == pytest.approx(20, abs=1e-3)
    with pytest.raises(ValueError, match="are incompatible"):
        tf.image.ssim(x, x[:11], 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="to be true"):
        tf.image.ssim(x[:5], x[:5], 1.0)


@pytest.mark.parametrize("open_shape", [[None, None, None, 3], [None, None, 3], [None, 14, 13, 3], [None] * 4])
def test_likeness_in_a_function_of_open_shapes(open_shape):
    shape = (2, 14, 13, 3)[-len(open_shape) :]
    a, b = tf.constant(data(*shape), tf.float32), tf.constant(1 - data(*shape) ** 2, tf.float32)

    def run(a, b):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.image.ssim(a, b, 1.0)
        return y, tape.gradient(y, a)

    graph = tf.function(run, input_signature=[tf.TensorSpec(open_shape)] * 2)
    for found, wanted in zip(graph(a, b), run(a, b), strict=True):
        close(found, wanted)


def test_ranges_are_scaled_with_the_dtype():
    x = tf.constant([0, 51, 255], tf.uint8)
    close(tf.image.convert_image_dtype(x, tf.float32), [0, 0.2, 1])
    assert tf.image.convert_image_dtype(x, tf.uint16).numpy().tolist() == [0, 51 * 256, 255 * 256]
    assert tf.image.convert_image_dtype([-1.0, 2.0], tf.uint8, saturate=True).numpy().tolist() == [0, 255]
    with pytest.raises(AttributeError, match="dtype must be either floating point or integer"):
        tf.image.convert_image_dtype(x, tf.bool)
