"""How images differ: from each other, and from pixel to pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.operands import static, strict, tensor_of
from ...engine.primitives import TABLE
from ...engine.tensor import Tensor
from ...ops.arrays import expand_dims, reshape, squeeze
from ...ops.casts import cast
from ...ops.elementwise import squared_difference
from ...ops.filling import zeros, zeros_like
from ...ops.joining import concat, pad, stack
from ...ops.reductions import reduce_mean, reduce_prod, reduce_sum
from ..nn.activations import relu
from ..nn.convolution import avg_pool2d, depthwise_conv2d
from .adjusting import convert_image_dtype


@strict
def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences between neighbouring pixels, without their signs: how noisy images are.

    One number for (height, width, channels), one for each image of a batch. Differentiable. Raises ValueError for
    another number of axes.

    >>> import minitape as tf
    >>> tf.image.total_variation(tf.constant([[[0.0], [1.0]], [[3.0], [1.0]]])).numpy()
    np.float32(6.0)
    """
    x = tensor_of(images)
    if x.shape.rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    axis = None if x.shape.rank == 3 else [1, 2, 3]
    down = x[..., 1:, :, :] - x[..., :-1, :, :]
    across = x[..., 1:, :] - x[..., :-1, :]
    return reduce_sum(abs(down), axis) + reduce_sum(abs(across), axis)


@strict
def image_gradients(image: Any) -> tuple[Any, Any]:
    """How much brighter the pixel below is, and the pixel to the right: two tensors of the image's shape; 0 at the end.

    ``image`` is (batch, height, width, channels). Differentiable. Raises ValueError for another number of axes.

    >>> import minitape as tf
    >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
    >>> dy.numpy().ravel(), dx.numpy().ravel()
    (array([2., 2., 0., 0.], dtype=float32), array([1., 0., 1., 0.], dtype=float32))
    """
    x = tensor_of(image)
    if x.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}.")
    n, height, width, depth = (int(size) for size in x.shape)
    down = concat([x[:, 1:] - x[:, :-1], zeros([n, 1, width, depth], x.dtype)], 1)
    across = concat([x[:, :, 1:] - x[:, :, :-1], zeros([n, height, 1, depth], x.dtype)], 2)
    return down, across


