"""``tf.image``: the two adjustments that TensorFlow's guide on gradients uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .arrays import cast
from .errors import invalid
from .operands import tensor_of
from .primitives import TABLE, declare
from .tensor import apply


def _contrast(images: Any, factor: Any) -> Any:
    mean = np.mean(images, axis=(-3, -2), keepdims=True, dtype=images.dtype)
    return ((images - mean) * factor + mean).astype(images.dtype)


declare("adjust_contrast", _contrast, None, op="AdjustContrastv2", missing="unregistered", keep="")


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


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Adds ``delta`` to every pixel; the result has the shape and dtype of ``image``. Differentiable for float images.

    >>> import minitape as tf
    >>> tf.image.adjust_brightness([[[0.5]]], 0.25).numpy().tolist()
    [[[0.75]]]
    """
    given = tensor_of(image)
    floats = _as_floats(given)
    return _like(floats + cast(tensor_of(delta), floats.dtype), given.dtype)
