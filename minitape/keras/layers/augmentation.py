"""Layers that change images at random in training: mirrored, turned, moved, larger, brighter, paler.

Images are (batch, height, width, channels) or one of them; each image of a batch has a choice of its own. A call without
``training`` changes them, too; ``fit`` does, ``predict`` and ``evaluate`` do not.
"""

from __future__ import annotations

import math
from typing import Any

from ... import tf
from .. import random
from ..base import convert, standardize_data_format
from .common import SameShape, length
from .projective import check, transformed


class _Augmentation(SameShape):
    """What the layers share: a source of seeds, batches of one image, and the order of the axes."""

    def __init__(self, seed: int | None = None, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed, self.data_format = seed, standardize_data_format(data_format)
        self.generator = random.SeedGenerator(seed)
        self.built = True

    def call(self, data: Any, training: bool = True) -> Any:
        """The images, changed in training."""
        if isinstance(data, dict):
            raise ValueError(f"minitape's {type(self).__name__} takes images, not a dictionary with boxes or masks. "
                             f"Received: data with the keys {sorted(data)}")  # fmt: skip
        images = convert(data)
        rank = images.shape.rank
        if rank not in (3, 4):
            raise ValueError("Expected image tensor to have rank 3 (single image) or 4 (batch of images). Received: "
                             f"data.shape={tuple(images.shape)}")  # fmt: skip
        if not training:
            return self._unchanged(images)
        first = self.data_format == "channels_first"
        images = images if rank == 4 else images[None]
        images = tf.transpose(images, [0, 2, 3, 1]) if first else images
        images = self._changed(images)
        images = tf.transpose(images, [0, 3, 1, 2]) if first else images
        return images if rank == 4 else images[0]

    def _unchanged(self, images: Any) -> Any:
        return convert(images, self.compute_dtype)

    def _changed(self, images: Any) -> Any:
        """A batch of images, with the channels last, changed."""
        raise NotImplementedError

    def _draw(self, shape: Any, low: float, high: float, dtype: Any = None) -> Any:
        return random.uniform(shape, low, high, dtype, self.generator)


class RandomFlip(_Augmentation):
    """Mirrors images with probability 1/2: ``mode`` is "horizontal", "vertical" or "horizontal_and_vertical" (both at once).

    Differentiable. Raises ValueError for inputs that are no images.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.RandomFlip("horizontal", seed=1)
    >>> layer(tf.constant([[[1.0], [2.0]]]), training=False).numpy().ravel()
    array([1., 2.], dtype=float32)
    >>> sorted(layer(tf.constant([[[1.0], [2.0]]])).numpy().ravel().tolist())
    [1.0, 2.0]
    """

    _config = "data_format seed mode"

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.mode = mode

    def _changed(self, images: Any) -> Any:
        images = convert(images, self.compute_dtype)
        flips = self._draw((length(images, 0), 1, 1, 1), 0.0, 1.0) <= 0.5
        for word, axis in (("horizontal", 2), ("vertical", 1)):
            if self.mode in (word, "horizontal_and_vertical"):
                images = tf.where(flips, tf.reverse(images, [axis]), images)
        return images


def _range(factor: Any, name: str, message: str, closed: bool = True) -> tuple[float, float]:
    """The ends of the range that a number or a pair of them says."""

    def checked(number: float) -> float:
        if number > 1.0 or number < -1.0 or (number == -1.0 and not closed):
            raise ValueError(f"{message}Received: input_number={number}")
        return number

    if isinstance(factor, (tuple, list)) and len(factor) == 2:
        low, high = sorted(checked(f) for f in factor)
        return low, high
    if isinstance(factor, (int, float)):
        return -abs(checked(factor)), abs(factor)
    raise ValueError(f"{message}Received: {name}={factor}")


class _Moved(_Augmentation):
    """Images through affine maps that are drawn at random."""

    fill_mode: str
    interpolation: str
    fill_value: float

    def _set_reading(self, fill_mode: str, interpolation: str, fill_value: float) -> None:
        check(fill_mode, interpolation)
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _changed(self, images: Any) -> Any:
        images = convert(images, self.compute_dtype)
        sizes = [tf.cast(length(images, axis), tf.float32) for axis in (1, 2)]
        rows = self._maps(length(images, 0), *sizes)
        maps = tf.stack([tf.stack(row, -1) for row in rows], -2)
        return transformed(images, maps, self.fill_mode, self.interpolation, self.fill_value)

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        """The two rows of a map for each image, as vectors with one number for each."""
        raise NotImplementedError


class RandomRotation(_Moved):
    """Turns images by an angle from ``factor`` (a number or a pair, in full turns), around their middle.

    What lies outside is the image reflected, repeated ("wrap"), its edge ("nearest") or ``fill_value`` ("constant"), as
    ``fill_mode`` says; ``interpolation`` is "bilinear" or "nearest". Differentiable: the gradient is exact, while that of
    TensorFlow is the gradient turned back, which differs at the edges. Raises ValueError for a factor beyond [-1, 1],
    NotImplementedError for another mode.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.RandomRotation((0.25, 0.25), interpolation="nearest")
    >>> layer(tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]])).numpy()[..., 0]
    array([[2., 4.],
           [1., 3.]], dtype=float32)
    """

    _config = "data_format factor fill_mode fill_value interpolation seed"

    def __init__(
        self,
        factor: Any,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.factor = _bounded(factor or 0.0, -1, 1)
        self._set_reading(fill_mode, interpolation, fill_value)

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        low, high = self.factor
        angle = self._draw((count,), low * 360.0, high * 360.0) * (math.pi / 180.0)
        cos, sin, x, y = tf.cos(angle), tf.sin(angle), 0.5 * (width - 1), 0.5 * (height - 1)
        return (cos, -sin, x - x * cos + y * sin), (sin, cos, y - x * sin - y * cos)


class RandomTranslation(_Moved):
    """Moves images by parts of their height and width, drawn from ``height_factor`` and ``width_factor``.

    A factor is a number f for [-f, f] or a pair; positive ones move down and right. ``fill_mode`` and ``interpolation`` are
    those of ``RandomRotation``. Differentiable. Raises ValueError for a factor beyond [-1, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.RandomTranslation((0.5, 0.5), 0.0, fill_mode="constant")
    >>> layer(tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]])).numpy()[..., 0]
    array([[0., 0.],
           [1., 2.]], dtype=float32)
    """

    _config = "data_format height_factor width_factor fill_mode interpolation seed fill_value"
    _MESSAGE = "The `factor` argument should be a number (or a list of two numbers) in the range [-1.0, 1.0]. "

    def __init__(
        self,
        height_factor: Any,
        width_factor: Any,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._down = _range(height_factor, "height_factor", self._MESSAGE)
        self._right = _range(width_factor, "width_factor", self._MESSAGE)
        self._set_reading(fill_mode, interpolation, fill_value)

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        down = self._draw([count, 1], *self._down)[:, 0] * height
        right = self._draw([count, 1], *self._right)[:, 0] * width
        one, zero = tf.ones_like(down), tf.zeros_like(down)
        return (one, zero, -right), (zero, one, -down)


class RandomZoom(_Moved):
    """Makes images smaller (above 0) or larger (below 0) by a part of their size, drawn from the factors.

    A factor is a number f for [-f, f] or a pair; without ``width_factor`` the ratio of height and width stays.
    ``fill_mode`` and ``interpolation`` are those of ``RandomRotation``. Differentiable. Raises ValueError for a factor
    beyond (-1, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.RandomZoom((1.0, 1.0), fill_mode="constant", interpolation="nearest")
    >>> layer(tf.ones([4, 4, 1])).numpy()[..., 0]
    array([[0., 0., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 1., 0.],
           [0., 0., 0., 0.]], dtype=float32)
    """

    _config = "data_format height_factor width_factor fill_mode interpolation seed fill_value"
    _MESSAGE = ("The `height_factor` and `width_factor` arguments should be a number (or a list of two numbers) in the "
                "range (-1.0, 1.0]. ")  # fmt: skip

    def __init__(
        self,
        height_factor: Any,
        width_factor: Any = None,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._height = _range(height_factor, "height_factor", self._MESSAGE, False)
        self._width = None if width_factor is None else _range(width_factor, "width_factor", self._MESSAGE, False)
        self._set_reading(fill_mode, interpolation, fill_value)

    def _maps(self, count: Any, height: Any, width: Any) -> Any:
        tall = self._draw((count, 1), 1.0 + self._height[0], 1.0 + self._height[1])[:, 0]
        wide = tall
        if self._width is not None:
            wide = self._draw((count, 1), 1.0 + self._width[0], 1.0 + self._width[1])[:, 0]
        zero = tf.zeros_like(tall)
        return (wide, zero, (width - 1.0) / 2.0 * (1.0 - wide)), (zero, tall, (height - 1.0) / 2.0 * (1.0 - tall))


def _bounded(factor: Any, low: float, high: float) -> tuple[float, float]:
    """The ends of the range of a number f, which stands for [-f, f], or of a pair; ValueError beyond the bounds."""
    message = (f"The `factor` argument should be a number (or a list of two numbers) in the range [{low}, {high}]. "
               f"Received: factor={factor}")  # fmt: skip
    if isinstance(factor, (tuple, list)):
        if len(factor) != 2 or factor[0] > high or factor[1] < low:
            raise ValueError(message)
        first, last = sorted(factor)
        return first, last
    if not isinstance(factor, (int, float)) or factor < low or factor > high:
        raise ValueError(message)
    return max(-abs(factor), low), abs(factor)


class RandomContrast(_Augmentation):
    """Scales each channel's distance from its mean over the image by a factor from [1 - factor, 1 + factor].

    ``factor`` is a number or a pair (below, above) in [0, 1]; the result is clipped to ``value_range``. Differentiable.
    Raises ValueError for another factor.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.RandomContrast(0.5, seed=1)
    >>> layer(tf.constant([[[100.0], [200.0]]]), training=False).numpy().ravel()
    array([100., 200.], dtype=float32)
    """

    _config = "data_format factor value_range seed"

    def __init__(self, factor: Any, value_range: Any = (0, 255), seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.factor, self.value_range = _bounded(factor, 0, 1), value_range

    def _unchanged(self, images: Any) -> Any:
        return images

    def _changed(self, images: Any) -> Any:
        low, high = self.factor
        factor = self._draw([length(images, 0), 1, 1, 1], 1.0 - low, 1.0 + high, self.compute_dtype)
        mean = tf.reduce_mean(tf.reduce_mean(images, 1, keepdims=True), 2, keepdims=True)
        return tf.clip_by_value((images - mean) * factor + mean, *self.value_range)


class RandomBrightness(_Augmentation):
    """Adds a part of the width of ``value_range``, drawn from ``factor``, to all pixels, and clips them to the range.

    ``factor`` is a number f for [-f, f] or a pair in [-1, 1]. Differentiable. Raises ValueError for another factor or range.

    >>> import minitape as tf
    >>> tf.keras.layers.RandomBrightness((0.5, 0.5), value_range=(0, 1))(tf.constant([[[0.25], [0.75]]])).numpy().ravel()
    array([0.75, 1.  ], dtype=float32)
    """

    _config = "data_format factor value_range seed"

    def __init__(self, factor: Any, value_range: Any = (0, 255), seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.factor = _bounded(factor or 0.0, -1, 1)
        if not isinstance(value_range, (tuple, list)) or len(value_range) != 2:
            raise ValueError("The `value_range` argument should be a list of two numbers. "
                             f"Received: value_range={value_range}")  # fmt: skip
        self.value_range = sorted(value_range)

    def _unchanged(self, images: Any) -> Any:
        return images

    def _changed(self, images: Any) -> Any:
        delta = self._draw([length(images, 0), 1, 1, 1], *self.factor) * (self.value_range[1] - self.value_range[0])
        return tf.clip_by_value(images + convert(delta, images.dtype.name), *self.value_range)