@strict
def sobel_edges(image: Any) -> Tensor:
    """The slopes of (batch, height, width, channels) from top to bottom and from left to right, along a new last axis.

    Each is a weighted difference over 3 x 3 pixels. Differentiable. Raises InvalidArgumentError for another number of axes
    and for images of one row or column.

    >>> import minitape as tf
    >>> tf.image.sobel_edges(tf.reshape(tf.range(9.0), [1, 3, 3, 1]))[0, 1, 1, 0].numpy()
    array([24.,  8.], dtype=float32)
    """
    x = tensor_of(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernels = np.stack([down, down.T], -1)[:, :, None]
    sizes = [int(n) for n in x.shape]
    filters = tensor_of(np.tile(kernels, (1, 1, sizes[-1], 1)).astype(x.dtype.as_numpy_dtype))
    padded = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    return reshape(depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID"), [*sizes, 2])


def _as_float32(a: Any, b: Any, max_val: Any) -> tuple[Any, ...]:
    """Two images and the width of their range, with integers scaled to floats."""
    return tuple(convert_image_dtype(v, dtypes.float32) for v in (a, b, cast(max_val, a.dtype)))


@strict
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two images in decibels, float32: infinite for equal ones.

    ``a`` and ``b`` are (..., height, width, channels), and the result has the axes before; ``max_val`` is the difference
    between the largest and the smallest possible value. Differentiable. Raises ValueError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.image.psnr(tf.zeros([2, 2, 1]), tf.fill([2, 2, 1], 0.1), 1.0).numpy().round(3)
    np.float32(20.0)
    """
    a, b, top = _as_float32(tensor_of(a), tensor_of(b), max_val)
    error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
    found = 20.0 * TABLE["log"](top) / np.float32(np.log(10.0)) - np.float32(10 / np.log(10)) * TABLE["log"](error)
    _check_alike(a, b)
    return found


def _check_alike(a: Any, b: Any) -> None:
    """ValueError unless two images have the same size, and batches that go together."""
    for x in (a, b):
        if x.shape.rank < 3:
            raise ValueError(f"Shape {x.shape} must have rank at least 3")
    if not a.shape[-3:].is_compatible_with(b.shape[-3:]):
        raise ValueError(f"Shapes {a.shape[-3:]} and {b.shape[-3:]} are incompatible")
    for m, n in zip(reversed(a.shape[:-3]), reversed(b.shape[:-3]), strict=False):
        if not (m == n or 1 in (m, n) or None in (m, n)):
            raise ValueError(f"Two images are not compatible: {a.shape} and {b.shape}")


def _gauss(size: int, sigma: float) -> Any:
    """Weights under a bell over size x size pixels, which sum to 1."""
    place = np.arange(size, dtype=np.float32) - np.float32(size - 1) / np.float32(2)
    power = place * place * (np.float32(-0.5) / np.float32(sigma) ** 2)
    weights = np.exp(power[:, None] + power)
    return (weights / weights.sum()).astype(np.float32)


@strict
def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
    k2: float = 0.03, return_index_map: bool = False,
) -> Tensor:  # fmt: skip
    """The structural similarity of two images, float32: 1 for equal ones.

    Means, variances and the covariance are taken under a bell of width ``filter_sigma`` over ``filter_size`` pixels; ``k1``
    and ``k2`` keep the quotients finite. The images are (..., height, width, channels), ``max_val`` is the difference
    between the largest and the smallest possible value. The result has the axes before the height, with
    ``return_index_map`` also one number for each window. Differentiable. Raises ValueError for shapes that do not fit,
    InvalidArgumentError for images that are smaller than the window, and a window without pixels.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(144.0) / 144.0, [12, 12, 1])
    >>> tf.image.ssim(image, image, 1.0).numpy()
    np.float32(1.0)
    """
    a, b = tensor_of(img1), tensor_of(img2)
    _check_alike(a, b)
    a, b, top = _as_float32(a, b, max_val)
    index, _ = _similarity(a, b, top, int(static(filter_size)), filter_sigma, k1, k2)
    return reduce_mean(index if return_index_map else reduce_mean(index, [-3, -2]), [-1])


@strict
def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """The structural similarity of two images over several scales, float32: 1 for equal ones. Differentiable.

    For each of the ``power_factors`` the images are compared as in ``ssim``, then halved; the contrasts of all scales and
    the similarity of the last one are multiplied, each to its power. The other arguments and the errors are those of
    ``ssim``.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(1024.0) / 1024.0, [32, 32, 1])
    >>> tf.image.ssim_multiscale(image, image, 1.0, power_factors=[0.5, 0.5]).numpy()
    np.float32(1.0)
    """
    a, b = tensor_of(img1), tensor_of(img2)
    _check_alike(a, b)
    a, b, top = _as_float32(a, b, max_val)
    found: list[Any] = []
    for k in range(len(power_factors)):
        if k:
            a, b = _halved(a), _halved(b)
        parts = _similarity(a, b, top, int(static(filter_size)), filter_sigma, k1, k2)
        index, contrast = (relu(reduce_mean(part, [-3, -2])) for part in parts)
        found.append(contrast)
    scales = stack([*found[:-1], index], axis=-1)
    return reduce_mean(reduce_prod(scales ** tensor_of(power_factors, scales.dtype), [-1]), [-1])


def _halved(images: Any) -> Any:
    """Images in half their size; an odd row or column is repeated first."""
    sizes = tuple(images.shape)
    flat = reshape(images, [-1, *sizes[-3:]])
    if sizes[-3] % 2 or sizes[-2] % 2:
        flat = pad(flat, [[0, 0], [0, sizes[-3] % 2], [0, sizes[-2] % 2], [0, 0]], "SYMMETRIC")
    small = avg_pool2d(flat, 2, 2, "VALID")
    return reshape(small, [*sizes[:-3], *tuple(small.shape)[1:]])


def _for_each_channel(bell: Any, images: Any) -> Any:
    """The weights of one channel for as many as the images have, which a graph need not know."""
    none = reduce_sum(zeros_like(images), range(images.shape.rank - 1))
    return tensor_of(bell[:, :, None, None]) + reshape(none, [1, 1, -1, 1])


def _blurred(x: Any, bell: Any) -> Any:
    """The weighted means over all windows of the images."""
    if x.shape.rank == 3:
        return squeeze(_blurred(expand_dims(x, 0), bell), 0)
    if x.shape.rank == 4:
        return depthwise_conv2d(x, bell, [1, 1, 1, 1], "VALID")
    sizes = tuple(x.shape)
    out = _blurred(reshape(x, [-1, *sizes[-3:]]), bell)
    return reshape(out, [*sizes[:-3], *tuple(out.shape)[1:]])


def _similarity(a: Any, b: Any, top: Any, size: int, sigma: Any, k1: float, k2: float) -> tuple[Any, Any]:
    """For each window and channel the index, and the part of it that contrast and structure have."""
    if size < 1:
        raise invalid(
            "filter must not have zero elements (i.e. all dimensions must be non-zero)", "DepthwiseConv2dNative"
        )
    for x in (a, b):
        if any(n is not None and n < size for n in x.shape[-3:-1]):
            raise invalid("Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. "
                          f"Summarized data: {', '.join(map(str, x.shape))}\n{size}")  # fmt: skip
    c1, c2 = (k1 * top) ** 2, (k2 * top) ** 2
    bell = _for_each_channel(_gauss(size, static(sigma)), a)
    mean_a, mean_b = _blurred(a, bell), _blurred(b, bell)
    product, squares = mean_a * mean_b * 2.0, mean_a * mean_a + mean_b * mean_b
    luminance = (product + c1) / (squares + c1)
    covariance = _blurred(a * b, bell) * 2.0 - product + c2
    spread = _blurred(a * a + b * b, bell) - squares + c2
    return luminance * (covariance / spread), covariance / spread
