"""Adjustments of colours; most have no gradient, as in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .arrays import cast
from .invalid import invalid
from .operands import tensor_of
from .primitives import TABLE, declare
from .tensor import apply


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


def _as_floats(images: Any) -> Any:
    """Integer images count from 0 to their largest value, floats from 0 to 1."""
    if images.dtype.is_floating:
        return images
    return cast(images, dtypes.float32) / float(images.dtype.max)


def _like(images: Any, dtype: Any) -> Any:
    if dtype.is_floating:
        return images if images.dtype == dtype else cast(images, dtype)
    scaled = images * (float(dtype.max) + 0.5)
    return cast(TABLE["maximum"](TABLE["minimum"](scaled, float(dtype.max)), float(dtype.min)), dtype)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Scales each channel's distance from its mean over the image by ``contrast_factor``.

    ``images`` has at least three axes: (..., height, width, channels); the result has its shape and dtype. No gradient
    is registered for it: asking for one raises LookupError. Raises InvalidArgumentError for fewer than three axes.

    >>> import minitape as tf
    >>> tf.image.adjust_contrast([[[0.5], [1.0]]], 2.0).numpy().tolist()
    [[[0.25], [1.25]]]
    """
    given = tensor_of(images)
    if given.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape[{','.join(map(str, given.shape))}]", "AdjustContrastv2")
    floats = _as_floats(given)
    factor = cast(tensor_of(contrast_factor), dtypes.float32)
    wide = floats if floats.dtype == dtypes.float32 else cast(floats, dtypes.float32)
    return _like(apply(TABLE["adjust_contrast"], (wide, factor), {}), given.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Scales the saturation of the colours (the last axis: red, green, blue) by ``saturation_factor``.

    No gradient is registered for it: asking for one raises LookupError.

    >>> import minitape as tf
    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    return _recoloured("adjust_saturation", image, saturation_factor)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Turns the hue of the colours (the last axis: red, green, blue) by ``delta`` turns, between -1 and 1.

    No gradient is registered for it: asking for one raises LookupError.

    >>> import minitape as tf
    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    return _recoloured("adjust_hue", image, delta)


def _recoloured(name: str, image: Any, amount: Any) -> Any:
    given = tensor_of(image)
    if given.ndim < 3 or given.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {given.shape[-1] if given.ndim else 0} channels.",
                      TABLE[name].op)  # fmt: skip
    floats = _as_floats(given)
    wide = floats if floats.dtype == dtypes.float32 else cast(floats, dtypes.float32)
    return _like(apply(TABLE[name], (wide, cast(tensor_of(amount), dtypes.float32)), {}), given.dtype)


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Adds ``delta`` to every pixel; the result has the shape and dtype of ``image``. Differentiable for float images.

    >>> import minitape as tf
    >>> tf.image.adjust_brightness([[[0.5]]], 0.25).numpy().tolist()
    [[[0.75]]]
    """
    given = tensor_of(image)
    floats = _as_floats(given)
    return _like(floats + cast(tensor_of(delta), floats.dtype), given.dtype)
