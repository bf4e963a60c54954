"""Colours and ranges of values; most adjustments have no gradient, as in TensorFlow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid, shown
from ...engine.operands import strict, tensor_of, worded
from ...engine.operation import apply
from ...engine.primitives import TABLE, declare
from ...engine.tensor import Tensor
from ...ops.arrays import expand_dims, identity
from ...ops.casts import cast, saturate_cast
from ...ops.joining import tile
from ...ops.reductions import reduce_mean, reduce_std, reduce_sum
from ..linalg.products import tensordot
from .cropping import at_least_3d


def _contrast(images: Any, factor: Any) -> Any:
    mean = np.mean(images, axis=(-3, -2), keepdims=True, dtype=images.dtype)
    return ((images - mean) * factor + mean).astype(images.dtype)


declare("adjust_contrast", _contrast, None, op="AdjustContrastv2", missing="unregistered", keep="")


def _to_hsv(rgb: Any) -> tuple[Any, Any, Any]:
    """Hue in sixths of a turn, saturation and value of colours along the last axis."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high = np.max(rgb, axis=-1)
    span = high - np.min(rgb, axis=-1)
    safe = np.where(span > 0, span, 1).astype(rgb.dtype)
    hue = np.select([span <= 0, high == r, high == g], [np.zeros_like(high), (g - b) / safe % 6, (b - r) / safe + 2],
                    (r - g) / safe + 4)  # fmt: skip
    return hue, np.where(high > 0, span / np.where(high > 0, high, 1), 0).astype(rgb.dtype), high


def _from_hsv(hue: Any, saturation: Any, value: Any) -> Any:
    parts = [np.clip(np.abs((hue + shift) % 6 - 3) - 1, 0, 1) for shift in (0, 4, 2)]
    return np.stack([value * (1 - saturation * (1 - p)) for p in parts], axis=-1).astype(value.dtype)


def _saturated(images: Any, scale: Any) -> Any:
    hue, saturation, value = _to_hsv(images)
    return _from_hsv(hue, np.clip(saturation * scale, 0, 1).astype(images.dtype), value)


def _turned(images: Any, delta: Any) -> Any:
    hue, saturation, value = _to_hsv(images)
    return _from_hsv((hue + delta * 6) % 6, saturation, value)


declare("adjust_saturation", _saturated, None, op="AdjustSaturation", missing="unregistered", keep="")
declare("adjust_hue", _turned, None, op="AdjustHue", missing="unregistered", keep="")


def as_floats(images: Any) -> Any:
    """Integer images count from 0 to their largest value, floats from 0 to 1."""
    return images if images.dtype.is_floating else convert_image_dtype(images, dtypes.float32)


def in_dtype(images: Any, dtype: Any) -> Any:
    """Images in another dtype, with the same meaning."""
    return convert_image_dtype(images, dtype, saturate=True)


