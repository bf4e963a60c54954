"""Colours in other terms than red, green and blue: hue and saturation, brightness and two differences of colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.errors import FailedPreconditionError
from ...engine.opdefs import accept
from ...engine.operands import generated, is_tensor_like, strict, tensor_of
from ...engine.operation import apply
from ...engine.primitives import TABLE, declare
from ...engine.tensor import Tensor
from ...ops.casts import cast
from ...ops.joining import stack
from ..linalg.products import tensordot
from .adjusting import as_floats, in_dtype


def _rgb(hsv: Any) -> Any:
    hue, saturation, value = hsv[..., 0] * 6, hsv[..., 1], hsv[..., 2]
    parts = [np.clip(p, 0, 1) for p in (np.abs(hue - 3) - 1, 2 - np.abs(hue - 2), 2 - np.abs(hue - 4))]
    return np.stack([((1 - saturation) + saturation * p) * value for p in parts], axis=-1).astype(hsv.dtype)


declare("hsv_to_rgb", _rgb, None, op="HSVToRGB", keep="")

# rows: what red, green and blue (or y and two differences) give
_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _colors(images: Any, op: str) -> Any:
    """The images as a tensor, after the kernel's checks."""
    x = tensor_of(images)
    if not (is_tensor_like(images) or x.dtype.is_floating):
        x = cast(x, dtypes.float32)
    accept(op, x.dtype)
    if x.shape.rank is not None and (x.shape.rank < 1 or x.shape[-1] not in (3, None)):
        count = x.shape[-1] if x.shape.rank else 0
        raise FailedPreconditionError(None, None, f"input must have 3 channels but input only has {count} channels. "
                                                  f"[Op:{op}] name: ")  # fmt: skip
    return x


@generated("rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colours: floats (..., 3) between 0 and 1, along the last axis.

    Differentiable. Raises InvalidArgumentError for tensors of integers, FailedPreconditionError unless the last axis has size 3.

    >>> import minitape as tf
    >>> tf.image.rgb_to_hsv([[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]]).numpy().round(4)
    array([[0.    , 1.    , 1.    ],
           [0.3333, 1.    , 0.5   ]], dtype=float32)
    """
    from ...ops.picking import where

    x = _colors(images, "RGBToHSV")
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    red, green = (r >= b) & (r >= g), (g > r) & (g >= b)  # which one is the largest
    high = where(red, r, where(green, g, b))
    low = where((r < b) & (r < g), r, where((g <= r) & (g < b), g, b))
    span = high - low
    gray, black = span <= 0, high <= 0
    safe, one = where(gray, TABLE["ones_like"](span), span), TABLE["ones_like"](span)
    sixths = where(red, (g - b) / safe, where(green, (b - r) / safe + 2.0, (r - g) / safe + 4.0)) / 6.0
    hue = where(gray, TABLE["zeros_like"](span), where(sixths < 0, sixths + 1.0, sixths))
    saturation = where(black, TABLE["zeros_like"](span), span / where(black, one, high))
    return stack([hue, saturation, high], axis=-1)


@generated("hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The counterpart of ``rgb_to_hsv``: red, green and blue of colours given by hue, saturation and value.

    ``images`` are floats (..., 3). No gradient is registered for it: asking for one raises LookupError. Raises
    InvalidArgumentError for integers, FailedPreconditionError unless the last axis has size 3.

    >>> import minitape as tf
    >>> tf.image.hsv_to_rgb([[0.0, 1.0, 1.0], [0.5, 0.5, 1.0]]).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.5, 1.0, 1.0]]
    """
    return apply(TABLE["hsv_to_rgb"], (_colors(images, "HSVToRGB"),), {})


def _mixed(images: Any, matrix: Any) -> Any:
    x = tensor_of(images)
    return tensordot(x, convert_to_tensor(matrix, x.dtype), [[x.shape.rank - 1], [0]])


@strict
def rgb_to_yiq(images: Any) -> Tensor:
    """Brightness, orange-blue and purple-green of colours (the last axis), as NTSC has them. Differentiable.

    >>> import minitape as tf
    >>> tf.image.rgb_to_yiq([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]).numpy().round(3)
    array([[ 1.   ,  0.   , -0.   ],
           [ 0.299,  0.596,  0.212]], dtype=float32)
    """
    return _mixed(images, _YIQ)


@strict
def yiq_to_rgb(images: Any) -> Tensor:
    """The counterpart of ``rgb_to_yiq``. Differentiable.

    >>> import minitape as tf
    >>> tf.image.yiq_to_rgb([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]).numpy().round(3)
    array([[ 1.   ,  1.   ,  1.   ],
           [ 0.978,  0.364, -0.053]], dtype=float32)
    """
    return _mixed(images, _FROM_YIQ)


@strict
def rgb_to_yuv(images: Any) -> Tensor:
    """Brightness and the differences of blue and of red from it (the last axis), as PAL has them. Differentiable.

    >>> import minitape as tf
    >>> tf.image.rgb_to_yuv([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]).numpy().round(3)
    array([[ 1.   ,  0.   ,  0.   ],
           [ 0.299, -0.147,  0.615]], dtype=float32)
    """
    return _mixed(images, _YUV)


@strict
def yuv_to_rgb(images: Any) -> Tensor:
    """The counterpart of ``rgb_to_yuv``. Differentiable.

    >>> import minitape as tf
    >>> tf.image.yuv_to_rgb([[1.0, 0.0, 0.0], [0.5, 0.0, 0.25]]).numpy().round(3)
    array([[1.   , 1.   , 1.   ],
           [0.785, 0.355, 0.5  ]], dtype=float32)
    """
    return _mixed(images, _FROM_YUV)


@strict
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``gain * image ** gamma``; integers count from 0 to 1 meanwhile. Differentiable for float images.

    The result has the shape and dtype of ``image``. Raises ValueError for a negative ``gamma``.

    >>> import minitape as tf
    >>> tf.image.adjust_gamma([0.25, 0.5], gamma=2.0, gain=2.0).numpy().tolist()
    [0.125, 0.5]
    """
    x = tensor_of(image)
    floats = x if x.dtype in (dtypes.float16, dtypes.float32) else cast(as_floats(x), dtypes.float32)
    negative = tensor_of(gamma) < 0
    if getattr(negative, "array", False):
        raise ValueError("Gamma should be a non-negative real number.")
    return in_dtype(gain * floats**gamma, x.dtype)
