"""Images in another size: ``tf.image.resize`` and what cuts, pads and turns them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.opdefs import accept
from ...engine.operands import call, static, strict, tensor_of
from ...engine.primitives import TABLE
from ...engine.primitives import resizing as _primitives  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor
from ...ops.arrays import expand_dims, squeeze
from ...ops.casts import cast
from .cropping import pad_to_bounding_box, require, sized


class ResizeMethod:
    """How ``tf.image.resize`` interpolates: the names of the methods.

    >>> import minitape as tf
    >>> tf.image.ResizeMethod.NEAREST_NEIGHBOR
    'nearest'
    """

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


PRIMITIVES = {"bilinear": "resize_bilinear", "bicubic": "resize_bicubic", "area": "resize_area"}
ANTIALIASED = {"bilinear": "triangle", "bicubic": "keyscubic"}
KERNELS = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")


@strict
def resize(
    images: Any, size: Any, method: str = ResizeMethod.BILINEAR, preserve_aspect_ratio: bool = False,
    antialias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Images in another size: ``size`` is the new height and width.

    ``images`` are (batch, height, width, channels) or (height, width, channels). The result is float32, with ``method``
    "nearest" of the dtype of the images. ``antialias`` widens the kernel where an image becomes smaller; with
    ``preserve_aspect_ratio`` the result only fits into ``size``. Differentiable, except for "area": asking for that
    gradient raises LookupError, as does a second derivative ("bilinear": it is None). Raises ValueError for another number of axes, of sizes or another method, and
    InvalidArgumentError for sizes below 1.

    >>> import minitape as tf
    >>> image = tf.reshape([0.0, 1.0, 2.0, 3.0], [2, 2, 1])
    >>> tf.image.resize(image, [2, 4])[:, :, 0].numpy()
    array([[0.  , 0.25, 0.75, 1.  ],
           [2.  , 2.25, 2.75, 3.  ]], dtype=float32)
    >>> tf.image.resize(image, [1, 4], "nearest")[:, :, 0].numpy()
    array([[2., 2., 3., 3.]], dtype=float32)
    """
    x = tensor_of(images)
    if x.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    new = _sizes(size)
    if x.shape.rank == 3:
        return squeeze(_resized(expand_dims(x, 0), new, method, preserve_aspect_ratio, antialias), 0)
    return _resized(x, new, method, preserve_aspect_ratio, antialias)


def _sizes(size: Any) -> tuple[int, int]:
    try:
        given = convert_to_tensor(size, dtypes.int32)
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if tuple(given.shape) != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    height, width = static(given)
    return height, width


def _fitting(size: tuple[int, int], height: int, width: int) -> tuple[int, int]:
    """The largest size of the same proportions that fits into ``size``."""
    scale = min(np.float32(size[0]) / np.float32(height), np.float32(size[1]) / np.float32(width))
    return int(np.rint(scale * np.float32(height))), int(np.rint(scale * np.float32(width)))


def _resized(x: Any, size: tuple[int, int], method: str, preserve_aspect_ratio: bool, antialias: bool) -> Any:
    """A batch of images in another size."""
    height, width = (int(n) for n in tuple(x.shape)[1:3])
    if preserve_aspect_ratio:
        size = _fitting(size, height, width)
    if method == "nearest":
        return _apply("resize_nearest", x, size)
    kernel = method if method in KERNELS else ANTIALIASED.get(method) if antialias else None
    if kernel is None and method not in PRIMITIVES:
        raise ValueError(f"Resize method is not implemented: {method}")
    if kernel is None:
        return _apply(PRIMITIVES[method], x, size)
    return _apply("scale_and_translate", x, size, kernel=kernel, antialias=bool(antialias))


def _apply(name: str, x: Any, size: tuple[int, int], **attrs: Any) -> Any:
    """A primitive of the table, after TensorFlow's checks; all but "nearest" compute in float32."""
    op = TABLE[name].op
    accept(op, x.dtype)
    if min(size) <= 0:
        raise invalid("output dimensions must be positive", op)
    batch, height, width, depth = tuple(x.shape)
    _check_product(batch, *size, depth, op=op)
    if not (height and width):
        raise invalid("input image must be of non-zero size", op)
    if not depth:
        raise invalid("image must have at least one channel", op)
    keeps = x.dtype == dtypes.float32 or name == "resize_nearest"
    return call(name, x if keeps else cast(x, dtypes.float32), size=size, **attrs)


def _check_product(*sizes: Any, op: str) -> None:
    """InvalidArgumentError for an image of more elements than 64 bits count."""
    count = 1
    for n in sizes:
        if n is not None and count * n >= 2**63:
            wrapped = (count * n + 2**63) % 2**64 - 2**63
            raise invalid(f"Encountered overflow when multiplying {count} with {n}, result: {wrapped}", op)
        count *= 1 if n is None else n


@strict
def resize_with_pad(
    image: Any, target_height: int, target_width: int, method: str = ResizeMethod.BILINEAR, antialias: bool = False
) -> Tensor:
    """Images of the target size without distortion: resized until they fit, then filled up with zeros on both sides.

    ``method`` and ``antialias`` are those of ``resize``. Differentiable as it is. Raises ValueError unless there are three
    or four axes and the sizes are positive.

    >>> import minitape as tf
    >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4)[:, 0, 0].numpy()
    array([0., 1., 1., 0.], dtype=float32)
    """
    x, height, width = sized(image)
    rows, columns = static(target_height), static(target_width)
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    ratio = max(np.float32(width) / np.float32(columns), np.float32(height) / np.float32(rows))
    tall, wide = np.float32(height) / ratio, np.float32(width) / ratio
    top, left = (max(0, int(np.floor((n - m) / 2))) for n, m in ((np.float32(rows), tall), (np.float32(columns), wide)))
    small = resize(x, [int(np.floor(tall)), int(np.floor(wide))], method, antialias=antialias)
    return pad_to_bounding_box(small, top, left, rows, columns)
