"""Parts of images, images with a border, and images turned: (height, width, channels) or a batch of them."""

from __future__ import annotations

from typing import Any

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.operands import static, strict, tensor_of
from ...engine.tensor import Tensor
from ...ops import arrays
from ...ops.arrays import expand_dims
from ...ops.joining import pad
from ...ops.reversing import reverse


def at_least_3d(image: Any) -> Any:
    """The image as a tensor; ValueError unless it has three axes or more, of which the last three are not empty."""
    x = tensor_of(image)
    if x.shape.rank is not None:
        if x.shape.rank < 3:
            raise ValueError(f"'image' (shape {x.shape}) must be at least three-dimensional.")
        if 0 in tuple(x.shape)[-3:]:
            raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {x.shape}")
    return x


def _one_or_batch(image: Any, gap: str = " ") -> Any:
    """The same for images of exactly three or four axes."""
    x = at_least_3d(image)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}){gap}must have either 3 or 4 dimensions.")
    return x


@strict
def flip_left_right(image: Any) -> Tensor:
    """Images mirrored from left to right. Differentiable. Raises ValueError unless there are three or four axes.

    >>> import minitape as tf
    >>> tf.image.flip_left_right([[[1.0], [2.0]]]).numpy().tolist()
    [[[2.0], [1.0]]]
    """
    x = _one_or_batch(image, "")
    return reverse(x, [x.shape.rank - 2])


@strict
def flip_up_down(image: Any) -> Tensor:
    """Images mirrored from top to bottom. Differentiable. Raises ValueError unless there are three or four axes.

    >>> import minitape as tf
    >>> tf.image.flip_up_down([[[1.0]], [[2.0]]]).numpy().tolist()
    [[[2.0]], [[1.0]]]
    """
    x = _one_or_batch(image, "")
    return reverse(x, [x.shape.rank - 3])


@strict
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with height and width exchanged. Differentiable. Raises ValueError unless there are three or four axes.

    >>> import minitape as tf
    >>> tf.image.transpose(tf.ones([2, 3, 1])).shape
    TensorShape([3, 2, 1])
    """
    x = _one_or_batch(image)
    return arrays.transpose(x, [1, 0, 2] if x.shape.rank == 3 else [0, 2, 1, 3])


@strict
def rot90(image: Any, k: int = 1, name: str | None = None) -> Tensor:
    """Images turned counter-clockwise by ``k`` quarters of a turn. Differentiable.

    Raises ValueError unless there are three or four axes, or when ``k`` is no single number.

    >>> import minitape as tf
    >>> tf.image.rot90([[[1.0], [2.0]]]).numpy().tolist()
    [[[2.0]], [[1.0]]]
    """
    x = _one_or_batch(image)
    turns = convert_to_tensor(k, dtypes.int32)
    if turns.shape.rank != 0:
        raise ValueError(f"Shape {turns.shape} must have rank 0")
    height, width = x.shape.rank - 3, x.shape.rank - 2
    turns = static(turns) % 4
    if turns == 1:
        return transpose(reverse(x, [width]))
    if turns == 2:
        return reverse(x, [height, width])
    return reverse(transpose(x), [width]) if turns == 3 else x


@strict
def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of images: ``central_fraction`` (above 0, at most 1) of their height and width. Differentiable.

    Raises ValueError for another fraction, and unless there are three or four axes.

    >>> import minitape as tf
    >>> tf.image.central_crop(tf.reshape(tf.range(16.0), [4, 4, 1]), 0.5)[:, :, 0].numpy()
    array([[ 5.,  6.],
           [ 9., 10.]], dtype=float32)
    """
    x, part = tensor_of(image), static(central_fraction)
    if not 0.0 < part <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    if part == 1.0:
        return x
    x = at_least_3d(x)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {x.shape.rank}.")
    height, width = (int(n) for n in tuple(x.shape)[-3:-1])
    top, left = (int((n - n * part) / 2) for n in (height, width))
    return x[..., top : height - top, left : width - left, :]


def sized(image: Any) -> tuple[Any, int, int]:
    """A batch of images, and their height and width."""
    x = tensor_of(image)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
    at_least_3d(expand_dims(x, 0) if x.shape.rank == 3 else x)
    height, width = (int(n) for n in tuple(x.shape)[-3:-1])
    return x, height, width


def require(holds: bool, message: str) -> None:
    """ValueError with this message unless the condition holds."""
    if not holds:
        raise ValueError(message)


@strict
def pad_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """Images of the target size, filled up with zeros: ``offset_height`` rows above, ``offset_width`` columns to the left.

    Differentiable. Raises ValueError unless there are three or four axes, and for images that do not fit.

    >>> import minitape as tf
    >>> tf.image.pad_to_bounding_box([[[1.0]]], 0, 1, 2, 3)[:, :, 0].numpy()
    array([[0., 1., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    x, height, width = sized(image)
    top, left = static(offset_height), static(offset_width)
    below, right = static(target_height) - top - height, static(target_width) - left - width
    require(top >= 0, "offset_height must be >= 0")
    require(left >= 0, "offset_width must be >= 0")
    require(right >= 0, "width must be <= target - offset")
    require(below >= 0, "height must be <= target - offset")
    return pad(x, [[0, 0]] * (x.shape.rank - 3) + [[top, below], [left, right], [0, 0]])


@strict
def crop_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """The part of images that begins at the offsets and has the target size. Differentiable.

    Raises ValueError unless there are three or four axes, and for a part that reaches out of the image.

    >>> import minitape as tf
    >>> tf.image.crop_to_bounding_box(tf.reshape(tf.range(9.0), [3, 3, 1]), 1, 0, 2, 2)[:, :, 0].numpy()
    array([[3., 4.],
           [6., 7.]], dtype=float32)
    """
    x, height, width = sized(image)
    top, left = static(offset_height), static(offset_width)
    rows, columns = static(target_height), static(target_width)
    require(left >= 0, "offset_width must be >= 0.")
    require(top >= 0, "offset_height must be >= 0.")
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    require(width >= left + columns, "width must be >= target + offset.")
    require(height >= top + rows, "height must be >= target + offset.")
    return x[..., top : top + rows, left : left + columns, :]


@strict
def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Tensor:
    """Images of the target size: cut on both sides where they are larger, filled up with zeros where they are smaller.

    Differentiable. Raises ValueError unless there are three or four axes and the sizes are positive.

    >>> import minitape as tf
    >>> tf.image.resize_with_crop_or_pad(tf.reshape(tf.range(1.0, 4.0), [3, 1, 1]), 1, 3).numpy().ravel()
    array([0., 2., 0.], dtype=float32)
    """
    x, height, width = sized(image)
    rows, columns = static(target_height), static(target_width)
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    cut = crop_to_bounding_box(
        x, max(-(rows - height) // 2, 0), max(-(columns - width) // 2, 0), min(rows, height), min(columns, width)
    )
    return pad_to_bounding_box(cut, max((rows - height) // 2, 0), max((columns - width) // 2, 0), rows, columns)