@strict
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """``image`` in another dtype, its range scaled along: floats count from 0 to 1, integers to their largest value.

    Between integers values are multiplied or divided by whole numbers. Values that do not fit wrap around, or with
    ``saturate`` stay at the end of the range. Differentiable between floats. Raises AttributeError for dtypes that are not
    numbers.

    >>> import minitape as tf
    >>> tf.image.convert_image_dtype(tf.constant([0, 51, 255], tf.uint8), tf.float32).numpy().round(3).tolist()
    [0.0, 0.20000000298023224, 1.0]
    >>> tf.image.convert_image_dtype([0.0, 0.2, 1.0], tf.uint8).numpy().tolist()
    [0, 51, 255]
    """
    x, kind = tensor_of(image), dtypes.as_dtype(dtype)
    for what, given in (("dtype", kind), ("image dtype", x.dtype)):
        if not (given.is_floating or given.is_integer):
            raise AttributeError(f"{what} must be either floating point or integer")
    if kind == x.dtype:
        return identity(x)
    if x.dtype.is_floating and kind.is_floating:
        return cast(x, kind)
    if kind.is_floating:
        return cast(x, kind) * (1.0 / x.dtype.max)
    fit = saturate_cast if saturate else cast
    if x.dtype.is_floating:
        return fit(x * (kind.max + 0.5), kind)
    if x.dtype.max > kind.max:
        return fit(x // ((x.dtype.max + 1) // (kind.max + 1)), kind)
    return fit(x, kind) * ((kind.max + 1) // (x.dtype.max + 1))


@strict
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of colours (the last axis: red, green, blue), with a last axis of size 1 and the same dtype.

    Differentiable for float images. Raises InvalidArgumentError when the last axis has not size 3.

    >>> import minitape as tf
    >>> tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]).numpy().round(4).tolist()
    [[[0.2989000082015991], [0.9998999834060669]]]
    """
    x = tensor_of(images)
    floats, weights = convert_image_dtype(x, dtypes.float32), tensor_of([0.2989, 0.587, 0.114])
    known = x.shape.is_fully_defined()
    gray = tensordot(floats, weights, [-1, -1]) if known else reduce_sum(floats * weights, -1)
    return convert_image_dtype(expand_dims(gray, -1), x.dtype)


@strict
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Images with one channel as images with three that are equal. Differentiable for float images.

    Raises ValueError unless there are two axes or more and the last one has size 1.

    >>> import minitape as tf
    >>> tf.image.grayscale_to_rgb([[[0.5]]]).numpy().tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    x = tensor_of(images)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"A grayscale image (shape {x.shape}) must be at least two-dimensional.")
    if x.shape[-1] not in (1, None):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return tile(x, [1] * (x.shape.rank - 1) + [3])


@strict
def per_image_standardization(image: Any) -> Tensor:
    """Each image with mean 0 and variance 1, as float32; an image of one colour becomes 0.

    ``image`` is (..., height, width, channels). Differentiable. Raises ValueError for fewer than three axes, or an empty
    image.

    >>> import minitape as tf
    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    x = cast(at_least_3d(image), dtypes.float32)
    count = np.float32(math.prod(int(n) for n in tuple(x.shape)[-3:]))
    mean, spread = (reduce(x, axis=[-1, -2, -3], keepdims=True) for reduce in (reduce_mean, reduce_std))
    return (x - mean) / TABLE["maximum"](spread, tensor_of(np.float32(1) / np.sqrt(count)))


@worded
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Scales each channel's distance from its mean over the image by ``contrast_factor``.

    ``images`` has at least three axes: (..., height, width, channels); the result has its shape and dtype. No gradient
    is registered for it: asking for one raises LookupError. Raises InvalidArgumentError for fewer than three axes, and
    unless ``contrast_factor`` is a scalar.

    >>> import minitape as tf
    >>> tf.image.adjust_contrast([[[0.5], [1.0]]], 2.0).numpy().tolist()
    [[[0.25], [1.25]]]
    """
    given = tensor_of(images)
    if given.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{shown(given.shape)}", "AdjustContrastv2")
    return _changed("adjust_contrast", given, contrast_factor, "contrast_factor")


@worded
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Scales the saturation of the colours (the last axis: red, green, blue) by ``saturation_factor``.

    No gradient is registered for it: asking for one raises LookupError.

    >>> import minitape as tf
    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    return _recoloured("adjust_saturation", image, saturation_factor, "scale")


@worded
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Turns the hue of the colours (the last axis: red, green, blue) by ``delta`` turns, between -1 and 1.

    No gradient is registered for it: asking for one raises LookupError. Raises ValueError for another number.

    >>> import minitape as tf
    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _recoloured("adjust_hue", image, delta, "delta")


def _recoloured(name: str, image: Any, amount: Any, argument: str) -> Any:
    given = tensor_of(image)
    if given.ndim < 3 or given.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {given.shape[-1] if given.ndim else 0} channels.",
                      TABLE[name].op)  # fmt: skip
    return _changed(name, given, amount, argument)


def _changed(name: str, given: Any, amount: Any, argument: str) -> Any:
    """Applies a primitive that works on float32 images, by a scalar amount, to images of any type."""
    scale = cast(tensor_of(amount, dtypes.float32), dtypes.float32)
    if scale.shape.rank:
        raise invalid(f"{argument} must be scalar: {shown(scale.shape)}", TABLE[name].op)
    floats = cast(as_floats(given), dtypes.float32)
    return in_dtype(apply(TABLE[name], (floats, scale), {}), given.dtype)


@worded
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Adds ``delta`` to every pixel; the result has the shape and dtype of ``image``. Differentiable for float images.

    >>> import minitape as tf
    >>> tf.image.adjust_brightness([[[0.5]]], 0.25).numpy().tolist()
    [[[0.75]]]
    """
    given = tensor_of(image)
    floats = as_floats(given)
    return in_dtype(floats + cast(tensor_of(delta), floats.dtype), given.dtype)
