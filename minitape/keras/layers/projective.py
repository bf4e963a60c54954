"""Images seen through affine maps: each pixel of the result says from where in the image it comes."""

from __future__ import annotations

from typing import Any

from ... import tf

FILLS, INTERPOLATIONS = ("reflect", "wrap", "constant", "nearest"), ("nearest", "bilinear")


def check(fill_mode: str, interpolation: str) -> None:
    """NotImplementedError for a way to fill or to interpolate that Keras does not know."""
    if fill_mode not in FILLS:
        raise NotImplementedError(f"Unknown `fill_mode` {fill_mode}. Expected of one {FILLS}.")
    if interpolation not in INTERPOLATIONS:
        raise NotImplementedError(f"Unknown `interpolation` {interpolation}. Expected of one {INTERPOLATIONS}.")


def transformed(images: Any, maps: Any, fill_mode: str, interpolation: str, fill_value: float) -> Any:
    """Images (batch, height, width, channels) through ``maps`` (batch, 2, 3), which take (x, y, 1) to (x, y).

    ``fill_mode`` says what lies outside of an image. Differentiable in the images.
    """
    shape = tf.shape(images)
    height, width = (n if n is not None else shape[i + 1] for i, n in enumerate(images.shape[1:3]))
    sizes = [tf.cast(n, tf.float32) for n in (height, width)]
    y, x = tf.meshgrid(tf.range(sizes[0]), tf.range(sizes[1]), indexing="ij")
    places = tf.reshape(tf.stack([x, y, tf.ones_like(x)]), [3, -1])
    from_x, from_y = tf.unstack(tf.matmul(tf.cast(maps, tf.float32), places), axis=1)
    from_y, from_x = (_inside(at, n, fill_mode) for at, n in ((from_y, sizes[0]), (from_x, sizes[1])))
    reader = _Reader(images, height, width, fill_value)
    if interpolation == "nearest":
        found = reader.at(_rounded(from_y), _rounded(from_x))
    else:
        found = reader.between(from_y, from_x)
    return tf.reshape(found, shape)


def _rounded(at: Any) -> Any:
    """The nearest whole number; halves away from zero."""
    return tf.sign(at) * tf.floor(tf.abs(at) + 0.5)


def _inside(at: Any, size: Any, fill_mode: str) -> Any:
    """Places along an axis as places inside the image, but for a constant outside."""
    if fill_mode == "constant":
        return at
    if fill_mode == "reflect":
        at = tf.math.floormod(at, 2.0 * size)
        at = tf.where(at >= size, 2.0 * size - at - 1.0, at)
    if fill_mode == "wrap":
        below = at + size * (tf.floor(-at / tf.maximum(size - 1.0, 1.0)) + 1.0)
        above = at - size * tf.floor(at / tf.maximum(size - 1.0, 1.0))
        at = tf.where(at < 0, below, tf.where(at > size - 1.0, above, at))
    return tf.clip_by_value(at, 0.0, size - 1.0)


class _Reader:
    """Reads the pixels of images, with one colour outside of them."""

    def __init__(self, images: Any, height: Any, width: Any, fill_value: float) -> None:
        self.pixels = tf.reshape(images, [tf.shape(images)[0], -1, images.shape[-1]])
        self.height, self.width, self.fill_value = height, width, fill_value

    def at(self, y: Any, x: Any) -> Any:
        """The pixels in row y and column x, which are whole numbers."""
        rows, columns = tf.cast(y, tf.int32), tf.cast(x, tf.int32)
        inside = (rows >= 0) & (rows < self.height) & (columns >= 0) & (columns < self.width)
        place = tf.where(inside, rows * self.width + columns, 0)
        found = tf.gather(self.pixels, place, batch_dims=1)
        return tf.where(inside[..., None], found, tf.cast(self.fill_value, found.dtype))

    def between(self, y: Any, x: Any) -> Any:
        """The mean of the four pixels around, weighed by how near they are."""
        top, left = tf.floor(y), tf.floor(x)
        down, right = (tf.cast(d, self.pixels.dtype)[..., None] for d in (y - top, x - left))
        upper = (1.0 - right) * self.at(top, left) + right * self.at(top, left + 1.0)
        lower = (1.0 - right) * self.at(top + 1.0, left) + right * self.at(top + 1.0, left + 1.0)
        return (1.0 - down) * upper + down * lower
