"""Images changed at random, as training wants them: mirrored, cut, brighter, paler, in other colours.

Each function has a twin whose choice depends on a seed of two numbers alone (``stateless_...``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine import dtypes
from ...engine.operands import strict, tensor_of
from ...engine.tensor import Tensor
from ...ops.arrays import reshape, shape
from ...ops.assertions import Assert
from ...ops.casts import cast
from ...ops.elementwise import round as nearest
from ...ops.indexing import slice_
from ...ops.reductions import reduce_all
from ...ops.reversing import reverse
from ..random.stateful import uniform
from ..random.stateless import stateless_uniform
from .adjusting import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .cropping import at_least_3d

Draw = Callable[..., Any]  # (shape, minval, maxval, dtype) -> numbers


def _seeded(seed: Any) -> Draw:
    return lambda shape, low, high, dtype=dtypes.float32: uniform(shape, low, high, dtype, seed)


def _stateless(seed: Any) -> Draw:
    return lambda shape, low, high, dtype=dtypes.float32: stateless_uniform(shape, seed, low, high, dtype)


def _flipped(image: Any, axis: int, draw: Draw) -> Any:
    """The image, or each image of a batch, mirrored with probability 1/2 along an axis counted from the last."""
    from ...graphs.control import cond

    x = at_least_3d(image)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
    at = x.shape.rank + axis
    if x.shape.rank == 3:
        result = cond(draw([], 0, 1.0) < 0.5, lambda: reverse(x, [at]), lambda: x)
        result.set_shape(x.shape) if hasattr(result, "set_shape") else None
        return result
    count = shape(x)[0] if x.shape[0] is None else x.shape[0]
    flips = cast(nearest(reshape(draw([count], 0, 1.0), [count, 1, 1, 1])), x.dtype)
    return flips * reverse(x, [at]) + (1 - flips) * x


def _spread(max_delta: float, draw: Draw) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return draw([], -max_delta, max_delta)


def _turn(max_delta: float, draw: Draw) -> Any:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _spread(max_delta, draw)


def _factor(lower: float, upper: float, draw: Draw) -> Any:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return draw([], lower, upper)


def _cropped(value: Any, size: Any, draw: Draw) -> Any:
    x, sizes = tensor_of(value), tensor_of(size, dtypes.int32)
    have = shape(x)
    Assert(reduce_all(have >= sizes), ["Need value.shape >= size, got ", have, sizes], 1000)
    offset = draw(shape(have), 0, dtypes.int32.max, dtypes.int32) % (have - sizes + 1)
    return slice_(x, offset, sizes)


@strict
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """The image mirrored from left to right, or as it is; of a batch (four axes) each by itself. Differentiable.

    The result has the shape and dtype of ``image``. Raises ValueError unless there are three or four axes.

    >>> import minitape as tf
    >>> sorted(tf.image.random_flip_left_right([[[1.0], [2.0]]]).numpy().ravel().tolist())
    [1.0, 2.0]
    """
    return _flipped(image, -2, _seeded(seed))


@strict
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """``random_flip_left_right`` with a choice that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_flip_left_right([[[1.0], [2.0]]], seed=[1, 2]).numpy().tolist()
    [[[1.0], [2.0]]]
    """
    return _flipped(image, -2, _stateless(seed))


@strict
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """The image mirrored from top to bottom, or as it is; of a batch (four axes) each by itself. Differentiable.

    The result has the shape and dtype of ``image``. Raises ValueError unless there are three or four axes.

    >>> import minitape as tf
    >>> sorted(tf.image.random_flip_up_down([[[1.0]], [[2.0]]]).numpy().ravel().tolist())
    [1.0, 2.0]
    """
    return _flipped(image, -3, _seeded(seed))


@strict
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """``random_flip_up_down`` with a choice that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_flip_up_down([[[1.0]], [[2.0]]], seed=[2, 1]).numpy().ravel()
    array([2., 1.], dtype=float32)
    """
    return _flipped(image, -3, _stateless(seed))


@strict
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_brightness`` by a number drawn from [-max_delta, max_delta). Differentiable for float images.

    Raises ValueError for a negative ``max_delta``.

    >>> import minitape as tf
    >>> bool(tf.reduce_all(abs(tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.2)) <= 0.2))
    True
    """
    return adjust_brightness(image, _spread(max_delta, _seeded(seed)))


@strict
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``random_brightness`` by a number that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_brightness([0.0, 0.5], 0.2, seed=[1, 2]).numpy().round(4)
    array([0.1376, 0.6376], dtype=float32)
    """
    return adjust_brightness(image, _spread(max_delta, _stateless(seed)))


@strict
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_contrast`` by a factor drawn from [lower, upper).

    Raises ValueError unless ``0 <= lower < upper``.

    >>> import minitape as tf
    >>> tf.image.random_contrast(tf.ones([2, 2, 3]), 0.5, 1.5).shape
    TensorShape([2, 2, 3])
    """
    return adjust_contrast(image, _factor(lower, upper, _seeded(seed)))


@strict
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """``random_contrast`` by a factor that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_contrast([[[0.0], [1.0]]], 0.5, 1.5, seed=[1, 2]).numpy().ravel().round(4)
    array([-0.172,  1.172], dtype=float32)
    """
    return adjust_contrast(image, _factor(lower, upper, _stateless(seed)))


@strict
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_saturation`` by a factor drawn from [lower, upper).

    Raises ValueError unless ``0 <= lower < upper``.

    >>> import minitape as tf
    >>> tf.image.random_saturation(tf.ones([2, 2, 3]), 0.5, 1.5).shape
    TensorShape([2, 2, 3])
    """
    return adjust_saturation(image, _factor(lower, upper, _seeded(seed)))


@strict
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """``random_saturation`` by a factor that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_saturation([[[1.0, 0.5, 0.5]]], 0.5, 1.5, seed=[1, 2]).numpy().ravel().round(4)
    array([1.   , 0.328, 0.328], dtype=float32)
    """
    return adjust_saturation(image, _factor(lower, upper, _stateless(seed)))


@strict
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_hue`` by a number drawn from [-max_delta, max_delta).

    Raises ValueError unless ``max_delta`` lies in [0, 0.5].

    >>> import minitape as tf
    >>> tf.image.random_hue(tf.ones([2, 2, 3]), 0.2).shape
    TensorShape([2, 2, 3])
    """
    return adjust_hue(image, _turn(max_delta, _seeded(seed)))


@strict
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``random_hue`` by a number that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_hue([[[1.0, 0.0, 0.0]]], 0.2, seed=[1, 2]).numpy().ravel().round(4)
    array([1.    , 0.8257, 0.    ], dtype=float32)
    """
    return adjust_hue(image, _turn(max_delta, _stateless(seed)))


@strict
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of ``value`` of the given ``size`` (one number for each axis), at a place drawn at random. Differentiable.

    Raises InvalidArgumentError when ``value`` is smaller.

    >>> import minitape as tf
    >>> tf.image.random_crop(tf.ones([4, 5, 3]), [2, 2, 3]).shape
    TensorShape([2, 2, 3])
    """
    return _cropped(value, size, _seeded(seed))


@strict
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """``random_crop`` at a place that depends on ``seed`` (two integers) alone.

    >>> import minitape as tf
    >>> tf.image.stateless_random_crop([1, 2, 3, 4, 5], [2], seed=[1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    return _cropped(value, size, _stateless(seed))
